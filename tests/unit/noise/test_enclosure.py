"""Enclosures: the true value is always inside, and there is no room beside it."""

from decimal import Inexact, localcontext
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reticent.noise.enclosure import exp_minus, log

PRECISION = 4000  # bits of the oracle

moderate = st.fractions(min_value=0, max_value=200, max_denominator=10**40)
widths = st.integers(64, 400)


def oracle(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def holds(bounds: tuple[Fraction, Fraction], truth: mpmath.mpf) -> bool:
    return bool(oracle(bounds[0]) <= truth <= oracle(bounds[1]))


@settings(max_examples=80, deadline=None)
@given(moderate, widths)
@example(Fraction(1, 3), 128)  # more digits than the caller's decimal context keeps
@example(Fraction(0), 64)
@example(Fraction(64), 64)
@example(Fraction(65), 64)
def test_exp_is_enclosed(x: Fraction, bits: int) -> None:
    bounds = exp_minus(x, bits)
    with mpmath.workprec(PRECISION):
        assert holds(bounds, mpmath.exp(-oracle(x)))
    assert 0 <= bounds[0] <= bounds[1] <= 1
    assert bounds[1] - bounds[0] <= Fraction(1, 1 << bits)


@pytest.mark.parametrize("bits", [64, 96, 160, 400])
@pytest.mark.parametrize(
    "x", [Fraction(1, 10**500), Fraction(1, 7**300), Fraction(10**9), Fraction(10**300, 7)]
)
def test_exp_of_tiny_and_huge_exponents(x: Fraction, bits: int) -> None:
    bounds = exp_minus(x, bits)
    with mpmath.workprec(PRECISION):
        assert holds(bounds, mpmath.exp(-oracle(x)))
    assert bounds[1] - bounds[0] <= Fraction(1, 1 << bits)


def test_exp_of_zero_is_exactly_one() -> None:
    assert exp_minus(Fraction(0), 64) == (1, 1)


def test_exp_above_zero_is_not_known_to_be_one() -> None:
    assert exp_minus(Fraction(1, 10**500), 64)[0] < 1


@settings(max_examples=80, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 10**30), max_value=10**30, max_denominator=10**40), widths
)
@example(Fraction(1), 64)
@example(1 + Fraction(1, 1 << 300), 64)
@example(1 - Fraction(1, 1 << 300), 400)
def test_log_is_enclosed(x: Fraction, bits: int) -> None:
    bounds = log(x, bits)
    with mpmath.workprec(PRECISION):
        assert holds(bounds, mpmath.log(oracle(x)))
    assert bounds[1] - bounds[0] <= Fraction(1, 1 << bits)


@pytest.mark.parametrize("x", [Fraction(1, 1 << 3000), Fraction(10**700), Fraction(3, 1 << 2000)])
def test_log_of_tiny_and_huge_numbers(x: Fraction) -> None:
    bounds = log(x, 200)
    with mpmath.workprec(PRECISION):
        assert holds(bounds, mpmath.log(oracle(x)))
    assert bounds[1] - bounds[0] <= Fraction(1, 1 << 200)


@settings(max_examples=50, deadline=None)
@given(moderate.filter(bool))
def test_more_bits_stay_inside_fewer(x: Fraction) -> None:
    for enclose in (exp_minus, log):
        (low, high), (lower, upper) = enclose(x, 64), enclose(x, 256)
        assert low <= upper
        assert lower <= high  # both hold the truth, so they overlap
        assert upper - lower < high - low or high == low


@pytest.mark.parametrize("precision", [3, 28, 1000])
def test_the_callers_decimal_context_does_not_matter(precision: int) -> None:
    expected = exp_minus(Fraction(22, 7), 200), log(Fraction(22, 7), 200)
    with localcontext() as context:
        context.prec = precision
        context.traps[Inexact] = True
        assert (exp_minus(Fraction(22, 7), 200), log(Fraction(22, 7), 200)) == expected
