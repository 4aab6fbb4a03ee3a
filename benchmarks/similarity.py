"""Private nearest neighbours: people per CPU-second beside a plain loop and scikit-learn.

The task is the ten most similar others for everyone, by cosine, epsilon 1, about 100 items each of
which some are popular. Reticent adds noise owed to every pair; scikit-learn is exact and protects
nobody. The plain loop does what Reticent does, with NumPy's noise for every peer: one row against
all others at a time. Whoever cannot do a size in a minute or so is measured on some of the people
against all the others, which is linear in pairs: a row marked (sample), without setting up.

How the time grows with people is measured on 30 items each, of a catalogue that grows with the
people, so that everybody has something in common with about 1,300 others however many there are.
"""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from benchmarks.harness import (
    Goal,
    Options,
    Row,
    Work,
    cpu_seconds,
    medians,
    report,
    require_module,
)
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.noise import Source
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lines = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

K = 10
EPSILON = 1
ITEMS_EACH = 100
SIMILARITY = Similarity(epsilon=EPSILON)
HUGE_PEOPLE = 2_000
HUGE_MEMORY = 12 << 30

GOALS = (
    Goal("speedup_naive", 59),
    Goal("ratio_sklearn", 20),
    Goal("ratio_sklearn_10k", 4.7),
)


@dataclass(frozen=True, slots=True)
class Size:
    """So many people and items; others are measured on ``naive`` and ``peer`` of the people."""

    key: str
    people: int
    items: int
    rounds: int
    naive: int
    peer: int

    @property
    def title(self) -> str:
        """Heading of its table."""
        return f"{self.people:,} people, {self.items:,} items, about {ITEMS_EACH} each"


QUICK = (
    Size("1k", 1_000, 20_000, rounds=5, naive=1_000, peer=1_000),
    Size("10k", 10_000, 200_000, rounds=1, naive=100, peer=10_000),
    Size("100k", 100_000, 1_000_000, rounds=1, naive=10, peer=2_000),
)
FULL = (
    Size("1k", 1_000, 20_000, rounds=11, naive=1_000, peer=1_000),
    Size("10k", 10_000, 200_000, rounds=5, naive=1_000, peer=10_000),
    Size("100k", 100_000, 1_000_000, rounds=3, naive=100, peer=5_000),
)


class Enough(Exception):
    """Raised to stop a release after some of the people."""


def main() -> None:
    """Measure and report."""
    options = Options.parse("benchmarks.similarity", "Private neighbours beside scikit-learn.")
    require_module("sklearn", "experiments")
    first = first_call()
    sections = {"First call in this process: code compiled, or loaded if it was before": [first]}
    results = {"first_call_ms": 1000 * first.seconds}
    for size in QUICK if options.quick else FULL:
        rows, figures = compare(size)
        sections[size.title] = rows
        results |= figures
    results["speedup_naive"] = results["speedup_naive_10k"]
    results["ratio_sklearn"] = results["ratio_sklearn_100k"]
    results["peak_mb"] = results["peak_mb_100k"]
    if not options.quick and memory_available() > HUGE_MEMORY:
        sections["1,000,000 people, 1,000,000 items, about 100 each"] = rows = huge()
        results |= {"users_per_second_1m": rows[-1].rate, "peak_mb_1m": peak_mb()}
    report("similarity", sections, results, GOALS, options)


def first_call() -> Row:
    """What the very first release costs: compiled code, tables and ciphers included."""
    profiles = Profiles.of(*lines(200, 2_000))
    work = partial(SIMILARITY.neighbours, profiles, K, source=Source.system())
    return Row("first_call", "Reticent, first release, 200 people", 200, cpu_seconds(work))


def compare(size: Size) -> tuple[list[Row], dict[str, float]]:
    """One size: reading the table, our release, and the others on what they can do."""
    table = lines(size.people, size.items)
    reset_peak()
    reading = cpu_seconds(partial(Profiles.of, *table))
    profiles = Profiles.of(*table)
    del table
    peaks: list[float] = []

    def ours() -> None:
        SIMILARITY.neighbours(profiles, K, source=Source.system())
        peaks.append(peak_mb())  # the first one is before anyone else's turn

    matrix = as_matrix(profiles)
    works: dict[str, Work] = {
        "ours": ours,
        "naive": partial(naive, profiles, size.naive, np.random.default_rng(2)),
        "sklearn": partial(exact, matrix, size.peer),
    }
    taken = medians(works, rounds=size.rounds)
    if size.peer < size.people:  # setting up is for all, so it must not be counted for a sample
        taken["sklearn"] -= cpu_seconds(partial(exact, matrix, 1))
    done = {"ours": size.people, "naive": size.naive, "sklearn": size.peer}
    labels = {
        "ours": "Reticent, private cosine",
        "naive": "plain NumPy loop, private cosine",
        "sklearn": "scikit-learn, brute force, not private",
    }
    rows = [Row(f"reading_{size.key}", "Reticent, reading the table", size.people, reading)]
    for name, label in labels.items():
        part = "" if done[name] == size.people else " (sample)"
        rows.append(Row(f"{name}_{size.key}", label + part, done[name], taken[name]))
    rates = {name: done[name] / taken[name] for name in works}
    return rows, {
        f"users_per_second_{size.key}": rates["ours"],
        f"speedup_naive_{size.key}": rates["ours"] / rates["naive"],
        f"ratio_sklearn_{size.key}": rates["ours"] / rates["sklearn"],
        f"reading_seconds_{size.key}": reading,
        f"peak_mb_{size.key}": peaks[0],
    }


def huge() -> list[Row]:
    """A million people: the table, and lists for the first of them."""
    table = lines(1_000_000, 1_000_000)
    reset_peak()
    begin = time.process_time()
    profiles = Profiles.of(*table)
    reading = time.process_time() - begin
    del table
    times: dict[int, float] = {}

    def stop(done: int, _: int) -> None:
        times[done] = time.process_time()
        if done >= HUGE_PEOPLE:
            raise Enough

    begin = time.process_time()
    with suppress(Enough):
        SIMILARITY.neighbours(profiles, K, source=Source.system(), threads=1, progress=stop)
    first, last = min(times), max(times)  # the first block comes with norms and index
    return [
        Row("reading_1m", "Reticent, reading the table", 1_000_000, reading),
        Row("index_1m", "Reticent, norms and index", 1_000_000, times[first] - begin),
        Row(
            "ours_1m", "Reticent, private cosine (sample)", last - first, times[last] - times[first]
        ),
    ]


def lines(people: int, items: int) -> Lines:
    """A long table: about 100 items each, popular ones more often, any weight."""
    generator = np.random.default_rng(1)
    sizes = generator.poisson(ITEMS_EACH, people).clip(1)
    who = np.repeat(np.arange(people), sizes)
    what = (items * generator.random(who.size) ** 1.5).astype(np.int64)
    return who, what, generator.random(who.size)


def as_matrix(profiles: Profiles) -> sparse.csr_matrix:
    """The weights as scikit-learn takes them."""
    data = profiles.weights / FULL_WEIGHT
    shape = (len(profiles), profiles.n_items)
    return sparse.csr_matrix((data, profiles.indices, profiles.indptr), shape=shape)


def naive(profiles: Profiles, people: int, generator: np.random.Generator) -> object:
    """The task as one would write it: each person against everyone, noise for every pair."""
    scale = float(1 / SIMILARITY.epsilon_overlap)
    weights = profiles.weights / FULL_WEIGHT
    totals = np.add.reduceat(weights, profiles.indptr[:-1])
    noise = generator.laplace(scale=float(1 / SIMILARITY.epsilon_norm), size=totals.size)
    norms = np.maximum(totals + noise, 1)
    best = np.empty((people, K), dtype=np.int64)
    own = np.zeros(profiles.n_items)
    for u in range(people):
        row = slice(profiles.indptr[u], profiles.indptr[u + 1])
        own[profiles.indices[row]] = weights[row]
        shared = np.minimum(own[profiles.indices], weights)
        overlaps = np.add.reduceat(shared, profiles.indptr[:-1])
        own[profiles.indices[row]] = 0
        scores = overlaps + generator.laplace(scale=scale, size=overlaps.size)
        scores /= np.sqrt(norms[u] * norms)
        scores[u] = -np.inf
        candidates = np.argpartition(-scores, K)[:K]
        best[u] = candidates[np.argsort(-scores[candidates])]
    return best


def exact(matrix: sparse.csr_matrix, people: int) -> object:
    """The most similar others without noise; each person also finds themself."""
    neighbours = import_module("sklearn.neighbors")  # it has no types
    search = neighbours.NearestNeighbors(n_neighbors=K + 1, metric="cosine", algorithm="brute")
    return search.fit(matrix).kneighbors(matrix[:people])


def reset_peak() -> None:
    """Start measuring the peak of memory anew, where the system can."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5", encoding="ascii")


def peak_mb() -> float:
    """Most memory held since ``reset_peak``, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():
        return figure(status, "VmHWM:") / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory_available() -> float:
    """Bytes of memory that are free, 0 where the system does not say."""
    return figure(Path("/proc/meminfo"), "MemAvailable:") * 1024


def figure(path: Path, name: str) -> float:
    """The number after ``name`` in a file of the system, or 0."""
    text = path.read_text(encoding="ascii") if path.exists() else ""
    return float(next((line.split()[1] for line in text.splitlines() if line.startswith(name)), 0))


if __name__ == "__main__":
    main()
