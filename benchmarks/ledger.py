"""The ledger alone: durable spends in a second, whether a long life slows it, how long a check is.

    python -m benchmarks.ledger [--quick] [--json] [--spends N]
    python -m benchmarks.ledger --store postgres [--quick] [--json]

Not here  faults (faults.py), the service in front of it.

Each spend charges three accounts and is synced before it is told. Syncs are not CPU time, so rates
are given by the wall clock too, with as many requests on their way as a busy service has. A single
spend is mostly the sync; to see growth in spite of a busy machine, a small ledger and the large one
take turns, and their times are compared. Spends of many people are counted in CPU time for each.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import (
    Answer,
    Charge,
    Connection,
    Ledger,
    Request,
    SqliteLedger,
    open_ledger,
    verify_ledger,
)
from reticent.ledger.many import MANY

EVENT = Event("benchmark", {}, PureDP(1, RECORD), private=True)
LIMIT = 10**9
WAYS = (1, 16, 64, 256)  # requests that wait at once
SMALL = 1000  # spends in the small ledger
GOALS = {
    **{"spends_per_second_256": 5000.0, "spare_p99_growth": 1.0, "spare_verify_seconds": 1.0},
    **{"many_new_us": 10.0, "many_held_us": 5.0},
}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="end within a minute")
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    parser.add_argument("--spends", type=int, help="in the large ledger (10^6, or 20,000 if quick)")
    parser.add_argument("--store", choices=("postgres", "sqlite"), default="sqlite")
    given = parser.parse_args()
    spends = given.spends or (20_000 if given.quick else 10**6)
    name = "ledger" if given.store == "sqlite" else f"ledger-{given.store}"
    if given.store == "postgres":
        results = measure_postgres(min(spends, 10_000), 2000 if given.quick else 10_000)
    else:
        with tempfile.TemporaryDirectory(prefix="ledger-") as made:
            results = measure(Path(made), spends, 300 if given.quick else 2000)
    if given.json:
        rounded = {key: float(f"{value:.4g}") for key, value in results.items()}
        print(json.dumps({"benchmark": name, "results": rounded}))
        return
    for key, value in results.items():
        goal = f"   goal {GOALS[key]:,.4g}" if key in GOALS else ""
        print(f"  {key:<36} {value:>12,.4g}{goal}")


def measure(where: Path, spends: int, probes: int) -> dict[str, float]:
    """All figures."""
    with SqliteLedger.open(where / "rates.db") as ledger:
        results = rates(ledger, spends, 10_000)
    small = SqliteLedger.open(where / "small.db")
    large = SqliteLedger.open(where / "large.db")
    fill(small, 0, SMALL, 256)
    memory = _memory()
    wall, cpu = fill(large, 0, spends, 256)
    results |= {"spends": spends, "fill_per_second": spends / wall, "fill_per_cpu": spends / cpu}
    results["memory_growth_mb"] = _memory() - memory
    small_times, large_times = turns((small, SMALL), (large, spends), probes)
    for name, times in (("small", small_times), ("large", large_times)):
        results[f"{name}_median_ms"] = 1000 * _part(times, 0.5)
        results[f"{name}_p99_ms"] = 1000 * _part(times, 0.99)
    results["p99_growth"] = results["large_p99_ms"] / results["small_p99_ms"]
    results["median_growth"] = results["large_median_ms"] / results["small_median_ms"]
    results["spare_p99_growth"] = 2 / results["p99_growth"]
    small.close()
    large.close()
    with SqliteLedger.open(where / "many.db") as ledger:
        results |= many(ledger, 65_536 if spends > 100_000 else 16_384, 3)
    return results | looked(where / "large.db")


def measure_postgres(spends: int, most: int) -> dict[str, float]:
    """Rates and the check, on a server on this machine's disk; its own CPU time is not counted."""
    from benchmarks.postgres_server import running

    with running() as server, open_ledger(server.address("postgres")) as ledger:
        results = rates(ledger, spends, most) | many(ledger, 16_384, 2)
        with ledger.reading() as connection:
            begin = time.perf_counter()
            checked = verify_ledger(connection)
            wall = time.perf_counter() - begin
            lines = _count(connection, "line")
    assert not checked.problems, checked.problems[:3]
    return results | {"lines": lines, "verify_lines_per_second": lines / wall}


def rates(ledger: Ledger, spends: int, most: int) -> dict[str, float]:
    """Spends in a second, with so many on their way at once."""
    results: dict[str, float] = {}
    count = 0
    for ways in WAYS:
        many = min(spends, 20 * ways + 200) if ways < 64 else min(spends, most)
        wall, cpu = fill(ledger, count, many, ways)
        count += many
        results[f"spends_per_second_{ways}"] = many / wall
        results[f"spends_per_cpu_second_{ways}"] = many / cpu
    return results


def fill(ledger: Ledger, first: int, count: int, ways: int) -> tuple[float, float]:
    """Wall and CPU seconds of so many spends, ``ways`` of them waiting at once."""
    waiting: deque[Future[Answer]] = deque()
    wall, cpu = time.perf_counter(), time.process_time()
    for number in range(first, first + count):
        if len(waiting) == ways:
            waiting.popleft().result()
        waiting.append(ledger.submit(request(number), b"an answer of some length" * 4))
    for done in waiting:
        done.result()
    return time.perf_counter() - wall, time.process_time() - cpu


def request(number: int) -> Request:
    """Three accounts of one person, who comes back every now and then: 30 spends each."""
    person = f"person {number // 30}"
    charges = tuple(
        Charge(subject=person, provider="shop", what=what, nano=1, limit=LIMIT)
        for what in ("overall", "attribute: one", "attribute: two")
    )
    return Request(principal="shop", key=str(number), body=b"", event=EVENT, charges=charges)


def many(ledger: Ledger, people: int, rounds: int) -> dict[str, float]:
    """CPU microseconds for each person of a spend of so many, new ones and such as have accounts.

    One by one the same people take turns, a tenth of them, on the way of small requests. Making the
    requests is not counted.
    """
    least: dict[str, float] = {}
    before = _memory()
    for number in range(rounds):
        for kind, first in (("new", number), ("held", number), ("held", number)):
            asked = crowd(f"many {number} {len(least)} {kind} {time.monotonic_ns()}", first, people)
            _keep_least(least, f"many_{kind}_us", *_cost(ledger, [asked], people))
        for kind in ("new", "held"):
            few = crowd("", 1000 + number, people // 10).charges
            keys = range(0, len(few), MANY - 1)
            asks = [
                replace(asked, key=f"{kind} {number} {n}", charges=few[n : n + MANY - 1])
                for n in keys
            ]
            _keep_least(least, f"one_by_one_{kind}_us", *_cost(ledger, asks, len(few)))
    for kind in ("new", "held"):
        least[f"many_{kind}_ratio"] = least[f"one_by_one_{kind}_us"] / least[f"many_{kind}_us"]
    charges = crowd("", 0, people).charges
    for _ in range(5):  # the least, as of the others
        begin = time.process_time()
        ledger.short(charges)
        took = 1e6 * (time.process_time() - begin) / people
        least["short_us"] = min(took, least.get("short_us", took))
    return {"many_people": people, **least, "many_memory_growth_mb": _memory() - before}


def crowd(key: str, part: int, people: int) -> Request:
    """One charge for each of so many people."""
    charges = tuple(
        Charge(subject=f"person {part:04}.{n:07}", provider="shop", nano=1 + n % 3, limit=LIMIT)
        for n in range(people)
    )
    return Request(principal="shop", key=key or "-", body=b"", event=EVENT, charges=charges)


def _cost(ledger: Ledger, asks: Sequence[Request], people: int) -> tuple[float, float]:
    """CPU and wall microseconds for each person."""
    wall, cpu = time.perf_counter(), time.process_time()
    for done in [ledger.submit(asked, b"an answer of some length" * 4) for asked in asks]:
        done.result()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return 1e6 * cpu / people, 1e6 * wall / people


def _keep_least(least: dict[str, float], name: str, cpu: float, wall: float) -> None:
    for key, value in ((name, cpu), (name.replace("_us", "_wall_us"), wall)):
        least[key] = min(least.get(key, value), value)


def turns(
    small: tuple[SqliteLedger, int], large: tuple[SqliteLedger, int], probes: int
) -> tuple[list[float], list[float]]:
    """Seconds of single spends in both, in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for count in range(probes):
        for (ledger, held), taken in zip((small, large), times, strict=True):
            asked = request(held + count)
            begin = time.perf_counter()
            ledger.once_with(asked, b"an answer of some length" * 4)
            taken.append(time.perf_counter() - begin)
    return times


def looked(path: Path) -> dict[str, float]:
    """How long it takes to open the large ledger, and to check it."""
    begin = time.perf_counter()
    with SqliteLedger.open(path) as ledger:
        opened = time.perf_counter() - begin
        with ledger.reading() as connection:
            lines = _count(connection, "line")
            accounts = _count(connection, "account")
            begin, cpu = time.perf_counter(), time.process_time()
            checked = verify_ledger(connection)
            wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    assert not checked.problems, checked.problems[:3]
    return {
        "open_seconds": opened,
        "verify_seconds": wall,
        "verify_cpu_seconds": cpu,
        "spare_verify_seconds": 60 / cpu,
        "verify_lines_per_second": lines / wall,
        "lines": lines,
        "accounts": accounts,
        "file_mb": path.stat().st_size / 1e6,
        "memory_mb": _memory(),
    }


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _part(times: Sequence[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))]


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main()
