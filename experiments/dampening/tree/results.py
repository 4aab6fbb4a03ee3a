"""Accuracies of runs by label: means with 95 % intervals.

A run is one cross-validation with folds and noise of its own; its value is the mean over folds.
Intervals are Student's over runs, or over folds where there are fewer than three runs. They say
what another run on the same table would give, not what another table would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from experiments.mappings.results import Curve, Pool, Row, Table, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

__all__ = ["Curve", "Pool", "Results", "Row", "ends", "note", "text"]
_LEAST = 3  # runs that say something about their spread


class Results(Table):
    """Rows, and which sets, depths and budgets were run."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(Row(**row) for row in result["rows"])
        self.sets: list[str] = result["data"]
        self.depths: list[int] = result["depths"]
        self.epsilons: list[float] = result["epsilons"]
        self.tabled: list[float] = result["tabled"]


def ends(values: Reals) -> tuple[float, float]:
    """The 95 % interval of the mean of values [runs, folds]."""
    own = values.mean(axis=1) if len(values) >= _LEAST else values.ravel()
    if len(own) < 2:
        return float(own.mean()), float(own.mean())
    half = float(student.ppf(0.975, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own)))
    return float(own.mean()) - half, float(own.mean()) + half


def note(pool: Pool, label: tuple[str, str, str, object], values: Reals) -> None:
    """The mean and its interval."""
    pool.add(*label, float(values.mean()), ends(values))
