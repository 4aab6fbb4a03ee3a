"""Faults of the whole service: one key, one answer, one charge, whenever the server dies.

Not here  the command (faults.py, --http).

Clients ask a server over HTTP, again and again until they have an answer, while it is killed
(SIGKILL) at random moments, also while it starts, and started again. Then what clients were told is
compared with what the database holds. A server that remembers keys in memory goes through the same
and must be caught, or the run fails: a test that cannot fail proves nothing.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time

from benchmarks.fault_http_judge import Findings, judge
from benchmarks.fault_http_work import Crowd, Told, digest
from benchmarks.service_client import connected, get_bytes, quick_loop
from benchmarks.service_server import Service
from benchmarks.service_world import World, database, settle
from reticent.gateway import Gateway

CLIENTS = 48
PEOPLE = 800
TOTAL = "1"  # epsilon of a person with a provider: a handful of releases
LIMITS = {"provider_rate": 600, "provider_burst": 60, "address_rate": 1200, "address_burst": 100}
ASKED_AGAIN = 500  # answers that are looked up in the end
BROKEN = (
    *("overspent", "lost", "double", "miscounted", "unanswered"),
    *("confused", "unexpected", "changed", "problems"),
)


def http_kills(
    kills: int, seconds: float = 0, pause: float = 0.8, store: str = "sqlite"
) -> dict[str, int]:
    """Hurt the service so often, and the control a tenth of that."""
    told, found, changed = hurt("ours", kills, seconds, pause, store)
    for problem in found.problems[:20]:
        print(problem, file=sys.stderr)
    control_told, control, _ = hurt("naive", min(max(kills // 10, 3), 10), 0, pause, store)
    return {
        "kills": kills,
        "requests": told.requests,
        "answers": told.answered,
        "keys": found.keys,
        "retries": told.retries,
        "refused_other_body": told.reused,
        "told_to_wait": told.statuses[429] + told.statuses[503],
        "overspent": found.overspent,
        "lost": found.lost,
        "double": found.double,
        "miscounted": found.miscounted,
        "unanswered": found.unanswered,
        "confused": told.confused,
        "unexpected": told.unexpected,
        "changed": changed,
        "problems": len(found.problems),
        "control_requests": control_told.requests,
        "control_double": control.double,
        "control_violations": control.violations,
    }


def hurt(
    variant: str, kills: int, seconds: float, pause: float, store: str, people: int = PEOPLE
) -> tuple[Told, Findings, int]:
    """What clients were told, what the database says, and answers that changed since."""
    with database(store) as address:
        world = settle(address, people=people, total=TOTAL)
        started = Service(address, variant=variant, again=True, limits=LIMITS)
        with started as service, quick_loop() as runner:
            told, changed = runner.run(_hurt(service, world, kills, seconds, pause))
        with Gateway.open(address) as gateway:
            return told, judge(gateway, told), changed


async def _hurt(
    service: Service, world: World, kills: int, seconds: float, pause: float
) -> tuple[Told, int]:
    crowd = Crowd(service.port, world)
    killing = asyncio.create_task(asyncio.to_thread(_kill, service, kills, seconds, pause))
    await crowd.run(CLIENTS, killing.done)
    await killing
    return crowd.told, await _changed(service.port, world, crowd.told)


def _kill(service: Service, kills: int, seconds: float, pause: float) -> None:
    """Mostly while it serves, one in five while it may still be starting."""
    choice = random.Random(os.urandom(16))
    end = time.monotonic() + seconds
    service.wait()
    for number in range(kills):
        if choice.random() < 0.8:
            service.wait()
            time.sleep(0.3 + choice.expovariate(1 / pause))
        else:
            time.sleep(choice.uniform(0, 1))
        if number + 1 == kills:
            time.sleep(max(end - time.monotonic(), 0))
        service.kill()
        service.next_pid()
    service.wait()
    time.sleep(min(pause, 1))


async def _changed(port: int, world: World, told: Told) -> int:
    """How many answers are not the same any more when they are asked for by their key."""
    places = sorted(told.answers)
    chosen = random.Random(0).sample(places, min(ASKED_AGAIN, len(places)))
    line, wrong = await connected(port), 0
    for provider, key in chosen:
        request = get_bytes(f"/v1/releases/{key}", world.tokens[provider])
        reply = await line.ask(request)
        while reply.status == 429:
            await asyncio.sleep(0.1)
            reply = await line.ask(request)
        wrong += reply.status != 200 or digest(reply.body) not in told.answers[provider, key]
    line.close()
    return wrong
