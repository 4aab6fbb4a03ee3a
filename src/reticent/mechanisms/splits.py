"""What a split of a node is worth: three criteria, and what one row can change in each.

Theory    docs/theory/tree.md, Lemma 1 (information gain), Lemma 4 (Gini and accuracy)
Notation  n_c = rows of class c in a part, n = their sum; the worth of a split is the sum over its
          parts of n_c^2 / n (gini), max n_c (accuracy) or n_c log2(n_c / n) (entropy)
Not here  the law of the choice (tree.py), local sensitivity (information_gain.py).

The parent's own worth is the same for all splits of a node and need not be subtracted.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from reticent.mechanisms.information_gain import gain_limit
from reticent.mechanisms.local_sensitivity import WIDENED, in_steps
from reticent.noise import Grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

Criterion: TypeAlias = Literal["gini", "accuracy", "entropy"]
_FINE = 16  # bits below 1 of Gini and accuracy, so that 2**25 rows fit
_BITS, _MOST = 28, 40  # bits below G of information gain, of the largest


def worth(criterion: Criterion, counts: Reals) -> Reals:
    """The worth of parts with these counts of classes, along the last axis.

    >>> worth("gini", np.array([3.0, 1.0])).item(), worth("accuracy", np.array([3.0, 1.0])).item()
    (2.5, 3.0)
    """
    if criterion == "accuracy":
        return np.asarray(counts.max(axis=-1))
    total = counts.sum(axis=-1)
    if criterion == "gini":
        return np.asarray((counts * counts).sum(axis=-1) / np.maximum(total, _TINY))
    logs = counts * np.log2(np.maximum(counts, _TINY))
    return np.asarray(logs.sum(axis=-1) - total * np.log2(np.maximum(total, _TINY)))


_TINY = 1e-300  # instead of an empty part's 0, which counts nothing


def limit_of(criterion: Criterion, rows: int | None) -> Fraction:
    """G: the most that one row changes the worth of a split."""
    return gain_limit(rows) if criterion == "entropy" and rows is not None else Fraction(1)


def grid_of(criterion: Criterion, rows: int | None) -> Grid:
    """On which worths are rounded; public."""
    if criterion != "entropy" or rows is None:
        return Grid(-_FINE)
    limit = gain_limit(rows)
    larger = max(int(rows / limit), 1).bit_length()
    return Grid.finer_than(limit, bits=min(_BITS, _MOST - larger))


def spread_of(criterion: Criterion, rows: int | None) -> Fraction:
    """By how much one row can move two worths apart, in units of G.

    Another row never lowers the accuracy of a split, nor raises its entropy: these move one way.
    """
    if criterion == "gini":
        return Fraction(2)
    most = in_steps(limit_of(criterion, rows), grid_of(criterion, rows))
    return 1 + Fraction(2 * WIDENED, most)
