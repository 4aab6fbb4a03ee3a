"""When an answer about a person leaves: at a tick of a public clock, whatever making it took.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show)
Not here  what is answered (api.py), how long it takes to make (gateway/).

An answer leaves a whole number of slots after its request came: one, unless making it took longer.
What was in memory already, because somebody opened their page, edited their file or was asked
about before, changes nothing. A thread of its own keeps the time: a loop that waits for its next
timer rounds to milliseconds from the moment its work was done, and the rest would tell that moment.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Final, TypeAlias

from reticent.errors import require

TICK: Final = 0.005
"""Seconds between two moments at which answers leave."""
_IDLE = 1.0  # seconds after which the thread ends if nothing waits

_Held: TypeAlias = "tuple[int, int, asyncio.AbstractEventLoop, asyncio.Future[None]]"


class Slots:
    """Holds answers until their slot ends; those that leave together leave as their requests came.

    One object serves all loops and threads of a process.
    """

    def __init__(self, seconds: float) -> None:
        require(seconds > 0, "slot_seconds", seconds, "a positive number of seconds")
        self.ticks = math.ceil(seconds / TICK)
        self._numbers = count()
        self._held: list[_Held] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Around the work on an answer, errors included: ends when the answer may leave."""
        came, number = next_tick(), next(self._numbers)
        try:
            yield
        finally:
            await self._until(leaving(came, next_tick(), self.ticks), number)

    async def _until(self, tick: int, number: int) -> None:
        loop = asyncio.get_running_loop()
        free: asyncio.Future[None] = loop.create_future()
        with self._changed:
            heapq.heappush(self._held, (tick, number, loop, free))
            if self._thread is None:
                self._thread = threading.Thread(target=self._tick, name="slots", daemon=True)
                self._thread.start()
            elif self._held[0][1] == number:
                self._changed.notify()
        await free

    def _tick(self) -> None:
        with self._changed:
            while self._held or self._changed.wait_for(lambda: self._held, _IDLE):
                wait = self._held[0][0] * TICK - time.monotonic()
                if wait > 0:
                    self._changed.wait(wait)
                    continue
                _, _, loop, free = heapq.heappop(self._held)
                with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                    loop.call_soon_threadsafe(_release, free)
            self._thread = None


def next_tick() -> int:
    """The number of the first tick after this moment."""
    return math.floor(time.monotonic() / TICK) + 1


def leaving(came: int, done: int, ticks: int) -> int:
    """The tick of an answer: whole slots after its request came, and not before it is made.

    >>> leaving(100, 101, 10), leaving(100, 110, 10), leaving(100, 111, 10)
    (110, 110, 120)
    """
    return came + ticks * max(1, -(-(done - came) // ticks))


def _release(free: asyncio.Future[None]) -> None:
    if not free.done():  # its task may have been cancelled
        free.set_result(None)
