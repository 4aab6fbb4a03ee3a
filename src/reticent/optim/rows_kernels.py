"""The compiled loops of rows.py: which rows are below no other one.

Theory    docs/theory/multilevel.md, Lemma 1 (maximal rows)
Not here  how rows of zeros and ones become words (rows.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_TRIAL = 1 << 14  # rows after which a reduction that does not reduce is given up


@njit(cache=True, nogil=True)
def mark_maximal(rows: Any, kept: Any) -> None:
    """Mark the rows that are below none of the marked rows before them; sums fall."""
    count, width = rows.shape
    places = np.empty(count, dtype=np.int64)
    size = 0
    for i in range(count):
        implied = False
        if i < _TRIAL or 10 * size < 9 * i:
            for k in range(size):
                above = places[k]
                implied = True
                for j in range(width):
                    if rows[i, j] > rows[above, j]:
                        implied = False
                        break
                if implied:
                    break
        kept[i] = not implied
        if not implied:
            places[size] = i
            size += 1


@njit(cache=True, nogil=True)
def mark_maximal_words(words: Any, kept: Any) -> None:
    """The same for words of bits, with falling numbers of ones; equal words count once."""
    above = np.empty(words.size, dtype=np.uint64)
    size = 0
    for i in range(words.size):
        implied = words[i] == 0
        for k in range(size):
            if words[i] & ~above[k] == 0:
                implied = True
                break
        kept[i] = not implied
        if not implied:
            above[size] = words[i]
            size += 1
