"""Comparing ways of choosing: shares against exact laws, ties, intervals, the same promise."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms import Compared, Dampened, Scored, TopDampened, compare, ways
from reticent.mechanisms.comparison import _interval, at_random
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.top_dampened import usual_test
from reticent.noise import Source
from reticent.tasks.influence import Influence
from reticent.testing import exponential_law, permute_and_flip_law

LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law}
UTILITIES = [5.0, 9.0, 2.0, 9.0, 0.0]
DATA = Scored(UTILITIES, Tabled.of([[2, 3, 1, 1, 2], [3, 4, 2, 4, 3]]))


def mechanism(**given) -> TopDampened:
    settings = {"epsilon": 6, "candidates": 5, "limit": 4, "steps": 2}
    one = Dampened(**{**settings, **given.pop("whole", {})})
    return TopDampened(whole=one, **{"k": 1, **given})


def rounds(scores: list[int], k: int, rate: Fraction, law: str) -> dict[tuple[int, ...], float]:
    """The law of ordered outcomes, by walking through all of them."""
    found = {}
    for outcome in permutations(range(len(scores)), k):
        chance, left = 1.0, list(range(len(scores)))
        for one in outcome:
            chances = LAWS[law]([scores[i] for i in left], rate=rate)
            chance *= float(chances[left.index(one)])
            left.remove(one)
        found[outcome] = chance
    return found


def test_the_share_of_one_choice_is_computed_from_its_law() -> None:
    """Brute force, both tied best candidates are right; nothing is drawn."""
    found = compare(DATA, mechanism(), epsilons=[1, 6, 40], source=Source.seeded(0))
    assert len(found) == 3 * 4
    for row in found:
        one = ways(mechanism().at(Fraction(row.epsilon)))[row.way].round
        scores = one.scores(DATA).tolist()
        chances = [float(p) for p in LAWS[one.law](scores, rate=one.rate)]
        assert row.overlap == pytest.approx(chances[1] + chances[3], abs=1e-10)
        assert row.low == row.overlap == row.high
        loss = 9 - sum(p * u for p, u in zip(chances, UTILITIES, strict=True))
        assert row.loss == pytest.approx(loss, abs=1e-9)
        assert row.runs == 0


def test_the_share_of_several_is_near_that_of_their_law() -> None:
    """Two rounds, all ordered outcomes; the interval of 400 runs holds the share, or nearly."""
    top = mechanism(k=2)
    found = compare(DATA, top, epsilons=[8], runs=400, source=Source.seeded(1))
    assert [row.way for row in found] == ["exponential", "permute-and-flip", "dampened", "shifted"]
    for row in found:
        one = ways(top.at(8))[row.way].round
        law = rounds(one.scores(DATA).tolist(), 2, one.rate, one.law)
        share = sum(p * len({1, 3} & set(outcome)) / 2 for outcome, p in law.items())
        loss = sum(p * (9 - sum(UTILITIES[i] for i in o) / 2) for o, p in law.items())
        width = row.high - row.low
        assert row.low - width / 2 <= share <= row.high + width / 2
        assert row.loss == pytest.approx(loss, abs=1)
        assert row.runs == 400


def test_intervals_hold_the_share_19_times_in_20() -> None:
    """Shares of two vary less than a coin, so it is more often."""
    top = mechanism(k=2, whole={"steps": 0})
    one = ways(top)["permute-and-flip"].round
    law = rounds(one.scores(DATA).tolist(), 2, one.rate, one.law)
    share = sum(p * len({1, 3} & set(outcome)) / 2 for outcome, p in law.items())
    source, held = Source.seeded(2), []
    for _ in range(30):
        rows = compare(DATA, top, epsilons=[6], runs=20, source=source)
        held += [row.low <= share <= row.high for row in rows if row.way == "permute-and-flip"]
    assert len(held) == 30
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize(
    ("share", "runs", "low", "high"), [(0.0, 100, 0, 0.03699), (1.0, 100, 0.96301, 1)]
)
def test_intervals_at_the_ends_are_not_empty(share, runs, low, high) -> None:
    assert _interval(share, runs) == pytest.approx((low, high), abs=1e-5)
    middle = _interval(0.5, runs)
    assert middle == pytest.approx((0.40383, 0.59617), abs=1e-5)


def test_ties_at_the_edge_are_as_good_as_each_other() -> None:
    """Of 9, 7, 7, 7 the best two are 9 and any 7; two 7s without the 9 are half right."""
    data = Scored([9.0, 7.0, 7.0, 7.0], Tabled.of(np.ones(4)))
    one = Dampened(epsilon=10**6, candidates=4, limit=1, steps=0)
    top = TopDampened(whole=one, k=2)
    for row in compare(data, top, epsilons=[10**6], runs=30, source=Source.seeded(3)):
        assert row.overlap == 1
        assert row.loss == 0
    other = compare(
        Scored([0.0, 7.0, 7.0, 0.0], data.sensitivity),
        top,
        epsilons=[10**6],
        runs=10,
        source=Source.seeded(3),
        truth=[9.0, 7.0, 7.0, 7.0],
    )
    for row in other:
        assert row.overlap == 0.5
        assert row.loss == 1


def test_truth_may_differ_from_what_is_scored() -> None:
    truth = [0.0, 0.0, 1.0, 0.0, 0.0]
    given = {"epsilons": [10**6], "source": Source.seeded(0)}
    for row in compare(DATA, mechanism(whole={"steps": 0}), truth=truth, **given):
        assert row.overlap == pytest.approx(0, abs=1e-9)
        assert row.loss == pytest.approx(1)


def all_mechanisms() -> list[TopDampened]:
    given = {"k": 3, "epsilon": "5/3", "nodes": 30, "bound": 9}
    return [
        mechanism(),
        mechanism(k=3, test=usual_test(3, 5), changes=3),
        mechanism(whole={"shift": "none", "law": "exponential"}),
        mechanism(whole={"shift": "right"}, test=Fraction(1, 9)),
        mechanism(whole={"steps": 0}),
        *(Influence(centrality=name, **given).mechanism for name in ("ebc", "triangles", "degree")),
        Influence(within=True, shift="none", test=0, **given).mechanism,
    ]


@pytest.mark.parametrize("top", all_mechanisms())
def test_all_ways_make_the_same_promise(top) -> None:
    """And spend all of it: k rounds and the test, for as many units as one unit changes."""
    for one in ways(top).values():
        assert one.guarantee() == top.guarantee()
        assert (one.k, one.changes) == (top.k, top.changes)
        spent = one.asked + one.k * one.round.rate * one.round.apart
        assert spent * one.changes == Fraction(top.whole.epsilon)


def test_which_ways_there_are() -> None:
    names = ["exponential", "permute-and-flip", "dampened", "shifted", "adaptive"]
    full = mechanism(test=Fraction(1, 9), whole={"spread": 1})
    found = ways(full)
    assert list(found) == names
    assert found["adaptive"] == full
    assert found["shifted"].whole == full.whole
    assert [found[name].whole.law for name in names[:2]] == names[:2]
    for name in names[:2]:  # the limit and spread proved for plain scores, not those of shifted
        assert found[name].whole.steps == 0
        assert found[name].whole.spread == full.plain.spread == 2
    assert found["dampened"].whole.shift == "none"
    assert found["dampened"].whole.spread == 2
    assert all(not found[name].test for name in names[:4])
    assert list(ways(mechanism())) == names[:4]
    assert list(ways(mechanism(whole={"shift": "none"}))) == names[:3]
    assert list(ways(mechanism(whole={"steps": 0}))) == names[:2]


def test_dampened_and_plain_ways_of_graphs_have_the_limit_of_plain_scores() -> None:
    """That of shifted betweenness is larger, and its spread holds for it alone."""
    top = Influence(k=2, epsilon=1, nodes=60, bound=40, within=True).mechanism
    found = ways(top)
    for name in ("exponential", "permute-and-flip"):
        assert (found[name].whole.limit, found[name].whole.spread) == (
            top.plain.limit,
            top.plain.spread,
        )
    assert (found["dampened"].whole.limit, found["dampened"].whole.spread) == (top.plain.limit, 2)
    assert found["shifted"].whole.limit == top.whole.limit > top.plain.limit


def test_permute_and_flip_is_not_worse_than_the_exponential_mechanism() -> None:
    found = compare(
        DATA, mechanism(whole={"steps": 0}), epsilons=[1, 5, 20], source=Source.seeded(0)
    )
    shares = {(row.way, row.epsilon): row.overlap for row in found}
    for epsilon in (1, 5, 20):
        assert shares["permute-and-flip", epsilon] > shares["exponential", epsilon]


def test_the_same_seed_gives_the_same_figures() -> None:
    top = mechanism(k=2, test=Fraction(1, 4))
    given = {"epsilons": ["1/2", 3], "runs": 7}
    once, again = (compare(DATA, top, source=Source.seeded(4), **given) for _ in range(2))
    assert once == again
    assert all(isinstance(row, Compared) for row in once)
    assert [row.epsilon for row in once] == [0.5] * 5 + [3.0] * 5
    assert once != compare(DATA, top, source=Source.seeded(5), **given)


def test_progress_is_told_what_is_public() -> None:
    told: list[str] = []
    compare(DATA, mechanism(), epsilons=["0.25"], source=Source.seeded(0), progress=told.append)
    assert told == [
        f"{way} at epsilon 0.25"
        for way in ("exponential", "permute-and-flip", "dampened", "shifted")
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"runs": 0},
        {"runs": 1.5},
        {"epsilons": []},
        {"epsilons": [0]},
        {"epsilons": [1, -1]},
        {"epsilons": ["x"]},
        {"truth": [31337.0, 2.0]},
    ],
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError) as caught:
        compare(DATA, mechanism(), **{"epsilons": [1], "source": Source.seeded(0), **given})
    assert "31337" not in str(caught.value)


def test_what_is_no_number_counts_as_0() -> None:
    odd = Scored([np.nan, 3.0, 1.0, 0.0, 0.0], DATA.sensitivity)
    clean = Scored([0.0, 3.0, 1.0, 0.0, 0.0], DATA.sensitivity)
    given = {"epsilons": [2], "source": Source.seeded(0)}
    assert compare(odd, mechanism(), **given) == compare(clean, mechanism(), **given)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("values", [[9, 5, 5, 5, 5, 1], [7, 7, 7, 7, 7, 3], [6, 5, 4, 3, 2, 1]])
def test_a_choice_at_random_is_counted_as_every_other(values, k) -> None:
    """Against all choices there are; candidates that tie for the last place are as good."""
    held = np.array(values, dtype=np.float64)
    edge = sorted(values)[-k]
    above = sum(value > edge for value in values)
    shares = [
        sum(value > edge for value in some) + min(some.count(edge), k - above)
        for some in combinations(values, k)
    ]
    assert at_random(held, k) == pytest.approx(np.mean(shares) / k)
