"""One request of a provider, and the answers to it as they are kept.

Not here  how values are drawn (drawing.py), who may ask (service.py).
"""

from __future__ import annotations

import json
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reticent.amounts import nano_down
from reticent.gateway.directory import Person
from reticent.gateway.offers import Offer
from reticent.guarantees import canonical
from reticent.ledger import Answer, Charge, KeyReused
from reticent.ledger.accounts import LARGEST

if TYPE_CHECKING:
    from reticent.ledger import Connection


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a provider: what, of whom, under which key."""

    kind: str
    subject: str
    key: str
    other: str | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """Everybody whose data it asks for."""
        return (self.subject,) if self.other is None else (self.subject, self.other)

    def body(self) -> bytes:
        """All that decides the answer, but for the key."""
        return canonical([self.kind, self.subject, self.other]).encode()

    def answer(self, offer: Offer, value: Any) -> bytes:
        """What is kept: the card is that of the terms, and added when it is sent."""
        told: dict[str, Any] = {
            "schema": "release/1",
            "kind": self.kind,
            "subject": self.subject,
            **({} if self.other is None else {"other": self.other}),
            "key": self.key,
            "terms": offer.id,
            "value": value,
        }
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

    def repeated(self, kept: bytes) -> Future[Answer]:
        """What was kept for the same request, also on other terms; another request is refused."""
        told = json.loads(kept)
        same = (told["kind"], told["subject"], told.get("other"))
        if same != (self.kind, self.subject, self.other):
            raise KeyReused
        done: Future[Answer] = Future()
        done.set_result(Answer(kept, replayed=True))
        return done


def answered(connection: Connection, provider: str, key: str) -> tuple[bytes | None, bool]:
    """The answer that is kept for a key, and whether the key was used."""
    row = connection.execute(
        "SELECT answer FROM spend WHERE principal = ? AND key = ?", (provider, key)
    ).fetchone()
    return None if row is None or row[0] is None else bytes(row[0]), row is not None


def charge_of(person: Person, provider: str, nano: int) -> Charge:
    """What a release costs a person; who does not name the provider is charged nothing."""
    granted = person.preferences.providers.get(provider)
    if granted is None:
        return Charge(subject=person.id, provider=provider, nano=0, limit=LARGEST)
    return Charge(
        subject=person.id,
        provider=provider,
        renews=granted.renews,  # type: ignore[arg-type]
        nano=nano,
        limit=limit_of(granted.total),
    )


def limit_of(total: Fraction | None) -> int:
    """A person's total as a limit of an account."""
    return LARGEST if total is None else min(nano_down(total), LARGEST)
