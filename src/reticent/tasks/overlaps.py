"""Who has something in common with whom: weighted overlaps by blocks of people.

Notation  units = weighted overlap in 2**-20
Not here  noise (neighbours.py), the loops (kernels.py). What this computes is exact, so private.

Only pairs with a common item are looked at, over the inverted index, and no array grows with the
square of the number of people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reticent.data.profiles import Profiles
from reticent.tasks import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK_POSTINGS = 1 << 21
_BLOCK_PEOPLE = 512


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """Person ``people[row]`` shares items with ``peers[offsets[row]:offsets[row + 1]]``."""

    people: NDArray[np.int64]
    offsets: NDArray[np.int64]
    peers: NDArray[np.int32]
    units: NDArray[np.int64]


def overlap_blocks(profiles: Profiles, *, product: bool) -> Iterator[Overlaps]:
    """Everybody's overlaps, some people at a time, in order."""
    n = len(profiles)
    index = profiles.transposed()
    postings = np.diff(index[0])[profiles.indices]
    work = np.concatenate([[0], np.cumsum(postings)])[profiles.indptr]
    totals, stamps = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    low = 0
    while low < n:
        limit = int(np.searchsorted(work, work[low] + _BLOCK_POSTINGS, side="right")) - 1
        high = min(max(limit, low + 1), low + _BLOCK_PEOPLE, n)
        room = int(np.minimum(np.diff(work[low : high + 1]), n).sum())
        offsets = np.empty(high - low + 1, dtype=np.int64)
        peers, units = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
        filled = kernels.overlaps_of(
            low,
            high,
            profiles.indptr,
            profiles.indices,
            profiles.weights,
            *index,
            product,
            totals,
            stamps,
            offsets,
            peers,
            units,
        )
        yield Overlaps(np.arange(low, high), offsets, peers[:filled], units[:filled])
        low = high
