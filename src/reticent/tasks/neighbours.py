"""Private nearest neighbours without gossip: noise for everyone, drawn only where it can matter.

Theory    docs/theory/neighbours.md, Theorem 1 (law), Theorem 2 (loss), Theorem 3 (blocks)
Notation  n = people, k = neighbours, t = noise scale in units, b = level: a word starting with b
          zero bits, so U < 2^-b
Not here  one pair and what a similarity promises (similarity.py), groups of peers and bounds on
          their noise (crowds.py), the loops (kernels.py).

Noise is owed to every peer, also to strangers with nothing in common, or "no noise" would say so.
Of the strangers only the few largest draws can reach the list. How many of N words start with b
zero bits is b rounds of counting fair bits; which strangers they belong to is a uniform choice; the
rest of each word is fresh. Friends, who have something in common, get 8 bits each, and the rest of
their word only if those let them reach the list. Unless the list's last score beats every word
not looked at, the next level is opened, down to all. The law is that of n draws for everyone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.data.profiles import Profiles
from reticent.errors import require
from reticent.noise import Source
from reticent.noise.counting import count_heads
from reticent.noise.laplace import laplace_of_words
from reticent.rational import whole
from reticent.tasks import kernels, stranger_kernels
from reticent.tasks.crowds import Buckets, head_reach, largest_noise
from reticent.tasks.overlaps import Overlaps, PeerIndex, join_lists
from reticent.tasks.threads import in_turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lists: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float64]]
    Space: TypeAlias = tuple[NDArray[np.int32], NDArray[np.uint8]]

BLOCK_ROWS = 512  # people whose lists come from one source of their own
_PER_PLACE = 2.0  # strangers to begin with, for each place of the list; at most about twice


def nearest(
    profiles: Profiles,
    k: int,
    *,
    measure: int,
    product: bool,
    norms: NDArray[np.float64],
    scale: Fraction,
    source: Source,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Lists:
    """For each person the k peers with the highest noisy similarity, and the scores; -1 pads."""
    everybody = range(len(profiles))
    return nearest_between(
        profiles,
        k,
        rows=everybody,
        peers=everybody,
        measure=measure,
        product=product,
        norms=norms,
        scale=scale,
        source=source,
        threads=threads,
        progress=progress,
    )


def nearest_between(
    profiles: Profiles,
    k: int,
    *,
    rows: range,
    peers: range,
    measure: int,
    product: bool,
    norms: NDArray[np.float64],
    scale: Fraction,
    source: Source,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Lists:
    """For each person in ``rows`` the k best of ``peers``: a part for ``merge_nearest``. Theorem 3.

    Norms are those of everybody. Each ``BLOCK_ROWS`` people, counted from person 0, draw from a
    child of ``source`` that is named after them and the peers. So with a seeded source, and rows
    that begin and end where such blocks do, lists do not depend on who makes which, and a second
    call draws the same: give each release a child of its own.
    """
    for name, some in (("rows", rows), ("peers", peers)):
        inside = some.step == 1 and 0 <= some.start <= some.stop <= len(profiles)
        require(inside, name, some, f"a range of step 1 inside range(0, {len(profiles)})")
    best = np.full((len(rows), k), -1, dtype=np.int32)
    scores = np.full((len(rows), k), -np.inf)
    if not rows or not peers:
        return best, scores
    crowd = _Crowd.of(profiles, peers, k, measure, product, norms, scale)

    def fill(part: range, space: Space) -> None:
        own = slice(part.start - rows.start, part.stop - rows.start)
        named = source.child(f"rows {part.start} peers {peers.start} {peers.stop}")
        search = _Search(crowd, named, space[1])
        for block in crowd.index.blocks(part, space[0]):
            places = slice(block.people[0] - part.start, block.people[-1] + 1 - part.start)
            search.run(block, best[own][places], scores[own][places])

    for part in in_turn(fill, _parts(rows), crowd.workspace, threads=threads):
        if progress is not None:
            progress(part.stop - rows.start, len(rows))
    return best, scores


def merge_nearest(parts: Sequence[Lists], k: int) -> Lists:
    """The k best of several lists for the same people, of peers apart. Theorem 3.

    Equal scores go by number of the peer, so the order of the parts does not matter. A part must
    have k places: of fewer the k best of all may be missing.

    >>> one = np.array([[3, 1]], dtype=np.int32), np.array([[5.0, 2.0]])
    >>> other = np.array([[0, -1]], dtype=np.int32), np.array([[5.0, -np.inf]])
    >>> merge_nearest([one, other], 2)[0].tolist()
    [[0, 3]]
    """
    whole(k, "k", least=1)
    require(len(parts) > 0, "parts", "none", "at least one")
    wide = all(best.shape[1] >= k for best, _ in parts)
    require(
        wide, "parts", "shorter ones", f"lists of at least {k} places, -1 where there is nobody"
    )
    peers = np.concatenate([best for best, _ in parts], axis=1)
    scores = np.concatenate([found for _, found in parts], axis=1)
    order = np.lexsort((peers, -scores), axis=1)[:, :k]
    return np.take_along_axis(peers, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _parts(rows: range) -> list[range]:
    """``rows`` cut at the multiples of ``BLOCK_ROWS``."""
    first = rows.start // BLOCK_ROWS * BLOCK_ROWS
    cuts = [rows.start, *range(first + BLOCK_ROWS, rows.stop, BLOCK_ROWS), rows.stop]
    return [range(a, b) for a, b in pairwise(cuts)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Crowd:
    """What all blocks share: the peers, their groups, where to begin, what noise can reach."""

    measure: int
    norms: NDArray[np.float64]
    scale: Fraction
    buckets: Buckets
    first: NDArray[np.int64]
    reach: NDArray[np.float64]  # the most that noise can be of who is in no level from b on
    head_reach: NDArray[np.float64]
    index: PeerIndex

    @classmethod
    def of(
        cls,
        profiles: Profiles,
        peers: range,
        k: int,
        measure: int,
        product: bool,
        norms: NDArray[np.float64],
        scale: Fraction,
    ) -> _Crowd:
        if (profiles.weights == 0).any():  # what is withheld must not even choose who draws first
            profiles = profiles.where(profiles.weights > 0)
        flat = measure == kernels.OVERLAP
        buckets = Buckets.by(np.ones(len(profiles)) if flat else norms, peers)
        typical = float(np.median(norms[peers.start : peers.stop]))
        first = buckets.first_levels(
            _PER_PLACE * k, measure=measure, typical_norm=typical, scale=scale
        )
        index = PeerIndex.of(profiles, peers, product=product)
        reach = largest_noise(np.arange(first.max() + 1) * math.log(2), scale)
        return cls(measure, norms, scale, buckets, first, reach, head_reach(scale), index)

    def workspace(self) -> Space:
        """For one thread: that of the overlaps, and marks for the choice of strangers."""
        return self.index.workspace(), np.zeros(self.norms.size + 1, dtype=np.uint8)


class _Search:
    """The lists of one block of people."""

    def __init__(self, crowd: _Crowd, source: Source, stamps: NDArray[np.uint8]) -> None:
        self.crowd, self.source, self.stamps = crowd, source, stamps
        self.measure, self.norms, self.buckets = crowd.measure, crowd.norms, crowd.buckets

    def run(self, block: Overlaps, best: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        """Fill the lists of the people of one block."""
        people, offsets, peers = block.people, block.offsets, block.peers
        counts, buckets = self._counts(people, offsets, peers)
        drawn = np.zeros(counts.shape[1:], dtype=np.int64)
        met = np.zeros_like(offsets), np.empty(0, dtype=np.int32)
        before = opened = np.broadcast_to(self.crowd.first, drawn.shape).copy()
        anew = True  # whatever comes after the zeros of the first level
        while anew or (opened < before).any():
            held = np.take_along_axis(counts, opened[None], axis=0)[0]
            wanted = held - drawn
            found = self._strangers(people, wanted, counts[0] - drawn, (offsets, peers), met)
            zeros = np.empty(found.size, dtype=np.uint64)
            stranger_kernels.zeros_of(counts, before, opened, anew, zeros)
            noise = self._noise(self._words(zeros, anew))
            found_offsets = np.concatenate([[0], np.cumsum(wanted.sum(axis=1))])
            self._keep(people, found_offsets, found, noise, best, scores)
            if anew:  # once: the first strangers have set a score for friends to reach
                self._keep_friends(block, buckets, best, scores)
            met, drawn = join_lists(met, (found_offsets, found)), held
            before, opened = opened, self._opened(people, scores, counts, opened)
            anew = False

    def _noise(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        return laplace_of_words(
            words,
            partial(self.source.long_words, words.size),
            scale=self.crowd.scale,
            bits=lambda _: self.source,
        )

    def _keep_friends(
        self,
        friends: Overlaps,
        buckets: NDArray[np.int8],
        best: NDArray[np.int32],
        scores: NDArray[np.float64],
    ) -> None:
        """Draw 8 bits for everyone with a common item, and the rest where it can matter.

        Those with the largest noise come first: what they score dismisses most of the others.
        """
        peers, units = friends.peers, friends.units
        heads = self.source.long_words((peers.size + 7) // 8).view(np.uint8)[: peers.size]
        for early in (True, False):
            offsets, kept = np.zeros_like(friends.offsets), np.empty(peers.size, dtype=np.int64)
            filled = kernels.contenders(
                self.measure,
                friends.people,
                self.norms,
                self.buckets.least_norm,
                friends.offsets,
                peers,
                buckets,
                units,
                heads,
                self.crowd.head_reach,
                scores[:, -1].copy(),  # kernels compile once for each layout
                int(2 * _PER_PLACE * scores.shape[1]),
                early,
                offsets,
                kept,
            )
            kept = kept[:filled]
            rest = self.source.long_words(kept.size) >> np.uint64(8)
            noise = self._noise(heads[kept].astype(np.uint64) << np.uint64(56) | rest)
            self._keep(friends.people, offsets, peers[kept], units[kept] + noise, best, scores)

    def _keep(
        self,
        people: NDArray[np.int64],
        offsets: NDArray[np.int64],
        peers: NDArray[np.int32],
        units: NDArray[np.int64],
        best: NDArray[np.int32],
        scores: NDArray[np.float64],
    ) -> None:
        kernels.keep_best(self.measure, people, self.norms, offsets, peers, units, best, scores)

    def _counts(
        self, people: NDArray[np.int64], offsets: NDArray[np.int64], peers: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """counts[b, person, bucket]: how many strangers have a word that starts with b zeros.

        And the bucket of every friend.
        """
        sizes, first = self.buckets.sizes, self.crowd.first
        counts = np.zeros((int(first.max()) + 1, people.size, sizes.size), dtype=np.int64)
        buckets = np.empty(peers.size, dtype=np.int8)
        stranger_kernels.free_members(
            people, offsets, peers, self.buckets.of, sizes, buckets, counts[0]
        )
        for level, (before, after) in enumerate(pairwise(counts)):
            deeper = np.flatnonzero(first > level)  # nobody asks how many come after the first
            after[:, deeper] = count_heads(before[:, deeper], source=self.source)
        return counts, buckets

    def _opened(
        self,
        people: NDArray[np.int64],
        scores: NDArray[np.float64],
        counts: NDArray[np.int64],
        level: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Lower levels where a stranger not drawn yet could beat the last of a list. Theorem 1."""
        opened = np.empty_like(level)
        stranger_kernels.open_levels(
            self.measure,
            self.crowd.reach,
            self.norms[people],
            self.buckets.least_norm,
            scores[:, -1].copy(),
            counts,
            level,
            int(2 * _PER_PLACE * scores.shape[1]),
            opened,
        )
        return opened

    def _strangers(
        self,
        people: NDArray[np.int64],
        wanted: NDArray[np.int64],
        free: NDArray[np.int64],
        known: tuple[NDArray[np.int64], NDArray[np.int32]],
        met: tuple[NDArray[np.int64], NDArray[np.int32]],
    ) -> NDArray[np.int32]:
        chosen = np.empty(int(wanted.sum()), dtype=np.int32)
        words = self.source.long_words(4 * chosen.size + 512)
        used = stranger_kernels.strangers(
            people,
            wanted,
            free,
            self.buckets.members,
            self.buckets.starts,
            *known,
            *met,
            self.stamps,
            words,
            chosen,
        )
        if used < 0:  # less likely than 2**-64: at least half of all choices are good
            raise RuntimeError("the random words for choosing strangers ran out; try again")
        return chosen

    def _words(self, zeros: NDArray[np.uint64], anew: bool) -> NDArray[np.uint64]:
        """Words that start with so many zeros; after the first opening the next bit is a one."""
        words: NDArray[np.uint64] = self.source.long_words(zeros.size) >> zeros
        if not anew:
            words |= (np.uint64(1) << np.uint64(63)) >> zeros
        return words
