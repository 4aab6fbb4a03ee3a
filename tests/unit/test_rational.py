import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.rational import positive, rational, whole


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (3, Fraction(3)),
        (np.int32(3), Fraction(3)),
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_numbers_stand_for_the_decimal_they_are_written_as(value, exact) -> None:
    assert rational(value, "x") == exact


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(value) -> None:
    assert float(rational(value, "x")) == value


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, "nan", "inf", "1e999999999", "1/0", "", "1//2", None, True, []],
)
def test_what_is_no_number_is_refused(value) -> None:
    with pytest.raises(ParameterError, match="^x must be a finite number, got "):
        rational(value, "x")


@pytest.mark.parametrize("value", [0, -1, -0.0, "-1/3"])
def test_positive_means_above_zero(value) -> None:
    with pytest.raises(ParameterError, match="^x must be positive and finite, got "):
        positive(value, "x")


@pytest.mark.parametrize("value", [0, -1, 1.0, True, None, "3"])
def test_whole_numbers(value) -> None:
    with pytest.raises(ParameterError, match="^n must be a whole number of at least 1, got "):
        whole(value, "n", least=1)
    assert whole(np.int64(7), "n", least=1) == 7
