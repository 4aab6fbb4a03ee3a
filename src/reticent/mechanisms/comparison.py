"""What each way of choosing can be expected to do, on data that are public or made up.

Theory    docs/theory/dampening.md, Theorems 1 to 8 (the ways), docs/theory/selection.md
Notation  as in top_dampened.py
Not here  which way to take (choosing.py), the laws themselves (selection_laws.py, noise/).

**The figures are computed from the data and not private.** On private data they would tell what
the mechanism is there to hide: compare on public data of the same kind, or on made-up ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.mechanisms.reading import read_reals
from reticent.mechanisms.selection_laws import chances_of
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Source
from reticent.rational import Number, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from reticent.mechanisms.dampening import Scored

    Reals: TypeAlias = NDArray[np.float64]

Progress: TypeAlias = Callable[[str], None]
_Z = 1.959964  # of a 95 % interval
_SEED_BITS = 128  # the most that a seeded source takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One way at one budget: the share of the true best that it finds, and what it gives away.

    ``low`` and ``high`` hold the share 95 times in 100; with ``runs`` 0 it is computed, not drawn.
    ``loss`` is by how much the chosen candidates' mean utility is below that of the best.
    """

    way: str
    epsilon: float
    overlap: float
    low: float
    high: float
    loss: float
    runs: int


def ways(mechanism: TopDampened) -> dict[str, TopDampened]:
    """The mechanism's relatives with the same promise, by name; "adaptive" is one with a test."""
    plain, one = mechanism.plain, mechanism.whole
    assert plain is not None  # noqa: S101, set when the value was made
    found = {
        "exponential": replace(mechanism, test=0, whole=replace(plain, law="exponential")),
        "permute-and-flip": replace(
            mechanism, test=0, whole=replace(plain, law="permute-and-flip")
        ),
    }
    if one.steps:
        undivided = replace(plain, steps=one.steps, shift="none", spread=2)
        found["dampened"] = replace(mechanism, test=0, whole=undivided)
    if one.steps and one.shift != "none":
        found["shifted"] = replace(mechanism, test=0)
    if mechanism.test:
        found["adaptive"] = mechanism
    return found


def compare(
    data: Scored,
    mechanism: TopDampened,
    *,
    epsilons: Sequence[Number],
    runs: int = 100,
    source: Source,
    truth: ArrayLike | None = None,
    only: Collection[str] | None = None,
    progress: Progress | None = None,
) -> tuple[Compared, ...]:
    """Every way at every budget, or ``only`` some of them. The result is private if the data are.

    ``truth`` are the utilities that count, if they are not those that are scored. One candidate is
    chosen by a law that is computed; several are drawn ``runs`` times, in each run from the same
    stream by every way and at every budget, so that ways differ less by luck.
    """
    whole(runs, "runs", least=1)
    require(len(epsilons) > 0, "epsilons", "none", "one or more")
    n = mechanism.whole.candidates
    values = np.nan_to_num(read_reals(data.utilities if truth is None else truth, n), nan=0.0)
    known = ways(mechanism)
    good = only is None or all(way in known for way in only)
    require(good, "only", "others", f"some of {', '.join(known)}")
    seeds = [source.bits(_SEED_BITS) for _ in range(runs)]
    found = []
    for epsilon in epsilons:
        for way, one in ways(mechanism.at(epsilon)).items():
            if only is not None and way not in only:
                continue
            if progress is not None:
                progress(f"{way} at epsilon {float(Fraction(epsilon)):g}")
            judged = _computed if one.k == 1 and not one.test else _drawn
            found.append(judged(way, one, data, values, seeds))
    return tuple(found)


def _computed(
    way: str, one: TopDampened, data: Scored, values: Reals, seeds: Sequence[int]
) -> Compared:
    chances = chances_of(one.round.scores(data), one.round.rate, one.round.law)
    right = float(chances[values == values.max()].sum())
    loss = float(values.max() - chances @ values)
    return _compared(way, one, right, (right, right), loss, 0)


def _drawn(
    way: str, one: TopDampened, data: Scored, values: Reals, seeds: Sequence[int]
) -> Compared:
    edge = np.partition(values, -one.k)[-one.k]
    above = int((values > edge).sum())  # ties at the edge are as good as each other
    best = np.sort(values)[-one.k :].mean()
    overlaps, losses = [], []
    for seed in seeds:
        chosen = values[list(one.release(data, Source.seeded(seed)).value)]
        level = min(int((chosen == edge).sum()), one.k - above)
        overlaps.append((int((chosen > edge).sum()) + level) / one.k)
        losses.append(best - chosen.mean())
    share, runs = float(np.mean(overlaps)), len(seeds)
    return _compared(way, one, share, _interval(share, runs), float(np.mean(losses)), runs)


def at_random(values: Reals, k: int) -> float:
    """The share of the best that k candidates at random are, as ties are counted above.

    >>> at_random(np.array([3.0, 2.0, 1.0, 0.0]), 2), at_random(np.array([1.0, 1.0, 1.0, 0.0]), 1)
    (0.5, 0.75)
    """
    edge, n = np.partition(values, -k)[-k], len(values)
    above, level = int((values > edge).sum()), int((values == edge).sum())
    ways_to = [math.comb(level, hits) * math.comb(n - level, k - hits) for hits in range(k + 1)]
    counted = sum(min(hits, k - above) * number for hits, number in enumerate(ways_to))
    return float(Fraction(above, n) + Fraction(counted, k * math.comb(n, k)))


def _compared(
    way: str,
    one: TopDampened,
    share: float,
    ends: tuple[float, float],
    loss: float,
    runs: int,
) -> Compared:
    epsilon = float(Fraction(one.whole.epsilon))
    low, high = ends
    return Compared(
        way=way, epsilon=epsilon, overlap=share, low=low, high=high, loss=loss, runs=runs
    )


def _interval(share: float, runs: int) -> tuple[float, float]:
    """Wilson's, which holds for shares too: none between 0 and 1 varies more than a coin."""
    width = _Z * _Z / runs
    middle = (share + width / 2) / (1 + width)
    half = math.sqrt(share * (1 - share) * width + width * width / 4) / (1 + width)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return min(low, share), max(high, share)  # at 0 and 1 only rounding parts them
