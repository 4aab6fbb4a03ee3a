"""Whether the time of an answer tells what a person allows.

    python -m benchmarks.service_quiet [--calls 2000] [--json]

Not here  what is answered (tests of the gateway), load (service.py).

People with the same profile who differ in their files only are asked for one after the other in
random order, over one connection: somebody who does not name the provider, who allows all, whose
budget is used up, and who names items that nobody knows. Times are compared by the two-sample test
of Kolmogorov and Smirnov, for people who were asked for before, and (``cold``) for people who are
asked for the first time. A server that takes a millisecond more for one of them must be caught.
Nobody outside sees ``work``: CPU time of one request in the process itself, without network and
syncs, where a difference shows that a busy machine hides.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import combinations

from scipy import stats

from benchmarks.service_client import Line, connected, quick_loop, request_bytes
from benchmarks.service_load import part
from benchmarks.service_server import OPEN, Service
from benchmarks.service_world import PROVIDERS, World, database, named, settle_with
from reticent.gateway import Asked, Gateway

WANTED = 0.01  # p of the sound service, corrected for the number of pairs
CAUGHT = 1e-6  # p of the control
FOUND = 1
WARM = 30  # calls of each kind that are not counted
FILES = {
    "not named": "version = 1\n",
    "allows all": named("", epsilon="5").replace("0.05", "5"),
    "used up": named("total = 0.000001\n"),
    "unknown items": named("")
    + "[items]\n"
    + "".join(f'"no such film {number}" = 0.5\n' for number in range(20)),
}


def main() -> None:
    """Measure and report; exit status 1 if time tells, or if the control was not caught."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service_quiet", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="of each kind of person")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    given = parser.parse_args()
    results = quiet(given.calls)
    if given.json:
        print(json.dumps({"benchmark": "service-quiet", "results": results}))
    else:
        for key, value in results.items():
            print(f"  {key:<40} {value:>12.4g}")
    if results["quiet_ks_p"] <= WANTED or results["quiet_forms"] != 1:
        print("FAILED: answers tell what a person allows", file=sys.stderr)
        raise SystemExit(FOUND)
    if results["control_ks_p"] > CAUGHT:
        print("FAILED: the control was not caught", file=sys.stderr)
        raise SystemExit(FOUND)


def quiet(calls: int) -> dict[str, float]:
    """Times of the service, warm and cold, and of the control."""
    results: dict[str, float] = {}
    warm, forms = measured("ours", calls, copies=1)
    cold, _ = measured("ours", calls, copies=calls)
    slow, _ = measured("slow", max(calls // 2, 200), copies=1)
    work = worked(calls)
    for name, times in warm.items():
        results[f"{_key(name)}_median_ms"] = part(times, 0.5)
    for name, times in cold.items():
        results[f"cold_{_key(name)}_median_ms"] = part(times, 0.5)
    for name, times in work.items():
        results[f"work_{_key(name)}_median_ms"] = part(times, 0.5)
    results |= {f"p_{name}": p for name, p in pairs(warm).items()}
    results |= {f"work_p_{name}": p for name, p in pairs(work).items()}
    results["quiet_ks_p"] = worst(warm)
    results["cold_ks_p"] = worst(cold)
    results["work_ks_p"] = worst(work)
    results["control_ks_p"] = worst(slow)
    results["quiet_forms"] = forms
    results["calls"] = calls
    return results


def pairs(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The p of each pair, uncorrected."""
    return {
        f"{_key(one)}/{_key(two)}": float(stats.ks_2samp(times[one], times[two]).pvalue)
        for one, two in combinations(times, 2)
    }


def worst(times: Mapping[str, Sequence[float]]) -> float:
    """The least p of all pairs, times their number (Bonferroni), at most 1."""
    found = pairs(times)
    return min(1.0, len(found) * min(found.values()))


def measured(variant: str, calls: int, *, copies: int) -> tuple[dict[str, list[float]], int]:
    """Milliseconds by kind of person, and how many forms of answers there were."""
    files = {f"{kind} {copy}": text for kind, text in FILES.items() for copy in range(copies)}
    with database() as address:
        world = settle_with(address, files, alike=True)
        with Service(address, variant=variant, limits=OPEN) as service, quick_loop() as runner:
            service.wait()
            return runner.run(_measure(service.port, world, calls, copies))


def worked(calls: int) -> dict[str, list[float]]:
    """CPU milliseconds of both threads for one request, by kind of person."""
    order = [(kind, turn) for kind in FILES for turn in range(-WARM, calls)]
    random.Random(os.urandom(16)).shuffle(order)
    times: dict[str, list[float]] = {kind: [] for kind in FILES}
    with database() as address:
        settle_with(address, FILES, alike=True)
        with Gateway.open(address) as gateway:
            for number, (kind, turn) in enumerate(order):
                asked = Asked("histogram", kind, f"call-{_key(kind)}-{turn + WARM:06d}")
                begin = time.process_time()
                gateway.submit(PROVIDERS[0], asked).result()
                if number >= WARM * len(FILES):
                    times[kind].append(1000 * (time.process_time() - begin))
    return times


async def _measure(
    port: int, world: World, calls: int, copies: int
) -> tuple[dict[str, list[float]], int]:
    choice = random.Random(os.urandom(16))
    order = [(kind, turn) for kind in FILES for turn in range(calls)]
    choice.shuffle(order)
    line = await connected(port)
    forms: set[tuple[bytes, ...]] = set()
    for number in range(WARM):  # with somebody of each kind, who is asked for again if copies == 1
        for kind in FILES:
            await _timed(line, world, f"{kind} 0", f"warm-{_key(kind)}-{number:04d}", forms)
    times: dict[str, list[float]] = {kind: [] for kind in FILES}
    for kind, turn in order:
        if copies > 1 and turn == 0:
            continue  # known already
        key = f"call-{_key(kind)}-{turn:06d}"
        times[kind].append(await _timed(line, world, f"{kind} {turn % copies}", key, forms))
    line.close()
    return times, len(forms)


async def _timed(
    line: Line, world: World, subject: str, key: str, forms: set[tuple[bytes, ...]]
) -> float:
    request = request_bytes("histogram", world.tokens[PROVIDERS[0]], key, subject)
    begin = time.perf_counter()
    reply = await line.ask(request)
    taken = time.perf_counter() - begin
    told = json.loads(reply.body)
    names = sorted(row.split(b":")[0] for row in reply.head.split(b"\r\n")[1:])
    inside = [*told, *told["value"], json.dumps(told["card"])]
    forms.add((str(reply.status).encode(), *names, *(text.encode() for text in inside)))
    return 1000 * taken


def _key(kind: str) -> str:
    return kind.replace(" ", "_")


if __name__ == "__main__":
    main()
