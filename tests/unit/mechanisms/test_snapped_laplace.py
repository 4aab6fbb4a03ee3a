import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.guarantees import RECORD, PureDP
from reticent.mechanisms import SnappedLaplace
from reticent.noise import Source


def build(**changes) -> SnappedLaplace:
    good = {"epsilon": 1, "size": 3, "sensitivity": 1, "lower": 0, "upper": 100}
    return SnappedLaplace(**good | changes)


@given(
    st.fractions(Fraction(1, 1000), 10),
    st.fractions(Fraction(1, 1000), 1000),
    st.integers(1, 50_000),
)
def test_theorem_1_widening_is_paid_for(epsilon, sensitivity, coordinates) -> None:
    mechanism = build(epsilon=epsilon, sensitivity=sensitivity, coordinates=coordinates)
    assert mechanism.widened == sensitivity + coordinates * mechanism.grid.step
    assert mechanism.widened / mechanism.scale == epsilon
    assert mechanism.guarantee() == PureDP.of(epsilon, RECORD)


@given(st.fractions(Fraction(1, 1000), 10))
def test_the_grid_is_fine_enough_to_cost_nothing(epsilon) -> None:
    mechanism = build(epsilon=epsilon)
    assert mechanism.grid.step * 2**40 <= mechanism.sensitivity / epsilon
    assert float(mechanism.widened / Fraction(mechanism.sensitivity)) < 1 + 1e-8


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_theorem_2_error_is_as_stated(epsilon) -> None:
    size = 300_000
    mechanism = SnappedLaplace(
        epsilon=epsilon, size=size, sensitivity=1, lower=0, upper=1, coordinates=1
    )
    utility = mechanism.utility()
    spread = abs(mechanism.release(np.full(size, 0.5), Source.seeded(2)).value - 0.5)
    assert spread.mean() == pytest.approx(utility.mean_absolute_error, rel=0.01)
    assert (spread <= utility.within_95).mean() == pytest.approx(0.95, abs=0.002)


def test_values_are_clamped_and_missing_ones_count_as_the_lower_bound() -> None:
    data = [5, -3, 1e308, -1e308, math.inf, -math.inf, math.nan, None, "x", 5e-324]
    mechanism = build(epsilon=10**4, size=10, lower=2, upper=7)
    value = mechanism.release(data, Source.seeded(4)).value
    assert np.allclose(value, [5, 2, 7, 2, 7, 2, 2, 2, 2, 2], atol=0.02)


@given(st.floats(), st.floats())
def test_no_value_leaves_the_declared_bounds(a, b) -> None:
    """The bound on what one value can do holds for every float there is."""
    mechanism = build(size=1, lower=-1, upper=1)
    units = [
        mechanism.grid.quantise(np.array([x]), lower=Fraction(-1), upper=Fraction(1))[0]
        for x in (a, b)
    ]
    assert abs(int(units[0]) - int(units[1])) * mechanism.grid.step <= 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", v) for v in (0, -1, math.nan, math.inf, "a", None)),
        *(("sensitivity", v) for v in (0, -1, math.nan, math.inf, None)),
        *(("lower", v) for v in (math.nan, -math.inf, None, 100, 101)),
        *(("upper", v) for v in (math.nan, math.inf, None)),
        *(("size", v) for v in (0, -1, 1.5, None)),
        *(("coordinates", v) for v in (0, -1, 1.5)),
        ("unit", None),
    ],
)
def test_bad_parameters_are_refused(name, value) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must be .+, got "):
        build(**{name: value})
