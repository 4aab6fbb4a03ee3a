"""Compiled loops of the authors' gossip protocol, flaws included.

Theory    docs/theory/clustering.md, "Algorithm"; [AlagganEtAl2016]
Notation  as in gossip_kernels.py
Not here  the corrected protocol and what both share (gossip_kernels.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from reticent.data.profiles import FULL_WEIGHT
from reticent.tasks.gossip_kernels import below, find, insert, oldest, shuffle_turn, slot_of
from reticent.tasks.kernels import overlap

_ONE = float(FULL_WEIGHT)


@njit(cache=True, nogil=True)
def bootstrap(views: Any, ages: Any, state: Any) -> None:
    """Join in file order; each newcomer meets up to ``view`` of those already there."""
    n, width = views.shape
    joined = np.arange(n)
    for u in range(1, n):
        for i in range(min(width, u)):
            j = i + below(u - i, state)
            joined[i], joined[j] = joined[j], joined[i]
            b = joined[i]
            at = find(views[b], -1)
            gained = b
            if at < 0:
                at = below(width, state)
                gained = views[b, at]
            views[b, at], ages[b, at] = u, 0
            free = find(views[u], -1)
            if gained != u and free >= 0 and find(views[u], gained) < 0:
                views[u, free], ages[u, free] = gained, 0


@njit(cache=True, nogil=True)
def _paper_score(
    u: int, peer: int, table: Any, profile: Any, norms: Any, noise: Any, used: Any, contacts: Any
) -> Any:
    """(noisy overlap)^2 / (|X| |Y|), drawn when the pair first meets and remembered."""
    met, scores = table
    n = norms.size
    low, high = min(u, peer), max(u, peer)
    slot = slot_of(met, np.int64(low) * n + high)
    if met[slot] >= 0:
        return scores[slot]
    indptr, indices, weights, product = profile
    total = overlap(low, high, indptr, indices, weights, product)
    noisy = (total + noise[used[0]]) / _ONE
    used[0] += 1
    contacts[low] += 1
    contacts[high] += 1
    met[slot] = np.int64(low) * n + high
    scores[slot] = noisy * noisy / (norms[low] * norms[high])
    return scores[slot]


@njit(cache=True, nogil=True)
def _gather(owner: int, view: Any, view_ages: Any, peers: Any, ages: Any, count: int) -> int:
    """Append a view's entries other than the owner; duplicates keep the larger age."""
    for j in range(view.size):
        if view[j] < 0 or view[j] == owner:
            continue
        at = find(peers[:count], view[j])
        if at >= 0:
            ages[at] = max(ages[at], view_ages[j])
        else:
            peers[count], ages[count] = view[j], view_ages[j]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _candidates(
    owner: int, state: Any, message: Any, message_ages: Any, comparison: Any, kept: int
) -> tuple[Any, Any, Any]:
    """The ``kept`` best of semantic view, random view and message, with scores and ages."""
    best, best_ages, views, ages = state
    table, profile, norms, noise, used, contacts = comparison
    room = best.shape[1] + views.shape[1] + message.size
    peers, peer_ages = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    count = _gather(owner, best[owner], best_ages[owner], peers, peer_ages, 0)
    count = _gather(owner, views[owner], ages[owner], peers, peer_ages, count)
    count = _gather(owner, message, message_ages, peers, peer_ages, count)
    chosen, chosen_ages = np.full(kept, -1, dtype=np.int32), np.zeros(kept, dtype=np.int32)
    scores = np.full(kept, -np.inf)
    for i in range(count):
        value = _paper_score(owner, peers[i], table, profile, norms, noise, used, contacts)
        insert(peers[i], value, peer_ages[i], chosen, scores, chosen_ages)
    return chosen, chosen_ages, scores


@njit(cache=True, nogil=True)
def _semantic_turn(u: int, exchange: int, state: Any, best_scores: Any, comparison: Any) -> None:
    """One Vicinity exchange of u with its oldest semantic peer, push and pull."""
    best, best_ages, views, ages = state
    for j in range(best.shape[1]):
        best_ages[u, j] += 1
    at = oldest(best[u], best_ages[u])
    if at >= 0:
        q = best[u, at]
        best_ages[u, at] = 0
    else:
        at = oldest(views[u], ages[u])
        if at < 0:
            return
        q = views[u, at]
    nothing = np.empty(0, dtype=np.int32)
    push, push_ages, _ = _candidates(u, state, nothing, nothing, comparison, exchange)
    pull, pull_ages, _ = _candidates(q, state, nothing, nothing, comparison, exchange)
    k = best.shape[1]
    best[u], best_ages[u], best_scores[u] = _candidates(u, state, pull, pull_ages, comparison, k)
    best[q], best_ages[q], best_scores[q] = _candidates(q, state, push, push_ages, comparison, k)


@njit(cache=True, nogil=True)
def most_new_pairs(k: int, view: int, exchange: int) -> int:
    """How many pairs one turn can compare at most: both ends look at all their candidates."""
    return 2 * (k + view + exchange)


@njit(cache=True, nogil=True)
def paper_round(
    start: int,
    exchange: int,
    views: Any,
    ages: Any,
    best: Any,
    best_ages: Any,
    best_scores: Any,
    met: Any,
    scores: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    product: bool,
    norms: Any,
    noise: Any,
    contacts: Any,
    random: Any,
) -> tuple[int, int]:
    """Turns of ``start`` and those after it, in file order, until ``noise`` may be short.

    Returns who is next and how many draws of noise were used.
    """
    n = best.shape[0]
    used = np.zeros(1, dtype=np.int64)
    places = np.empty(views.shape[1], dtype=np.int64)
    state = (best, best_ages, views, ages)
    table, profile = (met, scores), (indptr, indices, weights, product)
    comparison = (table, profile, norms, noise, used, contacts)
    worst = most_new_pairs(best.shape[1], views.shape[1], exchange)
    for u in range(start, n):
        if used[0] + worst > noise.size:
            return u, used[0]
        shuffle_turn(u, views, ages, exchange, True, places, random)
        _semantic_turn(u, exchange, state, best_scores, comparison)
    return n, used[0]
