"""Scale: what a release costs for a hundred thousand, a million and ten million people.

    python -m benchmarks.scale [--quick] [--json]
    python -m benchmarks.scale --json > benchmarks/scale.json; python docs/generate.py

Histograms of 20 attributes go from Parquet to Parquet over all cores, with and without a ledger, in
processes of their own whose CPU time and memory count in full. They are compared with copying the
same file by pyarrow in one process, and with a loop over OpenDP, measured on some people and
extrapolated. Profiles go through a mapping from Arrow batch to Arrow batch, beside a plain gather
of the same columns. Similarities of given pairs, nearest neighbours among everybody and
influential nodes are computed in one process. The second line makes the tables of docs/scale.md
from a full run.

An exponent is the slope of CPU time against people, both as logarithms, by least squares over all
sizes; 1 is linear. For histograms and profiles loading and compiling are left out of it, as they do
not grow; for neighbours the catalogue grows with the people, so that everybody has about as many
others with something in common; ``exponent_similarity_one_catalogue`` is for one that does not.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import (
    opendp_peer,
    scale_histograms,
    scale_influence,
    scale_profiles,
    scale_similarity,
)
from benchmarks.harness import Goal, Options, Row, cpu_seconds, explain_keys, report, require_module
from reticent.noise import Source

GOALS = (
    Goal("ratio_copy", most=6),
    Goal("ratio_copy_counted", most=6),
    Goal("ratio_opendp", 50),
    Goal("peak_mb", most=2048),
    Goal("peak_mb_counted", most=2048),
    Goal("exponent_histogram", most=1.1),
    Goal("exponent_profile", most=1.1),
    Goal("exponent_similarity", most=1.1),
    Goal("exponent_pairs", most=1.1),
    Goal("exponent_influence", most=1.1),
)
MEANINGS = {
    "people_per_second": "histograms by the clock, all cores, no ledger",
    "people_per_second_counted": "the same with everybody charged in a new SQLite ledger",
    "ratio_opendp_counted": "CPU of OpenDP's noise alone / CPU of a release with its charges",
    "us_.*": "CPU microseconds for a person",
    "bytes_.*": "on the disk for a person",
    "profiles_per_cpu_second": "through the fitted mapping, Arrow batch to Arrow batch",
    "ratio_gather": "CPU of that / CPU of taking the same columns at known places",
    "neighbours_.*": "people whose 10 nearest were found among everybody",
    "exponent_similarity_one_catalogue": "where everybody has something in common with nearly all",
}
_OPENDP_PEOPLE = 2000


def main() -> None:
    """Measure and report."""
    require_module("opendp", "experiments")
    require_module("pyarrow", "arrow")
    options = Options.parse("benchmarks.scale", __doc__.splitlines()[0])
    sizes = (2_000, 20_000, 200_000) if options.quick else (100_000, 1_000_000, 10_000_000)
    near = (1_000, 4_000, 16_000) if options.quick else (10_000, 100_000, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        results, rows = histograms(Path(folder), sizes[-1])
    results |= {"exponent_histogram": exponent(growth_of_histograms(sizes))}
    told, more = profiles(sizes)
    results |= told
    found, last = similarity(near)
    results |= found | influence(near)
    sections = {"From start to end": rows, "In one process": [*more, *last]}
    report("scale", sections, results, GOALS, options)
    if not options.json:
        explain_keys("Also", results, MEANINGS)


def histograms(folder: Path, people: int) -> tuple[dict[str, float], list[Row]]:
    """Parquet to Parquet, beside a copy and OpenDP."""
    table = folder / "people.parquet"
    scale_histograms.make(table, people)
    copied = scale_histograms.measured("copy", table, folder / "copy.parquet")
    plain = scale_histograms.measured("release", table, folder / "plain.parquet")
    ledger = folder / "ledger.db"
    counted = scale_histograms.measured("release", table, folder / "counted.parquet", ledger)
    shutil.rmtree(folder / "counted.parquet")
    peer = opendp_cpu() * people
    results = {
        "people": people,
        "cpus": len(os.sched_getaffinity(0)),
        "us_copy": 1e6 * copied["cpu"] / people,
        "us_histogram": 1e6 * plain["cpu"] / people,
        "us_charge": 1e6 * (counted["cpu"] - plain["cpu"]) / people,
        "us_opendp": 1e6 * peer / people,
        "bytes_table": table.stat().st_size / people,
        "bytes_histogram": _size(folder / "plain.parquet") / people,
        "bytes_ledger": ledger.stat().st_size / people,
        "people_per_second": people / plain["wall"],
        "people_per_cpu_second": people / plain["cpu"],
        "people_per_second_counted": people / counted["wall"],
        "ratio_copy": plain["cpu"] / copied["cpu"],
        "ratio_copy_counted": counted["cpu"] / copied["cpu"],
        "ratio_opendp": peer / plain["cpu"],
        "ratio_opendp_counted": peer / counted["cpu"],
        "peak_mb": plain["peak_mb"],
        "peak_mb_counted": counted["peak_mb"],
    }
    rows = [
        Row("copy", "copy the table, pyarrow", people, copied["cpu"]),
        Row("release", "release histograms", people, plain["cpu"]),
        Row("counted", "release histograms, everybody charged", people, counted["cpu"]),
        Row("opendp", "noise alone by OpenDP, extrapolated", people, peer),
    ]
    return results, rows


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def opendp_cpu() -> float:
    """CPU seconds of OpenDP for the noise of one person: a vector of 20 whole numbers."""
    draw = opendp_peer.vector("i64", 10.0, size=scale_histograms.ATTRIBUTES)
    rows = np.zeros((_OPENDP_PEOPLE, scale_histograms.ATTRIBUTES), dtype=int).tolist()
    return cpu_seconds(lambda: [draw(row) for row in rows]) / len(rows)


def growth_of_histograms(sizes: Sequence[int]) -> dict[int, float]:
    """CPU seconds of drawing for so many people, in this process."""
    job = scale_histograms.job()

    def draw(people: int) -> Callable[[], None]:
        group = min(people, 1 << 16)
        held = [scale_histograms.batch(at, group) for at in range(0, min(people, 8 * group), group)]

        def work() -> None:
            for at in range(0, people, group):
                part = held[at // group % len(held)]
                job.draw(part.slice(0, min(group, people - at)), Source.system())

        return work

    draw(sizes[0])()  # compiles
    return {people: _least(draw(people), people) for people in sizes}


def profiles(sizes: Sequence[int]) -> tuple[dict[str, float], list[Row]]:
    """Through a mapping, beside a gather."""
    scale_profiles.release(*scale_profiles.make(sizes[0]))  # compiles
    taken: dict[int, float] = {}
    gathered = 0.0
    for people in sizes:
        job, batches = scale_profiles.make(people)
        taken[people] = _least(partial(scale_profiles.release, job, batches), people)
        gathered = _least(partial(scale_profiles.gather, job, batches), people)
    people = sizes[-1]
    results = {
        "us_profile": 1e6 * taken[people] / people,
        "profiles_per_cpu_second": people / taken[people],
        "ratio_gather": taken[people] / gathered,
        "exponent_profile": exponent(taken),
    }
    rows = [
        Row("profiles", "profiles through a mapping", people, taken[people]),
        Row("gather", "the same columns, gathered", people, gathered),
    ]
    return results, rows


def similarity(sizes: Sequence[int]) -> tuple[dict[str, float], list[Row]]:
    """Nearest neighbours among everybody, and similarities of given pairs."""
    small = scale_similarity.make(500, grows=True)
    scale_similarity.search(small), scale_similarity.compare(small)  # compiles
    taken: dict[int, float] = {}
    pairs: dict[int, float] = {}
    for people in sizes:
        crowd = scale_similarity.make(people, grows=True)
        taken[people] = cpu_seconds(partial(scale_similarity.search, crowd))
        pairs[people] = _least(partial(scale_similarity.compare, crowd), people)
    same: dict[int, float] = {}
    for people in (sizes[0] // 4, sizes[0], 2 * sizes[0]):
        crowd = scale_similarity.make(people, grows=False)
        same[people] = cpu_seconds(partial(scale_similarity.search, crowd))
    people = sizes[-1]
    results = {
        "neighbours_people": float(people),
        "neighbours_per_cpu_second": people / taken[people],
        "us_neighbours": 1e6 * taken[people] / people,
        "us_pairs": 1e6 * pairs[people] / people,
        "exponent_similarity": exponent(taken),
        "exponent_pairs": exponent(pairs),
        "exponent_similarity_one_catalogue": exponent(same),
        "us_neighbours_one_catalogue": 1e6 * same[2 * sizes[0]] / (2 * sizes[0]),
    }
    rows = [
        Row("neighbours", "10 nearest neighbours", people, taken[people]),
        Row("pairs", "similarity with 10 given others", people, pairs[people]),
    ]
    return results, rows


def influence(sizes: Sequence[int]) -> dict[str, float]:
    """Ten influential nodes of a graph with ten neighbours each."""
    scale_influence.choose(scale_influence.make(500))  # compiles
    graphs = ((nodes, scale_influence.make(nodes)) for nodes in sizes)
    taken = {
        nodes: _least(partial(scale_influence.choose, graph), nodes) for nodes, graph in graphs
    }
    return {
        "us_influence": 1e6 * taken[sizes[-1]] / sizes[-1],
        "exponent_influence": exponent(taken),
    }


def exponent(taken: Mapping[int, float]) -> float:
    """The slope of log CPU against log people."""
    logs = np.log([[people, seconds] for people, seconds in taken.items()])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def _least(work: Callable[[], object], people: int) -> float:
    """CPU seconds; of three goes for small numbers of people, where a start counts."""
    goes = 3 if people <= 200_000 else 1
    return statistics.median(cpu_seconds(work) for _ in range(goes))


if __name__ == "__main__":
    began = time.perf_counter()
    main()
    print(f"{time.perf_counter() - began:,.0f} seconds in all", file=sys.stderr)
