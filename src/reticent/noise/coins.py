"""Exact coins: Bernoulli(p), Bernoulli(exp(-x)), Bernoulli(1 / (1 + exp(x))) for rational p and x.

Theory    docs/theory/noise.md, Theorem 1 (a coin by comparison is exact).
Notation  x = exponent, p = probability

A coin compares a uniform real U, of which 32 bits are drawn, with p, of which a float gives more
than 32. Unless the two prefixes are within one unit of each other the comparison is already
certain; otherwise, about once in a billion coins, more bits of both are produced until it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import require
from reticent.noise.enclosure import Bounds, Law, exp_minus, logistic_minus, thinned
from reticent.noise.exact_array import ExactArray, Scalar
from reticent.noise.source import Bits, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD = 32
_BLOCK = 1 << 14  # words of 64 coins at a time: the arrays of one block stay in the cache
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


def bernoulli_thinned(
    share: NDArray[np.float64], *, exponent: Fraction, source: Source
) -> NDArray[np.bool_]:
    """One coin per share v in [0, 1], heads with probability exactly (e^(xv) - 1) / (e^x - 1)."""
    shares = ExactArray.of(share, "share")
    inside = shares.size == 0 or 0 <= shares.smallest() <= shares.largest() <= 1
    require(inside, "share", "values outside", "from 0 to 1")
    require(exponent > 0, "exponent", exponent, "positive")
    source.note("bernoulli_thinned", exponent=exponent, shape=shares.shape)
    x, v = float(min(exponent, Fraction(1 << 900))), shares.approximate
    approximate = np.exp(-x * (1 - v)) * (np.expm1(-x * v) / np.expm1(-x))
    return _flip(approximate, shares, partial(thinned, exponent), source)


def logistic_words(
    exponent: Fraction, shape: int | tuple[int, ...], *, source: Source
) -> NDArray[np.uint64]:
    """Words of 64 independent coins each, heads (bits 1) with probability exactly 1 / (1 + e^x).

    Each bit compares a uniform U with p digit by digit, 64 coins at a time, until all differ.
    """
    require(exponent >= 0, "exponent", exponent, "non-negative")
    source.note("logistic_words", exponent=exponent, shape=shape)
    heads = np.zeros(shape, dtype=np.uint64)
    digits = _Digits(logistic_minus, exponent)
    flat = heads.reshape(-1)
    for at in range(0, flat.size, _BLOCK):
        _compare_digits(flat[at : at + _BLOCK], digits, source)
    return heads


def decide(word: int, law: Law, x: Fraction, source: Bits) -> bool:
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


class _Digits:
    """Binary digits of law(x), as many as are asked for, each certain."""

    def __init__(self, law: Law, x: Fraction) -> None:
        self._law, self._x = law, x
        self._known, self._prefix = 0, 0

    def __getitem__(self, place: int) -> int:
        while place >= self._known:
            self._extend(self._known + 64)
        return self._prefix >> (self._known - 1 - place) & 1

    def _extend(self, count: int) -> None:
        bits = count + 64
        while True:
            lower, upper = (math.floor(end * (1 << count)) for end in self._law(self._x, bits))
            if lower == upper:
                self._known, self._prefix = count, lower
                return
            bits += 64


def _compare_digits(heads: NDArray[np.uint64], digits: _Digits, source: Source) -> None:
    """Set the bits of ``heads`` where U < p. U and p agree so far where ``tied`` has a 1."""
    where, tied = np.arange(heads.size), np.full(heads.size, ~np.uint64(0))
    place = 0
    while where.size:
        drawn = source.long_words(where.size)
        if digits[place]:
            heads[where] |= tied & ~drawn
            tied &= drawn
        else:
            tied &= ~drawn
        place += 1
        if place >= 6:  # before that hardly a word is settled
            left = tied != 0
            where, tied = where[left], tied[left]


def _itself(p: Fraction, bits: int) -> Bounds:
    return p, p
