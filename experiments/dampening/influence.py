"""Figure 2: the k nodes of largest egocentric betweenness, by seven mechanisms.

``exponential``, ``permute-and-flip``, ``dampened`` and ``shifted`` are the paper's: k rounds of one
k-th of the budget, scores that may move apart by 2. ``adaptive`` is what the library does unless
told otherwise. ``degree`` is the exponential mechanism on degrees, which are not what is asked for;
``degree, one-sided`` uses that one edge moves no two degrees apart by more than 1.

The bound of degrees is declared. It is the graph's own largest degree, as in the paper, but for
two further cases: the number of nodes less one, which needs no knowledge, and a smaller one, beyond
which edges are dropped at three times the price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments.dampening.datasets import Network, Scale
from experiments.dampening.results import Pool, Table, reached, share_ends
from experiments.harness import progress, stream
from reticent.guarantees import EDGE
from reticent.mechanisms.dampening import Dampened, Law, Scored, Shift
from reticent.mechanisms.local_sensitivity import LocalSensitivity
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Grid
from reticent.tasks.influence import Influence, phi

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXPONENTIAL, FLIP, DAMPENED, SHIFTED = "exponential", "permute-and-flip", "dampened", "shifted"
ADAPTIVE, DEGREE, ONE_SIDED = "adaptive", "degree", "degree, one-sided"
PAPERS = (EXPONENTIAL, FLIP, DAMPENED, SHIFTED)
SERIES = (*PAPERS, ADAPTIVE, DEGREE, ONE_SIDED)
SHARES = (0.9, 0.5)
FOCUS_K, FOCUS_EPSILONS = 10, (1.0, 1000.0)


@dataclass(frozen=True, slots=True, eq=False)
class Remembered(LocalSensitivity):
    """Sums that were asked for before: a release is repeated many times on the same graph."""

    inner: LocalSensitivity
    held: dict[tuple[bytes, int], NDArray[np.int64]] = field(default_factory=dict)

    @property
    def candidates(self) -> int:
        """How many nodes there are."""
        return self.inner.candidates

    def sums(self, steps: NDArray[np.int64], grid: Grid, limit: int) -> NDArray[np.int64]:
        """Those of ``inner``; the grid is always the same here."""
        key = steps.tobytes(), limit
        if key not in self.held:
            self.held[key] = self.inner.sums(steps, grid, limit)
        return self.held[key]


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """What a bound of degrees makes of a graph: scored once, released many times."""

    data: str
    truth: NDArray[np.float64]
    nodes: int
    bound: int
    within: bool
    by_betweenness: Scored
    by_degree: Scored

    @classmethod
    def of(cls, network: Network, bound: int, *, within: bool, data: str) -> Contest:
        """Truth is that of the whole graph, whatever is dropped."""
        nodes = network.graph.size
        asked = {"k": 1, "epsilon": 1, "nodes": nodes, "bound": bound, "within": within}
        ego = Influence(**asked)  # type: ignore[arg-type]
        plain = Influence(**asked, centrality="degree")  # type: ignore[arg-type]
        seen, degrees = ego.scored(network.graph), plain.scored(network.graph)
        remembered = Scored(seen.utilities, Remembered(seen.sensitivity))
        return cls(data, network.truth, nodes, ego.bound, within, remembered, degrees)

    def mechanism(self, series: str, k: int, epsilon: float) -> TopDampened:
        """The mechanism of this name."""
        asked = {"k": k, "epsilon": epsilon, "nodes": self.nodes, "bound": self.bound}
        ours = Influence(**asked, within=self.within)  # type: ignore[arg-type]
        if series == ADAPTIVE:
            return ours.mechanism
        if series == ONE_SIDED:
            degrees = Influence(**asked, within=self.within, centrality="degree")  # type: ignore[arg-type]
            return degrees.mechanism
        shift: Shift = "none" if series == DAMPENED else "left"
        law: Law = "permute-and-flip" if series == FLIP else "exponential"
        one = Dampened(
            epsilon=epsilon,
            candidates=self.nodes,
            limit=1 if series == DEGREE else phi(self.bound),
            steps=self.bound if series in (DAMPENED, SHIFTED) else 0,
            shift=shift,
            law=law,
            unit=EDGE,
            grid=None if series == DEGREE else Grid(-2),
            spread=2,
        )
        return TopDampened(whole=one, k=k, changes=ours.price)

    def scored(self, series: str) -> Scored:
        """What the mechanism of this name sees."""
        return self.by_degree if series in (DEGREE, ONE_SIDED) else self.by_betweenness

    def overlap(self, series: str, k: int, epsilon: float, runs: int) -> float:
        """The mean share of the true best k that is found; equals at the edge are as good."""
        mechanism, scored = self.mechanism(series, k, epsilon), self.scored(series)
        source = stream("overlap", self.data, series, k, epsilon)
        found = sum(hits(self.truth, mechanism.release(scored, source).value) for _ in range(runs))
        return found / (k * runs)


def hits(truth: NDArray[np.float64], chosen: tuple[int, ...]) -> int:
    """How many of the chosen are among the best as many; equals at the edge are as good."""
    k = len(chosen)
    edge = np.partition(truth, -k)[-k]
    values = truth[list(chosen)]
    level = min(int((values == edge).sum()), k - int((truth > edge).sum()))
    return int((values > edge).sum()) + level


def figure(k: int) -> str:
    """The name of the rows of one column of Figure 2."""
    return f"overlap, k = {k}"


def run(pool: Pool, networks: list[Network], scale: Scale) -> dict[str, str]:
    """Figure 2, the two further bounds and two points with more runs; names of the bounds."""
    first = networks[0]
    for network in networks:
        contest = Contest.of(network, network.largest, within=True, data=network.name)
        for k in scale.ks:
            _curves(pool, contest, k, scale)
        _orders(pool, contest, network, scale.ks)
        if network is first:
            _focus(pool, contest, scale)
    bounds = {
        "declared": first.name,
        "certain": f"{first.name}, bound n - 1",
        "dropped": f"{first.name}, bound {scale.dropped}",
    }
    certain = Contest.of(first, first.graph.size - 1, within=True, data=bounds["certain"])
    dropped = Contest.of(first, scale.dropped, within=False, data=bounds["dropped"])
    for contest in (certain, dropped):
        _curves(pool, contest, FOCUS_K, scale)
    return bounds


def _curves(pool: Pool, contest: Contest, k: int, scale: Scale) -> None:
    for series in SERIES:
        progress(f"{contest.data}, k = {k}: {series}")
        for epsilon in scale.epsilons:
            share = contest.overlap(series, k, epsilon, scale.runs)
            ends = share_ends(share, scale.runs)
            pool.add(figure(k), contest.data, series, epsilon, share, ends)
    _needed(pool, contest.data, k)


def _needed(pool: Pool, data: str, k: int) -> None:
    """Budgets at which shares are reached, and by what factor less than the exponential one's."""
    table = Table(pool.rows)
    for share in SHARES:
        budgets = {s: reached(table.curve(figure(k), data, s), share) for s in SERIES}
        for series, budget in budgets.items():
            if not math.isnan(budget):
                pool.add(f"budget for {share:.0%}", data, series, k, budget)
            if not math.isnan(factor := budgets[EXPONENTIAL] / budget):
                pool.add(f"factor at {share:.0%}", data, series, k, factor)


def _focus(pool: Pool, contest: Contest, scale: Scale) -> None:
    for series in SERIES:
        for epsilon in FOCUS_EPSILONS:
            share = contest.overlap(series, FOCUS_K, epsilon, scale.focus_runs)
            ends = share_ends(share, scale.focus_runs)
            pool.add("focus", contest.data, series, epsilon, share, ends)


def _orders(pool: Pool, contest: Contest, network: Network, ks: tuple[int, ...]) -> None:
    """How scores go with degrees, and what would be found without any noise."""
    degrees = network.graph.degrees.astype(np.float64)
    for series in (DAMPENED, SHIFTED):
        scores = contest.mechanism(series, 1, 1).whole.scores(contest.by_betweenness)
        for name, other in (("degree", degrees), ("betweenness", contest.truth)):
            linear = float(np.corrcoef(scores, other)[0, 1])
            pool.add("correlation", network.name, series, name, linear)
    for series in SERIES:
        whole = contest.mechanism(series, 1, 1).whole
        own = whole.scores(contest.scored(series)).astype(np.float64)
        order = np.argsort(-(contest.truth if series == ADAPTIVE else own), kind="stable")
        for k in ks:
            share = hits(contest.truth, tuple(order[:k].tolist())) / k
            pool.add("without noise", network.name, series, k, share)
