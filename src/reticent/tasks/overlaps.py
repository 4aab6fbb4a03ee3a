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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Overlaps:
    """Person ``people[row]`` shares items with ``peers[offsets[row]:offsets[row + 1]]``."""

    people: NDArray[np.int64]
    offsets: NDArray[np.int64]
    peers: NDArray[np.int32]
    units: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeerIndex:
    """The inverted index of some people, and how many of its entries each person leads to."""

    profiles: Profiles
    product: bool
    starts: NDArray[np.int64]
    owners: NDArray[np.int32]
    weights: NDArray[np.int32]
    work: NDArray[np.int64]  # of all people before each

    @classmethod
    def of(cls, profiles: Profiles, peers: range, *, product: bool) -> PeerIndex:
        """Over the items of ``peers``, who are numbers of people."""
        some = profiles
        if peers != range(len(profiles)):
            some = profiles.between(peers.start, peers.stop)
        starts, owners, weights = some.transposed()
        if peers.start:
            owners = owners + np.int32(peers.start)
        work = np.zeros(len(profiles) + 1, dtype=np.int64)
        kernels.postings_before(profiles.indptr, profiles.indices, starts, work)
        return cls(profiles, product, starts, owners, weights, work)

    def workspace(self) -> NDArray[np.int32]:
        """For one thread: where each peer was last seen."""
        return np.zeros(len(self.profiles), dtype=np.int32)

    def blocks(self, rows: range, place: NDArray[np.int32]) -> Iterator[Overlaps]:
        """The overlaps of some people in order, as many at a time as memory is set aside for."""
        low, work, most = rows.start, self.work, len(self.profiles)
        while low < rows.stop:
            limit = int(np.searchsorted(work, work[low] + _BLOCK_POSTINGS, side="right")) - 1
            high = min(max(limit, low + 1), low + _BLOCK_PEOPLE, rows.stop)
            room = int(np.minimum(np.diff(work[low : high + 1]), most).sum())
            offsets = np.empty(high - low + 1, dtype=np.int64)
            peers, units = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
            filled = kernels.overlaps_of(
                low,
                high,
                self.profiles.indptr,
                self.profiles.indices,
                self.profiles.weights,
                self.starts,
                self.owners,
                self.weights,
                self.product,
                place,
                offsets,
                peers,
                units,
            )
            yield Overlaps(np.arange(low, high), offsets, peers[:filled], units[:filled])
            low = high


def overlap_blocks(profiles: Profiles, *, product: bool) -> Iterator[Overlaps]:
    """Everybody's overlaps with everybody, some people at a time, in order."""
    everybody = range(len(profiles))
    index = PeerIndex.of(profiles, everybody, product=product)
    yield from index.blocks(everybody, index.workspace())


def join_lists(
    known: tuple[NDArray[np.int64], NDArray[np.int32]],
    found: tuple[NDArray[np.int64], NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Two ragged lists of peers by person as one."""
    rows = np.concatenate([np.arange(len(o) - 1).repeat(np.diff(o)) for o, _ in (known, found)])
    peers = np.concatenate([known[1], found[1]])
    return known[0] + found[0], peers[np.argsort(rows, kind="stable")]
