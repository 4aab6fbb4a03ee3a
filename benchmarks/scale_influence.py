"""Influential nodes of a graph that grows, ten neighbours each on average.

Not here  who measures (scale.py), peers of the same task (influence.py).

Half of the edges close triangles: an edge leads to a neighbour of a neighbour of a ring, the rest
anywhere. So the surroundings of a node do not grow with the graph.
"""

from __future__ import annotations

import numpy as np

from reticent.data.graphs import Graph
from reticent.mechanisms.base import Release
from reticent.noise import Source
from reticent.tasks.influence import Influence

NEAR, FAR, K = 3, 2, 10


def make(nodes: int) -> Graph:
    """A ring in which everybody knows the nearest six, and edges across it."""
    generator = np.random.default_rng(1)
    own = np.arange(nodes)
    near = [np.column_stack([own, (own + step) % nodes]) for step in range(1, NEAR + 1)]
    far = generator.integers(0, nodes, (FAR * nodes, 2))
    return Graph.of_edges(np.concatenate([*near, far]), nodes)


def choose(graph: Graph) -> Release[tuple[int, ...]]:
    """Ten nodes by egocentric betweenness."""
    ask = Influence(k=K, epsilon=1, nodes=graph.size, bound=50)
    return ask.release(graph, Source.system())
