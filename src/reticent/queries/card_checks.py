"""The one check of cards: whatever made the release is rebuilt, and compared with what is said.

Theory    docs/theory/guarantees.md, Definition 4 (mechanisms and releases)
Not here  whether a card's words follow from its event (guarantees/card.py), cards of mechanisms
          (mechanisms/verification.py), what the methods say (neighbour_methods.py), who is
          protected (scope_checks.py).

The card of a profile through a learnt mapping holds no table, which would tell how the secret goes
with profiles, but a fingerprint: it is recomputed from the mapping itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reticent.errors import CardError, ParameterError
from reticent.queries.neighbour_methods import Direct, Gossiped, Method, Published
from reticent.queries.scope_checks import scope_problems

if TYPE_CHECKING:
    from reticent.guarantees import Event, Loss
    from reticent.guarantees.card import Card
    from reticent.mechanisms.mapping import ProfileMapping
    from reticent.tasks.mapping_search import MappingSearch
    from reticent.tasks.similarity import Similarity

DIRECT = "similarity-neighbours"  # what Similarity.neighbours calls its events
_PAIRS = "similarity-pairs"  # of several
_SEARCH = "mapping-search"
_PROFILES = "profile-mapping"
UNPRINTED = (
    "mechanism: not recomputed, the card names its mapping by fingerprint only; --mapping gives it"
)
KNOWN = ("similarity", _PAIRS, DIRECT, "gossip", "blip", _SEARCH)
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
    if event.mechanism == DIRECT:
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


def is_unprinted(card: Card) -> bool:
    """Whether the card names a mapping without holding its table."""
    event = card.release_event()
    return event.mechanism == _PROFILES and "parts" not in event.parameters


def is_in_own_words(card: Card) -> bool:
    """Whether nothing says which promise the scope is that of."""
    return card.scope.stated is None


def recomputed(card: Card, mapping: ProfileMapping | None = None) -> list[str]:
    """What on a card does not hold, whatever its event names.

    ``mapping`` is what profiles were released through, if you have it. A scope in its maker's own
    words is not looked at: see ``is_in_own_words``.
    """
    return [*_mechanism_problems(card, mapping), *scope_problems(card)]


def _mechanism_problems(card: Card, mapping: ProfileMapping | None) -> list[str]:
    from reticent.mechanisms.verification import differences, verify

    event = card.release_event()
    if is_unprinted(card):
        return card.problems() + ([UNPRINTED] if mapping is None else _of_mapping(card, mapping))
    if event.mechanism not in KNOWN:
        return verify(card)
    try:
        described, loss = rebuilt(event)
    except (KeyError, TypeError, ParameterError) as error:
        raise CardError(f"the parameters of {event.mechanism!r} do not fit: {error}") from None
    return card.problems() + differences(card, described, loss)


def _of_mapping(card: Card, mapping: ProfileMapping) -> list[str]:
    from reticent.mechanisms.verification import differences

    parameters = dict(card.release_event().parameters)
    if parameters.get("sha256") != mapping.sha256:
        return ["mechanism: the card is of another mapping than this"]
    same = parameters == mapping.parameters()
    other = [] if same else ["event: the parameters are not those of the mapping"]
    return other + differences(card, mapping, mapping.guarantee())
