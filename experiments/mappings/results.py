"""Points of figures by label, and how curves are read between points.

Leaks are in bits, shares of I(A; B) are numbers from 0 to 1, times are CPU seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

Curve = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Row:
    """One point of a figure, with the ends of an interval where there is one."""

    figure: str
    data: str
    series: str
    x: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the row is about."""
        return self.figure, self.data, self.series, self.x

    def plain(self) -> dict[str, Any]:
        """As data for JSON."""
        return asdict(self)


class Pool:
    """Rows in the order in which they were added."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(
        self,
        figure: str,
        data: str,
        series: str,
        x: object,
        value: float,
        ends: tuple[float, float] | None = None,
    ) -> None:
        """Note one point; ``x`` is a number or a word."""
        if math.isnan(value):
            raise ValueError(f"{figure} / {data} / {series} / {x} is not known")
        low, high = (None, None) if ends is None else ends
        self.rows.append(Row(figure, data, series, text(x), float(value), low, high))


class Table:
    """Rows by label."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.held = {row.key: row for row in rows}

    def row(self, figure: str, data: str, series: str, x: object = "") -> Row:
        """One row."""
        return self.held[figure, data, series, text(x)]

    def get(self, figure: str, data: str, series: str, x: object = "") -> float:
        """Its value."""
        return self.row(figure, data, series, x).value

    def rows(self, figure: str, data: str, series: str) -> list[Row]:
        """All rows of one series, in order."""
        return [row for key, row in self.held.items() if key[:3] == (figure, data, series)]

    def curve(self, figure: str, data: str, series: str) -> Curve:
        """A series whose x are numbers."""
        return [(float(row.x), row.value) for row in self.rows(figure, data, series)]

    def has(self, figure: str, data: str | None = None) -> bool:
        """Whether the figure was run, on this data if one is named."""
        return any(k[0] == figure and data in (None, k[1]) for k in self.held)

    def data(self, figure: str) -> list[str]:
        """The sets of a figure, in order."""
        return list(dict.fromkeys(key[1] for key in self.held if key[0] == figure))

    def series(self, figure: str, data: str) -> list[str]:
        """The series of a figure, in order."""
        return list(dict.fromkeys(key[2] for key in self.held if key[:2] == (figure, data)))

    def xs(self, figure: str, data: str, series: str) -> list[str]:
        """Where a series has points."""
        return [row.x for row in self.rows(figure, data, series)]


class Results(Table):
    """Rows, which set is which, mappings of the example as pictures, and ROC curves."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(Row(**row) for row in result["rows"])
        names = result["data"]
        self.pictures, self.rocs = result["pictures"], result["rocs"]
        self.census, self.sample, self.films = names["census"], names["sample"], names["films"]


def text(x: object) -> str:
    """Numbers in six digits, words as they are."""
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def reaches(curve: Curve, level: float) -> float:
    """The least x at which a falling curve is at ``level``, by straight lines; NaN if never."""
    ordered = sorted(curve)
    for (x, y), (after, below) in pairwise(ordered):
        if y >= level >= below:
            return x if y == below else x + (after - x) * (y - level) / (y - below)
    return math.nan


def at(curve: Curve, x: float) -> float:
    """The value at ``x``, by straight lines; NaN outside."""
    ordered = sorted(curve)
    for (left, y), (right, other) in pairwise(ordered):
        if left <= x <= right:
            return y if left == right else y + (other - y) * (x - left) / (right - left)
    return math.nan
