"""Load from processes of its own, so that the client does not use the server's time.

    python -m benchmarks.service_load < PLAN

Not here  the servers, and what is made of it (service.py).

Every connection asks, waits for the answer and asks again. Answers that come after the warm-up and
before the end are counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from benchmarks.service_client import Line, connected, quick_loop, request_bytes
from benchmarks.service_server import ROOT, Service
from benchmarks.service_world import PROVIDERS, World

_LATE = 30.0  # seconds to wait for the last answers
_AT_ONCE = 100  # connections that are made at the same time


@dataclass
class Plan:
    """What one client process does."""

    port: int
    token: str
    people: Sequence[str]
    connections: int
    seconds: float
    name: str  # of its keys
    warm: float = 1.0
    pause: float = 0.0  # seconds to wait when told to
    patience: float = _LATE


@dataclass
class Load:
    """What came of it; ``times`` in milliseconds, of answers with status 200."""

    seconds: float = 0.0
    client_cpu: float = 0.0
    server_cpu: float = 0.0
    failed: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)

    @property
    def answers(self) -> int:
        """Releases."""
        return len(self.times)

    @property
    def rate(self) -> float:
        """Releases per second."""
        return self.answers / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds of the server for one release."""
        return 1000 * self.server_cpu / max(self.answers, 1)

    def part(self, share: float) -> float:
        """A quantile of the times."""
        return part(self.times, share)

    def others(self, *allowed: int) -> int:
        """Answers of other statuses than 200 and these, and connections that failed."""
        known = {"200", *map(str, allowed)}
        return self.failed + sum(n for status, n in self.statuses.items() if status not in known)


def part(times: Sequence[float], share: float) -> float:
    """A quantile."""
    return sorted(times)[int(share * (len(times) - 1))] if times else float("nan")


def put_load(
    service: Service,
    world: World,
    connections: int,
    seconds: float,
    name: str,
    *,
    pause: float = 0.0,
) -> Load:
    """Ask a server from another process; the server's CPU time is that of the whole run."""
    plan = Plan(service.port, world.tokens[PROVIDERS[0]], world.people, connections, seconds, name)
    plan.pause = pause
    begin = service.cpu()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.service_load"],
        input=json.dumps(asdict(plan)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    told = json.loads(done.stdout)
    counted = told.pop("all")
    load = Load(**told)
    # of all requests, the warm-up's too; those in the window have their share of it
    load.server_cpu = (service.cpu() - begin) * load.answers / max(counted, 1)
    return load


async def run(plan: Plan) -> tuple[Load, int]:
    """Ask; what was measured, and how many answers there were in all."""
    lines: list[Line] = []
    for first in range(0, plan.connections, _AT_ONCE):
        many = min(_AT_ONCE, plan.connections - first)
        lines += await asyncio.gather(*(connected(plan.port) for _ in range(many)))
    load, statuses, counted = Load(), Counter[str](), 0
    start = time.perf_counter() + plan.warm
    end = start + plan.seconds
    cpu = time.process_time()

    async def ask(number: int, line: Line) -> None:
        nonlocal counted
        turn = 0
        while (begin := time.perf_counter()) < end:
            turn += 1
            subject = plan.people[(number * 7919 + turn) % len(plan.people)]
            key = f"{plan.name}-{number}-{turn:06d}"
            try:
                if not line.open:
                    line = await connected(plan.port)
                reply = await line.ask(
                    request_bytes("histogram", plan.token, key, subject), plan.patience
                )
            except OSError:
                load.failed += 1
                await asyncio.sleep(0.1)
                continue
            now = time.perf_counter()
            counted += reply.status == 200
            if start <= now <= end:
                statuses[str(reply.status)] += 1
                if reply.status == 200:
                    load.times.append(1000 * (now - begin))
            if reply.status != 200 and plan.pause:
                await asyncio.sleep(plan.pause)
        line.close()

    await asyncio.gather(*(ask(number, line) for number, line in enumerate(lines)))
    load.seconds, load.client_cpu = plan.seconds, time.process_time() - cpu
    load.statuses = dict(statuses)
    return load, counted


def main() -> None:
    """A client process: a plan on standard input, what came of it on standard output."""
    plan = Plan(**json.load(sys.stdin))
    with quick_loop() as runner:
        load, counted = runner.run(run(plan))
    left = json.dumps({**asdict(load), "all": counted}).encode()
    while left:  # unbuffered output, if somebody asked for it, may take a part only
        left = left[os.write(1, left) :]


if __name__ == "__main__":
    main()
