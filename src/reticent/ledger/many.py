"""One spend that charges many accounts: the same promises, with few statements for all of them.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge), Theorem 5 (a refusal that nobody sees), Theorem 6 (nothing is
          charged for a stale draw), "Many at once"
Notation  amounts in nano-epsilon; room = what an account has left for a charge
Not here  spends of a few accounts (spending.py, postgres_functions.py), the statements that differ
          between stores (sqlite_rows.py, postgres_rows.py).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter, ne
from typing import Any, Protocol, Self, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from reticent.errors import BudgetExceeded
from reticent.guarantees.events import canonical
from reticent.ledger.accounts import Answer, Charge, LedgerError, Renewal, Request, period_of
from reticent.ledger.covers import Given, choose
from reticent.ledger.interface import Connection
from reticent.ledger.lines import Line, chained
from reticent.ledger.spending import known, now, spend_line
from reticent.ledger.tables import SALT, SCHEMA_MANY, charged, framed, named, seal
from reticent.noise import Source

T = TypeVar("T")
Amounts: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.intp]
Told: TypeAlias = tuple[str, dict[str, object]]  # kind and body of a line
MANY = 64  # charges of a spend from which on this way is taken
_PART = 4096  # rows that go into one statement
_NAMES = attrgetter("subject", "provider", "what")


class Rows(Protocol):
    """The statements that a store has in words of its own."""

    pairs: str  # a table of ``key`` and ``value`` out of one JSON object

    def find(
        self, connection: Any, subjects: Sequence[str], provider: str, what: str, period: str
    ) -> Sequence[tuple[int, int, int, int, bytes]]:
        """Place in ``subjects``, number, limit, spent and salt of those who have an account."""

    def open(
        self,
        connection: Any,
        alike: tuple[str, str, str],
        subjects: Sequence[str],
        numbers: Sequence[int],
        limits: Sequence[int],
        salts: bytes,
    ) -> None:
        """New accounts, alike in provider, what and period, with nothing spent."""

    def append(self, connection: Any, lines: Sequence[Line]) -> None:
        """Lines of the chain."""


class _Asked:
    """Charges and their accounts, as arrays: number 0 where there is none yet."""

    def __init__(self, charges: Sequence[Charge], at: int) -> None:
        count = len(charges)
        self.charges = charges
        self.nano: Amounts = np.fromiter((one.nano for one in charges), np.int64, count)
        self.wanted: Amounts = np.fromiter((one.limit for one in charges), np.int64, count)
        self.number, self.limit, self.spent = np.zeros((3, count), np.int64)
        self.salt = np.zeros(count, f"V{SALT}")
        self.periods = {renews: period_of(renews, at) for renews in get_args(Renewal)}

    @classmethod
    def found(cls, rows: Rows, connection: Connection, charges: Sequence[Charge], at: int) -> Self:
        """With the accounts that were opened before."""
        asked = cls(charges, at)
        for names, places in asked.alike(range(len(charges))):
            for part in _parts(places):
                subjects = [charges[place].subject for place in part]
                found = rows.find(connection, subjects, *names)
                if found:
                    own, number, limit, spent, salt = zip(*found, strict=True)
                    where = np.array(part)[list(own)]
                    asked.number[where], asked.limit[where] = number, limit
                    asked.spent[where] = spent
                    asked.salt[where] = np.frombuffer(b"".join(salt), asked.salt.dtype)
        return asked

    def alike(self, places: Iterable[int]) -> Iterable[tuple[tuple[str, str, str], list[int]]]:
        """Places by provider, what and period, in the order given."""
        found: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for place in places:
            charge = self.charges[place]
            found[charge.provider, charge.what, self.periods[charge.renews]].append(place)
        return found.items()

    def room(self) -> Amounts:
        """What each account would have left for its charge."""
        held = np.maximum(np.minimum(self.limit, self.wanted) - self.spent, 0)
        return np.where(self.number > 0, held, self.wanted)


def short(rows: Rows, connection: Connection, charges: Iterable[Charge], at: int) -> int:
    """How many of these charges would not fit at this time, each by itself."""
    found = 0
    for part in _parts(charges):
        asked = _Asked.found(rows, connection, sorted(part, key=_NAMES), at)
        found += int((asked.nano > asked.room()).sum())
    return found


def reserve_many(
    rows: Rows,
    request: Request,
    connection: Connection,
    given: Given | None = None,
) -> tuple[int, Answer | None]:
    """As ``spending.reserve``, whose promises it keeps. Theorems 1, 2, 5, 6."""
    before = known(connection, request)
    if before is not None:
        return before
    at = now(connection)
    asked = _Asked.found(rows, connection, sorted(request.charges, key=_NAMES), at)
    short = _short(asked, refuse=not isinstance(given, tuple))
    names = {asked.charges[place].subject for place in np.flatnonzero(short).tolist()}
    answer = None if given is None else choose(given, names)
    lines = [*_opened(rows, connection, asked), *_lowered(rows, connection, asked)]
    order = np.argsort(asked.number)
    amounts = np.column_stack((asked.number, np.where(short, 0, asked.nano)))[order]
    number = _spent(rows, connection, (request, at, answer), amounts)
    sealed = seal(number, (asked.salt[order].tobytes(),))
    told = {"accounts": len(amounts), "charged": charged(amounts)}
    lines.append(("spend", spend_line(request, number, at, sealed, answer, **told)))
    for part in _parts(chained(connection, lines)):
        rows.append(connection, part)
    mark = "UPDATE meta SET value = ? WHERE name = 'schema' AND value <> ?"
    connection.execute(mark, (SCHEMA_MANY, SCHEMA_MANY))
    return number, None if answer is None else Answer(answer, replayed=False)


def _short(asked: _Asked, *, refuse: bool) -> NDArray[np.bool_]:
    """Which charges are to subjects who cannot pay in one of their accounts. Theorem 5.

    ``BudgetExceeded`` if that is refused.
    """
    room = asked.room()
    short = asked.nano > room
    if refuse:
        if short.any():
            place = int(short.argmax())
            charge = asked.charges[place]
            raise BudgetExceeded(f"budget with {charge.provider!r}", charge.nano, int(room[place]))
        return short
    subjects = [charge.subject for charge in asked.charges]  # in order, so each stands together
    first = np.fromiter(map(ne, subjects, ["", *subjects[:-1]]), bool, len(subjects))
    whose = np.cumsum(first) - 1
    found: NDArray[np.bool_] = np.logical_or.reduceat(short, np.flatnonzero(first))[whose]
    return found


def _opened(rows: Rows, connection: Connection, asked: _Asked) -> Iterator[Told]:
    """Open the accounts that are missing; one line for all of them."""
    missing = np.flatnonzero(asked.number == 0)
    if not len(missing):
        return
    words = Source.system().words((len(missing), SALT // 4))
    asked.salt[missing] = words.view(asked.salt.dtype)[:, 0]
    places, digest = _numbered(asked, missing)
    first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM account").fetchone()[0]
    asked.number[places] = np.arange(first, first + len(places))
    asked.limit[places] = asked.wanted[places]
    for names, alike in asked.alike(missing.tolist()):  # by name, as the largest index is
        for part in _parts(alike):
            subjects = [asked.charges[place].subject for place in part]
            amounts = asked.number[part].tolist(), asked.limit[part].tolist()
            rows.open(connection, names, subjects, *amounts, asked.salt[part].tobytes())
    yield "opened", {"first": first, "of": digest, "runs": _runs(asked, places)}


def _numbered(asked: _Asked, places: Places) -> tuple[Places, str]:
    """Places in the order in which their accounts are numbered, and the digest of commitments.

    Within a limit and a period, that is the order of the commitments, which tell nothing. In that
    of names, the neighbours of an account would tell whose it was after it is forgotten.
    """
    framed_names: dict[tuple[str, str], bytes] = {}
    commitments = bytearray()
    salts = asked.salt[places].tobytes()
    for n, place in enumerate(places.tolist()):
        charge = asked.charges[place]
        names = charge.provider, charge.what
        others = framed_names.get(names) or framed_names.setdefault(names, framed(*names))
        commitments += named(salts[n * SALT : (n + 1) * SALT], charge.subject, others)
    held = np.frombuffer(commitments, ">u8").reshape(len(places), -1)
    known_periods = sorted(set(asked.periods.values()))
    rank = {renews: known_periods.index(period) for renews, period in asked.periods.items()}
    periods = np.array([rank[asked.charges[place].renews] for place in places.tolist()])
    order = np.lexsort((held[:, 0], periods, asked.wanted[places]))
    return places[order], hashlib.sha256(held[order].tobytes()).hexdigest()


def _runs(asked: _Asked, places: Places) -> list[list[object]]:
    """Limit and period of new accounts in order, and how many have both one after the other."""
    charges = (asked.charges[place] for place in places.tolist())
    alike = groupby((charge.limit, asked.periods[charge.renews]) for charge in charges)
    return [[limit, period, sum(1 for _ in group)] for (limit, period), group in alike]


def _lowered(rows: Rows, connection: Connection, asked: _Asked) -> Iterator[Told]:
    """Lower the limits that are set lower now, but not below what is spent; a line for each."""
    after = np.maximum(np.minimum(asked.limit, asked.wanted), asked.spent)
    lower = np.flatnonzero(after < asked.limit)
    changed = np.column_stack((asked.number, asked.limit, after))[lower].tolist()
    asked.limit = after
    for part in _parts(changed):
        connection.execute(
            "UPDATE account SET lim = CAST(value AS BIGINT)"  # noqa: S608, a word of the store
            f" FROM {rows.pairs} WHERE account.id = CAST(key AS BIGINT)",
            (canonical({account: to for account, _, to in part}),),
        )
    for account, before, to in changed:
        yield "limit", {"account": account, "from": before, "to": to}


def _spent(
    rows: Rows, connection: Connection, what: tuple[Request, int, bytes | None], amounts: Amounts
) -> int:
    """Write the spend and its charges, and add them to the accounts; the spend's number."""
    request, at, answer = what
    number: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM spend").fetchone()[0]
    connection.execute(
        "INSERT INTO spend (id, principal, key, fingerprint, state, at, event, answer)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(number, request.principal, request.key, request.fingerprint),
            *("reserved" if answer is None else "settled", at, request.told, answer),
        ),
    )
    for first in range(0, len(amounts), _PART):
        part = amounts[first : first + _PART]
        pairs = ",".join(['"%d":%d'] * len(part)) % tuple(part.ravel().tolist())
        connection.execute(
            "INSERT INTO charge SELECT CAST(? AS BIGINT),"  # noqa: S608, a word of the store
            f" CAST(key AS BIGINT), CAST(value AS BIGINT) FROM {rows.pairs}",
            (number, f"{{{pairs}}}"),
        )
    done = connection.execute(
        "UPDATE account SET spent = spent + nano FROM charge"
        " WHERE charge.spend = ? AND charge.account = account.id AND spent + nano <= lim",
        (number,),
    ).rowcount
    if done != len(amounts):  # nobody else writes meanwhile; if somebody did, nothing is charged
        raise LedgerError("an account was changed meanwhile")
    return number


def _parts(rows: Iterable[T]) -> Iterator[list[T]]:
    """A few thousand at a time."""
    waiting = iter(rows)
    while part := list(islice(waiting, _PART)):
        yield part
