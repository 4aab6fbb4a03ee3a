"""One writer for each process, which commits many requests at once: a sync costs the same for all.

Not here  what is written (spending.py).

Between processes a lock file keeps order: SQLite's own waiting starves some writers for seconds.
Each piece of work has a savepoint, so one that is refused takes nothing of the others with it. A
caller hears of its work only after the commit is on the disk.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from reticent.ledger.accounts import LedgerError

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], Any]
Outcome: TypeAlias = tuple[Any, BaseException | None]
_MOST = 256  # pieces of work in one commit


class Writer:
    """Runs work in the order it comes, in transactions of up to 256 pieces."""

    def __init__(self, connection: sqlite3.Connection, gate: Path) -> None:
        self._connection = connection
        self._gate = _open_gate(gate)
        self._waiting: SimpleQueue[tuple[Work, Future[Any], bool] | None] = SimpleQueue()
        self._pid = os.getpid()
        self._closing = False
        self._door = threading.Lock()  # nothing is put after the end of the queue
        self._thread = threading.Thread(target=self._serve, name="ledger", daemon=True)
        self._thread.start()
        _WRITERS.add(self)

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work``, once it is committed."""
        return self.submit(work).result()

    def run_alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work`` that needs to be outside of transactions."""
        return self.submit(work, alone=True).result()

    def submit(self, work: Callable[[sqlite3.Connection], T], *, alone: bool = False) -> Future[T]:
        """The same, to wait for later; cancelled before it began, it is not done."""
        if os.getpid() != self._pid:
            raise LedgerError("this ledger was opened before a fork; open it again in each process")
        done: Future[T] = Future()
        with self._door:
            if self._closing:
                raise LedgerError("this ledger is closed")
            self._waiting.put((work, done, alone))
        return done

    def close(self) -> bool:
        """Finish what waits, then stop; whether it was open, and this process's to close."""
        if os.getpid() != self._pid:
            return False
        with self._door:
            first, self._closing = not self._closing, True
            if first:
                self._waiting.put(None)
        self._thread.join()
        if first:
            os.close(self._gate)
            self._gate = -1
        return first

    def leave_gate(self) -> None:
        """In a child: a copy of the gate would keep it shut after its owner's death."""
        if self._gate >= 0:
            os.close(self._gate)
            self._gate = -1

    def _serve(self) -> None:
        last = False
        while not last:
            batch: list[tuple[Work, Future[Any], bool]] = []
            while not batch or (len(batch) < _MOST and not self._waiting.empty()):
                more = self._waiting.get()
                if more is None:
                    last = True
                    break
                if more[1].set_running_or_notify_cancel():
                    batch.append(more)
                elif self._waiting.empty():
                    break
            together = [(work, done) for work, done, alone in batch if not alone]
            if together:
                _tell([done for _, done in together], self._commit([work for work, _ in together]))
            for work, done, alone in batch:
                if alone:
                    _tell([done], [self._alone(work)])

    def _commit(self, batch: list[Work]) -> list[Outcome]:
        try:
            fcntl.flock(self._gate, fcntl.LOCK_EX)
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                outcomes = [self._attempt(work) for work in batch]
                self._connection.execute("COMMIT")
            finally:
                fcntl.flock(self._gate, fcntl.LOCK_UN)
        except BaseException as error:  # told to every caller: nothing of the batch is on the disk
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            return [(None, _named(error))] * len(batch)
        return outcomes

    def _attempt(self, work: Work) -> Outcome:
        self._connection.execute("SAVEPOINT one")
        try:
            value = work(self._connection)
        except Exception as error:
            self._connection.execute("ROLLBACK TO one")
            self._connection.execute("RELEASE one")
            return None, _named(error)
        self._connection.execute("RELEASE one")
        return value, None

    def _alone(self, work: Work) -> Outcome:
        try:
            return work(self._connection), None
        except Exception as error:
            return None, _named(error)


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


def _tell(waiting: list[Future[Any]], outcomes: list[Outcome]) -> None:
    for done, (value, failure) in zip(waiting, outcomes, strict=True):
        if failure is None:
            done.set_result(value)
        else:
            done.set_exception(failure)


def _named(error: BaseException) -> BaseException:
    """Errors of SQLite as the ledger's: a full disk, a file that may not be written."""
    if isinstance(error, sqlite3.Error):
        return LedgerError(f"the ledger could not be written: {error}")
    return error


_WRITERS: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in list(_WRITERS):
        writer.leave_gate()


os.register_at_fork(after_in_child=_after_fork)
