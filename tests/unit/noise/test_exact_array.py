"""Exact numbers beside their floats: nothing is rounded on the way in."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.noise.exact_array import ExactArray


@pytest.mark.parametrize(
    ("given_as", "exact"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(0.1)),  # the float itself, not one tenth
        (Fraction(1, 3), Fraction(1, 3)),
        (2**200 + 1, Fraction(2**200 + 1)),
        (2**53 + 1, Fraction(2**53 + 1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int8(-3), Fraction(-3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (5e-324, Fraction(5e-324)),
    ],
)
def test_one_number_is_read_exactly(given_as: object, exact: Fraction) -> None:
    array = ExactArray.of(given_as, "x")  # type: ignore[arg-type]
    assert array.shape == ()
    assert array.size == 1
    assert array[0] == exact
    assert array.approximate == float(exact)


def test_arrays_of_every_kind() -> None:
    assert [ExactArray.of([1, 2.5], "x")[i] for i in (0, 1)] == [1, Fraction(5, 2)]
    mixed = ExactArray.of([[1, Fraction(1, 3)], [0.25, 2**70]], "x")
    assert mixed.shape == (2, 2)
    assert [mixed[i] for i in range(4)] == [1, Fraction(1, 3), Fraction(1, 4), 2**70]
    big = ExactArray.of(np.array([2**63 - 1, 2**53 + 1]), "x")
    assert [big[0], big[1]] == [2**63 - 1, 2**53 + 1]
    floats = np.array([[0.1, 0.2], [0.3, 0.4]])
    assert ExactArray.of(floats, "x")[3] == Fraction(0.4)


def test_order_is_that_of_the_flat_array() -> None:
    transposed = np.arange(6.0).reshape(2, 3).T
    array = ExactArray.of(transposed, "x")
    assert [int(array[i]) for i in range(6)] == [0, 3, 1, 4, 2, 5]


def test_an_empty_array() -> None:
    empty = ExactArray.of(np.zeros((0, 3)), "x")
    assert empty.size == 0
    assert empty.shape == (0, 3)
    assert empty.smallest() == np.inf
    assert empty.largest() == -np.inf


def test_least_and_greatest_keep_their_sign() -> None:
    tiny = Fraction(1, 10**400)
    array = ExactArray.of([tiny, -tiny, 10**400, -(10**400)], "x")
    assert ExactArray.of([tiny], "x").smallest() > 0
    assert ExactArray.of([-tiny], "x").largest() < 0
    assert array.largest() == np.finfo(np.float64).max
    assert array.smallest() == -np.finfo(np.float64).max
    assert array[2] == 10**400


@given(st.fractions())
def test_the_float_is_the_nearest(x: Fraction) -> None:
    assert float(ExactArray.of(x, "x").approximate) == float(x)


@pytest.mark.parametrize(
    "bad",
    [
        np.nan,
        np.inf,
        [1.0, -np.inf],
        [Fraction(1), float("nan")],
        True,
        [True, False],
        np.array([True]),
        [Fraction(1, 2), True],
        "1",
        ["a"],
        None,
        1j,
        [Decimal(1)],
        [object()],
        np.array(["2020-01-01"], dtype="datetime64[D]"),
    ],
)
def test_what_is_no_finite_number_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="^x must be .*, got"):
        ExactArray.of(bad, "x")  # type: ignore[arg-type]


def test_what_was_given_is_not_kept() -> None:
    given_array = np.array([1.0, 2.0])
    array = ExactArray.of(given_array, "x")
    given_array[0] = 7
    assert array[0] == 1
