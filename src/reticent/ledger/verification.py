"""Checking a ledger: replay its lines, and compare with what its tables say.

Theory    docs/theory/ledger.md, Theorem 3 (an edit is noticed)
Not here  accounts as the lines tell of them (replayed.py), writing (sqlite.py, postgres.py).

Who can write the tables can also write a new chain. Keep the head elsewhere: a head that the chain
no longer passes through shows that it was rewritten, or that an old copy was put in its place.

Lines and tables are read side by side, so memory grows with accounts and not with spends.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Self

from reticent.errors import require
from reticent.ledger import postgres_tables, tables
from reticent.ledger.accounts import Damaged
from reticent.ledger.interface import Connection
from reticent.ledger.replayed import ReplayedAccounts
from reticent.ledger.tables import charged, commitment, first_link, next_link, seal

_DAMAGED = (
    *(sqlite3.Error, Damaged),  # the latter by PostgreSQL
    *(TypeError, ValueError, AttributeError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class Head:
    """The last line: how many there are, and the chain after it."""

    ledger: str
    seq: int
    chain: str

    def text(self) -> str:
        """One line to keep somewhere else."""
        return f"{self.ledger} {self.seq} {self.chain}"

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Inverse of ``text``."""
        parts = text.split()
        good = len(parts) == 3 and parts[1].isdigit() and len(parts[2]) == 64
        require(good, "head", "another text", "a ledger, a number and a chain")
        return cls(parts[0], int(parts[1]), parts[2])


@dataclass(frozen=True, slots=True)
class Checked:
    """What was replayed, and every way in which it does not fit."""

    head: Head
    spends: int
    accounts: int
    problems: tuple[str, ...]


def head_of(connection: Connection) -> Head:
    """The head of a ledger."""
    ledger = connection.execute("SELECT value FROM meta WHERE name = 'ledger'").fetchone()[0]
    last = connection.execute("SELECT seq, chain FROM line ORDER BY seq DESC LIMIT 1").fetchone()
    if last is None:
        return Head(ledger, 0, first_link(ledger).hex())
    return Head(ledger, last[0], last[1].hex())


def verify_ledger(connection: Connection, known: Head | None = None) -> Checked:
    """Replay all lines; ``known`` is a head that was kept elsewhere."""
    head, problems = Head("", 0, ""), list[str]()
    replay = None
    try:
        _check_file(connection, problems)
        head = head_of(connection)
        replay = _Replay(connection, problems)
        _follow(connection, head, known, replay)
        replay.end(connection)
    except _DAMAGED as error:
        problems.append(f"the file is damaged ({type(error).__name__})")
    spends, accounts = (replay.count, replay.accounts.count) if replay is not None else (0, 0)
    return Checked(head, spends, accounts, tuple(problems))


def _check_file(connection: Connection, problems: list[str]) -> None:
    """Of PostgreSQL's pages its own checksums tell; rules are compared in both."""
    if isinstance(connection, sqlite3.Connection):
        for (found,) in connection.execute("PRAGMA integrity_check(20)"):
            if found != "ok":
                problems.append(f"the file is damaged: {found.splitlines()[0]}")
        broken = tables.broken_rules(connection)
    else:
        broken = postgres_tables.broken_rules(connection)
    if broken:
        problems.append("the tables do not have the rules they were made with")


def _follow(connection: Connection, head: Head, known: Head | None, replay: _Replay) -> None:
    """The chain from its first line to the head."""
    chain, expected = first_link(head.ledger), 1
    passed = known is None or known.seq == 0
    for seq, kind, body, held in connection.execute(
        "SELECT seq, kind, body, chain FROM line ORDER BY seq"
    ):
        chain = next_link(chain, kind, body)
        if seq != expected or held != chain:
            replay.problems.append(f"line {seq}: the chain is broken")
            chain = held
        expected = seq + 1
        try:
            replay.add(kind, json.loads(body))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            replay.problems.append(f"line {seq}: it cannot be read")
        if known is not None and seq == known.seq:
            passed = held.hex() == known.chain
    if known is not None and known.ledger != head.ledger:
        replay.problems.append("the head is of another ledger")
    elif not passed:
        replay.problems.append("the chain does not pass through the head: an old or rewritten copy")


class _Replay:
    """What the lines say, compared with the tables spend by spend, and in the end by account."""

    def __init__(self, connection: Connection, problems: list[str]) -> None:
        self.problems = problems
        self.at = self.count = self.last = 0
        self.accounts = ReplayedAccounts(connection, problems)
        self.open: dict[int, str] = {}  # commitments to answers whose line is still to come
        self._many = False  # whether a line speaks of many accounts at once
        self._rows = connection.execute(
            "SELECT id, at, principal, key, fingerprint, event, state, answer FROM spend"
            " ORDER BY id"
        )
        self._row = self._rows.fetchone()
        self._charges = _by_spend(connection)
        self._charged = next(self._charges, None)

    def add(self, kind: str, told: dict[str, Any]) -> None:
        """One line."""
        if kind == "open":
            self.accounts.open(told["account"], told["limit"], told["period"], told["of"])
        elif kind == "opened":
            self._many = True
            self.accounts.open_many(told["first"], told["runs"], told["of"])
        elif kind == "limit":
            self.accounts.limit(told["account"], told["to"])
        elif kind == "spend":
            self._spend(told)
        elif kind == "answer":
            if self.open.pop(told["spend"], None) not in (told["answer"], _GONE):
                self._differs(told["spend"])
        elif kind == "forget":
            self.accounts.forgotten.update(told["accounts"])
        elif kind == "forgotten":
            self.accounts.keep(told["of"])
        else:
            self.problems.append(f"a line of unknown kind {kind!r}")

    def _spend(self, told: dict[str, Any]) -> None:
        number, at = told["spend"], told["at"]
        self.count += 1
        if at < self.at or number <= self.last:
            self.problems.append(f"spend {number}: before the one before")
        self.at, self.last = max(self.at, at), max(self.last, number)
        row, held, salts = self._next(number)
        charges = self._told_charges(told, held)
        for account, nano in charges:
            if not self.accounts.spend(account, nano):
                self.problems.append(f"spend {number}: above the limit of its account")
        if row is None:
            self.problems.append(f"spend {number}: it is missing")
            return
        _, held_at, principal, key, fingerprint, event, state, answer = row
        if (held, held_at) != (charges, at) or commitment(b"", principal, key) != told["by"]:
            self.problems.append(f"spend {number}: it is not what the lines say")
        if None in salts:
            if (state, fingerprint, event, answer) != ("settled", "", "", None):
                self.problems.append(f"spend {number}: forgotten, but not deleted")
            if "answer" not in told:
                self.open[number] = _GONE
            return
        sealed = seal(number, salts)
        if commitment(sealed, fingerprint, event) != told["of"]:
            self.problems.append(f"spend {number}: its request was changed")
        kept = _NONE if answer is None else commitment(sealed, answer)
        if state != ("reserved" if answer is None else "settled"):
            self._differs(number)
        elif "answer" not in told:
            self.open[number] = kept
        elif kept != told["answer"]:
            self._differs(number)

    def _told_charges(
        self, told: dict[str, Any], held: list[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """What the line says; of many, those of the table, if their digest is the line's."""
        if "charges" in told:
            return sorted((account, nano) for account, nano in told["charges"])
        self._many = True
        if (told["accounts"], told["charged"]) != (len(held), charged(held)):
            self.problems.append(f"spend {told['spend']}: its charges are not what the lines say")
        return held

    def _next(self, number: int) -> tuple[tuple[Any, ...] | None, list[tuple[int, int]], list[Any]]:
        """The row of a spend, its charges, and the salts of their accounts.

        Those that come before it are in no line.
        """
        while self._row is not None and self._row[0] < number:
            self.problems.append(f"spend {self._row[0]}: it is in no line")
            self._row = self._rows.fetchone()
        while self._charged is not None and self._charged[0] < number:
            self.problems.append(f"spend {self._charged[0]}: its charges are in no line")
            self._charged = next(self._charges, None)
        row, held, salts = None, list[tuple[int, int]](), list[Any]()
        if self._row is not None and self._row[0] == number:
            row, self._row = self._row, self._rows.fetchone()
        if self._charged is not None and self._charged[0] == number:
            _, held, salts = self._charged
            self._charged = next(self._charges, None)
        return row, held, salts

    def _differs(self, number: int) -> None:
        self.problems.append(f"spend {number}: its answer is not the one that was kept")

    def end(self, connection: Connection) -> None:
        """What no line speaks of, and the accounts."""
        if self._row is not None or self._charged is not None:
            self.problems.append("there are more spends than the lines say")
        for number, kept in self.open.items():
            if kept not in (_NONE, _GONE):
                self._differs(number)
        clock = connection.execute("SELECT value FROM meta WHERE name = 'clock'").fetchone()
        if clock is None or int(clock[0]) < self.at:
            self.problems.append("the clock was turned back")
        schema = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        if self._many and schema != (tables.SCHEMA_MANY,):
            self.problems.append("the ledger says that no line speaks of many accounts")
        self.accounts.check(connection)


_NONE, _GONE = "none", "gone"  # instead of a commitment: no answer yet, deleted


def _by_spend(connection: Connection) -> Iterator[tuple[int, list[tuple[int, int]], list[Any]]]:
    """Charges in order, those of a spend together, and the salts of their accounts."""
    rows = connection.execute(
        "SELECT spend, account, nano, salt FROM charge"
        " LEFT JOIN account ON account.id = charge.account ORDER BY spend, account"
    )
    for spend, group in groupby(rows, key=itemgetter(0)):
        held, salts = list[tuple[int, int]](), list[Any]()
        for _, account, nano, salt in group:
            held.append((account, nano))
            salts.append(salt)
        yield spend, held, salts
