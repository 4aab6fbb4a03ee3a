"""Rows of integer chances as they are drawn from: a word is searched among the sums of its row.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows); "Errors and what they may reveal"
Notation  entries starts[j] .. starts[j + 1] - 1 are those of profile j; sums = their chances added
          up within the row, in parts of 2**62; steps = of every search
Not here  the promise of a table (mapping.py).

A row's last sum is 2**62 and every word is below it, so that the first sum above the word is one of
the row. A search that has found it stays there: all take as many steps as the longest row needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import require
from reticent.optim.mapping import Channel

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS = 62
WHOLE = 1 << BITS
_FEW = 1 << 12  # draws that are done before Numba is loaded


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """What a draw needs of a table of chances."""

    starts: NDArray[np.int64]
    outs: NDArray[np.int64]
    sums: NDArray[np.uint64]
    steps: int

    @classmethod
    def of(
        cls, starts: NDArray[np.int64], outs: NDArray[np.int64], parts: NDArray[np.int64]
    ) -> Rows:
        """From chances in parts of 2**62; sums over all rows wrap and the difference is exact."""
        over_all = np.cumsum(parts.astype(np.uint64), dtype=np.uint64)
        before = over_all[starts[:-1]] - parts[starts[:-1]].astype(np.uint64)
        lengths = np.diff(starts)
        within = over_all - np.repeat(before, lengths)
        return cls(starts, outs, within, int(lengths.max()).bit_length())

    def draw(self, profiles: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """What each profile becomes, by the first 62 bits of its word."""
        profiles = np.ascontiguousarray(profiles, dtype=np.int64)
        count = len(self.starts) - 1
        inside = not profiles.size or (int(profiles.min()) >= 0 and int(profiles.max()) < count)
        require(inside, "profiles", "others", f"numbers from 0 to {count - 1}")
        require(words.shape == profiles.shape, "words", words.shape, "one for each profile")
        if len(profiles) > _FEW:
            from reticent.mechanisms.mapping_kernels import search  # loads Numba

            found = np.empty(len(profiles), dtype=np.int64)
            search(profiles, words, 64 - BITS, self.starts, self.sums, self.outs, self.steps, found)
            return found
        drawn = words >> np.uint64(64 - BITS)
        low, high = self.starts[profiles], self.starts[profiles + 1]
        for _ in range(self.steps):
            middle = (low + high) >> 1
            above = self.sums[middle] <= drawn
            low, high = np.where(above, middle + 1, low), np.where(above, high, middle)
        return np.asarray(self.outs[low])


def integer_rows(
    channel: Channel,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Chances as whole numbers of 2**-62 that add up exactly; the largest takes the rest."""
    starts, outs, parts = [0], [], []
    for j in range(len(channel.starts) - 1):
        row = slice(channel.starts[j], channel.starts[j + 1])
        total = float(channel.chances[row].sum())
        whole = [int(chance / total * WHOLE) for chance in channel.chances[row].tolist()]
        best = max(range(len(whole)), key=whole.__getitem__)
        whole[best] += WHOLE - sum(whole)
        kept = [(i, n) for i, n in zip(channel.outs[row].tolist(), whole, strict=True) if n > 0]
        outs += [i for i, _ in kept]
        parts += [n for _, n in kept]
        starts.append(len(outs))
    return np.array(starts), np.array(outs), np.array(parts, dtype=np.int64)


def check_table(
    starts: NDArray[np.int64], outs: NDArray[np.int64], parts: NDArray[np.int64]
) -> None:
    """Refuse what is no table of whole chances: 2**62 for each profile, shared by others."""
    count = len(starts) - 1
    require(count > 0, "starts", "none", "of one profile or more")
    sizes = {len(outs), len(parts), int(starts[-1])}
    require(len(sizes) == 1, "parts", "other", "one for each entry")
    inside = bool(((outs >= 0) & (outs < count)).all() and (parts > 0).all())
    require(inside, "outs", "other", "profiles of the alphabet, each with a chance")
    rising = int(starts[0]) == 0 and bool((np.diff(starts) > 0).all())
    require(rising, "starts", "other", "rising: a chance for each profile")
    whole = np.add.reduceat(parts.astype(object), starts[:-1])  # cannot overflow
    require(bool((whole == WHOLE).all()), "parts", "other", "whole: 2**62 for each profile")
    pairs = np.unique(np.repeat(np.arange(count), np.diff(starts)) * count + outs)
    require(len(pairs) == len(outs), "outs", "twice the same", "distinct in each row")
