"""Centralities against their definitions, on all small graphs, random ones and extreme ones."""

from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from reticent.data.graphs import Graph
from reticent.errors import ParameterError
from reticent.tasks import centrality, centrality_kernels
from reticent.tasks.centrality import (
    betweenness_of,
    degree,
    egocentric_betweenness,
    shares,
    triangles,
)


def by_definition(graph: Graph) -> list[Fraction]:
    around = [set(graph.of(v).tolist()) for v in range(graph.size)]
    return [
        sum(
            (
                Fraction(1, 1 + len(around[u] & around[v] & around[c]))
                for u, v in combinations(sorted(around[c]), 2)
                if v not in around[u]
            ),
            Fraction(),
        )
        for c in range(graph.size)
    ]


def random_graph(n: int, density: float, seed: int) -> Graph:
    draw = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(n), 2))).reshape(-1, 2)
    return Graph.of_edges(pairs[draw.random(len(pairs)) < density], nodes=n)


def hub_graph(n: int, seed: int) -> Graph:
    """Everybody knows the two hubs; others know few."""
    sparse = random_graph(n, 2.5 / n, seed).edges.tolist()
    hubs = [(hub, v) for hub in (0, 1) for v in range(n)]
    return Graph.of_edges(np.array(sparse + hubs), nodes=n)


def check(graph: Graph) -> None:
    exact = by_definition(graph)
    found = egocentric_betweenness(graph, threads=1)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [float(value) for value in exact], rtol=1e-14, atol=0)


class TestBetweenness:
    @pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
    def test_all_small_graphs(self, n: int) -> None:
        pairs = list(combinations(range(n), 2))
        for g in range(1 << len(pairs)):
            check(Graph.of_edges([pair for i, pair in enumerate(pairs) if g >> i & 1], nodes=n))

    @pytest.mark.parametrize("density", [0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    @pytest.mark.parametrize("n", [7, 20, 60])
    def test_random_graphs(self, n: int, density: float) -> None:
        for seed in range(5):
            check(random_graph(n, density, seed))

    @pytest.mark.parametrize("n", [10, 80, 150])
    def test_hubs(self, n: int) -> None:
        check(hub_graph(n, seed=n))

    def test_dense_cores_of_more_than_one_word(self) -> None:
        check(random_graph(140, 0.9, seed=1))

    def test_a_core_within_a_star(self) -> None:
        """A hub of many who are tied to nobody, to one, and to each other."""
        dense = random_graph(70, 0.8, seed=2).edges + 1
        pendants = np.array([[v, v + 70] for v in range(1, 71)] + [[141, 142]])
        star = np.array([[0, v] for v in range(1, 160)])
        check(Graph.of_edges(np.concatenate([dense, pendants, star]), nodes=160))

    @pytest.mark.parametrize("n", [1, 2, 3, 30])
    def test_complete_graphs_and_stars(self, n: int) -> None:
        complete = Graph.of_edges(list(combinations(range(n), 2)), nodes=n)
        assert egocentric_betweenness(complete).tolist() == [0.0] * n
        star = Graph.of_edges([(0, v) for v in range(1, n)], nodes=n)
        pairs = (n - 1) * (n - 2) / 2
        assert egocentric_betweenness(star).tolist() == [pairs] + [0.0] * (n - 1)

    def test_nobody(self) -> None:
        empty = Graph.of_edges([], nodes=0)
        for values in (egocentric_betweenness(empty), triangles(empty), degree(empty)):
            assert values.shape == (0,)
        assert egocentric_betweenness(Graph.of_edges([], nodes=3)).tolist() == [0.0] * 3

    def test_networkx(self) -> None:
        made = nx.powerlaw_cluster_graph(120, 4, 0.7, seed=3)
        expected = [
            nx.betweenness_centrality(nx.ego_graph(made, v), normalized=False)[v] for v in made
        ]
        found = egocentric_betweenness(Graph.of_networkx(made))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("dense", [False, True])
    def test_both_ways_of_counting_agree(self, dense: bool) -> None:
        graph = random_graph(90, 0.4, seed=4)
        rows = [graph.of(v) for v in range(90)]
        begins, peers = graph.indptr.copy(), np.concatenate(rows)
        shared = np.zeros(4 * 92, dtype=np.int64)
        if dense:
            centrality_kernels.share_in_sets(90, 2, begins, peers, np.zeros(180, np.uint64), shared)
        else:
            counts, touched = np.zeros(91, np.int32), np.zeros(91, np.int32)
            centrality_kernels.share_by_wedges(
                90, begins, peers, begins.copy(), counts, touched, shared
            )
            assert not counts.any()
        sets = [set(row.tolist()) for row in rows]
        common = [len(sets[u] & sets[v]) for u, v in combinations(range(90), 2) if v not in sets[u]]
        tallies = shared.reshape(-1, 4).sum(axis=1)
        np.testing.assert_array_equal(tallies[1:], np.bincount(common, minlength=92)[1:])


class TestOthers:
    @pytest.mark.parametrize("density", [0.05, 0.4, 0.9])
    def test_triangles(self, density: float) -> None:
        graph = random_graph(50, density, seed=1)
        matrix = np.zeros((50, 50), dtype=np.int64)
        matrix[tuple(graph.edges.T)] = 1
        matrix += matrix.T
        expected = np.diag(matrix @ matrix @ matrix) // 2
        assert triangles(graph).tolist() == expected.tolist()
        assert triangles(graph).dtype == np.int64

    def test_degree(self) -> None:
        assert degree(Graph.of_edges([(0, 1), (0, 2)], nodes=4)).tolist() == [2, 1, 1, 0]


class TestThreads:
    @pytest.fixture
    def parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Small graphs are cut into parts as large ones are."""
        monkeypatch.setattr(centrality, "_LEAST_WORK", 50)

    @pytest.mark.usefixtures("parts")
    def test_any_number_of_threads_gives_the_same_bits(self) -> None:
        graph = hub_graph(300, seed=7)
        one = egocentric_betweenness(graph, threads=1)
        for threads in (2, 3, 8, None):
            assert egocentric_betweenness(graph, threads=threads).tobytes() == one.tobytes()
            np.testing.assert_array_equal(
                triangles(graph, threads=threads), triangles(graph, threads=1)
            )

    @pytest.mark.usefixtures("parts")
    def test_the_order_of_nodes_gives_the_same_bits(self) -> None:
        graph = random_graph(150, 0.2, seed=8)
        order = np.random.default_rng(8).permutation(150)
        turned = Graph.of_edges(order[graph.edges], nodes=150)
        values = egocentric_betweenness(graph, threads=2)
        assert egocentric_betweenness(turned, threads=2)[order].tobytes() == values.tobytes()

    @pytest.mark.usefixtures("parts")
    @pytest.mark.parametrize("threads", [1, 3])
    def test_progress_rises_to_one(self, threads: int) -> None:
        told: list[float] = []
        egocentric_betweenness(hub_graph(200, seed=1), threads=threads, progress=told.append)
        assert len(told) > 10
        assert told == sorted(told)
        assert told[-1] == 1.0

    @pytest.mark.usefixtures("parts")
    @pytest.mark.parametrize("threads", [1, 2])
    def test_progress_can_stop_it(self, threads: int) -> None:
        def stop(share: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            egocentric_betweenness(hub_graph(200, seed=1), threads=threads, progress=stop)

    @pytest.mark.parametrize("threads", [0, -1, 1.5])
    def test_threads_are_a_whole_number(self, threads: int) -> None:
        with pytest.raises(ParameterError, match="threads must be"):
            egocentric_betweenness(Graph.of_edges([(0, 1)]), threads=threads)


class TestShares:
    @pytest.mark.parametrize("count", [1, 3, 200])
    def test_parts_make_up_the_whole(self, count: int) -> None:
        graph = hub_graph(150, 4)
        parts = shares(graph, count)
        assert len(parts) == count
        assert sorted(np.concatenate(parts).tolist()) == list(range(graph.size))
        values = np.full(graph.size, np.nan)
        for part in parts:
            values[part] = betweenness_of(graph, part, threads=2)
        assert values.tolist() == egocentric_betweenness(graph).tolist()

    def test_any_order_and_repeats(self) -> None:
        graph = random_graph(30, 0.3, 1)
        nodes = np.array([7, 3, 7, 29])
        wanted = egocentric_betweenness(graph)[nodes]
        assert betweenness_of(graph, nodes).tolist() == wanted.tolist()
        assert betweenness_of(graph, nodes[:0]).tolist() == []

    def test_the_heavy_are_dealt_out(self) -> None:
        first, second = shares(hub_graph(60, 2), 2)
        assert {int(first[0]), int(second[0])} == {0, 1}

    @pytest.mark.parametrize("nodes", [[-1], [30]])
    def test_other_nodes_are_refused(self, nodes: list[int]) -> None:
        with pytest.raises(ParameterError, match="numbers from 0 to 29"):
            betweenness_of(random_graph(30, 0.1, 1), np.array(nodes))
