"""Cards of similarity, of neighbour lists and of learnt mappings, checked against their event.

Not here  whether a card's words follow from its event (guarantees/card.py), cards of mechanisms
          (mechanisms/verification.py), of profiles through a mapping (cli/mapping_cards.py), what
          the methods say (neighbour_methods.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reticent.errors import CardError, ParameterError
from reticent.queries.neighbour_methods import Direct, Gossiped, Method, Published

if TYPE_CHECKING:
    from reticent.guarantees import Event, Loss
    from reticent.guarantees.card import Card
    from reticent.tasks.mapping_search import MappingSearch
    from reticent.tasks.similarity import Similarity

_DIRECT = "similarity-neighbours"  # what Similarity.neighbours calls its events
_PAIRS = "similarity-pairs"  # of several
_SEARCH = "mapping-search"
KNOWN = ("similarity", _PAIRS, _DIRECT, "gossip", "blip", _SEARCH)
"""Other cards need not load tasks."""


def rebuilt(event: Event) -> tuple[Method | Similarity | MappingSearch, Loss]:
    """What an event that is KNOWN names, and what it loses."""
    if event.mechanism == _SEARCH:
        from reticent.tasks.mapping_search import MappingSearch

        search = MappingSearch.from_parameters(event.parameters)
        return search, search.guarantee()
    from reticent.rational import whole
    from reticent.tasks.blip import Blip
    from reticent.tasks.clustering import Gossip
    from reticent.tasks.similarity import Similarity

    values: dict[str, Any] = dict(event.parameters)
    if event.mechanism in (Similarity.name, _PAIRS):
        several = event.mechanism == _PAIRS
        peers = whole(values.pop("comparisons"), "comparisons", least=0) if several else 1
        pair = Similarity(**values)
        return pair, pair.guarantee(peers)
    people = whole(values.pop("people"), "people", least=0)
    method: Method
    if event.mechanism == _DIRECT:
        k = whole(values.pop("k"), "k", least=1)
        method = Direct(Similarity(**values), k)
    elif event.mechanism == Gossip.name:
        prefix = "similarity_"
        inner = {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}
        outer = {n: v for n, v in values.items() if not n.startswith(prefix)}
        method = Gossiped(Gossip(similarity=Similarity(**inner), **outer))
    else:
        method = Published(Blip(**values), k=1)
    return method, method.guarantee(people)


def problems(card: Card) -> list[str] | None:
    """What on a card does not follow from the method its event names; None for other cards."""
    event = card.release_event()
    if event.mechanism not in KNOWN:
        return None
    try:
        described, loss = rebuilt(event)
    except (KeyError, TypeError, ParameterError) as error:
        raise CardError(f"the parameters of {event.mechanism!r} do not fit: {error}") from None
    checks = {
        "event: the loss is not that of the mechanism": event.loss == loss,
        "utility: the error is not that of the mechanism": card.utility == described.utility(),
        "how: it does not describe the mechanism": card.how == described.how(),
        "evidence: it does not name the mechanism's theorem": card.evidence.theorem
        == described.evidence().theorem,
        "evidence: it leaves out what the mechanism assumes": set(card.evidence.assumptions)
        >= set(described.evidence().assumptions),
    }
    return card.problems() + [problem for problem, holds in checks.items() if not holds]


def recomputed(card: Card) -> list[str]:
    """What on a card does not hold, whichever of our mechanisms its event names."""
    from reticent.mechanisms.verification import verify

    found = problems(card)
    return verify(card) if found is None else found
