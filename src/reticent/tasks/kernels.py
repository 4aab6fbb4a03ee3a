"""Compiled loops over sparse profiles: overlaps, scores, best of many.

Notation  u = a person, p = a peer, units = weighted overlap in 2**-20
Not here  strangers (stranger_kernels.py), noise and guarantees (similarity.py, neighbours.py). No
          floats decide anything private here: overlaps are integers, and scores are computed
          after the noise.

Numba compiles each function once and keeps the result on disk (``cache=True``). Written in NumPy,
the accumulation over an inverted index is about ten times slower.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from reticent.data.profiles import WEIGHT_BITS
from reticent.noise.counting import ones as ones  # for who imports it from here

_SHIFT = np.int64(WEIGHT_BITS)
OVERLAP, COSINE, JACCARD = 0, 1, 2


@njit(cache=True, nogil=True)
def joint(own: Any, other: Any, product: bool) -> Any:
    """How much a common item counts: the product of its two weights, or the smaller."""
    return (own * other) >> _SHIFT if product else min(own, other)


@njit(cache=True, nogil=True)
def postings_before(indptr: Any, indices: Any, starts: Any, work: Any) -> None:
    """work[u]: entries of the inverted index that the items of people below u lead to."""
    total = np.int64(0)
    for u in range(indptr.size - 1):
        for e in range(indptr[u], indptr[u + 1]):
            total += starts[indices[e] + 1] - starts[indices[e]]
        work[u + 1] = total


@njit(cache=True, nogil=True)
def _slot(p: Any, bits: int, place: Any, peers: Any) -> Any:
    """Where p stands or may stand in a hash table of 2^bits places, at most half of them taken."""
    mask = (np.int64(1) << bits) - 1
    slot = ((np.int64(p) * 0x9E3779B1) >> (32 - bits)) & mask  # bits of the middle
    while place[slot] >= 0 and peers[place[slot]] != p:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def overlaps_of(
    low: int,
    high: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    starts: Any,
    owners: Any,
    owner_weights: Any,
    product: bool,
    place: Any,
    offsets: Any,
    peers: Any,
    units: Any,
) -> int:
    """Weighted overlaps of people ``low`` to ``high`` with everyone they share an item with.

    ``place`` says where a peer stands among ``peers``: a small hash table, which stays in a cache,
    or directly if so many are met that it would not be small.
    """
    filled = 0
    for u in range(low, high):
        offsets[u - low] = filled
        first = filled
        met = np.int64(0)
        for e in range(indptr[u], indptr[u + 1]):
            met += starts[indices[e] + 1] - starts[indices[e]]
        bits = 4
        while np.int64(1) << bits < 2 * met:
            bits += 1
        direct = np.int64(1) << bits > place.size >> 2
        if not direct:
            place[: 1 << bits] = -1
        for e in range(indptr[u], indptr[u + 1]):
            item, own = indices[e], np.int64(weights[e])
            for f in range(starts[item], starts[item + 1]):
                p = owners[f]
                if p == u:
                    continue
                term = joint(own, np.int64(owner_weights[f]), product)
                slot = np.int64(p) if direct else _slot(p, bits, place, peers)
                at = place[slot]
                if first <= at < filled and peers[at] == p:
                    units[at] += term
                else:
                    place[slot] = filled
                    peers[filled] = p
                    units[filled] = term
                    filled += 1
    offsets[high - low] = filled
    return filled


@njit(cache=True, nogil=True)
def overlap(u: int, p: int, indptr: Any, indices: Any, weights: Any, product: bool) -> Any:
    """Weighted overlap of two people, by merging their sorted rows."""
    a, a_end = indptr[u], indptr[u + 1]
    b, b_end = indptr[p], indptr[p + 1]
    total = np.int64(0)
    while a < a_end and b < b_end:
        if indices[a] < indices[b]:
            a += 1
        elif indices[a] > indices[b]:
            b += 1
        else:
            total += joint(np.int64(weights[a]), np.int64(weights[b]), product)
            a += 1
            b += 1
    return total


@njit(cache=True, nogil=True)
def overlaps_with(
    first: Any, second: Any, indptr: Any, indices: Any, weights: Any, product: bool, units: Any
) -> None:
    """Weighted overlaps of given pairs."""
    for j in range(first.size):
        units[j] = overlap(first[j], second[j], indptr, indices, weights, product)


@njit(cache=True, nogil=True)
def score(measure: int, units: Any, own: Any, other: Any) -> Any:
    """Similarity of a noisy overlap given two norms; increasing in ``units``.

    Noise can carry it above 1. A Jaccard index cut off there would tie, and who wins a tie must not
    depend on anything private; beyond 1 it goes on as the overlap by the mean norm.
    """
    if measure == COSINE:
        return units / math.sqrt(own * other)
    if measure == JACCARD:
        both = own + other
        return 2 * units / both if 2 * units > both else units / (both - units)
    return float(units)


@njit(cache=True, nogil=True)
def score_pairs(measure: int, units: Any, own: Any, other: Any) -> Any:
    """``score`` for given pairs."""
    row = np.empty(units.shape)
    for j in range(units.size):
        row[j] = score(measure, units[j], own[j], other[j])
    return row


@njit(cache=True, nogil=True)
def scores(measure: int, units: Any, own: Any, other: Any) -> Any:
    """``score`` for a table of people by buckets."""
    table = np.empty(units.shape)
    for row in range(units.shape[0]):
        for g in range(units.shape[1]):
            table[row, g] = score(measure, units[row, g], own[row], other[g])
    return table


@njit(cache=True, nogil=True)
def least_units(measure: int, last: float, own: Any, other: Any) -> Any:
    """Less than this scores below ``last``: the inverse of ``score``, with room for rounding."""
    if measure == COSINE:
        units = last * math.sqrt(own * other)
    elif measure == OVERLAP:
        units = last
    elif last > 1:
        units = last * (own + other) / 2
    elif last > -1:
        units = last * (own + other) / (1 + last)
    else:
        units = -np.inf
    return units - abs(units) * 2.0**-40 if units > -np.inf else units


@njit(cache=True, nogil=True)
def contenders(
    measure: int,
    people: Any,
    norms: Any,
    least_norm: Any,
    offsets: Any,
    peers: Any,
    buckets: Any,
    units: Any,
    heads: Any,
    head_reach: Any,
    last: Any,
    some: int,
    early: bool,
    kept_offsets: Any,
    kept: Any,
) -> int:
    """Which candidates could reach a score of ``last``, by the first bits of their noise.

    ``early``, about ``some`` of each person with the largest noise, and else all others. Most are
    dismissed by the least norm of their bucket, without looking up their own.
    """
    filled = 0
    needed = np.empty(least_norm.size)
    for row in range(people.size):
        own, least = norms[people[row]], last[row]
        for g in range(least_norm.size):
            needed[g] = least_units(measure, least, own, least_norm[g])
        parted = 1 + 256 * some // max(offsets[row + 1] - offsets[row], 1)
        for c in range(offsets[row], offsets[row + 1]):
            most = units[c] + head_reach[heads[c]]  # never negative
            if (heads[c] < parted) != early or most < needed[buckets[c]]:
                continue
            if score(measure, most, own, norms[peers[c]]) * (1 + 2.0**-40) >= least:
                kept[filled] = c
                filled += 1
        kept_offsets[row + 1] = filled
    return filled


@njit(cache=True, nogil=True)
def keep_best(
    measure: int,
    people: Any,
    norms: Any,
    offsets: Any,
    peers: Any,
    units: Any,
    best: Any,
    best_scores: Any,
) -> None:
    """Insert candidates into each person's list of best peers, highest score first.

    Equal scores go by number of the peer, so that the list is a function of the scores alone.
    """
    last = best.shape[1] - 1
    for row in range(people.size):
        own = norms[people[row]]
        for c in range(offsets[row], offsets[row + 1]):
            p, value = peers[c], score(measure, units[c], own, norms[peers[c]])
            if not _before(value, p, best_scores[row, last], best[row, last]):
                continue
            j = last
            while j > 0 and _before(value, p, best_scores[row, j - 1], best[row, j - 1]):
                best_scores[row, j] = best_scores[row, j - 1]
                best[row, j] = best[row, j - 1]
                j -= 1
            best_scores[row, j] = value
            best[row, j] = p


@njit(cache=True, nogil=True)
def _before(value: float, peer: int, other: float, other_peer: int) -> bool:
    return value > other or (value == other and peer < other_peer)
