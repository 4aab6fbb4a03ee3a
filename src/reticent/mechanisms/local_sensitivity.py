"""How much one more unit can change each candidate's utility, after t units have changed.

Theory    docs/theory/dampening.md, Definition 1 (admissible), Lemma 1 (whole steps)
Notation  delta(t, r) in whole steps of a public grid, G = what no delta exceeds,
          b(i, r) = sum of delta(t, r) over t < i
Not here  what is chosen with it (dampening.py), checks by enumeration (testing/admissible.py).

All arithmetic is in whole numbers: utilities are rounded to the grid, every delta is rounded up and
widened by two steps, so that no rounding of a utility is ever larger than what delta allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.errors import require
from reticent.noise import Grid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Whole = NDArray[np.int64]

WIDENED = 2  # steps: one for rounding, one for errors of a utility below half a step


class LocalSensitivity(ABC):
    """delta(t, r) of every candidate r, for t below the steps that are asked for."""

    @property
    @abstractmethod
    def candidates(self) -> int:
        """How many candidates there are."""

    @abstractmethod
    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """b(steps[r], r) in steps of ``grid``, each delta at most ``limit``."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tabled(LocalSensitivity):
    """delta(t, r) at [t, r]; beyond the last row it is the limit.

    >>> Tabled.of([[1.0, 2.0]]).sums(np.array([1, 2]), Grid(0), 10).tolist()
    [3, 14]
    """

    table: NDArray[np.float64]

    @classmethod
    def of(cls, values: ArrayLike) -> Tabled:
        """From an array [t, r]; one row is delta(0, r)."""
        table = np.atleast_2d(np.asarray(values, dtype=np.float64))
        good = table.ndim == 2 and table.size > 0 and not np.isnan(table).any()
        require(good and bool((table >= 0).all()), "table", "other", "rows of numbers from 0 on")
        return cls(table)

    @classmethod
    def by(cls, function: Callable[[int], ArrayLike], steps: int) -> Tabled:
        """From a function that gives delta(t, .) as an array, called for t below ``steps``."""
        return cls.of(np.array([function(t) for t in range(steps)]))

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return int(self.table.shape[1])

    def sums(self, steps: Whole, grid: Grid, limit: int) -> Whole:
        """Sums of the rows, and of the limit beyond them."""
        rows = np.minimum(steps, len(self.table))
        found = np.concatenate([np.zeros((1, self.candidates), np.int64), self._whole(grid, limit)])
        within = np.cumsum(found, axis=0)[rows, np.arange(self.candidates)]
        return np.asarray(within + (steps - rows) * limit)

    def _whole(self, grid: Grid, limit: int) -> Whole:
        in_steps = np.ceil(np.minimum(self.table * 2.0**-grid.exponent, float(limit)))
        return np.minimum(in_steps.astype(np.int64) + WIDENED, limit)


def in_steps(amount: Fraction, grid: Grid) -> int:
    """A sensitivity in whole steps, rounded up and widened. Lemma 1."""
    return -(-amount // grid.step) + WIDENED
