"""The values of a release: what would leave, and what holds nothing of anybody.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show), Theorem 4 (profiles)
Not here  the mathematics (tasks/terms.py), which of the two is kept (the ledger).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reticent.gateway import credentials
from reticent.gateway.asks import Offer
from reticent.gateway.memory import Known
from reticent.guarantees import Event, canonical
from reticent.ledger import Charge, Ledger, Request
from reticent.ledger.accounts import LARGEST
from reticent.noise import Source
from reticent.tasks.terms import HistogramTerms, ProfileTerms

OWN = "the gateway"  # the principal of draws that are made once for everybody


@dataclass(frozen=True, slots=True)
class Drawn:
    """Two values, of which one may leave, and what each person loses by the first."""

    released: Any
    cover: Any
    lost: tuple[int, ...]


def draw(offer: Offer, people: Sequence[Known], ledger: Ledger, source: Source) -> Drawn:
    """Draw for these people on these terms."""
    terms = offer.terms
    if isinstance(terms, ProfileTerms):
        value = _profile(terms, people[0], offer.provider, ledger, source)
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
    terms: ProfileTerms, known: Known, provider: str, ledger: Ledger, source: Source
) -> dict[str, Any]:
    """One draw of a person for all who may have it, and one of nobody for all others. Theorem 4."""
    person = known.person
    permitted = terms.permitted(person.preferences, provider)
    row = [person.columns.get(name) for name in terms.recoding.columns]
    drawn = terms.draw(row, permitted, source)
    made = canonical(dict(zip(terms.recoding.columns, drawn, strict=True))).encode()
    whose = credentials.digest(f"{person.tag} {'own' if permitted else 'cover'}")
    request = Request(
        principal=OWN,
        key=f"{terms.recoding.fingerprint[:32]}/{whose[:32]}",
        body=b"",
        event=Event("profile-draw", {}, terms.recoding.mechanism.guarantee(), private=True),
        charges=(Charge(subject=person.id, provider=OWN, nano=0, limit=LARGEST),),
    )
    value: dict[str, Any] = json.loads(ledger.once_with(request, made).value)
    return value
