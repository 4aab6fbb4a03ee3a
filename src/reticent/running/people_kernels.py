"""The compiled loop of people.py: a 64-bit number for each of many texts.

Not here  what the numbers are for (people.py). They hide nothing and decide no noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_START, _TIMES = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True, error_model="numpy")
def number_texts(offsets: Any, letters: Any, numbers: Any) -> None:
    """FNV-1a over the bytes of each text, then mixed so that low bits depend on all of them."""
    for i in range(numbers.size):
        x = _START
        for at in range(offsets[i], offsets[i + 1]):
            x = (x ^ np.uint64(letters[at])) * _TIMES
        x = (x ^ (x >> np.uint64(30))) * _FIRST
        x = (x ^ (x >> np.uint64(27))) * _SECOND
        numbers[i] = x ^ (x >> np.uint64(31))
