"""The compiled loop of drawing profiles: one search for each word.

Notation  as in mapping_rows.py
Not here  the same search without Numba, for few draws (mapping_rows.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, boundscheck=False)
def search(
    profiles: Any, words: Any, spare: int, starts: Any, sums: Any, outs: Any, steps: int, found: Any
) -> None:
    """The output of each word without its ``spare`` lowest bits, into ``found``.

    Every search takes ``steps`` steps, and a step chooses without a branch: neither the profile
    nor the word changes the work.
    """
    for i in range(profiles.size):
        word = words[i] >> np.uint64(spare)
        low = np.uint64(starts[profiles[i]])
        high = np.uint64(starts[profiles[i] + 1])
        for _ in range(steps):
            middle = (low + high) >> np.uint64(1)
            above = np.uint64(sums[middle] <= word)
            low += above * (middle + np.uint64(1) - low)
            high = middle + above * (high - middle)
        found[i] = outs[low]
