"""What a provider asks for, in public, and the terms, card and event that follow from it.

Theory    docs/theory/terms.md
Not here  who asks (credentials.py), what a person allows (tasks/terms.py).

Terms belong to a provider and not to a request: a provider that could ask for a little more each
time would find out what a person allows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError, require
from reticent.guarantees import (
    ITEM,
    DPLoss,
    Event,
    PerItemDP,
    Spread,
    canonical,
    promises,
)
from reticent.guarantees import card as cards
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.preferences import Preferences
from reticent.tasks.recoding import Recoding
from reticent.tasks.similarity import Similarity
from reticent.tasks.terms import Allowance, HistogramTerms, ProfileTerms, SimilarityTerms

if TYPE_CHECKING:
    from reticent.mechanisms.base import Mechanism

Terms: TypeAlias = HistogramTerms | SimilarityTerms | ProfileTerms
Amount = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,3})(\.[0-9]{1,9})?$")]
_TITLES = {
    "histogram": "Histogram of one person",
    "similarity": "Comparison of two people",
    "profile": "Profile of one person",
}
PRIVATE_BUDGET = cards.Budget(spent=cards.PRIVATE, limit=cards.PRIVATE, renews=cards.PRIVATE)


class Block(BaseModel):
    """A part of what is asked; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HistogramAsk(Block):
    """Epsilon of one release, and what each attribute alone may lose; ``default`` for all others.

    Attributes without an amount are not asked for.
    """

    epsilon: Amount
    attributes: dict[str, Amount]


class SimilarityAsk(Block):
    """Epsilon of one comparison with another person, for each of the two."""

    epsilon: Amount
    measure: Literal["cosine", "overlap", "jaccard"] = "cosine"


class Asks(Block):
    """All that a provider asks for; what is left out is not offered to it."""

    histogram: HistogramAsk | None = None
    similarity: SimilarityAsk | None = None
    profile: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """One kind of release for one provider: terms, the event of each release, the public card."""

    id: str
    provider: str
    kind: str
    terms: Terms
    event: Event
    card: cards.Card

    def allowance(self, wishes: Preferences, catalogue: Catalogue) -> Allowance:
        """What a person with these wishes lets such a release lose; profiles have no such thing."""
        if isinstance(self.terms, HistogramTerms):
            return self.terms.allowance(wishes, self.provider)
        assert isinstance(self.terms, SimilarityTerms)  # noqa: S101
        return self.terms.allowance(wishes, self.provider, catalogue.places)


def read_asks(data: Mapping[str, Any]) -> Asks:
    """Check what a provider asks for; it is public, so errors may repeat it."""
    try:
        return Asks.model_validate(dict(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        raise ParameterError("asks", f"as documented ({where}: {first['msg']})", "other") from None


def offers_of(
    provider: str,
    asks: Asks,
    catalogue: Catalogue,
    recoding: Recoding | None,
    *,
    private: bool = True,
) -> dict[str, Offer]:
    """The offers to one provider, by kind; not ``private`` where a seeded source draws."""
    made: dict[str, Terms] = {}
    if asks.histogram is not None:
        made["histogram"] = _histogram(asks.histogram, catalogue)
    if asks.similarity is not None:
        norms: Literal["none", "private"] = (
            "none" if asks.similarity.measure == "overlap" else "private"
        )
        similarity = Similarity(
            epsilon=asks.similarity.epsilon, measure=asks.similarity.measure, norms=norms
        )
        made["similarity"] = SimilarityTerms(similarity)
    if asks.profile:
        require(recoding is not None, "profile", True, "false where no mapping was given")
        assert recoding is not None  # noqa: S101
        made["profile"] = ProfileTerms(recoding)
    return {kind: _offer(provider, kind, terms, catalogue, private) for kind, terms in made.items()}


def _histogram(ask: HistogramAsk, catalogue: Catalogue) -> HistogramTerms:
    amounts = dict(ask.attributes)
    usual = amounts.pop("default", None)
    for name in amounts:
        require(name in catalogue.attributes, "attributes", name, "attributes of the catalogue")
    empty = set(catalogue.empty)
    wanted = {name: amounts.get(name, usual) for name in catalogue.attributes if name not in empty}
    budgets = {name: Fraction(t) for name, t in wanted.items() if t is not None}
    require(bool(budgets), "attributes", "none", "at least one with an amount")
    plan = plan_histogram(catalogue, budgets=budgets, epsilon=Fraction(ask.epsilon), weighted=True)
    return HistogramTerms(plan)


def mechanism_of(terms: Terms) -> Mechanism[Any]:
    """The mechanism whose noise the terms fix."""
    if isinstance(terms, HistogramTerms):
        return terms.plan.mechanism
    if isinstance(terms, ProfileTerms):
        return terms.recoding.mechanism
    return terms.similarity  # type: ignore[return-value]


def _offer(provider: str, kind: str, terms: Terms, catalogue: Catalogue, private: bool) -> Offer:
    mechanism, scope = mechanism_of(terms), _scope(provider, terms)
    told = [provider, kind, mechanism.parameters(), catalogue.sha256, private]
    said = [scope.protected, scope.observer, scope.not_against]  # other words are other terms
    name = hashlib.sha256(canonical([*told, said]).encode()).hexdigest()
    loss = mechanism.guarantee()
    if isinstance(loss, DPLoss):
        loss = PerItemDP(Spread(loss.overall), ITEM)
    event = Event(f"gateway-{kind}", {"terms": name}, loss, private)
    title = f"{_TITLES[kind]} for {provider}"
    return Offer(name, provider, kind, terms, event, _card(title, mechanism, scope, name, private))


def _scope(provider: str, terms: Terms) -> cards.Scope:
    """For whom the card speaks, against whom, and against what it does not."""
    if isinstance(terms, ProfileTerms):
        return promises.service_profile(provider)
    if isinstance(terms, SimilarityTerms):
        return promises.service_similarity(provider, norms=terms.similarity.norms)
    return promises.service_histogram(provider)


def _card(
    title: str, mechanism: Mechanism[Any], scope: cards.Scope, name: str, private: bool
) -> cards.Card:
    """What the provider is told: of the terms, and of no person."""
    return cards.make_card(
        title,
        Event(mechanism.name, mechanism.parameters(), mechanism.guarantee(), private),
        how=mechanism.how(),
        utility=mechanism.utility(),
        evidence=mechanism.evidence(),
        scope=scope,
        budget=PRIVATE_BUDGET,
        preferences=cards.Preferences(
            rules_sha256=name, withheld=0, public=False, others_change_your_risk=False
        ),
    )
