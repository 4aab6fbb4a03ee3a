"""Compiled pricing of outputs: blocks of them that cannot be cheap enough are passed over.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 9 (blocks)
Notation  as in mapping_kernels.py; a block is BLOCK outputs in a row
Not here  what a block's profiles have in common (pricing.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numba import njit

from reticent.optim.distance_kernels import fill_distances, popcount
from reticent.optim.order_kernels import kth_smallest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]
    Words: TypeAlias = NDArray[np.uint64]
    Codes: TypeAlias = NDArray[np.int32]
    Outs: TypeAlias = NDArray[np.int32]
    # kind, words, codes, points, matrix, scale: Distance.arrays
    Distances: TypeAlias = tuple[int, Words, Codes, Reals, Reals, float]
    # what the profiles of a block have in common: Pricing.common
    Blocks: TypeAlias = tuple[Words, Words, Codes, Codes, Reals, Reals]

BLOCK = 64
_FAST = {"nnan", "nsz", "contract", "reassoc"}  # sums in any order, so that minima are paired up


@njit(cache=True, nogil=True, error_model="numpy")
def floors(g: Reals, shares: Reals, out: Reals) -> None:
    """out[m, k]: the least <pi, g_i> in block k; for two secrets at knot m of p(1 | b), else of a.

    The least of linear functions is concave: between two knots it is above their chord.
    """
    secrets, n = g.shape
    for m in range(out.shape[0]):
        for k in range(out.shape[1]):
            low = np.inf
            for i in range(k * BLOCK, min(n, (k + 1) * BLOCK)):
                if secrets == 2:
                    low = min(low, g[0, i] + shares[m] * (g[1, i] - g[0, i]))
                else:
                    low = min(low, g[m, i])
            out[m, k] = low


@njit(cache=True, nogil=True, error_model="numpy")
def _apart(own: np.uint64, all_ones: Words, any_ones: Words, scale: float, out: Reals) -> None:
    """Adds to out[k] the bits in which a word differs from every word of block k."""
    for k in range(out.size):
        out[k] += scale * popcount((own & ~any_ones[k]) | (all_ones[k] & ~own))


@njit(cache=True, nogil=True, error_model="numpy")
def _outside(own: int, low: Codes, high: Codes, weight: float, out: Reals) -> None:
    """Adds ``weight`` to out[k] where no code of block k can be ``own``."""
    for k in range(out.size):
        if own < low[k] or own > high[k]:
            out[k] += weight


@njit(cache=True, nogil=True, error_model="numpy")
def _beyond(own: float, low: Reals, high: Reals, scale: float, out: Reals) -> None:
    """Adds to out[k] the squared distance of a number to the range of block k."""
    for k in range(out.size):
        far = max(low[k] - own, own - high[k], 0.0)
        out[k] += scale * far * far


@njit(cache=True, nogil=True, error_model="numpy")
def _bounds(
    own: Distances,
    block: Blocks,
    shares: Reals,
    floor: Reals,
    knots: Reals,
    lam: float,
    j: int,
    out: Reals,
) -> None:
    """out[k]: no output of block k costs profile j less. Theorem 9."""
    kind, words, codes, points, _, scale = own
    all_ones, any_ones, low_codes, high_codes, low_points, high_points = block
    out[:] = 0.0
    if kind == 1:
        for w in range(words.shape[1]):
            _apart(words[j, w], all_ones[w], any_ones[w], lam * scale, out)
    elif kind == 2:
        for c in range(codes.shape[1]):
            _outside(codes[j, c], low_codes[c], high_codes[c], lam * points[0, c], out)
    elif kind == 3:
        for c in range(points.shape[1]):
            _beyond(points[j, c], low_points[c], high_points[c], lam * scale, out)
    if shares.size == 2:
        spot = (shares[1] - knots[0]) / (knots[1] - knots[0])
        place = min(max(int(spot), 0), knots.size - 2)
        part = spot - place
        for k in range(out.size):
            out[k] += floor[place, k] + part * (floor[place + 1, k] - floor[place, k])
    else:
        for a in range(shares.size):
            share = shares[a]
            for k in range(out.size):
                out[k] += share * floor[a, k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _bit_costs(
    own: np.uint64,
    words: Words,
    scale: float,
    g: Reals,
    share: float,
    lam: float,
    at: int,
    count: int,
    costs: Reals,
) -> float:
    """Costs from ``at`` for words of 64 bits and two secrets: one pass; the least of them."""
    step, low = lam * scale, 1e300
    for b in range(count):
        bits = popcount(words[at + b, 0] ^ own)
        cost = g[0, at + b] + share * (g[1, at + b] - g[0, at + b]) + step * bits
        costs[b] = cost
        low = min(low, cost)
    return low


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _costs(
    own: Distances,
    to: Distances,
    shares: Reals,
    g: Reals,
    lam: float,
    j: int,
    at: int,
    count: int,
    costs: Reals,
) -> float:
    """Costs of the outputs from ``at``, and the least of them."""
    fill_distances(own, j, to, at, count, costs)
    for b in range(count):
        costs[b] *= lam
    for a in range(shares.size):
        share = shares[a]
        for b in range(count):
            costs[b] += share * g[a, at + b]
    low = 1e300
    for b in range(count):
        low = min(low, costs[b])
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _cheapest(found: Whole, costs: Reals, size: int, cap: int) -> tuple[int, float]:
    """Keeps the ``cap`` cheapest in front, of equal ones the first; how many, and their dearest."""
    if size <= cap:
        return size, np.inf
    edge = kth_smallest(costs, size, cap - 1)
    ties = cap
    for e in range(size):
        ties -= costs[e] < edge
    kept = 0
    for e in range(size):
        if costs[e] < edge or (costs[e] == edge and ties > 0):
            ties -= costs[e] == edge
            found[kept], costs[kept] = found[e], costs[e]
            kept += 1
    return kept, edge


@njit(nogil=True, error_model="numpy")
def _keep_near(
    at: int,
    count: int,
    costs: Reals,
    limit: float,
    edge: float,
    first: int,
    found: Whole,
    found_costs: Reals,
    size: int,
) -> int:
    """Appends outputs ``at`` .. with costs up to ``limit`` and below ``edge``; how many there are.

    Of equal ones the first stays, so output ``first`` goes to the front.
    """
    for b in range(count):
        if costs[b] <= limit and costs[b] < edge:
            found[size], found_costs[size] = at + b, costs[b]
            if at + b == first:
                found[size], found_costs[size] = found[0], found_costs[0]
                found[0], found_costs[0] = first, costs[b]
            size += 1
    return size


@njit(nogil=True, error_model="numpy")
def _write_near(
    found: Whole, found_costs: Reals, size: int, cap: int, limit: float, outs: Outs
) -> int:
    """Writes the ``cap`` cheapest of those up to ``limit``; how many there are."""
    for e in range(size):
        if found_costs[e] > limit:
            found_costs[e] = np.inf
    size, _ = _cheapest(found, found_costs, size, cap)
    kept = 0
    for e in range(size):
        if found_costs[e] < np.inf:
            outs[kept] = found[e]
            kept += 1
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def price(
    own: Distances,  # of the inputs
    to: Distances,  # of the outputs
    home: Whole,  # the block of outputs that each input begins with
    block: Blocks,
    pi: Reals,
    g: Reals,  # by secret: g[a, i]
    floor: Reals,
    knots: Reals,
    lam: float,
    width: float,
    cap: int,
    first: int,
    last: int,
    least: Reals,
    counts: Whole,
    outs: Outs,
) -> int:
    """For inputs first .. last: the least cost, and up to ``cap`` outputs near it.

    Gives back how many pairs were looked at.
    """
    n, secrets = g.shape[1], pi.shape[1]
    words, scale = to[1], to[5]
    plain = to[0] == 1 and words.shape[1] == 1 and secrets == 2
    costs, bounds = np.empty(BLOCK), np.empty(floor.shape[1])
    room = 2 * cap + BLOCK
    found, found_costs = np.empty(room, dtype=np.int64), np.empty(room)
    looked = 0
    for j in range(first, last):
        low, edge = np.inf, np.inf
        size = int(np.int64(0))  # a literal would make callees compile for it, too
        _bounds(own, block, pi[j], floor, knots, lam, j, bounds)
        for turn in range(-1, bounds.size):  # outputs near by first: they are often the cheapest
            k = home[j] if turn < 0 else turn
            if turn >= 0 and (k == home[j] or bounds[k] > min(low + width, edge)):
                continue
            at = k * BLOCK
            count = min(BLOCK, n - at)
            looked += count
            if plain:
                word = own[1][j, 0]
                lowest = _bit_costs(word, words, scale, g, pi[j, 1], lam, at, count, costs)
            else:
                lowest = _costs(own, to, pi[j], g, lam, j, at, count, costs)
            low = min(low, lowest)
            if cap and lowest <= low + width and lowest < edge:
                front = j if turn < 0 else -1
                size = _keep_near(
                    at, count, costs, low + width, edge, front, found, found_costs, size
                )
                if size >= 2 * cap:  # what is not among the cheapest now never will be
                    size, edge = _cheapest(found, found_costs, size, cap)
        least[j] = low
        if cap:
            counts[j - first] = _write_near(
                found, found_costs, size, cap, low + width, outs[j - first]
            )
    return looked
