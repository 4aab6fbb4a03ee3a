"""Whether the scope of a card is what its promise states, and speaks of the card's own release.

Not here  the sentences (guarantees/promises/), the rest of a card (card_checks.py).

The promise is worded again from the facts on the card, and these facts are compared with those that
the event tells. What an event does not tell is as the maker of the card states it: for whom a
release was made, and which lists were declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reticent.errors import CardError
from reticent.guarantees import DPLoss, MutualInformation, promises
from reticent.guarantees.promises.stated import LEAK, NOBODY

if TYPE_CHECKING:
    from reticent.guarantees import Event
    from reticent.guarantees.card import Card, Stated

OWN_WORDS = "scope: not recomputed, it is in its maker's own words"
_OTHER = "scope: the sentences are not those of its promise"
_ABOUT = "scope: it speaks of something else than the loss"
_PLAIN = ("records", "norms", "weighted", "secret", "prior")  # facts that parameters hold


def scope_problems(card: Card) -> list[str]:
    """What of who is protected, against whom, and against whom not, does not hold."""
    stated, event = card.scope.stated, card.release_event()
    if stated is None:
        return []
    try:
        again, about = promises.restated(stated), promises.about(stated)
    except CardError as error:
        return [f"scope: {error}"]
    found = [] if again == card.scope else [_OTHER]
    if _thing(event) not in about:
        found.append(_ABOUT)
    facts = _innermost(stated).facts
    known = _told(event, facts)
    return found + [
        f"scope: {name} is not that of the release"
        for name, value in facts.items()
        if name in known and known[name] != value
    ]


def _thing(event: Event) -> str:
    """What the loss is about."""
    if isinstance(event.loss, DPLoss):
        return event.loss.unit.thing
    return LEAK if isinstance(event.loss, MutualInformation) else NOBODY


def _innermost(stated: Stated) -> Stated:
    """The promise that a derived one repeats."""
    inner = [one for one in stated.facts.values() if isinstance(one, dict)]
    return _innermost(type(stated)(**inner[0])) if inner else stated


def _told(event: Event, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts that an event tells, as far as it does."""
    given: dict[str, Any] = dict(event.parameters)
    told: dict[str, Any] = {name: given[name] for name in _PLAIN if name in given}
    if isinstance(event.loss, DPLoss):
        told["unit"] = [event.loss.unit.thing, event.loss.unit.relation]
    if "similarity_norms" in given:
        told["norms"] = given["similarity_norms"]
    if "secrets" in given:
        told["secret"] = ", ".join(given["secrets"])
    if event.mechanism == "top-dampened":
        told |= _of_graph(given, facts.get("bound"))
    return told | _of_lists(event)


def _of_graph(given: dict[str, Any], bound: Any) -> dict[str, Any]:
    """Within a bound that was stated one link counts once, though nodes could have more."""
    steps, nodes = given["whole"]["steps"], given["whole"]["candidates"]
    once = given["changes"] == 1
    own = {"bound": steps} if steps else {}
    return {**own, "inside": once and type(bound) is int and bound < nodes - 1}


def _of_lists(event: Event) -> dict[str, Any]:
    """What who sees fewer lists learns."""
    from reticent.queries.card_checks import DIRECT, rebuilt

    if event.mechanism != DIRECT:
        return {}
    method: Any = rebuilt(event)[0]
    one, others, _ = method.losses(event.parameters["people"]).values()
    return {"one": one, "others": others}
