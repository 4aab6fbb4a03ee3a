"""Compiled loops over sparse profiles: overlaps, choice of strangers, best of many.

Notation  u = a person, p = a peer, units = weighted overlap in 2**-20
Not here  noise, norms and guarantees (similarity.py, neighbours.py). No floats decide anything
          private here: overlaps are integers, and scores are computed after the noise.

Numba compiles each function once and keeps the result on disk (``cache=True``). Written in NumPy,
the accumulation over an inverted index is about ten times slower.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from reticent.data.profiles import WEIGHT_BITS

_SHIFT = np.int64(WEIGHT_BITS)
OVERLAP, COSINE, JACCARD = 0, 1, 2


@njit(cache=True, nogil=True)
def joint(own: Any, other: Any, product: bool) -> Any:
    """How much a common item counts: the product of its two weights, or the smaller."""
    return (own * other) >> _SHIFT if product else min(own, other)


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
    totals: Any,
    stamps: Any,
    offsets: Any,
    peers: Any,
    units: Any,
) -> int:
    """Weighted overlaps of people ``low`` to ``high`` with everyone they share an item with."""
    filled = 0
    for u in range(low, high):
        offsets[u - low] = filled
        first = filled
        for e in range(indptr[u], indptr[u + 1]):
            item, own = indices[e], np.int64(weights[e])
            for f in range(starts[item], starts[item + 1]):
                p = owners[f]
                if p == u:
                    continue
                other = np.int64(owner_weights[f])
                term = joint(own, other, product)
                if stamps[p] != u:
                    stamps[p] = u
                    totals[p] = term
                    peers[filled] = p
                    filled += 1
                else:
                    totals[p] += term
        for j in range(first, filled):
            units[j] = totals[peers[j]]
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
def ones(word: Any) -> Any:
    """How many bits are set; LLVM knows the pattern and makes it one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def halve(before: Any, words: Any, after: Any) -> None:
    """After ~ Binomial(before, 1/2) for each entry: how many of so many fair bits are ones.

    Every entry takes whole words, so ``words`` has sum of ceil(before / 64) of them.
    """
    used = 0
    for row in range(before.shape[0]):
        for column in range(before.shape[1]):
            left, total = before[row, column], np.int64(0)
            while left > 0:
                word = words[used]
                used += 1
                if left < 64:
                    word = word & ((np.uint64(1) << np.uint64(left)) - np.uint64(1))
                total += ones(word)
                left -= 64
            after[row, column] = total


@njit(cache=True, nogil=True)
def free_members(
    people: Any, offsets: Any, peers: Any, bucket_of: Any, sizes: Any, counts: Any
) -> None:
    """counts[row, g]: how many of bucket g share nothing with the person."""
    for row in range(people.size):
        for g in range(sizes.size):
            counts[row, g] = sizes[g]
        counts[row, bucket_of[people[row]]] -= 1
        for c in range(offsets[row], offsets[row + 1]):
            counts[row, bucket_of[peers[c]]] -= 1


@njit(cache=True, nogil=True)
def _below(span: Any, words: Any, used: int) -> tuple[Any, int]:
    """A number below ``span`` < 2^32, exactly uniform, and how many words are used by now."""
    redraw = (np.uint64(1) << np.uint64(32)) % span
    while used < words.size:
        product = (words[used] >> np.uint64(32)) * span
        used += 1
        if (product & np.uint64(0xFFFFFFFF)) >= redraw:
            return np.int64(product >> np.uint64(32)), used
    return -1, used


@njit(cache=True, nogil=True)
def strangers(
    people: Any,
    wanted: Any,
    free: Any,
    members: Any,
    member_starts: Any,
    offsets: Any,
    peers: Any,
    met_offsets: Any,
    met: Any,
    stamps: Any,
    words: Any,
    chosen: Any,
) -> int:
    """For each person and bucket ``wanted`` distinct members neither among their peers nor met.

    Uniform among the ``free`` ones. Returns the words used, or -1 when there were too few.
    """
    filled, used = 0, 0
    listed = np.empty(members.size, dtype=np.int32)
    for row in range(people.size):
        if wanted[row].sum() == 0:
            continue
        stamp = stamps[-1] + 1
        stamps[-1] = stamp
        stamps[people[row]] = stamp
        for c in range(offsets[row], offsets[row + 1]):
            stamps[peers[c]] = stamp
        for c in range(met_offsets[row], met_offsets[row + 1]):
            stamps[met[c]] = stamp
        for g in range(wanted.shape[1]):
            first, last = member_starts[g], member_starts[g + 1]
            if wanted[row, g] == 0:
                continue
            if 2 * (free[row, g] - wanted[row, g]) >= last - first:
                for _ in range(wanted[row, g]):  # at least half of the members are free
                    while True:
                        at, used = _below(np.uint64(last - first), words, used)
                        if at < 0:
                            return -1
                        p = members[first + at]
                        if stamps[p] != stamp:
                            break
                    stamps[p] = stamp
                    chosen[filled] = p
                    filled += 1
                continue
            count = 0  # few are free: list them, then shuffle the front of the list
            for m in range(first, last):
                if stamps[members[m]] != stamp:
                    listed[count] = members[m]
                    count += 1
            for j in range(wanted[row, g]):
                at, used = _below(np.uint64(count - j), words, used)
                if at < 0:
                    return -1
                p = listed[j + at]
                listed[j + at] = listed[j]
                stamps[p] = stamp
                chosen[filled] = p
                filled += 1
    return used


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
def contenders(
    measure: int,
    people: Any,
    norms: Any,
    offsets: Any,
    peers: Any,
    units: Any,
    heads: Any,
    head_reach: Any,
    last: Any,
    kept_offsets: Any,
    kept: Any,
) -> int:
    """Which candidates could reach a score of ``last``, by the first bits of their noise."""
    filled = 0
    for row in range(people.size):
        own, least = norms[people[row]], last[row]
        for c in range(offsets[row], offsets[row + 1]):
            most = units[c] + head_reach[heads[c]]  # never negative
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
