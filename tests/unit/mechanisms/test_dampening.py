"""Local dampening: scores by hand, closed form, one unit one step, exact loss, planted faults."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import EDGE
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.mechanisms.local_sensitivity import WIDENED, Tabled
from reticent.mechanisms.selection_laws import (
    chances_of,
    exponential_chances,
    permute_and_flip_chances,
)
from reticent.noise import Grid, Source
from reticent.testing import (
    exponential_law,
    permute_and_flip_law,
    substitute_pairs,
    verify_law,
)
from reticent.testing.admissible import check_admissible

ONE = 1 << SCORE_BITS
SHIFTS = ["none", "left", "right"]
LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law}

# three voters choose among 0..3; the utility of candidate r is (votes for r) squared: one voter
# changes it by at most 2 v + 1 where it has v votes
VOTERS, CANDIDATES = 3, 3


def votes(data: tuple[int, ...]) -> np.ndarray:
    return np.bincount(data, minlength=CANDIDATES).astype(float)


@cache
def squares(data: tuple[int, ...], steps: int = VOTERS) -> Scored:
    own = votes(data)
    table = [2 * np.minimum(own + t, VOTERS - 1) + 1 for t in range(steps)]
    return Scored(own**2, Tabled.of(table))


def mechanism(**given) -> Dampened:
    settings = {"epsilon": 1, "candidates": CANDIDATES, "limit": 2 * VOTERS - 1, "steps": VOTERS}
    return Dampened(**{**settings, **given})


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_theorem_1_and_3_one_unit_moves_a_score_by_one(shift, steps) -> None:
    pairs = substitute_pairs(range(CANDIDATES), size=VOTERS)
    found = check_admissible(squares, pairs, mechanism(shift=shift, steps=steps))
    assert found.holds, found.problems
    assert found.largest_move <= 1 + 2**-SCORE_BITS
    assert found.largest_move > 0.5  # it is not loose by a factor


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_theorem_4_the_exact_loss_is_within_epsilon(shift, law, steps) -> None:
    chosen = mechanism(shift=shift, law=law, steps=steps, epsilon=2)

    def law_on(data):
        scores = chosen.scores(squares(data)).tolist()
        return dict(enumerate(LAWS[law](scores, rate=chosen.rate)))

    pairs = list(substitute_pairs(range(CANDIDATES), size=VOTERS))
    assert verify_law(law_on, pairs, claim=2).holds
    assert not verify_law(law_on, pairs, claim=Fraction(3, 10)).holds


def test_a_limit_from_the_data_is_caught() -> None:
    """L7: with the largest sensitivity met in the data a score moves by more than one."""

    def moved(limit_of) -> int:
        largest = 0
        for pair in substitute_pairs(range(2), size=4):
            found = []
            for data in (pair.a, pair.b):
                own = np.bincount(data, minlength=2).astype(float)
                chosen = Dampened(epsilon=1, candidates=2, limit=limit_of(own), steps=0)
                found.append(chosen.scores(Scored(own**3, Tabled.of([[1.0, 1.0]]))))
            largest = max(largest, int(np.abs(found[0] - found[1]).max()))
        return largest

    assert moved(lambda own: 3 * 16 - 3 * 4 + 1) <= ONE + 1
    assert moved(lambda own: 3 * int(own.max()) ** 2 - 3 * int(own.max()) + 1) > ONE + 1


def test_a_sensitivity_that_is_too_small_is_caught_and_named() -> None:
    def low(data):
        scored = squares(data)
        return Scored(scored.utilities, Tabled.of(scored.sensitivity.table * 0.7))

    pairs = list(substitute_pairs(range(CANDIDATES), size=VOTERS))
    found = check_admissible(low, pairs, mechanism(shift="none"))
    assert not found.holds
    assert "delta(0) of candidate" in " ".join(found.problems)
    assert "neighbours (" in found.problems[0]


def test_a_sensitivity_capped_by_the_data_is_caught() -> None:
    """L5: capped at what this data could reach, a neighbour's is larger."""

    def capped(data):
        own = votes(data)
        table = [2 * np.minimum(own + t, own.max()) + 1 for t in range(VOTERS)]
        return Scored(own**2, Tabled.of(table))

    pairs = list(substitute_pairs(range(CANDIDATES), size=VOTERS))
    found = check_admissible(capped, pairs, mechanism(shift="none"))
    assert any("of a neighbour is" in sentence for sentence in found.problems)


def test_missing_padding_is_caught() -> None:
    """L1: limits that differ by candidate let shifted scores move by more than one."""
    limits = np.array([5.0, 1.0, 5.0])

    def padded(data):
        own = votes(data)
        table = np.minimum([2 * np.minimum(own + t, 2) + 1 for t in range(12)], limits)
        return Scored(np.minimum(own**2, limits * own), Tabled.of(table))

    pairs = list(substitute_pairs(range(CANDIDATES), size=VOTERS))
    found = check_admissible(padded, pairs, mechanism(shift="left", limit=1, steps=12))
    assert not found.holds


def test_scores_by_hand() -> None:
    data = Scored([2.5, -4, 0.5, 0], Tabled.of([[1, 2, 0, 0], [2, 3, 1, 0], [4, 4, 4, 4]]))
    chosen = Dampened(epsilon=1, candidates=4, limit=8, steps=3, shift="none")
    scores = chosen.scores(data) / ONE
    assert scores == pytest.approx([1.75, -5 / 3, 1.5, 0], abs=1e-5)
    left = Dampened(epsilon=1, candidates=4, limit=8, steps=3, shift="left").scores(data) / ONE
    assert left == pytest.approx([9.5 / 8, 5 / 8, 5.5 / 8, 4 / 8], abs=1e-5)
    right = Dampened(epsilon=1, candidates=4, limit=8, steps=3, shift="right").scores(data) / ONE
    assert right == pytest.approx([-4.5 / 8, -13 / 8, -4.5 / 8, -4 / 8], abs=1e-5)


def by_definition(units: list[int], table: list[list[int]], most: int) -> list[Fraction]:
    """Definition 2 read aloud: sign(u) times the least s with B(s) >= |u|, by walking up."""
    scores = []
    for r, unit in enumerate(units):
        left, s, t = Fraction(abs(unit)), Fraction(0), 0
        while left > 0:
            width = table[t][r] if t < len(table) else most
            s += min(left / width, 1)
            left, t = left - width, t + 1
        scores.append(s if unit >= 0 else -s)
    return scores


def exact_law(scores: list[Fraction], epsilon: int) -> list[float]:
    weights = [math.exp(epsilon * float(score - max(scores)) / 2) for score in scores]
    return [weight / sum(weights) for weight in weights]


def random_table(rng: np.random.Generator, most: int) -> tuple[list[int], list[list[int]]]:
    """Utilities and rows of widened steps, in whole steps of Grid(0)."""
    rows = rng.integers(0, most - WIDENED + 1, (4, 6))
    return rng.integers(-40, 41, 6).tolist(), (rows + WIDENED).tolist()


@pytest.mark.parametrize("shift", SHIFTS)
def test_definition_2_scores_are_those_of_exact_arithmetic(shift) -> None:
    """Rounded towards 0, or down: less than a step of a score away, for whatever width."""
    rng = np.random.default_rng(7)
    for limit in (9, 14, 33):
        chosen = Dampened(epsilon=1, candidates=6, limit=limit, steps=4, shift=shift, grid=Grid(0))
        for _ in range(40):
            units, table = random_table(rng, limit + WIDENED)
            data = Scored(units, Tabled.of(np.array(table) - WIDENED))
            found = [Fraction(int(score), ONE) for score in chosen.scores(data)]
            if shift == "none":
                exact = by_definition(units, table, chosen.most)
                towards_0 = [abs(e) - abs(f) for e, f in zip(exact, found, strict=True)]
            else:
                sign = 1 if shift == "left" else -1
                sums = [sum(column) for column in zip(*table, strict=True)]
                exact = [
                    Fraction(u + sign * b, chosen.most) for u, b in zip(units, sums, strict=True)
                ]
                towards_0 = [e - f for e, f in zip(exact, found, strict=True)]
            assert all(0 <= off < Fraction(1, ONE) for off in towards_0)


@pytest.mark.parametrize(("shift", "way"), [("left", -1), ("right", 1)])
def test_theorem_2_the_closed_form_is_the_finite_shift(shift, way) -> None:
    """In fractions: the same but for one constant, at the least shift and at larger ones."""
    rng, most = np.random.default_rng(0), 11
    for _ in range(60):
        units, table = random_table(rng, most)
        sums = [sum(column) for column in zip(*table, strict=True)]
        closed = [Fraction(u - way * b, most) for u, b in zip(units, sums, strict=True)]
        least = len(table) * most + max(map(abs, units))
        for s in (least, least + 1, 7 * least):
            finite = by_definition([u + way * s for u in units], table, most)
            assert len({c - f for c, f in zip(closed, finite, strict=True)}) == 1
            assert exact_law(closed, 30) == pytest.approx(exact_law(finite, 30), abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("shift", "way"), [("left", -1), ("right", 1)])
def test_theorem_2_the_law_drawn_from_is_that_of_the_finite_shift(shift, way, law) -> None:
    """With 16 steps in G no score is rounded, so the laws of the code agree to 1e-12."""
    rng = np.random.default_rng(1)
    given = {"epsilon": 20, "candidates": 6, "limit": 14, "steps": 4, "grid": Grid(0), "law": law}
    closed, finite = Dampened(shift=shift, **given), Dampened(shift="none", **given)
    assert closed.most == 16
    for _ in range(4):
        units, rows = random_table(rng, closed.most)
        table = Tabled.of(np.array(rows) - WIDENED)
        shifted = np.array(units) + way * (4 * 16 + 40)
        found = [
            one.scores(data)
            for one, data in ((closed, Scored(units, table)), (finite, Scored(shifted, table)))
        ]
        assert np.ptp(found[0] - found[1]) == 0
        laws = [chances_of(scores, closed.rate, law) for scores in found]
        assert laws[0] == pytest.approx(laws[1], abs=1e-12)
        exact = [float(p) for p in LAWS[law](found[1].tolist(), rate=closed.rate)]
        assert laws[0] == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("shift", "way"), [("left", -1), ("right", 1)])
def test_control_a_shift_that_is_too_small_has_another_law(shift, way) -> None:
    units, table = [5, -3, 0], [[2, 9, 4], [3, 3, 11]]
    sums = [sum(column) for column in zip(*table, strict=True)]
    closed = [Fraction(u - way * b, 11) for u, b in zip(units, sums, strict=True)]
    finite = by_definition([u + way * 6 for u in units], table, 11)
    assert len({c - f for c, f in zip(closed, finite, strict=True)}) > 1


def test_theorem_3_no_steps_is_selection_by_plain_utilities() -> None:
    data = Scored([5.0, 1.0, 3.0], Tabled.of([[9, 0, 4]]))
    for shift in ("left", "right"):
        found = mechanism(steps=0, shift=shift, limit=14, grid=Grid(0)).scores(data)
        assert (found == np.array([5, 1, 3]) * ONE // 16).all()
    undampened = mechanism(steps=0, shift="none", limit=14, grid=Grid(0)).scores(data)
    assert (undampened == np.array([5, 1, 3]) * ONE // 16).all()


def test_theorem_3_shifted_scores_of_all_steps_lose_the_order_of_utilities() -> None:
    """The best has a small sensitivity: no budget finds it, but with no steps one does."""
    data = Scored([6.0, 5.0], Tabled.of([[1.0, 10.0]] * 20))
    lost = Dampened(epsilon=100, candidates=2, limit=10, steps=20)
    kept = Dampened(epsilon=1000, candidates=2, limit=10, steps=0)
    assert lost.release(data, Source.seeded(0)).value == 1
    assert kept.release(data, Source.seeded(0)).value == 0


# plain votes: one voter moves two scores apart by exactly two, one who comes or goes by one
LOUD = 60


def vote_law(law: str, rate: Fraction):
    def law_on(data):
        scores = (np.bincount(data, minlength=3)[:3] * ONE).tolist()
        return dict(enumerate(LAWS[law](scores, rate=rate)))

    return law_on


def replaced():
    return substitute_pairs(range(3), size=4)


def joined():
    """Whoever names 3 has not voted."""
    for pair in substitute_pairs(range(4), size=3):
        if 3 in next({x, y} for x, y in zip(pair.a, pair.b, strict=True) if x != y):
            yield pair


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("spread", "pairs"), [(2, replaced), (1, joined)])
def test_theorem_8_spread_is_enough_and_no_less_is(law, spread, pairs) -> None:
    """Two per cent too little, in the rate or in the spread, is caught; so is spread 1 for 2."""
    rate = mechanism(epsilon=LOUD, spread=spread).rate
    assert rate == Fraction(LOUD, spread * ONE + 2)
    assert verify_law(vote_law(law, rate), pairs(), claim=LOUD).holds
    assert not verify_law(vote_law(law, rate * Fraction(102, 100)), pairs(), claim=LOUD).holds
    tight = mechanism(epsilon=LOUD, spread=Fraction(98, 100) * spread).rate
    assert not verify_law(vote_law(law, tight), pairs(), claim=LOUD).holds
    if spread == 2:
        halved = mechanism(epsilon=LOUD, spread=1).rate
        assert not verify_law(vote_law(law, halved), pairs(), claim=LOUD).holds


@pytest.mark.parametrize("shift", ["none", "left"])
def test_theorem_8_a_spread_of_one_is_caught_where_scores_move_both_ways(shift) -> None:
    one = mechanism(shift=shift, epsilon=LOUD, spread=1)

    def law_on(data):
        return dict(enumerate(exponential_law(one.scores(squares(data)).tolist(), rate=one.rate)))

    pairs = list(substitute_pairs(range(CANDIDATES), size=VOTERS))
    assert not verify_law(law_on, pairs, claim=LOUD).holds
    scores = {data: one.scores(squares(data)) for pair in pairs for data in (pair.a, pair.b)}
    apart = max(int(np.ptp(scores[pair.a] - scores[pair.b])) for pair in pairs)
    assert one.apart < apart <= mechanism(shift=shift).apart


def test_theorem_8_the_spread_is_rounded_by_two_steps() -> None:
    """Two scores, each rounded down, part by less than two steps more than before."""
    assert mechanism(spread=1).apart == ONE + 2
    assert mechanism(spread="3/2").apart == Fraction(3, 2) * ONE + 2
    assert mechanism().apart == 2 * ONE + 2
    for spread in (1, "4/3", 2):
        one = mechanism(spread=spread, epsilon="3/7")
        assert one.rate * one.apart == Fraction(3, 7)
        assert one.guarantee().overall == mechanism(epsilon="3/7").guarantee().overall


def test_permute_and_flip_is_never_worse() -> None:
    """Theorem 4: the chance of an error beyond any bound is not larger, whatever the scores."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        scores = rng.integers(0, 5 * ONE, 12)
        rate = Fraction(int(rng.integers(1, 40)), 10 * ONE)
        order = np.argsort(scores)
        best = np.cumsum(permute_and_flip_chances(scores, rate)[order])
        other = np.cumsum(exponential_chances(scores, rate)[order])
        assert (best <= other + 1e-12).all()


def test_laws_are_those_of_exact_arithmetic() -> None:
    rng = np.random.default_rng(2)
    for size in (2, 5, 10):
        scores = rng.integers(0, 30, size)
        for rate in (Fraction(1, 20), Fraction(1), Fraction(4)):
            exact = [float(p) for p in permute_and_flip_law(scores.tolist(), rate=rate)]
            assert permute_and_flip_chances(scores, rate) == pytest.approx(exact, abs=1e-12)
            exact = [float(p) for p in exponential_law(scores.tolist(), rate=rate)]
            assert exponential_chances(scores, rate) == pytest.approx(exact, abs=1e-12)


def test_draws_follow_the_law() -> None:
    chosen = mechanism(epsilon=4, shift="left")
    data = squares((0, 0, 1))
    source = Source.seeded(5)
    drawn = np.bincount([chosen.release(data, source).value for _ in range(3000)], minlength=3)
    expected = 3000 * permute_and_flip_chances(chosen.scores(data), chosen.rate)
    assert ((drawn - expected) ** 2 / expected).sum() < 18


def test_utilities_never_raise() -> None:
    chosen = mechanism()
    table = Tabled.of(np.ones((1, 3)))
    for odd in ([np.nan, 1, 2], [np.inf, -np.inf, 0], [1e300, 0, 0], ["x", None, 3]):
        assert chosen.release(Scored(odd, table), Source.system()).value in range(3)


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 0},
        {"limit": 0},
        {"steps": -1},
        {"shift": "up"},
        {"law": "laplace"},
        {"candidates": 0},
        {"steps": 1 << 60},
        {"unit": "record"},
        {"spread": 0},
        {"spread": -1},
        {"spread": "2.0001"},
        {"spread": float("nan")},
        {"spread": None},
    ],
)
def test_wrong_parameters(given) -> None:
    with pytest.raises(ParameterError):
        mechanism(**given)


def test_wrong_shapes() -> None:
    with pytest.raises(ParameterError):
        mechanism().scores(Scored([1, 2], Tabled.of([[1, 1]])))
    with pytest.raises(ParameterError):
        mechanism().scores(Scored([1, 2, 3], Tabled.of([[1, 1]])))
    for table in ([], [[-1.0]], [[np.nan]]):
        with pytest.raises(ParameterError):
            Tabled.of(table)


def test_parameters_make_an_equal_mechanism() -> None:
    chosen = mechanism(shift="right", law="exponential", spread=Fraction(9, 7), unit=EDGE)
    assert Dampened.from_parameters(chosen.parameters()) == chosen
    assert chosen.guarantee().nano == 10**9
    assert "at most 1.286" in chosen.how().sensitivity
    assert any("spread" in assumption for assumption in chosen.evidence().assumptions)


def test_what_is_private_is_not_shown() -> None:
    secret = Scored([123456.0, 0, 1], Tabled.of([[654321.0, 1, 1]]))
    with pytest.raises(ParameterError) as caught:
        mechanism(candidates=2).scores(secret)
    assert "123456" not in str(caught.value)
    release = mechanism().release(secret, Source.seeded(0))
    assert "123456" not in repr(release) + repr(mechanism())
    assert "654321" not in repr(release)


def test_utility_holds_19_times_in_20() -> None:
    chosen, data = mechanism(epsilon=3, spread=1), squares((0, 1, 1))
    scores, source = chosen.scores(data) / ONE, Source.seeded(9)
    drawn = scores[[chosen.release(data, source).value for _ in range(1000)]]
    assert np.mean(scores.max() - drawn <= chosen.utility().within_95) >= 0.95
    assert mechanism(spread=1).utility().within_95 < mechanism().utility().within_95


def test_a_function_of_t() -> None:
    table = Tabled.by(lambda t: [t, 2 * t], 3)
    assert table.table.tolist() == [[0, 0], [1, 2], [2, 4]]
