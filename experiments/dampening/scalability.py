"""Time against size: betweenness of everybody in made graphs, and a choice among many candidates.

Times are CPU seconds, the fastest of three, as multiples of the smallest size's: machines differ.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from experiments.dampening.datasets import Scale, made
from experiments.dampening.results import Curve, Pool
from experiments.harness import progress, stream
from reticent.data.graphs import Graph
from reticent.mechanisms.dampening import Scored
from reticent.tasks.centrality import egocentric_betweenness
from reticent.tasks.influence import EgoSensitivity, Influence

GRAPHS, CANDIDATES = "made graphs", "made candidates"
BETWEENNESS, RELEASE = "betweenness", "release"
NODES_PER_EDGE = 0.2
K, BOUND = 10, 1_000


def run(pool: Pool, scale: Scale) -> None:
    """Both curves and how they grow."""
    egocentric_betweenness(Graph.of_edges([(0, 1)]))  # loads the code
    graphs = []
    for edges in scale.edges:
        progress(f"betweenness of {edges:,} edges")
        graph = made(int(NODES_PER_EDGE * edges), edges, stream("growth", edges))
        graphs.append((graph.n_edges, _seconds(partial(egocentric_betweenness, graph))))
    _note(pool, GRAPHS, BETWEENNESS, graphs)
    chosen = []
    for count in scale.candidates:
        progress(f"a choice among {count:,}")
        chosen.append((count, _seconds(_release(count))))
    _note(pool, CANDIDATES, RELEASE, chosen)


def _release(count: int) -> Callable[[], object]:
    """All of a release but betweenness."""
    degrees = np.minimum(1 + np.arange(count) % BOUND, BOUND)
    scored = Scored(degrees * (degrees - 1) / 3, EgoSensitivity(degrees, BOUND))
    task = Influence(k=K, epsilon=1, nodes=count, bound=BOUND, within=True)
    return partial(task.mechanism.release, scored, stream("release", count))


def _seconds(work: Callable[[], object]) -> float:
    best = math.inf
    for _ in range(3):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def _note(pool: Pool, data: str, series: str, times: list[tuple[int, float]]) -> None:
    for size, seconds in times:
        pool.add("time", data, series, size, seconds / times[0][1])
    pool.add("growth", data, series, "", growth(times))


def growth(times: Curve) -> float:
    """The exponent of size that fits best: 1 is linear, 2 quadratic.

    >>> round(growth([(1, 1.0), (2, 4.0), (4, 16.0)]), 6)
    2.0
    """
    x, y = np.log(np.array(times, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])
