"""Compiled loops over published sketches: setting bits, common bits, all pairs.

Theory    docs/theory/blip.md, Theorem 3 (estimates), Theorem 5 (ranking)
Notation  words = bit-packed filters, one row per person; r = covariance of two filters over the
          product of their empty shares
Not here  what is published and promised (blip.py). All of this reads published bits only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from reticent.tasks.kernels import ones


@njit(cache=True, nogil=True)
def set_bits(filters: Any, rows: Any, positions: Any) -> None:
    """Set the bits of each entry in its person's filter."""
    for e in range(rows.size):
        for j in range(positions.shape[1]):
            at = positions[e, j]
            filters[rows[e], at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@njit(cache=True, nogil=True)
def common(words: Any, a: int, b: int) -> Any:
    """How many bits two filters share."""
    total = np.int64(0)
    for j in range(words.shape[1]):
        total += ones(words[a, j] & words[b, j])
    return total


@njit(cache=True, nogil=True)
def excess(words: Any, a: int, b: int, centres: Any, factors: Any) -> Any:
    """Theorem 3: r = covariance of the filters / product of their empty shares."""
    share = common(words, a, b) / (words.shape[1] * 64)
    return (share - centres[a] * centres[b]) * factors[a, 0] * factors[b, 0]


@njit(cache=True, nogil=True)
def items(r: float, m: int, hashes: float) -> Any:
    """Theorem 3: m/h ln(1 + r) common items, and linear below 0; never above m/h r."""
    return (math.log1p(r) if r > 0 else r) * m / hashes


@njit(cache=True, nogil=True)
def cosines(
    words: Any, first: Any, second: Any, centres: Any, factors: Any, hashes: float, values: Any
) -> None:
    """Estimated cosines of given pairs."""
    m = words.shape[1] * 64
    for j in range(first.size):
        a, b = first[j], second[j]
        r = excess(words, a, b, centres, factors)
        values[j] = items(r, m, hashes) * factors[a, 1] * factors[b, 1]


@njit(cache=True, nogil=True)
def nearest(
    words: Any,
    centres: Any,
    factors: Any,
    hashes: float,
    noise: Any,
    mu: float,
    tau2: float,
    peers: Any,
    scores: Any,
) -> None:
    """All pairs, a block of people against a block of peers, each pair once for both ends."""
    n, m, k, block = words.shape[0], words.shape[1] * 64, peers.shape[1], 256
    for low in range(0, n, block):
        for start in range(low, n, block):
            for a in range(low, min(low + block, n)):
                for b in range(max(start, a + 1), min(start + block, n)):
                    r = excess(words, a, b, centres, factors)
                    factor = factors[a, 1] * factors[b, 1]
                    trust = tau2 / (tau2 + noise[a] * noise[b])  # Theorem 5
                    most = mu + (r * m / hashes * factor - mu) * trust
                    if most <= min(scores[a, k - 1], scores[b, k - 1]):
                        continue  # the score is smaller still
                    value = mu + (items(r, m, hashes) * factor - mu) * trust
                    if value > scores[a, k - 1]:
                        insert(peers[a], scores[a], b, value)
                    if value > scores[b, k - 1]:
                        insert(peers[b], scores[b], a, value)


@njit(cache=True, nogil=True)
def insert(peers: Any, scores: Any, peer: int, value: float) -> None:
    """Put a peer into a list of best peers, highest score first."""
    j = peers.size - 1
    while j > 0 and scores[j - 1] < value:
        scores[j], peers[j] = scores[j - 1], peers[j - 1]
        j -= 1
    scores[j], peers[j] = value, peer
