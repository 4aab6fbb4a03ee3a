"""Faults: does the ledger hold when processes are killed, and when the power fails.

    python -m benchmarks.faults --seconds 60 [--store sqlite | postgres] [--json]
    python -m benchmarks.faults --power [--cuts 1000] [--json]
    python -m benchmarks.faults --http [--kills 50] [--store sqlite] [--json]
    python -m benchmarks.faults --runner [--json]

Eight processes of four threads ask for releases that charge three people in two accounts each, of
small budgets, some of them with a cover, with keys used before and bodies that differ, while one of
them after another is killed (SIGKILL) and started again; a PostgreSQL server, which the run starts
for itself, crashes a few times, too. Then the records that the workers kept are compared with the
ledger. A naive ledger goes through the same and must be caught, or the run fails: a test that
cannot fail proves nothing.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.fault_stores import STORES, Store
from benchmarks.fault_work import Findings, judge, work

PROCESSES = 8
CRASHES = 8  # of a store's server in a run
LEAST = 3.0  # seconds between them
FOUND = 1


def main() -> None:
    """Run and report; exit status 1 if something was lost or the control was not caught."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long the ledger is hurt")
    parser.add_argument("--store", choices=sorted(STORES.keys() - {"naive"}), default="sqlite")
    parser.add_argument("--pause", type=float, default=0.4, help="mean seconds between kills")
    parser.add_argument("--power", action="store_true", help="cut the power instead (needs apsw)")
    parser.add_argument("--cuts", type=int, default=1000, help="how often, with --power")
    parser.add_argument("--http", action="store_true", help="kill the whole service instead")
    parser.add_argument("--runner", action="store_true", help="kill a release over many people")
    parser.add_argument("--kills", type=int, default=50, help="how often, with --http")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    given = parser.parse_args()
    broken: tuple[str, ...] = ("overspent", "lost", "double", "problems")
    if given.power:
        from benchmarks.fault_power import power

        results = power(given.cuts)
        name = "faults-power"
    elif given.http:
        from benchmarks import fault_http

        results = fault_http.http_kills(given.kills, pause=max(given.pause, 0.8), store=given.store)
        name, broken = "faults-http", fault_http.BROKEN
    elif given.runner:
        from benchmarks import fault_runner

        results, name = fault_runner.runner_kills(), "faults-runner"
        broken = fault_runner.BROKEN
    else:
        results = kills(STORES[given.store], given.seconds, given.pause)
        name = "faults"
    if given.json:
        print(json.dumps({"benchmark": name, "results": results}))
    else:
        for key, value in results.items():
            print(f"  {key:<24} {value:>12,}")
    if any(results[key] for key in broken):
        print("FAILED: the ledger does not hold", file=sys.stderr)
        raise SystemExit(FOUND)
    if not results["control_violations"]:
        print("FAILED: the control was not caught", file=sys.stderr)
        raise SystemExit(FOUND)


def kills(store: Store, seconds: float, pause: float) -> dict[str, int]:
    """Hurt the store for so long, and the control for a fifth of it."""
    killed, crashed, found = hurt(store, seconds, pause)
    for problem in found.problems[:20]:
        print(problem, file=sys.stderr)
    *_, control = hurt(STORES["naive"], min(max(seconds / 5, 3), 20), pause)
    return {
        "kills": killed,
        "crashes": crashed,
        "requests": found.requests,
        "keys": found.keys,
        "overspent": found.overspent,
        "lost": found.lost,
        "double": found.double,
        "problems": len(found.problems),
        "unanswered": found.unanswered,
        "control_requests": control.requests,
        "control_overspent": control.overspent,
        "control_lost": control.lost,
        "control_double": control.double,
        "control_violations": control.violations,
    }


def hurt(store: Store, seconds: float, pause: float) -> tuple[int, int, Findings]:
    """Kill workers at random moments; how many, how often the store, what the records say."""
    forking = multiprocessing.get_context("fork")  # this process has neither threads nor a ledger
    counter = forking.RawValue(ctypes.c_longlong, 0)  # without a lock: who holds one may be killed
    choice = random.Random(os.urandom(16))
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, ExitStack() as stack:
        where = Path(folder)
        crash = stack.enter_context(store.made(where))
        started = 0

        def start() -> BaseProcess:
            nonlocal started
            started += 1
            arguments = (store, where, str(started), counter)
            worker = forking.Process(target=work, args=arguments, daemon=True)
            worker.start()
            return worker

        workers = [start() for _ in range(PROCESSES)]
        killed, crashed, begin = 0, 0, time.monotonic()
        every = max(seconds / CRASHES, LEAST)
        while (left := begin + seconds - time.monotonic()) > 0:
            time.sleep(min(choice.expovariate(1 / pause), left))
            if crash is not None and seconds - left > (crashed + 0.5) * every:
                crash()
                crashed += 1
            place = choice.randrange(PROCESSES)
            if not workers[place].is_alive():
                raise RuntimeError("a worker ended by itself")
            _kill(workers[place])
            killed += 1
            workers[place] = start()
        for worker in workers:
            _kill(worker)
        return killed + PROCESSES, crashed, judge(where, store.held(where))


def _kill(worker: BaseProcess) -> None:
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()


if __name__ == "__main__":
    main()
