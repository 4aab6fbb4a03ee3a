"""Rows of a constraint matrix: the distinct ones, and those that no other row implies.

Theory    docs/theory/multilevel.md, Lemma 1 (maximal rows)
Not here  what the rows constrain (allocation.py).

For x >= 0 a row that is nowhere above another one is implied by it. Rows of zeros and ones are
packed into 64-bit words, so that "nowhere above" is one machine instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = 64


def distinct_rows(
    matrix: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows, for each row the number of its distinct one, and how often each occurs.

    >>> rows, which, counts = distinct_rows(np.array([[1, 0], [0, 1], [1, 0]]))
    >>> rows[which].tolist(), counts[which].tolist()
    ([[1, 0], [0, 1], [1, 0]], [2, 1, 2])
    """
    require(matrix.ndim == 2, "matrix", f"{matrix.ndim} dimensions", "rows of one length")
    words = _packed(matrix)
    keys = _as_bytes(matrix) if words is None else words
    _, first, which, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return matrix[first], which.reshape(-1), counts


def maximal_rows(matrix: NDArray[Any]) -> NDArray[Any]:
    """The distinct rows of a non-negative matrix that are below no other one. Lemma 1.

    Where nearly every row is maximal, the search is given up and implied rows may be left in.

    >>> maximal_rows(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0]])).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    from reticent.optim.rows_kernels import mark_maximal, mark_maximal_words  # loads Numba

    words = _packed(matrix)
    if words is not None:
        order = np.argsort(_WORD - np.bitwise_count(words), kind="stable")
        kept = np.empty(len(words), dtype=np.bool_)
        mark_maximal_words(words[order], kept)  # an equal word is below the first of them
        return matrix[order[kept]]
    rows = distinct_rows(matrix)[0]
    require(bool((rows >= 0).all()), "matrix", "a negative entry", "non-negative")
    rows = rows[np.argsort(-rows.sum(axis=1), kind="stable")]  # only a larger sum can be above
    if len(rows) and not rows[-1].any():
        rows = rows[:-1]
    kept = np.empty(len(rows), dtype=np.bool_)
    mark_maximal(np.ascontiguousarray(rows), kept)
    return rows[kept]


def _packed(matrix: NDArray[Any]) -> NDArray[np.uint64] | None:
    """Rows of zeros and ones as words; None for others."""
    from reticent.optim.rows_kernels import pack_words  # loads Numba

    if matrix.shape[1] > _WORD:
        return None
    words = np.empty(len(matrix), dtype=np.uint64)
    return words if pack_words(np.ascontiguousarray(matrix), words) else None


def _as_bytes(matrix: NDArray[Any]) -> NDArray[Any]:
    whole = np.ascontiguousarray(matrix + 0)  # + 0 makes -0.0 the same as 0.0
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).reshape(-1)
