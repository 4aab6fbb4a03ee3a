"""Work in parts on several threads, each with memory of its own, named in order when done.

Not here  what the parts are. Compiled loops let go of the interpreter, so threads are enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from reticent.rational import whole

Part = TypeVar("Part")
Space = TypeVar("Space")


def in_turn(
    fill: Callable[[Part, Space], object],
    parts: Sequence[Part],
    workspace: Callable[[], Space],
    *,
    threads: int | None = None,
) -> Iterator[Part]:
    """Fill all parts, on as many threads as there are processors unless ``threads`` says so.

    Each is given back when it and all before it are done. An error ends the others.
    """
    count = whole(os.cpu_count() or 1 if threads is None else threads, "threads", least=1)
    count = min(count, len(parts))
    spare: SimpleQueue[Space] = SimpleQueue()
    for _ in range(count):
        spare.put(workspace())

    def work(part: Part) -> Part:
        space = spare.get()
        try:
            fill(part, space)
        finally:
            spare.put(space)
        return part

    if count < 2:
        yield from map(work, parts)
        return
    pool = ThreadPoolExecutor(count)
    try:
        yield from pool.map(work, parts)
    finally:
        pool.shutdown(cancel_futures=True)
