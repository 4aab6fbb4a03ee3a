"""The attribute histogram of one person, under their preferences.

Theory    docs/theory/multilevel.md, Theorems 1 and 2; docs/theory/reconstruction.md, Theorem 3
Notation  h_j = sum of attribute j over a person's items, by weight
Not here  how the noise is planned and drawn (mechanisms/), many people at once
          (histogram_batches.py), files and options (cli/).

A provider gets the histogram that the person's preferences allow and nothing else: attributes
without a budget are left out, and a provider that is not named is refused before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from reticent.amounts import nano_down
from reticent.data.catalogue import Catalogue
from reticent.data.labels import text_of
from reticent.errors import (
    BudgetExceeded,
    NothingGranted,
    ParameterError,
    require,
)
from reticent.guarantees import ITEM, Unit, promises
from reticent.guarantees import card as cards
from reticent.mechanisms.base import Release
from reticent.mechanisms.modular import WeightedProfile
from reticent.mechanisms.multilevel_plan import Goal, HistogramPlan, plan_histogram
from reticent.noise import Source
from reticent.optim.rows import distinct_rows
from reticent.preferences import Grant, Preferences
from reticent.tasks.charged import Payer, release_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.ledger import Ledger
    from reticent.ledger.accounts import Renewal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedHistogram:
    """What leaves for a provider, attribute by attribute, and on what terms.

    ``budget`` is what the ledger had counted when it was released; None if no ledger did, and the
    card then says so.
    """

    release: Release[NDArray[np.float64]]
    plan: HistogramPlan
    grant: Grant
    budget: cards.Budget | None = None
    replayed: bool = False

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the released attributes."""
        return self.plan.attributes

    @property
    def values(self) -> NDArray[np.float64]:
        """The released numbers: unbiased, so they may be negative."""
        return self.release.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.grant.provider!r}, {self.release!r})"

    def possible(self, *, size: int | None = None) -> NDArray[np.float64]:
        """The closest histogram that a profile of this catalogue can have; costs no privacy.

        Each of its numbers depends on all that were released, so what one attribute alone tells is
        then bounded by the loss of the whole release only (``MultiLevel(together=True)``).
        ``size`` is how many items the profile has, if that is public anyway.
        """
        catalogue = self.plan.mechanism.catalogue
        if catalogue is None:
            raise ParameterError("catalogue", "known", None)
        exposure = self.plan.mechanism.exposure
        weighted_size = exposure.weighted and size is not None
        require(not weighted_size, "size", size, "left out where items count by weight")
        scales = [float(scale) for scale in self.plan.mechanism.scales]
        return possible(self.values, scales, catalogue, size=size)

    def card(
        self,
        title: str,
        *,
        model: Literal["local", "central"] = "local",
        public: Sequence[str] = (),
        command: str | None = None,
        made: date | None = None,
    ) -> cards.Card:
        """The guarantee card; ``model`` is central where somebody else holds the profile.

        ``public`` is what else it does not protect, as who is in a table.
        """
        weighted = self.plan.mechanism.exposure.weighted
        return self.release.card(
            title,
            scope=promises.histogram(
                self.grant.provider, weighted=weighted, model=model, public=public
            ),
            budget=self.budget,
            preferences=cards.Preferences(
                withheld=0, public=not weighted, others_change_your_risk=False
            ),
            command=command,
            made=made,
        )


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


def release_histogram(
    items: Iterable[str | int],
    catalogue: Catalogue,
    preferences: Preferences,
    *,
    provider: str,
    source: Source,
    goal: Goal = "mse",
    unit: Unit = ITEM,
    ledger: Ledger | None = None,
    subject: str | None = None,
    key: str | None = None,
) -> ReleasedHistogram:
    """The histogram of a person's items for one provider; items that no catalogue has do nothing.

    Names are text: 7 and "7" are one item.

    With a ``ledger`` the account of ``subject`` with the provider is charged first, up to the
    ``total`` of the preferences, which starts anew as they say; the same ``key`` repeats its answer
    at no charge. Without one nothing is counted, and the card says so.

    >>> films = Catalogue.of([[1], [1]], attributes=["Drama"], items=["Heat", "Up"])
    >>> wishes = Preferences.parse('''
    ... version = 1
    ... attributes = {Drama = 0.1}
    ... providers = {"filmclub.example" = {epsilon = 0.4}}
    ... ''')
    >>> ann = release_histogram(
    ...     ["Heat"], films, wishes, provider="filmclub.example", source=Source.system()
    ... )
    >>> ann.attributes, ann.values.shape
    (('Drama',), (1,))
    """
    plan, grant = plan_for(catalogue, preferences, provider, goal=goal, unit=unit)
    profile = profile_of(items, catalogue, preferences, provider=provider)
    if ledger is None:
        unused = subject is None and key is None
        require(unused, "ledger", None, "given with a subject or a key")
        return ReleasedHistogram(plan.mechanism.release(profile, source), plan, grant)
    if subject is None:
        raise ParameterError("subject", "the person whose budget is charged", None)
    payer = payer_of(subject, preferences, provider)
    paid = release_once(plan.mechanism, profile, source, ledger=ledger, payers=payer, key=key)
    return ReleasedHistogram(paid.value, plan, grant, paid.budget, paid.replayed)


def payer_of(subject: str, preferences: Preferences, provider: str) -> Payer:
    """The account of a person with a provider, as their preferences limit it."""
    asked = preferences.providers[provider]
    total = None if asked.total is None else nano_down(asked.total)
    renews = cast("Renewal", asked.renews)  # the file allows the same words
    return Payer(subject=subject, provider=provider, limit=total, renews=renews)


def profile_of(
    items: Iterable[str | int], catalogue: Catalogue, preferences: Preferences, *, provider: str
) -> NDArray[np.float64] | WeightedProfile:
    """A person's items as a vector over the catalogue, with their weights if there are any."""
    held = np.zeros(len(catalogue))
    for name in items:
        place = catalogue.places.get(text_of(name) or "")
        if place is not None:
            held[place] = 1.0
    if not preferences.weighted_for(provider):
        return held
    weights = preferences.weights(catalogue.items, provider=provider)
    return WeightedProfile.of(held, [float(weight) for weight in weights])


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
