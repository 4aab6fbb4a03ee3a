"""Influential nodes: egocentric betweenness of all nodes beside networkx, igraph and scipy.

Everybody computes the same values: ours for all nodes of a graph on one thread, the others for some
nodes of every size, from which their time for all is estimated (centrality_peer.py). The graphs
are Enron's and GitHub's if their folders are given, and made up otherwise, and a made-up one of
317,080 nodes. The first call, which loads or compiles code, has a row of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import centrality_peer as peers
from benchmarks.harness import (
    Goal,
    Options,
    Row,
    cpu_seconds,
    explain_keys,
    medians,
    report,
    require_module,
)
from benchmarks.influence_graphs import (
    ENRON_LIKE,
    GITHUB_LIKE,
    LARGE,
    POWER_LAW,
    Case,
    Recipe,
    alone,
    real_or_made,
    wedges,
)
from reticent.data.graphs import Graph
from reticent.mechanisms.dampening import Scored
from reticent.noise import Grid, Source
from reticent.tasks.centrality import egocentric_betweenness, triangles
from reticent.tasks.influence import EgoSensitivity, Influence

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOALS = (
    Goal("speedup_networkx", 200),
    Goal("speedup_igraph", 15),
    Goal("speedup_scipy", 40),
    Goal("speedup_closed_form", 100),
    Goal("spare_agreement", 1),
    Goal("spare_time", 1),
    Goal("spare_memory", 1),
)
AGREED = 1e-9
MILLION, FEWER, HUB = 1_000_000, 37_700, 9_458  # nodes; as many as GitHub's graph, and its hub
WEDGE, ENTRY = 2.5e-9, 120e-9  # CPU seconds allowed per path of two ties, and per tie from one end
MEMORY = 1_200.0  # megabytes allowed for the largest graph


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run; ``allowed`` seconds go to each of the others on each graph."""

    rounds: int
    each: int
    allowed: float
    judged: tuple[str, ...]  # graphs on which the others run
    sizes: tuple[int, ...]
    alone: Recipe


FULL = Effort(
    5, 24, 60.0, ("enron", "github", "power"), (100_000, 300_000, 1_000_000, 3_000_000), LARGE
)
QUICK = Effort(3, 6, 0.8, ("enron", "github"), (100_000, 300_000), ENRON_LIKE)

WAYS: dict[str, Callable[[Graph], peers.Way]] = {
    "networkx": peers.networkx_way,
    "igraph": peers.igraph_way,
    "scipy": peers.scipy_way,
}


@dataclass(slots=True)
class Found:
    """What was measured, for the table and for programs."""

    sections: dict[str, list[Row]] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)

    def least(self, key: str, value: float) -> None:
        """Keep the smallest of several."""
        self.results[key] = min(value, self.results.get(key, np.inf))

    def most(self, key: str, value: float) -> None:
        """Keep the largest of several."""
        self.results[key] = max(value, self.results.get(key, -np.inf))


def main() -> None:
    """Measure and report."""
    options = Options.parse(
        "benchmarks.influence",
        "Egocentric betweenness of all nodes beside networkx, igraph and scipy.",
        data="holds email-enron/ and musae-github/",
    )
    for module in WAYS:
        require_module(module, "experiments")
    effort = QUICK if options.quick else FULL
    found = Found()
    first_call(found)
    for case in cases(options):
        all_nodes(case, effort, found)
        if case.key in effort.judged:
            beside_others(case, effort, found)
    by_edges(effort.sizes, found)
    by_itself(effort.alone, found)
    selection_among_many(found)
    goals = [goal for goal in GOALS if goal.key in found.results]
    report("influence", found.sections, found.results, goals, options)
    if not options.json:
        explain_keys("More", found.results, MEANINGS)


def cases(options: Options) -> Sequence[Case]:
    """Two graphs of the paper, and a larger one."""
    return (
        real_or_made(options.data, "email-enron", "enron", ENRON_LIKE),
        real_or_made(options.data, "musae-github", "github", GITHUB_LIKE),
        Case("power", "made, a power law", POWER_LAW.draw()),
    )


def first_call(found: Found) -> None:
    """What the very first answer costs."""
    seconds = cpu_seconds(lambda: egocentric_betweenness(Graph.of_edges([(0, 1), (1, 2)])))
    title = "First call in this process: code compiled, or loaded if it was before"
    found.sections[title] = [Row("first_call", "Reticent, three nodes", 3, seconds)]
    found.results["first_call_ms"] = 1000 * seconds


def all_nodes(case: Case, effort: Effort, found: Found) -> None:
    """Our CPU time on one thread, and the time on the clock with all of them."""
    graph, key = case.graph, case.key
    taken = medians(
        {
            "one": partial(egocentric_betweenness, graph, threads=1),
            "triangles": partial(triangles, graph, threads=1),
        },
        rounds=effort.rounds,
    )
    begin = time.perf_counter()
    egocentric_betweenness(graph)
    wall = time.perf_counter() - begin
    found.sections[f"{case.title}: {graph.size:,} nodes, {graph.n_edges:,} edges"] = [
        Row("ours", "Reticent, all nodes, one thread", graph.size, taken["one"]),
        Row("triangles", "  triangles only", graph.size, taken["triangles"]),
        Row("wall", "  on the clock, all threads", graph.size, wall),
    ]
    found.results |= {
        f"seconds_{key}": taken["one"],
        f"wall_seconds_{key}": wall,
        f"ns_per_wedge_{key}": 1e9 * taken["one"] / wedges(graph),
    }
    found.least("spare_time", allowed(graph) / taken["one"])


def beside_others(case: Case, effort: Effort, found: Found) -> None:
    """Speed-ups on one graph, and whether everybody finds the same."""
    ours = egocentric_betweenness(case.graph)
    rows = next(held for title, held in found.sections.items() if title.startswith(case.title))
    for name, way in WAYS.items():
        got = peers.estimate(case.graph, way(case.graph), each=effort.each, allowed=effort.allowed)
        speedup = got.seconds / found.results[f"seconds_{case.key}"]
        measured = f"{len(got.nodes)} measured"
        rows.append(Row(name, f"{name}, estimated, {measured}", case.graph.size, got.seconds))
        found.results[f"speedup_{name}_{case.key}"] = speedup
        found.results[f"extrapolated_{name}_{case.key}"] = got.extrapolated
        found.least(f"speedup_{name}", speedup)
        found.most("difference", got.difference(ours))
    found.results["spare_agreement"] = AGREED / max(found.results["difference"], AGREED / 1000)


def by_edges(sizes: Sequence[int], found: Found) -> None:
    """Cost against the number of edges, of graphs made by one recipe."""
    rows = []
    for edges in sizes:
        graph = Recipe(edges // 3, edges, POWER_LAW.skew, POWER_LAW.group).draw()
        seconds = cpu_seconds(partial(egocentric_betweenness, graph, threads=1))
        label = f"{graph.size:,} nodes, {wedges(graph):.2g} paths: edges"
        rows.append(Row(f"edges_{edges}", label, graph.n_edges, seconds))
        found.results[f"seconds_edges_{edges}"] = seconds
    found.sections["Cost against edges, one thread"] = rows


def by_itself(recipe: Recipe, found: Found) -> None:
    """Memory in a process of its own; the goals are for the largest graph only."""
    graph = recipe.draw()
    got = alone(graph)
    label = "Reticent, all nodes, all threads"
    found.sections[f"Alone in a process: {graph.size:,} nodes, {graph.n_edges:,} edges"] = [
        Row("alone", label, graph.size, got.seconds)
    ]
    found.results |= {
        "seconds_alone": got.seconds,
        "peak_mb_before": got.before,
        "peak_mb_alone": got.peak,
    }
    if recipe == LARGE:
        found.results["spare_memory"] = MEMORY / got.peak
        found.least("spare_time", allowed(graph) / got.seconds)


def allowed(graph: Graph) -> float:
    """CPU seconds that all nodes may take."""
    return WEDGE * wedges(graph) + ENTRY * 2 * int(triangles(graph).sum())


def selection_among_many(found: Found) -> None:
    """One release: scores and a choice among 10^6 nodes; and sums of steps against a loop."""
    rng = np.random.default_rng(0)
    degrees = np.minimum(rng.zipf(1.8, MILLION), HUB).astype(np.int64)
    data = Scored(degrees * (degrees - 1) / 4.0, EgoSensitivity(degrees, HUB))
    how = Influence(k=1, epsilon=1, nodes=MILLION, bound=HUB, within=True, test=0)
    one, source = how.mechanism.round, Source.system()
    taken = medians(
        {"scores": lambda: one.scores(data), "release": lambda: one.release(data, source)},
        rounds=3,
    )
    found.sections["One choice among 10^6 nodes, degrees up to 9,458"] = [
        Row("scores", "Reticent, shifted scores", MILLION, taken["scores"]),
        Row("release", "Reticent, scores and an exact draw", MILLION, taken["release"]),
    ]
    some = degrees[:FEWER]
    grid, most = Grid(-2), one.most
    steps = np.full(FEWER, HUB)
    closed = cpu_seconds(lambda: EgoSensitivity(some, HUB).sums(steps, grid, most))
    looped = cpu_seconds(lambda: _by_steps(some, most))
    same = np.array_equal(EgoSensitivity(some, HUB).sums(steps, grid, most), _by_steps(some, most))
    found.results |= {
        "seconds_scores_million": taken["scores"],
        "seconds_release_million": taken["release"],
        "speedup_closed_form": looped / closed if same else 0.0,
    }


def _by_steps(degrees: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The same sums, one step after the other."""
    total = np.zeros(len(degrees), dtype=np.int64)
    for t in range(HUB):
        d = degrees + t
        total += np.where(d < HUB, np.maximum(d * (d - 1), 4 * d) + 2, most)
    return total


MEANINGS = {
    "speedup_networkx_.*": "its estimated time over ours, one thread each",
    "speedup_igraph_.*": "its estimated time over ours, one thread each",
    "speedup_scipy_.*": "its estimated time over ours, one thread each",
    "extrapolated_.*": "share of its time in strata too slow to measure",
    "difference.*": "worst relative difference from the others, on nodes measured",
    "ns_per_wedge_.*": "our time per path of two ties, everything included",
    "wall_seconds_.*": "on the clock, all threads",
    "peak_mb.*": "resident memory of a process: with the graph, and at most",
}


if __name__ == "__main__":
    main()
