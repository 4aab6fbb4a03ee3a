"""A linear program with one coupling constraint: everybody chooses, one price keeps the mean.

Theory    docs/theory/mapping.md, Theorem 4 (linear step)
Notation  every profile j pays a cost and a distance for its output; lam = price of distance
Not here  where costs come from (mapping_prices.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

_SWEEPS = 100  # a guard: the search for the price ends after a dozen


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One output for each of some profiles, its cost without distance, and its distance."""

    outs: Whole
    costs: Reals
    far: Reals

    def changed(self, where: Whole | NDArray[np.bool_], other: Choice) -> Choice:
        """With the entries of ``other`` at ``where``."""
        outs, costs, far = self.outs.copy(), self.costs.copy(), self.far.copy()
        outs[where], costs[where], far[where] = other.outs, other.costs, other.far
        return Choice(outs, costs, far)

    def some(self, where: Whole | NDArray[np.bool_]) -> Choice:
        """The entries at ``where``."""
        return Choice(self.outs[where], self.costs[where], self.far[where])


Cheapest: TypeAlias = Callable[["Whole", float], Choice]
"""For some profiles and a price lam: the outputs of least cost + lam distance."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinearStep:
    """The optimum of the linear program: ``outs``, but ``share`` of profile ``split`` to ``other``.

    ``value`` is attained, ``bound`` is that of the dual; they differ by rounding only.
    """

    outs: Whole
    split: int
    other: int
    share: float
    value: float
    bound: float
    distortion: float
    multiplier: float

    def entries(self) -> tuple[Whole, Whole, Reals]:
        """Profiles, outputs and chances."""
        profiles, chances = np.arange(len(self.outs)), np.ones(len(self.outs))
        if self.split < 0:
            return profiles, self.outs, chances
        chances[self.split] = 1 - self.share
        return (
            np.append(profiles, self.split),
            np.append(self.outs, self.other),
            np.append(chances, self.share),
        )


def linear_step(
    cheapest: Cheapest, mass: Reals, stay: Choice, delta: float, *, guess: float = 0.0
) -> LinearStep:
    """Minimise sum_j mass_j cost_j over maps of mean distance at most ``delta``. Theorem 4.

    ``stay`` is any choice within ``delta``. The dual is concave and piecewise linear in the one
    price: where the tangents from either side meet is either its top or a point with a new tangent.
    A profile whose choices on both sides are equally far needs no further look.
    """
    everyone = np.arange(len(mass))
    low, high, least = _bracket(cheapest, everyone, mass, stay, delta, guess)
    if low is None:
        return _mixed_step(high, high, mass, delta, 0.0, float(mass @ high.costs))
    bound, lam = -np.inf, least
    for _ in range(_SWEEPS):
        same = (low.far == high.far) & (low.costs < high.costs)
        high = high.changed(same, low.some(same))
        unsettled = np.flatnonzero(low.far != high.far)
        drop = float(mass @ (low.far - high.far))
        if drop <= 0:
            break
        lam = max(least, float(mass @ (high.costs - low.costs)) / drop)
        found = cheapest(unsettled, lam)
        middle = low.changed(unsettled, found)
        tops = np.abs(high.costs) + lam * high.far
        gain = mass @ (high.costs + lam * high.far - middle.costs - lam * middle.far)
        bound = max(bound, float(mass @ (middle.costs + lam * middle.far)) - lam * delta)
        if gain <= 1e-14 * float(mass @ tops):
            break
        if float(mass @ middle.far) > delta:
            low, least = middle, lam
        else:
            high = middle
    return _mixed_step(low, high, mass, delta, lam, bound)


def _bracket(
    cheapest: Cheapest, everyone: Whole, mass: Reals, high: Choice, delta: float, guess: float
) -> tuple[Choice | None, Choice, float]:
    """Choices beyond Delta and within it; the first is None where nothing is beyond it."""
    lam = 0.8 * guess
    while True:
        found = cheapest(everyone, lam)
        if float(mass @ found.far) > delta:
            return found, high, lam
        high = found
        if lam == 0:
            return None, high, lam
        lam = lam / 2 if lam > 0.3 * guess else 0.0


def _mixed_step(
    low: Choice, high: Choice, mass: Reals, delta: float, lam: float, bound: float
) -> LinearStep:
    """Profiles go over from ``high`` to ``low`` one by one, the last one in part, until Delta."""
    saved, extra = high.costs - low.costs, low.far - high.far
    movers = np.flatnonzero((extra > 0) & (saved > 0))
    movers = movers[np.argsort(-saved[movers] / extra[movers], kind="stable")]
    room = delta - float(mass @ high.far)
    used = np.cumsum(mass[movers] * extra[movers])
    count = int(np.searchsorted(used, room, side="right"))
    chosen = high.changed(movers[:count], low.some(movers[:count]))
    split, other, share = -1, -1, 0.0
    value, far = float(mass @ chosen.costs), float(mass @ chosen.far)
    if count < len(movers) and room > 0:
        split = int(movers[count])
        left = room - (used[count - 1] if count else 0.0)
        share = float(min(1.0, max(0.0, left / (mass[split] * extra[split]))))
        other = int(low.outs[split])
        value -= share * float(mass[split] * saved[split])
        far += share * float(mass[split] * extra[split])
    return LinearStep(chosen.outs, split, other, share, value, bound, far, lam)
