"""Planning a histogram: how the provider's budget is shared among attributes, before any data.

Theory    docs/theory/multilevel.md, Theorem 3 (optimum), Lemma 3 (rounding), Theorem 6 (threshold)
Notation  t_j = budget of attribute j, eps = budget of the provider, C_j = most that one unit moves
          attribute j, y_j = rate per step, t'_j = C_j y_j = what is spent, eps* = threshold
Not here  the solver (optim/allocation.py), the release (multilevel.py).

A plan reads the catalogue and the preferences, both public, and no profile. The solver's answer is
made feasible again in exact arithmetic, so the guarantee does not rest on the solver.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError, require
from reticent.guarantees import ITEM, Unit
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.multilevel import MultiLevel
from reticent.noise import LARGEST_SCALE
from reticent.optim.allocation import TOLERANCE, Allocation, allocate
from reticent.optim.objectives import LatticeError, Objective, PowerError
from reticent.rational import Number, budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

Goal: TypeAlias = Literal["mae", "mse", "mael"]
_NEAR = 1e-7  # a rate this close to its cap is meant to be the cap
_LARGEST_LOSS = 50.0  # of a step; beyond it the error of whole numbers cannot be computed
_SAFE = 12  # roundings besides one per attribute, Lemma 3


@dataclass(frozen=True, slots=True, eq=False)
class HistogramPlan:
    """What a release would cost and how wrong it would be; arrays have one entry per attribute.

    ``spent`` is what an observer of one attribute alone learns at most; ``price`` by how much the
    error falls per unit of the provider's budget (0 above ``threshold``); ``proportional`` is the
    plan that scales all budgets alike.
    """

    mechanism: MultiLevel
    epsilon: Fraction
    budgets: tuple[Fraction, ...]
    goal: str
    spent: tuple[Fraction, ...]
    threshold: Fraction
    error: float
    gap: float
    price: float
    cap_prices: Reals
    proportional: MultiLevel
    proportional_error: float

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes, in order."""
        return self.mechanism.exposure.attributes

    @property
    def advantage(self) -> float:
        """How many times larger the error of proportional scaling is."""
        return self.proportional_error / self.error

    @property
    def certified(self) -> bool:
        """Whether the error is proved to be the least possible, up to 1e-9 of it."""
        return self.gap <= TOLERANCE

    @property
    def nothing_lost(self) -> bool:
        """Whether every attribute gets its full budget. Theorem 6."""
        return self.epsilon >= self.threshold


def plan_histogram(
    catalogue: Catalogue,
    *,
    budgets: Mapping[str, Number],
    epsilon: Number,
    goal: Goal | Objective = "mse",
    weighted: bool = False,
    unit: Unit = ITEM,
) -> HistogramPlan:
    """The noise that makes the error least within the budgets; attributes without one are left out.

    ``goal`` is the mean absolute error, the mean squared error, the mean absolute error relative to
    what each attribute's budget alone would allow, or any ``Objective`` of the rates 1 / scale.

    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))
    >>> plan = plan_histogram(films, budgets={"Crime": 0.1, "Drama": 1}, epsilon=0.4)
    >>> [round(float(t), 6) for t in plan.spent], float(plan.threshold)
    ([0.1, 0.3], 1.1)
    """
    wanted = _budgets(catalogue, budgets)
    eps = budget(epsilon, "epsilon")
    kept = catalogue.only([name for name in catalogue.attributes if name in wanted])
    exposure = Exposure.of(kept, unit=unit, weighted=weighted)
    shares = tuple(wanted[name] for name in kept.attributes)
    caps = _caps(exposure, shares, eps)
    objective = _objective(exposure, shares, caps, goal)
    found = allocate(
        exposure.rows,
        caps=[[float(cap) for cap in caps]],
        budget=[float(eps)],
        objective=objective,
    )
    rates = exact_rates(exposure, found.x[0].tolist(), caps, eps)
    price, cap_prices = _prices(exposure, found, shares, eps)
    threshold = exposure.overall(_full(exposure, shares))
    scaled = tuple(t * min(Fraction(1), eps / threshold) for t in _full(exposure, shares))
    rates = min(rates, scaled, key=lambda tried: _total(objective, tried))  # if the solver failed
    least = 1 / Fraction(LARGEST_SCALE)
    small = min(rates) < least
    require(not small, "budgets", float(min(shares)), "large enough for noise up to 2**50 steps")
    mechanism = MultiLevel(exposure, rates, catalogue=kept)
    proportional = MultiLevel(exposure, tuple(max(rate, least) for rate in scaled), catalogue=kept)
    error = _total(objective, rates)
    return HistogramPlan(
        mechanism,
        eps,
        shares,
        goal if isinstance(goal, str) else type(goal).__name__,
        exposure.alone(rates),
        threshold,
        error / len(shares),
        max(0.0, (error - float(found.bound[0])) / error),
        price,
        cap_prices,
        proportional,
        _total(objective, scaled) / len(shares),
    )


def _prices(
    exposure: Exposure, found: Allocation, shares: tuple[Fraction, ...], eps: Fraction
) -> tuple[float, Reals]:
    """Fall of the mean error per unit of eps and of each budget; a cap that is eps is eps's."""
    caps = found.cap_prices[0] / exposure.largest / len(shares)
    by_eps = np.array([t > eps for t in shares])
    rows = float(found.price[0]) / len(shares)
    return rows + float(caps[by_eps].sum()), np.where(by_eps, 0.0, caps)


def exact_rates(
    exposure: Exposure, rates: list[float], caps: tuple[Fraction, ...], eps: Fraction
) -> tuple[Fraction, ...]:
    """Rates no larger than caps and rows allow, in exact arithmetic. Lemma 3.

    What is close to its cap is set to it; the others are scaled to fit the rows.
    """
    near = [rate >= float(cap) * (1 - _NEAR) for rate, cap in zip(rates, caps, strict=True)]
    room = _room(exposure, rates, caps, eps, near)
    if room < 1 - Fraction(_NEAR) and any(near):  # the rows leave no place for the caps
        near = [False] * len(caps)
        room = _room(exposure, rates, caps, eps, near)
    return tuple(
        cap if n else min(cap, _down(Fraction(rate) * room))
        for rate, cap, n in zip(rates, caps, near, strict=True)
    )


def _room(
    exposure: Exposure,
    rates: list[float],
    caps: tuple[Fraction, ...],
    eps: Fraction,
    near: list[bool],
) -> Fraction:
    """The factor by which rates below their caps fit the rows; negative if the caps do not fit."""
    zero = Fraction(0)
    held = exposure.losses([cap if n else zero for cap, n in zip(caps, near, strict=True)])
    free = exposure.losses([zero if n else Fraction(r) for r, n in zip(rates, near, strict=True)])
    if max(held) > eps:
        return Fraction(-1)
    return min(((eps - h) / f for h, f in zip(held, free, strict=True) if f), default=Fraction(1))


def _down(value: Fraction) -> Fraction:
    """``value`` rounded down to 60 binary digits."""
    digits = 60 - (value.numerator.bit_length() - value.denominator.bit_length())
    return Fraction(math.floor(value * Fraction(2) ** digits)) / Fraction(2) ** digits


def safe_scales(
    exposure: Exposure, rates: Reals, budgets: Reals, epsilon: Reals
) -> NDArray[np.float64]:
    """Noise scales in steps for many people, whose exact losses keep within the budgets. Lemma 3.

    A float budget stands for the decimal it is written as, within half a unit in the last place.
    """
    rows, largest = exposure.rows.astype(np.float64), exposure.largest
    caps = np.minimum(budgets, epsilon[:, None]) / largest
    fitted = np.minimum(rates, caps)
    most = (fitted @ rows.T).max(axis=1) / epsilon
    fitted = fitted / np.maximum(most, 1.0)[:, None]
    margin = 1 + (len(largest) + _SAFE) * 2.0**-52
    return np.asarray(margin / fitted)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyPlans:
    """Noise scales in steps, one row per person, and how far from the least error each is at most.

    Whatever the gap, the guarantee holds.
    """

    scales: Reals
    gap: Reals


def plan_many(
    exposure: Exposure,
    *,
    budgets: Reals,
    epsilon: Reals,
    goal: Goal = "mse",
    threads: int = 1,
) -> ManyPlans:
    """Plans for people who share a catalogue: one row of budgets and one epsilon each.

    >>> films = Exposure.of(Catalogue.of([[1, 1], [0, 1]]))
    >>> plans = plan_many(films, budgets=np.array([[0.1, 1.0]]), epsilon=np.array([0.4]))
    >>> (1 / plans.scales).round(6).tolist()
    [[0.1, 0.3]]
    """
    for name, values in (("budgets", budgets), ("epsilon", epsilon)):
        good = bool(((values > 0) & (values <= 10**6)).all())
        require(good, name, "other", "positive and at most 1000000")
    shape = epsilon.size, len(exposure.attributes)
    require(budgets.shape == shape, "budgets", f"shape {budgets.shape}", f"of shape {shape}")
    caps = np.minimum(budgets, epsilon[:, None]) / exposure.largest
    rates, gap = np.empty_like(caps), np.empty(len(caps))
    coarse = caps.max(axis=1, initial=0.0) > _LARGEST_LOSS  # person by person, not for all at once
    for some in (np.flatnonzero(~coarse), np.flatnonzero(coarse)):
        if some.size:
            own = budgets[some], epsilon[some], caps[some]
            rates[some], gap[some] = _shared(exposure, *own, goal, threads)
    scales = safe_scales(exposure, rates, budgets, epsilon)
    small = bool((scales > LARGEST_SCALE).any())
    require(not small, "budgets", "a smaller one", "large enough for scales up to 2**50 steps")
    return ManyPlans(scales, gap)


def _shared(
    exposure: Exposure, budgets: Reals, epsilon: Reals, caps: Reals, goal: Goal, threads: int
) -> tuple[Reals, Reals]:
    """Rates and gaps; whoever the solver fails gets proportional scaling if that is better."""
    objective = objective_for(exposure, budgets, caps, goal)
    found = allocate(
        exposure.rows,
        caps=caps,
        budget=epsilon,
        objective=objective,
        threads=threads,
        compiled=True,  # always: nobody's noise depends on how many people there are
    )
    full = budgets / exposure.largest
    threshold = (full @ exposure.rows.T.astype(np.float64)).max(axis=1)
    scaled = full * np.minimum(1.0, epsilon / threshold)[:, None]
    other = objective.value(np.minimum(scaled, caps)).sum(axis=1)
    worse = other < found.error
    error = np.minimum(found.error, other)
    gap = np.maximum(0.0, (error - found.bound) / error)
    return np.where(worse[:, None], scaled, found.x), gap


def objective_for(exposure: Exposure, budgets: Reals, caps: Reals, goal: Goal) -> Objective:
    """The error of the noise that is really used, as a function of the rates per step. Lemma 2."""
    require(goal in get_args(Goal), "goal", goal, ", ".join(get_args(Goal)))
    steps = np.array([float(step) for step in exposure.steps])
    squared = goal == "mse"
    lattice = float(np.max(caps)) <= _LARGEST_LOSS  # all of them or none, as plan_many sees to
    weights = steps**2 if squared else steps
    if goal == "mael":  # relative to the error that an attribute's own budget would allow
        alone = budgets / exposure.largest
        weights = np.sinh(np.minimum(alone, _LARGEST_LOSS)) if lattice else alone
    if lattice:
        return LatticeError(1.0, weights, squared)
    return PowerError(2.0 if squared else 1.0, 2 * weights if squared else weights)


def _objective(
    exposure: Exposure,
    shares: tuple[Fraction, ...],
    caps: tuple[Fraction, ...],
    goal: Goal | Objective,
) -> Objective:
    if isinstance(goal, Objective):
        return _PerStep(goal, np.array([float(step) for step in exposure.steps]))
    limits = np.array([[float(cap) for cap in caps]])
    return objective_for(exposure, np.array([[float(t) for t in shares]]), limits, goal)


@dataclass(frozen=True, slots=True, eq=False)
class _PerStep(Objective):
    """A user's error of x = rate per unit, as a function of the rate per step."""

    inner: Objective
    steps: Reals

    def value(self, x: Reals) -> Reals:
        return self.inner.value(x / self.steps)

    def slope(self, x: Reals) -> Reals:
        return self.inner.slope(x / self.steps) / self.steps

    def curvature(self, x: Reals) -> Reals:
        return self.inner.curvature(x / self.steps) / self.steps**2


def _total(objective: Objective, rates: tuple[Fraction, ...]) -> float:
    return float(objective.value(np.array([[float(rate) for rate in rates]])).sum())


def _budgets(catalogue: Catalogue, budgets: Mapping[str, Number]) -> dict[str, Fraction]:
    require(len(budgets) > 0, "budgets", "none", "a budget for at least one attribute")
    known = set(catalogue.attributes)
    for name in budgets:
        if name not in known:
            raise ParameterError("budgets", "for attributes of the catalogue", name)
    return {name: budget(value, f"budget of {name}") for name, value in budgets.items()}


def _full(exposure: Exposure, shares: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Rates that spend every attribute's whole budget."""
    return tuple(t / int(c) for t, c in zip(shares, exposure.largest, strict=True))


def _caps(exposure: Exposure, shares: tuple[Fraction, ...], eps: Fraction) -> tuple[Fraction, ...]:
    """No rate can be larger: some row holds C_j, so eps alone caps it too."""
    return tuple(min(t, eps) / int(c) for t, c in zip(shares, exposure.largest, strict=True))
