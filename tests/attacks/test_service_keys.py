"""A8, P12: a key that is used again and again gets one answer and one charge."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from reticent.gateway import Asked, Gateway
from tests.unit.gateway.seeded import (
    CLUB,
    checked,
    fill,
    lines,
    opened,
    somebody,
    spent,
    value,
    wishes,
)

KEYS, TIMES, THREADS = 1_000, 2, 8


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with opened(tmp_path / "gateway.db") as made:
        fill(made, {"ann": somebody(preferences=wishes(total=100_000))})
        yield made
        assert checked(made).problems == ()


def test_thousands_of_keys_in_parallel_are_answered_and_charged_once(gateway: Gateway) -> None:
    """Every key twice, from eight threads, in an order of its own each time."""
    rng = np.random.default_rng(0)
    order = rng.permutation(np.repeat(np.arange(KEYS), TIMES)).tolist()

    def work(part: list[int]) -> list[tuple[int, bytes]]:
        asked = ((k, Asked("histogram", "ann", f"key-{k:08d}")) for k in part)
        pending = [(k, gateway.submit(CLUB, one)) for k, one in asked]
        return [(k, one.result().value) for k, one in pending]

    with ThreadPoolExecutor(THREADS) as pool:
        parts = [order[start::THREADS] for start in range(THREADS)]
        found = [pair for part in pool.map(work, parts) for pair in part]
    answers: dict[int, set[bytes]] = {}
    for key, told in found:
        answers.setdefault(key, set()).add(told)
    assert (len(found), len(answers)) == (KEYS * TIMES, KEYS)
    assert all(len(told) == 1 for told in answers.values())
    assert len({one for told in answers.values() for one in told}) == KEYS
    charges = [json.loads(body)["charges"][0][1] for _, body in lines(gateway, "spend")]
    assert len(charges) == KEYS
    assert len(set(charges)) == 1
    ((total, _),) = spent(gateway).values()
    assert total == KEYS * charges[0]


def test_one_key_a_thousand_times_does_not_average_the_noise_away(gateway: Gateway) -> None:
    asked = Asked("histogram", "ann", "key-00000001")
    with ThreadPoolExecutor(THREADS) as pool:
        told = set(pool.map(lambda _: gateway.submit(CLUB, asked).result().value, range(1000)))
    assert len(told) == 1
    assert len(lines(gateway, "spend")) == 1


def test_the_control_draws_anew_and_can_be_averaged(gateway: Gateway) -> None:
    """A service without keys: a thousand draws for one charge give the histogram away."""
    offer = gateway.world().offers[CLUB]["histogram"]
    known = gateway.known("ann")
    told = [list(gateway._draw(offer, [known], "").released.values()) for _ in range(4000)]
    assert np.abs(np.mean(told, axis=0) - [2, 2, 1, 1]).max() < 1.5
    one = value(
        gateway.finish(gateway.submit(CLUB, Asked("histogram", "ann", "key-1")).result().value)
    )
    assert len(one) == 4
