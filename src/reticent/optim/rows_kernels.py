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
    bits = 4
    while 1 << bits < 2 * words.size:
        bits += 1
    seen = np.zeros(1 << bits, dtype=np.uint64)  # by hash; the empty word needs no place
    size = 0
    for i in range(words.size):
        word = words[i]
        kept[i] = False
        place = (word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
        while seen[place] != 0 and seen[place] != word:
            place = (place + np.uint64(1)) & np.uint64((1 << bits) - 1)
        if seen[place] == word:  # also for the empty word
            continue
        seen[place] = word
        implied = False
        for k in range(size):
            if word & ~above[k] == 0:
                implied = True
                break
        if not implied:
            kept[i] = True
            above[size] = word
            size += 1


@njit(cache=True, nogil=True)
def pack_words(matrix: Any, words: Any) -> bool:
    """One word of bits per row; false if an entry is neither 0 nor 1."""
    for i in range(matrix.shape[0]):
        word, other = np.uint64(0), False
        for j in range(matrix.shape[1]):
            there = matrix[i, j] != 0
            other |= there & (matrix[i, j] != 1)
            word |= np.uint64(there) << np.uint64(j)
        if other:
            return False
        words[i] = word
    return True
