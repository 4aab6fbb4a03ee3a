"""Faults: does the ledger hold when processes are killed, and when the power fails.

    python -m benchmarks.faults --seconds 60 [--store sqlite] [--json]
    python -m benchmarks.faults --power [--cuts 1000] [--json]

Eight processes of four threads ask for releases that charge three small budgets each, with keys
used before and bodies that differ, while one of them after another is killed (SIGKILL) and started
again. Then the records that the workers kept are compared with the ledger. A naive ledger goes
through the same and must be caught, or the run fails: a test that cannot fail proves nothing.
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
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.fault_stores import STORES, Store
from benchmarks.fault_work import Findings, judge, work

PROCESSES = 8
FOUND = 1


def main() -> None:
    """Run and report; exit status 1 if something was lost or the control was not caught."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long the ledger is hurt")
    parser.add_argument("--store", choices=sorted(STORES.keys() - {"naive"}), default="sqlite")
    parser.add_argument("--pause", type=float, default=0.4, help="mean seconds between kills")
    parser.add_argument("--power", action="store_true", help="cut the power instead (needs apsw)")
    parser.add_argument("--cuts", type=int, default=1000, help="how often, with --power")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    given = parser.parse_args()
    if given.power:
        from benchmarks.fault_power import power

        results = power(given.cuts)
        name = "faults-power"
    else:
        results = kills(STORES[given.store], given.seconds, given.pause)
        name = "faults"
    if given.json:
        print(json.dumps({"benchmark": name, "results": results}))
    else:
        for key, value in results.items():
            print(f"  {key:<24} {value:>12,}")
    if any(results[key] for key in ("overspent", "lost", "double", "problems")):
        print("FAILED: the ledger does not hold", file=sys.stderr)
        raise SystemExit(FOUND)
    if not results["control_violations"]:
        print("FAILED: the control was not caught", file=sys.stderr)
        raise SystemExit(FOUND)


def kills(store: Store, seconds: float, pause: float) -> dict[str, int]:
    """Hurt the store for so long, and the control for a fifth of it."""
    killed, found = hurt(store, seconds, pause)
    for problem in found.problems[:20]:
        print(problem, file=sys.stderr)
    _, control = hurt(STORES["naive"], min(max(seconds / 5, 3), 20), pause)
    return {
        "kills": killed,
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


def hurt(store: Store, seconds: float, pause: float) -> tuple[int, Findings]:
    """Kill workers at random moments; how many, and what the records say."""
    forking = multiprocessing.get_context("fork")  # this process has neither threads nor a ledger
    counter = forking.RawValue(ctypes.c_longlong, 0)  # without a lock: who holds one may be killed
    choice = random.Random(os.urandom(16))
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        where = Path(made)
        store.prepare(where)
        started = 0

        def start() -> BaseProcess:
            nonlocal started
            started += 1
            arguments = (store, where, str(started), counter)
            worker = forking.Process(target=work, args=arguments, daemon=True)
            worker.start()
            return worker

        workers = [start() for _ in range(PROCESSES)]
        killed, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(choice.expovariate(1 / pause), left))
            place = choice.randrange(PROCESSES)
            if not workers[place].is_alive():
                raise RuntimeError("a worker ended by itself")
            _kill(workers[place])
            killed += 1
            workers[place] = start()
        for worker in workers:
            _kill(worker)
        return killed + PROCESSES, judge(where, store.held(where))


def _kill(worker: BaseProcess) -> None:
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()


if __name__ == "__main__":
    main()
