"""The ledgers that the fault runs hurt: SQLite, and a naive one that must be caught.

Not here  what is asked of them (fault_work.py), the faults (faults.py).

Another store (PostgreSQL) needs three functions: one that makes it, one that opens it in a process
of its own, and one that says what it holds in the end.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reticent.errors import BudgetExceeded
from reticent.ledger import Answer, KeyReused, LedgerError, Request, SqliteLedger, verify_ledger
from reticent.ledger.reports import balances


class Ledger(Protocol):
    """What a worker calls."""

    def once(self, request: Request, make: Callable[[], bytes]) -> Answer:
        """Charge, make, keep."""

    def once_with(self, request: Request, answer: bytes) -> Answer:
        """Charge and keep in one commit."""

    def close(self) -> None:
        """Leave it."""


@dataclass(frozen=True)
class Held:
    """What a store says in the end."""

    spent: dict[str, tuple[int, int]] = field(default_factory=dict)  # by subject: spent, limit
    answers: dict[str, bytes] = field(default_factory=dict)  # by key
    unanswered: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """One kind of ledger in a directory (or at an address kept in it)."""

    prepare: Callable[[Path], None]
    open: Callable[[Path], Ledger]
    held: Callable[[Path], Held]


def _sqlite_prepare(where: Path) -> None:
    SqliteLedger.open(where / "ledger.db").close()


def _sqlite_open(where: Path) -> Ledger:
    return SqliteLedger.open(where / "ledger.db")


def _sqlite_held(where: Path) -> Held:
    with SqliteLedger.open(where / "ledger.db") as ledger, ledger.reading() as connection:
        spent = {one.account.subject: (one.spent, one.limit) for one in balances(connection)}
        rows = connection.execute("SELECT key, answer FROM spend").fetchall()
        problems = verify_ledger(connection).problems
    answers = {key: answer for key, answer in rows if answer is not None}
    return Held(spent, answers, len(rows) - len(answers), problems)


class NaiveLedger:
    """The control: reads, checks, then writes, as a first draft would. Nothing keeps others out."""

    def __init__(self, where: Path) -> None:
        self.path = where / "ledger.json"

    def once(self, request: Request, make: Callable[[], bytes]) -> Answer:
        """Look, decide, write."""
        held = read_naive(self.path)
        if (kept := held["answers"].get(request.key)) is not None:
            if kept[0] != request.fingerprint:
                raise KeyReused
            return Answer(bytes.fromhex(kept[1]), replayed=True)
        for one in request.charges:
            spent = held["spent"].get(one.subject, 0)
            if spent + one.nano > one.limit:
                raise BudgetExceeded("budget", one.nano, one.limit - spent)
        made = make()
        for one in request.charges:
            held["spent"][one.subject] = held["spent"].get(one.subject, 0) + one.nano
        held["answers"][request.key] = (request.fingerprint, made.hex())
        own = self.path.with_suffix(f".{threading.get_native_id()}")
        own.write_text(json.dumps(held))
        os.replace(own, self.path)
        return Answer(made, replayed=False)

    def once_with(self, request: Request, answer: bytes) -> Answer:
        """The same."""
        return self.once(request, lambda: answer)

    def close(self) -> None:
        """Nothing to do."""


def read_naive(path: Path) -> dict[str, dict[str, Any]]:
    """Everything, as it is just now."""
    try:
        held = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise LedgerError("cannot be read") from error
    return dict(held)


def _naive_prepare(where: Path) -> None:
    (where / "ledger.json").write_text('{"spent": {}, "answers": {}}')


def _naive_held(where: Path) -> Held:
    from benchmarks.fault_work import LIMIT

    held = json.loads((where / "ledger.json").read_text())
    spent = {subject: (amount, LIMIT) for subject, amount in held["spent"].items()}
    answers = {key: bytes.fromhex(kept[1]) for key, kept in held["answers"].items()}
    return Held(spent, answers)


STORES = {
    "sqlite": Store(_sqlite_prepare, _sqlite_open, _sqlite_held),
    "naive": Store(_naive_prepare, NaiveLedger, _naive_held),
}
