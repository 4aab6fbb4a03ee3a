"""Compiled loops of gossip: views, exchanges, the record of who met whom.

Theory    docs/theory/clustering.md, "Algorithm"
Notation  u = the person whose turn it is, q = the partner, met = open hash table of pairs
          (smaller number * n + larger number; -1 is an empty slot), -1 = no entry of a view
Not here  noise, budgets and guarantees (clustering.py), the authors' own protocol
          (paper_gossip_kernels.py).

Which peers are shuffled is drawn by splitmix64 from a seed of the release's source. That choice
protects nobody and need not be secret; the noise of comparisons comes from outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from reticent.tasks.kernels import joint


@njit(cache=True, nogil=True)
def _mix(word: Any) -> Any:
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def below(span: Any, state: Any) -> Any:
    """A number below ``span`` < 2^32, from splitmix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = _mix(state[0]) >> np.uint64(32)
    return np.int64((word * np.uint64(span)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def shuffled(n: Any, state: Any) -> Any:
    """The numbers below n in random order."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = below(i + 1, state)
        order[i], order[j] = order[j], order[i]
    return order


@njit(cache=True, nogil=True)
def random_peers(peers: Any, state: Any) -> None:
    """Fill each row with distinct others, uniformly; -1 pads when there are too few."""
    n, width = peers.shape
    for u in range(n):
        taken = min(width, n - 1)
        for j in range(n - 1 - taken, n - 1):  # Floyd: a uniform subset of the others
            pick = below(j + 1, state)
            at = j - (n - 1 - taken)
            peer = pick + (pick >= u)
            for i in range(at):
                if peers[u, i] == peer:
                    peer = j + (j >= u)
                    break
            peers[u, at] = peer


# --- the record of pairs ------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def slot_of(met: Any, key: Any) -> Any:
    """Where ``key`` is, or the empty slot where it belongs; the size is a power of two."""
    mask = met.size - 1
    slot = np.int64(_mix(np.uint64(key)) & np.uint64(mask))
    while met[slot] != -1 and met[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def moved(met: Any, scores: Any, size: int) -> tuple[Any, Any]:
    """The same record in a table of ``size`` slots."""
    larger, larger_scores = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=scores.dtype)
    for s in range(met.size):
        if met[s] >= 0:
            slot = slot_of(larger, met[s])
            larger[slot] = met[s]
            larger_scores[slot] = scores[s]
    return larger, larger_scores


@njit(cache=True, nogil=True)
def add_spent(
    first: Any, second: Any, indptr: Any, indices: Any, weights: Any, product: bool, sums: Any
) -> None:
    """Add each common item's joint weight to both owners' entries, for given pairs."""
    for j in range(first.size):
        a, a_end = indptr[first[j]], indptr[first[j] + 1]
        b, b_end = indptr[second[j]], indptr[second[j] + 1]
        while a < a_end and b < b_end:
            if indices[a] < indices[b]:
                a += 1
            elif indices[a] > indices[b]:
                b += 1
            else:
                own, other = np.int64(weights[a]), np.int64(weights[b])
                term = joint(own, other, product)
                sums[a] += term
                sums[b] += term
                a += 1
                b += 1


# --- views --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def find(view: Any, peer: int) -> int:
    """Place of ``peer`` in a view, or -1."""
    for j in range(view.size):
        if view[j] == peer:
            return j
    return -1


@njit(cache=True, nogil=True)
def oldest(view: Any, ages: Any) -> int:
    """Place of the entry with the largest age, -1 when the view is empty."""
    best = -1
    for j in range(view.size):
        if view[j] >= 0 and (best < 0 or ages[j] > ages[best]):
            best = j
    return best


@njit(cache=True, nogil=True)
def _sample(view: Any, skipped: int, wanted: int, places: Any, state: Any) -> int:
    """Up to ``wanted`` places of entries other than ``skipped``, in random order."""
    count = 0
    for j in range(view.size):
        if view[j] >= 0 and view[j] != skipped:
            places[count] = j
            count += 1
    taken = min(wanted, count)
    for i in range(taken):
        j = i + below(count - i, state)
        places[i], places[j] = places[j], places[i]
    return taken


@njit(cache=True, nogil=True)
def _receive(
    owner: int,
    view: Any,
    ages: Any,
    given: Any,
    given_ages: Any,
    count: int,
    sent: Any,
    sent_count: int,
    older: bool,
) -> None:
    """Take entries in: empty places first, then those of entries that were sent."""
    dropped = 0
    for i in range(count):
        peer = given[i]
        if peer == owner:
            continue
        at = find(view, peer)
        if at >= 0:
            ages[at] = max(ages[at], given_ages[i]) if older else min(ages[at], given_ages[i])
            continue
        at = find(view, -1)
        while at < 0 and dropped < sent_count:
            at = find(view, sent[dropped])
            dropped += 1
        if at < 0:
            return
        view[at], ages[at] = peer, given_ages[i]


@njit(cache=True, nogil=True)
def shuffle_turn(
    u: int, views: Any, ages: Any, exchange: int, older: bool, places: Any, state: Any
) -> None:
    """One Cyclon exchange of u with its oldest entry; ``older``: duplicates keep the larger age."""
    for j in range(views.shape[1]):
        ages[u, j] += 1
    at = oldest(views[u], ages[u])
    if at < 0:
        return
    q = views[u, at]
    size = exchange + 1
    sent, answered = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    push, pull = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    push_ages, pull_ages = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int32)
    sent[0], push[0], pull[0] = q, u, q
    taken = _sample(views[u], q, exchange, places, state)
    for i in range(taken):
        sent[i + 1] = push[i + 1] = views[u, places[i]]
        push_ages[i + 1] = ages[u, places[i]]
    given = _sample(views[q], u, exchange, places, state)
    for i in range(given):
        answered[i] = pull[i + 1] = views[q, places[i]]
        pull_ages[i + 1] = ages[q, places[i]]
    if not older:  # Cyclon: the partner's place is given up, its answer is not its own entry
        views[u, at] = -1
        _receive(u, views[u], ages[u], pull[1:], pull_ages[1:], given, sent[1:], taken, older)
    else:
        _receive(u, views[u], ages[u], pull, pull_ages, given + 1, sent, taken + 1, older)
    _receive(q, views[q], ages[q], push, push_ages, taken + 1, answered, given, older)


@njit(cache=True, nogil=True)
def shuffle_round(views: Any, ages: Any, exchange: int, state: Any) -> None:
    """One Cyclon exchange for everybody, in random order."""
    places = np.empty(views.shape[1], dtype=np.int64)
    for u in shuffled(views.shape[0], state):
        shuffle_turn(u, views, ages, exchange, False, places, state)


# --- the corrected protocol ---------------------------------------------------------------------


@njit(cache=True, nogil=True)
def choose_partners(
    best: Any, best_ages: Any, views: Any, partners: Any, callers: Any, state: Any
) -> None:
    """Each person's oldest semantic peer, and of those who call somebody the one listened to."""
    n = best.shape[0]
    callers[:] = -1
    for u in shuffled(n, state):
        for j in range(best.shape[1]):
            best_ages[u, j] += 1
        at = oldest(best[u], best_ages[u])
        if at >= 0:
            partners[u] = best[u, at]
            best_ages[u, at] = 0
        else:
            filled = 0
            for j in range(views.shape[1]):
                filled += views[u, j] >= 0
            partners[u] = -1
            if filled:
                pick = below(filled, state)
                for j in range(views.shape[1]):
                    if views[u, j] >= 0:
                        if pick == 0:
                            partners[u] = views[u, j]
                            break
                        pick -= 1
        if partners[u] >= 0 and callers[partners[u]] < 0:
            callers[partners[u]] = u


@njit(cache=True, nogil=True)
def _ask(
    u: int,
    peer: int,
    n: int,
    met: Any,
    contacts: Any,
    allowance: int,
    first: Any,
    second: Any,
    count: int,
) -> int:
    """Put the pair down for comparison unless it is known or either end is at its allowance."""
    if peer < 0 or peer == u or contacts[u] >= allowance or contacts[peer] >= allowance:
        return count
    low, high = min(u, peer), max(u, peer)
    slot = slot_of(met, np.int64(low) * n + high)
    if met[slot] >= 0:
        return count
    met[slot] = np.int64(low) * n + high
    contacts[u] += 1
    contacts[peer] += 1
    first[count], second[count] = low, high
    return count + 1


@njit(cache=True, nogil=True)
def new_pairs(
    best: Any,
    views: Any,
    partners: Any,
    callers: Any,
    exchange: int,
    met: Any,
    contacts: Any,
    allowance: int,
    random_first: bool,
    first: Any,
    second: Any,
    state: Any,
) -> int:
    """The comparisons of one round that were not made before; marks them met, counts both ends.

    A message is the sender and its own best peers: their scores are known, so choosing them costs
    nothing. Its receiver asks for those it does not know, and for its random view.
    """
    n, count = best.shape[0], 0
    for u in shuffled(n, state):
        for part in range(2):
            if (part == 0) == random_first:
                for j in range(views.shape[1]):
                    count = _ask(u, views[u, j], n, met, contacts, allowance, first, second, count)
                continue
            for sender in (partners[u], callers[u]):
                if sender < 0:
                    continue
                count = _ask(u, sender, n, met, contacts, allowance, first, second, count)
                for j in range(min(exchange - 1, best.shape[1])):
                    count = _ask(
                        u, best[sender, j], n, met, contacts, allowance, first, second, count
                    )
    return count


@njit(cache=True, nogil=True)
def offer(
    first: Any, second: Any, scores: Any, best: Any, best_scores: Any, best_ages: Any
) -> None:
    """Show every new score to both ends, who keep the k largest of all they ever saw."""
    for j in range(first.size):
        insert(second[j], scores[j], 0, best[first[j]], best_scores[first[j]], best_ages[first[j]])
        insert(
            first[j], scores[j], 0, best[second[j]], best_scores[second[j]], best_ages[second[j]]
        )


@njit(cache=True, nogil=True)
def insert(peer: int, score: float, age: int, best: Any, scores: Any, ages: Any) -> None:
    """Put a peer into a semantic view, highest score first."""
    j = best.size - 1
    if score <= scores[j]:
        return
    while j > 0 and scores[j - 1] < score:
        best[j], scores[j], ages[j] = best[j - 1], scores[j - 1], ages[j - 1]
        j -= 1
    best[j], scores[j], ages[j] = peer, score, age
