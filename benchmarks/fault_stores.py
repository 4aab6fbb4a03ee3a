"""The ledgers that the fault runs hurt: SQLite, PostgreSQL, and a naive one that must be caught.

Not here  what is asked of them (fault_work.py), the faults (faults.py).

Each has three functions: one that makes it and ends it, one that opens it in a process of its own,
and one that says what it holds in the end.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from reticent.errors import BudgetExceeded
from reticent.ledger import (
    OVERALL,
    Answer,
    Connection,
    KeyReused,
    LedgerError,
    Request,
    Sealed,
    open_ledger,
    open_reading,
    verify_ledger,
)
from reticent.ledger.reports import balances

Crash: TypeAlias = Callable[[], None]


class Ledger(Protocol):
    """What a worker calls."""

    def once(self, request: Request, make: Callable[[], bytes]) -> Answer:
        """Charge, make, keep."""

    def once_with(self, request: Request, answer: bytes | Sealed) -> Answer:
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
    """One kind of ledger in a directory (or at an address kept in it).

    ``made`` gives what crashes the store itself, where that is not the crash of a process.
    """

    made: Callable[[Path], AbstractContextManager[Crash | None]]
    open: Callable[[Path], Ledger]
    held: Callable[[Path], Held]


@contextmanager
def _sqlite_made(where: Path) -> Iterator[None]:
    (where / "address").write_text(str(where / "ledger.db"))
    _open(where).close()
    yield


@contextmanager
def _postgres_made(where: Path) -> Iterator[Crash]:
    """A server that is stopped at once, or loses one of its processes, in turn."""
    from benchmarks.postgres_server import running

    with running() as server:
        (where / "address").write_text(server.address("postgres"))
        _open(where).close()
        ways = cycle((server.crash, server.kill_backend))
        yield lambda: next(ways)()


def _open(where: Path) -> Ledger:
    """It may be recovering just then."""
    end = time.monotonic() + 30
    while True:
        try:
            return open_ledger((where / "address").read_text())
        except LedgerError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _held(where: Path) -> Held:
    _open(where).close()
    with open_reading((where / "address").read_text()) as connection:
        overall = (one for one in balances(connection) if one.account.what == OVERALL)
        spent = {one.account.subject: (one.spent, one.limit) for one in overall}
        rows = connection.execute("SELECT key, answer FROM spend").fetchall()
        problems = (*verify_ledger(connection).problems, *uneven(connection))
    answers = {key: answer for key, answer in rows if answer is not None}
    return Held(spent, answers, len(rows) - len(answers), problems)


def uneven(connection: Connection) -> list[str]:
    """People who were charged in one of their accounts and not in the other."""
    rows = connection.execute(
        "SELECT subject FROM account GROUP BY subject HAVING min(spent) <> max(spent)"
    ).fetchall()
    return [f"{subject}: not charged alike" for (subject,) in rows]


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
        charges = [one for one in request.charges if one.what == OVERALL]
        for one in charges:
            spent = held["spent"].get(one.subject, 0)
            if spent + one.nano > one.limit:
                raise BudgetExceeded("budget", one.nano, one.limit - spent)
        made = make()
        for one in charges:
            held["spent"][one.subject] = held["spent"].get(one.subject, 0) + one.nano
        held["answers"][request.key] = (request.fingerprint, made.hex())
        own = self.path.with_suffix(f".{threading.get_native_id()}")
        own.write_text(json.dumps(held))
        os.replace(own, self.path)
        return Answer(made, replayed=False)

    def once_with(self, request: Request, answer: bytes | Sealed) -> Answer:
        """The same; it refuses where it should cover."""
        drawn = answer.value if isinstance(answer, Sealed) else answer
        return self.once(request, lambda: drawn)

    def close(self) -> None:
        """Nothing to do."""


def read_naive(path: Path) -> dict[str, dict[str, Any]]:
    """Everything, as it is just now."""
    try:
        held = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise LedgerError("cannot be read") from error
    return dict(held)


@contextmanager
def _naive_made(where: Path) -> Iterator[None]:
    (where / "ledger.json").write_text('{"spent": {}, "answers": {}}')
    yield


def _naive_held(where: Path) -> Held:
    from benchmarks.fault_work import LIMIT

    held = json.loads((where / "ledger.json").read_text())
    spent = {subject: (amount, LIMIT) for subject, amount in held["spent"].items()}
    answers = {key: bytes.fromhex(kept[1]) for key, kept in held["answers"].items()}
    return Held(spent, answers)


STORES = {
    "sqlite": Store(_sqlite_made, _open, _held),
    "postgres": Store(_postgres_made, _open, _held),
    "naive": Store(_naive_made, NaiveLedger, _naive_held),
}
