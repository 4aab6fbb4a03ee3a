"""The best k: exact laws of the three ways and of the test, planted faults, who is found."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest

from reticent.data.graphs import Graph
from reticent.errors import ParameterError
from reticent.guarantees import EDGE
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.top_dampened import TopDampened, usual_test
from reticent.noise import Source
from reticent.tasks.influence import Influence
from reticent.testing import Pair, exponential_law, permute_and_flip_law, verify_law
from reticent.testing.closed_forms import discrete_laplace_law

ONE = 1 << SCORE_BITS
NODES = 4
EDGES = list(combinations(range(NODES), 2))
GRAPHS = range(1 << len(EDGES))
LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law}
WAYS = ("shifted", "rounds", "set")


@cache
def graph_of(bits: int) -> Graph:
    chosen = [edge for i, edge in enumerate(EDGES) if bits >> i & 1]
    return Graph.of_edges(np.array(chosen, dtype=np.int64).reshape(-1, 2), nodes=NODES)


def pairs(cap: int = NODES - 1):
    for bits in GRAPHS:
        for i in range(len(EDGES)):
            more = bits | 1 << i
            if more != bits and graph_of(more).degrees.max() <= cap:
                yield Pair(bits, more, "edge")


def rounds_law(scores: list[int], k: int, rate: Fraction, law: str) -> dict[tuple, Fraction]:
    """Of ordered outcomes, by the chance of each round given the ones before."""
    found = {(): Fraction(1)}
    for _ in range(k):
        longer = {}
        for chosen, chance in found.items():
            left = [i for i in range(len(scores)) if i not in chosen]
            law_of_left = LAWS[law]([scores[i] for i in left], rate=rate)
            longer |= {(*chosen, i): chance * p for i, p in zip(left, law_of_left, strict=True)}
        found = longer
    return found


def set_law(scores: list[int], k: int, rate: Fraction) -> dict[tuple, Fraction]:
    sets = list(combinations(range(len(scores)), k))
    gaps = [
        min(scores[i] for i in inside)
        - max(score for i, score in enumerate(scores) if i not in inside)
        for inside in sets
    ]
    return dict(zip(sets, exponential_law(gaps, rate=rate), strict=True))


def way_law(top: TopDampened, scores: np.ndarray, noise: Fraction = Fraction(1)) -> dict:
    """Of the three ways, from the cdf of the noise that one unit of the margin is charged for."""
    scale = noise * (ONE + 2) / top.asked
    cells = discrete_laplace_law(scale, around=top.margin(scores), cuts=[0, 2 * top.room])
    return dict(zip(WAYS, cells.values(), strict=True))


def laws_of_ways(top: TopDampened, data: Scored) -> dict[str, dict[tuple, Fraction]]:
    plain, shifted = top.plain.scores(data).tolist(), top.round.scores(data).tolist()
    one, other = top.round, top.plain_round
    return {
        "shifted": rounds_law(shifted, top.k, one.rate, one.law),
        "rounds": rounds_law(plain, top.k, other.rate, other.law),
        "set": set_law(plain, top.k, top.set_rate),
    }


def whole_law(top: TopDampened, data: Scored, noise: Fraction = Fraction(1)) -> dict:
    """Of what is released: over the ways, the chance of the way times that of the outcome."""
    ways, laws = way_law(top, top.plain.scores(data), noise), laws_of_ways(top, data)
    found: Counter = Counter()
    for way, chance in ways.items():
        for outcome, p in laws[way].items():
            found[outcome] += chance * p
    return dict(found)


def asked(**given) -> Influence:
    settings = {"k": 2, "epsilon": 30, "nodes": NODES, "bound": NODES - 1, "within": True}
    return Influence(**{**settings, **given})


def view(how: Influence):
    return cache(lambda bits: how.scored(graph_of(bits)))


@pytest.mark.parametrize("centrality", ["ebc", "triangles"])
@pytest.mark.parametrize(
    ("law", "shift"),
    [("exponential", "left"), ("permute-and-flip", "left"), ("permute-and-flip", "none")],
)
def test_theorems_5_7_and_8_the_exact_loss_of_each_way(centrality, law, shift) -> None:
    """All graphs of four nodes, all ordered outcomes and sets: within what the choice may spend."""
    how = asked(centrality=centrality, law=law, shift=shift, epsilon=20)
    top, scored = how.mechanism, view(how)
    laws = cache(lambda bits: laws_of_ways(top, scored(bits)))
    for way in WAYS:
        found = verify_law(lambda bits, way=way: laws(bits)[way], pairs(), claim=top.rest)
        assert found.holds, (way, found.explain())
        assert float(found.worst["edge"].loss) > float(top.rest) / 20


@pytest.mark.parametrize(
    ("centrality", "epsilon"), [("ebc", 2), ("ebc", 30), ("ebc", 300), ("triangles", 60)]
)
def test_theorem_6_the_exact_loss_of_all_of_it(centrality, epsilon) -> None:
    """The test and what it leads to, at budgets that lead to each of the three ways."""
    how = asked(centrality=centrality, epsilon=epsilon)
    top, scored = how.mechanism, view(how)
    found = verify_law(lambda bits: whole_law(top, scored(bits)), pairs(), claim=epsilon)
    assert found.holds, found.explain()
    told = verify_law(
        lambda bits: way_law(top, top.plain.scores(scored(bits))), pairs(), claim=top.asked
    )
    assert told.holds, told.explain()


@pytest.mark.parametrize(("bound", "k"), [(1, 1), (1, 2), (2, 2)])
def test_influence_theorem_1_beyond_the_bound_the_exact_loss_is_within_epsilon(bound, k) -> None:
    """Edges beyond the bound are dropped; an edge that was given changes up to three."""
    how = asked(bound=bound, within=False, k=k, epsilon=60)
    top, scored = how.mechanism, view(how)
    assert how.price == top.changes == 3
    if k == 1:

        def law_on(bits):
            data = scored(bits)
            chances = discrete_laplace_law(
                Fraction(ONE + 2) / top.asked, around=top.margin(top.plain.scores(data)), cuts=[0]
            )
            laws = laws_of_ways(replace(top, k=1), data)
            return {
                (i,): sum(
                    chance * laws[way][(i,)]
                    for chance, way in zip(chances.values(), WAYS[:2], strict=True)
                )
                for i in range(NODES)
            }
    else:

        def law_on(bits):
            return whole_law(top, scored(bits))

    found = verify_law(law_on, pairs(), claim=60)
    assert found.holds, found.explain()


def test_control_beyond_the_bound_at_the_price_of_one_is_caught() -> None:
    """Degrees: where an edge pushes another out, one node rises as another falls."""
    how = asked(bound=2, within=False, k=1, epsilon=60, centrality="degree", law="exponential")
    top, scored = how.mechanism, view(how)

    def law_on(one):
        return lambda bits: rounds_law(
            one.scores(scored(bits)).tolist(), 1, one.rate, "exponential"
        )

    assert verify_law(law_on(top.round), pairs(), claim=60).holds
    assert not verify_law(law_on(replace(top, changes=1).round), pairs(), claim=60).holds


@pytest.mark.parametrize("law", LAWS)
def test_degrees_in_rounds_lose_all_of_epsilon_and_no_more(law) -> None:
    """The spread of degrees is reached: two per cent less noise is caught."""
    how = asked(centrality="degree", law=law, k=1, epsilon=60)
    one, scored = how.mechanism.round, view(how)
    assert how.mechanism.rest == 60

    def law_on(rate):
        return lambda bits: rounds_law(one.scores(scored(bits)).tolist(), 1, rate, law)

    assert verify_law(law_on(one.rate), pairs(), claim=60).holds
    thin = one.rate * Fraction(102, 100)
    assert not verify_law(law_on(thin), pairs(), claim=60).holds
    claimed = replace(one, spread=Fraction(98, 100)).rate
    assert not verify_law(law_on(claimed), pairs(), claim=60).holds
    two = asked(centrality="degree", law=law, k=2, epsilon=60).mechanism

    def both(bits):
        return rounds_law(two.round.scores(scored(bits)).tolist(), 2, two.round.rate, law)

    assert verify_law(both, pairs(), claim=60).holds


def cast(votes: tuple[int, ...]) -> Scored:
    return Scored([float(vote) for vote in votes], Tabled.of(np.ones(len(votes))))


def voting(**given) -> TopDampened:
    one = Dampened(epsilon=given.pop("epsilon", 60), candidates=3, limit=1, steps=0, spread=2)
    return TopDampened(**{"whole": one, "k": 2, "test": Fraction(1, 2), **given})


def moved_by_one() -> list[Pair]:
    """Every vote may move by one at once: the spread is two."""
    some = [(20, 20, 20), (20, 21, 20), (24, 10, 0), (6, 5, 0), (9, 9, 1), (3, 3, 3)]
    signs = list(permutations((-1, 1, 1))) + list(permutations((-1, -1, 1))) + [(1,) * 3, (-1,) * 3]
    return [
        Pair(votes, tuple(v + s for v, s in zip(votes, sign, strict=True)), "any")
        for votes in some
        for sign in signs
    ]


def test_theorem_7_a_set_at_two_per_cent_less_noise_is_caught() -> None:
    top = voting(epsilon=200)

    def law_on(rate):
        return lambda votes: set_law(top.plain.scores(cast(votes)).tolist(), 2, rate)

    assert verify_law(law_on(top.set_rate), moved_by_one(), claim=top.rest).holds
    thin = top.set_rate * Fraction(102, 100)
    assert not verify_law(law_on(thin), moved_by_one(), claim=top.rest).holds


@pytest.mark.parametrize("noise", [Fraction(100, 102), Fraction(1, 10)])
def test_theorem_6_a_test_with_too_little_noise_is_caught(noise) -> None:
    """Votes along the thresholds; at the noise that is charged for, all is within."""
    top = voting(epsilon=40)
    near = range(-2, max(top.needed) // ONE + 4 * top.room // ONE)
    steps = [Pair((v, v, v), (v + 1, v + 1, v + 1), "any") for v in near]

    def law_on(noise):
        return lambda votes: way_law(top, top.plain.scores(cast(votes)), noise)

    assert verify_law(law_on(Fraction(1)), steps, claim=top.asked).holds
    assert not verify_law(law_on(noise), steps, claim=top.asked).holds


def test_control_a_test_without_noise_is_caught() -> None:
    """On graphs too: all of it, by plain comparison with the thresholds."""
    how = asked(epsilon=120)
    top, scored = how.mechanism, view(how)

    def law_on(bits):
        margin = top.margin(top.plain.scores(scored(bits)))
        way = WAYS[(margin >= 0) + (margin >= 2 * top.room)]
        return {(way,): Fraction(1)}

    found = verify_law(law_on, pairs(), claim=120)
    assert not found.holds
    assert found.worst["edge"].loss == "infinite"


def test_theorem_6_one_unit_moves_the_margin_by_one_and_rounding() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 2, 5):
        one = Dampened(epsilon=50, candidates=8, limit=1, steps=0)
        top = TopDampened(whole=one, k=k, test=Fraction(1, 3))
        for _ in range(300):
            scores = rng.integers(-2 * ONE, 8 * ONE, 8)
            moves = rng.choice([-ONE - 1, 0, ONE + 1], 8)
            assert abs(top.margin(scores) - top.margin(scores + moves)) <= ONE + 2
        all_up = top.margin(scores + 20 * ONE) - top.margin(scores + 21 * ONE)
        assert abs(all_up) > ONE / (k + 1)  # it is no constant


def test_the_margin_by_hand() -> None:
    """M = min_b S_(b) / (k - b + 1) of scores 12, 7, 5: 4, 3.5, 5."""
    top = TopDampened(
        whole=Dampened(epsilon=3000, candidates=4, limit=1, steps=0), k=3, test=Fraction(1, 2)
    )
    scores = np.array([5, 12, -1, 7]) * ONE
    for_rounds, for_set = top.needed
    s = (ONE + 2) / top.asked
    assert top.room == pytest.approx(3 * s, abs=1)
    noise = 1 / top.plain_round.rate, 1 / top.set_rate
    for threshold, scale in zip(top.needed, noise, strict=True):
        assert threshold >= scale * np.log(4)  # below it the noise hides the best of four
    by_rounds = 5 * ONE - max(for_rounds, top.room)
    by_set = top.room + 7 * ONE // 2 - max(for_set - top.room, 0)
    assert top.margin(scores) == min(by_rounds, by_set)
    low = np.array([5, 12, -1, 0]) * ONE
    assert top.margin(low) == -max(for_rounds, top.room)


def test_theorem_6_rounds_are_taken_where_the_set_is_far_from_clear() -> None:
    """Three equal scores that are enough for rounds, with M far below what a set needs."""
    top = TopDampened(
        whole=Dampened(epsilon=30, candidates=4, limit=1, steps=0), k=3, test=Fraction(99, 100)
    )
    for_rounds, for_set = top.needed
    score = max(for_rounds, top.room) + 10 * top.room
    assert score // 3 < for_set - top.room
    assert top.margin(np.array([score, score, 0, score])) == top.room


@pytest.mark.parametrize("epsilon", [8, 40, 150])
def test_ways_and_releases_follow_their_exact_law(epsilon) -> None:
    """What is drawn is what was verified above."""
    how = asked(epsilon=epsilon)
    top, data = how.mechanism, how.scored(graph_of(0b001111))
    source, runs = Source.seeded(epsilon), 400
    drawn = Counter(top.release(data, source).value for _ in range(runs))
    law = {outcome: float(p) for outcome, p in whole_law(top, data).items()}
    assert _surprise(drawn, law, runs) < 40
    scores = top.plain.scores(data)
    ways = Counter(top.way(scores, source) for _ in range(runs))
    assert _surprise(ways, {w: float(p) for w, p in way_law(top, scores).items()}, runs) < 18


def test_theorem_6_ways_near_both_thresholds_follow_their_exact_law() -> None:
    """Where two ways are about as likely, which is where a wrong threshold shows."""
    top, source = voting(epsilon=40), Source.seeded(8)
    for threshold in (0, 2 * top.room):
        scores = min(
            (top.plain.scores(cast((v / 16,) * 3)) for v in range(200)),
            key=lambda some: abs(top.margin(some) - threshold),
        )
        law = {way: float(p) for way, p in way_law(top, scores).items()}
        assert sum(p > 0.2 for p in law.values()) == 2
        assert _surprise(Counter(top.way(scores, source) for _ in range(1500)), law, 1500) < 18


def _surprise(drawn: Counter, law: dict, runs: int) -> float:
    """Chi squared of the cells in which five are expected, the others together."""
    often = {outcome: p * runs for outcome, p in law.items() if p * runs >= 5}
    found = sum((drawn[o] - expected) ** 2 / expected for o, expected in often.items())
    rest = runs - sum(often.values())
    others = runs - sum(drawn[o] for o in often)
    return found + (others - rest) ** 2 / max(rest, 5)


def test_theorem_6_each_way_is_taken_in_turn_as_the_budget_grows() -> None:
    """Plain scores 40, 40, 30, 0, ...: shifted scores, then rounds by plain ones, then the set."""
    utilities = np.zeros(100)
    utilities[:3] = 40, 40, 30
    one = Dampened(epsilon=1, candidates=100, limit=1, steps=0)
    top = TopDampened(whole=one, k=3, test=usual_test(3, 100))
    scores = top.plain.scores(Scored(utilities, Tabled.of(np.ones(100))))
    likely = []
    for i in range(20):
        law = way_law(top.at(Fraction(5, 4) ** i / 4), scores)
        likely.append(max(law, key=law.get))
    assert [way for way, before in zip(likely, ["", *likely], strict=False) if way != before] == [
        *WAYS
    ]
    assert law["set"] > Fraction(9, 10)


def test_one_best_candidate_is_never_a_set() -> None:
    top = TopDampened(
        whole=Dampened(epsilon=1000, candidates=5, limit=1, steps=0), k=1, test=Fraction(1, 3)
    )
    scores = np.array([900, 5, 3, 2, 1]) * ONE
    assert {top.way(scores, Source.seeded(s)) for s in range(20)} == {"rounds"}


def test_without_a_test_shifted_scores_are_taken() -> None:
    top = voting(test=0)
    assert top.asked == 0
    assert top.rest == 60
    assert top.way(np.array([10**12, 5, 5]), Source.seeded(0)) == "shifted"


def test_convergence_the_true_set_is_found_where_shifted_scores_miss_it() -> None:
    """A hub in a clique has the larger degree and little betweenness: shifting takes it."""
    clique = [(0, v) for v in range(1, 15)] + list(combinations(range(1, 15), 2))
    star = [(15, v) for v in range(16, 27)] + [(27, v) for v in range(28, 38)]
    graph = Graph.of_edges(np.array(clique + star), nodes=40)
    given = {"k": 2, "nodes": 40, "bound": 39, "within": True}
    for epsilon in (1000, 100_000):
        ours = Influence(epsilon=epsilon, **given)
        shifted = Influence(epsilon=epsilon, test=0, **given)
        data = ours.scored(graph)
        best = set(np.argsort(np.asarray(data.utilities))[-2:].tolist())
        assert best == {15, 27}
        found = [set(ours.release(graph, Source.seeded(s)).value) for s in range(20)]
        if epsilon == 100_000:
            assert found == [best] * 20
            missed = [set(shifted.release(graph, Source.seeded(s)).value) for s in range(20)]
            assert best not in missed
        assert sum(some == best for some in found) >= 18


def test_usual_test() -> None:
    assert usual_test(1, 1000) == Fraction(3, 10)
    assert usual_test(3, 1000) == usual_test(50, 1000) == Fraction(1, 8)
    assert usual_test(1, 1) == usual_test(1, 2) == Fraction(3, 4)
    shares = [usual_test(2, n) for n in (2, 10, 1000, 10**6)]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share < 1 for share in shares)
    assert asked(test=None).mechanism.test == usual_test(2, NODES)


@pytest.mark.parametrize("changes", [1, 3])
def test_the_parts_of_the_budget_add_up(changes) -> None:
    top = voting(epsilon=Fraction(3, 7), test=Fraction(2, 9), changes=changes)
    assert changes * (top.asked + top.rest) == Fraction(3, 7)
    for one in (top.round, top.plain_round):
        assert one.rate * one.apart * top.k == top.rest
    assert 2 * top.set_rate * top.plain.apart == top.rest
    assert top.guarantee() == top.whole.guarantee()


def test_theorem_7_a_smaller_spread_serves_plain_rounds_and_sets() -> None:
    one = Dampened(epsilon=1, candidates=5, limit=1, steps=2)
    wide = TopDampened(whole=one, k=2, test=Fraction(1, 4))
    narrow = replace(wide, plain=replace(wide.plain, spread=1))
    assert wide.plain.spread == 2
    assert narrow.round.rate == wide.round.rate
    for name in ("set_rate", "plain_round"):
        rates = [getattr(getattr(top, name), "rate", getattr(top, name)) for top in (wide, narrow)]
        assert rates[1] / rates[0] == Fraction(2 * ONE + 2, ONE + 2)
    assert all(a < b for a, b in zip(narrow.needed, wide.needed, strict=True))


def test_the_default_plain_scores_have_the_limit_of_whole_and_claim_no_spread() -> None:
    one = Dampened(epsilon=1, candidates=5, limit=7, steps=2, shift="right", spread=1, unit=EDGE)
    plain = TopDampened(whole=one, k=2).plain
    assert plain == replace(one, steps=0, shift="left", spread=2)


def test_another_budget() -> None:
    top = asked().mechanism
    other = top.at("7/3")
    assert other.at(30) == top
    assert other.whole == replace(top.whole, epsilon="7/3")
    assert other.plain == replace(top.plain, epsilon="7/3")
    assert (other.k, other.test, other.changes) == (top.k, top.test, top.changes)
    assert other.guarantee() == other.whole.guarantee()
    with pytest.raises(ParameterError, match="epsilon"):
        top.at(0)


def test_all_and_more_than_all() -> None:
    for epsilon in ("0.1", 10_000):
        every = asked(k=NODES, epsilon=epsilon)
        chosen = every.release(graph_of(0b000111), Source.seeded(2)).value
        assert sorted(chosen) == list(range(NODES))
    with pytest.raises(ParameterError, match="k must be at most the number of candidates, 4"):
        asked(k=NODES + 1)


def test_parameters_make_an_equal_mechanism() -> None:
    top = asked(within=False, bound=2, test="1/7").mechanism
    assert TopDampened.from_parameters(top.parameters()) == top
    plain = top.plain
    assert plain.limit != top.whole.limit or plain.spread != top.whole.spread


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0},
        {"k": 4},
        {"k": 1.5},
        {"changes": 0},
        {"test": 1},
        {"test": -1},
        {"test": float("nan")},
        {"plain": Dampened(epsilon=60, candidates=3, limit=1, steps=1)},
        {"plain": Dampened(epsilon=60, candidates=3, limit=1, steps=0, shift="none")},
        {"plain": Dampened(epsilon=61, candidates=3, limit=1, steps=0)},
        {"plain": Dampened(epsilon=60, candidates=4, limit=1, steps=0)},
        {"plain": Dampened(epsilon=60, candidates=3, limit=1, steps=0, unit=EDGE)},
    ],
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError):
        voting(**given)


def test_utilities_never_raise() -> None:
    table = Tabled.of(np.ones((1, 3)))
    for odd in ([np.nan, 1, 2], [np.inf, -np.inf, 0], [1e300, 0, 0], ["x", None, 3]):
        for epsilon in (1, 10_000):
            chosen = voting().at(epsilon).release(Scored(odd, table), Source.seeded(3)).value
            assert len(set(chosen)) == 2
