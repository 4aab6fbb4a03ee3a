"""Local dampening: scores by hand, closed form, one unit one step, exact loss, planted faults."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.selection_laws import exponential_chances, permute_and_flip_chances
from reticent.noise import Source
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
        table = np.minimum([2 * np.minimum(own + t, 2) + 1 for t in range(40)], limits)
        return Scored(np.minimum(own**2, limits * own), Tabled.of(table))

    pairs = list(substitute_pairs(range(CANDIDATES), size=VOTERS))
    found = check_admissible(padded, pairs, mechanism(shift="left", limit=1, steps=40))
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


@pytest.mark.parametrize(("shift", "way"), [("left", -1), ("right", 1)])
def test_theorem_2_the_closed_form_is_the_finite_shift(shift, way) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        utilities = rng.integers(-5, 6, 6).astype(float)
        table = Tabled.of(rng.integers(0, 9, (4, 6)))
        closed = Dampened(epsilon=1, candidates=6, limit=8, steps=4, shift=shift)
        finite = Dampened(epsilon=1, candidates=6, limit=8, steps=4, shift="none")
        moved = Scored(utilities + way * (4 * 8 + 10), table)
        difference = closed.scores(Scored(utilities, table)) - finite.scores(moved)
        assert np.ptp(difference) <= 1
        chances = exponential_chances(closed.scores(Scored(utilities, table)), closed.rate)
        assert chances == pytest.approx(
            exponential_chances(finite.scores(moved), finite.rate), abs=1e-6
        )


def test_permute_and_flip_is_never_worse() -> None:
    """Theorem 4: the chance of an error beyond any bound is not larger, whatever the scores."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        scores = rng.integers(0, 5 * ONE, 12)
        rate = Fraction(int(rng.integers(1, 40)), 10 * ONE)
        order = np.argsort(scores)
        best = np.cumsum(permute_and_flip_chances(scores, rate)[order])
        other = np.cumsum(exponential_chances(scores, rate)[order])
        assert (best <= other + 1e-12).all()


def test_laws_are_those_of_exact_arithmetic() -> None:
    rng = np.random.default_rng(2)
    for size in (2, 5, 15):
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
    drawn = np.bincount([chosen.release(data, source).value for _ in range(6000)], minlength=3)
    expected = 6000 * permute_and_flip_chances(chosen.scores(data), chosen.rate)
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
    chosen = mechanism(shift="right", law="exponential")
    assert Dampened.from_parameters(chosen.parameters()) == chosen
    assert chosen.guarantee().nano == 10**9


def test_a_function_of_t() -> None:
    table = Tabled.by(lambda t: [t, 2 * t], 3)
    assert table.table.tolist() == [[0, 0], [1, 2], [2, 4]]
