import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.guarantees import ITEM, RECORD, PureDP
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source


@given(
    st.fractions(Fraction(1, 10**6), 50, max_denominator=10**6),
    st.integers(1, 1000),
)
def test_theorem_1_the_loss_is_sensitivity_over_the_scale_used(epsilon, sensitivity) -> None:
    mechanism = DiscreteLaplace(epsilon=epsilon, size=1, sensitivity=sensitivity)
    assert Fraction(sensitivity) / mechanism.scale == epsilon
    assert mechanism.guarantee() == PureDP.of(epsilon, RECORD)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1, 4])
def test_theorem_2_error_is_as_stated(epsilon) -> None:
    mechanism = DiscreteLaplace(epsilon=epsilon, size=400_000)
    utility = mechanism.utility()
    noise = mechanism.release(np.zeros(400_000, dtype=int), Source.seeded(1)).value
    spread = abs(noise)
    assert spread.mean() == pytest.approx(utility.mean_absolute_error, rel=0.01, abs=2e-3)
    assert (spread <= utility.within_95).mean() >= 0.949
    if utility.within_95:  # and no smaller interval would do
        assert (spread < utility.within_95).mean() < 0.951


def test_counts_that_are_no_numbers_count_as_zero() -> None:
    mechanism = DiscreteLaplace(epsilon=40, size=6)
    value = mechanism.release([3, math.nan, None, "x", math.inf, 10**30], Source.seeded(3)).value
    assert value.tolist() == [3, 0, 0, 0, 2**60, 2**60]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float32, bool])
def test_every_numeric_type_is_read_alike(dtype) -> None:
    mechanism = DiscreteLaplace(epsilon=40, size=3)
    data = np.array([1, 0, 1], dtype=dtype)
    assert mechanism.release(data, Source.seeded(3)).value.tolist() == [1, 0, 1]


def test_extreme_integers_do_not_wrap() -> None:
    mechanism = DiscreteLaplace(epsilon=40, size=2)
    low = np.array([-(2**63), 2**63 - 1])
    assert mechanism.release(low, Source.seeded(3)).value.tolist() == [-(2**60), 2**60]
    high = np.array([2**64 - 1, 0], dtype=np.uint64)
    assert mechanism.release(high, Source.seeded(3)).value.tolist() == [2**60, 0]


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1), ()])
def test_only_the_shape_can_be_wrong(shape) -> None:
    mechanism = DiscreteLaplace(epsilon=1, size=3)
    with pytest.raises(ParameterError, match="^data must be a vector of length 3, got 'shape"):
        mechanism.release(np.full(shape, 987654), Source.seeded(3))


@pytest.mark.parametrize("odd", [1j, "x", None, 0.5, [7], [7, 8], 10**40, b"1", {}])
def test_no_value_decides_how_another_is_read(odd) -> None:
    """NumPy would turn the whole list into the type of its oddest member."""
    mechanism = DiscreteLaplace(epsilon=40, size=3)
    value = mechanism.release([2**53 + 1, True, odd], Source.seeded(3)).value
    assert value[:2].tolist() == [2**53 + 1, 1]


@pytest.mark.parametrize("data", [5, None, [[1, 2, 3], [4, 5, 6]], {}, "abcd"])
def test_what_is_no_vector_is_refused_without_being_shown(data) -> None:
    with pytest.raises(ParameterError, match="^data must be a vector of length 3, got 'shape"):
        DiscreteLaplace(epsilon=1, size=3).release(data, Source.seeded(1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", v) for v in (0, -1, math.nan, math.inf, "a", None, True, [1], 1e-40)),
        *(("size", v) for v in (0, -1, 1.5, math.nan, None, True, (3,))),
        *(("sensitivity", v) for v in (0, -1, 1.5, math.nan, math.inf, None)),
        ("unit", "record"),
    ],
)
def test_bad_parameters_are_refused(name, value) -> None:
    good = {"epsilon": 1, "size": 3, "sensitivity": 1}
    with pytest.raises(ParameterError, match=f"^{name} must be .+, got "):
        DiscreteLaplace(**good | {name: value})


def test_the_result_shows_error_and_cost() -> None:
    release = DiscreteLaplace(epsilon=0.5, size=2, unit=ITEM).release([1, 2], Source.seeded(5))
    assert "within 6 of the true count, 95 times in 100" in repr(release)
    assert "spent epsilon 0.5" in repr(release)
    assert "not private" in repr(release)
