"""Heads among many fair coins: the law against exact rationals, and a control that must fail."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
import pytest
from scipy import stats

from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.noise import counting as module
from reticent.noise.counting import count_heads, floors, settle
from reticent.testing import ScriptedSource
from reticent.testing.sources import MORE

LARGE = 1_234_567  # blocks of every size, and a rest


def cumulative(coins: int) -> list[Fraction]:
    """P[at most j heads] for every j below ``coins``, from the definition."""
    return [Fraction(s, 1 << coins) for s in accumulate(comb(coins, j) for j in range(coins))]


@pytest.mark.parametrize("exponent", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("width", [3, 10, 64, 128, 300])
def test_theorem_9_the_floors_are_those_of_the_exact_law(exponent: int, width: int) -> None:
    exact = [int(f * (1 << width)) for f in cumulative(1 << exponent)]
    assert floors(exponent, width) == exact


@pytest.mark.parametrize("exponent", [9, 12, 16])
def test_the_floors_of_more_bits_begin_with_those_of_fewer(exponent: int) -> None:
    """Two computations with different roundings agree wherever both are certain."""
    fewer, more = floors(exponent, 64), floors(exponent, 200)
    assert fewer == [floor >> 136 for floor in more]


@pytest.mark.parametrize("exponent", [9, 11])
def test_the_floors_of_larger_blocks_are_exact_too(exponent: int) -> None:
    assert floors(exponent, 64) == [int(f * (1 << 64)) for f in cumulative(1 << exponent)]


@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("exponent", [1, 2, 3])
def test_theorem_9_all_prefixes_together_have_the_exact_law(exponent: int, width: int) -> None:
    """Words of a few bits, settled by more of them: the measure of each answer is its chance."""
    coins = 1 << exponent
    law = [Fraction(0)] * (coins + 1)
    undecided = [(0, 0)]
    while undecided:
        prefix, bits = undecided.pop()
        for word in range(prefix << width, prefix + 1 << width):
            known = floors(exponent, bits + width)
            heads = bisect_right(known, word)
            doubtful = heads > 0 and known[heads - 1] == word
            exact = doubtful and bits + width >= coins  # then the floor is the chance itself
            if doubtful and not exact:
                undecided.append((word, bits + width))
            else:
                law[heads] += Fraction(1, 1 << bits + width)
    assert law == [Fraction(comb(coins, j), 1 << coins) for j in range(coins + 1)]


@pytest.mark.parametrize("exponent", [8, 9])
def test_every_breakpoint_is_where_the_law_has_it(exponent: int) -> None:
    """The sampler itself, at the words around every threshold, against fractions."""
    exact = cumulative(1 << exponent)
    near = {int(f * (1 << 64)) + d for f in exact for d in (-2, -1, 0, 1, 2)}
    words = sorted(w for w in near | {0, 1, 2**64 - 1} if 0 <= w < 1 << 64)
    coins = np.full(len(words), 1 << exponent)
    drawn = count_heads(coins, source=ScriptedSource(words=words))
    tail = Fraction(MORE, (1 << 64) - 1)
    expected = [bisect_right(exact, (word + tail) / (1 << 64)) for word in words]
    assert drawn.tolist() == expected


def test_a_word_that_equals_a_floor_is_settled_by_further_bits() -> None:
    for exponent in (8, 16):
        j = (1 << exponent - 1) - 5
        word, next_floor = floors(exponent, 64)[j], floors(exponent, 128)[j] & (1 << 64) - 1
        for more, heads in ((next_floor - 1, j), (next_floor + 1, j + 1)):
            assert settle(exponent, word, ScriptedSource(bits=[more])) == heads
        tied = ScriptedSource(bits=[next_floor, 0])  # equal once more: the floor is below the law
        assert settle(exponent, word, tied) == j


def test_the_tails_are_not_cut() -> None:
    nothing = ScriptedSource(words=[0], bits=[0, 0, 0, 0], more=1)
    assert count_heads(np.array([256]), source=nothing).tolist() == [0]
    everything = ScriptedSource(words=[2**64 - 1], bits=[2**64 - 1] * 3, more=2**64 - 1)
    assert count_heads(np.array([256]), source=everything).tolist() == [256]


@pytest.mark.parametrize("coins", [1, 7, 63, 64, 65, 255, 256, 257, 1000, 4096, 65_535, LARGE])
def test_counts_are_binomial(coins: int) -> None:
    drawn = count_heads(np.full(40_000, coins), source=Source.seeded(coins))
    assert misfit(drawn, coins) > 1e-4


def misfit(drawn: np.ndarray, coins: int) -> float:
    """The p-value of a chi-square in about 60 cells of the exact law."""
    law = stats.binom(coins, 0.5)
    edges = np.unique(law.ppf(np.linspace(0, 1, 61)[1:-1]))
    chances = np.diff(np.concatenate([[0], law.cdf(edges), [1]]))
    seen = np.bincount(np.searchsorted(edges, drawn), minlength=chances.size)
    used = chances > 0
    assert seen[~used].sum() == 0
    return float(stats.chisquare(seen[used], chances[used] * drawn.size).pvalue)


def test_control_an_approximation_is_caught() -> None:
    """Rounded normal noise, which is half a head too low, and a few coins too many."""
    normal = np.random.default_rng(2).normal(50, 5, 40_000)
    assert misfit(np.floor(normal), 100) < 1e-6
    drawn = count_heads(np.full(40_000, LARGE), source=Source.seeded(LARGE))
    assert misfit(drawn, LARGE + 100) < 1e-4


def test_many_numbers_at_once_keep_their_places() -> None:
    coins = np.array([[0, 1 << 20, 3], [70_000, 0, 1 << 16]])
    drawn = count_heads(coins, source=Source.seeded(3))
    assert drawn.shape == coins.shape
    assert (drawn[coins == 0] == 0).all()
    assert ((drawn >= 0) & (drawn <= coins)).all()
    assert abs(int(drawn[0, 1]) - (1 << 19)) < 8 * 512


def test_words_depend_on_the_numbers_of_coins_alone() -> None:
    """As many bytes are drawn whatever they are."""
    coins = np.array([5, 255, 256, 65_535, LARGE])
    needed = int(module._words_for(coins))
    assert needed == 1 + 4 + 1 + (8 + 4) + (18 + bin(LARGE % 65536 >> 8).count("1") + 3)
    for word in (1, 12345678901234567, 2**63):
        count_heads(coins, source=ScriptedSource(words=[word] * needed))


@pytest.mark.parametrize("coins", [[-1], [1 << 41], [3, -7]])
def test_other_numbers_are_refused(coins: list[int]) -> None:
    with pytest.raises(ParameterError, match="coins must be from 0"):
        count_heads(np.array(coins), source=Source.seeded(1))


def test_no_coins() -> None:
    assert count_heads(np.empty((0, 3), dtype=np.int64), source=Source.seeded(1)).shape == (0, 3)
