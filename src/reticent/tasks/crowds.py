"""What is public about a crowd of peers: groups by released norm, and how far noise can carry them.

Theory    docs/theory/neighbours.md, Theorem 1 (stopping)
Notation  t = noise scale in units, b = level: a word starting with b zero bits, so U < 2^-b
Not here  who shares what with whom (overlaps.py), drawing (neighbours.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from reticent.tasks import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_GROUPS = 100  # norms smaller by more than 2^100 are one group
_DEEPEST = 48  # a level where nobody is expected among fewer than 2^44 people


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Buckets:
    """Peers grouped by released norm, within a factor of two, so that draws compare fairly."""

    of: NDArray[np.int8]  # for each person; -1 for who is no peer
    members: NDArray[np.int32]
    starts: NDArray[np.int64]
    least_norm: NDArray[np.float64]

    @classmethod
    def by(cls, norms: NDArray[np.float64], peers: range | None = None) -> Buckets:
        """Groups of norms that share their binary exponent; everybody is a peer if not told."""
        peers = range(norms.size) if peers is None else peers
        inside = norms[peers.start : peers.stop]
        exponents = np.frexp(inside)[1]
        exponents = np.maximum(exponents, exponents.max(initial=0) - _MOST_GROUPS)
        _, which = np.unique(exponents, return_inverse=True)
        order = np.argsort(which, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(which))])
        least = np.array([inside[order[a:b]].min() for a, b in pairwise(starts)])
        of = np.full(norms.size, -1, dtype=np.int8)
        of[peers.start : peers.stop] = which
        members = (order + peers.start).astype(np.int32)
        return cls(of, members, starts.astype(np.int64), least)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many people each group has."""
        return np.diff(self.starts)

    def first_levels(
        self, wanted: float, *, measure: int, typical_norm: float, scale: Fraction
    ) -> NDArray[np.int64]:
        """Where to begin in each group, so that about ``wanted`` to twice as many are drawn.

        The levels belong to one score: nobody who is not drawn can do better. Any choice gives the
        same law, Theorem 1, and this one, made of released norms, little work.
        """
        levels = np.arange(1.0, _DEEPEST + 1)
        most = np.repeat(largest_noise(levels * math.log(2), scale)[:, None], self.sizes.size, 1)
        own = np.full(levels.size, typical_norm)
        reach = kernels.scores(measure, most, own, self.least_norm)
        aims = np.sort(reach, axis=None)
        low, high = 0, aims.size - 1  # the highest aim for which enough are drawn, if there is one
        while low < high:
            middle = (low + high + 1) // 2
            enough = self._expected(_levels_up_to(reach, aims[middle])) >= wanted
            low, high = (middle, high) if enough else (low, middle - 1)
        chosen = _levels_up_to(reach, aims[low])
        if self._expected(chosen) < wanted:
            return np.zeros_like(chosen)
        deepest = np.frexp(self.sizes)[1] + 1  # there is hardly anybody deeper
        return np.asarray(np.minimum(chosen, deepest), dtype=np.int64)

    def _expected(self, levels: NDArray[np.int64]) -> float:
        return float((self.sizes * 2.0**-levels).sum())


def _levels_up_to(reach: NDArray[np.float64], aim: float) -> NDArray[np.int64]:
    """The last level of each group from which nobody left out exceeds ``aim``; 0 leaves nobody."""
    return np.asarray(np.count_nonzero(reach <= aim, axis=0), dtype=np.int64)


def largest_noise(x: NDArray[np.float64], scale: Fraction) -> NDArray[np.float64]:
    """The most that noise can be when U >= exp(-x). Theorem 1.

    Z <= t (x - ln 2 + 2^-18) + 1; the factor covers rounding.
    """
    return float(scale) * (x - math.log(2) + 2.0**-18) * (1 + 2.0**-40) + 1


def head_reach(scale: Fraction) -> NDArray[np.float64]:
    """The most that noise can be for each value of the first 8 bits of its word."""
    heads = np.arange(256)
    reach = largest_noise(-np.log(np.maximum(heads, 1) / 256), scale)
    reach[heads >= 128] = 0.0  # the first bit is the sign
    reach[0] = np.inf
    return reach
