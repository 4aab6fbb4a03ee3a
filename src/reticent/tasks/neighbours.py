"""Private nearest neighbours without gossip: noise for everyone, drawn only where it can matter.

Theory    docs/theory/neighbours.md, Theorem 1 (law), Theorem 2 (loss)
Notation  n = people, k = neighbours, t = noise scale in units, b = level: a word starting with b
          zero bits, so U < 2^-b
Not here  one pair and what a similarity promises (similarity.py), the loops (kernels.py).

Noise is owed to every peer, also to strangers with nothing in common, or "no noise" would say so.
Of the strangers only the few largest draws can reach the list. How many of N words start with b
zero bits is b rounds of counting fair bits; which strangers they belong to is a uniform choice; the
rest of each word is fresh. Friends, who have something in common, get 8 bits each, and the rest of
their word only if those let them reach the list. Unless the list's last score beats every word
not looked at, the next level is opened, down to all. The law is that of n draws for everyone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from reticent.data.profiles import Profiles
from reticent.noise import Source
from reticent.noise.laplace import laplace_of_words
from reticent.tasks import kernels
from reticent.tasks.overlaps import Overlaps, overlap_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK_WORDS = 1 << 18  # random words for counting at a time
_PER_PLACE = 2.0  # strangers of a bucket to begin with, for each place of the list; at most twice


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """People grouped by released norm, within a factor of two, so that draws compare fairly."""

    of: NDArray[np.int64]
    members: NDArray[np.int32]
    starts: NDArray[np.int64]
    least_norm: NDArray[np.float64]

    @classmethod
    def by(cls, norms: NDArray[np.float64]) -> Buckets:
        """Groups of norms that share their binary exponent."""
        exponents = np.frexp(norms)[1]
        _, which = np.unique(exponents, return_inverse=True)
        order = np.argsort(which, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(which))])
        least = np.array([norms[order[a:b]].min() for a, b in pairwise(starts)])
        return cls(which.astype(np.int64), order.astype(np.int32), starts.astype(np.int64), least)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many people each group has."""
        return np.diff(self.starts)


def nearest(
    profiles: Profiles,
    k: int,
    *,
    measure: int,
    product: bool,
    norms: NDArray[np.float64],
    scale: Fraction,
    source: Source,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """For each person the k peers with the highest noisy similarity, and the scores; -1 pads."""
    n = len(profiles)
    if (profiles.weights == 0).any():  # what is withheld must not even choose who draws first
        profiles = profiles.where(profiles.weights > 0)
    best = np.full((n, k), -1, dtype=np.int32)
    scores = np.full((n, k), -np.inf)
    search = _Search(n, measure, norms, scale, source)
    for block in overlap_blocks(profiles, product=product):
        rows = slice(block.people[0], block.people[-1] + 1)
        search.run(block, best[rows], scores[rows])
        if progress is not None:
            progress(rows.stop, n)
    return best, scores


class _Search:
    def __init__(
        self, n: int, measure: int, norms: NDArray[np.float64], scale: Fraction, source: Source
    ) -> None:
        self.n, self.measure = n, measure
        self.norms, self.scale, self.source = norms, scale, source
        self.buckets = Buckets.by(norms if measure != kernels.OVERLAP else np.ones(n))
        self.head_reach = head_reach(scale)
        self.stamps = np.zeros(n + 1, dtype=np.int64)

    def run(self, block: Overlaps, best: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        """Fill the lists of the people of one block."""
        people, offsets, peers = block.people, block.offsets, block.peers
        counts, first = self._counts(people, offsets, peers, best.shape[1])
        level = np.broadcast_to(first + 1, counts.shape[1:]).copy()
        drawn = np.zeros_like(level)
        met = np.zeros_like(offsets), np.empty(0, dtype=np.int32)
        opened = np.ones(level.shape, dtype=np.bool_)
        friends_drawn = False
        while opened.any():
            level -= opened
            held = np.take_along_axis(counts, level[None], axis=0)[0]
            wanted = np.where(opened, held - drawn, 0)
            found = self._strangers(people, wanted, counts[0] - drawn, (offsets, peers), met)
            noise = self._noise(self._words(level, level == first, wanted))
            found_offsets = np.concatenate([[0], np.cumsum(wanted.sum(axis=1))])
            self._keep(people, found_offsets, found, noise, best, scores)
            if not friends_drawn:  # once: the first strangers have set a score for them to reach
                self._keep_friends(block, best, scores)
                friends_drawn = True
            met = _join(met, (found_offsets, found))
            drawn += wanted
            opened = self._undecided(people, scores, level)

    def _noise(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        return laplace_of_words(
            words,
            partial(self.source.long_words, words.size),
            scale=self.scale,
            bits=lambda _: self.source,
        )

    def _keep_friends(
        self, friends: Overlaps, best: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> None:
        """Draw 8 bits for everyone with a common item, and the rest where it can matter."""
        people, offsets, peers, units = (
            friends.people,
            friends.offsets,
            friends.peers,
            friends.units,
        )
        heads = self.source.long_words((peers.size + 7) // 8).view(np.uint8)[: peers.size]
        kept_offsets, kept = np.zeros_like(offsets), np.empty(peers.size, dtype=np.int64)
        filled = kernels.contenders(
            self.measure,
            people,
            self.norms,
            offsets,
            peers,
            units,
            heads,
            self.head_reach,
            scores[:, -1],
            kept_offsets,
            kept,
        )
        kept = kept[:filled]
        rest = self.source.long_words(kept.size) >> np.uint64(8)
        noise = self._noise(heads[kept].astype(np.uint64) << np.uint64(56) | rest)
        self._keep(people, kept_offsets, peers[kept], units[kept] + noise, best, scores)

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
        self,
        people: NDArray[np.int64],
        offsets: NDArray[np.int64],
        peers: NDArray[np.int32],
        k: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """counts[b, person, bucket]: how many strangers have a word that starts with b zeros."""
        sizes = self.buckets.sizes
        crowd = np.maximum(sizes, 1) / (_PER_PLACE * k)
        first = np.maximum(np.floor(np.log2(crowd)), 0).astype(np.int64)
        counts = np.zeros((int(first.max()) + 1, people.size, sizes.size), dtype=np.int64)
        kernels.free_members(people, offsets, peers, self.buckets.of, sizes, counts[0])
        rows = max(_BLOCK_WORDS * 64 // self.n, 1)
        for at in range(0, people.size, rows):
            for before, after in pairwise(counts):
                part = before[at : at + rows]
                words = self.source.long_words(int(((part + 63) >> 6).sum()))
                kernels.halve(part, words, after[at : at + rows])
        return counts, first

    def _undecided(
        self,
        people: NDArray[np.int64],
        scores: NDArray[np.float64],
        level: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Where a stranger not drawn yet could still beat the last of the list. Theorem 1."""
        most = largest_noise(level.astype(np.float64) * math.log(2), self.scale)
        reach = kernels.scores(self.measure, most, self.norms[people], self.buckets.least_norm) * (
            1 + 2.0**-40
        )
        undecided: NDArray[np.bool_] = (reach >= scores[:, -1:]) & (level > 0)
        return undecided

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
        used = kernels.strangers(
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

    def _words(
        self, level: NDArray[np.int64], is_first: NDArray[np.bool_], wanted: NDArray[np.int64]
    ) -> NDArray[np.uint64]:
        """Words that start with b zeros; after the first opening the next bit is a one."""
        zeros = level.ravel().repeat(wanted.ravel()).astype(np.uint64)
        anew = is_first.ravel().repeat(wanted.ravel())
        words = self.source.long_words(zeros.size)
        one = (np.uint64(1) << np.uint64(63)) >> zeros
        return np.where(anew, words >> zeros, (words >> zeros) & ~one | one)


def largest_noise(x: NDArray[np.float64], scale: Fraction) -> NDArray[np.float64]:
    """The most that noise can be when U >= exp(-x). Theorem 1.

    Z <= t (x - ln 2 + 2^-18) + 1; the factor covers rounding.
    """
    return float(scale) * (x - math.log(2) + 2.0**-18) * (1 + 2.0**-40) + 1


def head_reach(scale: Fraction) -> NDArray[np.float64]:
    """The most that noise can be for each value of the first 8 bits of its word."""
    heads = np.arange(256)
    reach = largest_noise(-np.log(np.maximum(heads, 1) / 256), scale)
    reach[heads >= 128] = 0.0  # the first bit is the sign
    reach[0] = np.inf
    return reach


def _join(
    known: tuple[NDArray[np.int64], NDArray[np.int32]],
    found: tuple[NDArray[np.int64], NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Two ragged lists of peers by person as one."""
    rows = np.concatenate([np.arange(len(o) - 1).repeat(np.diff(o)) for o, _ in (known, found)])
    peers = np.concatenate([known[1], found[1]])
    return known[0] + found[0], peers[np.argsort(rows, kind="stable")]
