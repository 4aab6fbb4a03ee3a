"""Exact selection: the exponential mechanism's law and permute-and-flip's, in constant work.

Theory    docs/theory/noise.md, Theorem 6 (exponential), Theorem 7 (permute-and-flip);
          [McSherryTalwar2007], [McKennaSheldon2020], [DingEtAl2021]
Notation  q_i = scores[i] (integers on a public grid), c = rate, d_i = max q - q_i
Not here  what the scores mean and how sensitive they are (mechanisms/).

Both are the argument of the largest c q_i + N_i with independent N_i: Gumbel noise gives
P[i] proportional to exp(c q_i), one-sided exponential noise gives permute-and-flip. N_i is a
function of infinitely many fair bits; 64 of them and double precision settle the comparison unless
the two largest sums are closer than their margins; then exact arithmetic does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import ParameterError, require
from reticent.noise.enclosure import Bounds, log
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_SCORE = 1 << 61
_BLOCK = 1 << 13  # candidates at a time: the arrays of one block stay in the cache
_STEEPEST = Fraction(1 << 900)  # steeper rates decide alike, and times a gap they must stay finite
_MARGIN = 2.0**-40  # per unit of |c d_i| + 1; the error of double precision is below 2**-46


def exponential(scores: NDArray[np.int64], *, rate: Fraction, source: Source) -> int:
    """Index i with probability proportional to exp(rate * scores[i]), exactly."""
    source.note("exponential", rate=rate, candidates=scores.size)
    return _argmax(scores, rate, _gumbel, _gumbel_bounds, source)


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
    top = _clamped(scores.max())
    words = source.long_words(scores.size)
    reach, best = np.empty(scores.size), -np.inf
    for at in range(0, scores.size, _BLOCK):
        block = slice(at, at + _BLOCK)
        sums, margins = _sums(words[block], top - _clamped(scores[block]), rate, noise)
        reach[block] = sums + margins
        best = max(best, float((sums - margins).max()))
    contenders = np.flatnonzero(reach >= best)
    if contenders.size == 1:
        return int(contenders[0])
    return _settle(
        {int(i): int(words[i]) for i in contenders},
        lambda i: rate * int(top - _clamped(scores[i])),
        noise_bounds,
        source,
    )


def _sums(
    words: NDArray[np.uint64],
    gaps: NDArray[np.int64],
    rate: Fraction,
    noise: Callable[[NDArray[np.uint64]], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """N_i - c d_i in double precision, and how far off that may be."""
    behind = gaps * float(min(rate, _STEEPEST))
    # U lies in [w, w + 1) / 2^64: near either end its 64 bits say little of ln U or ln(1 - U)
    known = np.minimum(words, ~words).astype(np.float64) + 0.5
    margins = _MARGIN * (1 + behind) + 2 / known
    margins[known == 0.5] = np.inf
    return noise(words) - behind, margins


def _settle(
    prefixes: dict[int, int],
    behind: Callable[[int], Fraction],
    noise_bounds: Callable[[int, int], Bounds | None],
    source: Source,
) -> int:
    """The winner among a few candidates in exact arithmetic, drawing more bits until certain."""
    width = 64
    while True:
        bounds: dict[int, Bounds] = {}
        for i, prefix in prefixes.items():
            enclosed = noise_bounds(prefix, width)
            if enclosed is not None:
                bounds[i] = enclosed[0] - behind(i), enclosed[1] - behind(i)
        if len(bounds) == len(prefixes):
            best = max(lower for lower, _ in bounds.values())
            prefixes = {i: prefixes[i] for i, (_, upper) in bounds.items() if upper >= best}
            if len(prefixes) == 1:
                return next(iter(prefixes))
        prefixes = {i: p << 64 | source.bits(64) for i, p in prefixes.items()}
        width += 64


def _exponential(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """-ln U."""
    return -np.log((words.astype(np.float64) + 0.5) * 2.0**-64)


def _exponential_bounds(prefix: int, width: int) -> Bounds | None:
    if prefix == 0:
        return None
    low, high = Fraction(prefix, 1 << width), Fraction(prefix + 1, 1 << width)
    return -log(high, width + 64)[1], -log(low, width + 64)[0]


def _gumbel(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """-ln(-ln(1 - U)), from whichever of U and 1 - U is small and so known precisely."""
    upper_half = words >> np.uint64(63) != 0
    small = (np.minimum(words, ~words) + 0.5) * 2.0**-64
    return -np.log(np.where(upper_half, -np.log(small), -np.log1p(-small)))


def _gumbel_bounds(prefix: int, width: int) -> Bounds | None:
    if prefix == 0 or prefix + 1 == 1 << width:
        return None
    low, high = 1 - Fraction(prefix + 1, 1 << width), 1 - Fraction(prefix, 1 << width)
    least, most = -log(high, width + 64)[1], -log(low, width + 64)[0]
    if least <= 0:
        return None
    return -log(most, width + 64)[1], -log(least, width + 64)[0]


def _clamped(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    return scores.clip(-LARGEST_SCORE, LARGEST_SCORE)


def _form(scores: NDArray[np.int64]) -> str:
    return f"shape {scores.shape}, dtype {scores.dtype}"
