"""Clients that ask a service for releases while it is killed, and what they were told.

Not here  the killing (fault_http.py), what is made of it (fault_http_judge.py).

What a key asks for follows from its number. Both providers use the same keys, a quarter of the
requests use a key that somebody used just before, or is using now; one in a hundred asks for
something else under it, and some hang up after they have asked. Who hears nothing, or is told to
wait, asks again with the same key until there is an answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.service_client import Line, Reply, connected, request_bytes
from benchmarks.service_world import PROVIDERS, World

AGAIN = (429, 503)  # the same key may be tried again
REUSED = 409
RECENT = 300  # keys back that others ask for again
_ELSE = 1_000_003  # added to a number: what is asked for under the wrong key
_PATIENCE = 10.0  # seconds for one answer


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request, but for its token."""

    provider: str
    key: str
    kind: str
    subject: str
    other: str | None

    @property
    def place(self) -> tuple[str, str]:
        """Whose key it is, and which."""
        return self.provider, self.key

    @property
    def asked(self) -> tuple[str, str, str | None]:
        """All that decides the answer."""
        return self.kind, self.subject, self.other


def wanted(number: int, people: int, *, under: int | None = None) -> Wanted:
    """What a number asks for, under its own key or another one."""
    choice = random.Random(number)
    place = number if under is None else under
    first, second = choice.sample(range(people), 2)
    alike = choice.random() < 0.2
    return Wanted(
        PROVIDERS[place % 2],
        f"key-{place // 2:08d}",
        "similarity" if alike else "histogram",
        f"person-{first}",
        f"person-{second}" if alike else None,
    )


@dataclass
class Told:
    """What all clients together were told."""

    requests: int = 0
    retries: int = 0
    answered: int = 0
    reused: int = 0
    confused: int = 0  # an answer to something else than was asked
    given_up: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    answers: dict[tuple[str, str], set[bytes]] = field(default_factory=lambda: defaultdict(set))

    def add(self, want: Wanted, reply: Reply) -> None:
        """The last word on one request."""
        if reply.status == REUSED:
            self.reused += 1
        elif reply.status == 200:
            self.answered += 1
            self.answers[want.place].add(digest(reply.body))
            told = json.loads(reply.body)
            self.confused += (told["kind"], told["subject"], told.get("other")) != want.asked

    @property
    def unexpected(self) -> int:
        """Answers that no client should see."""
        return sum(n for s, n in self.statuses.items() if s not in (200, REUSED, *AGAIN))


def digest(body: bytes) -> bytes:
    """Instead of a whole answer."""
    return hashlib.sha256(body).digest()


@dataclass
class Crowd:
    """Many clients on one loop."""

    port: int
    world: World
    told: Told = field(default_factory=Told)
    count: int = 0
    ending: bool = False

    async def run(self, clients: int, until: Callable[[], bool], *, grace: float = 60) -> None:
        """Ask until told to stop, then until everybody has an answer or ``grace`` is over."""
        everybody = [asyncio.create_task(self._client(until)) for _ in range(clients)]
        while not until():
            await asyncio.sleep(0.05)
        _, late = await asyncio.wait(everybody, timeout=grace)
        self.ending = True
        if late:
            await asyncio.wait(late, timeout=2 * _PATIENCE)
        for one in everybody:
            one.result()

    async def _client(self, until: Callable[[], bool]) -> None:
        choice = random.Random(os.urandom(16))
        line: Line | None = None
        while not until():
            line = await self._persist(self._choose(choice), choice, line)
        if line is not None:
            line.close()

    def _choose(self, choice: random.Random) -> Wanted:
        people = len(self.world.people)
        if choice.random() < 0.25:
            number = max(self.count - choice.randint(0, RECENT), 0)
        else:
            self.count += 1
            number = self.count
        if choice.random() < 0.01:
            return wanted(number + _ELSE, people, under=number)
        return wanted(number, people)

    async def _persist(self, want: Wanted, choice: random.Random, line: Line | None) -> Line | None:
        """Ask until there is a last word; the connection, if it still holds."""
        token = self.world.tokens[want.provider]
        request = request_bytes(want.kind, token, want.key, want.subject, want.other)
        self.told.requests += 1
        while not self.ending:
            try:
                if line is None or not line.open:
                    line = await connected(self.port)
                if choice.random() < 0.02:
                    line.drop(request)
                    raise ConnectionResetError
                reply = await line.ask(request, _PATIENCE)
            except OSError:
                line = None
            else:
                self.told.statuses[reply.status] += 1
                if reply.status not in AGAIN:
                    self.told.add(want, reply)
                    return line
            self.told.retries += 1
            await asyncio.sleep(choice.uniform(0.01, 0.1))
        self.told.given_up += 1
        return line
