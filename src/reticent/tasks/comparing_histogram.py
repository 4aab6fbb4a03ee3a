"""Ways to share a provider's budget among attributes, and the error that each can be told to have.

Theory    docs/theory/multilevel.md, Theorem 1 (losses), Theorem 5 (errors), Theorem 3 (optimum)
Notation  as in multilevel_plan.py: t_j = budget of attribute j, eps = budget of the provider,
          C_j = most that one unit moves attribute j, y_j = rate per step
Not here  how the noise is planned (mechanisms/multilevel_plan.py).

Errors follow from the noise, which follows from the catalogue and the preferences: no profile is
read, and there is nothing to draw. Every way keeps both kinds of budgets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import show_up
from reticent.data.catalogue import Catalogue
from reticent.mechanisms.multilevel import MultiLevel
from reticent.mechanisms.multilevel_plan import Goal, HistogramPlan, plan_histogram
from reticent.rational import Number, budget
from reticent.tasks.comparing import Curves, Point, Progress, chosen_ways

if TYPE_CHECKING:
    from reticent.mechanisms.exposure import Exposure

BEST, ALIKE, ONE, ADDED = "shared-at-best", "scaled-alike", "one-for-all", "added-up"
WAYS = (BEST, ALIKE, ONE, ADDED)
SAID = {
    BEST: "what makes the error least; plans and releases do this",
    ALIKE: "every attribute's own budget, all scaled by one factor until they fit the provider's",
    ONE: "the smallest of the attributes' budgets for each, scaled if it has to be",
    ADDED: "every attribute's own budget, all scaled as if one item had every attribute",
}
"""What an attribute gets in each way, in words."""
MEASURED = {
    "mse": "mean squared error of an attribute, in counts squared",
    "mae": "mean absolute error of an attribute, in counts",
    "mael": "mean absolute error of an attribute, in multiples of what its own budget allows",
}


def histogram_curves(
    catalogue: Catalogue,
    plan: HistogramPlan,
    *,
    epsilons: Sequence[Number],
    ways: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """The error of each way at each budget of the provider, with the attributes' budgets of a plan.

    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))
    >>> plan = plan_histogram(films, budgets={"Crime": 0.1, "Drama": 1}, epsilon=0.4)
    >>> curves = histogram_curves(films, plan, epsilons=[0.4])
    >>> [round(row.value) for row in curves.rows], round(plan.error)
    ([111, 764, 200, 764], 111)
    """
    asked = chosen_ways(WAYS, ways)
    sizes = sorted({budget(epsilon, "epsilon") for epsilon in epsilons})
    rows = []
    for epsilon in sizes:
        if progress is not None:
            progress(f"sharing epsilon {float(epsilon):g}")
        made = _plan(catalogue, plan, epsilon)
        for way in asked:
            error = mean_error(_shared(made, way), plan)
            rows.append(Point(way=way, x=float(epsilon), value=error))
    least = mean_error(MultiLevel(plan.mechanism.exposure, _full(plan)), plan)
    return Curves(
        what=f"a histogram of {len(plan.attributes)} attributes",
        x="epsilon",
        y=MEASURED[plan.goal],
        better="lower",
        rows=rows,
        reference=least,
        reference_name="whole attribute budgets",
        more={
            "goal": plan.goal,
            "threshold": float(plan.threshold),
            "chosen": float(plan.epsilon),
            "attributes": list(plan.attributes),
        },
        notes=(
            *(f"{way}: {SAID[way]}" for way in asked),
            "every attribute gets its whole budget from epsilon "
            f"{show_up(float(plan.threshold))} on",
        ),
    )


def alike_curves(
    catalogue: Catalogue,
    plans: Sequence[HistogramPlan],
    *,
    ways: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """The same where every attribute may lose what all may lose together: a plan for each budget.

    >>> films = Catalogue.of([[1, 0], [0, 1]], attributes=("Crime", "Drama"))
    >>> plans = [plan_histogram(films, budgets={"Crime": e, "Drama": e}, epsilon=e) for e in (1, 2)]
    >>> [round(row.value, 1) for row in alike_curves(films, plans, ways=[BEST, ADDED]).rows]
    [1.8, 7.8, 0.4, 1.8]
    """
    given: dict[str, Any] = {"ways": ways, "progress": progress}
    found = [histogram_curves(catalogue, one, epsilons=[one.epsilon], **given) for one in plans]
    rows = [row for one in found for row in one.rows]
    more = {name: found[0].more[name] for name in ("goal", "attributes")}
    bare: dict[str, Any] = {"reference": None, "reference_name": "", "more": more}
    return replace(found[0], rows=rows, notes=found[0].notes[:-1], **bare)


def mean_error(mechanism: MultiLevel, plan: HistogramPlan) -> float:
    """Of the noise that is drawn, averaged over attributes, by the goal of a plan. Theorem 5."""
    if plan.goal == "mse":
        return float(mechanism.mean_squared_errors().mean())
    errors = mechanism.mean_absolute_errors()
    if plan.goal == "mael":
        alone = MultiLevel(plan.mechanism.exposure, _full(plan))
        errors = errors / np.maximum(alone.mean_absolute_errors(), np.finfo(float).tiny)
    return float(errors.mean())


def _plan(catalogue: Catalogue, plan: HistogramPlan, epsilon: Fraction) -> HistogramPlan:
    goal: Goal = plan.goal  # type: ignore[assignment]
    exposure = plan.mechanism.exposure
    return plan_histogram(
        catalogue,
        budgets=dict(zip(plan.attributes, plan.budgets, strict=True)),
        epsilon=epsilon,
        goal=goal,
        weighted=exposure.weighted,
        unit=exposure.unit,
    )


def _shared(made: HistogramPlan, way: str) -> MultiLevel:
    """The mechanism that shares a budget in this way."""
    if way == BEST:
        return made.mechanism
    if way == ALIKE:
        return made.proportional
    exposure = made.mechanism.exposure
    if way == ADDED:  # as if one item could move every attribute by its most
        spent = min(Fraction(1), made.epsilon / sum(made.budgets, start=Fraction(0)))
        return MultiLevel(exposure, tuple(spent * rate for rate in _full(made)))
    even = _alone(exposure, (min(made.budgets),) * len(made.budgets))
    room = min(Fraction(1), made.epsilon / exposure.overall(even))
    return MultiLevel(exposure, tuple(room * rate for rate in even))


def _full(plan: HistogramPlan) -> tuple[Fraction, ...]:
    """Rates that spend every attribute's whole budget."""
    return _alone(plan.mechanism.exposure, plan.budgets)


def _alone(exposure: Exposure, losses: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Rates at which an attribute alone loses so much."""
    return tuple(t / int(c) for t, c in zip(losses, exposure.largest, strict=True))
