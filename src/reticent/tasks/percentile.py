"""Who is at a percentile: the person whose value is nearest to it, chosen privately.

Theory    docs/theory/percentile.md, Lemma 1 (local sensitivity), Theorem 1 (admissible bound)
Notation  x = values in [0, L], L public, k = ceil(p (n + 1)), m = x_(k), u(i) = -|m - x_i|
Not here  the mechanism (mechanisms/dampening.py).

One person's value is replaced by another; how many people there are is public. What is released is
a person's place in the list, not a value. ``quantile`` releases a number instead, which is what one
wants more often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import require
from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms.base import Release
from reticent.mechanisms.dampening import Dampened, Law, Scored, Shift
from reticent.mechanisms.exponential import Exponential
from reticent.mechanisms.local_sensitivity import WIDENED, LocalSensitivity
from reticent.mechanisms.reading import read_reals
from reticent.mechanisms.selection import Selection
from reticent.mechanisms.selection_laws import chances_of
from reticent.noise import Grid, Source
from reticent.rational import Number, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Rank = float | Fraction
    Reals = NDArray[np.float64]
    Whole = NDArray[np.int64]

_ROUNDED = 2.0**-30  # a float beside its exact value; the grid allows for more
_MOST_POINTS = 1 << 22  # of a grid on which a quantile is looked for


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PercentileSensitivity(LocalSensitivity):
    """delta(0, i) of each person, then one delta(t) for all. Theorem 1."""

    first: Reals
    later: Reals  # delta(1), delta(2), ...

    @property
    def candidates(self) -> int:
        """How many people there are."""
        return len(self.first)

    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """b(i, r): the own first step, and the common ones after it."""
        first, later = (_in_steps(some, grid, limit) for some in (self.first, self.later))
        common = np.concatenate([[0], np.cumsum(later)])
        after = np.minimum(np.maximum(steps - 1, 0), len(later))
        beyond = np.maximum(steps - 1 - len(later), 0)
        return np.asarray(np.where(steps > 0, first, 0) + common[after] + beyond * limit)


def _in_steps(amounts: Reals, grid: Grid, limit: int) -> Whole:
    whole = np.ceil(np.minimum(amounts * 2.0**-grid.exponent, float(limit))).astype(np.int64)
    return np.minimum(whole + WIDENED, limit)


def percentile_scored(values: ArrayLike, p: Rank, upper: float) -> Scored:
    """Utilities and local sensitivities of everybody; values are clamped to [0, upper]."""
    x, order, k = _sorted(values, p, upper)
    n, sorted_x = len(x), x[order]
    m = sorted_x[k]
    low = sorted_x[k - 1] if k > 0 else 0.0
    high = sorted_x[k + 1] if k + 1 < n else upper
    first = _first(x, m, low, high, upper)
    steps = np.arange(1, n + 1)
    above = np.where(k + steps + 1 < n, sorted_x[np.minimum(k + steps + 1, n - 1)], upper)
    below = np.where(k - steps - 1 >= 0, sorted_x[np.maximum(k - steps - 1, 0)], 0.0)
    later = np.maximum(above, upper - below)
    return Scored(-np.abs(m - x), PercentileSensitivity(first, later))


def _sorted(values: ArrayLike, p: Rank, upper: float) -> tuple[Reals, Whole, int]:
    require(0 < p < 1, "p", p, "between 0 and 1")
    require(0 < upper < math.inf, "upper", upper, "positive and finite")
    size = _size(values)
    x = np.clip(np.nan_to_num(read_reals(values, size), nan=0.0), 0.0, upper)
    k = min(size, max(1, math.ceil(Fraction(p) * (size + 1)))) - 1
    return x, np.argsort(x, kind="stable"), k


def _size(values: ArrayLike) -> int:
    """How many values there are; they themselves are read one by one."""
    shape = values.shape if isinstance(values, np.ndarray) else (len(values),)  # type: ignore[arg-type]
    require(len(shape) == 1 and shape[0] > 0, "values", f"shape {shape}", "a list of some values")
    return int(shape[0])


def _first(x: Reals, m: float, low: float, high: float, upper: float) -> Reals:
    """The largest change of u(i) when one value, i's own or another one, is replaced. Lemma 1."""
    far = np.abs(m - x)
    others = np.maximum(np.abs(far - np.abs(high - x)), np.abs(far - np.abs(low - x)))
    left = np.maximum(np.abs((m - x) - (upper - high)), x)
    right = np.maximum(upper - x, np.abs((x - m) - low))
    same = max(upper - high, low)  # the own value leaves, and m goes to a neighbour
    own = np.where(x < m, left, np.where(x > m, right, same))
    return np.asarray(np.maximum(np.maximum(far, others), own))


def percentile_mechanism(
    epsilon: Number,
    people: int,
    upper: Number,
    *,
    shift: Shift = "left",
    law: Law = "permute-and-flip",
    steps: int = 1,
) -> Dampened:
    """The mechanism for so many people; ``steps`` 0 is plain selection by u / L."""
    return Dampened(
        epsilon=epsilon,
        candidates=people,
        limit=upper,
        steps=steps,
        shift=shift,
        law=law,
        unit=RECORD_SUBSTITUTE,
    )


def release_percentile(
    values: ArrayLike, p: Rank, *, upper: float, mechanism: Dampened, source: Source
) -> Release[int]:
    """The place in the list of a person near the ``p``-th percentile."""
    _check_limit(upper, mechanism)
    return mechanism.release(percentile_scored(values, p, upper), source)


def _check_limit(upper: float, mechanism: Dampened) -> None:
    """One value moves a utility by up to ``upper``, so the mechanism must allow for it."""
    allowed = float(mechanism.limit) * (1 + _ROUNDED)
    require(upper <= allowed, "upper", upper, f"at most the mechanism's limit, {mechanism.limit}")


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """Mean absolute error in value and in rank, computed from the law."""

    value: float
    rank: float


def expected_error(
    values: ArrayLike, p: float, *, upper: float, mechanism: Dampened
) -> ExpectedError:
    """What to expect on public or synthetic data: on private data this is itself private."""
    _check_limit(upper, mechanism)
    scored = percentile_scored(values, p, upper)
    chances = chances_of(mechanism.scores(scored), mechanism.rate, mechanism.law)
    x, order, k = _sorted(values, p, upper)
    ranks = np.empty(len(x))
    ranks[order] = np.arange(len(x))
    return ExpectedError(
        float(chances @ np.abs(x - x[order[k]])), float(chances @ np.abs(ranks - k))
    )


def quantile_mechanism(
    epsilon: Number, *, lower: Number, upper: Number, step: Number
) -> Exponential:
    """The exponential mechanism over the points lower, lower + step, ... up to upper."""
    low, high, wide = Fraction(lower), Fraction(upper), positive(step, "step")
    points = int((high - low) / wide) + 1
    good = high > low and 1 < points <= _MOST_POINTS
    require(good, "step", step, f"one that gives 2 to {_MOST_POINTS} points from lower to upper")
    return Exponential(epsilon=epsilon, candidates=points, sensitivity=1, unit=RECORD_SUBSTITUTE)


def quantile(
    values: ArrayLike,
    p: Rank,
    *,
    lower: Number,
    upper: Number,
    step: Number,
    epsilon: Number,
    source: Source,
) -> Release[int]:
    """A number near the ``p``-th quantile. The release is the number of a point of the grid.

    A point stands for the values from it to the next one. Its score is minus by how many people
    these miss the rank that is asked for; one value replaced moves it by at most one.
    """
    mechanism = quantile_mechanism(epsilon, lower=lower, upper=upper, step=step)
    missed, _ = _missed(values, p, lower, upper, step, mechanism.candidates)
    return mechanism.release(-missed, source)


def _missed(
    values: ArrayLike, p: Rank, lower: Number, upper: Number, step: Number, points: int
) -> tuple[Reals, float]:
    """By how many people each point misses the rank, and the true value above lower."""
    low, high = float(Fraction(lower)), float(Fraction(upper))
    above = read_reals(values, _size(values)) - low
    x, order, k = _sorted(above, p, high - low)
    ends = np.arange(points) * float(Fraction(step))
    below = np.append(np.searchsorted(x[order], ends, side="left"), len(x))
    missed = np.maximum(below[:-1] - k, k + 1 - below[1:]).clip(min=0)
    return missed.astype(np.float64), float(x[order[k]])


def expected_quantile_error(
    values: ArrayLike,
    p: Rank,
    *,
    lower: Number,
    upper: Number,
    step: Number,
    mechanism: Selection,
) -> ExpectedError:
    """What to expect of a quantile on public or synthetic data, from the law of the choice."""
    missed, true = _missed(values, p, lower, upper, step, mechanism.candidates)
    rate = mechanism.rate / mechanism.grid.step  # of one person missed
    chances = chances_of(-missed.astype(np.int64), rate, mechanism.name)
    ends = np.arange(mechanism.candidates) * float(Fraction(step))
    return ExpectedError(float(chances @ np.abs(ends - true)), float(chances @ missed))
