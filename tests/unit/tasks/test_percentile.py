"""Percentiles: sensitivities on all small value sets, exact loss, errors from the law."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.guarantees import RECORD_SUBSTITUTE
from reticent.mechanisms.dampening import SCORE_BITS, Scored
from reticent.noise import Source
from reticent.tasks.percentile import (
    PercentileSensitivity,
    expected_error,
    percentile_mechanism,
    percentile_scored,
    quantile,
    release_percentile,
)
from reticent.testing import exponential_law, permute_and_flip_law, substitute_pairs, verify_law
from reticent.testing.admissible import check_admissible

UPPER = 4
VALUES = range(UPPER + 1)
ONE = 1 << SCORE_BITS
LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law}


@cache
def scored_of(data: tuple[float, ...], p: float) -> Scored:
    return percentile_scored(np.array(data, dtype=float), p, UPPER)


def view(p):
    return lambda data: scored_of(tuple(data), p)


@pytest.mark.parametrize("p", [0.01, 0.25, 0.5, 0.75, 0.99])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_theorem_1_all_small_value_sets(p, size) -> None:
    """Definition 1 read aloud on all pairs at once; one value moves no score by more than one."""
    values = VALUES if size < 4 else range(0, UPPER + 1, 2)
    sets = list(product(values, repeat=size))
    number = {data: i for i, data in enumerate(sets)}
    pairs = [(number[q.a], number[q.b]) for q in substitute_pairs(values, size=size)]
    before, after = np.array(pairs).T
    utilities = np.array([scored_of(data, p).utilities for data in sets])
    moved = np.abs(utilities[before] - utilities[after])
    assert moved.max() <= UPPER
    for shift, steps in (("none", size), ("left", 1), ("left", size), ("right", size + 2)):
        one = percentile_mechanism(1, size, UPPER, shift=shift, steps=steps)
        sums = [
            [
                scored_of(data, p).sensitivity.sums(np.full(size, t), one.grid, one.most)
                for t in range(size + 3)
            ]
            for data in sets
        ]
        delta = np.diff(np.array(sums), axis=1).transpose(1, 0, 2)
        assert (delta[0][before] * float(one.grid.step) >= moved).all()
        assert (delta[1:, before] >= delta[:-1, after]).all()
        scores = np.array([one.scores(scored_of(data, p)) for data in sets])
        assert np.abs(scores[before] - scores[after]).max() <= ONE + 1


@pytest.mark.parametrize(("p", "size"), [(0.5, 1), (0.75, 2)])
def test_theorem_1_the_checker_agrees(p, size) -> None:
    one = percentile_mechanism(1, size, UPPER, shift="none", steps=size)
    found = check_admissible(view(p), substitute_pairs(VALUES, size=size), one)
    assert found.holds, found.problems


def test_theorem_1_later_steps_by_the_formula() -> None:
    """max(x_(k+t+1), L - x_(k-t-1)), with 0 below the first and L above the last."""
    high = [2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75]
    low = [UPPER - value for value in high[::-1]]  # here the other of the two is the larger
    for x, p in product((high, low), (0.2, 0.5, 0.9)):
        line = [0.0] * 20 + x + [float(UPPER)] * 20
        k = 20 + min(7, max(1, math.ceil(Fraction(p) * 8))) - 1
        expected = [max(line[k + t + 1], UPPER - line[k - t - 1]) for t in range(1, 8)]
        assert percentile_scored(x[::-1], p, UPPER).sensitivity.later.tolist() == expected


def test_lemma_1_is_tight_for_most() -> None:
    """Against every replacement on a finer set; it is never below, and mostly equal."""
    fine, equal, total = np.arange(0, UPPER + 0.1, 0.5), 0, 0
    for data in product(VALUES, repeat=3):
        scored = view(0.5)(data)
        largest = np.zeros(3)
        for j, value in product(range(3), fine):
            moved = [*data[:j], value, *data[j + 1 :]]
            change = np.abs(np.asarray(view(0.5)(moved).utilities) - np.asarray(scored.utilities))
            largest = np.maximum(largest, change)
        assert (scored.sensitivity.first >= largest - 1e-12).all()
        equal += int((scored.sensitivity.first <= largest + 1e-12).sum())
        total += 3
    assert equal > 0.8 * total


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("shift", "steps"), [("none", 3), ("left", 1), ("right", 3), ("left", 0)])
def test_the_exact_loss(law, shift, steps) -> None:
    """All sets of three values, all laws; with steps 0 they are those of plain utilities."""
    one = percentile_mechanism(12, 3, UPPER, shift=shift, law=law, steps=steps)

    def law_on(data):
        return dict(enumerate(LAWS[law](one.scores(view(0.5)(data)).tolist(), rate=one.rate)))

    pairs = list(substitute_pairs(range(0, UPPER + 1, 2), size=3))
    assert verify_law(law_on, pairs, claim=12).holds
    assert not verify_law(law_on, pairs, claim=Fraction(6, 5)).holds


def test_control_an_upper_end_from_the_data_is_caught() -> None:
    """L7: with the largest value met as the end of the range, a score moves by more than one."""
    values = (0, 1, 2, 16)
    pairs = list(substitute_pairs(values, size=4))

    def worst(end_of) -> int:
        found = {}
        for data in product(values, repeat=4):
            one = percentile_mechanism(1, 4, end_of(data), shift="right")
            scored = percentile_scored(np.array(data, dtype=float), 0.5, end_of(data))
            found[data] = one.scores(scored)
        return max(int(np.abs(found[pair.a] - found[pair.b]).max()) for pair in pairs)

    assert worst(lambda data: 16) <= ONE + 1
    assert worst(lambda data: max(*data, 1)) > 1.4 * ONE

    def low(data):
        return percentile_scored(np.array(data, dtype=float), 0.5, max(*data, 1))

    few = substitute_pairs(values, size=2)
    assert not check_admissible(low, few, percentile_mechanism(1, 2, 1, steps=0)).holds


def test_control_a_table_that_ends_at_the_largest_value_is_caught() -> None:
    """Beyond the last person the value may be L, not the largest one met."""

    def ended(data):
        x = np.sort(np.array(data, dtype=float))
        good = view(0.5)(data)
        later = np.minimum(good.sensitivity.later, max(x[-1], UPPER - x[0]))
        return Scored(good.utilities, PercentileSensitivity(good.sensitivity.first, later))

    one = percentile_mechanism(1, 3, UPPER, shift="none", steps=3)
    found = check_admissible(ended, substitute_pairs(VALUES, size=3), one)
    assert any("of a neighbour is" in sentence for sentence in found.problems)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shift", ["none", "left", "right"])
def test_expected_errors_are_those_of_enumeration(law, shift) -> None:
    rng = np.random.default_rng(3)
    for n, p in ((1, 0.5), (4, 0.3), (7, 0.5), (9, 0.95)):
        values = rng.integers(0, 6, n) * 2.0 - 1  # some below 0, some tied
        one = percentile_mechanism(9, n, 8, shift=shift, law=law)
        found = expected_error(values, p, upper=8, mechanism=one)
        x = [min(max(value, 0.0), 8.0) for value in values.tolist()]
        order = sorted(range(n), key=lambda i: (x[i], i))
        k = min(n, max(1, math.ceil(Fraction(p) * (n + 1)))) - 1
        scores = one.scores(percentile_scored(values, p, 8)).tolist()
        chances = [float(chance) for chance in LAWS[law](scores, rate=one.rate)]
        value = sum(chances[i] * abs(x[i] - x[order[k]]) for i in range(n))
        rank = sum(chances[i] * abs(order.index(i) - k) for i in range(n))
        assert found.value == pytest.approx(value, abs=1e-10)
        assert found.rank == pytest.approx(rank, abs=1e-10)


def test_local_sensitivity_lowers_the_error() -> None:
    rng = np.random.default_rng(0)
    values = np.minimum(rng.lognormal(3, 1.2, 800), 1000)
    settings = {"upper": 1000.0}
    plain = percentile_mechanism(10, 800, 1000, steps=0)
    ours = percentile_mechanism(10, 800, 1000)
    errors = [expected_error(values, 0.5, mechanism=m, **settings) for m in (plain, ours)]
    assert errors[1].value < 0.9 * errors[0].value
    drawn = [
        release_percentile(values, 0.5, mechanism=ours, source=Source.seeded(s), **settings).value
        for s in range(400)
    ]
    middle = np.sort(values)[400]
    spread = np.abs(values[drawn] - middle)
    assert spread.mean() == pytest.approx(errors[1].value, abs=4 * spread.std() / 20)


def test_a_number_near_the_quantile() -> None:
    values = np.arange(1000) / 10
    point = quantile(
        values, 0.3, lower=0, upper=100, step="0.1", epsilon=5, source=Source.seeded(2)
    ).value
    assert abs(point / 10 - 30) < 2


def test_odd_values_never_raise() -> None:
    one = percentile_mechanism(1, 4, 10)
    odd = [float("nan"), float("inf"), -5.0, 1e300]
    released = release_percentile(odd, 0.5, upper=10, mechanism=one, source=Source.seeded(0))
    assert released.value in range(4)
    clamped = percentile_scored(odd, 0.5, 10), percentile_scored([0, 10, 0, 10], 0.5, 10)
    assert (one.scores(clamped[0]) == one.scores(clamped[1])).all()
    assert one.unit == RECORD_SUBSTITUTE
    assert one.guarantee().nano == 10**9


def test_another_number_of_people_is_refused_by_its_number_only() -> None:
    one = percentile_mechanism(1, 3, 10)
    with pytest.raises(ParameterError) as caught:
        release_percentile([123.25, 7.75], 0.5, upper=10, mechanism=one, source=Source.seeded(0))
    assert "123" not in str(caught.value)
    assert "7.75" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "p", "upper"), [([1.0], 0, 4), ([1.0], 1, 4), ([1.0], 0.5, 0), ([], 0.5, 4)]
)
def test_wrong_parameters(values, p, upper) -> None:
    with pytest.raises(ParameterError):
        percentile_scored(values, p, upper)


def test_too_many_points_are_refused() -> None:
    with pytest.raises(ParameterError, match="step must be"):
        quantile([1.0], 0.5, lower=0, upper=1, step="1e-9", epsilon=1, source=Source.seeded(2))


def test_a_limit_below_the_largest_value_is_refused() -> None:
    small = percentile_mechanism(1, 3, 1)
    with pytest.raises(ParameterError, match="at most the mechanism's limit"):
        release_percentile([0, 10, 500], 0.5, upper=1000, mechanism=small, source=Source.system())


@pytest.mark.parametrize("odd", ["x", None, [1, 2]], ids=type)
def test_one_value_does_not_change_how_the_others_are_read(odd) -> None:
    values = [True] * 5
    assert percentile_scored([*values, odd], 0.5, 1.0).utilities[:5].tolist() == [0.0] * 5


def test_a_quantile_of_values_that_are_all_alike() -> None:
    """Ties at the rank that is asked for are all of it: the point that holds them is the best."""
    found = [
        quantile(
            [30.0] * 1000, 0.5, lower=0, upper=200, step=1, epsilon=10, source=Source.seeded(seed)
        ).value
        for seed in range(20)
    ]
    assert found == [30] * 20
    values = [20.0] * 450 + [30.2] * 500 + [50.0] * 50
    point = quantile(values, 0.5, lower=0, upper=200, step=1, epsilon=10, source=Source.seeded(1))
    assert point.value == 30
