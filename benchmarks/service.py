"""The whole service: durable releases in a second over HTTP, how long they take, what it costs.

    python -m benchmarks.service [--seconds 60] [--connections 32 128] [--quick] [--json]

Not here  faults (fault_http.py), whether time tells preferences (service_quiet.py).

Server and client are processes of their own on one machine. Every answer is drawn, charged to one
person and synced before it is sent. A FastAPI endpoint that says a constant of the same size, and
the ledger without HTTP, are measured in turns with it. Then more connections come than it can
serve, and it must say so and recover; and it is asked with many spends in its file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time

from benchmarks.ledger import fill
from benchmarks.service_load import Load, part, put_load
from benchmarks.service_server import OPEN, Service
from benchmarks.service_world import STORES, World, database, settle
from reticent.ledger import SqliteLedger

CONNECTIONS = (32, 128)
GOALS = {
    "releases_per_second_128": 500.0,
    "spare_p99_ms_128": 1.0,
    "spare_p99_growth": 1.0,
    "errors": 0.0,
    "overload_other": 0.0,
}
CROWD = 2000  # connections of the overload
CROWDED = OPEN | {"waiting": 256, "provider_rate": 2000, "provider_burst": 2000}
LARGEST_P99 = 500.0
ROUNDS = 3
FOUND = 1


def main() -> None:
    """Measure and report; exit status 1 if answers were wrong, not if they were slow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--seconds", type=float, help="of each load (60, or 6 if quick)")
    parser.add_argument("--connections", type=int, nargs="+", default=CONNECTIONS)
    parser.add_argument("--store", choices=STORES, default="sqlite")
    parser.add_argument("--spends", type=int, help="in the file before (10^5, or 5,000 if quick)")
    parser.add_argument("--quick", action="store_true", help="end within two minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    given = parser.parse_args()
    seconds = given.seconds or (6 if given.quick else 60)
    spends = given.spends or (5_000 if given.quick else 100_000)
    results = rates(given.connections, seconds, given.store)
    results |= overload(min(seconds, 10), 500 if given.quick else CROWD)
    results |= long_life(spends, seconds)
    results["errors"] = sum(value for key, value in results.items() if key.startswith("errors_"))
    if given.json:
        rounded = {key: float(f"{value:.4g}") for key, value in results.items()}
        print(json.dumps({"benchmark": "service", "results": rounded}))
    else:
        for key, value in results.items():
            goal = f"   goal {GOALS[key]:,.4g}" if key in GOALS else ""
            print(f"  {key:<36} {value:>12,.4g}{goal}")
    if results["errors"] or results["overload_other"] or not results["recovered"]:
        print("FAILED: the service did not answer as it must", file=sys.stderr)
        raise SystemExit(FOUND)


def rates(connections: list[int], seconds: float, store: str) -> dict[str, float]:
    """Releases per second and times, beside the constant endpoint and the ledger alone."""
    results: dict[str, float] = {}
    with database(store) as address, Service("-", variant="constant") as constant:
        world = settle(address, people=1000, total="2000")
        with Service(address) as service:
            service.wait()
            constant.wait()
            put_load(service, world, 8, 2, "first")  # loads compiled code
            for many in connections:
                ours, peers = list[Load](), list[Load]()
                for turn in range(ROUNDS):
                    name = f"load-{many}-{turn}"
                    ours.append(put_load(service, world, many, seconds / ROUNDS, name))
                    short = min(seconds / ROUNDS, 3)
                    peers.append(put_load(constant, world, many, short, name))
                results |= _shown(many, ours, peers)
            results["server_memory_mb"] = service.memory()
    most = max(connections)
    alone = _ledger_alone(most)
    results["ledger_alone_per_second"] = alone
    results["ratio_ledger"] = results[f"releases_per_second_{most}"] / alone
    results["ratio_http"] = results[f"ratio_http_{most}"]
    return results


def _shown(many: int, ours: list[Load], peers: list[Load]) -> dict[str, float]:
    times = [one for load in ours for one in load.times]
    seconds = sum(load.seconds for load in ours)
    cpu = sum(load.server_cpu for load in ours)
    peer_cpu = statistics.median(load.cpu_ms for load in peers)
    shown = {
        "releases_per_second": len(times) / seconds,
        "p50_ms": part(times, 0.5),
        "p95_ms": part(times, 0.95),
        "p99_ms": part(times, 0.99),
        "max_ms": max(times),
        "spare_p99_ms": LARGEST_P99 / part(times, 0.99),
        "server_cpu_ms": 1000 * cpu / len(times),
        "client_cpu_ms": 1000 * sum(load.client_cpu for load in ours) / len(times),
        "errors": sum(load.others() for load in ours),
        "constant_per_second": sum(load.rate for load in peers) / len(peers),
        "constant_cpu_ms": peer_cpu,
    }
    shown["ratio_http"] = shown["releases_per_second"] / shown["constant_per_second"]
    shown["ratio_http_cpu"] = peer_cpu / shown["server_cpu_ms"]
    return {f"{name}_{many}": value for name, value in shown.items()}


def _ledger_alone(ways: int) -> float:
    with database() as address, SqliteLedger.open(address) as ledger:
        wall, _ = fill(ledger, 0, 4000, ways)
    return 4000 / wall


def overload(seconds: float, connections: int) -> dict[str, float]:
    """More than it can serve: 200, 429 and 503 only, and soon after all is well again."""
    with database() as address:
        world = settle(address, people=1000, total="2000")
        with Service(address, limits=CROWDED) as service:
            service.wait()
            put_load(service, world, 8, 2, "first")
            crowd = put_load(service, world, connections, seconds, "crowd", pause=0.2)
            begin, tries, recovered, after = time.monotonic(), 0, False, Load()
            while not recovered and time.monotonic() - begin < 30:
                tries += 1
                after = put_load(service, world, 32, 2, f"after-{tries}")
                recovered = not after.others() and after.part(0.99) < LARGEST_P99
    return {
        "overload_connections": connections,
        "overload_releases_per_second": crowd.rate,
        "overload_p99_ms": crowd.part(0.99),
        "overload_429": crowd.statuses.get("429", 0),
        "overload_503": crowd.statuses.get("503", 0),
        "overload_other": crowd.others(429, 503),
        "recovered": float(recovered),
        "recovery_seconds": time.monotonic() - begin,
        "after_p99_ms": after.part(0.99),
    }


def long_life(spends: int, seconds: float) -> dict[str, float]:
    """The same service with a young file and an old one, in turns."""
    with database() as young, database() as old:
        worlds: dict[str, World] = {}
        for name, address in (("young", young), ("old", old)):
            worlds[name] = settle(address, people=1000, total="2000")
        with SqliteLedger.open(old) as ledger:
            fill(ledger, 0, spends, 256)
        times: dict[str, list[float]] = {name: [] for name in worlds}
        with Service(young) as first, Service(old) as second:
            services = {"young": first.wait(), "old": second.wait()}
            for turn in range(-1, 2 * ROUNDS):  # the first is not counted
                for name, service in services.items():
                    short = max(seconds / (4 * ROUNDS), 1)
                    load = put_load(service, worlds[name], 32, short, f"life-{turn + 1}")
                    times[name] += load.times if turn >= 0 else []
    results: dict[str, float] = {"spends_before": spends}
    for name, taken in times.items():
        results |= {f"{name}_p50_ms": part(taken, 0.5), f"{name}_p99_ms": part(taken, 0.99)}
    results["p99_growth"] = results["old_p99_ms"] / results["young_p99_ms"]
    results["spare_p99_growth"] = 2 / results["p99_growth"]
    return results


if __name__ == "__main__":
    main()
