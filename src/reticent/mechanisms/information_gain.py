"""How much one row changes information gain, near by: the local sensitivity of an ID3 split.

Theory    docs/theory/tree.md, Lemma 1 (one row), Lemma 2 (rows away), Lemma 3 (rounding)
Notation  u = sum of tau_jc log2(tau_jc / tau_j) over values j and classes c, in bits; a = tau_j,
          b = tau_jc; f(x) = (x + 1) log2(x + 1) - x log2 x; G = log2(N + 1) + 1 / ln 2
Not here  choosing by it (tree.py), other criteria (splits.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from reticent.mechanisms.local_sensitivity import WIDENED, LocalSensitivity
from reticent.noise import Grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Reals = NDArray[np.float64]

_UP = Fraction(1, 1 << 40)  # above the error of the float logarithm


def gain_limit(rows: int) -> Fraction:
    """G of tables of at most so many rows, rounded up. Lemma 1.

    >>> float(gain_limit(3)).__round__(6)
    3.442695
    """
    return Fraction(math.log2(rows + 1) + 1 / math.log(2)) + _UP


@lru_cache(maxsize=4)
def steps_of_entropy(size: int) -> Reals:
    """f(0), ..., f(size - 1)."""
    x = np.arange(size + 1, dtype=np.float64)
    logs = x * np.log2(np.maximum(x, 1.0))
    found = np.diff(logs)
    found.setflags(write=False)
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GainSensitivity(LocalSensitivity):
    """delta(t) of each candidate column, from its counts ``tables`` [values, classes].

    ``rows`` is N. With ``per_unit`` 2 a unit is a row replaced: two rows added or removed.
    """

    tables: Sequence[Whole]
    rows: int
    per_unit: int = 1
    _sums: dict[tuple[int, int], list[Whole]] = field(default_factory=dict, repr=False)

    @property
    def candidates(self) -> int:
        """How many columns there are."""
        return len(self.tables)

    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """b(steps[r], r): sums of the first deltas, and of the limit beyond N rows."""
        key = grid.exponent, limit
        if key not in self._sums:
            self._sums[key] = [self._summed(table, grid, limit) for table in self.tables]
        found = []
        for wanted, summed in zip(steps.tolist(), self._sums[key], strict=True):
            within = min(wanted, len(summed) - 1)
            found.append(int(summed[within]) + (wanted - within) * limit)
        return np.array(found, dtype=np.int64)

    def _summed(self, table: Whole, grid: Grid, limit: int) -> Whole:
        amounts = self.deltas(table)[:: self.per_unit] * 2.0**-grid.exponent
        # one step more for each row away: rounding never makes a farther delta the smaller, Lemma 3
        whole = np.ceil(amounts).astype(np.int64) + WIDENED + np.arange(len(amounts))
        return np.concatenate([[0], np.cumsum(np.minimum(whole, limit))])

    def deltas(self, table: Whole) -> Reals:
        """delta(0), ..., delta(N - 1) of rows added or removed, not rounded. Lemma 2."""
        from reticent.mechanisms.tree_kernels import largest_changes

        a = np.repeat(table.sum(axis=1), table.shape[1])
        b = table.ravel()
        kept = _not_dominated(a, b)
        a, b = a[kept], b[kept]
        f = steps_of_entropy(int(a.max()) + self.rows + 1)
        near = min(max(int(b.max()), 1), self.rows)
        close = largest_changes(a, b, f, near)
        last = int(np.where(b == 0, a, a - 2 * b + 1).max())
        return np.concatenate([close, f[last + near : last + self.rows]])


def _not_dominated(a: Whole, b: Whole) -> NDArray[np.bool_]:
    """Cells but those for which another has at least the same a and at most the same b."""
    order = np.lexsort((-a, b))
    best = np.maximum.accumulate(a[order])
    kept = np.ones(a.size, dtype=bool)
    kept[order[1:]] = a[order[1:]] > best[:-1]
    return kept
