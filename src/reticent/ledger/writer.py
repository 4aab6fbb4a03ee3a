"""One writer for each process, which commits many requests at once: a sync costs the same for all.

Not here  what is written (spending.py), how a store commits (sqlite_commits.py,
          postgres_commits.py).

A caller hears of its work only after the commit is on the disk.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Protocol, TypeAlias, TypeVar

from reticent.ledger.accounts import LedgerError

T = TypeVar("T")
Work: TypeAlias = Callable[[Any], Any]
Outcome: TypeAlias = tuple[Any, BaseException | None]
_MOST = 256  # pieces of work in one commit


class Commits(Protocol):
    """The transactions of a store, for one thread. Other processes of the store wait meanwhile."""

    def commit(self, batch: Sequence[Work]) -> list[Outcome]:
        """All of it in one transaction, on the disk on return; or an error, and nothing of it.

        A piece that fails takes nothing of the others with it.
        """

    def alone(self, work: Work) -> Any:
        """What ``work`` returns, outside of transactions."""

    def named(self, error: BaseException) -> BaseException:
        """Errors of the store as the ledger's."""

    def close(self) -> None:
        """End it."""

    def leave(self) -> None:
        """In a forked child: let go of what would keep others waiting after the owner's death."""


class Writer:
    """Runs work in the order it comes, in transactions of up to 256 pieces."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._waiting: SimpleQueue[tuple[Work, Future[Any], bool] | None] = SimpleQueue()
        self._pid = os.getpid()
        self._closing = False
        self._door = threading.Lock()  # nothing is put after the end of the queue
        self._thread = threading.Thread(target=self._serve, name="ledger", daemon=True)
        self._thread.start()
        _WRITERS.add(self)

    def run(self, work: Callable[[Any], T]) -> T:
        """The result of ``work``, once it is committed."""
        return self.submit(work).result()

    def run_alone(self, work: Callable[[Any], T]) -> T:
        """The result of ``work`` that needs to be outside of transactions."""
        return self.submit(work, alone=True).result()

    def submit(self, work: Callable[[Any], T], *, alone: bool = False) -> Future[T]:
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
            self._commits.close()
        return first

    def leave(self) -> None:
        """In a forked child."""
        self._commits.leave()

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
            outcomes = self._commits.commit(batch)
        except BaseException as error:  # told to every caller
            return [(None, self._commits.named(error))] * len(batch)
        return [(value, failed and self._commits.named(failed)) for value, failed in outcomes]

    def _alone(self, work: Work) -> Outcome:
        try:
            return self._commits.alone(work), None
        except Exception as error:
            return None, self._commits.named(error)


def _tell(waiting: list[Future[Any]], outcomes: list[Outcome]) -> None:
    for done, (value, failure) in zip(waiting, outcomes, strict=True):
        if failure is None:
            done.set_result(value)
        else:
            done.set_exception(failure)


_WRITERS: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in list(_WRITERS):
        writer.leave()


os.register_at_fork(after_in_child=_after_fork)
