"""Small cases on which a definition, a lemma or a choice of the paper is put to the test.

Laws are computed, not drawn. Scores are the paper's own: without the library's rounding, which
would blur such small cases. The loss of the exponential mechanism is the largest log ratio of the
chances of one candidate in two neighbouring data, here always given as a multiple of epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np

from experiments.dampening.results import Pool
from reticent.data.graphs import Graph
from reticent.tasks.centrality import egocentric_betweenness
from reticent.tasks.influence import Influence, phi
from reticent.tasks.percentile import percentile_scored

Scores = Sequence[float]
Edges = list[tuple[int, int]]
OWN, ALL = "own largest degree", "all small cases"
PADDING, DOMINANCE, MINIMUM = "padding", "dominance", "minimum"
SIZES = range(2, 9)
_GRID = range(5)  # values of few people, for exhaustive search


def run(pool: Pool) -> None:
    """Everything; no data are needed."""
    own_degree(pool)
    own_maximum(pool)
    padding(pool)
    dominance(pool)
    minimum(pool)


def spread(before: Scores, after: Scores) -> float:
    """By how much two candidates' scores move apart."""
    return float(np.ptp(np.subtract(after, before)))


def loss(before: Scores, after: Scores, rate: float) -> float:
    """The largest log ratio of the exponential mechanism's chances."""
    one, other = (rate * np.asarray(scores) for scores in (before, after))
    logs = (one - np.logaddexp.reduce(one)) - (other - np.logaddexp.reduce(other))
    return float(np.abs(logs).max())


# Degrees


def two_hubs(d: int) -> tuple[int, Edges, tuple[int, int]]:
    """Two strangers with the same d friends, who do not know each other; they meet."""
    return d + 3, [(hub, 2 + leaf) for hub in (0, 1) for leaf in range(d)], (0, 1)


def clique_and_star(d: int) -> tuple[int, Edges, tuple[int, int]]:
    """A clique of degree d, a star of d rays, and one more tie of the clique."""
    clique = list(combinations(range(d + 1), 2))
    star = [(d + 1, d + 2 + ray) for ray in range(d)]
    return 2 * d + 4, clique + star, (0, 2 * d + 2)


def clique(d: int) -> tuple[int, Edges, tuple[int, int]]:
    """A clique of degree d, and somebody whom one of it meets."""
    return d + 3, list(combinations(range(d + 1), 2)), (0, d + 1)


PAIRS = {"two hubs": two_hubs, "clique and star": clique_and_star, "clique": clique}


def paper_scores(graph: Graph, bound: int) -> dict[str, list[float]]:
    """Plain u / Delta, and shifted: u plus all local sensitivities below the bound, over Delta."""
    values, limit = egocentric_betweenness(graph), float(phi(bound)) or 1.0
    beyond = [sum(limit - float(phi(j)) for j in range(d, bound)) for d in graph.degrees.tolist()]
    return {
        "exponential": [u / limit for u in values],
        "shifted": [(u - m) / limit for u, m in zip(values, beyond, strict=True)],
    }


def own_degree(pool: Pool) -> None:
    """What one edge moves if the bound is the graph's own largest degree, and if it is declared."""
    for name, pair in PAIRS.items():
        for d in SIZES:
            nodes, edges, new = pair(d)
            before = Graph.of_edges(np.array(edges), nodes=nodes)
            after = Graph.of_edges(np.array([*edges, new]), nodes=nodes)
            own = (before, d), (after, d + 1)
            declared = (before, d + 1), (after, d + 1)
            for who, bounds in (("own", own), ("declared", declared)):
                scores = [paper_scores(graph, bound) for graph, bound in bounds]
                for series, first in scores[0].items():
                    moved = np.abs(np.subtract(scores[1][series], first)).max()
                    key = f"{name}, {series}, {who}"
                    pool.add("one score moves", OWN, key, d, float(moved))
                    told = max(loss(first, scores[1][series], e / 2) / e for e in (0.01, 1, 100))
                    pool.add("loss", OWN, key, d, told)
                pool.add("loss", OWN, f"{name}, ours, {who}", d, _ours(bounds))


def _ours(bounds: Sequence[tuple[Graph, int]]) -> float:
    """The library's shifted rounds, whose noise is no larger than the declared bound demands."""
    worst = 0.0
    for epsilon in (0.01, 1.0, 100.0):
        logs = []
        for graph, bound in bounds:
            task = Influence(
                k=1,
                epsilon=epsilon,
                nodes=graph.size,
                bound=bound,
                within=True,
                law="exponential",
                test=0,
            )
            one = task.mechanism.round
            scores = float(one.rate) * one.scores(task.scored(graph)).astype(np.float64)
            logs.append(scores - np.logaddexp.reduce(scores))
        worst = max(worst, float(np.abs(logs[0] - logs[1]).max()) / epsilon)
    return worst


# Values


def own_maximum(pool: Pool) -> None:
    """Percentiles with L from the data: all values of three people on a small grid, all changes."""
    worst, odds = {"exponential": 0.0, "shifted": 0.0}, 0.0
    for x, y in _neighbours(3):
        if max(x) == 0 or max(y) == 0:
            continue
        one, other = _percentile_scores(x), _percentile_scores(y)
        odds = max(odds, *(float(np.ptp(scores)) for scores in one.values()))
        for series in worst:
            told = max(loss(one[series], other[series], e / 2) / e for e in (0.01, 1, 100))
            worst[series] = max(worst[series], told)
    for series, value in worst.items():
        pool.add("loss", "own largest value", series, ALL, value)
    pool.add("range of scores", "own largest value", "any", ALL, odds)


def _neighbours(people: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for x in product(_GRID, repeat=people):
        for place, value in product(range(people), _GRID):
            yield x, (*x[:place], value, *x[place + 1 :])


def _percentile_scores(values: tuple[int, ...]) -> dict[str, list[float]]:
    upper = float(max(values))
    scored = percentile_scored(np.array(values), 0.5, upper)
    utilities = np.asarray(scored.utilities)
    first = scored.sensitivity.first  # type: ignore[attr-defined]
    return {
        "exponential": (utilities / upper).tolist(),
        "shifted": ((utilities + first) / upper).tolist(),
    }


# Definitions


def dampened(utility: Fraction, delta: Callable[[int], Fraction]) -> Fraction:
    """Definition 11, for any sensitivity that is positive from some step on."""
    size, below, step = abs(utility), Fraction(0), 0
    while below + delta(step) < size:
        below += delta(step)
        step += 1
    score = step + (size - below) / delta(step)
    return score if utility >= 0 else -score


def padding(pool: Pool) -> None:
    """Two candidates, utilities 10 and 0; the first changes by 1 at most, the second by 2.

    Both are what the paper's element local sensitivity is at every distance, so neither becomes the
    global sensitivity of 2 for the first. As the shift grows the better candidate vanishes.
    """
    utilities, limits = (Fraction(10), Fraction(0)), (Fraction(1), Fraction(2))
    for shift in (20, 100, 1000):
        for name, used in (("as defined", limits), ("padded", (limits[1],) * 2)):
            scores = [
                float(dampened(u - shift, lambda _, limit=limit: limit))  # type: ignore[misc]
                for u, limit in zip(utilities, used, strict=True)
            ]
            best = 1 / (1 + math.exp((scores[1] - scores[0]) / 2))  # epsilon 1
            pool.add("chance of the best", PADDING, name, shift, best)


def dominance(pool: Pool) -> None:
    """Utilities 2 and 0, global sensitivity 2, two steps; epsilon 1, shifted left.

    One sensitivity rises with the utility, as Definition 13 wants; its gaps are in the order
    opposite to Definition 14's. The other has its gaps as printed.
    """
    tables = {
        "global sensitivity": (2, 2),
        "rising with the utility": (2, 1),
        "as Definition 14 prints": (1, 2),
    }
    for name, deltas in tables.items():
        scores = [(u + 2 * delta) / 2 for u, delta in zip((2, 0), deltas, strict=True)]
        best = 1 / (1 + math.exp((scores[1] - scores[0]) / 2))
        pool.add("chance of the best", DOMINANCE, name, "", best)


def minimum(pool: Pool) -> None:
    """Lemma 2 on all values of three people: how often gaps to L are out of order.

    Sensitivities are found by trying every replacement, so none is a bound only.
    """
    cases = broken = 0
    top = max(_GRID)
    for x in product(_GRID, repeat=3):
        utilities = _utilities(x)
        local = [
            max(abs(_utilities(y)[i] - utilities[i]) for y in _replaced(x)) for i in range(len(x))
        ]
        gaps = [top - local[i] for i in sorted(range(3), key=lambda i: -utilities[i])]
        cases += 1
        broken += any(first < after for first, after in pairwise(gaps))
    pool.add("gaps out of order", MINIMUM, "share of data", ALL, broken / cases)


def _utilities(x: tuple[int, ...]) -> list[int]:
    middle = sorted(x)[len(x) // 2]
    return [-abs(middle - value) for value in x]


def _replaced(x: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for place, value in product(range(len(x)), _GRID):
        yield (*x[:place], value, *x[place + 1 :])
