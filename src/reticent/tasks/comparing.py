"""Ways measured at several budgets: the one form of every comparison and every sweep.

Notation  way = what is tried, x = what is varied (a budget or a distortion), value = what is
          measured there, low to high = where its mean lies 95 times in 100
Not here  what is measured (comparing_histogram.py and its like), tables of text (cli/), pictures
          (report/).

A comparison has several ways, a sweep one; both are the same computation. Where something is drawn,
every way gets the same streams of randomness and the same people held out, run by run, so that ways
differ by what they do and less by luck.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.rational import whole
from reticent.tasks.metrics import Mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.noise import Source

    Reals: TypeAlias = NDArray[np.float64]

Better: TypeAlias = Literal["lower", "higher"]
Progress: TypeAlias = Callable[[str], None]
SHARE = (0.0, 1.0)
"""The ends of what is a share."""
_CONFIDENCE = 0.95
_SEED_BITS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One way at one x; without ``low`` and ``high`` the value is computed and not drawn."""

    way: str
    x: float
    value: float
    low: float | None = None
    high: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """As plain data; ``more`` beside what every point has."""
        ends = {"low": self.low, "high": self.high}
        return {"way": self.way, "x": self.x, "value": self.value, **ends, **self.more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Some ways, each measured at several x; ``runs`` 0 is computed exactly.

    ``reference`` is a value that depends on no x, as that without privacy. ``share`` says that
    values are shares of 1; ``notes`` are for a reader, besides.

    >>> points = [Point(way="a", x=1.0, value=3.0), Point(way="b", x=1.0, value=2.0)]
    >>> curves = Curves(what="a sum", x="epsilon", y="error", better="lower", rows=points)
    >>> curves.ways, curves.only(["b"]).fields()["rows"][0]["value"]
    (('a', 'b'), 2.0)
    """

    what: str
    x: str
    y: str
    better: Better
    rows: Sequence[Point]
    runs: int = 0
    reference: float | None = None
    reference_name: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    share: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))
        require(len(self.rows) > 0, "rows", "none", "one or more")
        require(self.better in ("lower", "higher"), "better", self.better, "lower or higher")
        good = all(math.isfinite(row.x) and math.isfinite(row.value) for row in self.rows)
        require(good, "rows", "other", "of finite numbers")
        once = len({(row.way, row.x) for row in self.rows}) == len(self.rows)
        require(once, "rows", "some twice", "one for each way and x")

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways, in order of first appearance."""
        return tuple(dict.fromkeys(row.way for row in self.rows))

    @property
    def places(self) -> tuple[float, ...]:
        """Every x, by size."""
        return tuple(sorted({row.x for row in self.rows}))

    def at(self, way: str, x: float) -> Point | None:
        """What a way gives at an x, if it was measured there."""
        found = (row for row in self.rows if (row.way, row.x) == (way, x))
        return next(found, None)

    def only(self, ways: Collection[str]) -> Curves:
        """Some of the ways."""
        return replace(self, rows=[row for row in self.rows if row.way in ways])

    def fields(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "what": self.what,
            "x": self.x,
            "y": self.y,
            "better": self.better,
            "reference": self.reference,
            "reference_name": self.reference_name,
            "runs": self.runs,
            **self.more,
            "rows": [row.fields() for row in self.rows],
        }


def amount(value: float) -> str:
    """Four digits, written out unless it is very large or small.

    >>> amount(76951.2), amount(0.0123456)
    ('76,950', '0.01235')
    """
    return f"{float(f'{value:.4g}'):,.12g}"


def chosen_ways(known: Iterable[str], asked: Collection[str] | None) -> tuple[str, ...]:
    """The ways that are asked for, in the order in which they are known; None asks for all."""
    names = tuple(known)
    for way in asked or ():
        require(way in names, "method", way, f"one of {', '.join(names)}")
    return names if asked is None else tuple(name for name in names if name in asked)


def seeds(source: Source, runs: int) -> tuple[int, ...]:
    """A seed for each run, the same for every way."""
    return tuple(source.bits(_SEED_BITS) for _ in range(whole(runs, "runs", least=1)))


def paired(
    x: float, values: Mapping[str, Reals], *, ends: tuple[float, float] = (-math.inf, math.inf)
) -> list[Point]:
    """The mean of each way over the same runs, and by how much it exceeds that of the first way.

    Intervals are Student's, over runs, within ``ends``. There is none where all runs agree, which
    says nothing of how far off they may be.

    >>> points = paired(1.0, {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 3.0])})
    >>> [(point.value, point.more["gain"]) for point in points], points[1].more["gain_low"]
    ([(1.5, 0.0), (2.5, 1.0)], None)
    """
    first = next(iter(values.values()))
    found = []
    for way, of_run in values.items():
        value, low, high = mean_interval(of_run)
        low = None if low is None else max(low, ends[0])
        high = None if high is None else min(high, ends[1])
        gain, gain_low, gain_high = mean_interval(of_run - first)
        told = {"gain": gain, "gain_low": gain_low, "gain_high": gain_high}
        found.append(Point(way=way, x=x, value=value, low=low, high=high, more=told))
    return found


def mean_interval(values: Reals) -> tuple[float, float | None, float | None]:
    """A mean, and where it lies 95 times in 100: unknown from one value, or if all are the same."""
    mean = Mean.of(values, confidence=_CONFIDENCE)
    if not 0 < mean.half_width < math.inf:
        return mean.value, None, None
    return mean.value, mean.value - mean.half_width, mean.value + mean.half_width
