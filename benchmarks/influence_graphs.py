"""Graphs for the benchmark of centralities: real ones if they are there, and made-up ones.

Notation  W = paths of two ties among the neighbours of a node, summed over all nodes; T = triangles
Not here  what is measured (influence.py), how others do it (centrality_peer.py).
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from benchmarks.harness import cpu_seconds
from benchmarks.mapping_jobs import memory
from reticent.data.graphs import Graph, read_graph
from reticent.data.synthetic import uniform
from reticent.noise import Source
from reticent.tasks import centrality_kernels as kernels
from reticent.tasks.centrality import _Ranked, egocentric_betweenness


@dataclass(frozen=True, slots=True)
class Recipe:
    """A graph of groups in which everybody knows everybody; few people are in most groups."""

    nodes: int
    edges: int
    skew: float  # 1: all equally sociable
    group: float = 2.0  # typical size of a group

    def draw(self, seed: int = 1) -> Graph:
        """So many nodes and at most so many edges."""
        source = Source.seeded(seed)
        count = 3 * self.edges // 2
        sizes = np.floor(self.group * uniform(count, source) ** -0.4).astype(np.int64).clip(2, 60)
        enough = np.searchsorted(np.cumsum(sizes * (sizes - 1) // 2), 1.3 * self.edges)
        sizes = sizes[: enough + 1]
        members = (self.nodes * uniform(int(sizes.sum()), source) ** self.skew).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        pairs = [np.empty((0, 2), dtype=np.int64)]
        for size in np.unique(sizes).tolist():
            first, second = np.triu_indices(size, 1)
            who = members[starts[sizes == size][:, None] + np.arange(size)]
            pairs.append(np.stack([who[:, first], who[:, second]], axis=2).reshape(-1, 2))
        found = Graph.of_edges(np.concatenate(pairs), nodes=self.nodes).edges
        chosen = np.argsort(uniform(len(found), source))[: self.edges]
        return Graph.of_edges(found[chosen], nodes=self.nodes)


ENRON_LIKE = Recipe(36_692, 183_831, 1.9, 2.4)
GITHUB_LIKE = Recipe(37_700, 289_003, 2.6)
POWER_LAW = Recipe(317_080, 1_049_866, 1.7, 2.2)
LARGE = Recipe(1_000_000, 5_600_000, 2.0, 2.2)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A graph under a name."""

    key: str
    title: str
    graph: Graph


def real_or_made(data: Path | None, folder: str, key: str, recipe: Recipe) -> Case:
    """The real graph if its folder is there, and else one of about its size."""
    for name in ("edges.parquet", "edges.csv.gz", "edges.csv"):
        if data is not None and (data / folder / name).is_file():
            return Case(key, folder, read_graph(data / folder / name))
    return Case(key, f"made like {folder}", recipe.draw())


@njit(cache=True)
def _wedges(starts: Any, splits: Any, rows: Any, places: Any, low: Any, high: Any) -> Any:
    total = np.int64(0)
    for c in range(splits.size):
        d = starts[c + 1] - starts[c]
        tied = np.zeros(d, np.int64)
        ties = kernels.find_ties(c, starts, splits, rows, places, low, high)
        for t in range(ties):
            tied[low[t]] += 1
            tied[high[t]] += 1
        total += (tied * (tied - 1) // 2).sum()
    return total


def wedges(graph: Graph) -> int:
    """W, the work of the plain algorithm."""
    ranked = _Ranked.of(graph)
    return int(_wedges(ranked.starts, ranked.splits, ranked.rows, *ranked.workspace()))


@dataclass(frozen=True, slots=True)
class Alone:
    """A process of its own that held a graph and computed everybody's EBC once."""

    before: float  # megabytes
    peak: float
    seconds: float


def alone(graph: Graph) -> Alone:
    """Memory and CPU time of one process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_alone, graph).result()


def _alone(graph: Graph) -> Alone:
    egocentric_betweenness(Graph.of_edges([(0, 1)]))  # loads the code
    before = memory("VmRSS")
    seconds = cpu_seconds(partial(egocentric_betweenness, graph))
    return Alone(before, memory("VmHWM"), seconds)
