"""Pricing: the cheapest outputs of every profile, and what that proves about the least leak.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 9 (blocks)
Notation  cost_ij = <pi_j, g_i> + lam d(j, i); lists: entries e of input j are
          starts[j] .. starts[j + 1], with output outs[e] at distance dist[e]
Not here  the loops (pricing_kernels.py), who asks (mapping_newton.py).

Profiles are sorted so that near ones stand together. A block of outputs is looked at only if the
cheapest gain in it and the nearest profile that could be in it might together be cheap enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.optim.distances import BITS, CODES, MATRIX, Distance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_BLOCK = 64  # as in pricing_kernels.py
_KNOTS = 33
_PART = 1 << 22  # entries held at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lists:
    """Candidate outputs of every profile."""

    starts: NDArray[np.int64]
    outs: NDArray[np.int64]
    dist: Reals

    @property
    def inputs(self) -> NDArray[np.int64]:
        """The profile that each entry belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def only(self, kept: NDArray[np.bool_]) -> Lists:
        """Some of the entries."""
        sums = np.concatenate([[0], np.cumsum(kept)])
        return Lists(sums[self.starts], self.outs[kept], self.dist[kept])

    def union(self, other: Lists) -> Lists:
        """Entries of either."""
        n = len(self.starts) - 1
        keys = np.concatenate([part.inputs * n + part.outs for part in (self, other)])
        merged, places = np.unique(keys, return_index=True)
        inputs, outs = np.divmod(merged, n)
        dist = np.concatenate([self.dist, other.dist])[places]
        return Lists(np.searchsorted(inputs, np.arange(n + 1)), outs, dist)


def near_order(distance: Distance) -> NDArray[np.int64]:
    """An order of profiles in which near ones stand together."""
    if distance.kind == MATRIX:
        return np.arange(distance.size)
    if distance.kind == BITS:
        return np.lexsort(distance.words.T)
    if distance.kind == CODES:  # the heaviest column first
        return np.lexsort(distance.codes.T[np.argsort(distance.points[0])])
    return _halved(distance.points)


def in_order(distance: Distance, order: NDArray[np.int64]) -> Distance:
    """The same profiles in another order."""
    if distance.kind == MATRIX:
        return replace(distance, matrix=np.ascontiguousarray(distance.matrix[np.ix_(order, order)]))
    if distance.kind == BITS:
        return replace(distance, words=np.ascontiguousarray(distance.words[order]))
    if distance.kind == CODES:
        return replace(distance, codes=np.ascontiguousarray(distance.codes[order]))
    return replace(distance, points=np.ascontiguousarray(distance.points[order]))


def _halved(points: Reals) -> NDArray[np.int64]:
    """Points halved at the median of their widest coordinate until they fit into a block."""
    parts, done = [np.arange(len(points))], []
    while parts:
        own = parts.pop()
        if len(own) <= _BLOCK:
            done.append(own)
            continue
        wide = int(np.argmax(np.ptp(points[own], axis=0)))
        own = own[np.argsort(points[own, wide], kind="stable")]
        half = -(-len(own) // (2 * _BLOCK)) * _BLOCK  # whole blocks
        parts += [own[half:], own[:half]]
    return np.concatenate(done)


class Pricing:
    """Blocks of outputs: all profiles of a distance in ``near_order``, or ``kept`` ones of them."""

    def __init__(self, distance: Distance, kept: NDArray[np.int64] | None = None) -> None:
        self.kept = np.arange(distance.size) if kept is None else kept
        outputs = distance if kept is None else _to(distance, kept)
        self.given, self.own, self.to = distance, distance.arrays(), outputs.arrays()
        firsts = np.arange(0, len(self.kept), _BLOCK)
        self.blocks = len(firsts)
        place = np.searchsorted(self.kept, np.arange(distance.size))
        self.home = np.minimum(place, len(self.kept) - 1) // _BLOCK

        def over(rule: Any, table: NDArray[Any]) -> NDArray[Any]:
            some = len(table) == len(self.kept)
            held = rule.reduceat(table, firsts, axis=0) if some else table[:0]
            return np.ascontiguousarray(held.T)

        self.common = (
            over(np.bitwise_and, outputs.words),
            over(np.bitwise_or, outputs.words),
            over(np.minimum, outputs.codes),
            over(np.maximum, outputs.codes),
            over(np.minimum, outputs.points),
            over(np.maximum, outputs.points),
        )
        self.looked = 0  # pairs, so far

    def cheapest(
        self,
        pi: Reals,
        g: Reals,
        lam: float,
        width: float,
        cap: int,
        rows: NDArray[np.int64] | None = None,
    ) -> tuple[Lists, Reals]:
        """Up to ``cap`` outputs within ``width`` of each profile's least cost, and that cost.

        Profiles are all of them, or ``rows``; ``pi`` has a row for each.
        """
        from reticent.optim.pricing_kernels import floors, price

        n, secrets = pi.shape
        by_secret = np.ascontiguousarray(g[self.kept].T)
        knots = np.zeros(2)
        if secrets == 2:
            low, high = float(pi[:, 1].min()), float(pi[:, 1].max())
            knots = np.linspace(low, max(high, low + 1e-9), _KNOTS)
        floor = np.empty((len(knots) if secrets == 2 else secrets, self.blocks))
        floors(by_secret, knots, floor)
        own, to, home = self.own, self.to, self.home
        if rows is not None:
            some = _from(self.given, rows)
            own, home = some.arrays(), self.home[rows]
            to = _to(some, self.kept).arrays() if some.kind == MATRIX else to
        fixed = (own, to, home, self.common, pi, by_secret, floor, knots)
        least, cap = np.empty(n), min(cap, len(self.kept))
        many = max(1, min(n, _PART // max(cap, 1)))
        sizes, found = [], []
        for first in range(0, n, many):
            last = min(first + many, n)
            counts = np.zeros(last - first, dtype=np.int64)
            near = np.empty((last - first, cap), dtype=np.int32)
            self.looked += price(*fixed, lam, width, cap, first, last, least, counts, near)
            sizes.append(counts)
            found.append(near[np.arange(cap) < counts[:, None]])
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        outs = self.kept[np.concatenate(found)]
        inputs = np.repeat(np.arange(n) if rows is None else rows, np.diff(starts))
        return Lists(starts, outs, self.given.pairs(inputs, outs)), least


def _to(distance: Distance, kept: NDArray[np.int64]) -> Distance:
    """Only some outputs: of a matrix its columns, of everything else the profiles."""
    if distance.kind == MATRIX:
        return replace(distance, matrix=np.ascontiguousarray(distance.matrix[:, kept]))
    return in_order(distance, kept)


def _from(distance: Distance, rows: NDArray[np.int64]) -> Distance:
    """Only some inputs: of a matrix its rows, of everything else the profiles."""
    if distance.kind == MATRIX:
        return replace(distance, matrix=np.ascontiguousarray(distance.matrix[rows]))
    return in_order(distance, rows)
