"""What a provider asks for, in public, and the terms, card and event that follow from it.

Theory    docs/theory/terms.md
Not here  who asks (credentials.py), what is drawn (queries/public_terms.py).

A provider asks with the options of a query, as JSON; each query checks its own. Terms belong to a
provider and not to a request: a provider that could ask for a little more each time would find out
what a person allows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError, require
from reticent.guarantees import ITEM, DPLoss, Event, PerItemDP, Spread, canonical
from reticent.guarantees.card import Audience, Card, Preferences
from reticent.noise import Source
from reticent.queries.base import Answer, Query, Shape
from reticent.queries.offered import derived_from, offered
from reticent.queries.public_terms import PERSON, PublicTerms
from reticent.queries.run import card_of
from reticent.tasks.recoding import Recoding

if TYPE_CHECKING:
    from reticent.queries.offering import Offering

Asks: TypeAlias = Mapping[str, Query]
"""All that a provider asks for, by kind; what is left out is not offered to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """One kind of release for one provider: terms, the event of each release, the public card."""

    id: str
    provider: str
    terms: PublicTerms
    event: Event
    card: Card
    parent: Offer | None = None
    """Whose kept draws it is read off, where it draws nothing itself."""
    kind: str = field(init=False)
    offering: Offering = field(init=False, repr=False)

    def __post_init__(self) -> None:
        query = self.terms.query
        object.__setattr__(self, "kind", query.kind)
        object.__setattr__(self, "offering", query.offering.of(type(query)))


def read_asks(data: Mapping[str, Any]) -> dict[str, Query]:
    """Check what a provider asks for; it is public, so errors may repeat it."""
    known, found = offered(), {}
    for kind, told in data.items():
        if kind not in known:
            raise ParameterError("asks", f"some of {', '.join(known)}", kind)
        rule = "a table of options, which may be empty"
        require(isinstance(told, Mapping), kind, "other", rule)
        found[kind] = known[kind].of_request(told)
    return found


def write_asks(asks: Asks) -> dict[str, Any]:
    """What ``read_asks`` reads."""
    return {kind: query.to_request() for kind, query in asks.items()}


def offers_of(
    provider: str,
    asks: Asks,
    catalogue: Catalogue,
    recoding: Recoding | None,
    *,
    private: bool = True,
    card_of_terms: Callable[[str], str | None] = lambda terms: None,
) -> dict[str, Offer]:
    """The offers to one provider, by kind; not ``private`` where a seeded source draws.

    ``card_of_terms`` finds the card of terms that were offered before: it stays as it was sent.
    """
    held: dict[str, Any] = {"catalogue": catalogue, "items": catalogue.items, "people": [PERSON]}
    if recoding is not None:
        held["mapping"] = recoding
    made: dict[str, Offer] = {}
    parents = {kind: derived_from(type(query)) for kind, query in asks.items()}
    for kind in sorted(asks, key=lambda kind: bool(parents[kind])):  # parents first
        parent, source = parents[kind], made.get(parents[kind] or "")
        require(parent is None or source is not None, "asks", kind, f"given with {parent}")
        given = held if source is None else held | {source.kind: _artefact(source)}
        terms = asks[kind].on_terms(provider, given)
        name, event = _identity(provider, terms, catalogue, source, private)
        known = card_of_terms(name)
        card = _card(provider, terms, name, event) if known is None else Card.from_json(known)
        made[kind] = Offer(name, provider, terms, _kept(terms, name, event), card, source)
    return {kind: made[kind] for kind in asks}


def _artefact(offer: Offer) -> Answer:
    """What is derived from, before anybody is asked about: its terms and its card."""
    return Answer(offer.terms.query, {}, offer.card, "0", terms=offer.terms.terms)


def _identity(
    provider: str, terms: PublicTerms, catalogue: Catalogue, parent: Offer | None, private: bool
) -> tuple[str, Event]:
    """The name of terms, by all that is public about them, and the event that their card states."""
    source = Source.system() if private else Source.seeded(0)
    event = terms.terms.event(source) if parent is None else parent.card.release_event()
    scope = terms.terms.scope()
    said = canonical([scope.protected, scope.observer, scope.not_against])
    if parent is not None:  # a card is of a day, its terms are not
        said = said.replace(parent.card.id, parent.id)
    told = [provider, terms.query.to_plain(), event.to_dict(), catalogue.sha256, private]
    return hashlib.sha256(canonical([*told, said]).encode()).hexdigest(), event


def _kept(terms: PublicTerms, name: str, event: Event) -> Event:
    """What the ledger records of a release: its terms, and what it loses at most."""
    loss = event.loss
    if isinstance(loss, DPLoss):
        loss = PerItemDP(Spread(loss.overall), ITEM)
    return Event(f"gateway-{terms.query.kind}", {"terms": name}, loss, event.private)


def _card(provider: str, terms: PublicTerms, name: str, event: Event) -> Card:
    """What the provider is told: of the terms, and of no person."""
    query = terms.query
    whose = "two people" if query.shape is Shape.PER_PAIR else "one person"
    rules = Preferences(rules_sha256=name, withheld=0, public=False, others_change_your_risk=False)
    return card_of(
        terms.terms,
        event,
        audience=Audience.PROVIDER,
        title=f"{query.offering.of(type(query)).title} of {whose} for {provider}",
        preferences=rules,
    )
