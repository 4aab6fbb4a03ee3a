"""Percentiles: sensitivities on all small value sets, exact loss, errors from the law."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.tasks.percentile import (
    expected_error,
    percentile_mechanism,
    percentile_scored,
    quantile,
    release_percentile,
)
from reticent.testing import permute_and_flip_law, substitute_pairs, verify_law
from reticent.testing.admissible import check_admissible

UPPER = 4
VALUES = range(UPPER + 1)


def view(p):
    return lambda data: percentile_scored(np.array(data, dtype=float), p, UPPER)


@pytest.mark.parametrize(("p", "size"), [(0.25, 2), (0.5, 1), (0.5, 3), (0.75, 2)])
def test_theorem_1_all_small_value_sets(p, size) -> None:
    pairs = list(substitute_pairs(VALUES, size=size))
    for shift in ("none", "left"):
        for steps in (1, size):
            one = percentile_mechanism(1, size, UPPER, shift=shift, steps=steps)
            found = check_admissible(view(p), pairs, one)
            assert found.holds, (shift, steps, found.problems)


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


def test_the_exact_loss() -> None:
    one = percentile_mechanism(2, 3, UPPER)

    def law_on(data):
        return dict(
            enumerate(permute_and_flip_law(one.scores(view(0.5)(data)).tolist(), rate=one.rate))
        )

    pairs = list(substitute_pairs(VALUES, size=3))
    assert verify_law(law_on, pairs, claim=2).holds
    assert not verify_law(law_on, pairs, claim=Fraction(1, 5)).holds


def test_an_upper_end_from_the_data_is_caught() -> None:
    """The control, L7: the largest value met as the end of the range."""

    def low(data):
        return percentile_scored(np.array(data, dtype=float), 0.5, max(*data, 1))

    one = percentile_mechanism(1, 3, 1, steps=0)
    assert not check_admissible(low, list(substitute_pairs(VALUES, size=3)), one).holds


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
        values, 0.3, lower=0, upper=100, step="0.1", epsilon=5, source=Source.system()
    ).value
    assert abs(point / 10 - 30) < 2


def test_odd_values_never_raise() -> None:
    one = percentile_mechanism(1, 4, 10)
    odd = [float("nan"), float("inf"), -5.0, 1e300]
    assert release_percentile(odd, 0.5, upper=10, mechanism=one, source=Source.system()).value < 4


@pytest.mark.parametrize(
    ("values", "p", "upper"), [([1.0], 0, 4), ([1.0], 1, 4), ([1.0], 0.5, 0), ([], 0.5, 4)]
)
def test_wrong_parameters(values, p, upper) -> None:
    with pytest.raises(ParameterError):
        percentile_scored(values, p, upper)


def test_too_many_points_are_refused() -> None:
    with pytest.raises(ParameterError, match="step must be"):
        quantile([1.0], 0.5, lower=0, upper=1, step="1e-9", epsilon=1, source=Source.system())
