"""The noise proof as a program: the law of the discrete Laplace sampler, breakpoint by breakpoint.

Theory    docs/theory/noise.md, Lemma 2 (margins), Theorem 2 (law), Theorem 3 (large scales)
Notation  t = scale, r = exp(-1/t), c_k = r^k / (1 + r): the sampler says |Z| >= k when U < c_k,
          L = number of low digits drawn apart, Y and H as in noise/laplace.py
Not here  statistics of drawn samples (statistics.py): nothing in this file is random but the
          choice of where to look.

The sampler is a function of U that steps at the c_k and nowhere else. ``log_ratio_error`` sees
where it really steps, to within 2**-250, and computes the law from that. The search by
``fast_path_disagreements`` is for a word on which double precision decides wrongly instead of
saying that it cannot tell.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import ReticentError, require
from reticent.noise import LARGEST_SCALE, Source, discrete_laplace
from reticent.noise.enclosure import Bounds, exp_minus, log_above, log_below
from reticent.rational import Number, positive, whole
from reticent.testing.precise import REST, decimal, precisely
from reticent.testing.sources import MORE, ScriptedSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sampler: TypeAlias = Callable[..., Any]
"""Called as ``discrete_laplace`` is, for one number or, with ``size``, for an array."""

LOG_RATIO_LIMIT = Fraction(1, 1 << 100)
_BEYOND = 3  # magnitudes looked at past the one whose breakpoint is below 2**-64
_WIDTH = 256  # bits of U that a script chooses
_BITS = 320  # of the enclosures
_DIRECT_BITS = 19  # longer scales draw their low digits apart
_BLOCK = 1 << 12
_OFFSETS = (0, 1, 2, 1 << 8, 1 << 16, 1 << 24, 1 << 32, 1 << 34)


class LawBroken(ReticentError):
    """The sampler steps somewhere else than its law does."""


def log_ratio_error(
    scale: Number, *, visits: int = 1000, sampler: Sampler = discrete_laplace
) -> Fraction:
    """The worst |ln P[k] / P[k + 1] - 1/t| over all magnitudes down to 2**-64, rounded up.

    P is computed from the breakpoints as the code's own exp encloses them. At ``visits`` of them,
    spread evenly, the sampler is run just below and just above to see that it steps in between.

    >>> log_ratio_error(1) <= LOG_RATIO_LIMIT
    True
    """
    t = positive(scale, "scale")
    require(t < 1 << 18, "scale", scale, "below 2**18, where every breakpoint can be listed")
    steps = _steps(t)
    for k in range(1, len(steps) + 1, math.ceil(len(steps) / whole(visits, "visits", least=1))):
        _visit(k, steps[k - 1], t, sampler)
    chances = [(1 - 2 * steps[0][1], 1 - 2 * steps[0][0])]
    chances += [
        (low - next_high, high - next_low) for (low, high), (next_low, next_high) in pairwise(steps)
    ]
    return max(_distance(here, after, 1 / t) for here, after in pairwise(chances))


def fast_path_disagreements(
    scale: Number,
    *,
    breakpoints: int = 20_000,
    seed: int = 0,
    sampler: Sampler = discrete_laplace,
) -> int:
    """On how many words the sampler and 70-digit arithmetic differ; must be 0.

    Words around every breakpoint are tried, or around ``breakpoints`` of them picked at random when
    there are more, and a few random words; each as one of an array and alone, with either sign.
    """
    t = positive(scale, "scale")
    require(t <= LARGEST_SCALE, "scale", scale, "at most 2**50")
    low_bits = max(0, math.frexp(float(t))[1] - _DIRECT_BITS)
    words = _words_around(_thresholds(t, low_bits, breakpoints, seed), seed)
    wrong = _wrong(words, np.full(words.size, MORE, dtype=np.uint64), t, low_bits, sampler)
    if low_bits:
        lows = _doubtful_lows(Source.seeded(seed + 1).long_words(breakpoints), t, low_bits)
        middle = int(_threshold(1 + (7 << low_bits - 1), t))  # half-way between breakpoints
        wrong += _wrong(np.full(lows.size, middle, dtype=np.uint64), lows, t, low_bits, sampler)
    return wrong


@precisely
def log_error(count: int = 1 << 14, *, seed: int = 0) -> float:
    """The worst error of ``np.log`` and ``math.log`` on random words of 1 to 63 bits."""
    words = Source.seeded(seed).long_words(count)
    words >>= np.arange(count, dtype=np.uint64) % np.uint64(63) + np.uint64(1)
    middle = words + 0.5
    worst = Decimal(0)
    for x, by_numpy in zip(middle.tolist(), np.log(middle).tolist(), strict=True):
        exact = Decimal(x).ln()
        for approximate in (by_numpy, math.log(x)):
            worst = max(worst, abs(Decimal(approximate) - exact))
    return float(worst)


def _steps(t: Fraction) -> list[Bounds]:
    """For k = 1, 2, ... an interval of a few 2**-256 that holds c_k."""
    low_r, high_r = exp_minus(1 / t, _BITS)
    steps: list[Bounds] = []
    beyond = 0
    while beyond < _BEYOND:
        low, high = exp_minus((len(steps) + 1) / t, _BITS)
        below = math.floor(low / (1 + high_r) * (1 << _WIDTH)) - 1
        above = math.ceil(high / (1 + low_r) * (1 << _WIDTH)) + 1
        steps.append((Fraction(below, 1 << _WIDTH), Fraction(above, 1 << _WIDTH)))
        beyond += above >> (_WIDTH - 64) == 0
    return steps


def _visit(k: int, step: Bounds, t: Fraction, sampler: Sampler) -> None:
    below, above = (int(end * (1 << _WIDTH)) for end in step)
    if _magnitude(below, t, sampler) < k or _magnitude(above, t, sampler) >= k:
        raise LawBroken(f"at scale {t} the sampler does not step to {k} at its breakpoint")


def _magnitude(u: int, t: Fraction, sampler: Sampler) -> int:
    """|Z| as drawn when the first bits of U are those of ``u``."""
    parts = [u >> at & (1 << 64) - 1 for at in range(_WIDTH - 64, -1, -64)]
    return abs(int(sampler(scale=t, source=ScriptedSource(bits=parts))))


def _distance(here: Bounds, after: Bounds, rate: Fraction) -> Fraction:
    largest = log_above(here[1] / after[0], _BITS) - rate
    smallest = log_below(here[0] / after[1], _BITS) - rate
    return max(abs(largest), abs(smallest))


@precisely
def _thresholds(t: Fraction, low_bits: int, most: int, seed: int) -> list[Decimal]:
    """Breakpoints of H in units of 2**-64: all down to 2**-64, or ``most`` picked at random."""
    last = math.ceil(t * 45) >> low_bits  # exp(-45) < 2**-64
    heights: Iterable[int] = range(last + 1 + _BEYOND)
    if last > most:
        picked = Source.seeded(seed).long_words(most) % np.uint64(last)
        ends = min(100, most)
        heights = {*range(ends), *range(last - ends, last + _BEYOND), *picked.tolist()}
    return [_threshold(1 + (h << low_bits), t) for h in sorted(heights)]


@precisely
def _threshold(k: int, t: Fraction) -> Decimal:
    """2**64 c_k."""
    return decimal(-k / t).exp() * (1 << 64) / (1 + decimal(-1 / t).exp())


def _words_around(thresholds: list[Decimal], seed: int) -> NDArray[np.uint64]:
    near = {int(c) + sign * step for c in thresholds for step in _OFFSETS for sign in (1, -1)}
    chosen = np.array(sorted(word for word in near if 0 <= word < 1 << 63), dtype=np.uint64)
    words = np.concatenate([chosen, Source.seeded(seed + 2).long_words(chosen.size // 4)])
    words[1::2] = ~words[1::2]  # the other sign, mirrored
    return words


@precisely
def _doubtful_lows(lows: NDArray[np.uint64], t: Fraction, low_bits: int) -> NDArray[np.uint64]:
    """Low words whose coin, "draw these digits again", is close."""
    chosen = []
    for i, word in enumerate(lows.tolist()):
        low = word & (1 << low_bits) - 1
        at = int((1 - decimal(-low / t).exp()) * (1 << 32)) + i % 5 - 2
        chosen.append(max(at, 0) << 32 | low)
    return np.array(chosen, dtype=np.uint64)


def _wrong(
    words: NDArray[np.uint64],
    lows: NDArray[np.uint64],
    t: Fraction,
    low_bits: int,
    sampler: Sampler,
) -> int:
    expected = _expected(words, lows, t, low_bits)
    in_array = _drawn_in_array(words, lows if low_bits else lows[:0], t, sampler)
    alone = _drawn_alone(words, lows, t, sampler)
    return int(np.count_nonzero(in_array != expected) + np.count_nonzero(alone != expected))


@precisely
def _expected(
    words: NDArray[np.uint64], lows: NDArray[np.uint64], t: Fraction, low_bits: int
) -> NDArray[np.int64]:
    ladder = [] if low_bits else [-c for c in _thresholds(t, 0, 1 << 62, 0)]
    drawn = []
    for word, low_word in zip(words.tolist(), lows.tolist(), strict=True):
        sign, word = (1, word) if word < 1 << 63 else (-1, word ^ (1 << 64) - 1)
        u = word + REST
        if low_bits:
            drawn.append(sign * _large(u, low_word, t, low_bits))
        else:
            drawn.append(sign * bisect_left(ladder, -u))  # how many breakpoints are above u
    return np.array(drawn, dtype=np.int64)


def _large(u: Decimal, low_word: int, t: Fraction, low_bits: int) -> int:
    """|Z| from its high part, by the logarithm, and its low digits, by the coin that keeps them."""
    minus_log = Decimal(1 << 64).ln() - u.ln()
    shift = (1 + decimal(-1 / t).exp()).ln() + decimal(1 / t)
    y = (minus_log - shift) * decimal(t / (1 << low_bits))
    if y < 0:
        return 0
    low = low_word & (1 << low_bits) - 1
    if (low_word >> 32) + REST < (1 - decimal(-low / t).exp()) * (1 << 32):
        low = MORE >> (64 - low_bits)
    return 1 + (math.floor(y) << low_bits) + low


def _drawn_in_array(
    words: NDArray[np.uint64], lows: NDArray[np.uint64], t: Fraction, sampler: Sampler
) -> NDArray[np.int64]:
    drawn = np.empty(words.size, dtype=np.int64)
    for at in range(0, words.size, _BLOCK):
        part = slice(at, at + _BLOCK)
        source = ScriptedSource(words=np.concatenate([words[part], lows[part]]))
        drawn[part] = sampler(scale=t, size=words[part].size, source=source)
    return drawn


def _drawn_alone(
    words: NDArray[np.uint64], lows: NDArray[np.uint64], t: Fraction, sampler: Sampler
) -> NDArray[np.int64]:
    drawn = []
    for word, low in zip(words.tolist(), lows.tolist(), strict=True):
        # a close word asks for more bits before the low word, so then both are MORE
        source = ScriptedSource(bits=[word] if low == MORE else [word, low])
        drawn.append(int(sampler(scale=t, source=source)))
    return np.array(drawn, dtype=np.int64)
