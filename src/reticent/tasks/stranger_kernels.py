"""Compiled loops over peers who share nothing: how many there are, whom to draw, how far to go.

Notation  g = bucket of peers of about the same norm, b = level: words that start with b zeros
Not here  why it is enough (docs/theory/neighbours.md), the order of it all (neighbours.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numba import njit

from reticent.tasks.kernels import score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]
    People: TypeAlias = NDArray[np.int32]  # their numbers
    Small: TypeAlias = NDArray[np.int8]
    Stamps: TypeAlias = NDArray[np.uint8]
    Words: TypeAlias = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def free_members(
    people: Whole,
    offsets: Whole,
    peers: People,
    bucket_of: Small,
    sizes: Whole,
    buckets: Small,
    counts: Whole,
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


@njit(nogil=True)
def _below(span: np.uint64, words: Words, used: int) -> tuple[int, int]:
    """A number below ``span`` < 2^32, exactly uniform, and how many words are used by now."""
    redraw = (np.uint64(1) << np.uint64(32)) % span
    while used < words.size:
        product = (words[used] >> np.uint64(32)) * span
        used += 1
        if (product & np.uint64(0xFFFFFFFF)) >= redraw:
            return int(np.int64(product >> np.uint64(32))), used
    return -1, used


@njit(nogil=True, inline="always")
def _mark_known(person: int, peers: People, met: People, stamps: Stamps) -> int:
    """Stamps the person, their peers and whom they met; the stamp. The last place has the last."""
    stamp = 1 + int(stamps[-1])
    if stamp > 255:  # bytes, for they fit a cache
        stamps[:] = 0
        stamp = 1
    stamps[-1] = stamp
    stamps[person] = stamp
    for c in range(peers.size):
        stamps[peers[c]] = stamp
    for c in range(met.size):
        stamps[met[c]] = stamp
    return stamp


@njit(nogil=True)
def _draw_until_new(
    members: People, stamps: Stamps, stamp: int, words: Words, used: int, chosen: People
) -> int:
    """Fills ``chosen`` with members not stamped; a stamped one is drawn anew. Words used, or -1."""
    for place in range(chosen.size):
        while True:
            at, used = _below(np.uint64(members.size), words, used)
            if at < 0:
                return -1
            if stamps[members[at]] != stamp:
                break
        stamps[members[at]] = stamp
        chosen[place] = members[at]
    return used


@njit(nogil=True)
def _draw_from_list(
    members: People,
    stamps: Stamps,
    stamp: int,
    listed: People,
    words: Words,
    used: int,
    chosen: People,
) -> int:
    """The same by a list of those not stamped, whose front is shuffled; words used, or -1."""
    count = 0
    for m in range(members.size):
        if stamps[members[m]] != stamp:
            listed[count] = members[m]
            count += 1
    for place in range(chosen.size):
        at, used = _below(np.uint64(count - place), words, used)
        if at < 0:
            return -1
        chosen[place] = listed[place + at]
        listed[place + at] = listed[place]
        stamps[chosen[place]] = stamp
    return used


@njit(cache=True, nogil=True)
def strangers(
    people: Whole,
    wanted: Whole,
    free: Whole,
    members: People,
    member_starts: Whole,
    offsets: Whole,
    peers: People,
    met_offsets: Whole,
    met: People,
    stamps: Stamps,
    words: Words,
    chosen: People,
) -> int:
    """For each person and bucket ``wanted`` distinct members neither among their peers nor met.

    Uniform among the ``free`` ones. Returns the words used, or -1 when there were too few.
    """
    filled, used = 0, int(np.int64(0))  # a literal would make callees compile for it, too
    listed = np.empty(members.size, dtype=np.int32)
    for row in range(people.size):
        if wanted[row].sum() == 0:
            continue
        own = peers[offsets[row] : offsets[row + 1]]
        stamp = _mark_known(people[row], own, met[met_offsets[row] : met_offsets[row + 1]], stamps)
        for g in range(wanted.shape[1]):
            count = wanted[row, g]
            if count == 0:
                continue
            bucket = members[member_starts[g] : member_starts[g + 1]]
            places = chosen[filled : filled + count]
            if 2 * (free[row, g] - count) >= bucket.size:  # at least half of the members are free
                used = _draw_until_new(bucket, stamps, stamp, words, used, places)
            else:
                used = _draw_from_list(bucket, stamps, stamp, listed, words, used, places)
            if used < 0:
                return -1
            filled += count
    return used


@njit(cache=True, nogil=True)
def open_levels(
    measure: int,
    reach: Reals,
    own: Reals,
    least_norm: Reals,
    last: Reals,
    counts: Whole,
    level: Whole,
    enough: int,
    opened: Whole,
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
def zeros_of(counts: Whole, before: Whole, opened: Whole, anew: bool, zeros: Words) -> None:
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
