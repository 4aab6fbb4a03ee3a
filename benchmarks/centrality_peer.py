"""Egocentric betweenness as one would compute it with networkx, igraph or scipy, node by node.

Notation  e = ties among the neighbours of a node, d = its degree
Not here  our own way, and what is compared (influence.py).

Nobody waits for networkx to end on a hub, so time is estimated by strata: nodes of 2, 3 to 4, 5 to
8 neighbours and so on, some of each measured. Within a stratum time goes with (d + 1) (d + e + 1),
the work of betweenness in the graph around the node. What does not fit the time allowed counts at
the lowest rate that was seen among the last strata measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from reticent.data.graphs import Graph
from reticent.tasks.centrality import triangles

if TYPE_CHECKING:
    from numpy.typing import NDArray

Way: TypeAlias = Callable[[int], float]
"""EBC of one node."""


def networkx_way(graph: Graph) -> Way:
    """Betweenness of the node in its ego graph."""
    nx: Any = import_module("networkx")
    made = nx.Graph()
    made.add_nodes_from(range(graph.size))
    made.add_edges_from(graph.edges.tolist())

    def value(node: int) -> float:
        around = nx.ego_graph(made, node)
        return float(nx.betweenness_centrality(around, normalized=False)[node])

    return value


def igraph_way(graph: Graph) -> Way:
    """Betweenness of the node in the subgraph induced by it and its neighbours."""
    made: Any = import_module("igraph").Graph(n=graph.size, edges=graph.edges.tolist())

    def value(node: int) -> float:
        members = [node, *made.neighbors(node)]
        around = made.induced_subgraph(members, implementation="create_from_scratch")
        return float(around.betweenness(vertices=sum(v < node for v in members[1:])))

    return value


def scipy_way(graph: Graph) -> Way:
    """Common neighbours of all pairs by the product of the submatrix with itself."""
    ones = np.ones(graph.neighbours.size, dtype=np.int32)
    matrix = sparse.csr_array((ones, graph.neighbours, graph.indptr), shape=(graph.size,) * 2)

    def value(node: int) -> float:
        members = graph.of(node)
        ties = matrix[members][:, members]
        paths = sparse.triu(ties @ ties, 1).tocsr()
        common = (paths - paths.multiply(ties)).data
        d = members.size
        return float(d * (d - 1) / 2 - ties.nnz / 2 - (common / (1.0 + common)).sum())

    return value


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """How long all nodes would take, and what was found for those measured."""

    seconds: float
    extrapolated: float  # share of seconds in strata that were not measured
    nodes: NDArray[np.int64]
    values: NDArray[np.float64]

    def difference(self, ours: NDArray[np.float64]) -> float:
        """Worst difference relative to the larger of 1 and the value."""
        own = ours[self.nodes]
        worst = np.abs(self.values - own) / np.maximum(own, 1.0)
        return float(worst.max())


def estimate(graph: Graph, way: Way, *, each: int, allowed: float) -> Estimate:
    """Time ``each`` nodes of a stratum, from few neighbours to many, in about ``allowed`` seconds.

    Nodes of fewer than two neighbours cost nothing, though most programs would look at them.
    """
    degrees = graph.degrees
    work = (degrees + 1.0) * (degrees + triangles(graph) + 1.0)
    stratum = np.ceil(np.log2(np.maximum(degrees, 1))).astype(np.int64)
    seconds, extrapolated, spent, rates = 0.0, 0.0, 0.0, [0.0]
    nodes: list[int] = []
    values: list[float] = []
    for level in range(1, int(stratum.max(initial=0)) + 1):
        held = np.flatnonzero((stratum == level) & (degrees > 1))
        if not held.size:
            continue
        order = held[np.argsort(work[held], kind="stable")]
        chosen = order[_spread(held.size, each)]
        if rates[-1] * work[chosen].sum() > allowed - spent:
            total = min(rates[-3:]) * float(work[held].sum())
            extrapolated += total
        else:
            begin = time.process_time()
            values.extend(way(node) for node in chosen.tolist())
            taken = time.process_time() - begin
            spent += taken
            nodes.extend(chosen.tolist())
            rates.append(taken / float(work[chosen].sum()))
            total = rates[-1] * float(work[held].sum())
        seconds += total
    return Estimate(seconds, extrapolated / seconds, np.array(nodes), np.array(values))


def _spread(size: int, each: int) -> NDArray[np.int64]:
    """Up to ``each`` places evenly among ``size``."""
    count = min(each, size)
    return (2 * np.arange(count) + 1) * size // (2 * count)
