"""Charging everybody of a release in parts, each part once, before anything is shown.

Theory    docs/theory/ledger.md, Theorem 2 (one key, one answer, one charge);
          docs/theory/parts.md, Theorem 1 (one answer and one charge)
Notation  nano = nano-epsilon that a person loses
Not here  the ledger (ledger/), what was drawn (drawing.py), who shows it (local.py, spark/).

A part is named, and its name always stands for the same people and the same drawn answer, known by
its digest. Its key in the ledger is the key of the release and the name. First all parts that are
not charged yet are asked whether they fit; if somebody's budget is too small nobody is charged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reticent.amounts import show_nano
from reticent.errors import BudgetExceeded, require
from reticent.guarantees import Event, canonical
from reticent.guarantees.card import Budget
from reticent.ledger import Charge, Ledger, LedgerError, Request, period_of
from reticent.noise import Source
from reticent.tasks.charged import LIBRARY, Payer, Standing, amount

_GONE = (
    "this key was charged for another draw, which is gone or elsewhere; a second draw is a second "
    "release: use a new key"
)
LONGEST_KEY = 150
"""Letters of the key of a release: names of parts follow it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Part:
    """The people of one part, what each loses, and the digest of what was drawn for them."""

    name: str
    people: Sequence[str]
    nano: Sequence[int]
    digest: str


class Counted(Protocol):
    """What is known of a release before it is drawn; see ``Batched``."""

    @property
    def fingerprint(self) -> str:
        """Of everything that decides what is released, besides the data and the source."""

    def event(self, source: Source, people: int | None = None) -> Event:
        """The record: nobody loses more than it says."""

    def payer(self, person: str) -> Payer:
        """Whose account is charged: the same for everybody, but for their name."""


@dataclass(frozen=True, slots=True)
class Merged:
    """How many people were charged now, and how many had been by an earlier run."""

    charged: int
    before: int


def merge(
    job: Counted,
    event: Event,
    parts: Callable[[], Iterable[Part]],
    *,
    key: str,
    ledger: Ledger,
    principal: str = LIBRARY,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Merged:
    """Charge every person of every part once under ``key``, up to ``limit`` in all. Theorem 1.

    ``parts`` is called twice: to ask and to charge. ``BudgetExceeded`` charges nobody who had not
    been charged before; ``LedgerError`` says that a part was charged for another draw than this.
    """
    check_key(key)
    anybody = job.payer("anybody").up_to(limit)
    if _somebody_may_be_short(ledger, anybody, amount(event)):
        waiting = (part for part in parts() if not _kept(ledger, principal, key, part))
        refused = sum(ledger.short(_charges(anybody, part)) for part in waiting)
        if refused:
            raise TooLittleLeft(refused, amount(event))
    charged = before = 0
    for part in parts():
        if not part.people:
            continue
        request = Request(
            principal=principal,
            key=f"{key}/{part.name}",
            body=canonical([job.fingerprint, part.name]).encode(),
            event=event,
            charges=_charges(anybody, part),
        )
        answer = ledger.once_with(request, part.digest.encode())
        if answer.value != part.digest.encode():
            raise LedgerError(_GONE)
        before += len(part.people) if answer.replayed else 0
        charged += 0 if answer.replayed else len(part.people)
        if progress is not None:
            progress(charged + before)
    return Merged(charged, before)


def refuse_spent(ledger: Ledger, key: str, principal: str = LIBRARY) -> None:
    """A key that somebody was charged under must not be drawn for again: before a first draw."""
    start = f"{key}/"
    with ledger.reading() as connection:
        found = connection.execute(
            "SELECT 1 FROM spend WHERE principal = ? AND substr(key, 1, ?) = ? LIMIT 1",
            (principal, len(start), start),
        ).fetchone()
    if found is not None:
        raise LedgerError(_GONE)


def identity(ledger: Ledger) -> str:
    """What tells a ledger from others, wherever it lies."""
    with ledger.reading() as connection:
        found = connection.execute("SELECT value FROM meta WHERE name = 'ledger'").fetchone()
    return str(found[0])


def most_spent(ledger: Ledger, job: Counted, people: int, limit: int | None = None) -> Budget:
    """What whoever has lost most with this provider has lost in this period, for a card."""
    anybody = job.payer("anybody").up_to(limit)
    period = period_of(anybody.renews, int(time.time()))
    with ledger.reading() as connection:
        found = connection.execute(
            "SELECT max(spent) FROM account WHERE provider = ? AND what = ? AND period = ?",
            (anybody.provider, anybody.what, period),
        ).fetchone()
    return Standing(anybody, found[0] or 0, anybody.limit).budget(people)


def check_key(key: str) -> str:
    """A key of a release in parts."""
    good = isinstance(key, str) and 0 < len(key) <= LONGEST_KEY and key.isprintable()
    require(good, "key", "other", f"1 to {LONGEST_KEY} letters")
    return key


class TooLittleLeft(BudgetExceeded):
    """Some people have too little of their budget left; who they are is not said."""

    def __init__(self, people: int, asked: int) -> None:
        super().__init__("budget", asked, 0)
        self.people = people
        some = "1 person has" if people == 1 else f"{people:,} people have"
        self.args = (f"{some} too little left for epsilon {show_nano(asked)}: nobody was charged",)

    def __reduce__(self) -> tuple[object, ...]:
        return TooLittleLeft, (self.people, self.asked)


def _somebody_may_be_short(ledger: Ledger, anybody: Payer, most: int) -> bool:
    """Whether anybody at all has too little left with this provider: else nobody need be asked."""
    wanted = anybody.charge(most).limit
    with ledger.reading() as connection:
        found = connection.execute(
            "SELECT 1 FROM account WHERE provider = ? AND what = ?"
            " AND (CASE WHEN lim < ? THEN lim ELSE ? END) - spent < ? LIMIT 1",
            (anybody.provider, anybody.what, wanted, wanted, most),
        ).fetchone()
    return found is not None or most > wanted


def _charges(anybody: Payer, part: Part) -> tuple[Charge, ...]:
    like = anybody.charge(0)
    return tuple(
        Charge(
            subject=person,
            provider=like.provider,
            what=like.what,
            renews=like.renews,
            nano=nano,
            limit=like.limit,
        )
        for person, nano in zip(part.people, part.nano, strict=True)
    )


def _kept(ledger: Ledger, principal: str, key: str, part: Part) -> bool:
    """Whether the ledger has charged this part."""
    with ledger.reading() as connection:
        found = connection.execute(
            "SELECT 1 FROM spend WHERE principal = ? AND key = ?", (principal, f"{key}/{part.name}")
        )
        return found.fetchone() is not None
