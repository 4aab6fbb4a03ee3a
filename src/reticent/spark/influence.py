"""The most influential nodes of a graph, whose betweenness a cluster computes.

Theory    docs/theory/influence.md, Lemma 1 (egocentric betweenness), Theorem 1 (graphs beyond the
          bound)
Not here  betweenness (tasks/centrality.py), what is promised (tasks/influence.py).

The whole graph goes to every task, and each computes a share of the nodes. Values are exact and so
private: they come back to the driver, which makes the one draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from reticent.data.graphs import Graph, Nodes
from reticent.errors import require
from reticent.mechanisms.base import Release
from reticent.mechanisms.dampening import Scored
from reticent.noise import Source
from reticent.spark.collecting import batches_of, table_of
from reticent.spark.folders import pyspark, quoted
from reticent.spark.workers import in_arrow
from reticent.tasks.batched import arrow
from reticent.tasks.centrality import betweenness_of, shares
from reticent.tasks.influence import EgoSensitivity, Influence

PARTS = 64
"""Tasks that the nodes are dealt out to."""


def graph_of(frame: Any, ends: tuple[str, str], nodes: Nodes = None) -> Graph:
    """A graph of which a DataFrame has a row for each edge; it must fit into one machine."""
    pyspark()
    for name in ends:
        require(name in frame.columns, "frame", "another", f"with a column {name!r}")
    table = table_of(frame.select(*map(quoted, ends)).dropna())
    if table is None:
        return Graph.of_edges([], nodes=nodes)
    if all(arrow().types.is_integer(column.type) for column in table.columns):
        edges = np.stack([np.asarray(column, dtype=np.int64) for column in table.columns], axis=1)
        return Graph.of_edges(edges, nodes=nodes)
    ends_of = [column.to_pylist() for column in table.columns]
    return Graph.of_edges(list(zip(*ends_of, strict=True)), nodes=nodes)


def scored(spark: Any, graph: Graph, influence: Influence, *, parts: int = PARTS) -> Scored:
    """What ``influence.scored`` gives, for egocentric betweenness; private.

    To charge a ledger: ``release_once(influence.mechanism, scored(...), source, ...)``.
    """
    own = influence.centrality == "ebc"
    require(own, "centrality", influence.centrality, "ebc: others need no cluster")
    require(graph.size == influence.nodes, "graph", graph.size, f"of {influence.nodes} nodes")
    used = graph if influence.price == 1 else graph.bounded(influence.bound)
    degrees = np.minimum(used.degrees, influence.bound)
    values = betweenness(spark, used, parts=parts)
    return Scored(values, EgoSensitivity(degrees, influence.bound))


def betweenness(spark: Any, graph: Graph, *, parts: int = PARTS) -> np.ndarray[Any, Any]:
    """Egocentric betweenness of every node: exact, so private."""
    pyspark()
    values = np.full(graph.size, np.nan)
    tasks = spark.range(parts, numPartitions=parts)
    bare = Graph(graph.indptr, graph.neighbours)
    for batch in batches_of(in_arrow(tasks, _betweenness(bare, parts), "node long, value double")):
        values[np.asarray(batch.column("node"))] = np.asarray(batch.column("value"))
    return values


def release_influential(
    spark: Any, graph: Graph, influence: Influence, source: Source, *, parts: int = PARTS
) -> Release[tuple[int, ...]]:
    """Numbers of k nodes. The event states the loss of one edge of the graph given."""
    return influence.mechanism.release(scored(spark, graph, influence, parts=parts), source)


def _betweenness(graph: Graph, parts: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def compute(batches: Iterable[Any]) -> Iterator[Any]:
        dealt = shares(graph, parts)
        for batch in batches:
            for part in batch.column(0).to_pylist():
                nodes = dealt[part]
                values = betweenness_of(graph, nodes, threads=1)
                yield arrow().record_batch({"node": nodes, "value": values})

    return compute
