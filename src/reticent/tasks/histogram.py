"""The attribute histogram of one person, under their preferences.

Theory    docs/theory/multilevel.md, Theorems 1 and 2; docs/theory/reconstruction.md, Theorem 3
Notation  h_j = sum of attribute j over a person's items, by weight
Not here  how the noise is planned and drawn (mechanisms/), many people at once
          (histogram_batches.py), files and options (cli/).

A provider gets the histogram that the person's preferences allow and nothing else: attributes
without a budget are left out, and a provider that is not named is refused before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from reticent.amounts import nano_down
from reticent.data.catalogue import Catalogue
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import (
    BudgetExceeded,
    NothingGranted,
    ParameterError,
    require,
)
from reticent.guarantees import ITEM, Unit
from reticent.mechanisms.modular import WeightedProfile
from reticent.mechanisms.multilevel_plan import Goal, HistogramPlan, plan_histogram
from reticent.noise import Source
from reticent.optim.rows import distinct_rows
from reticent.preferences import Grant, Preferences
from reticent.tasks.charged import Payer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.ledger.accounts import Renewal


def plan_for(
    catalogue: Catalogue,
    preferences: Preferences,
    provider: str,
    *,
    goal: Goal = "mse",
    unit: Unit = ITEM,
) -> tuple[HistogramPlan, Grant]:
    """What ``provider`` would get under ``preferences``, and what was granted.

    Items may always have weights: plan, numbers and card take the same form whether anyone uses
    one. A replaced item cannot have a weight, and preferences with weights are then refused.
    """
    weighted = unit == ITEM
    fits = weighted or not preferences.weighted_for(provider)
    require(fits, "unit", str(unit), "an item added or removed where items have weights")
    empty = set(catalogue.empty)
    preferences.check_against(
        attributes=catalogue.attributes, items=catalogue.items, empty=catalogue.empty
    )
    used = [name for name in catalogue.attributes if name not in empty]
    grant = preferences.grant(provider, attributes=used)
    if not grant.budgets:
        raise NothingGranted(provider, preferences.file)
    plan = plan_histogram(
        catalogue,
        budgets=grant.budgets,
        epsilon=grant.epsilon,
        goal=goal,
        weighted=weighted,
        unit=unit,
    )
    total = preferences.providers[provider].total
    asked = plan.mechanism.guarantee().overall
    if total is not None and asked > nano_down(total):  # what was spent before, the ledger knows
        raise BudgetExceeded(f"total of {provider}", asked, nano_down(total))
    return plan, grant


def payer_of(subject: str, preferences: Preferences, provider: str) -> Payer:
    """The account of a person with a provider, as their preferences limit it."""
    asked = preferences.providers[provider]
    total = None if asked.total is None else nano_down(asked.total)
    renews = cast("Renewal", asked.renews)  # the file allows the same words
    return Payer(subject=subject, provider=provider, limit=total, renews=renews)


def released(
    plan: HistogramPlan,
    profiles: Profiles,
    preferences: Preferences,
    provider: str,
    source: Source,
) -> NDArray[np.float64]:
    """A row of released numbers for each person; items that no catalogue has do nothing.

    An item counts by the least of its weights in the profile and in the preferences.
    """
    mechanism = plan.mechanism
    catalogue = mechanism.catalogue
    if catalogue is None:
        raise ParameterError("plan", "one with its catalogue", "another")
    places = np.array([catalogue.places.get(item, -1) for item in profiles.items], dtype=np.int64)
    items, weights = places[profiles.indices], None
    if mechanism.exposure.weighted:
        by_item = preferences.weights(profiles.items, provider=provider)
        allowed = np.array([float(weight) for weight in by_item])[profiles.indices]
        weights = np.minimum(allowed, profiles.weights / FULL_WEIGHT)
    if len(profiles) == 1:  # without Numba
        return mechanism.release(_vector(items, weights, catalogue), source).value[None]
    from reticent.tasks.histogram_batches import Histograms

    task = Histograms(catalogue, unit=mechanism.exposure.unit, weighted=mechanism.exposure.weighted)
    return task.release_alike(
        profiles.indptr, items, plan=plan, weights=weights, source=source
    ).values


def _vector(
    items: NDArray[np.int64], weights: NDArray[np.float64] | None, catalogue: Catalogue
) -> NDArray[np.float64] | WeightedProfile:
    """One person's items over the catalogue, with their weights if there are any."""
    held, inside = np.zeros(len(catalogue)), items >= 0
    held[items[inside]] = 1.0
    if weights is None:
        return held
    each = np.ones(len(catalogue))
    each[items[inside]] = weights[inside]
    return WeightedProfile.of(held, each)


def possible(
    values: NDArray[np.float64],
    scales: Sequence[float] | NDArray[np.float64],
    catalogue: Catalogue,
    *,
    size: int | Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """The histogram of some profile that is nearest to a released one, in units of the noise.

    ``values`` is one histogram or one row per person. A pure function of what is public or has
    been released, so it costs no privacy; but each number then depends on all of them, and it is
    biased, which the released numbers are not.
    """
    from reticent.optim.bounded_least_squares import bounded_least_squares  # loads Numba

    rows, _, counts = distinct_rows(catalogue.dense())
    steps = np.array([float(step) for step in catalogue.steps])
    weights = (np.asarray(scales, dtype=np.float64)) ** -2.0
    fit = bounded_least_squares(rows * steps, counts, values, weights=weights, total=size)
    return fit.fitted.reshape(np.shape(values))


def clipped(values: NDArray[np.float64], catalogue: Catalogue) -> NDArray[np.float64]:
    """Each number brought between the least and the most that all items together can make of it."""
    table = catalogue.values()
    least, most = table.clip(max=0).sum(axis=0), table.clip(min=0).sum(axis=0)
    return np.asarray(np.clip(values, least, most))
