"""The most influential nodes of a graph, chosen so that no single edge shows.

Theory    docs/theory/influence.md, Lemma 1 (egocentric betweenness), Lemma 2 (triangles),
          Theorem 1 (graphs beyond the bound); docs/theory/dampening.md
Notation  d = degree, D = public bound of degrees, phi(d) = max(d (d - 1) / 4, d), G = phi(D)
Not here  centralities themselves (centrality.py), the mechanism (mechanisms/top_dampened.py).

Nodes are public, edges are private. Who knows that no degree can exceed D may say so; otherwise
edges beyond D are dropped by a public rule, of which one edge can change three, and the promise
accounts for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from reticent.data.graphs import STABILITY, Graph
from reticent.errors import require
from reticent.guarantees import EDGE
from reticent.mechanisms.base import Release
from reticent.mechanisms.dampening import Dampened, Law, Scored, Shift
from reticent.mechanisms.local_sensitivity import WIDENED, LocalSensitivity, Tabled
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Grid, Source
from reticent.rational import Number, positive, whole
from reticent.tasks.centrality import Progress, degree, egocentric_betweenness, triangles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

Centrality = Literal["ebc", "degree", "triangles"]
_QUARTERS = Grid(-2)  # phi is a multiple of 1/4
TEST = Fraction(1, 10)


@dataclass(frozen=True, slots=True, eq=False)
class EgoSensitivity(LocalSensitivity):
    """delta(t, v) = min(phi(d + t), phi(D)) of egocentric betweenness, its sums in closed form."""

    degrees: Whole
    bound: int

    @property
    def candidates(self) -> int:
        """How many nodes there are."""
        return len(self.degrees)

    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """b(i, v) = S(d + i) - S(d) below the bound, and the limit beyond it. Lemma 1."""
        require(grid == _QUARTERS, "grid", grid, "quarters")
        d = self.degrees
        below = np.clip(self.bound - d, 0, steps)
        inside = _sum_of_phi(d + below) - _sum_of_phi(d) + WIDENED * below
        return np.asarray(inside + (steps - below) * limit)


def _sum_of_phi(x: Whole) -> Whole:
    """4 (phi(0) + ... + phi(x - 1)) = x (x - 1) (x - 2) / 3 + 20 from 5 on, 2 x (x - 1) below."""
    return np.asarray(np.where(x >= 5, x * (x - 1) * (x - 2) // 3 + 20, 2 * x * (x - 1)))


def phi(d: int) -> Fraction:
    """What one edge changes at most in the betweenness of a node of degree d. Lemma 1.

    >>> [str(phi(d)) for d in (0, 2, 5, 6)]
    ['0', '2', '5', '15/2']
    """
    return max(Fraction(d * (d - 1), 4), Fraction(d))


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """How to choose the ``k`` most influential of ``nodes`` nodes; everything in here is public.

    ``bound`` is D. With ``within=True`` you state that no graph that could be met exceeds it, as
    holds for nodes - 1; otherwise edges beyond it are dropped, at three times the price.
    """

    k: int
    epsilon: Number
    nodes: int
    bound: int
    within: bool = False
    centrality: Centrality = "ebc"
    shift: Shift = "left"
    law: Law = "permute-and-flip"
    steps: int | None = None
    test: Number = TEST

    def __post_init__(self) -> None:
        whole(self.nodes, "nodes", least=2)
        whole(self.bound, "bound", least=1)
        good = self.centrality in get_args(Centrality)
        require(good, "centrality", self.centrality, ", ".join(get_args(Centrality)))
        object.__setattr__(self, "bound", min(self.bound, self.nodes - 1))
        positive(self.epsilon, "epsilon")
        _ = self.mechanism  # checks the rest

    @property
    def price(self) -> int:
        """Edges of the graph used that one edge of the graph given can change. Theorem 1."""
        return 1 if self.within or self.bound == self.nodes - 1 else STABILITY

    @property
    def mechanism(self) -> TopDampened:
        """The mechanism: each edge of the graph that is used loses epsilon / price."""
        ego = self.centrality == "ebc"
        limit = {"ebc": phi(self.bound), "degree": Fraction(1), "triangles": Fraction(self.bound)}
        all_steps = self.bound if self.centrality != "degree" else 0
        one = Dampened(
            epsilon=self.epsilon,
            candidates=self.nodes,
            limit=limit[self.centrality],
            steps=all_steps if self.steps is None else self.steps,
            shift=self.shift,
            law=self.law,
            unit=EDGE,
            grid=_QUARTERS if ego else None,
        )
        test = self.test if self.centrality != "degree" else 0
        return TopDampened(whole=one, k=self.k, test=test, changes=self.price)

    def scored(self, graph: Graph, progress: Progress | None = None) -> Scored:
        """Centralities and their local sensitivities; private."""
        require(graph.size == self.nodes, "graph", graph.size, f"of {self.nodes} nodes")
        used = graph if self.price == 1 else graph.bounded(self.bound)
        if self.centrality == "degree":
            return Scored(degree(used), Tabled.of(np.ones(self.nodes)))
        degrees = np.minimum(used.degrees, self.bound)
        if self.centrality == "ebc":
            values = egocentric_betweenness(used, progress=progress)
            return Scored(values, EgoSensitivity(degrees, self.bound))
        return Scored(triangles(used, progress=progress), TriangleSensitivity(degrees, self.bound))

    def release(
        self, graph: Graph, source: Source, progress: Progress | None = None
    ) -> Release[tuple[int, ...]]:
        """Numbers of k nodes. The event states the loss of one edge of the graph given."""
        return self.mechanism.release(self.scored(graph, progress), source)


@dataclass(frozen=True, slots=True, eq=False)
class TriangleSensitivity(LocalSensitivity):
    """delta(t, v) = min(max(d + t, 1), D) of the number of triangles through a node. Lemma 2."""

    degrees: Whole
    bound: int

    @property
    def candidates(self) -> int:
        """How many nodes there are."""
        return len(self.degrees)

    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """Sums of whole numbers, and of the limit beyond the bound."""
        scale = int(1 / grid.step)
        d = self.degrees
        below = np.clip(self.bound - d, 0, steps)
        first = np.where((d == 0) & (below > 0), 1, 0)  # max(0, 1) instead of 0
        whole_sum = below * d + below * (below - 1) // 2 + first
        return np.asarray(scale * whole_sum + WIDENED * below + (steps - below) * limit)
