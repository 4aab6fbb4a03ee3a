"""Least squares between bounds, with or without a given total, for many targets at once.

Theory    docs/theory/reconstruction.md, Lemma 1 (gap), Lemma 2 (pivot), Lemma 3 (purify)
Notation  R = rows (K x m), u = upper, h = targets, q = weights, c = coefficients
Not here  the compiled method (bounded_least_squares_kernels.py), what the rows are (tasks/).

Minimise 1/2 sum_j q_j (h_j - (R'c)_j)^2 subject to 0 <= c <= u and, if asked, sum_k c_k = total.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require
from reticent.optim.bounded_least_squares_kernels import solve_all
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class BoundedFit:
    """One row or entry for each target.

    No feasible point has an objective below ``objectives - gaps``, whether or not the search
    ``converged``. At most m coefficients (m + 1 with a total) are strictly between their bounds.
    """

    coefficients: NDArray[np.float64]
    fitted: NDArray[np.float64]
    objectives: NDArray[np.float64]
    gaps: NDArray[np.float64]
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]


def bounded_least_squares(
    rows: ArrayLike,
    upper: ArrayLike,
    targets: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    total: ArrayLike | None = None,
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
) -> BoundedFit:
    """Best c for each row of ``targets``, to a gap of ``tolerance`` max(objective, 1).

    ``targets`` is one target or a row for each; ``weights`` (q >= 0) is broadcast to its shape and
    ``total`` to its rows. Search ends when the gap is small enough, when rounding lets nothing be
    gained, or after ``max_iterations`` pivots, by default 100 (K + m).

    >>> fit = bounded_least_squares([[1, 0], [1, 1]], [2, 1], [[3.5, 0.5]])
    >>> fit.coefficients.tolist(), fit.objectives.tolist()
    ([[2.0, 1.0]], [0.25])
    """
    table, bounds, goals, scale = _checked(rows, upper, targets, weights)
    people, m = goals.shape
    where, columns = map(np.ascontiguousarray, np.nonzero(table))
    if max_iterations is None:
        max_iterations = 100 * (len(table) + m)
    whole(max_iterations, "max_iterations", least=0)
    require(0 <= tolerance < np.inf, "tolerance", tolerance, "at least 0 and finite")
    coefficients, fitted = np.empty((people, len(table))), np.empty((people, m))
    objectives, gaps = np.empty(people), np.empty(people)
    iterations = np.empty(people, dtype=np.int64)
    solve_all(
        np.searchsorted(where, np.arange(len(table) + 1)),
        columns,
        table[where, columns],
        bounds,
        goals,
        scale,
        _totals(total, people, bounds),
        float(tolerance),
        max_iterations,
        coefficients,
        fitted,
        objectives,
        gaps,
        iterations,
    )
    return BoundedFit(
        coefficients=coefficients,
        fitted=fitted,
        objectives=objectives,
        gaps=gaps,
        iterations=iterations,
        converged=gaps <= tolerance * np.maximum(objectives, 1.0),
    )


def _checked(
    rows: ArrayLike, upper: ArrayLike, targets: ArrayLike, weights: ArrayLike
) -> tuple[NDArray[np.float64], ...]:
    table, bounds = finite(rows, "rows"), finite(upper, "upper")
    goals = np.atleast_2d(finite(targets, "targets"))
    full = table.ndim == 2 and table.size > 0
    require(full, "rows", f"shape {table.shape}", "a table with at least one row and column")
    require(bounds.shape == table.shape[:1], "upper", f"shape {bounds.shape}", "one for each row")
    require(bool((bounds >= 0).all()), "upper", "a negative number", "non-negative")
    fits = goals.ndim == 2 and goals.shape[1] == table.shape[1]
    require(fits, "targets", f"shape {goals.shape}", f"rows of {table.shape[1]} numbers")
    scale = _spread(finite(weights, "weights"), goals.shape, "weights")
    require(bool((scale >= 0).all()), "weights", "a negative number", "non-negative")
    return table, bounds, goals, scale


def _totals(
    total: ArrayLike | None, people: int, bounds: NDArray[np.float64]
) -> NDArray[np.float64]:
    if total is None:
        return np.empty(0)
    totals = _spread(finite(total, "total"), (people,), "total")
    most = float(bounds.sum())
    fits = bool(((totals >= 0) & (totals <= most)).all())
    require(fits, "total", "a number outside", f"between 0 and the sum of upper, {most:g}")
    return totals


def finite(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """``values`` as an array of doubles; the message of a refusal does not quote them."""
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(name, "finite numbers", "something else") from None
    require(bool(np.isfinite(array).all()), name, "something else", "finite numbers")
    return array


def _spread(values: NDArray[np.float64], shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    try:
        spread: NDArray[Any] = np.broadcast_to(values, shape)
    except ValueError:
        raise ParameterError(name, f"one number or shape {shape}", values.shape) from None
    return spread.copy()  # writable and contiguous, always: each other form would compile anew
