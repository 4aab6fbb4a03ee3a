"""Compiled loops of centrality: the ties among the neighbours of a node, and what they share.

Notation  c = ego, d = its degree, 0..d-1 = places of its neighbours; nodes are numbered by rising
          degree, so ``splits[v]`` is where the neighbours of v above v begin; a tie = an edge
          between two neighbours of c; b = ties of one neighbour; k = neighbours of c tied to both
          of a pair
Not here  numbering, threads, exactness (centrality.py).

A pair of neighbours counts 1 / (1 + k) unless it is tied. Only pairs that share someone are looked
at: all others count 1. Three shortcuts:

* ties are found upwards only: the neighbours above a node number at most sqrt(2 m);
* who has one tie only, to w, shares w alone with everyone else tied to w, so k = 1 for all of these
  pairs at once; what remains is the core;
* in a dense core, rows of ties are sets of bits, and k is the size of an intersection.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from reticent.tasks.kernels import ones

MOST_WORDS = 1 << 23  # 64 MB for sets of bits
_LANES = 4  # tallies side by side, so that one pair need not wait for the one before it
_PAIR, _WORD, _WEDGE = 4, 2, 3  # relative costs, measured; a wrong one costs time only


@njit(cache=True, nogil=True, error_model="numpy")
def renumber(indptr: Any, neighbours: Any, order: Any, ranks: Any, starts: Any, ends: Any) -> Any:
    """Rows of the graph with node ``order[i]`` called i, each sorted; ``ends`` begins as starts."""
    rows = np.empty(neighbours.size, np.int32)
    for i in range(order.size):
        old = order[i]
        for e in range(indptr[old], indptr[old + 1]):
            other = ranks[neighbours[e]]
            rows[ends[other]] = i
            ends[other] += 1
    splits = np.empty(order.size, np.int64)
    for i in range(order.size):
        at = starts[i]
        while at < starts[i + 1] and rows[at] < i:
            at += 1
        splits[i] = at
    return rows, splits


@njit(cache=True, nogil=True, error_model="numpy")
def scan_lengths(starts: Any, splits: Any, rows: Any) -> Any:
    """How many entries are read to find the ties of each ego; no fewer than its ties."""
    lengths = np.zeros(splits.size, np.int64)
    for c in range(splits.size):
        for e in range(starts[c], starts[c + 1]):
            lengths[c] += starts[rows[e] + 1] - splits[rows[e]]
    return lengths


@njit(cache=True, nogil=True, error_model="numpy")
def find_ties(c: int, starts: Any, splits: Any, rows: Any, places: Any, low: Any, high: Any) -> Any:
    """Ties among the neighbours of c, as pairs of places with low < high, in this order.

    ``places`` is all 0 before and after.
    """
    first, last = starts[c], starts[c + 1]
    for e in range(first, last):
        places[np.uint32(rows[e])] = e - first + 1
    found = np.uint64(0)
    for e in range(first, last):
        a = rows[e]
        for f in range(splits[a], starts[a + 1]):
            place = places[np.uint32(rows[f])]
            low[found] = e - first
            high[found] = place - 1
            found += np.uint64(place > 0)
    for e in range(first, last):
        places[np.uint32(rows[e])] = 0
    return np.int64(found)


@njit(cache=True, nogil=True, error_model="numpy")
def count_ties(
    egos: Any, starts: Any, splits: Any, rows: Any, places: Any, low: Any, high: Any, values: Any
) -> None:
    """Triangles through each ego: the ties among its neighbours."""
    for c in egos:
        values[c] = find_ties(c, starts, splits, rows, places, low, high)


@njit(cache=True, nogil=True, error_model="numpy")
def betweenness(
    egos: Any, starts: Any, splits: Any, rows: Any, places: Any, low: Any, high: Any, values: Any
) -> None:
    """Egocentric betweenness of each ego."""
    most = 0
    for c in egos:
        most = max(most, starts[c + 1] - starts[c])
    tied, alone = np.zeros(most + 1, np.int32), np.zeros(most + 1, np.int32)
    numbers, counts = np.zeros(most + 1, np.int32), np.zeros(most + 1, np.int32)
    touched = np.zeros(most + 1, np.int32)
    begins, ends = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    shared = np.zeros(_LANES * (most + 2), np.int64)
    peers, sets = np.empty(0, np.int32), np.zeros(0, np.uint64)
    for c in egos:
        d = starts[c + 1] - starts[c]
        pairs = d * (d - 1) // 2
        ties = find_ties(c, starts, splits, rows, places, low, high) if d > 1 else 0
        values[c] = pairs - ties
        if ties == pairs or ties < 2:
            continue
        if 2 * ties > peers.size:
            peers = np.empty(4 * ties, np.int32)
        shared[_LANES] = count_single(d, ties, low, high, tied, alone)
        core = keep_core(d, ties, low, high, tied, numbers, begins, ends, peers)
        words = (core + 63) >> 6
        if is_dense(core, begins):
            if core * words > sets.size:
                sets = np.zeros(core * words, np.uint64)
            share_in_sets(core, words, begins, peers, sets, shared)
        else:
            share_by_wedges(core, begins, peers, ends, counts, touched, shared)
        values[c] = summed(pairs - ties, max(core, 2), shared)


@njit(cache=True, nogil=True, error_model="numpy")
def summed(untied: int, most: int, shared: Any) -> float:
    """Sum of 1 / (1 + k) over pairs, of which ``shared`` tallies those of k > 0; leaves it at 0.

    Counts are whole numbers, so the sum does not depend on the order in which pairs are met.
    """
    total = 0.0
    for k in range(most - 1, 0, -1):
        pairs = shared[_LANES * k : _LANES * (k + 1)].sum()
        untied -= pairs
        total += pairs / (1.0 + k)
    shared[: _LANES * most] = 0
    return untied + total


@njit(cache=True, nogil=True, error_model="numpy")
def is_dense(core: int, begins: Any) -> bool:
    """Whether sets of bits are quicker than walking all paths of two ties."""
    words = (core + 63) >> 6
    if core * words > MOST_WORDS:
        return False
    wedges = 0
    for i in range(core):
        ties = begins[i + 1] - begins[i]
        wedges += ties * (ties - 1) // 2
    return core * (core - 1) // 2 * (_PAIR + _WORD * words) < _WEDGE * wedges


@njit(cache=True, nogil=True, error_model="numpy")
def count_single(d: int, ties: int, low: Any, high: Any, tied: Any, alone: Any) -> int:
    """How many pairs hold somebody of one tie and share its end; counts the ties of each place."""
    tied[:d] = 0
    alone[:d] = 0
    for t in range(ties):
        tied[np.uint32(low[t])] += 1
        tied[np.uint32(high[t])] += 1
    for t in range(ties):
        a, b = np.uint32(low[t]), np.uint32(high[t])
        alone[b] += tied[a] == 1
        alone[a] += tied[b] == 1
    pairs = 0
    for w in range(d):
        ends = np.int64(alone[w])
        pairs += ends * (ends - 1) // 2 + ends * (tied[w] - ends)
    return pairs


@njit(cache=True, nogil=True, error_model="numpy")
def keep_core(
    d: int,
    ties: int,
    low: Any,
    high: Any,
    tied: Any,
    numbers: Any,
    begins: Any,
    ends: Any,
    peers: Any,
) -> int:
    """Rows of ties among those of two ties or more, who are numbered anew; each row is sorted."""
    core = 0
    for w in range(d):
        numbers[w] = core
        core += tied[w] > 1
    ends[: core + 1] = 0
    kept = 0
    for t in range(ties):
        a, b = np.uint32(low[t]), np.uint32(high[t])
        low[kept], high[kept] = numbers[a], numbers[b]
        if tied[a] > 1 and tied[b] > 1:
            ends[np.uint32(numbers[a])] += 1
            ends[np.uint32(numbers[b])] += 1
            kept += 1
    at = 0
    for w in range(core):
        begins[w] = at
        at += ends[w]
        ends[w] = begins[w]
    begins[core] = at
    for t in range(kept):  # low rises, and so does high for each low: rows come out sorted
        a, b = np.uint32(low[t]), np.uint32(high[t])
        peers[ends[a]] = b
        peers[ends[b]] = a
        ends[a] += 1
        ends[b] += 1
    return core


@njit(cache=True, nogil=True, error_model="numpy")
def share_by_wedges(
    core: int, begins: Any, peers: Any, ends: Any, counts: Any, touched: Any, shared: Any
) -> None:
    """Count pairs that are not tied by their k: every path of two ties is walked once."""
    for u in range(core):  # how far each row has been passed: it goes on above u
        ends[u] = begins[u]
    for u in range(core):
        found = np.uint64(0)
        for e in range(begins[u], begins[u + 1]):
            w = np.uint32(peers[e])
            ends[w] += 1  # u itself, the smallest that is left
            for f in range(ends[w], begins[w + 1]):
                v = np.uint32(peers[f])
                k = counts[v]
                touched[found] = v
                counts[v] = k + 1
                found += np.uint64(k == 0)
        for e in range(begins[u], begins[u + 1]):
            counts[np.uint32(peers[e])] = 0
        for j in range(found):
            v = np.uint32(touched[j])
            shared[np.uint64(_LANES * counts[v]) + j % np.uint64(_LANES)] += 1
            counts[v] = 0


@njit(cache=True, nogil=True, error_model="numpy")
def share_in_sets(core: int, words: int, begins: Any, peers: Any, sets: Any, shared: Any) -> None:
    """The same over sets of bits; ``sets`` is all 0 before and after."""
    for u in range(core):
        for e in range(begins[u], begins[u + 1]):
            sets[u * words + (peers[e] >> 6)] |= np.uint64(1) << np.uint64(peers[e] & 63)
    for u in range(core):
        own = sets[u * words : (u + 1) * words]
        for v in range(u + 1, core):
            if (own[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
                continue
            k = 0
            for word in range(words):
                k += ones(own[word] & sets[v * words + word])
            shared[_LANES * k + v % _LANES] += 1
    sets[: core * words] = 0
