"""The gateway: people and their wishes on one side, providers on the other, a ledger between.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show); docs/theory/ledger.md
Not here  HTTP, pages and words (console/), the mathematics of a release (tasks/terms.py).

A request is answered by what the ledger has kept, never by what was just drawn. Both an answer and
one that holds nothing of the person are made each time, and the ledger keeps the one that budgets
allow: nobody who asks can tell which.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from reticent.amounts import nano_down
from reticent.data.catalogue import Catalogue
from reticent.errors import ReticentError, require
from reticent.gateway import credentials, directory
from reticent.gateway.asks import Offer, offers_of, read_asks
from reticent.gateway.catalogue_text import catalogue_from_text
from reticent.gateway.directory import NoSuchPerson, Person
from reticent.gateway.tables import prepare
from reticent.guarantees import Event, canonical
from reticent.ledger import (
    Account,
    Answer,
    Charge,
    KeyReused,
    Ledger,
    Request,
    open_ledger,
    period_of,
)
from reticent.ledger.accounts import LARGEST
from reticent.ledger.reports import Released, releases
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.recoding import Recoding
from reticent.tasks.recoding_files import recoding_from_json
from reticent.tasks.terms import (
    Allowance,
    HistogramTerms,
    ProfileTerms,
    SimilarityTerms,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.ledger import Connection

T = TypeVar("T")
SESSION_SECONDS = 12 * 3600
OWN = "the gateway"  # the principal of draws that are made once for everybody
_KEPT = 20_000  # people whose profile is kept in memory


class NotOffered(ReticentError):
    """A provider does not ask for that kind of release."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a provider: what, of whom, under which key."""

    kind: str
    subject: str
    key: str
    other: str | None = None

    def body(self) -> bytes:
        """All that decides the answer, but for the key."""
        return canonical([self.kind, self.subject, self.other]).encode()


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What is public: the catalogue, the mapping, what providers ask for."""

    revision: str
    catalogue: Catalogue
    recoding: Recoding | None
    offers: Mapping[str, Mapping[str, Offer]]


@dataclass(slots=True, eq=False)
class Known:
    """A person as of one version and one catalogue, with what was worked out of them."""

    person: Person
    catalogue: Catalogue
    held: NDArray[np.int64]
    allowances: dict[str, Allowance | bool]


class Gateway:
    """Everything that the service does, without HTTP. One object serves many threads."""

    def __init__(self, ledger: Ledger, *, source: Source | None = None) -> None:
        self.ledger = ledger
        self._source = Source.system() if source is None else source
        prepare(ledger)
        self._world: World | None = None
        self._known: OrderedDict[str, Known] = OrderedDict()
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

    # What is public

    def world(self) -> World:
        """Catalogue, mapping and offers, as they are now."""
        return self.read(self._current)

    def _current(self, connection: Connection) -> World:
        revision = directory.setting(connection, "revision") or ""
        if self._world is None or self._world.revision != revision:
            self._world = self._load(connection, revision)
            self._known.clear()
        return self._world

    def _load(self, connection: Connection, revision: str) -> World:
        text = directory.setting(connection, "catalogue")
        require(text is not None, "catalogue", None, "given first: reticent gateway init")
        assert text is not None  # noqa: S101
        catalogue = catalogue_from_text(text)
        mapping = directory.setting(connection, "mapping")
        recoding = None if mapping is None else recoding_from_json(mapping)
        found = directory.providers(connection)
        offers = {
            name: offers_of(name, read_asks(asks), catalogue, recoding) for name, asks in found
        }

        def keep(connection: Connection) -> None:
            for own in offers.values():
                for offer in own.values():
                    card = offer.card.to_json()
                    directory.keep_card(connection, offer.id, offer.provider, offer.kind, card)

        self.write(keep)
        return World(revision, catalogue, recoding, offers)

    def changed(self, connection: Connection) -> None:
        """Say, in the transaction that changes something public, that it did."""
        directory.set_setting(connection, "revision", credentials.secret()[:16])

    # Who asks

    def caller(self, token: str) -> credentials.Caller | None:
        """The provider of a token; None whatever is wrong with it."""
        if not credentials.well_formed(token):
            return None
        return self.read(lambda c: credentials.caller(c, token, int(time.time())))

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
        return self.read(lambda c: _answered(c, provider, key)[0])

    def submit(self, provider: str, asked: Asked) -> Future[Answer]:
        """Draw, charge and keep; ``finish`` makes what is sent of the answer that comes.

        ``NotOffered``, ``NoSuchPerson`` and ``KeyReused`` depend on nothing that is private.
        """
        with self.ledger.reading() as connection:
            kept, used = _answered(connection, provider, asked.key)
            if kept is not None:  # also on terms that hold no more
                return _repeated(kept, asked)
            offer = self._offer(connection, provider, asked)
            people = [self._known_now(connection, name) for name in _subjects(asked)]
        if used:  # its answer was deleted with whom it was about
            raise KeyReused
        released, cover, lost = self._draw(offer, people, provider)
        return self.ledger.submit(
            Request(
                principal=provider,
                key=asked.key,
                body=asked.body(),
                event=offer.event,
                charges=tuple(
                    _charge(known.person, provider, nano)
                    for known, nano in zip(people, lost, strict=True)
                ),
            ),
            _answer(offer, asked, released),
            otherwise=_answer(offer, asked, cover),
        )

    def finish(self, kept: bytes) -> bytes:
        """What is sent: the kept answer, with the card of its terms."""
        terms = json.loads(kept)["terms"]
        if terms not in self._cards:
            text = self.read(lambda c: directory.card_of(c, terms))
            require(text is not None, "terms", "unknown", "those of an answer that was kept")
            self._cards[terms] = canonical(json.loads(text or "")).encode()
        return kept[:-1] + b',"card":' + self._cards[terms] + b"}"

    def _offer(self, connection: Connection, provider: str, asked: Asked) -> Offer:
        offer = self._current(connection).offers.get(provider, {}).get(asked.kind)
        if offer is None:
            raise NotOffered(f"{provider} does not ask for a {asked.kind}")
        return offer

    def _draw(self, offer: Offer, people: list[Known], provider: str) -> tuple[Any, Any, list[int]]:
        """What would be released, what holds nothing of anybody, and what each person loses."""
        terms = offer.terms
        if isinstance(terms, ProfileTerms):
            value = self._profile(terms, people[0], provider)
            return value, value, [0]
        allowed = [self._allowance(known, offer) for known in people]
        if isinstance(terms, HistogramTerms):
            both = terms.draw(people[0].held, allowed[0], self._source)
            names = terms.plan.attributes
            released, cover = (dict(zip(names, one.tolist(), strict=True)) for one in both)
            return released, cover, [allowed[0].nano]
        first, second = zip((one.held for one in people), allowed, strict=True)
        return *terms.draw(first, second, self._source), [one.nano for one in allowed]

    def _profile(self, terms: ProfileTerms, known: Known, provider: str) -> dict[str, Any]:
        """One draw per person for everybody, or one per provider that holds nothing. Theorem 4."""
        person = known.person
        permitted = terms.permitted(person.preferences, provider)
        whose = "everybody" if permitted else f"only {provider}"
        drawn = terms.draw(
            [person.columns.get(name) for name in terms.recoding.columns], permitted, self._source
        )
        made = canonical(dict(zip(terms.recoding.columns, drawn, strict=True))).encode()
        request = Request(
            principal=OWN,
            key=f"{terms.recoding.fingerprint[:32]}/{credentials.digest(person.tag + whose)[:32]}",
            body=b"",
            event=Event("profile-draw", {}, terms.recoding.mechanism.guarantee(), private=True),
            charges=(Charge(subject=person.id, provider=OWN, nano=0, limit=LARGEST),),
        )
        value: dict[str, Any] = json.loads(self.ledger.once_with(request, made).value)
        return value

    def _allowance(self, known: Known, offer: Offer) -> Allowance:
        found = known.allowances.get(offer.id)
        if not isinstance(found, Allowance):
            wishes = known.person.preferences
            if isinstance(offer.terms, HistogramTerms):
                found = offer.terms.allowance(wishes, offer.provider)
            else:
                assert isinstance(offer.terms, SimilarityTerms)  # noqa: S101
                places = known.catalogue.places
                found = offer.terms.allowance(wishes, offer.provider, places)
            known.allowances[offer.id] = found
        return found

    # People

    def known(self, person: str) -> Known:
        """A person as they are now; ``NoSuchPerson`` if they are not here."""
        return self.read(lambda c: self._known_now(c, person))

    def _known_now(self, connection: Connection, person: str) -> Known:
        stamp = directory.stamp_of(connection, person)
        if stamp is None:
            self._known.pop(person, None)
            raise NoSuchPerson
        catalogue = self._current(connection).catalogue
        found = self._known.get(person)
        if (
            found is None
            or found.catalogue is not catalogue  # another thread may have kept an older one
            or (found.person.tag, found.person.version) != stamp
        ):
            whole = directory.find_person(connection, person)
            held = np.zeros(len(catalogue), dtype=np.int64)
            held[directory.items_of(whole.items, catalogue.places)] = 1
            found = Known(whole, catalogue, held, {})
            self._known[person] = found
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def person(self, name: str) -> Person:
        """Everything about one person."""
        return self.known(name).person

    def set_preferences(self, name: str, text: str, *, seen: int) -> None:
        """Keep a person's new file; a total that they raise is raised in the ledger too."""
        before, after = self.person(name).preferences, Preferences.parse(text)
        self.write(lambda c: directory.set_preferences(c, name, text, seen=seen))
        for provider, granted in after.providers.items():
            old = before.providers.get(provider)
            if old is None or (old.total, old.renews) != (granted.total, granted.renews):
                period = period_of(granted.renews, int(time.time()))  # type: ignore[arg-type]
                account = Account(name, provider, period=period)
                self._raise(account, _limit(granted.total))

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
        found = self.read(
            lambda c: list(releases(c, subject=name, provider=provider, since=since, most=most))
        )
        return [one for one in found if one.principal != OWN]

    def forget(self, name: str) -> bool:
        """Delete a person here and in the ledger; whether they were here."""
        found = self.write(lambda c: directory.delete_person(c, name))
        self._known.pop(name, None)
        return bool(self.ledger.forget(name)) or found


def _subjects(asked: Asked) -> list[str]:
    return [asked.subject] if asked.other is None else [asked.subject, asked.other]


def _answered(connection: Connection, provider: str, key: str) -> tuple[bytes | None, bool]:
    """The answer that is kept for a key, and whether the key was used."""
    row = connection.execute(
        "SELECT answer FROM spend WHERE principal = ? AND key = ?", (provider, key)
    ).fetchone()
    return None if row is None or row[0] is None else bytes(row[0]), row is not None


def _repeated(kept: bytes, asked: Asked) -> Future[Answer]:
    """What was kept for the same request, also on other terms; another request is refused."""
    told = json.loads(kept)
    if (told["kind"], told["subject"], told.get("other")) != (
        asked.kind,
        asked.subject,
        asked.other,
    ):
        raise KeyReused
    done: Future[Answer] = Future()
    done.set_result(Answer(kept, replayed=True))
    return done


def _answer(offer: Offer, asked: Asked, value: Any) -> bytes:
    told: dict[str, Any] = {
        "schema": "release/1",
        "kind": asked.kind,
        "subject": asked.subject,
        **({} if asked.other is None else {"other": asked.other}),
        "key": asked.key,
        "terms": offer.id,
        "value": value,
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _charge(person: Person, provider: str, nano: int) -> Charge:
    granted = person.preferences.providers.get(provider)
    if granted is None:
        return Charge(subject=person.id, provider=provider, nano=0, limit=LARGEST)
    return Charge(
        subject=person.id,
        provider=provider,
        renews=granted.renews,  # type: ignore[arg-type]
        nano=nano,
        limit=_limit(granted.total),
    )


def _limit(total: Fraction | None) -> int:
    return LARGEST if total is None else min(nano_down(total), LARGEST)
