"""Compiled loops over peers who share nothing: how many there are, whom to draw, how far to go.

Notation  g = bucket of peers of about the same norm, b = level: words that start with b zeros
Not here  why it is enough (docs/theory/neighbours.md), the order of it all (neighbours.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from reticent.tasks.kernels import score


@njit(cache=True, nogil=True)
def free_members(
    people: Any, offsets: Any, peers: Any, bucket_of: Any, sizes: Any, buckets: Any, counts: Any
) -> None:
    """The bucket of each peer, and counts[row, g]: how many of g share nothing with the person."""
    for row in range(people.size):
        for g in range(sizes.size):
            counts[row, g] = sizes[g]
        own = bucket_of[people[row]]
        if own >= 0:  # -1 is in no bucket
            counts[row, own] -= 1
        for c in range(offsets[row], offsets[row + 1]):
            g = bucket_of[peers[c]]
            buckets[c] = g
            counts[row, g] -= 1


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
        stamp = 1 + int(stamps[-1])
        if stamp > 255:  # bytes, for they fit a cache
            stamps[:] = 0
            stamp = 1
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
def open_levels(
    measure: int,
    reach: Any,
    own: Any,
    least_norm: Any,
    last: Any,
    counts: Any,
    level: Any,
    enough: int,
    opened: Any,
) -> None:
    """The level down to which each bucket must be drawn for a score of ``last`` to be final.

    One level, and further ones as long as these bring no more than ``enough`` strangers.
    """
    for row in range(level.shape[0]):
        for g in range(level.shape[1]):
            b = at = level[row, g]
            while b > 0 and (b == at or counts[b - 1, row, g] - counts[at, row, g] <= enough):
                most = score(measure, reach[b], own[row], least_norm[g])
                if most * (1 + 2.0**-40) < last[row]:
                    break
                b -= 1
            opened[row, g] = b


@njit(cache=True, nogil=True)
def zeros_of(counts: Any, before: Any, opened: Any, anew: bool, zeros: Any) -> None:
    """How many zeros the word of each new stranger starts with, person by person.

    ``anew``, everyone of the first level; otherwise level by level those not in the next one.
    """
    filled = 0
    for row in range(opened.shape[0]):
        for g in range(opened.shape[1]):
            top = before[row, g]
            if anew:
                for _ in range(counts[top, row, g]):
                    zeros[filled] = top
                    filled += 1
            for b in range(opened[row, g], top):
                for _ in range(counts[b, row, g] - counts[b + 1, row, g]):
                    zeros[filled] = b
                    filled += 1
