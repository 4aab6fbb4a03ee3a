"""What a person's preferences do on each provider's terms, as values that pages show.

Theory    docs/theory/terms.md, Theorem 1 (losses)
Not here  the mathematics (tasks/terms.py), addresses and forms (pages_who.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reticent.console import people_words as words
from reticent.queries.histogram import Histogram
from reticent.tasks.terms import FULL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.console.people_visits import Visit
    from reticent.data.catalogue import Catalogue
    from reticent.gateway.offers import Offer
    from reticent.preferences import Preferences


@dataclass(frozen=True, slots=True)
class Effect:
    """What one provider gets of one attribute: how it shows, and how far it counts."""

    attribute: str
    state: str
    share: float = 0.0
    alone: int = 0
    whole: int = 0
    true: float = 0.0
    counted: float = 0.0
    mean_error: float = 0.0
    within: float = 0.0

    @property
    def symbol(self) -> str:
        """Beside the word, never instead of it."""
        return words.SYMBOLS[self.state]

    @property
    def counts(self) -> str:
        """How far it counts, in words."""
        return words.counts(self.share)


def true_counts(catalogue: Catalogue, held: NDArray[np.int64]) -> dict[str, float]:
    """The histogram of a profile without weights or noise: for the person's own eyes only."""
    held_units = catalogue.units * held[catalogue.rows]
    sums = np.bincount(catalogue.columns, weights=held_units, minlength=len(catalogue.attributes))
    steps = np.array([float(step) for step in catalogue.steps])
    return dict(zip(catalogue.attributes, (sums * steps).tolist(), strict=True))


def effects(seen: Visit, provider: str, wishes: Preferences) -> dict[str, Effect]:
    """By attribute, what a provider's histogram would show under these wishes."""
    catalogue, terms = seen.world.catalogue, seen.histogram(provider)
    found = {name: Effect(name, "not asked") for name in catalogue.attributes}
    if terms is None:
        return found
    true = true_counts(catalogue, seen.known.held)
    mechanism = terms.plan.mechanism
    allowed = seen.allowance(seen.offers(provider)[Histogram.kind], wishes)
    steps = np.array([float(step) for step in mechanism.exposure.steps])
    counted = terms.stretched(seen.known.held, allowed) * steps
    columns = zip(
        terms.plan.attributes,
        (allowed.factors / FULL).tolist(),
        allowed.alone,
        counted.tolist(),
        mechanism.mean_absolute_errors().tolist(),
        mechanism.within_95().tolist(),
        strict=True,
    )
    for name, share, alone, kept, mean, within in columns:
        state = "noisy" if share else "withheld"
        found[name] = Effect(
            name, state, share, alone, allowed.nano, true[name], kept, mean, within
        )
    return found


@dataclass(frozen=True, slots=True)
class Summary:
    """What one provider may learn, in one sentence, and what it rests on."""

    provider: str
    named: bool
    sentence: str
    asks: tuple[str, ...]
    nano: int


NOT_ASKED = "It asks for nothing here, so it gets nothing."


def profile_state(seen: Visit, provider: str) -> str:
    """Whether a provider gets the person's own coded profile."""
    terms = seen.profile(provider)
    if terms is None:
        return "not asked"
    return "coded" if terms.permitted(seen.person.preferences, provider) else "withheld"


def share_of(seen: Visit, offer: Offer, wishes: Preferences) -> float:
    """How far a person's items count in a release that reads them by weight."""
    return float(seen.allowance(offer, wishes).factors[0] / FULL)


def items_loss(seen: Visit, provider: str, wishes: Preferences) -> tuple[int, str]:
    """The most that an item of weight 1 loses by one such release, and what that is called."""
    asked = seen.by_items(provider)
    losses = [(seen.allowance(one, wishes).nano, one.offering.name) for one in asked]
    return max(losses, default=(0, ""))


def summary(seen: Visit, provider: str) -> Summary:
    """One provider in one sentence; the largest of its releases decides."""
    wishes = seen.person.preferences
    asks = tuple(offer.offering.gets for offer in seen.offers(provider).values())
    granted = wishes.providers.get(provider)
    if not asks:
        return Summary(provider, granted is not None, NOT_ASKED, asks, 0)
    if granted is None:
        return Summary(provider, False, "Gets noise only, nothing of you.", asks, 0)
    table = effects(seen, provider, wishes)
    shown = [effect for effect in table.values() if effect.state == "noisy"]
    asked = [effect for effect in table.values() if effect.state != "not asked"]
    nano = max([items_loss(seen, provider, wishes)[0], *(effect.whole for effect in shown)])
    may = []
    if asked:
        may.append(
            f"noisy numbers about {_some(len(shown), len(asked))}"
            if shown
            else "noise only instead of your attributes"
        )
    counting = [one for one in seen.by_items(provider) if share_of(seen, one, wishes)]
    may += [one.offering.gets for one in counting]
    state = profile_state(seen, provider)
    if state != "not asked":
        coded = "a coded profile of you", "a profile of nobody in particular instead of yours"
        may.append(coded[state == "withheld"])
    first = f"Gets {_and(may or ['noise only'])}."
    if not nano:
        return Summary(provider, True, first, asks, 0)
    return Summary(provider, True, f"{first} {words.odds('one release', nano)}", asks, nano)


def _some(few: int, all_of_them: int) -> str:
    if few == all_of_them:
        return f"all {few} attributes" if few > 1 else "the attribute it asks about"
    return f"{few} of {all_of_them} attributes"


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
