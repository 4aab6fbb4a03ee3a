"""The values of a release: what would leave, and what holds nothing of anybody.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show), Theorem 4 (profiles), Theorem 6
          (draws that last)
Not here  what is drawn (queries/public_terms.py), which of the two is kept (the ledger).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reticent.gateway import credentials
from reticent.gateway.answers import charge_of
from reticent.gateway.directory import Person, guard_of
from reticent.gateway.memory import Known
from reticent.gateway.offers import Offer
from reticent.guarantees import Event, canonical
from reticent.ledger import Charge, Ledger, Request, Sealed
from reticent.ledger.accounts import LARGEST
from reticent.noise import Source
from reticent.queries.offering import Lasts
from reticent.queries.public_terms import ReadOff, RecodedTerms

if TYPE_CHECKING:
    from reticent.ledger import Connection

OWN = "the gateway"  # the principal of draws that are made once and repeated
_SHORT = 32  # letters of a digest in a key


@dataclass(frozen=True, slots=True, repr=False)
class Drawn:
    """Two values, of which one may leave, and what each person loses by the first.

    ``named`` are others whom it names: it must not outlive them here.
    """

    released: Any
    cover: Any
    lost: tuple[int, ...]
    named: tuple[str, ...] = ()


def draw(offer: Offer, people: Sequence[Known], ledger: Ledger, source: Source) -> Drawn:
    """Draw for these people on these terms; the ledger keeps what is drawn once and for all."""
    if offer.parent is not None and isinstance(offer.terms, ReadOff):
        _drawn_once(offer.parent, people[0], ledger, source)
        with ledger.reading() as connection:
            drawn = _drawn_so_far(connection, offer.parent)
        value = offer.terms.read(people[0].person.id, drawn)
        return Drawn(value, value, (0,), offer.terms.terms.named_in(value))
    if offer.offering.lasts is Lasts.TERMS:
        value = _drawn_once(offer, people[0], ledger, source)
        return Drawn(value, value, (0,))
    subjects = [known.subject(offer) for known in people]
    released, cover = offer.terms.draw(subjects, source)
    if isinstance(offer.terms, RecodedTerms):
        chosen = bool(subjects[0].allowed.factors[0])
        value = _profile(offer.terms, people[0].person, (released, cover), chosen, ledger, source)
        return Drawn(value, value, (0,))
    return Drawn(released, cover, tuple(one.allowed.nano for one in subjects))


def once_key(terms: str, tag: str) -> str:
    """The key of a person's one draw on some terms; nobody outside can use such a key."""
    return f"{terms[:_SHORT]}/{credentials.digest(tag)[:_SHORT]}"


def _drawn_once(offer: Offer, known: Known, ledger: Ledger, source: Source) -> Any:
    """The one draw of a person on a provider's terms, charged when it is made. Theorem 6.

    Whether the person could pay is decided with it, once: what is kept does not change any more.
    """
    subject = known.subject(offer)
    both = offer.terms.draw([subject], source)
    released, cover = (canonical(one).encode() for one in both)
    request = Request(
        principal=OWN,
        key=once_key(offer.id, known.person.tag),
        body=b"",
        event=offer.event,
        charges=(charge_of(known.person, offer.provider, subject.allowed.nano),),
        guard=guard_of([known.person]),
    )
    return json.loads(ledger.submit(request, Sealed(released, cover)).result().value)


def _drawn_so_far(connection: Connection, offer: Offer) -> dict[str, Any]:
    """By person, everybody's one draw on some terms; of those who are here."""
    rows = connection.execute(
        "SELECT gateway_person.id, gateway_person.tag, spend.key, spend.answer FROM spend"
        " JOIN charge ON charge.spend = spend.id JOIN account ON account.id = charge.account"
        " JOIN gateway_person ON gateway_person.id = account.subject"
        " WHERE spend.principal = ? AND substr(spend.key, 1, ?) = ? AND spend.answer IS NOT NULL",
        (OWN, _SHORT + 1, f"{offer.id[:_SHORT]}/"),
    ).fetchall()
    return {
        person: json.loads(bytes(answer))
        for person, tag, key, answer in rows
        if key == once_key(offer.id, tag)  # not of somebody else who had the name
    }


def paid_once(connection: Connection, terms: str, person: Person) -> int | None:
    """What a person's one draw on some terms cost them; None if none was made."""
    row = connection.execute(
        "SELECT max(charge.nano) FROM spend JOIN charge ON charge.spend = spend.id"
        " WHERE spend.principal = ? AND spend.key = ?",
        (OWN, once_key(terms, person.tag)),
    ).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def _profile(
    terms: RecodedTerms,
    person: Person,
    both: tuple[Any, Any],
    permitted: bool,
    ledger: Ledger,
    source: Source,
) -> Any:
    """One draw of a person for all who may have it, and one of nobody for all others. Theorem 4.

    Both are drawn and kept at the first request of anybody: the work does not tell which is sent.
    """
    waiting = {}
    for own, value in zip((True, False), both, strict=True):
        request = _recorded(terms, person, own, source.private)
        waiting[own] = ledger.submit(request, canonical(value).encode())
    kept = {own: one.result().value for own, one in waiting.items()}
    return json.loads(kept[permitted])


def _recorded(terms: RecodedTerms, person: Person, own: bool, private: bool) -> Request:
    recoding = terms.maths.recoding
    whose = credentials.digest(f"{person.tag} {'own' if own else 'cover'}")
    return Request(
        principal=OWN,
        key=f"{recoding.fingerprint[:_SHORT]}/{whose[:_SHORT]}",
        body=b"",
        event=Event("profile-draw", {}, recoding.mechanism.guarantee(), private),
        charges=(Charge(subject=person.id, provider=OWN, nano=0, limit=LARGEST),),
        guard=guard_of([person]),
    )
