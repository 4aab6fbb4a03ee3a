"""Transactions of a ledger in SQLite: one at a time, behind a lock file.

Not here  whose work it is (writer.py), what is written (spending.py).

Between processes the lock file keeps order: SQLite's own waiting starves some writers for seconds.
Each piece of work has a savepoint, so one that is refused takes nothing of the others with it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reticent.ledger.accounts import LedgerError
from reticent.ledger.writer import Outcome, Work


class SqliteCommits:
    """One connection, and the lock file that it waits for."""

    def __init__(self, connection: sqlite3.Connection, gate: Path) -> None:
        self._connection = connection
        self._gate = _open_gate(gate)

    def commit(self, batch: Sequence[Work]) -> list[Outcome]:
        """All of it in one transaction."""
        try:
            fcntl.flock(self._gate, fcntl.LOCK_EX)
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                outcomes = [self._attempt(work) for work in batch]
                self._connection.execute("COMMIT")
            finally:
                fcntl.flock(self._gate, fcntl.LOCK_UN)
        except BaseException:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            raise
        return outcomes

    def _attempt(self, work: Work) -> Outcome:
        self._connection.execute("SAVEPOINT one")
        try:
            value = work(self._connection)
        except Exception as error:
            self._connection.execute("ROLLBACK TO one")
            self._connection.execute("RELEASE one")
            return None, error
        self._connection.execute("RELEASE one")
        return value, None

    def alone(self, work: Work) -> Any:
        """Outside of transactions."""
        return work(self._connection)

    def named(self, error: BaseException) -> BaseException:
        """A full disk, a file that may not be written."""
        if isinstance(error, sqlite3.Error):
            return LedgerError(f"the ledger could not be written: {error}")
        return error

    def close(self) -> None:
        """Both."""
        self.leave()
        self._connection.close()

    def leave(self) -> None:
        """A child's copy of the lock would be held after its owner's death."""
        if self._gate >= 0:
            os.close(self._gate)
            self._gate = -1


@contextmanager
def passing(gate: Path) -> Iterator[None]:
    """Hold the lock file, as every writer does while it writes."""
    handle = _open_gate(gate)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _open_gate(gate: Path) -> int:
    return os.open(gate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
