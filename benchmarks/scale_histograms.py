"""Histograms of millions of people, from Parquet to Parquet, in a process of its own.

    python -m benchmarks.scale_histograms release TABLE OUT [LEDGER]
    python -m benchmarks.scale_histograms copy TABLE OUT

Not here  who measures and compares (scale.py).

Each prints what it took as JSON: CPU and wall seconds, and the most memory that it and its workers
held, added up. Loading of libraries and compiling count for the release, as they do for a user.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.preferences import Preferences
from reticent.tasks.batched import arrow
from reticent.tasks.histogram_arrow import HistogramBatches

ATTRIBUTES, ITEMS = 20, 2000
GROUP = 1 << 17
PROVIDER = "club.example"
WISHES = f"version = 1\nattributes.default = 0.2\nproviders.'{PROVIDER}' = {{epsilon = 0.4}}\n"


@cache
def public() -> dict[str, Any]:
    """20 attributes over 2,000 items, of which an item has one or two."""
    rng = np.random.default_rng(0)
    table = (rng.random((ITEMS, ATTRIBUTES)) < 0.05).astype(int)
    table[np.arange(ITEMS), rng.integers(0, ATTRIBUTES, ITEMS)] = 1
    films = Catalogue.of(
        table.tolist(),
        items=tuple(f"film {i}" for i in range(ITEMS)),
        attributes=tuple(f"genre {j}" for j in range(ATTRIBUTES)),
    )
    return {"catalogue": films, "preferences": Preferences.parse(WISHES)}


@cache
def job() -> HistogramBatches:
    """From batch to batch, without files."""
    held = public()
    return HistogramBatches.of(held["catalogue"], held["preferences"], PROVIDER)


def batch(first: int, people: int, seed: int = 0) -> Any:
    """People with 10 to 49 items each, popular ones more often, as places in the catalogue."""
    pa, rng = arrow(), np.random.default_rng([seed, first])
    sizes = rng.integers(10, 50, people)
    cuts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    items = (rng.zipf(1.3, int(cuts[-1])) % ITEMS).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(cuts), pa.array(items))
    return pa.record_batch({"person": pa.array(np.arange(first, first + people)), "items": lists})


def make(path: Path, people: int) -> None:
    """Write a table of so many people."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, batch(0, 1).schema) as writer:
        for first in range(0, people, GROUP):
            writer.write_batch(batch(first, min(GROUP, people - first)))


def copy(table: Path, out: Path) -> None:
    """Read and write the same, batch by batch."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(table) as file, pq.ParquetWriter(out, file.schema_arrow) as writer:
        for part in file.iter_batches(batch_size=1 << 16, use_threads=False):
            writer.write_batch(part)


def release(table: Path, out: Path, ledger: Path | None = None) -> None:
    """Everybody's histogram over all cores, counted or not."""
    import reticent as rt

    data = {"profiles": table, **public()}
    key = None if ledger is None else "scale"
    rt.Histogram(provider=PROVIDER).release(data, out=out, ledger=ledger, key=key)


def measured(what: str, *paths: Path) -> dict[str, float]:
    """Run one of them in a process of its own: ``cpu`` and ``wall`` seconds, ``peak_mb``."""
    command = [sys.executable, "-m", "benchmarks.scale_histograms", what, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Do one thing and say what it took."""
    what, *paths = sys.argv[1:]
    begun = time.perf_counter()
    if what == "copy":
        copy(*map(Path, paths))
    else:
        release(*map(Path, paths))
    own, workers = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    cpu = sum(one.ru_utime + one.ru_stime for one in (own, workers))
    count = len(os.sched_getaffinity(0)) if workers.ru_maxrss else 0
    peak = (own.ru_maxrss + count * workers.ru_maxrss) / 1024
    print(json.dumps({"cpu": cpu, "wall": time.perf_counter() - begun, "peak_mb": peak}))


if __name__ == "__main__":
    main()
