"""The laws our samplers claim, in closed form: the oracles of every other tool here.

Theory    docs/theory/noise.md, Theorem 2 (discrete Laplace), Theorem 6 (exponential),
          Theorem 7 (permute-and-flip); [McSherryTalwar2007], [McKennaSheldon2020]
Notation  t = scale, r = exp(-1/t), c = rate, d_i = max score - score_i, p_i = exp(-c d_i)
Not here  drawing. Nothing below shares code with the samplers but the enclosure of exp, and the
          tests of this file check it against mpmath and against all permutations.

Probabilities made of exp are irrational; as ``Fraction`` they are right to a relative 2**-200.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.noise.enclosure import exp_minus
from reticent.rational import Number, positive, rational

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pmf: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]
    Cdf: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]

LAW_BITS = 200
"""Relative precision, in bits, of the probabilities returned as fractions."""


def discrete_laplace_pmf(scale: Number) -> Pmf:
    """P[Z = k] = (1 - r) / (1 + r) * r^|k| as a vectorised function of k, in floats."""
    rate = float(1 / positive(scale, "scale"))
    top = math.tanh(rate / 2)

    def pmf(k: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(top * np.exp(-rate * np.abs(k)))

    return pmf


def discrete_laplace_cdf(scale: Number) -> Cdf:
    """P[Z <= k] as a vectorised function of the integer k, in floats."""
    rate = float(1 / positive(scale, "scale"))
    below = 1 / (1 + math.exp(-rate))

    def cdf(k: NDArray[np.int64]) -> NDArray[np.float64]:
        negative = below * np.exp(rate * np.minimum(k, 0))
        positive_part = 1 - below * np.exp(-rate * (np.maximum(k, 0) + 1.0))
        return np.where(k < 0, negative, positive_part)

    return cdf


def discrete_laplace_law(
    scale: Number, *, around: int = 0, cuts: Sequence[int]
) -> dict[str, Fraction]:
    """The law of ``around`` + Z on the cells between increasing integer ``cuts``, tails included.

    >>> list(discrete_laplace_law(2, cuts=[-1, 0, 1, 5]))
    ['below -1', '-1', '0', '1 to 4', 'from 5']
    """
    rate = 1 / positive(scale, "scale")
    ordered = len(cuts) > 0 and all(a < b for a, b in pairwise(cuts))
    require(ordered, "cuts", list(cuts), "increasing integers, at least one")
    below = [_chance_below(rate, cut - around) for cut in cuts]
    law = {f"below {cuts[0]}": below[0]}
    for (first, end), (low, high) in zip(pairwise(cuts), pairwise(below), strict=True):
        law[str(first) if end - first == 1 else f"{first} to {end - 1}"] = high - low
    law[f"from {cuts[-1]}"] = 1 - below[-1]
    return law


def exponential_law(scores: Sequence[int], *, rate: Number) -> list[Fraction]:
    """P[i] = exp(c score_i) / sum_j exp(c score_j)."""
    weights = _coins(scores, rate)
    total = sum(weights, Fraction(0))
    return [weight / total for weight in weights]


def permute_and_flip_law(scores: Sequence[int], *, rate: Number) -> list[Fraction]:
    """P[i] = p_i E[1 / (1 + heads among the other coins)].

    Candidates in a random order, the first whose coin shows heads: given which coins show heads,
    each of those is first with equal chance. The number of heads is built up coin by coin.
    """
    coins = _coins(scores, rate)
    one = math.lcm(*(coin.denominator for coin in coins))
    heads_of = [int(coin * one) for coin in coins]
    chances = []
    for i, heads in enumerate(heads_of):
        ways = _number_of_heads(heads_of[:i] + heads_of[i + 1 :], one)
        among = math.lcm(*range(1, len(coins) + 1))
        first = sum(way * (among // (1 + n)) for n, way in enumerate(ways))
        chances.append(Fraction(heads * first, among * one ** len(coins)))
    return chances


def as_pmf(law: Sequence[Fraction]) -> Pmf:
    """A law on 0..n-1 as a vectorised function that is zero elsewhere."""
    table = np.array([float(chance) for chance in law] + [0.0])

    def pmf(k: NDArray[np.int64]) -> NDArray[np.float64]:
        outside = (k < 0) | (k >= len(law))
        return np.asarray(table[np.where(outside, len(law), k)])

    return pmf


def _coins(scores: Sequence[int], rate: Number) -> list[Fraction]:
    require(len(scores) > 0, "scores", "none", "at least one integer")
    exact = rational(rate, "rate")
    return [_exp(exact * (max(scores) - score)) for score in map(int, scores)]


def _number_of_heads(coins: Sequence[int], one: int) -> list[int]:
    """P[n heads] for n = 0..len(coins), times one**len(coins); a coin shows heads in coin / one."""
    chances = [1]  # whole numbers: fractions would be reduced each time
    for coin in coins:
        heads = [0, *(chance * coin for chance in chances)]
        tails = [*(chance * (one - coin) for chance in chances), 0]
        chances = [h + t for h, t in zip(heads, tails, strict=True)]
    return chances


@lru_cache(maxsize=1 << 12)
def _exp(x: Fraction) -> Fraction:
    """exp(-x) with a relative error below 2**-LAW_BITS, cut to a short binary fraction."""
    # exp(-x) > 2**(-3x/2); 64 more, for differences of two that are nearly equal
    bits = LAW_BITS + 64 + math.ceil(x * 3 / 2)
    return Fraction(math.floor(exp_minus(x, bits)[0] * (1 << bits)), 1 << bits)


def _chance_below(rate: Fraction, k: int) -> Fraction:
    """P[Z < k] = r^(1-k) / (1 + r) for k <= 0; P[Z < k] = 1 - P[Z < 1 - k] by symmetry."""
    if k > 0:
        return 1 - _chance_below(rate, 1 - k)
    return _exp(rate * (1 - k)) / (1 + _exp(rate))
