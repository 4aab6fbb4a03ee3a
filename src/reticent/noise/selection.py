"""Exact selection: the exponential mechanism's law and permute-and-flip's, in constant work.

Theory    docs/theory/noise.md, Theorem 6 (exponential), Theorem 7 (permute-and-flip);
          [McSherryTalwar2007], [McKennaSheldon2020], [DingEtAl2021]
Notation  q_i = scores[i] (integers on a public grid), c = rate, d_i = max q - q_i
Not here  what the scores mean and how sensitive they are (mechanisms/).

Both are the argument of the largest N_i - c d_i with independent N_i: Gumbel noise -ln(-ln U_i)
gives P[i] proportional to exp(c q_i), exponential noise -ln U_i gives permute-and-flip. N_i is a
function of infinitely many fair bits; 64 of them and double precision settle the comparison unless
the two largest sums are closer than a margin; then, at most 2**-27 + 2**-32 of the time for each
candidate, exact arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from reticent.errors import ParameterError, require
from reticent.noise.enclosure import Bounds, log_above, log_below
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

Name = TypeVar("Name")
_BLOCK = 1 << 13  # candidates at a time: the arrays of one block stay in the cache
_END = 1 << 31  # words this near to 0 or 2**64 say too little of ln U: exact arithmetic has them
_MARGIN = 2.0**-28  # other sums are known within 2**-29 and 2**-41 of their size, Lemma 3
_STEEPEST = Fraction(1 << 900)  # steeper rates decide alike, and times a gap they must stay finite


def exponential(scores: NDArray[np.int64], *, rate: Fraction, source: Source) -> int:
    """Index i with probability proportional to exp(rate * scores[i]), exactly."""
    source.note("exponential", rate=rate, candidates=scores.size)
    return _argmax(scores, rate, gumbel, gumbel_bounds, source)


def permute_and_flip(scores: NDArray[np.int64], *, rate: Fraction, source: Source) -> int:
    """Index drawn by permute-and-flip with acceptance exp(rate * (scores[i] - max)), exactly."""
    source.note("permute_and_flip", rate=rate, candidates=scores.size)
    return _argmax(scores, rate, _exponential, _exponential_bounds, source)


def _argmax(
    scores: NDArray[np.int64],
    rate: Fraction,
    noise: Callable[[NDArray[np.uint64]], NDArray[np.float64]],
    noise_bounds: Callable[[int, int], Bounds | None],
    source: Source,
) -> int:
    require(rate > 0, "rate", rate, "positive")
    if scores.ndim != 1 or scores.size == 0 or scores.dtype != np.int64:
        raise ParameterError("scores", "a non-empty vector of int64", _form(scores))
    top, slope = scores.max(), float(min(rate, _STEEPEST))
    words = source.long_words(scores.size)
    sums = np.empty(scores.size)
    for at in range(0, scores.size, _BLOCK):
        block = slice(at, at + _BLOCK)
        gaps = (top - scores[block]).view(np.uint64)  # right even where the difference wraps
        np.subtract(noise(words[block]), gaps * slope, out=sums[block])
    close = contenders(sums, words)
    if np.count_nonzero(close) == 1:
        return int(close.argmax())

    def behind(i: int, _: int) -> Bounds:
        exact = -rate * (int(top) - int(scores[i]))
        return exact, exact

    prefixes = {i: int(words[i]) for i in np.flatnonzero(close).tolist()}
    return settle(prefixes, behind, noise_bounds, source)


def contenders(sums: NDArray[np.float64], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which candidates double precision does not rule out. Lemma 3."""
    vague = (words < _END) | (words >= (1 << 64) - _END)
    known = sums[~vague] if vague.any() else sums
    best = float(known.max(initial=-np.inf))
    slack = _MARGIN + 2.0**-40 * abs(best) if np.isfinite(best) else 0.0
    close: NDArray[np.bool_] = vague | (sums >= best - slack)
    return close


def settle(
    prefixes: dict[Name, int],
    score: Callable[[Name, int], Bounds],
    noise_bounds: Callable[[int, int], Bounds | None],
    source: Source,
) -> Name:
    """The winner among a few candidates in exact arithmetic, drawing more bits until certain.

    ``score`` encloses what is added to a candidate's noise, to about so many bits.
    """
    width = 64
    while True:
        bounds: dict[Name, Bounds] = {}
        for i, prefix in prefixes.items():
            enclosed = noise_bounds(prefix, width)
            if enclosed is not None:
                low, high = score(i, width + 64)
                bounds[i] = enclosed[0] + low, enclosed[1] + high
        if len(bounds) == len(prefixes):
            best = max(lower for lower, _ in bounds.values())
            prefixes = {i: prefixes[i] for i, (_, upper) in bounds.items() if upper >= best}
            if len(prefixes) == 1:
                return next(iter(prefixes))
        prefixes = {i: p << 64 | source.bits(64) for i, p in prefixes.items()}
        width += 64


def _exponential(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """-ln U, from the first 63 bits of U: signed integers become floats five times faster."""
    u = (words >> np.uint64(1)).view(np.int64).astype(np.float64)
    u += 0.5
    u *= 2.0**-63
    return np.negative(np.log(u, out=u), out=u)


def _exponential_bounds(prefix: int, width: int) -> Bounds | None:
    if prefix == 0:
        return None
    low, high = Fraction(prefix, 1 << width), Fraction(prefix + 1, 1 << width)
    return -log_above(high, width + 64), -log_below(low, width + 64)


def gumbel(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """-ln(-ln U), where U is near 1 from the bits of 1 - U, which say more."""
    waits = _exponential(words)
    short = np.flatnonzero(waits < 2.0**-6)
    waits[short] = -np.log1p(((~words[short]).astype(np.float64) + 0.5) * -(2.0**-64))
    return np.negative(np.log(waits, out=waits), out=waits)


def gumbel_bounds(prefix: int, width: int) -> Bounds | None:
    """Gumbel noise whose first ``width`` bits are known; None if they say too little."""
    waits = _exponential_bounds(prefix, width)
    if waits is None or waits[0] <= 0:
        return None
    return -log_above(waits[1], width + 64), -log_below(waits[0], width + 64)


def _form(scores: NDArray[np.int64]) -> str:
    return f"shape {scores.shape}, dtype {scores.dtype}"
