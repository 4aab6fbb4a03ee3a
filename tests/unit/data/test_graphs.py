"""Graphs from every form, and the cut to a cap on degrees: what one edge can change in it."""

import gzip
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from scipy import sparse

from reticent.data.graphs import STABILITY, Graph, read_graph
from reticent.data.interactions import TableError
from reticent.errors import ParameterError
from reticent.tasks.centrality import egocentric_betweenness, triangles
from tests.unit.data.real_sets import real

SECRET = "zaphod"


def named_edges(graph: Graph) -> set[frozenset[object]]:
    names = range(graph.size) if graph.names is None else graph.names
    return {frozenset((names[u], names[v])) for u, v in graph.edges.tolist()}


def random_edges(n: int, density: float, seed: int) -> list[tuple[int, int]]:
    draw = np.random.default_rng(seed)
    return [pair for pair in combinations(range(n), 2) if draw.random() < density]


class TestForms:
    def test_loops_and_repeated_edges_go(self) -> None:
        graph = Graph.of_edges(np.array([[2, 0], [0, 2], [1, 1], [0, 2]]))
        assert graph.names is None
        assert graph.edges.tolist() == [[0, 2]]
        assert graph.degrees.tolist() == [1, 0, 1]
        assert graph.indptr.dtype == np.int64
        assert graph.neighbours.dtype == np.int32

    def test_declared_nodes_stay_without_edges(self) -> None:
        graph = Graph.of_edges([("b", "c")], nodes=["a", "b", "c", "d"])
        assert graph.degrees.tolist() == [0, 1, 1, 0]
        assert Graph.of_edges(np.array([[0, 1]]), nodes=5).size == 5

    def test_edges_of_other_nodes_are_dropped(self) -> None:
        assert Graph.of_edges(np.array([[0, 1], [1, 7], [-1, 0]]), nodes=2).n_edges == 1
        large = np.array([[0, 1], [1, 2**64 - 1]], dtype=np.uint64)
        assert Graph.of_edges(large, nodes=2).n_edges == 1
        assert Graph.of_edges([("a", "b"), ("a", SECRET)], nodes=["a", "b"]).n_edges == 1

    def test_missing_names_are_left_out(self) -> None:
        graph = Graph.of_edges([("a", None), (float("nan"), "b"), ("a", "b")])
        assert graph.size == 2
        assert graph.n_edges == 1

    def test_order_of_edges_does_not_show(self) -> None:
        edges = [("10", "9"), ("x", "2"), ("b", "10")]
        graphs = [Graph.of_edges(edges), Graph.of_edges([pair[::-1] for pair in edges[::-1]])]
        for graph in graphs:
            assert graph.names == ["2", "9", "10", "b", "x"]
        np.testing.assert_array_equal(graphs[0].neighbours, graphs[1].neighbours)

    def test_sparse_numbers_and_names_agree(self) -> None:
        edges = random_edges(20, 0.2, seed=1)
        one = Graph.of_edges(np.array(edges), nodes=20)
        ends = np.array([*edges, (3, 3)]).T
        other = Graph.of_sparse(sparse.csr_array((np.ones(ends.shape[1]), ends), shape=(20, 20)))
        named = Graph.of_edges(((f"{u}", f"{v}") for v, u in edges), nodes=[*map(str, range(20))])
        for graph in (other, named):
            np.testing.assert_array_equal(graph.indptr, one.indptr)
            np.testing.assert_array_equal(graph.neighbours, one.neighbours)
        np.testing.assert_array_equal(one.of(0), [v for u, v in edges if u == 0])

    def test_stored_zeros_are_no_edges(self) -> None:
        matrix = sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [1, 2])), shape=(3, 3))
        assert Graph.of_sparse(matrix).edges.tolist() == [[1, 2]]

    def test_networkx(self) -> None:
        made = nx.MultiDiGraph([("a", "b"), ("b", "a"), ("b", "b"), ("b", "c")])
        made.add_node("alone")
        graph = Graph.of_networkx(made)
        assert graph.names == ["a", "b", "c", "alone"]
        assert named_edges(graph) == {frozenset("ab"), frozenset("bc")}

    @pytest.mark.parametrize("nodes", [0, 1, 3])
    def test_no_edges(self, nodes: int) -> None:
        for graph in (
            Graph.of_edges([], nodes=nodes),
            Graph.of_edges(np.empty((0, 2), int), nodes),
        ):
            assert graph.size == nodes
            assert graph.edges.shape == (0, 2)
            assert graph.bounded(1).size == nodes

    def test_repr_tells_no_edges(self) -> None:
        assert repr(Graph.of_edges([("a", SECRET)])) == "Graph(2 nodes)"


class TestRules:
    @pytest.mark.parametrize(
        ("indptr", "neighbours"),
        [
            ([0, 1, 1], [1]),  # from one end only
            ([0, 1], [0]),  # a loop
            ([0, 2, 4], [1, 1, 0, 0]),  # twice
            ([0, 2, 3, 4], [2, 1, 0, 0]),  # not sorted
            ([0, 1, 2], [5, 0]),
            ([0, 1, 2], [-1, 0]),
            ([0, 2, 1, 2], [1, 0]),
            ([0, 1], [1, 0]),
        ],
    )
    def test_rows_must_be_proper(self, indptr: list[int], neighbours: list[int]) -> None:
        with pytest.raises(ParameterError, match="neighbours must be sorted"):
            Graph(np.array(indptr), np.array(neighbours, dtype=np.int32))

    def test_names_are_distinct_and_as_many_as_nodes(self) -> None:
        with pytest.raises(ParameterError, match="nodes must be distinct"):
            Graph.of_edges([], nodes=["a", "a"])
        with pytest.raises(ParameterError, match="names must be"):
            Graph.of_sparse(sparse.csr_array((2, 2)), names=["a"])

    @pytest.mark.parametrize(
        "edges", [[(SECRET,)], [("a", "b", SECRET)], [7], np.zeros((2, 3), int)]
    )
    def test_what_is_no_pair_is_not_quoted(self, edges: object) -> None:
        with pytest.raises(ParameterError, match="edges must be") as caught:
            Graph.of_edges(edges)
        assert SECRET not in str(caught.value)

    def test_shapes_and_caps(self) -> None:
        with pytest.raises(ParameterError, match="matrix must be square"):
            Graph.of_sparse(sparse.csr_array((2, 3)))
        for cap in (0, -1, 1.5, True):
            with pytest.raises(ParameterError, match="cap must be"):
                Graph.of_edges([(0, 1)]).bounded(cap)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="nodes must be"):
            Graph.of_edges([], nodes=-1)


class TestFiles:
    @pytest.mark.parametrize(
        "header", ["source,target", "From,To", "u,v", "id_1,id_2,when", "u , v"]
    )
    def test_csv(self, header: str, tmp_path: Path) -> None:
        more = ",x" if header.count(",") == 2 else ""
        text = "\n".join(
            [header, *(f"{line}{more}" for line in ("10, 9", "9,10", "9,9", ",9", "9,8"))]
        )
        (tmp_path / "edges.csv").write_text(text)
        (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(text.encode()))
        for name in ("edges.csv", "edges.csv.gz"):
            graph = read_graph(tmp_path / name)
            assert graph.names == ["8", "9", "10"]
            assert graph.edges.tolist() == [[0, 1], [1, 2]]

    def test_parquet_and_declared_nodes(self, tmp_path: Path) -> None:
        table = arrow.table({"u": [0, 1, None, 5], "v": [1, 2, 0, 0]})
        parquet.write_table(table, tmp_path / "edges.parquet")
        graph = read_graph(tmp_path / "edges.parquet", nodes=4)
        assert graph.names == ["0", "1", "2", "3"]
        assert graph.edges.tolist() == [[0, 1], [1, 2]]

    def test_columns_by_name(self, tmp_path: Path) -> None:
        (tmp_path / "e.csv").write_text("who,whom,u,v\na,b,c,d\n")
        assert read_graph(tmp_path / "e.csv").names == ["c", "d"]
        assert read_graph(tmp_path / "e.csv", columns=("Who", "whom")).names == ["a", "b"]
        with pytest.raises(TableError, match="two columns called one,other"):
            read_graph(tmp_path / "e.csv", columns=("one", "other"))

    def test_a_file_without_header_is_not_quoted(self, tmp_path: Path) -> None:
        (tmp_path / "e.csv").write_text(f"{SECRET},b\nb,c\n")
        with pytest.raises(
            TableError, match="must have two columns called source,target or"
        ) as caught:
            read_graph(tmp_path / "e.csv")
        assert SECRET not in str(caught.value)

    def test_unknown_columns_are_named_and_nothing_else_is(self, tmp_path: Path) -> None:
        (tmp_path / "e.csv").write_text(f"u,v\n{SECRET},b\n")
        for columns in (("u", "w"), ("u", "u2"), ("", "v")):
            with pytest.raises(TableError, match="must have two columns called") as caught:
                read_graph(tmp_path / "e.csv", columns=columns)
            assert SECRET not in str(caught.value)

    def test_loops_repeats_strangers_and_lonely_nodes(self, tmp_path: Path) -> None:
        lines = ["u,v", "a,a", "a,b", "b,a", "a,b", f"a,{SECRET}", "b,", ",", "c,c"]
        (tmp_path / "e.csv").write_text("\n".join(lines))
        graph = read_graph(tmp_path / "e.csv", nodes=["a", "b", "c", "d"])
        assert graph.degrees.tolist() == [1, 1, 0, 0]
        assert SECRET not in repr(graph)
        undeclared = read_graph(tmp_path / "e.csv")
        assert undeclared.names == ["a", "b", "c", SECRET]
        assert undeclared.degrees.tolist() == [2, 1, 0, 1]

    def test_a_file_without_lines_is_a_graph_without_edges(self, tmp_path: Path) -> None:
        (tmp_path / "e.csv").write_text("u,v\n")
        assert read_graph(tmp_path / "e.csv", nodes=3).degrees.tolist() == [0, 0, 0]
        assert read_graph(tmp_path / "e.csv").size == 0

    def test_other_files(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="graph must be a file named"):
            read_graph(tmp_path / "edges.txt")
        with pytest.raises(TableError, match="is a directory"):
            read_graph(tmp_path)


class TestBounded:
    @pytest.mark.parametrize("cap", [1, 2, 5, 40])
    def test_degrees_are_within_the_cap(self, cap: int) -> None:
        graph = Graph.of_edges(random_edges(40, 0.3, seed=cap), nodes=40)
        cut = graph.bounded(cap)
        assert cut.degrees.max() == min(cap, graph.degrees.max())
        assert named_edges(cut) <= named_edges(graph)
        assert cut.size == 40
        full = graph.degrees <= cap
        kept = full[graph.edges].all(axis=1)
        assert named_edges(cut) >= {frozenset(edge) for edge in graph.edges[kept].tolist()}

    def test_a_graph_within_the_cap_stays(self) -> None:
        graph = Graph.of_edges(random_edges(30, 0.2, seed=5), nodes=30)
        assert named_edges(graph.bounded(int(graph.degrees.max()))) == named_edges(graph)

    def test_same_edges_by_the_definition(self) -> None:
        graph = Graph.of_edges(random_edges(25, 0.4, seed=6), nodes=25)
        priority = graph._priorities(graph.edges).tolist()
        order = [frozenset(graph.edges[i].tolist()) for i in np.argsort(priority)]
        first = [set([e for e in order if v in e][:4]) for v in range(25)]
        expected = {e for e in order if all(e in first[v] for v in e)}
        assert named_edges(graph.bounded(4)) == expected

    @pytest.mark.parametrize("seed", range(5))
    def test_order_does_not_matter(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        edges = [(f"p{u}", f"p{v}") for u, v in random_edges(30, 0.4, seed=seed)]
        names = [f"p{v}" for v in range(30)]
        kept = named_edges(Graph.of_edges(edges, names).bounded(4))
        shuffled = [edges[i][:: draw.choice([-1, 1])] for i in draw.permutation(len(edges))]
        renamed = [names[i] for i in draw.permutation(30)]
        assert named_edges(Graph.of_edges(shuffled, renamed).bounded(4)) == kept

    def test_names_and_numbers_are_cut_alike(self) -> None:
        edges = random_edges(30, 0.4, seed=9)
        numbers = named_edges(Graph.of_edges(edges, 30).bounded(3))
        names = Graph.of_edges([(str(u), str(v)) for u, v in edges]).bounded(3)
        assert named_edges(names) == {frozenset(map(str, edge)) for edge in numbers}

    def test_priorities_look_even(self) -> None:
        """Among the edges of a star each is as likely to be kept: no name is preferred."""
        stars = [[(f"hub{s}", f"p{v}") for v in range(40)] for s in range(300)]
        kept = [edge for star in stars for edge in named_edges(Graph.of_edges(star).bounded(10))]
        counts = np.array([sum(f"p{v}" in edge for edge in kept) for v in range(40)])
        assert counts.sum() == 3000
        assert np.abs(counts - 75).max() < 5 * np.sqrt(75 * 0.75)


def betweenness_of(graph: Graph, node: int) -> Fraction:
    """By definition: 1 / (1 + common neighbours around the node) over pairs that are not tied."""
    around = set(graph.of(node).tolist())
    ties = {v: around & set(graph.of(v).tolist()) for v in around}
    pairs = combinations(sorted(around), 2)
    return sum(
        (Fraction(1, 1 + len(ties[a] & ties[b])) for a, b in pairs if b not in ties[a]), Fraction()
    )


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "largest", "all_triangles"),
    [  # as SNAP publishes them; of ca-GrQc one author of 5,242 is tied to nobody else
        ("ca-GrQc/edges.parquet", 5_241, 14_484, 81, 48_260),
        ("email-enron/edges.parquet", 36_692, 183_831, 1_383, 727_044),
        ("musae-github/edges.parquet", 37_700, 289_003, 9_458, None),
        ("musae-github/edges.csv.gz", 37_700, 289_003, 9_458, None),
    ],
)
def test_the_real_sets_have_their_published_counts(
    name: str, nodes: int, edges: int, largest: int, all_triangles: int | None
) -> None:
    graph = read_graph(real(name))
    assert (graph.size, graph.n_edges, graph.degrees.max()) == (nodes, edges, largest)
    if all_triangles is None:
        return
    assert triangles(graph).sum() == 3 * all_triangles
    found = egocentric_betweenness(graph)
    d = graph.degrees
    assert (found >= 0).all()
    assert (found <= d * (d - 1) / 2).all()
    some = np.random.default_rng(0).choice(np.flatnonzero((d > 5) & (d < 90)), 25, replace=False)
    for node in some.tolist():
        assert found[node] == pytest.approx(float(betweenness_of(graph, node)), rel=1e-12)


def greedy(graph: Graph, cap: int) -> set[frozenset[object]]:
    """Edges in the order of priority, added where there is room: the rule that is not stable."""
    left = np.full(graph.size, cap)
    kept = set()
    for i in np.argsort(graph._priorities(graph.edges)):
        ends = graph.edges[i]
        if (left[ends] > 0).all():
            left[ends] -= 1
            kept.add(frozenset(ends.tolist()))
    return kept


class TestStability:
    @pytest.mark.parametrize("n", [2, 3, 4, 5])
    @pytest.mark.parametrize("cap", [1, 2, 3])
    def test_all_small_graphs(self, n: int, cap: int) -> None:
        pairs = list(combinations(range(n), 2))
        cut = [
            named_edges(
                Graph.of_edges([p for i, p in enumerate(pairs) if g >> i & 1], n).bounded(cap)
            )
            for g in range(1 << len(pairs))
        ]
        changes = {
            len(cut[g] ^ cut[g ^ 1 << i]) for g in range(len(cut)) for i in range(len(pairs))
        }
        assert max(changes) <= STABILITY
        gains = {len(cut[g | 1 << i] - cut[g]) for g in range(len(cut)) for i in range(len(pairs))}
        assert max(gains) == 1  # the others are taken away: three steps within the cap
        if n >= 4 and cap < n - 1:
            assert max(changes) == STABILITY  # the bound is reached

    @staticmethod
    def most_changed(rule: object, seeds: range) -> int:
        most = 0
        for seed in seeds:
            edges = random_edges(40, 0.25, seed)
            whole = rule(Graph.of_edges(edges, 40), 4)  # type: ignore[operator]
            for i in range(0, len(edges), 3):
                fewer = Graph.of_edges(edges[:i] + edges[i + 1 :], 40)
                most = max(most, len(whole ^ rule(fewer, 4)))  # type: ignore[operator]
        return most

    def test_random_graphs(self) -> None:
        def ours(graph: Graph, cap: int) -> set[frozenset[object]]:
            return named_edges(graph.bounded(cap))

        assert self.most_changed(ours, range(6)) == STABILITY

    def test_control_greedy_changes_more(self) -> None:
        assert self.most_changed(greedy, range(3)) > 2 * STABILITY

    @pytest.mark.parametrize(("changed", "possible"), [(2, False), (3, True)])
    def test_no_rule_does_better(self, changed: int, possible: bool) -> None:
        """4 nodes, cap 2: search all rules that leave graphs within the cap alone."""
        assert rule_exists(4, 2, changed) is possible


def rule_exists(n: int, cap: int, changed: int) -> bool:
    """Whether a map to graphs within the cap, the identity there, changes at most so many edges."""
    pairs = list(combinations(range(n), 2))
    stars = [sum(1 << i for i, pair in enumerate(pairs) if v in pair) for v in range(n)]
    graphs = range(1 << len(pairs))
    within = [g for g in graphs if all((g & star).bit_count() <= cap for star in stars)]
    domains = {g: {g} if g in within else set(within) for g in graphs}
    return _solvable(domains, len(pairs), changed)


def _solvable(domains: dict[int, set[int]], bits: int, changed: int) -> bool:
    """Backtracking; values without a near one in the domain of every neighbour are struck out."""
    pending = list(domains)
    while pending:
        g = pending.pop()
        for h in (g ^ 1 << i for i in range(bits)):
            near = {
                b for b in domains[h] if any((a ^ b).bit_count() <= changed for a in domains[g])
            }
            if len(near) < len(domains[h]):
                domains[h] = near
                pending.append(h)
                if not near:
                    return False
    open_ = [g for g in domains if len(domains[g]) > 1]
    if not open_:
        return True
    least = min(open_, key=lambda g: len(domains[g]))
    return any(
        _solvable({**domains, least: {value}}, bits, changed) for value in sorted(domains[least])
    )
