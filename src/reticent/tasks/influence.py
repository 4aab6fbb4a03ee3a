"""The most influential nodes of a graph, chosen so that no single edge shows.

Theory    docs/theory/influence.md, Lemma 1 (egocentric betweenness), Lemma 2 (triangles),
          Lemma 3 (an edge more moves scores one way), Theorem 1 (graphs beyond the bound);
          docs/theory/dampening.md
Notation  d = degree, D = public bound of degrees, phi(d) = max(d (d - 1) / 4, d), G = phi(D)
Not here  centralities themselves (centrality.py), the mechanism (mechanisms/top_dampened.py).

Nodes are public, edges are private. Who knows that no degree can exceed D may say so; otherwise
edges beyond D are dropped by a public rule, of which one edge can change three, and the promise
accounts for that.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from reticent.data.graphs import STABILITY, Graph
from reticent.errors import require
from reticent.guarantees import EDGE
from reticent.mechanisms.base import Release
from reticent.mechanisms.dampening import Dampened, Law, Scored, Shift
from reticent.mechanisms.local_sensitivity import WIDENED, LocalSensitivity, Tabled
from reticent.mechanisms.top_dampened import TopDampened, usual_test
from reticent.noise import Grid, Source
from reticent.rational import Number, positive, whole
from reticent.tasks.centrality import (
    Progress,
    degree,
    egocentric_betweenness,
    scattered_betweenness,
    triangles,
)
from reticent.tasks.scattering import Scatter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

Centrality = Literal["ebc", "degree", "triangles"]
_QUARTERS = Grid(-2)  # phi is a multiple of 1/4
_GRIDS: dict[Centrality, Grid] = {"ebc": _QUARTERS, "degree": Grid(-16), "triangles": Grid(-8)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _ByDegree(LocalSensitivity):
    """delta(t, v) that depends on d + t, up to the bound of degrees, and is the limit beyond it."""

    degrees: Whole
    bound: int

    @property
    def candidates(self) -> int:
        """How many nodes there are."""
        return len(self.degrees)

    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """b(i, v): below the bound sums in closed form, and the limit beyond it."""
        below = np.clip(self.bound - self.degrees, 0, steps)
        return np.asarray(self._first(below, grid) + WIDENED * below + (steps - below) * limit)

    @abstractmethod
    def _first(self, count: Whole, grid: Grid) -> Whole:
        """delta(0, v) + ... + delta(count - 1, v) in steps of the grid, not widened."""


class EgoSensitivity(_ByDegree):
    """delta(t, v) = min(phi(d + t), phi(D)) of egocentric betweenness. Lemma 1."""

    __slots__ = ()

    def _first(self, count: Whole, grid: Grid) -> Whole:
        """S(d + i) - S(d)."""
        require(grid == _QUARTERS, "grid", grid, "quarters")
        return _sum_of_phi(self.degrees + count) - _sum_of_phi(self.degrees)


class TriangleSensitivity(_ByDegree):
    """delta(t, v) = min(max(d + t, 1), D) of the number of triangles through a node. Lemma 2."""

    __slots__ = ()

    def _first(self, count: Whole, grid: Grid) -> Whole:
        """Sums of whole numbers, with max(0, 1) instead of the 0 of a node without edges."""
        require(grid.exponent <= 0, "grid", grid, "one on which whole numbers are")
        alone = np.where((self.degrees == 0) & (count > 0), 1, 0)
        whole_sum = count * self.degrees + count * (count - 1) // 2 + alone
        return np.asarray(int(1 / grid.step) * whole_sum)


def _sum_of_phi(x: Whole) -> Whole:
    """4 (phi(0) + ... + phi(x - 1)) = x (x - 1) (x - 2) / 3 + 20 from 5 on, 2 x (x - 1) below."""
    return np.asarray(np.where(x >= 5, x * (x - 1) * (x - 2) // 3 + 20, 2 * x * (x - 1)))


def phi(d: int) -> Fraction:
    """What one edge changes at most in the betweenness of a node of degree d. Lemma 1.

    >>> [str(phi(d)) for d in (0, 2, 5, 6)]
    ['0', '2', '5', '15/2']
    """
    return max(Fraction(d * (d - 1), 4), Fraction(d))


def _ego_moves(bound: int, steps: int) -> tuple[Fraction, Fraction]:
    """Limit and spread of shifted egocentric betweenness, from all degrees. Lemma 3.

    With all steps a limit above phi(D) pays: no score then falls by more than D / 2.
    """
    d = np.arange(bound, dtype=np.int64)  # of a node before an edge is added to it; in quarters
    own, falls = np.maximum(d * (d - 1), 4 * d), d * (d - 1)
    most = max(bound * (bound - 1), 4 * bound)
    if steps >= bound:
        most = max(most, int((own + falls).max()) - 2 * bound)
    reached = d + steps
    later = np.where(reached < bound, np.maximum(reached * (reached - 1), 4 * reached), most)
    moved = later - own if steps else np.zeros_like(own)
    rise, fall = int((moved + 4 * d).max()), max(int((falls - moved).max()), 2 * bound)
    rounded = 2 * WIDENED  # an edge moves a rounded utility by so much less or more
    spread = Fraction(max(rise, 0) + fall + rounded, most + WIDENED)
    return Fraction(most, 4), min(spread, Fraction(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """How to choose the ``k`` most influential of ``nodes`` nodes; everything in here is public.

    ``bound`` is D. With ``within=True`` you state that no graph that could be met exceeds it, as
    holds for nodes - 1; otherwise edges beyond it are dropped, at three times the price. Of epsilon
    the share ``test`` asks whether plain scores stand out; with 0 shifted ones are taken.
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
    test: Number | None = None

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
        steps = self.bound if self.steps is None else self.steps
        limit, spread = self._moves(0 if self.centrality == "degree" else steps)
        plain_limit, plain_spread = self._moves(0)
        plain = Dampened(
            epsilon=self.epsilon,
            candidates=self.nodes,
            limit=plain_limit,
            steps=0,
            law=self.law,
            unit=EDGE,
            grid=_GRIDS[self.centrality],
            spread=plain_spread,
        )
        if self.centrality == "degree":
            return TopDampened(whole=plain, plain=plain, k=self.k, changes=self.price)
        one_way = self.shift == "left"
        whole = replace(
            plain,
            limit=limit if one_way else plain_limit,
            steps=steps,
            shift=self.shift,
            spread=spread if one_way else 2,
        )
        test = usual_test(self.k, self.nodes) if self.test is None else self.test
        return TopDampened(whole=whole, plain=plain, k=self.k, test=test, changes=self.price)

    def _moves(self, steps: int) -> tuple[Fraction, Fraction]:
        """Limit and spread of scores shifted left by so many steps. Lemma 3."""
        if self.centrality == "ebc":
            return _ego_moves(self.bound, steps)
        return Fraction(1 if self.centrality == "degree" else self.bound), Fraction(1)

    def scored(
        self,
        graph: Graph,
        progress: Progress | None = None,
        scatter: Scatter | None = None,
    ) -> Scored:
        """Centralities and their local sensitivities; private."""
        kind = type(graph).__name__
        require(isinstance(graph, Graph), "graph", kind, "a Graph: see of_edges, of_networkx")
        require(graph.size == self.nodes, "graph", graph.size, f"of {self.nodes} nodes")
        used = graph if self.price == 1 else graph.bounded(self.bound)
        if self.centrality == "degree":
            return Scored(degree(used), Tabled.of(np.ones(self.nodes)))
        degrees = np.minimum(used.degrees, self.bound)
        if self.centrality == "ebc":
            values = (
                egocentric_betweenness(used, progress=progress)
                if scatter is None
                else scattered_betweenness(used, scatter)
            )
            return Scored(values, EgoSensitivity(degrees, self.bound))
        return Scored(triangles(used, progress=progress), TriangleSensitivity(degrees, self.bound))

    def release(
        self, graph: Graph, source: Source, progress: Progress | None = None
    ) -> Release[tuple[int, ...]]:
        """Numbers of k nodes. The event states the loss of one edge of the graph given."""
        return self.mechanism.release(self.scored(graph, progress), source)
