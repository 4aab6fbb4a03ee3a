"""Scale: what a release costs for a hundred thousand, a million and ten million people.

    python -m benchmarks.scale [--quick] [--json]

Histograms of 20 attributes go from Parquet to Parquet over all cores, with and without a ledger, in
processes of their own whose CPU time and memory count in full. They are compared with copying the
same file by pyarrow in one process, and with a loop over OpenDP, measured on some people and
extrapolated. Profiles go through a mapping from Arrow batch to Arrow batch, beside a plain gather
of the same columns. Nearest neighbours are searched among everybody, in one process.

An exponent is the slope of CPU time against people, both as logarithms, by least squares over all
sizes; 1 is linear. For histograms and profiles loading and compiling are left out of it, as they do
not grow; for neighbours the catalogue grows with the people, so that everybody has about as many
others with something in common; ``exponent_similarity_one_catalogue`` is for one that does not.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import opendp_peer, scale_histograms, scale_profiles, scale_similarity
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
)
MEANINGS = {
    "people_per_second": "histograms by the clock, all cores, no ledger",
    "people_per_second_counted": "the same with everybody charged in a new SQLite ledger",
    "ratio_opendp_counted": "CPU of OpenDP's noise alone / CPU of a release with its charges",
    "ledger_mb": "the ledger afterwards",
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
    results |= found
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
        "people_per_second": people / plain["wall"],
        "people_per_cpu_second": people / plain["cpu"],
        "people_per_second_counted": people / counted["wall"],
        "ratio_copy": plain["cpu"] / copied["cpu"],
        "ratio_copy_counted": counted["cpu"] / copied["cpu"],
        "ratio_opendp": peer / plain["cpu"],
        "ratio_opendp_counted": peer / counted["cpu"],
        "peak_mb": plain["peak_mb"],
        "peak_mb_counted": counted["peak_mb"],
        "ledger_mb": ledger.stat().st_size / 2**20,
    }
    rows = [
        Row("copy", "copy the table, pyarrow", people, copied["cpu"]),
        Row("release", "release histograms", people, plain["cpu"]),
        Row("counted", "release histograms, everybody charged", people, counted["cpu"]),
        Row("opendp", "noise alone by OpenDP, extrapolated", people, peer),
    ]
    return results, rows


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
        taken[people] = _least(lambda: scale_profiles.release(job, batches), people)  # noqa: B023
        gathered = _least(lambda: scale_profiles.gather(job, batches), people)  # noqa: B023
    people = sizes[-1]
    results = {
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
    """Nearest neighbours among everybody."""
    scale_similarity.search(scale_similarity.make(500, grows=True))  # compiles
    taken = {
        people: cpu_seconds(lambda made=made: scale_similarity.search(made))  # type: ignore[misc]
        for people in sizes
        for made in [scale_similarity.make(people, grows=True)]
    }
    same = {
        people: cpu_seconds(lambda made=made: scale_similarity.search(made))  # type: ignore[misc]
        for people in (sizes[0] // 4, sizes[0], 2 * sizes[0])
        for made in [scale_similarity.make(people, grows=False)]
    }
    people = sizes[-1]
    results = {
        "neighbours_people": float(people),
        "neighbours_per_cpu_second": people / taken[people],
        "exponent_similarity": exponent(taken),
        "exponent_similarity_one_catalogue": exponent(same),
    }
    return results, [Row("neighbours", "10 nearest neighbours", people, taken[people])]


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
