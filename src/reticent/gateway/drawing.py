"""The values of a release: what would leave, and what holds nothing of anybody.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show), Theorem 4 (profiles)
Not here  the mathematics (tasks/terms.py), which of the two is kept (the ledger).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeAlias

from reticent.gateway import credentials
from reticent.gateway.asks import Offer
from reticent.gateway.directory import Person, guard_of
from reticent.gateway.memory import Known
from reticent.guarantees import Event, canonical
from reticent.ledger import Answer, Charge, Request
from reticent.ledger.accounts import LARGEST
from reticent.noise import Source
from reticent.tasks.terms import HistogramTerms, ProfileTerms

Keep: TypeAlias = Callable[[Request, bytes], "Future[Answer]"]
OWN = "the gateway"  # the principal of draws that are made once for everybody


@dataclass(frozen=True, slots=True, repr=False)
class Drawn:
    """Two values, of which one may leave, and what each person loses by the first."""

    released: Any
    cover: Any
    lost: tuple[int, ...]


def draw(offer: Offer, people: Sequence[Known], keep: Keep, source: Source) -> Drawn:
    """Draw for these people on these terms; ``keep`` keeps what is drawn once and for all."""
    terms = offer.terms
    if isinstance(terms, ProfileTerms):
        value = _profile(terms, people[0], offer.provider, keep, source)
        return Drawn(value, value, (0,))
    allowed = [known.allowance(offer) for known in people]
    lost = tuple(one.nano for one in allowed)
    if isinstance(terms, HistogramTerms):
        both = terms.draw(people[0].held, allowed[0], source)
        names = terms.plan.attributes
        released, cover = (dict(zip(names, one.tolist(), strict=True)) for one in both)
        return Drawn(released, cover, lost)
    first, second = zip((one.held for one in people), allowed, strict=True)
    return Drawn(*terms.draw(first, second, source), lost)


def _profile(
    terms: ProfileTerms, known: Known, provider: str, keep: Keep, source: Source
) -> dict[str, Any]:
    """One draw of a person for all who may have it, and one of nobody for all others. Theorem 4.

    Both are drawn and kept at the first request of anybody: the work does not tell which is sent.
    """
    person, columns = known.person, terms.recoding.columns
    row = [person.columns.get(name) for name in columns]
    waiting = {}
    for own in (True, False):
        drawn = terms.draw(row, own, source)
        made = canonical(dict(zip(columns, drawn, strict=True))).encode()
        waiting[own] = keep(_once(terms, person, own, source.private), made)
    kept = {own: one.result().value for own, one in waiting.items()}
    value: dict[str, Any] = json.loads(kept[terms.permitted(person.preferences, provider)])
    return value


def _once(terms: ProfileTerms, person: Person, own: bool, private: bool) -> Request:
    whose = credentials.digest(f"{person.tag} {'own' if own else 'cover'}")
    return Request(
        principal=OWN,
        key=f"{terms.recoding.fingerprint[:32]}/{whose[:32]}",
        body=b"",
        event=Event("profile-draw", {}, terms.recoding.mechanism.guarantee(), private),
        charges=(Charge(subject=person.id, provider=OWN, nano=0, limit=LARGEST),),
        guard=guard_of([person]),
    )
