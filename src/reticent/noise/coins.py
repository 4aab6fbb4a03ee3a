"""Exact coins: Bernoulli(exp(-x)) and Bernoulli(p) for rational x and p, vectorised.

Theory    docs/theory/noise.md, Theorem 1 (a coin by comparison is exact).
Notation  x = exponent, p = probability

A coin compares a uniform real U, of which 32 bits are drawn, with p, of which a float gives more
than 32. Unless the two prefixes are within one unit of each other the comparison is already
certain; otherwise, about once in a billion coins, more bits of both are produced until it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import require
from reticent.noise.enclosure import Bounds, Law, exp_minus
from reticent.noise.exact_array import ExactArray, Scalar
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = 32
_BEYOND = 64.0  # exp(-64) * 2**32 < 1: larger exponents all have the 32-bit prefix 0


def bernoulli_exp(
    exponent: Scalar | Sequence[Scalar] | NDArray[np.float64], *, source: Source
) -> NDArray[np.bool_]:
    """One coin per exponent x >= 0, heads with probability exactly exp(-x).

    A float exponent means exactly that float; pass fractions for other rationals.

    >>> from reticent.noise import Source, bernoulli_exp
    >>> bernoulli_exp([0, 1e9], source=Source.system())
    array([ True, False])
    """
    exponents = ExactArray.of(exponent, "exponent")
    require(exponents.smallest() >= 0, "exponent", exponent, "non-negative and finite")
    source.note("bernoulli_exp", shape=exponents.shape)
    approximate = np.exp(-np.minimum(exponents.approximate, _BEYOND))
    return _flip(approximate, exponents, exp_minus, source)


def bernoulli(
    probability: Scalar | Sequence[Scalar] | NDArray[np.float64], *, source: Source
) -> NDArray[np.bool_]:
    """One coin per probability, which may be any rational from 0 to 1; a float means that float."""
    chances = ExactArray.of(probability, "probability")
    proper = chances.smallest() >= 0 and chances.largest() <= 1
    if chances.fractions is not None:  # a float cannot tell 1 from a little more
        proper = proper and max(chances.fractions, default=0) <= 1
    require(proper, "probability", probability, "from 0 to 1")
    source.note("bernoulli", shape=chances.shape)
    return _flip(chances.approximate, chances, _itself, source)


def decide(word: int, law: Law, x: Fraction, source: Source) -> bool:
    """Whether U < law(x), for a uniform U whose first 32 bits are ``word``. Theorem 1."""
    prefix, width = word, WORD
    while True:
        lower, upper = law(x, width + 64)
        if prefix + 1 <= lower * (1 << width):
            return True
        if prefix >= upper * (1 << width):
            return False
        prefix, width = prefix << 64 | source.bits(64), width + 64


def _flip(
    approximate: NDArray[np.float64], exact: ExactArray, law: Law, source: Source
) -> NDArray[np.bool_]:
    threshold = np.floor(approximate * 2.0**WORD).astype(np.int64)
    words = source.words(exact.shape).astype(np.int64)
    heads = np.asarray(words < threshold - 1)  # an array even for one coin, which may be settled
    for at in np.flatnonzero(heads != (words < threshold + 2)):
        heads.flat[at] = decide(int(words.flat[at]), law, exact[int(at)], source)
    return heads[()]


def _itself(p: Fraction, bits: int) -> Bounds:
    return p, p
