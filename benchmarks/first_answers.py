"""Whether the first answer about somebody tells that they opened their page or edited their file.

    python -m benchmarks.first_answers [--people 2000] [--only NAME ...] [--json]

Not here  whether times of later answers tell preferences (service_quiet.py), load (service.py).

Everybody is made up, and all have one profile and one file. In each round some people are new; a
random half of them open their page or edit their file, and then a provider asks about all of them
once, in random order, over one connection. Before that the server was started again, or new terms
were published, or everybody was asked about once. With two processes on one database the provider
asks the first; edits, and visits in the last case, happen at the second. A permutation test
within rounds says whether times tell the two halves apart. The control pads answers to 50 ms only
where something had to be worked out, and must be caught.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.service_client import Line, connected, quick_loop, request_bytes
from benchmarks.service_server import OPEN, Service
from benchmarks.service_world import ASKS, PROVIDERS, World, database, named, settle_with
from reticent.gateway import Gateway, credentials, directory

GROUP = 25  # people of one round
BURNT = 3  # requests about others after a start or new terms, which find no code or terms ready
PERMUTATIONS = 4000
WANTED = 0.01
CAUGHT = 0.001
FOUND = 1


@dataclass(frozen=True)
class Situation:
    """What happened before: to the server, then to half of the people, and where."""

    before: str  # restart, terms, asked
    act: str  # visit, edit
    processes: int
    at: int = 0  # the process at which they act

    @property
    def name(self) -> str:
        """For keys of results."""
        where = "" if self.processes == 1 else f"_{self.processes}_processes"
        return f"{self.before}_{self.act}{where}"


SITUATIONS = (
    Situation("restart", "visit", 1),
    Situation("restart", "edit", 1),
    Situation("terms", "visit", 1),
    Situation("terms", "edit", 1),
    Situation("restart", "visit", 2),
    Situation("terms", "visit", 2),
    Situation("asked", "edit", 2, at=1),
    Situation("asked", "visit", 2, at=1),
)


@dataclass(frozen=True)
class Round:
    """Milliseconds of first answers, and who of them had acted."""

    times: NDArray[np.float64]
    acted: NDArray[np.bool_]


def main() -> None:
    """Measure and report; exit status 1 if times tell, or if the control was not caught."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_answers", description=__doc__)
    parser.add_argument("--people", type=int, default=2000, help="over all situations")
    parser.add_argument("--only", nargs="+", help="situations", choices=_names())
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    given = parser.parse_args()
    chosen = [one for one in SITUATIONS if given.only is None or one.name in given.only]
    rounds = max(1, round(given.people / len(chosen) / GROUP))
    results: dict[str, float] = {"people": len(chosen) * rounds * GROUP}
    for variant in ("ours", "padded"):
        results |= told(variant, chosen, rounds)
    if given.json:
        print(json.dumps({"benchmark": "first-answers", "results": results}))
    else:
        for key, value in results.items():
            print(f"  {key:<44} {value:>12.4g}")
    if min(results["ours_p"], results["ours_least_p"]) <= WANTED:
        print("FAILED: first answers tell who acted", file=sys.stderr)
        raise SystemExit(FOUND)
    if results["padded_p"] > CAUGHT:
        print("FAILED: the control was not caught", file=sys.stderr)
        raise SystemExit(FOUND)


def _names() -> list[str]:
    return [one.name for one in SITUATIONS]


def told(variant: str, chosen: Sequence[Situation], rounds: int) -> dict[str, float]:
    """By situation the p and how often a guess by time is right; then all of them together."""
    results: dict[str, float] = {}
    every: list[list[Round]] = []
    least = 1.0
    for situation in chosen:
        found = measured(variant, situation, rounds)
        every.append(found)
        p = telling(found)
        least = min(least, p)
        results[f"{variant}_{situation.name}_p"] = p
        results[f"{variant}_{situation.name}_auc"] = area(found)
        results[f"{variant}_{situation.name}_median_ms"] = float(
            np.median(np.concatenate([one.times for one in found]))
        )
    results[f"{variant}_p"] = telling(*every)
    results[f"{variant}_least_p"] = min(1.0, least * len(chosen))  # Bonferroni
    return results


def telling(*situations: Sequence[Round]) -> float:
    """The p of a permutation test over situations: labels are exchanged within rounds.

    Two statistics, the sum of ranks and the distance of Kolmogorov and Smirnov, each paid for. Over
    situations squares of both add up: acting may make answers faster in one and slower in another.
    """
    both = [_statistics(rounds) for rounds in situations]
    found = [np.sum([one[which] for one in both], axis=0) for which in (0, 1)]
    return min(1.0, 2 * min(float(np.mean(one >= one[0] * (1 - 1e-9))) for one in found))


def _statistics(rounds: Sequence[Round]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Squares of both statistics, of the labels as they are and then of permuted ones."""
    draw = np.random.default_rng()
    ranks = np.concatenate(
        [stats.rankdata(one.times) / (len(one.times) + 1) - 0.5 for one in rounds]
    )
    true = np.concatenate([one.acted for one in rounds])
    marks = np.empty((PERMUTATIONS + 1, len(true)))
    marks[0] = true
    for number in range(1, PERMUTATIONS + 1):
        marks[number] = np.concatenate([draw.permutation(one.acted) for one in rounds])
    sums = (marks @ ranks) ** 2
    order = np.argsort(ranks, kind="stable")
    steps = marks[:, order] / true.sum() - (1 - marks[:, order]) / (~true).sum()
    ends = np.flatnonzero(np.diff(ranks[order], append=np.inf))  # ties are one step
    distances = np.abs(np.cumsum(steps, axis=1)[:, ends]).max(axis=1) ** 2
    return sums / sums.mean(), distances / distances.mean()


def area(rounds: Sequence[Round]) -> float:
    """How often a guesser who sees one of each half is right, at best of the two orders."""
    wins = [
        np.mean(np.sign(one.times[one.acted][:, None] - one.times[~one.acted][None, :]) / 2 + 0.5)
        for one in rounds
    ]
    mean = float(np.mean(wins))
    return max(mean, 1 - mean)


def measured(variant: str, situation: Situation, rounds: int) -> list[Round]:
    """The rounds of one situation, over a database of its own."""
    names = [f"person {number}" for number in range(rounds * GROUP)]
    others = [f"other {number}" for number in range(BURNT)]
    with database() as address, ExitStack() as opened:
        world = settle_with(address, {name: named("") for name in names + others}, alike=True)
        gateway = opened.enter_context(Gateway.open(address))
        servers = [
            opened.enter_context(Service(address, variant=variant, again=True, limits=OPEN)).wait()
            for _ in range(situation.processes)
        ]
        run = _Run(situation, world, gateway, servers)
        with quick_loop() as runner:
            return [
                runner.run(run.round(number, names[number * GROUP : (number + 1) * GROUP]))
                for number in range(rounds)
            ]


@dataclass
class _Run:
    situation: Situation
    world: World
    gateway: Gateway
    servers: list[Service]

    async def round(self, number: int, people: Sequence[str]) -> Round:
        """Ask about everybody of a group for the first time since."""
        choice = random.Random(os.urandom(16))
        acting = set(choice.sample(list(people), len(people) // 2))
        with self._entered(acting) as sessions:
            if self.situation.before == "restart":
                for server in self.servers:
                    server.kill()
                    server.next_pid()
                    server.wait()
            elif self.situation.before == "terms":
                self._publish(number)
            lines = [await connected(server.port) for server in self.servers]
            for other in range(BURNT):
                await self._timed(lines[0], f"other {other}", f"burnt-{number}-{other}")
            if self.situation.before == "asked":
                for name in people:
                    await self._timed(lines[0], name, f"before-{number}-{_key(name)}")
            for name in choice.sample(sorted(acting), len(acting)):
                await self._act(lines[self.situation.at], sessions[name])
        asked = choice.sample(list(people), len(people))
        times = [await self._timed(lines[0], name, f"first-{_key(name)}") for name in asked]
        for line in lines:
            line.close()
        return Round(np.array(times), np.array([name in acting for name in asked]))

    @contextmanager
    def _entered(self, acting: set[str]) -> Iterator[dict[str, str]]:
        """A session for each who acts; made before the server starts again."""
        made = {}
        for name in sorted(acting):
            key = credentials.secret()
            enter = partial(credentials.add_door, key=key, role="person", person=name)
            self.gateway.write(enter)
            session = self.gateway.enter(key)
            assert session is not None
            made[name] = session
        yield made

    def _publish(self, number: int) -> None:
        asks = {**ASKS, "histogram": {**ASKS["histogram"], "epsilon": f"0.{401 + number}"}}

        def work(connection: object) -> None:
            directory.set_provider(connection, PROVIDERS[0], asks)  # type: ignore[arg-type]
            self.gateway.changed(connection)  # type: ignore[arg-type]

        self.gateway.write(work)

    async def _act(self, line: Line, session: str) -> None:
        head = f"Host: 127.0.0.1\r\nCookie: reticent={session}\r\n"
        if self.situation.act == "visit":
            reply = await line.ask(f"GET /me HTTP/1.1\r\n{head}\r\n".encode())
            assert reply.status == 200, reply.status
            return
        found = self.gateway.session(session)
        assert found is not None
        form = urlencode({"form": found.form, "general": "0.06", "version": "1"})
        head += "Content-Type: application/x-www-form-urlencoded\r\n"
        said = f"POST /me/who HTTP/1.1\r\n{head}Content-Length: {len(form)}\r\n\r\n{form}"
        reply = await line.ask(said.encode())
        assert reply.status == 303, reply.status

    async def _timed(self, line: Line, subject: str, key: str) -> float:
        token = self.world.tokens[PROVIDERS[0]]
        request = request_bytes("histogram", token, key, subject)
        await asyncio.sleep(random.random() * 0.004)
        begin = time.perf_counter()
        reply = await line.ask(request)
        taken = time.perf_counter() - begin
        assert reply.status == 200, reply.status
        return 1000 * taken


def _key(name: str) -> str:
    return name.replace(" ", "-")


if __name__ == "__main__":
    main()
