"""Closed forms against mpmath, and permute-and-flip against all permutations of the candidates."""

from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.testing import (
    as_pmf,
    discrete_laplace_cdf,
    discrete_laplace_law,
    discrete_laplace_pmf,
    exponential_law,
    permute_and_flip_law,
)

SCALES = [Fraction(1, 2), Fraction(1), Fraction(37, 10), Fraction(100)]


def exact_chance(k: int, scale: Fraction) -> mpmath.mpf:
    r = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    return (1 - r) / (1 + r) * r ** abs(k)


@pytest.fixture(autouse=True)
def _precision() -> None:
    mpmath.mp.dps = 100


@pytest.mark.parametrize("scale", SCALES)
def test_pmf_is_the_law(scale: Fraction) -> None:
    k = np.arange(-50, 51)
    expected = np.array([float(exact_chance(int(i), scale)) for i in k])
    np.testing.assert_allclose(discrete_laplace_pmf(scale)(k), expected, rtol=1e-13)


@pytest.mark.parametrize("scale", SCALES)
def test_cdf_adds_up_the_pmf(scale: Fraction) -> None:
    k = np.arange(-3000, 3001)
    np.testing.assert_allclose(
        discrete_laplace_cdf(scale)(k), np.cumsum(discrete_laplace_pmf(scale)(k)), atol=1e-12
    )


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("around", [-2, 0, 5])
def test_cells_are_right_to_200_bits(scale: Fraction, around: int) -> None:
    law = discrete_laplace_law(scale, around=around, cuts=range(-4, 6))
    assert abs(sum(law.values()) - 1) < Fraction(1, 1 << 200)
    for k in range(-4, 5):
        exact = exact_chance(k - around, scale)
        error = abs(mpmath.mpf(law[str(k)].numerator) / law[str(k)].denominator / exact - 1)
        assert error < mpmath.mpf(2) ** -200


def test_wide_cells_hold_what_narrow_ones_do() -> None:
    narrow = discrete_laplace_law(3, cuts=range(-2, 7))
    wide = discrete_laplace_law(3, cuts=[-2, 1, 6])
    assert abs(wide["1 to 5"] - sum(narrow[str(k)] for k in range(1, 6))) < Fraction(1, 1 << 200)
    assert wide["from 6"] == narrow["from 6"]


@pytest.mark.parametrize("cuts", [[], [1, 1], [2, 1]])
def test_cuts_must_increase(cuts: list[int]) -> None:
    with pytest.raises(ParameterError, match="cuts must be increasing integers"):
        discrete_laplace_law(1, cuts=cuts)


def by_permutations(coins: list[Fraction]) -> list[Fraction]:
    """The law of the mechanism as it is defined: a random order, the first head wins."""
    orders = list(permutations(range(len(coins))))
    chances = [Fraction(0)] * len(coins)
    for order in orders:
        reached = Fraction(1, len(orders))
        for i in order:
            chances[i] += reached * coins[i]
            reached *= 1 - coins[i]
    return chances


@pytest.mark.parametrize("scores", [(0,), (0, 0), (3, 5, 0), (1, 1, 4, 2), (0, 2, 5, 5, 7)])
def test_permute_and_flip_is_its_definition(scores: tuple[int, ...]) -> None:
    law = permute_and_flip_law(scores, rate=Fraction(1, 3))
    with mpmath.workdps(80):
        coins = [
            Fraction(str(mpmath.nstr(mpmath.exp(mpmath.mpf(s - max(scores)) / 3), 75)))
            for s in scores
        ]
    for chance, exact in zip(law, by_permutations(coins), strict=True):
        assert abs(chance - exact) < Fraction(1, 10**60)
    assert sum(law) == 1


def test_exponential_law_is_a_softmax() -> None:
    law = exponential_law([0, 3, -1000, 3], rate="0.5")
    weights = [mpmath.exp(mpmath.mpf(s) / 2) for s in (0, 3, -1000, 3)]
    for chance, weight in zip(law, weights, strict=True):
        exact = weight / sum(weights)
        assert abs(mpmath.mpf(chance.numerator) / chance.denominator / exact - 1) < 2e-60
    assert sum(law) == 1


def test_a_table_is_zero_elsewhere() -> None:
    pmf = as_pmf([Fraction(1, 4), Fraction(3, 4)])
    np.testing.assert_array_equal(pmf(np.array([-1, 0, 1, 2])), [0, 0.25, 0.75, 0])
