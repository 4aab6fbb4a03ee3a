"""Answers about people leave at ticks, whatever is in memory; the old padding is caught."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from benchmarks.service_variants import PaddedGateway, PaddedWhereWorked, with_slots
from reticent.console.app import make_app
from reticent.console.limits import Limits
from reticent.console.slots import TICK, Slots, leaving, next_tick
from reticent.errors import ParameterError
from reticent.gateway import Gateway, credentials, directory
from reticent.ledger import Answer, LedgerError
from tests.unit.console.conftest import PLENTY, Visitor
from tests.unit.gateway.seeded import ASKS, CLUB, asking, fill, opened, say, somebody, token, wishes

SLOT = 0.1  # long enough that no answer of these tests takes two
PEOPLE = [f"person {number}" for number in range(9)]
VISITORS = frozenset(PEOPLE[::3])


class Recorded(Slots):
    """Slots that note how many ticks answers were held for, from their request on."""

    def __init__(self) -> None:
        super().__init__(0.05)
        self.taken: list[int] = []

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        came = next_tick()
        try:
            async with super().slot():
                yield
        finally:
            self.taken.append(next_tick() - came)

    @property
    def held_once(self) -> bool:
        """Whether one answer was held, for a slot; a busy machine may take longer to wake up."""
        return len(self.taken) == 1 and self.taken[0] >= self.ticks


class Timed:
    """A server that has just started, and what is asked of it."""

    def __init__(self, path: Path, kind: type[Gateway]) -> None:
        self.gateway = kind.open(path)
        limits = Limits(**{**_fields(PLENTY), "slot_seconds": SLOT})
        self.app = make_app(self.gateway, limits=limits)
        if isinstance(self.gateway, PaddedGateway):
            with_slots(self.app, PaddedWhereWorked(self.gateway, SLOT))
        self.token = token(self.gateway)
        self._number = 0

    def close(self) -> None:
        self.gateway.close()

    async def seconds(self, subject: str, **others: Any) -> float:
        self._number += 1
        key = f"key-{id(self)}-{self._number:05}"
        begin = time.monotonic()
        told = await say(self.app, **asking(self.token, key, subject, **others))
        assert told.status == 200
        return time.monotonic() - begin

    async def visit(self, person: str) -> None:
        key = credentials.secret()
        add = partial(credentials.add_door, key=key, role="person", person=person)
        self.gateway.write(add)
        made = self.gateway.enter(key)
        assert made is not None
        session = self.gateway.session(made)
        assert session is not None
        cookie = Visitor(made, session).cookie
        told = await say(self.app, "GET", "/me", headers=[cookie])
        assert told.status == 200

    def edit(self, person: str) -> None:
        version = self.gateway.person(person).version
        self.gateway.set_preferences(person, wishes(epsilon=3), seen=version)

    def publish(self) -> None:
        asks = {**ASKS, CLUB: {"histogram": {"epsilon": "0.3", "attributes": {"default": "0.2"}}}}
        fill(self.gateway, {}, asks=asks)


def _fields(limits: Limits) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in Limits.__slots__}


@contextmanager
def started(path: Path, kind: type[Gateway] = Gateway) -> Iterator[Timed]:
    with ExitStack() as stack:
        made = Timed(path, kind)
        stack.callback(made.close)
        yield made


async def first_answers(path: Path, situation: str, kind: type[Gateway]) -> dict[str, float]:
    """Seconds of the first answer about each person, after some of them did something."""
    with started(path, kind) as server, started(path, kind) as other:
        await server.seconds("accomplice")
        if situation == "edited elsewhere":
            for name in PEOPLE:
                await server.seconds(name)
        if situation == "terms":
            server.publish()
            await server.seconds("accomplice")
        for name in VISITORS:
            if situation == "edited":
                server.edit(name)
            elif situation == "edited elsewhere":
                other.edit(name)
            else:
                await server.visit(name)
        return {name: await server.seconds(name) for name in PEOPLE}


def tells(times: dict[str, float]) -> bool:
    """Whether the medians of those who acted and of all others are half a slot apart, either way.

    Medians, as a busy machine stops single answers for longer than a slot.
    """
    acted = median(times[name] for name in VISITORS)
    others = median(seconds for name, seconds in times.items() if name not in VISITORS)
    return abs(acted - others) > SLOT / 2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "gateway.db"
    with opened(made) as gateway:
        fill(gateway, {name: somebody() for name in [*PEOPLE, "accomplice"]})
    return made


SITUATIONS = ["restart", "terms", "edited", "edited elsewhere"]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_first_answers_take_their_slot_whoever_acted(path: Path, situation: str) -> None:
    times = asyncio.run(first_answers(path, situation, Gateway))
    assert all(seconds >= SLOT for seconds in times.values())
    assert not tells(times)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_padding_only_where_something_was_worked_out_is_caught(path: Path, situation: str) -> None:
    assert tells(asyncio.run(first_answers(path, situation, PaddedGateway)))


def test_a_slot_is_whole_slots_after_the_request_came() -> None:
    assert leaving(7, 7, 10) == leaving(7, 8, 10) == leaving(7, 17, 10) == 17
    assert leaving(7, 18, 10) == leaving(7, 27, 10) == 27
    with pytest.raises(ParameterError):
        Slots(0)


ODD = {
    "an answer": ({}, 200),
    "a comparison": ({"kind": "similarity", "other": "bob"}, 200),
    "a profile": ({"kind": "profile"}, 200),
    "nobody": ({"subject": "nobody"}, 404),
    "another nobody": ({"kind": "similarity", "other": "nobody"}, 404),
    "repeated": ({"key": "key-before"}, 200),
    "another request": ({"key": "key-before", "subject": "bob"}, 409),
    "forgotten": ({"key": "key-carl", "subject": "carl"}, 404),
}


@pytest.mark.parametrize("name", ODD)
def test_every_answer_that_concerns_a_person_is_held(console: Any, name: str) -> None:
    _before(console)
    slots = console.app._app.state.slots = Recorded()
    told, status = ODD[name]
    asked = {"key": "key-0000", "subject": "ann", **told}
    assert console.ask(**asked).status == status
    assert slots.held_once


@pytest.mark.parametrize(("key", "status"), [("key-before", 200), ("key-carl", 404), ("no", 404)])
def test_answers_that_are_read_again_are_held(console: Any, key: str, status: int) -> None:
    _before(console)
    slots = console.app._app.state.slots = Recorded()
    assert console.get(f"/v1/releases/{key}").status == status
    assert slots.held_once


def _before(console: Any) -> None:
    console.gateway.write(lambda c: directory.add_person(c, "carl", items=["Heat"]))
    console.ask("key-before")
    console.ask("key-carl", "carl")
    console.gateway.forget("carl")


def test_a_ledger_that_fails_is_held_too(console: Any, monkeypatch: Any) -> None:
    slots = console.app._app.state.slots = Recorded()

    def fails(*_: Any) -> Future[Answer]:
        raise LedgerError("no")

    monkeypatch.setattr(console.gateway, "submit", fails)
    assert console.ask("key-00001").status == 503
    assert slots.held_once


def test_answers_leave_in_the_order_their_requests_came() -> None:
    slots, left = Slots(0.05), list[int]()

    async def one(number: int, work: float) -> None:
        async with slots.slot():
            await asyncio.sleep(work)
        left.append(number)

    async def together() -> None:
        while time.monotonic() % TICK > TICK / 5:  # all of them within one tick
            await asyncio.sleep(0)
        await asyncio.gather(*(one(number, 0.03 - number / 200) for number in range(4)))

    asyncio.run(together())
    assert left == [0, 1, 2, 3]


def test_the_thread_ends_and_starts_again(monkeypatch: Any) -> None:
    monkeypatch.setattr("reticent.console.slots._IDLE", 0.01)
    slots = Slots(TICK)

    async def once() -> None:
        async with slots.slot():
            pass

    for _ in range(2):
        asyncio.run(once())
        end = time.monotonic() + 5
        while slots._thread is not None:
            assert time.monotonic() < end
            time.sleep(0.005)


def test_who_hangs_up_while_an_answer_is_held_stops_nobody() -> None:
    slots = Slots(0.02)

    async def one() -> None:
        async with slots.slot():
            pass

    async def all_of_them() -> None:
        gone = asyncio.create_task(one())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait_for(one(), 5)

    asyncio.run(all_of_them())
    asyncio.run(asyncio.wait_for(one(), 5))
