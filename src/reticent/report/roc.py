"""The curve that a promise allows no attack to be above, and the rule by which one is above it.

Theory    docs/theory/item-attack.md, Theorem 2 (a curve that none is above); with delta, a test of
          false rate x finds at most min(e^eps x + delta, 1 - e^-eps (1 - delta - x))
Notation  x = false rate, e^eps = exp(epsilon)
Not here  attacks (tasks/item_attack.py, tasks/inference.py), the exact rule of a mapping
          (tasks/inference.py), pictures (attack_figures.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import betainccinv, betaincinv

from reticent.errors import require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Rates: TypeAlias = tuple[Reals, Reals]

FALSE_ALARM = 1e-6  # chance that a curve which keeps to its ceiling is said to be above it
_UP = 1 + 2.0**-50  # more than all roundings of a bend together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Measured:
    """An attack that was tried: rates from (0, 0) to (1, 1), and how many cases of each kind."""

    name: str
    false_rates: ArrayLike
    true_rates: ArrayLike
    negatives: int
    positives: int

    def __post_init__(self) -> None:
        check_rates("curves", self.rates)
        require(self.negatives >= 1, "negatives", self.negatives, "at least 1")
        require(self.positives >= 1, "positives", self.positives, "at least 1")

    @property
    def rates(self) -> Rates:
        """False and true rates as arrays."""
        return np.asarray(self.false_rates, np.float64), np.asarray(self.true_rates, np.float64)

    @property
    def area(self) -> float:
        """How often a case with the secret is ranked above one without; equal ones count half."""
        x, y = self.rates
        return min(1.0, float(np.trapezoid(y, x)))


def check_rates(name: str, curve: Rates) -> None:
    """Refuse what is no curve of rates that rise from false rate 0 to 1."""
    x, y = (np.asarray(side, dtype=np.float64) for side in curve)
    require(x.ndim == 1 and x.shape == y.shape and len(x) > 1, name, "other", "pairs of rates")
    most = 1 + 1e-9  # sums of chances are rounded
    inside = bool(((x >= 0) & (x <= most) & (y >= 0) & (y <= most)).all())
    rising = bool((np.diff(x) >= 0).all() and (np.diff(y) >= 0).all())
    require(inside and rising, name, "other", "of rates that rise within 0 and 1")
    whole = x[0] == 0 and math.isclose(x[-1], 1)
    require(whole, name, "other", "of false rates from 0 to 1")


def promised_curve(epsilon: float | Fraction, delta: float | Fraction = 0.0) -> Rates:
    """False and true rates of the most that (epsilon, delta) lets any test find, never below it.

    >>> [round(float(y), 3) for y in promised_curve(1)[1]]
    [0.0, 0.731, 1.0]
    """
    require(epsilon >= 0 and math.isfinite(epsilon), "epsilon", epsilon, "finite, not negative")
    require(0 <= delta <= 1, "delta", delta, "from 0 to 1")
    loss, chance = _up(epsilon), min(_up(delta), 1.0)
    decay = math.exp(-loss)
    bend = (1 - chance) * decay / (1 + decay) / _UP  # to the left, and its height up
    height = min((1 + chance * decay) / (1 + decay) * _UP, 1.0)
    end = math.nextafter(1 - chance, 0) if chance else 1.0
    points = [(0.0, chance), (bend, height), (max(end, bend), 1.0), (1.0, 1.0)]
    kept = list(dict.fromkeys(points))
    return np.array([x for x, _ in kept]), np.array([y for _, y in kept])


def _up(value: float | Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= Fraction(value) else math.nextafter(near, math.inf)


def excess(curve: Measured, ceiling: Rates, *, false_alarm: float = FALSE_ALARM) -> float:
    """By how much the curve is surely above the ceiling at its worst point; 0 or less: nowhere.

    Exact intervals of both rates by Clopper and Pearson, for all thresholds at once: each case may
    have been one, and given that it is, the others are as they were. So one case is left out, and
    the chance of an alarm is shared among all.
    """
    check_rates("ceiling", ceiling)
    x, y = curve.rates
    share = false_alarm / (2 * (curve.negatives + curve.positives))
    wrong = np.ceil(x * curve.negatives - 1e-6)
    found = np.maximum(np.floor(y * curve.positives + 1e-6) - 1, 0)
    most = _highest(wrong, curve.negatives, share)
    least = _lowest(found, curve.positives - 1, share)
    allowed = np.interp(np.nextafter(most, 2), *ceiling)
    return float((least - allowed).max())


def _highest(counts: Reals, cases: int, chance: float) -> Reals:
    inner = np.minimum(counts, cases - 1)
    return np.where(counts < cases, betainccinv(inner + 1, cases - inner, chance), 1.0)


def _lowest(counts: Reals, cases: int, chance: float) -> Reals:
    if not cases:
        return np.zeros_like(counts)
    inner = np.clip(counts, 1, cases)
    return np.where(counts > 0, betaincinv(inner, cases - inner + 1, chance), 0.0)


def found_between(curve: Measured, *, chance: float = 0.05) -> Rates:
    """The exact interval of each true rate by itself, 95 % unless said otherwise."""
    found = np.rint(curve.rates[1] * curve.positives)
    return (
        _lowest(found, curve.positives, chance / 2),
        _highest(found, curve.positives, chance / 2),
    )


def failures(curves: Sequence[Measured], ceiling: Rates, *, of: str = "the promise") -> list[str]:
    """A sentence for each curve that is above the ceiling and no accident; empty if none is."""
    return [
        f"{curve.name[:1].upper()}{curve.name[1:]} finds more than {of} allows: its curve is above "
        f"the ceiling by at least {100 * over:.2g} in 100, "
        f"in {curve.positives + curve.negatives:,} trials."
        for curve in curves
        if (over := excess(curve, ceiling)) > 0
    ]


def thinned(false_rates: ArrayLike, true_rates: ArrayLike, *, most: int = 200) -> NDArray[np.int64]:
    """Which points of a curve to keep so that there are at most so many, its ends among them.

    They are taken evenly along the curve, so that steep and flat parts are kept alike.
    """
    x, y = np.asarray(false_rates, np.float64), np.asarray(true_rates, np.float64)
    if len(x) <= most:
        return np.arange(len(x))
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    places = np.searchsorted(along, np.linspace(0, along[-1], most - 1))
    return np.unique(np.append(np.minimum(places, len(x) - 1), len(x) - 1))


def raised(curve: Rates, *, most: int = 200) -> Rates:
    """A ceiling by about so many points, one more at most, nowhere below the one given.

    Between points that are kept the line may cut a bend off, so all are raised by the most that it
    does anywhere.
    """
    x, y = (np.asarray(side, np.float64) for side in curve)
    kept = thinned(x, y, most=most)
    if len(kept) == len(x):
        return x, y
    cut = max(float(np.max(y - np.interp(x, x[kept], y[kept]))), 0.0) * _UP
    x, y = x[kept], y[kept] + cut
    inside = int(np.searchsorted(y, 1.0))  # up to where the raised line leaves the square
    if inside in (0, len(x)):
        return x, np.minimum(y, 1.0)
    share = (1 - y[inside - 1]) / (y[inside] - y[inside - 1])
    leaves = (x[inside - 1] + share * (x[inside] - x[inside - 1])) / _UP
    ends = [max(leaves, x[inside - 1]), 1.0]
    return np.append(x[:inside], ends), np.append(y[:inside], [1.0, 1.0])
