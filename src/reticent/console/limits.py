"""How much one caller may ask for: buckets that refill with time, before anything is charged.

Not here  sizes of requests (guards.py).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

_MOST = 10_000  # callers that are remembered


@dataclass(frozen=True, slots=True)
class Limits:
    """What the service takes: requests per second and at once, bytes, seconds, work that waits."""

    provider_rate: float = 200.0
    provider_burst: int = 400
    address_rate: float = 200.0
    address_burst: int = 400
    door_rate: float = 0.5  # tries of a key
    door_burst: int = 20
    body_bytes: int = 32_768
    page_bytes: int = 262_144  # a preferences file may be long
    body_seconds: float = 10.0
    waiting: int = 1024
    slot_seconds: float = 0.05  # of every answer about a person; see slots.py


@dataclass(slots=True, eq=False)
class Buckets:
    """A bucket of tokens for each caller."""

    rate: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    _held: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, caller: str) -> float:
        """Take one token; 0 if there was one, else the seconds until there is."""
        now = self.clock()
        held, then = self._held.pop(caller, (float(self.burst), now))
        held = min(float(self.burst), held + (now - then) * self.rate)
        short = held < 1
        self._held[caller] = (held if short else held - 1, now)
        if len(self._held) > _MOST:
            self._held.popitem(last=False)
        return (1 - held) / self.rate if short else 0.0
