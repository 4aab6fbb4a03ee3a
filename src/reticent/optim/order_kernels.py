"""The k-th smallest of some numbers, compiled: np.partition gives the same but compiles for 5 s.

Theory    none: Hoare's selection, exact
Not here  what the number is for (allocation_kernels.py, pricing_kernels.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def kth_smallest(values: NDArray[np.float64], size: int, k: int) -> float:
    """What would be at place k, from 0, if the first ``size`` values were sorted."""
    held = np.empty(size)
    for i in range(size):
        held[i] = values[i]
    first, last = 0, size - 1
    while first < last:
        pivot, i, j = held[(first + last) // 2], first, last
        while i <= j:
            while held[i] < pivot:
                i += 1
            while pivot < held[j]:
                j -= 1
            if i <= j:
                held[i], held[j] = held[j], held[i]
                i += 1
                j -= 1
        if k <= j:
            last = j
        elif k >= i:
            first = i
        else:
            break
    return float(held[k])
