"""The compiled loop of histogram.py: what many people's items add up to, attribute by attribute.

Theory    docs/theory/multilevel.md, Theorem 2 (weights), Lemma 4 (room)
Not here  one person's histogram, whose work depends on no profile (mechanisms/multilevel.py).
"""

from __future__ import annotations

from typing import Any

from numba import njit

_WEIGHT_BITS = 20
_FULL = 1 << _WEIGHT_BITS
_SHY = 1 - 2.0**-31  # rounding errors of a room are smaller


@njit(cache=True, nogil=True, error_model="numpy")
def add_up(
    offsets: Any,
    items: Any,
    weights: Any,
    weighted: bool,
    starts: Any,
    columns: Any,
    entries: Any,
    largest: Any,
    rates: Any,
    overall: Any,
    least: Any,
    stamps: Any,
    sums: Any,
) -> None:
    """Add to ``sums`` each person's items once, with the least of the weights it came with.

    ``items`` outside the catalogue are skipped; ``least`` and ``stamps`` are room to work in, with
    stamps of -1 at first.
    """
    known = starts.size - 1
    for person in range(offsets.size - 1):
        for e in range(offsets[person], offsets[person + 1]):
            i = items[e]
            if i < 0 or i >= known:
                continue
            if stamps[i] != person:
                stamps[i] = person
                least[i] = weights[e]
            else:
                least[i] = min(least[i], weights[e])
        for e in range(offsets[person], offsets[person + 1]):
            i = items[e]
            if i < 0 or i >= known or stamps[i] != person:
                continue
            stamps[i] = -1  # counted
            part = least[i]
            if weighted and part < _FULL:
                loss, room = 0.0, 2.0**_WEIGHT_BITS
                for k in range(starts[i], starts[i + 1]):
                    loss += abs(entries[k]) * rates[person, columns[k]]
                    room = min(room, largest[columns[k]] / abs(entries[k]))
                room = min(room, overall[person] / loss) * _SHY
                part = min((part * max(int(room * _FULL), _FULL)) >> _WEIGHT_BITS, _FULL)
            for k in range(starts[i], starts[i + 1]):
                counted = (part * abs(entries[k])) >> _WEIGHT_BITS
                if entries[k] < 0:
                    counted = -counted
                sums[person, columns[k]] += counted
