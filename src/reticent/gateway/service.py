"""The gateway: people and their wishes on one side, providers on the other, a ledger between.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show); docs/theory/ledger.md
Not here  HTTP, pages and words (console/), what is drawn (drawing.py, queries/public_terms.py).

A request is answered by what the ledger has kept, never by what was just drawn. Both an answer and
one that holds nothing of the person are made each time, and the ledger keeps the one that budgets
allow: nobody who asks can tell which.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from reticent.errors import ReticentError, require
from reticent.gateway import credentials, directory
from reticent.gateway.answers import Asked, answered, limit_of
from reticent.gateway.directory import NoSuchPerson, Person
from reticent.gateway.drawing import OWN, Drawn, draw, paid_once
from reticent.gateway.memory import Known, Memory, World
from reticent.gateway.offers import Offer
from reticent.gateway.tables import prepare
from reticent.guarantees import canonical
from reticent.ledger import (
    Account,
    Answer,
    KeyReused,
    Ledger,
    Request,
    Sealed,
    Stale,
    open_ledger,
    period_of,
)
from reticent.ledger.accounts import TracesLeft
from reticent.ledger.reports import Released, releases
from reticent.noise import Source
from reticent.preferences import Preferences

if TYPE_CHECKING:
    from reticent.ledger import Connection

T = TypeVar("T")
SESSION_SECONDS = 12 * 3600


class NotOffered(ReticentError):
    """A provider does not ask for that kind of release."""


class Gateway:
    """Everything that the service does, without HTTP. One object serves many threads."""

    def __init__(self, ledger: Ledger, *, source: Source | None = None) -> None:
        self.ledger = ledger
        self._source = Source.system() if source is None else source
        prepare(ledger)
        self._memory = Memory(ledger, self._source.private)
        self._cards: dict[str, bytes] = {}

    @classmethod
    def open(cls, address: str | Path) -> Self:
        """The gateway whose tables and ledger are in this database."""
        return cls(open_ledger(address))

    def close(self) -> None:
        """Finish what waits."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` finds in the database as it is now."""
        with self.ledger.reading() as connection:
            return work(connection)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Change the database; done when this returns."""
        return self.ledger.write(work)

    def world(self) -> World:
        """Catalogue, mapping and offers, as they are now."""
        return self.read(self._memory.world)

    def changed(self, connection: Connection) -> None:
        """Say, in the transaction that changes something public, that it did."""
        directory.set_setting(connection, "revision", credentials.secret()[:16])

    # Who asks

    def caller(self, token: str) -> credentials.Caller | None:
        """The provider of a token; None whatever is wrong with it."""
        if not credentials.well_formed(token):
            return None
        return self.read(lambda c: credentials.caller(c, token, int(time.time())))

    def door(self, key: str) -> tuple[credentials.Role, str] | None:
        """Whom a door's key lets in: a role, and a person."""
        return self.read(lambda c: credentials.door_of(c, key))

    def enter(self, key: str) -> str | None:
        """A session's secret for a door's key."""
        now = int(time.time())
        return self.write(lambda c: credentials.enter(c, key, seconds=SESSION_SECONDS, now=now))

    def session(self, made: str) -> credentials.Session | None:
        """Whose session it is."""
        return self.read(lambda c: credentials.session(c, made, int(time.time())))

    def leave(self, made: str) -> None:
        """End a session."""
        self.write(lambda c: credentials.leave(c, made))

    # What providers get

    def answered(self, provider: str, key: str) -> bytes | None:
        """The answer that a provider's key got, as it was kept."""
        return self.read(lambda c: answered(c, provider, key)[0])

    def submit(self, provider: str, asked: Asked) -> Future[Answer]:
        """Draw, charge and keep; ``finish`` makes what is sent of the answer that comes.

        ``NotOffered``, ``NoSuchPerson`` and ``KeyReused`` depend on nothing that is private. If
        somebody changes something at this very moment, this or the answer that it promises raises
        ``Stale``, and nothing is charged: call it again.
        """
        with self.ledger.reading() as connection:
            kept, used = answered(connection, provider, asked.key)
            if kept is not None:  # also on terms that hold no more
                return asked.repeated(kept)
            world = self._memory.world(connection)
            offer = _offer(world, provider, asked)
            people = [
                self._memory.known(connection, name, world.catalogue) for name in asked.subjects
            ]
        if used:  # its answer was deleted with whom it was about
            raise KeyReused
        drawn = self._draw(offer, people, asked.key)
        return self._keep(offer, asked, [*people, *map(self._named, drawn.named)], drawn)

    def _named(self, person: str) -> Known:
        """Somebody whom an answer names, if they are still here."""
        try:
            return self.known(person)
        except NoSuchPerson:
            raise Stale from None

    def _draw(self, offer: Offer, people: list[Known], key: str) -> Drawn:
        """A seeded source gives each request a stream of its own, whatever their order."""
        source = self._source if self._source.private else self._source.child(key)
        return draw(offer, people, self.ledger, source)

    def _keep(
        self, offer: Offer, asked: Asked, people: list[Known], drawn: Drawn
    ) -> Future[Answer]:
        """Charge and keep, if all people are still as they were when it was drawn."""
        lost = (*drawn.lost, *(0 for _ in drawn.named))
        request = Request(
            principal=offer.provider,
            key=asked.key,
            body=asked.body(),
            event=offer.event,
            charges=tuple(
                known.charge(offer, nano) for known, nano in zip(people, lost, strict=True)
            ),
            guard=directory.guard_of([known.person for known in people]),
        )
        both = asked.answer(offer, drawn.released), asked.answer(offer, drawn.cover)
        return self.ledger.submit(request, Sealed(*both))

    def finish(self, kept: bytes) -> bytes:
        """What is sent: the kept answer, with the card of its terms."""
        terms = json.loads(kept)["terms"]
        if terms not in self._cards:
            text = self.read(lambda c: directory.card_of(c, terms))
            require(text is not None, "terms", "unknown", "those of an answer that was kept")
            self._cards[terms] = canonical(json.loads(text or "")).encode()
        return kept[:-1] + b',"card":' + self._cards[terms] + b"}"

    # People

    def known(self, person: str) -> Known:
        """A person as they are now; ``NoSuchPerson`` if they are not here."""
        return self.read(lambda c: self._memory.known(c, person, self._memory.world(c).catalogue))

    def person(self, name: str) -> Person:
        """Everything about one person."""
        return self.known(name).person

    def set_preferences(self, name: str, text: str, *, seen: int) -> None:
        """Keep a person's new file; a total that they raise is raised in the ledger too.

        What follows from it is worked out now, as a very long file could take more than a slot.
        """
        before, after = self.person(name).preferences, Preferences.parse(text)
        self.write(lambda c: directory.set_preferences(c, name, text, seen=seen))
        for provider, granted in after.providers.items():
            old = before.providers.get(provider)
            if old is None or (old.total, old.renews) != (granted.total, granted.renews):
                period = period_of(granted.renews, int(time.time()))  # type: ignore[arg-type]
                self._raise(Account(name, provider, period=period), limit_of(granted.total))
        known = self.known(name)
        for offers in self.world().offers.values():
            for offer in offers.values():
                known.charge(offer, known.allowance(offer).nano)

    def _raise(self, account: Account, limit: int) -> None:
        known = self.read(
            lambda c: c.execute(
                "SELECT lim FROM account WHERE subject = ? AND provider = ? AND what = ?"
                " AND period = ?",
                (account.subject, account.provider, account.what, account.period),
            ).fetchone()
        )
        if known is not None and known[0] < limit:
            self.ledger.raise_limit(account, limit)

    def left(
        self, name: str, *, provider: str | None = None, since: int | None = None, most: int = 500
    ) -> list[Released]:
        """What left about a person, newest first."""
        return self.read(
            lambda c: list(
                releases(c, subject=name, provider=provider, since=since, most=most, besides=OWN)
            )
        )

    def paid_once(self, person: Person, terms: str) -> int | None:
        """What a draw that lasts cost a person when it was made; None if none was made."""
        return self.read(lambda c: paid_once(c, terms, person))

    def forget(self, name: str) -> bool:
        """Delete a person here and in the ledger; whether they were here.

        While somebody reads for long the ledger's log cannot be emptied: it then keeps traces until
        it is written over. What was drawn of them before, in any process, cannot be kept any more.
        """
        found = self.write(lambda c: directory.delete_person(c, name))
        self._memory.drop(name)
        try:
            return bool(self.ledger.forget(name)) or found
        except TracesLeft:
            return True


def _offer(world: World, provider: str, asked: Asked) -> Offer:
    offer = world.offers.get(provider, {}).get(asked.kind)
    if offer is None:
        raise NotOffered(f"{provider} does not ask for a {asked.kind}")
    return offer
