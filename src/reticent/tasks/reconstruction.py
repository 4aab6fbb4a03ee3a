"""A profile that a released histogram could have come from: box relaxation, then rounding.

Theory    docs/theory/reconstruction.md, Theorem 1 (lower bound), Theorem 2 (price of rounding),
          Theorem 3 (post-processing)
Notation  A = matrix (n x m), h = histogram, b_j = scales, q_j = 1 / b_j^2, d = profile,
          c_k = how many items of the k-th distinct row
Not here  the release (mechanisms/), the solver (optim/bounded_least_squares.py).

A pure function of public things: the matrix, the ranking, and a histogram that was already
released. It costs no privacy, and it reads no profile. It is no attack that succeeds either:
items with equal rows cannot be told apart, and which of them are named is the ranking's choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from reticent.errors import require
from reticent.optim.bounded_least_squares import bounded_least_squares, finite
from reticent.optim.rows import distinct_rows
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_LEAST = 1e-100  # a scale whose square a double holds
_GAIN = 1e-12  # of max(objective, 1): a smaller gain may be rounding


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Reconstruction:
    """Items of a 0/1 profile d, and how well it explains the histogram.

    ``residual`` is sum_j ((h_j - (A'd)_j) / b_j)^2. No 0/1 profile has one below
    ``relaxed_residual``, so the difference bounds the price of rounding. ``relaxed_profile`` is the
    best profile with values in [0, 1].
    """

    items: NDArray[np.int64]
    relaxed_profile: NDArray[np.float64]
    residual: float
    relaxed_residual: float


def reconstruct(
    matrix: Any,
    histogram: ArrayLike,
    scales: ArrayLike,
    *,
    size: int | None = None,
    ranking: ArrayLike | None = None,
) -> Reconstruction:
    """A 0/1 profile close to ``histogram``, of ``size`` items if that is public.

    ``matrix`` is dense or sparse, a row for each item of the catalogue. ``ranking`` is one public
    number for each item, for instance its popularity: of items with equal rows the larger go
    first, and equal ones in the order of the catalogue.

    >>> films = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    >>> reconstruct(films, [1.2, 0.1], [1, 1], ranking=[5, 9, 1, 1]).items.tolist()
    [1]
    """
    table, target, weights = _checked(matrix, histogram, scales)
    order = _order(ranking, len(table))
    rows, which, counts = distinct_rows(table)
    if size is not None:
        size = whole(size, "size", least=0)
        require(size <= len(table), "size", size, f"at most {len(table)}, as items")
    fit = bounded_least_squares(rows, counts, target, weights=weights, total=size)
    chosen = _rounded(fit.coefficients[0], size)
    _exchange(
        rows * np.sqrt(weights),
        counts,
        (target - chosen @ rows) * np.sqrt(weights),
        chosen,
        size is not None,
    )
    items = _first_of_each(which, order, chosen)
    left = target - table[items].sum(axis=0)
    return Reconstruction(
        items=items,
        relaxed_profile=(fit.coefficients[0] / counts)[which],
        residual=float(weights @ left**2),
        relaxed_residual=2 * max(float(fit.objectives[0] - fit.gaps[0]), 0.0),  # Theorem 1
    )


def _checked(
    matrix: Any, histogram: ArrayLike, scales: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    table = finite(matrix.toarray() if hasattr(matrix, "toarray") else matrix, "matrix")
    full = table.ndim == 2 and table.size > 0
    require(full, "matrix", f"shape {table.shape}", "a row for each item, a column per attribute")
    target, spread = finite(histogram, "histogram"), finite(scales, "scales")
    for name, values in (("histogram", target), ("scales", spread)):
        fits = values.shape == table.shape[1:]
        require(fits, name, f"shape {values.shape}", f"{table.shape[1]} numbers, one per attribute")
    usable = bool(((spread > _LEAST) & (spread < 1 / _LEAST)).all())
    require(usable, "scales", "something else", f"between {_LEAST:g} and {1 / _LEAST:g}")
    return table, target, 1.0 / spread**2


def _order(ranking: ArrayLike | None, items: int) -> NDArray[np.int64]:
    if ranking is None:
        return np.arange(items)
    ranks = finite(ranking, "ranking")
    require(ranks.shape == (items,), "ranking", f"shape {ranks.shape}", "one number for each item")
    return np.argsort(-ranks, kind="stable")


def _rounded(coefficients: NDArray[np.float64], size: int | None) -> NDArray[np.int64]:
    """Whole numbers within 1 of the coefficients; those with the largest remainders go up."""
    chosen = np.floor(coefficients).astype(np.int64)
    remainders = coefficients - chosen
    wanted = int(np.rint(coefficients.sum())) if size is None else size
    up = np.argsort(-remainders, kind="stable")[: wanted - chosen.sum()]
    chosen[up] += 1
    return chosen


def _first_of_each(
    which: NDArray[np.int64], order: NDArray[np.int64], chosen: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The first ``chosen[k]`` items of each group k in the given order, sorted."""
    grouped = order[np.argsort(which[order], kind="stable")]
    groups = which[grouped]
    place = np.arange(groups.size) - np.searchsorted(groups, groups)
    return np.sort(grouped[place < chosen[groups]])


@njit(cache=True, nogil=True)
def _exchange(rows: Any, counts: Any, r: Any, chosen: Any, fixed: bool) -> None:
    """While r'r gets smaller: the best of one item in, one out, and one for another.

    With the size ``fixed`` only the last. r is the weighted residual of ``chosen`` and is kept so.
    """
    groups = len(rows)
    slopes, halves = np.empty(groups), np.empty(groups)
    for k in range(groups):
        halves[k] = np.dot(rows[k], rows[k]) / 2
    while True:
        for k in range(groups):
            slopes[k] = np.dot(rows[k], r)
        gain, into, out = _GAIN * max(np.dot(r, r) / 2, 1.0), -1, -1
        if not fixed:
            gain, into, out = _best_single(counts, chosen, slopes, halves, gain)
        gain, into, out = _best_swap(rows, counts, chosen, slopes, halves, gain, into, out)
        if into < 0 and out < 0:
            return
        if into >= 0:
            chosen[into] += 1
            r -= rows[into]
        if out >= 0:
            chosen[out] -= 1
            r += rows[out]


@njit(cache=True, nogil=True)
def _best_single(counts: Any, chosen: Any, slopes: Any, halves: Any, gain: float) -> Any:
    into, out = -1, -1
    for k in range(counts.size):
        if chosen[k] < counts[k] and slopes[k] - halves[k] > gain:
            gain, into, out = slopes[k] - halves[k], k, -1
        if chosen[k] > 0 and -slopes[k] - halves[k] > gain:
            gain, into, out = -slopes[k] - halves[k], -1, k
    return gain, into, out


@njit(cache=True, nogil=True)
def _best_swap(
    rows: Any,
    counts: Any,
    chosen: Any,
    slopes: Any,
    halves: Any,
    gain: float,
    into: int,
    out: int,
) -> Any:
    for k in range(counts.size):
        if chosen[k] == 0:
            continue
        for g in range(counts.size):
            if g == k or chosen[g] >= counts[g]:
                continue
            apart = slopes[g] - halves[g] - slopes[k] - halves[k]
            if apart + 2 * np.sqrt(halves[k] * halves[g]) > gain:  # Cauchy-Schwarz: worth a look
                together = apart + np.dot(rows[k], rows[g])
                if together > gain:
                    gain, into, out = together, g, k
    return gain, into, out
