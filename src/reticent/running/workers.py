"""Processes that work, one task each at a time; one that dies is noticed at once.

Not here  what the tasks are (drawing.py, gathering.py).

Workers are started anew and not forked: a copy of a process with threads may wait for ever. The
standard pool is not used, as it can miss the death of a process that has just been started and
then waits for its answer without end.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from reticent.rational import whole
from reticent.running.staging import StagingError

Result = TypeVar("Result")


def processes_for(asked: int | None) -> int:
    """As many as there are cores, unless somebody says how many."""
    return len(os.sched_getaffinity(0)) if asked is None else whole(asked, "processes", least=1)


class Shared(Generic[Result]):
    """A value that many tasks are given: packed once, and unpacked once by each process.

    Where this process works by itself nothing is packed.
    """

    def __init__(self, value: Result) -> None:
        self.value = value
        self._packed: bytes | None = None

    def __reduce__(self) -> tuple[object, ...]:
        if self._packed is None:
            try:
                self._packed = pickle.dumps(self.value)
            except (pickle.PicklingError, AttributeError, TypeError):
                raise StagingError(
                    "other processes cannot be sent this release: declare its query in a module "
                    "that can be imported, or let one process work (processes=1)"
                ) from None
        return _unpacked, (self._packed,)


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Shared[Any]:
    """What is packed was made by the process that asks."""
    return Shared(pickle.loads(packed))  # noqa: S301


class Workers:
    """So many processes, started when there is more than one task; else this process works."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._all: dict[Connection, BaseProcess] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        """End all of them, whatever they are at."""
        for connection, process in self._all.items():
            connection.close()
            process.kill()
            process.join()
        self._all = {}

    def each(
        self, work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """``work(*task)`` for each task, as they are done; no more are begun than are worked at."""
        waiting = iter(tasks)
        first = list(islice(waiting, 2))
        waiting = chain(first, waiting)
        if self.count == 1 or len(first) < 2:  # to start a process takes longer than a small task
            for task in waiting:
                yield work(*task)
            return
        busy = {
            connection
            for connection, task in zip(self._started(), waiting, strict=False)
            if self._send(connection, (work, task))
        }
        while busy:
            for connection in self._ready(busy):
                done, result = self._received(connection)
                busy.discard(connection)
                if not done:
                    raise result
                for task in waiting:
                    self._send(connection, (work, task))
                    busy.add(connection)
                    break
                yield result

    def _started(self) -> Iterator[Connection]:
        yield from list(self._all)
        spawned = multiprocessing.get_context("spawn")
        while len(self._all) < self.count:
            own, theirs = spawned.Pipe()
            process = spawned.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._all[own] = process
            yield own

    def _ready(self, busy: set[Connection]) -> list[Connection]:
        """Those that have an answer; a process that ended is an error, with or without a task."""
        sentinels = {self._all[connection].sentinel: connection for connection in busy}
        found = wait([*busy, *sentinels])
        answered = [one for one in found if isinstance(one, Connection)]
        if not answered and found:
            raise _died()
        return answered

    def _send(self, connection: Connection, task: tuple[Any, ...]) -> bool:
        try:
            connection.send(task)
        except (BrokenPipeError, ConnectionResetError):
            raise _died() from None
        return True

    def _received(self, connection: Connection) -> tuple[bool, Any]:
        try:
            answer: tuple[bool, Any] = connection.recv()
        except (EOFError, ConnectionResetError):
            raise _died() from None
        return answer


def _died() -> StagingError:
    return StagingError(
        "a process ended before its part was drawn; nobody was charged for what is missing: run "
        "again with the same key. A script must call this under if __name__ == '__main__'"
    )


def _serve(connection: Connection) -> None:
    """Work until nobody is there to ask for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who was asked to stop ends the workers
    while True:
        try:
            work, task = connection.recv()
        except EOFError:
            return
        try:
            answer = True, work(*task)
        except Exception as error:  # it is raised again where the task came from
            answer = False, error
        try:
            connection.send(answer)
        except BrokenPipeError:  # they did not wait
            return
