"""Influential nodes: sensitivities on all small graphs, exact loss, which scores are used."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from reticent.data.graphs import STABILITY, Graph
from reticent.errors import ParameterError
from reticent.mechanisms.dampening import SCORE_BITS
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Source
from reticent.tasks.influence import Influence, phi
from reticent.testing import Pair, exponential_law, permute_and_flip_law, verify_law
from reticent.testing.admissible import check_admissible

NODES = 4
EDGES = list(combinations(range(NODES), 2))


def graphs(cap: int | None = None):
    for bits in range(1 << len(EDGES)):
        chosen = tuple(edge for k, edge in enumerate(EDGES) if bits >> k & 1)
        degrees = np.bincount(np.array(chosen, dtype=int).ravel(), minlength=NODES)
        if cap is None or degrees.max() <= cap:
            yield chosen


def pairs(cap: int | None = None):
    known = set(graphs(cap))
    for chosen in known:
        for edge in EDGES:
            more = tuple(sorted((*chosen, edge)))
            if edge not in chosen and more in known:
                yield Pair(chosen, more, "edge")


def made(edges) -> Graph:
    return Graph.of_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes=NODES)


def asked(**given) -> Influence:
    settings = {"k": 1, "epsilon": 2, "nodes": NODES, "bound": NODES - 1, "within": True, "test": 0}
    return Influence(**{**settings, **given})


@pytest.mark.parametrize("centrality", ["ebc", "triangles", "degree"])
@pytest.mark.parametrize("bound", [2, 3])
def test_lemmas_1_and_2_all_small_graphs(centrality, bound) -> None:
    """Admissible, and one edge moves a score by at most one, with and without local steps."""
    for shift in ("none", "left", "right"):
        for steps in (0, 1, bound):
            how = asked(centrality=centrality, bound=bound, shift=shift, steps=steps)
            one = how.mechanism.round
            view = lambda edges, how=how: how.scored(made(edges))  # noqa: E731
            found = check_admissible(view, pairs(bound), one)
            assert found.holds, (shift, steps, found.problems)


def test_a_bound_below_the_largest_degree_is_caught() -> None:
    """The control: graphs beyond the bound, as if they were within it."""
    how = asked(bound=1, shift="left", steps=1)
    found = check_admissible(lambda edges: how.scored(made(edges)), pairs(), how.mechanism.round)
    assert not found.holds


@pytest.mark.parametrize("law", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize("shift", ["none", "left"])
def test_the_exact_loss_of_one_choice(law, shift) -> None:
    how = asked(law=law, shift=shift)
    one = how.mechanism.round
    exact = exponential_law if law == "exponential" else permute_and_flip_law

    def law_on(edges):
        scores = one.scores(how.scored(made(edges))).tolist()
        return dict(enumerate(exact(scores, rate=one.rate)))

    assert verify_law(law_on, pairs(), claim=2).holds
    assert not verify_law(law_on, pairs(), claim=Fraction(1, 5)).holds


def test_theorem_1_graphs_beyond_the_bound_cost_three_times() -> None:
    """Edges beyond the bound are dropped; the exact loss of an edge given is within epsilon."""
    how = asked(bound=1, within=False, law="exponential")
    assert how.price == STABILITY
    assert how.mechanism.guarantee().nano == 2 * 10**9
    one = how.mechanism.round
    assert Fraction(one.epsilon) == Fraction(2, 3)

    def law_on(edges):
        scores = one.scores(how.scored(made(edges))).tolist()
        return dict(enumerate(exponential_law(scores, rate=one.rate)))

    assert verify_law(law_on, pairs(), claim=2).holds


def test_phi_bounds_every_change_and_is_reached() -> None:
    assert [phi(d) for d in range(7)] == [0, 1, 2, 3, 4, 5, Fraction(15, 2)]


def star(leaves: int) -> Graph:
    return Graph.of_edges([(0, leaf) for leaf in range(1, leaves + 1)], nodes=leaves + 6)


def test_hubs_are_found_at_small_budgets() -> None:
    how = Influence(k=1, epsilon=1, nodes=206, bound=205, within=True)
    hits = sum(how.release(star(200), Source.seeded(s)).value == (0,) for s in range(20))
    assert hits >= 19
    plain = Influence(k=1, epsilon=1, nodes=206, bound=205, within=True, steps=0)
    assert sum(plain.release(star(200), Source.seeded(s)).value == (0,) for s in range(20)) < 10


def test_theorem_6_plain_scores_are_used_where_they_stand_out() -> None:
    data = Influence(k=1, epsilon=1, nodes=206, bound=205, within=True).scored(star(200))
    for epsilon, expected in ((1, False), (1000, True)):
        top = Influence(k=1, epsilon=epsilon, nodes=206, bound=205, within=True).mechanism
        found = [top.stands_out(top.plain.scores(data), Source.seeded(s)) for s in range(50)]
        assert np.mean(found) > 0.9 if expected else np.mean(found) < 0.1


def test_the_test_has_the_noise_it_is_charged_for() -> None:
    """The chance of the answer differs by at most its epsilon between scores one step apart."""
    top = Influence(k=2, epsilon=10, nodes=50, bound=49, within=True, test=Fraction(1, 2)).mechanism
    at = int(top.threshold * (1 << SCORE_BITS))
    half = (1 << SCORE_BITS) // 2
    low, high = (np.full(50, 2 * (at + move)) for move in (-half, half))  # M is half of them
    source = Source.seeded(3)
    chances = [
        np.mean([top.stands_out(scores, source) for _ in range(4000)]) for scores in (low, high)
    ]
    ratio = np.log((1 - chances[0]) / (1 - chances[1]))
    assert abs(ratio) <= float(top.asked) + 0.3
    assert abs(np.log(chances[1] / chances[0])) <= float(top.asked) + 0.3
    assert abs(ratio) > 0.5 * float(top.asked)


def test_theorem_7_the_exact_loss_of_a_set() -> None:
    """All graphs of four nodes, all sets of two: within what the set is charged for."""
    how = asked(k=2, test=Fraction(1, 4))
    top = how.mechanism
    sets = list(combinations(range(NODES), 2))

    def law_on(edges):
        scores = top.plain.scores(how.scored(made(edges))).tolist()
        gaps = [
            min(scores[i] for i in chosen) - max(scores[i] for i in range(NODES) if i not in chosen)
            for chosen in sets
        ]
        return dict(zip(sets, exponential_law(gaps, rate=top.set_rate), strict=True))

    rest = Fraction(top.plain.epsilon)
    assert rest + top.asked == 2
    assert verify_law(law_on, pairs(), claim=rest).holds
    assert not verify_law(law_on, pairs(), claim=rest / 20).holds


def test_a_clear_set_is_found_whole() -> None:
    """Three hubs: at a large budget the set of them, in order of number."""
    edges = [(hub, leaf) for hub in range(3) for leaf in range(3 + 40 * hub, 43 + 40 * hub)]
    graph = Graph.of_edges(edges, nodes=130)
    how = Influence(k=3, epsilon=2000, nodes=130, bound=60, within=True)
    assert how.release(graph, Source.system()).value == (0, 1, 2)


def test_rounds_choose_different_nodes() -> None:
    how = Influence(k=5, epsilon=3, nodes=206, bound=205, within=True)
    chosen = how.release(star(200), Source.system()).value
    assert len(set(chosen)) == 5
    every = Influence(k=4, epsilon=1, nodes=4, bound=3, within=True)
    assert sorted(every.release(made([(0, 1)]), Source.system()).value) == [0, 1, 2, 3]


def test_parameters_make_an_equal_mechanism() -> None:
    top = Influence(k=3, epsilon=1, nodes=20, bound=5).mechanism
    assert TopDampened.from_parameters(top.parameters()) == top
    assert top.guarantee().nano == 10**9


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0},
        {"k": 9},
        {"epsilon": 0},
        {"bound": 0},
        {"centrality": "pagerank"},
        {"nodes": 1},
        {"test": 1},
        {"shift": "up"},
    ],
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError):
        asked(**given)


def test_a_graph_of_other_size_is_refused() -> None:
    with pytest.raises(ParameterError, match="of 4 nodes"):
        asked().release(star(3), Source.system())
