"""How central each node of a graph is: egocentric betweenness, triangles, degree.

Notation  EBC(c) = sum of 1 / (1 + k) over unordered pairs of neighbours of c that are not tied to
          each other, where k is how many other neighbours of c are tied to both
Not here  what is released (the values are exact, so private), the loops (centrality_kernels.py).

EBC is how often c stands between two of its neighbours on shortest paths inside its own
surroundings. The work is the number of paths of two ties among neighbours, not the number
of pairs: a hub of 9,458 neighbours has 44.7 million pairs, and most share nobody.

Values do not depend on the number of threads or on the order of nodes: pairs are counted in whole
numbers, and every node's sum is formed in one order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.graphs import Graph
from reticent.errors import require
from reticent.rational import whole
from reticent.tasks import centrality_kernels as kernels
from reticent.tasks.scattering import Scatter

if TYPE_CHECKING:
    from numpy.typing import NDArray

Progress: TypeAlias = Callable[[float], object]
"""Told the share of the work that is done, from 0 to 1, in the thread of the caller."""

SCATTERED = 64
"""Parts that the nodes are dealt out to where several machines work."""
_PARTS = 256
_LEAST_WORK = 1 << 15  # entries read; less is not worth a thread


def degree(graph: Graph) -> NDArray[np.int64]:
    """Neighbours of each node."""
    return graph.degrees


def triangles(
    graph: Graph, *, threads: int | None = None, progress: Progress | None = None
) -> NDArray[np.int64]:
    """Triangles through each node.

    >>> triangles(Graph.of_edges([(0, 1), (1, 2), (2, 0), (2, 3)])).tolist()
    [1, 1, 1, 0]
    """
    values = np.zeros(graph.size, dtype=np.int64)
    return _Ranked.of(graph).run(kernels.count_ties, values, threads, progress)


def egocentric_betweenness(
    graph: Graph, *, threads: int | None = None, progress: Progress | None = None
) -> NDArray[np.float64]:
    """EBC of each node, on as many threads as there are processors unless ``threads`` says so.

    >>> path = Graph.of_edges([(0, 1), (1, 2), (2, 3)])
    >>> egocentric_betweenness(path).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    values = np.zeros(graph.size, dtype=np.float64)
    return _Ranked.of(graph).run(kernels.betweenness, values, threads, progress)


def betweenness_of(
    graph: Graph, nodes: NDArray[np.int64], *, threads: int | None = None
) -> NDArray[np.float64]:
    """EBC of some nodes only, in this order: the same values as ``egocentric_betweenness`` has.

    >>> path = Graph.of_edges([(0, 1), (1, 2), (2, 3)])
    >>> betweenness_of(path, np.array([2, 0])).tolist()
    [1.0, 0.0]
    """
    nodes = np.asarray(nodes, dtype=np.int64)
    inside = bool(((nodes >= 0) & (nodes < graph.size)).all())
    require(inside, "nodes", "others", f"numbers from 0 to {graph.size - 1}")
    values = np.zeros(graph.size, dtype=np.float64)
    return _Ranked.of(graph).run(kernels.betweenness, values, threads, None, nodes)[nodes]


def shares(graph: Graph, count: int) -> list[NDArray[np.int64]]:
    """All nodes in ``count`` lists of about the same work, for whoever has several machines.

    >>> [part.tolist() for part in shares(Graph.of_edges([(0, 1), (1, 2), (2, 3)]), 2)]
    [[2, 0], [1, 3]]
    """
    whole(count, "count", least=1)
    ranked = _Ranked.of(graph)
    heavy = np.argsort(-ranked.work[ranked.ranks], kind="stable")
    return [heavy[at::count] for at in range(count)]


def scattered_betweenness(graph: Graph, scatter: Scatter) -> NDArray[np.float64]:
    """EBC of each node, a share of the nodes in each part; the whole graph goes to every one."""
    values = np.full(graph.size, np.nan)
    bare = Graph(graph.indptr, graph.neighbours)
    for nodes, own in scatter(_share, bare, SCATTERED):
        values[nodes] = own
    return values


def _share(graph: Graph, part: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    nodes = shares(graph, SCATTERED)[part]
    return nodes, betweenness_of(graph, nodes, threads=1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Ranked:
    """The graph with nodes numbered by rising degree: v is called ``ranks[v]``."""

    ranks: NDArray[np.int64]
    starts: NDArray[np.int64]
    splits: NDArray[np.int64]
    rows: NDArray[np.int32]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> _Ranked:
        order = np.argsort(graph.degrees, kind="stable")
        ranks = np.empty(graph.size, dtype=np.int64)
        ranks[order] = np.arange(graph.size)
        starts = np.concatenate([[0], np.cumsum(graph.degrees[order])])
        rows, splits = kernels.renumber(
            graph.indptr, graph.neighbours, order, ranks, starts, starts[:-1].copy()
        )
        return cls(ranks, starts, splits, rows, kernels.scan_lengths(starts, splits, rows))

    @property
    def work(self) -> NDArray[np.int64]:
        """Entries read for each ego."""
        return self.lengths + np.diff(self.starts) + 1

    def parts(self, nodes: NDArray[np.int64] | None = None) -> list[NDArray[np.int64]]:
        """Egos in parts of about the same work, those of high degree first."""
        chosen = np.arange(self.ranks.size) if nodes is None else np.unique(self.ranks[nodes])
        egos = chosen[::-1].copy()  # in one piece: kernels compile once for each layout
        work = np.cumsum(self.work[egos])
        if not work.size:
            return []
        count = min(_PARTS, 1 + int(work[-1]) // _LEAST_WORK)
        cuts = np.searchsorted(work, work[-1] * np.arange(1, count) // count)
        return [part for part in np.split(egos, np.unique(cuts)) if part.size]

    def workspace(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """For one thread: the place of each node around the ego, and the ties found."""
        ties = int(self.lengths.max(initial=0)) + 1
        low, high = np.empty((2, ties), dtype=np.int32)
        return np.zeros(self.splits.size, dtype=np.int32), low, high

    def run(
        self,
        kernel: Any,
        values: NDArray[Any],
        threads: int | None,
        progress: Progress | None,
        nodes: NDArray[np.int64] | None = None,
    ) -> NDArray[Any]:
        """Fill ``values`` by a kernel, part by part, and put them in the order of the graph.

        Of ``nodes`` only, if they are given.
        """
        parts = self.parts(nodes)
        count = whole(os.cpu_count() or 1 if threads is None else threads, "threads", least=1)
        spare: SimpleQueue[Any] = SimpleQueue()
        for _ in range(min(count, len(parts))):
            spare.put(self.workspace())

        def work(part: NDArray[np.int64]) -> None:
            space = spare.get()
            try:
                kernel(part, self.starts, self.splits, self.rows, *space, values)
            finally:
                spare.put(space)

        if count == 1 or len(parts) < 2:
            for done, part in enumerate(parts, start=1):
                work(part)
                _tell(progress, done, len(parts))
            return values[self.ranks]
        pool = ThreadPoolExecutor(min(count, len(parts)))
        try:
            pending = [pool.submit(work, part) for part in parts]
            for done, future in enumerate(as_completed(pending), start=1):
                future.result()
                _tell(progress, done, len(parts))
        finally:
            pool.shutdown(cancel_futures=True)
        return values[self.ranks]


def _tell(progress: Progress | None, done: int, parts: int) -> None:
    if progress is not None:
        progress(done / parts)
