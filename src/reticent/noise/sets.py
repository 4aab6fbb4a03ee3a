"""Exact selection of a set: k candidates at once, by how clearly they are apart from the rest.

Theory    docs/theory/noise.md, Theorem 6 (exponential); docs/theory/dampening.md, Theorem 7 (sets)
Notation  q_1 >= q_2 >= ... = scores in order; a set is told by the last place a inside it and the
          first place b outside; its gap is q_a - q_b; c = rate
Not here  one candidate (selection.py), what scores mean (mechanisms/).

Sets with the same a and b have the same gap, and there are C(a - b - 1, k - b) of them: so instead
of all sets, k (n - k) + 1 classes compete, with Gumbel noise and the logarithm of their number.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import ParameterError, require
from reticent.noise.enclosure import Bounds, log
from reticent.noise.selection import contenders, gumbel, gumbel_bounds, settle
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEEPEST = Fraction(1 << 900)


def exponential_set(
    scores: NDArray[np.int64], k: int, *, rate: Fraction, source: Source
) -> list[int]:
    """A set of k with probability proportional to exp(rate * (least inside - largest outside))."""
    require(rate > 0, "rate", rate, "positive")
    if scores.ndim != 1 or scores.dtype != np.int64 or not 1 <= k <= scores.size:
        raise ParameterError("scores", f"a vector of int64, at least {k} of them", scores.shape)
    source.note("exponential_set", rate=rate, candidates=scores.size, k=k)
    order = np.argsort(-scores, kind="stable")
    if k == scores.size:
        return [int(i) for i in order]
    more, last = _winner(scores[order], k, rate, source)
    if last < 0:
        return [int(i) for i in order[:k]]
    first = k - 1 - more  # the first place outside; all before it are inside
    between = first + 1 + np.array(_subset(last - first - 1, more, source), dtype=np.int64)
    places = np.concatenate([np.arange(first), [last], between])
    return [int(i) for i in order[places.astype(np.int64)]]


def _winner(ordered: NDArray[np.int64], k: int, rate: Fraction, source: Source) -> tuple[int, int]:
    """How many are chosen freely between b and a, and a; or (0, -1) for the first k places."""
    best, slope = int(ordered[k - 1]) - int(ordered[k]), float(min(rate, _STEEPEST))
    beyond = np.arange(ordered.size - k)
    logs = np.zeros(beyond.size)
    own = source.long_words(1)
    sums, words, names = gumbel(own), own, [(0, -1)]
    for more in range(k):
        drawn = source.long_words(beyond.size)
        behind = best + (int(ordered[k - 1 - more]) - ordered[k:])
        found = gumbel(drawn) - behind.astype(np.float64) * slope + logs
        near = contenders(np.concatenate([sums, found]), np.concatenate([words, drawn]))
        kept, fresh = near[: sums.size], np.flatnonzero(near[sums.size :])
        names = [name for name, stays in zip(names, kept.tolist(), strict=True) if stays]
        names += [(more, k + int(place)) for place in fresh]
        sums = np.concatenate([sums[kept], found[fresh]])
        words = np.concatenate([words[kept], drawn[fresh]])
        logs += np.log((beyond + more + 1) / (more + 1))
    if len(names) == 1:
        return names[0]

    def score(name: tuple[int, int], bits: int) -> Bounds:
        more, last = name
        if last < 0:
            return Fraction(0), Fraction(0)
        low, high = log(Fraction(math.comb(last - k + more, more)), bits)
        gap = best + int(ordered[k - 1 - more]) - int(ordered[last])
        return low - rate * gap, high - rate * gap

    prefixes = {name: int(word) for name, word in zip(names, words, strict=True)}
    return settle(prefixes, score, gumbel_bounds, source)


def _subset(size: int, count: int, source: Source) -> list[int]:
    """``count`` of the numbers below ``size``, every subset alike: Floyd's method."""
    chosen: set[int] = set()
    for top in range(size - count, size):
        drawn = _below(top + 1, source)
        chosen.add(top if drawn in chosen else drawn)
    return sorted(chosen)


def _below(bound: int, source: Source) -> int:
    """A number below ``bound``, all alike: bits are drawn again until they are below it."""
    width = (bound - 1).bit_length()
    while True:
        drawn = source.bits(width) if width else 0
        if drawn < bound:
            return drawn
