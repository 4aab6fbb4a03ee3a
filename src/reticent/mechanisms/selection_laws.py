"""The chances of all candidates under a selection law, in floats: to compare, not to draw.

Theory    docs/theory/selection.md, Theorems 1 and 2; docs/theory/noise.md, Theorem 7
Notation  c = rate, q_i = scores, p_i = exp(c (q_i - max q)), the chance of candidate i's coin
Not here  exact rational laws of few candidates (testing/closed_forms.py), drawing (noise/).

Permute-and-flip takes the first candidate in a random order whose coin shows heads; given H heads
among the others it is i with chance 1 / (1 + H), and E[1 / (1 + H)] is the integral of E[s^H] over
s from 0 to 1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_NODES = 128  # of Gauss-Legendre quadrature on each piece
_PIECES = 12  # (0, 1] cut at 1 - 2**-k: with many heads all is near s = 1


def exponential_chances(scores: NDArray[np.int64], rate: Fraction) -> Reals:
    """P[i] = exp(c q_i) / sum_j exp(c q_j).

    >>> from fractions import Fraction
    >>> exponential_chances(np.array([0, 0]), Fraction(1)).tolist()
    [0.5, 0.5]
    """
    coins = _coins(scores, rate)
    return np.asarray(coins / coins.sum())


def permute_and_flip_chances(scores: NDArray[np.int64], rate: Fraction) -> Reals:
    """P[i] = p_i E[1 / (1 + heads among the others)].

    >>> from fractions import Fraction
    >>> permute_and_flip_chances(np.array([0, 0]), Fraction(1)).round(9).tolist()
    [0.5, 0.5]
    """
    coins = _coins(scores, rate)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    ends = 1 - np.concatenate([2.0 ** -np.arange(_PIECES), [0.0]])
    chances = np.zeros(len(coins))
    for low, high in pairwise(ends.tolist()):
        for node, weight in zip(nodes, weights, strict=True):
            s = low + (high - low) * (node + 1) / 2
            logs = np.log1p(-coins * (1 - s))  # the best coin is 1: at s = 0 nothing is left of it
            chances += weight * (high - low) / 2 * coins * np.exp(logs.sum() - logs)
    return np.asarray(chances / chances.sum())


def chances_of(scores: NDArray[np.int64], rate: Fraction, law: str) -> Reals:
    """The chances under the law of this name."""
    exponential = law == "exponential"
    return (exponential_chances if exponential else permute_and_flip_chances)(scores, rate)


def _coins(scores: NDArray[np.int64], rate: Fraction) -> Reals:
    behind = (scores.max() - scores).astype(np.float64)
    return np.asarray(np.exp(-float(rate) * behind))
