"""How much one caller may ask for: buckets, and answers that come before any charge."""

import asyncio
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.console.limits import Buckets, Limits
from tests.unit.gateway.seeded import asking, lines, spent, together

from .conftest import PLENTY


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_holds_its_burst_and_refills() -> None:
    clock = Clock()
    buckets = Buckets(2.0, 3, clock)
    assert [buckets.wait("a") for _ in range(5)] == [0, 0, 0, 0.5, 0.5]
    assert buckets.wait("b") == 0  # another caller has its own
    clock.now += 0.5
    assert [buckets.wait("a") for _ in range(2)] == [0, 0.5]
    clock.now += 1000
    assert [buckets.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]


@given(st.lists(st.floats(0, 2), min_size=1, max_size=60))
def test_no_more_than_burst_and_rate(gaps: list[float]) -> None:
    clock = Clock()
    buckets = Buckets(3.0, 5, clock)
    passed = 0
    for gap in gaps:
        clock.now += gap
        passed += buckets.wait("a") == 0
    assert passed <= 5 + 3.0 * sum(gaps) + 1e-6


def test_callers_are_remembered_up_to_a_bound() -> None:
    buckets = Buckets(1e-9, 1, Clock())
    for caller in range(30_000):
        assert buckets.wait(str(caller)) == 0
    assert len(buckets._held) == 10_000
    assert buckets.wait("29999") > 0


def test_a_provider_that_asks_too_much_waits_and_is_not_charged(make_console: Any) -> None:
    slow = make_console(limits=Limits(provider_rate=0.01, provider_burst=3))
    told = [slow.ask(f"key-{k:05d}") for k in range(6)]
    assert [one.status for one in told] == [200] * 3 + [429] * 3
    assert len(lines(slow.gateway, "spend")) == 3
    before = spent(slow.gateway)
    assert 1 <= int(told[-1]["retry-after"]) <= 101
    assert told[-1]["content-type"] == "application/problem+json"
    assert slow.ask("key-ads01", who="ads").status == 200  # another provider is not slowed
    assert slow.ask("key-00000").status == 429
    assert spent(slow.gateway)[next(iter(before))] == before[next(iter(before))]


def test_without_the_limit_all_are_charged(console: Any) -> None:
    told = [console.ask(f"key-{k:05d}") for k in range(6)]  # the control
    assert [one.status for one in told] == [200] * 6
    assert len(lines(console.gateway, "spend")) == 6


def test_an_address_that_asks_too_much_waits(make_console: Any) -> None:
    slow = make_console(limits=Limits(address_rate=0.01, address_burst=5))
    told = [slow.call("GET", "/v1/terms") for _ in range(8)]
    assert [one.status for one in told] == [401] * 5 + [429] * 3
    assert slow.call("GET", "/v1/terms", client="127.0.0.2").status == 401
    forged = [("x-forwarded-for", "9.9.9.9"), ("forwarded", "for=9.9.9.9")]
    assert slow.call("GET", "/v1/terms", headers=forged).status == 429


def test_keys_of_doors_cannot_be_tried_for_long(make_console: Any) -> None:
    slow = make_console(limits=Limits(door_rate=0.01, door_burst=4))
    told = [slow.call("GET", "/enter", query=f"key={k:064x}").status for k in range(6)]
    assert told == [401] * 4 + [429] * 2
    assert slow.call("GET", "/enter", query=f"key={slow.keys['ann']}").status == 429
    for odd in ("//enter", "/enter/", "/Enter", "/./enter", "/%65nter"):
        assert slow.call("GET", odd, query=f"key={slow.keys['ann']}").get("set-cookie") is None
    assert slow.call("GET", "/").status == 401  # all else goes on


class Stuck:
    """A gateway whose answers do not come."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    def submit(self, *_: Any) -> Future[Any]:
        return Future()


def test_too_much_that_waits_is_refused(make_console: Any) -> None:
    from dataclasses import replace

    from reticent.console.app import make_app
    from tests.unit.gateway.seeded import say

    made = make_console()
    app = make_app(Stuck(made.gateway), limits=replace(PLENTY, waiting=3))  # type: ignore[arg-type]

    async def work() -> Any:
        asked = [asking(made.tokens["club"], f"key-{k:05d}") for k in range(4)]
        stuck = [asyncio.create_task(say(app, **one)) for one in asked[:3]]
        await asyncio.sleep(0.2)
        last = await say(app, **asked[3])
        for one in stuck:
            one.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        return last

    told = asyncio.run(work())
    assert (told.status, told["retry-after"]) == (503, "1")
    assert not lines(made.gateway, "spend")


def test_those_who_wait_are_counted_down_again(make_console: Any) -> None:
    from dataclasses import replace

    made = make_console(limits=replace(PLENTY, waiting=2))
    for batch in range(20):
        asked = [asking(made.tokens["club"], f"key-{batch}-{k:05d}") for k in range(2)]
        asked.append(asking(made.tokens["club"], f"key-{batch}-none", "nobody"))
        assert {one.status for one in together(made.app, asked)} <= {200, 404, 503}
        assert made.ask(f"key-{batch}-last").status == 200


@pytest.mark.parametrize("kind", ["histogram", "profile"])
def test_two_hundred_at_once(console: Any, kind: str) -> None:
    asked = [asking(console.tokens["club"], f"key-{k:05d}", kind=kind) for k in range(200)]
    assert [one.status for one in together(console.app, asked)] == [200] * 200
