"""Influential nodes: sensitivities and spreads on all small graphs, exact loss, odd graphs."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from reticent.data.graphs import STABILITY, Graph
from reticent.errors import ParameterError
from reticent.mechanisms.dampening import SCORE_BITS, Dampened
from reticent.mechanisms.local_sensitivity import WIDENED
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Source
from reticent.tasks.influence import Influence, _ego_moves, phi
from reticent.testing import Pair, exponential_law, permute_and_flip_law, verify_law
from reticent.testing.admissible import check_admissible

ONE = 1 << SCORE_BITS
NODES = 4
EDGES = list(combinations(range(NODES), 2))
CENTRALITIES = ["ebc", "triangles", "degree"]
LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law}


def graphs(cap: int | None = None):
    for bits in range(1 << len(EDGES)):
        chosen = tuple(edge for k, edge in enumerate(EDGES) if bits >> k & 1)
        degrees = np.bincount(np.array(chosen, dtype=int).ravel(), minlength=NODES)
        if cap is None or degrees.max() <= cap:
            yield chosen


def pairs(cap: int | None = None):
    known = set(graphs(cap))
    for chosen in sorted(known):
        for edge in EDGES:
            more = tuple(sorted((*chosen, edge)))
            if edge not in chosen and more in known:
                yield Pair(chosen, more, "edge")


def made(edges) -> Graph:
    return Graph.of_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes=NODES)


def view(how: Influence):
    return cache(lambda edges: how.scored(made(edges)))


def asked(**given) -> Influence:
    settings = {"k": 1, "epsilon": 2, "nodes": NODES, "bound": NODES - 1, "within": True, "test": 0}
    return Influence(**{**settings, **given})


class Family:
    """Many graphs side by side as one: what is scored at a node depends on its surroundings only.

    ``pairs`` are the numbers of two graphs, the second with one edge more.
    """

    def __init__(self, n: int, edge_sets: list[frozenset], pairs: list[tuple[int, int]]) -> None:
        self.n, self.count = n, len(edge_sets)
        placed = [(n * g + u, n * g + v) for g, some in enumerate(edge_sets) for u, v in some]
        every = np.array(placed, dtype=np.int64).reshape(-1, 2)
        self.graph = Graph.of_edges(every, nodes=n * self.count)
        self.largest = self.graph.degrees.reshape(-1, n).max(axis=1)
        self.pairs = np.array(pairs).reshape(-1, 2)

    def within(self, bound: int) -> np.ndarray:
        return self.pairs[self.largest[self.pairs[:, 1]] <= bound].T

    def influence(self, bound: int, **given) -> Influence:
        settings = {"k": 1, "epsilon": 1, "nodes": self.graph.size, "within": True}
        return Influence(bound=bound, **{**settings, **given})

    def cut(self, bound: int) -> Graph:
        """Graphs beyond the bound without their edges: they are in no pair."""
        kept = self.largest[self.graph.edges[:, 0] // self.n] <= bound
        return Graph.of_edges(self.graph.edges[kept], nodes=self.graph.size)


@cache
def all_graphs(n: int) -> Family:
    pairs = list(combinations(range(n), 2))
    sets = [frozenset(p for i, p in enumerate(pairs) if g >> i & 1) for g in range(1 << len(pairs))]
    more = [(g, g | 1 << i) for g in range(len(sets)) for i in range(len(pairs)) if not g >> i & 1]
    return Family(n, sets, more)


@cache
def random_graphs(n: int) -> Family:
    """Graphs of all densities, each with every edge that it has not; and twins, where an edge more
    between two nodes that share all neighbours lowers the most."""
    draw, pairs = np.random.default_rng(n), list(combinations(range(n), 2))
    begun = [
        frozenset(p for p in pairs if draw.random() < density)
        for density in np.linspace(0.05, 0.95, 10)
    ]
    for shared in range(1, n - 1):
        begun.append(frozenset((twin, v) for twin in (0, 1) for v in range(2, shared + 2)))
        begun.append(frozenset((0, v) for v in range(2, shared + 2)))
    sets, more = [], []
    for some in begun:
        at = len(sets)
        new = [some | {p} for p in pairs if p not in some]
        sets += [some, *new]
        more += [(at, at + 1 + i) for i in range(len(new))]
    return Family(n, sets, more)


def check_spread(family: Family, bound: int, centrality: str, steps: int | None) -> list[float]:
    """Scores of neighbours move by one at most, and within an interval; how much of it is used."""
    how = family.influence(bound, centrality=centrality, steps=steps)
    scored = how.scored(family.cut(bound))
    before, after = family.within(bound)
    used = []
    for one in (how.mechanism.round, how.mechanism.plain_round):
        scores = one.scores(scored).reshape(-1, family.n)
        moves = scores[after] - scores[before]
        assert np.abs(moves).max() <= ONE + 1
        apart = int(np.ptp(moves, axis=1).max())
        assert apart <= one.apart, (bound, centrality, steps, one.spread)
        used.append(apart / float(one.apart))
    return used


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_lemma_3_and_theorem_8_spread_of_all_small_graphs(centrality, n) -> None:
    for bound in range(1, n):
        for steps in {None, 0, 1, 2, bound - 1, bound + 1}:
            check_spread(all_graphs(n), bound, centrality, steps)
    if n == 5:  # no bound is loose by a factor
        used = check_spread(all_graphs(n), n - 1, centrality, None)
        assert used[0] > {"ebc": 0.7, "triangles": 0.99, "degree": 0.99}[centrality]


@pytest.mark.parametrize("n", [8, 10, 12])
@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_lemma_3_and_theorem_8_spread_of_random_graphs(centrality, n) -> None:
    for bound in (n // 2, n - 2, n - 1):
        for steps in {None, 0, 1, 3}:
            check_spread(random_graphs(n), bound, centrality, steps)


def test_graphs_side_by_side_are_scored_as_alone() -> None:
    family = all_graphs(4)
    for centrality in CENTRALITIES:
        together = family.influence(3, centrality=centrality)
        alone = asked(centrality=centrality, test=None)
        for name in ("round", "plain_round"):
            one, each = (getattr(how.mechanism, name) for how in (together, alone))
            assert (one.limit, one.spread, one.steps) == (each.limit, each.spread, each.steps)
            scores = one.scores(together.scored(family.graph)).reshape(-1, 4)
            for bits, edges in enumerate(graphs()):
                assert (scores[bits] == each.scores(alone.scored(made(edges)))).all()


@pytest.mark.parametrize("centrality", ["ebc", "triangles"])
@pytest.mark.parametrize("n", [5, 9])
def test_lemmas_1_and_2_admissible_on_many_graphs(centrality, n) -> None:
    """Definition 1 read aloud, and Theorem 1, on all graphs of five nodes and larger ones."""
    family = all_graphs(5) if n == 5 else random_graphs(n)
    for bound in {2, 3, n - 1}:
        before, after = family.within(bound)
        for shift, steps in (("none", None), ("left", None), ("right", 2), ("none", 1)):
            how = family.influence(bound, centrality=centrality, shift=shift, steps=steps)
            one, scored = how.mechanism.whole, how.scored(family.cut(bound))
            size, most, step = family.graph.size, one.most, float(one.grid.step)
            sums = [scored.sensitivity.sums(np.full(size, t), one.grid, most) for t in range(9)]
            assert not sums[0].any()
            delta = np.diff(np.array(sums), axis=0).reshape(8, -1, family.n)
            assert delta.max() <= most
            utilities = np.asarray(scored.utilities, float).reshape(-1, family.n)
            moved = np.abs(utilities[before] - utilities[after])
            for x, y in ((before, after), (after, before)):
                assert (delta[0][x] * step >= moved).all()
                assert (delta[1:, x] >= delta[:-1, y]).all()
            scores = one.scores(scored).reshape(-1, family.n)
            assert np.abs(scores[before] - scores[after]).max() <= ONE + 1


@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_lemmas_1_and_2_the_checker_agrees(centrality) -> None:
    for bound, shift, steps in ((2, "none", 2), (3, "left", 3), (3, "right", 1), (3, "none", 0)):
        how = asked(centrality=centrality, bound=bound, shift=shift, steps=steps)
        found = check_admissible(view(how), pairs(bound), how.mechanism.round)
        assert found.holds, (shift, steps, found.problems)


def largest_degree(d: int) -> Fraction:
    return phi(d) + Fraction(d * (d - 1), 4)


def test_lemma_3_closed_formulas() -> None:
    """(iii) and (iv), with four quarters for rounding, two of them in G."""
    for bound in [*range(1, 60), 200, 1383, 9458, 37_699]:
        limit, spread = _ego_moves(bound, 0)
        fall = max(Fraction((bound - 1) * (bound - 2), 4), Fraction(bound, 2))
        assert limit == phi(bound)
        assert spread == min((bound - 1 + fall + 1) / (limit + Fraction(1, 2)), 2)
        limit, spread = _ego_moves(bound, bound)
        least = max(map(largest_degree, {0, *range(max(bound - 3, 0), bound)})) - Fraction(bound, 2)
        assert limit == max(least, phi(bound))
        assert spread == min((limit + Fraction(bound, 2) + 1) / (limit + Fraction(1, 2)), 2)
        assert _ego_moves(bound, bound + 7) == (limit, spread)
    assert float(_ego_moves(1000, 0)[1]) == pytest.approx(1 + 2 / 1000, abs=1e-4)
    assert float(_ego_moves(1000, 1000)[1]) == pytest.approx(1 + 1 / 1000, abs=1e-4)
    assert float(_ego_moves(1000, 1000)[0] / phi(1000)) == pytest.approx(2, abs=0.02)


def test_lemma_3_fewer_steps_by_the_same_expressions() -> None:
    """Before an edge at a node of degree d: u rises by d and falls by d (d - 1)/4 at most, b rises
    by what the last step gains over the first; elsewhere u falls by D/2 at most."""
    for bound in range(1, 15):
        for steps in range(1, bound):
            limit, spread = _ego_moves(bound, steps)
            assert limit == phi(bound)
            gains = [phi(min(d + steps, bound)) - phi(d) for d in range(bound)]
            rise = max(gain + d for d, gain in enumerate(gains))
            falls = [Fraction(d * (d - 1), 4) - gain for d, gain in enumerate(gains)]
            whole = rise + max(*falls, Fraction(bound, 2)) + WIDENED * 2 * Fraction(1, 4)
            assert spread == min(whole / (limit + WIDENED * Fraction(1, 4)), 2)


def test_lemma_3_spreads_are_those_of_the_mechanism() -> None:
    top = Influence(k=3, epsilon=1, nodes=50, bound=20, within=True).mechanism
    assert (top.whole.limit, top.whole.spread) == _ego_moves(20, 20)
    assert (top.plain.limit, top.plain.spread) == _ego_moves(20, 0)
    assert top.whole.limit > top.plain.limit
    for shift in ("none", "right"):  # nothing is proved about those
        whole = Influence(k=3, epsilon=1, nodes=50, bound=20, shift=shift).mechanism.whole
        assert (whole.limit, whole.spread) == (phi(20), 2)
    for centrality, limit in (("triangles", 20), ("degree", 1)):
        top = Influence(k=3, epsilon=1, nodes=50, bound=20, centrality=centrality).mechanism
        assert {top.whole.limit, top.plain.limit} == {limit}
        assert {top.whole.spread, top.plain.spread} == {1}


@pytest.mark.parametrize("centrality", CENTRALITIES)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("shift", "steps"), [("none", 3), ("left", 3), ("left", 0), ("right", 3)])
def test_theorems_4_and_8_the_exact_loss_of_one_choice(centrality, law, shift, steps) -> None:
    """Every mechanism: steps 0 is the exponential one or permute-and-flip on plain utilities."""
    how = asked(centrality=centrality, law=law, shift=shift, steps=steps, epsilon=8)
    one, scored = how.mechanism.round, view(how)

    def law_on(edges):
        return dict(enumerate(LAWS[law](one.scores(scored(edges)).tolist(), rate=one.rate)))

    found = verify_law(law_on, pairs(), claim=8)
    assert found.holds, found.explain()
    assert float(found.worst["edge"].loss) > 0.8


def exact_law(one: Dampened, scored) -> dict[int, Fraction]:
    return dict(enumerate(exponential_law(one.scores(scored).tolist(), rate=one.rate)))


def test_control_a_bound_from_the_data_is_caught() -> None:
    """L7: the largest degree of the graph at hand as bound; a ring, and the same with a chord."""
    ring = ((1, 2), (2, 4), (3, 4), (1, 3))

    def law_on(bound_of):
        def law(edges):
            graph = Graph.of_edges(np.array(edges), nodes=5)
            bound = bound_of(graph)
            how = asked(nodes=5, bound=bound, centrality="triangles", epsilon=60)
            return exact_law(how.mechanism.round, how.scored(graph))

        return law

    chord = [Pair(ring, (*ring, (2, 3)), "edge")]
    assert verify_law(law_on(lambda graph: 4), chord, claim=60).holds
    assert not verify_law(law_on(lambda graph: int(graph.degrees.max())), chord, claim=60).holds


def test_control_a_bound_below_the_largest_degree_is_caught() -> None:
    """Graphs beyond the bound, as if they were within it."""
    how = asked(bound=1, shift="left", steps=1)
    found = check_admissible(view(how), pairs(), how.mechanism.round)
    assert not found.holds


def worst_apart(family: Family, how: Influence, one: Dampened) -> int:
    scores = one.scores(how.scored(family.graph)).reshape(-1, family.n)
    before, after = family.within(how.bound)
    return int(np.ptp(scores[after] - scores[before], axis=1).max())


@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_control_a_spread_two_per_cent_too_small_is_caught(centrality) -> None:
    """The first edge of a graph moves its ends by one, and nobody else."""
    first = Family(201, [frozenset(), frozenset({(0, 1)})], [(0, 1)])
    how = first.influence(200, centrality=centrality)
    if centrality == "triangles":  # there the last edge does
        first = all_graphs(5)
        how = first.influence(4, centrality=centrality)
    one = how.mechanism.round
    claimed = replace(one, spread=one.spread * Fraction(98, 100))
    assert claimed.apart < worst_apart(first, how, one) <= one.apart


def test_control_a_spread_of_one_for_the_other_shift_is_caught() -> None:
    """What holds for betweenness shifted left does not hold for the right, and is not claimed."""
    family = all_graphs(5)
    how = family.influence(4, shift="right")
    one = how.mechanism.round
    assert one.spread == 2
    assert replace(one, spread="1.3").apart < worst_apart(family, how, one) <= one.apart


def test_theorem_1_graphs_beyond_the_bound_cost_three_times() -> None:
    """Edges beyond the bound are dropped; the exact loss of an edge given is within epsilon."""
    for bound, centrality in ((1, "ebc"), (2, "ebc"), (2, "triangles"), (1, "degree")):
        how = asked(bound=bound, within=False, law="exponential", centrality=centrality, epsilon=20)
        assert how.price == STABILITY
        assert how.mechanism.guarantee().nano == 20 * 10**9
        one, scored = how.mechanism.round, view(how)
        assert Fraction(one.epsilon) == Fraction(20, 3)
        law_on = lambda edges, one=one, scored=scored: exact_law(one, scored(edges))  # noqa: E731
        assert verify_law(law_on, pairs(), claim=20).holds


def test_a_bound_that_no_graph_exceeds_costs_nothing() -> None:
    for bound in (NODES - 1, 100):
        how = asked(bound=bound, within=False)
        assert (how.price, how.bound) == (1, NODES - 1)
    assert asked(bound=2, within=True).price == 1


def test_lemmas_1_and_2_sums_are_those_of_the_formulas() -> None:
    """Step by step: min(phi(d + t), phi(D)) and min(max(d + t, 1), D), G from the bound on."""
    for centrality, delta in (("ebc", phi), ("triangles", lambda d: Fraction(max(d, 1)))):
        how = Influence(k=1, epsilon=1, nodes=9, bound=6, within=True, centrality=centrality)
        one, d = how.mechanism.whole, np.arange(7)
        sensitivity = type(how.scored(Graph.of_edges([], nodes=9)).sensitivity)(d, 6)
        for steps in range(9):
            expected = [
                sum(
                    delta(at + t) / one.grid.step + WIDENED if at + t < 6 else one.most
                    for t in range(steps)
                )
                for at in d.tolist()
            ]
            assert sensitivity.sums(np.full(7, steps), one.grid, one.most).tolist() == expected


def test_phi_bounds_every_change_and_is_reached() -> None:
    assert [phi(d) for d in range(7)] == [0, 1, 2, 3, 4, 5, Fraction(15, 2)]
    twins = [(twin, v) for twin in (0, 1) for v in range(2, 12)]
    drop = [
        float(np.asarray(Influence(k=1, epsilon=1, nodes=12, bound=11).scored(graph).utilities)[0])
        for graph in (
            Graph.of_edges(np.array(twins), nodes=12),
            Graph.of_edges(np.array([*twins, (0, 1)]), nodes=12),
        )
    ]
    assert drop[0] - drop[1] == pytest.approx(10 * 9 / 4)


def star(leaves: int) -> Graph:
    return Graph.of_edges([(0, leaf) for leaf in range(1, leaves + 1)], nodes=leaves + 6)


def test_hubs_are_found_at_small_budgets() -> None:
    given = {"k": 1, "epsilon": 1, "nodes": 206, "bound": 205, "within": True}
    for test in (0, None):
        how = Influence(**given, test=test)
        hits = sum(how.release(star(200), Source.seeded(s)).value == (0,) for s in range(20))
        assert hits >= 19
    plain = Influence(**given, steps=0, test=0)
    assert sum(plain.release(star(200), Source.seeded(s)).value == (0,) for s in range(20)) < 10


def test_theorem_6_plain_scores_are_used_where_they_stand_out() -> None:
    for epsilon, expected in ((1, "shifted"), (1000, "rounds")):
        how = Influence(k=1, epsilon=epsilon, nodes=206, bound=205, within=True)
        top, data = how.mechanism, how.scored(star(200))
        found = [top.way(top.plain.scores(data), Source.seeded(s)) for s in range(50)]
        assert np.mean([way == expected for way in found]) > 0.9


def test_a_clear_set_is_found_whole() -> None:
    """Three hubs: at a large budget the set of them, in order of number."""
    edges = [(hub, leaf) for hub in range(3) for leaf in range(3 + 40 * hub, 43 + 40 * hub)]
    graph = Graph.of_edges(edges, nodes=130)
    how = Influence(k=3, epsilon=2000, nodes=130, bound=60, within=True)
    assert how.release(graph, Source.seeded(0)).value == (0, 1, 2)


def test_rounds_choose_different_nodes() -> None:
    how = Influence(k=5, epsilon=3, nodes=206, bound=205, within=True)
    chosen = how.release(star(200), Source.seeded(1)).value
    assert len(set(chosen)) == 5
    every = Influence(k=4, epsilon=1, nodes=4, bound=3, within=True)
    assert sorted(every.release(made([(0, 1)]), Source.seeded(1)).value) == [0, 1, 2, 3]


@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_loops_repeated_edges_and_lonely_nodes(centrality) -> None:
    """They change nothing, and nobody at all is a graph too."""
    how = Influence(k=2, epsilon=1, nodes=6, bound=5, centrality=centrality)
    clean = Graph.of_edges(np.array([[0, 1], [0, 2], [1, 2]]), nodes=6)
    odd = np.array([[0, 1], [1, 0], [0, 1], [2, 2], [2, 0], [1, 2], [5, 5], [7, 0], [-1, 3]])
    data, other = (how.scored(graph) for graph in (clean, Graph.of_edges(odd, nodes=6)))
    for one in (how.mechanism.round, how.mechanism.plain_round):
        assert (one.scores(data) == one.scores(other)).all()
    empty = how.release(Graph.of_edges(np.empty((0, 2), int), nodes=6), Source.seeded(0))
    assert len(set(empty.value)) == 2


@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_degrees_beyond_a_stated_bound_never_raise(centrality) -> None:
    """Who states a bound that does not hold loses the promise, but learns nothing from an error."""
    for within in (False, True):
        how = Influence(
            k=3, epsilon=5, nodes=206, bound=7, within=within, centrality=centrality, test=None
        )
        assert how.price == (1 if within else STABILITY)
        assert len(set(how.release(star(200), Source.seeded(4)).value)) == 3
    used = Influence(k=1, epsilon=1, nodes=206, bound=7, centrality="degree").scored(star(200))
    assert np.max(used.utilities) == 7


def test_parameters_make_an_equal_mechanism() -> None:
    for centrality in CENTRALITIES:
        top = Influence(k=3, epsilon=1, nodes=20, bound=5, centrality=centrality).mechanism
        assert TopDampened.from_parameters(top.parameters()) == top
        assert top.guarantee().nano == 10**9
        assert top.changes == 3


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0},
        {"k": 9},
        {"k": NODES + 1},
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"bound": 0},
        {"centrality": "pagerank"},
        {"nodes": 1},
        {"test": 1},
        {"test": -1},
        {"shift": "up"},
        {"law": "laplace"},
        {"steps": -1},
        {"steps": 1 << 62},
    ],
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError):
        asked(**given)


def test_a_graph_of_other_size_is_refused_by_its_number_of_nodes_only() -> None:
    with pytest.raises(ParameterError, match="of 4 nodes") as caught:
        asked().release(star(3), Source.seeded(0))
    assert str(caught.value) == "graph must be of 4 nodes, got 9"
