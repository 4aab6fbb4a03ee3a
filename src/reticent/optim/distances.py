"""Distances between profiles, in a form that compiled loops can walk without a matrix.

Theory    docs/theory/mapping.md, Definition 2 (distortion)
Notation  d(j, i) = distance from input profile j to output profile i
Not here  what is done with them (mapping.py and its solvers).

A Hamming distance over few categories becomes the number of bits in which two words differ, which
is one machine instruction for eight attributes and more; nothing of size n x n is ever stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MATRIX, BITS, CODES, POINTS = range(4)
_WORD_BITS = 64
_MOST_WORDS = 4
_PAIRS = 1 << 20  # looked up at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distance:
    """Distances from every profile to every profile; make one with the functions below."""

    kind: int
    words: NDArray[np.uint64]  # BITS: one row of words per profile
    codes: NDArray[np.int32]  # CODES: one row of categories per profile
    points: NDArray[np.float64]  # POINTS: one row of coordinates; CODES: weights in row 0
    matrix: NDArray[np.float64]  # MATRIX: d(j, i) at [j, i]
    scale: float

    @property
    def size(self) -> int:
        """How many profiles there are."""
        tables: dict[int, NDArray[Any]] = {
            MATRIX: self.matrix,
            BITS: self.words,
            CODES: self.codes,
            POINTS: self.points,
        }
        return len(tables[self.kind])

    @property
    def largest(self) -> float:
        """No distance is larger."""
        if self.kind == MATRIX:
            return float(self.matrix.max())
        if self.kind == POINTS:
            return float((np.ptp(self.points, axis=0) ** 2).sum()) * self.scale
        return 1.0

    def scaled(self, factor: float) -> Distance:
        """All distances times ``factor``."""
        if self.kind == BITS:
            return replace(self, scale=self.scale * factor)
        if self.kind == MATRIX:
            return replace(self, matrix=self.matrix * factor)
        root = factor if self.kind == CODES else math.sqrt(factor)
        return replace(self, points=self.points * root)

    def row(self, j: int) -> NDArray[np.float64]:
        """d(j, i) for all i."""
        if self.kind == MATRIX:
            return np.asarray(self.matrix[j])
        if self.kind == BITS:
            counts = np.bitwise_count(self.words ^ self.words[j]).sum(axis=1)
            return np.asarray(counts * self.scale)
        if self.kind == CODES:
            return np.asarray((self.codes != self.codes[j]) @ self.points[0])
        return np.asarray(((self.points - self.points[j]) ** 2).sum(axis=1) * self.scale)

    def pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """d(j, i) for pairs of profiles."""
        found = np.empty(len(first))
        for at in range(0, len(found), _PAIRS):
            part = slice(at, at + _PAIRS)
            found[part] = self._pairs(first[part], second[part])
        return found

    def _pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.kind == MATRIX:
            return np.asarray(self.matrix[first, second])
        if self.kind == BITS:
            counts = np.bitwise_count(self.words[first] ^ self.words[second]).sum(axis=1)
            return np.asarray(counts * self.scale)
        if self.kind == CODES:
            return np.asarray((self.codes[first] != self.codes[second]) @ self.points[0])
        far = ((self.points[first] - self.points[second]) ** 2).sum(axis=1)
        return np.asarray(far * self.scale)

    def dense(self) -> NDArray[np.float64]:
        """The whole matrix, [j, i]; for small alphabets."""
        return np.array([self.row(j) for j in range(self.size)])

    def arrays(self) -> tuple[Any, ...]:
        """For the kernels."""
        return self.kind, self.words, self.codes, self.points, self.matrix, self.scale


def _empty(**given: Any) -> Distance:
    defaults: dict[str, Any] = {
        "words": np.zeros((0, 1), dtype=np.uint64),
        "codes": np.zeros((0, 1), dtype=np.int32),
        "points": np.zeros((0, 1)),
        "matrix": np.zeros((0, 0)),
        "scale": 1.0,
    }
    return Distance(**{**defaults, **given})


def hamming(profiles: ArrayLike, *, weights: Sequence[float] | None = None) -> Distance:
    """The share of columns in which two profiles differ, or the weight of those columns.

    ``weights`` are divided by their sum, so that the largest distance is 1.

    >>> hamming([["a", "x"], ["a", "y"], ["b", "y"]]).row(0).tolist()
    [0.0, 0.5, 1.0]
    """
    table = np.asarray(profiles)
    require(table.ndim == 2 and table.size > 0, "profiles", f"shape {table.shape}", "a table")
    codes = np.empty(table.shape, dtype=np.int32)
    for column in range(table.shape[1]):
        codes[:, column] = _numbers(table[:, column])
    if weights is None:
        sizes = codes.max(axis=0) + 1
        if sizes.sum() <= _WORD_BITS * _MOST_WORDS:
            return _empty(kind=BITS, words=_one_hot(codes, sizes), scale=0.5 / table.shape[1])
        weights = np.ones(table.shape[1]).tolist()
    given = np.asarray(weights, dtype=np.float64)
    proper = given.shape == (table.shape[1],) and bool(np.isfinite(given).all())
    proper = proper and bool((given >= 0).all()) and given.max() > 0
    require(proper, "weights", "other", "one non-negative number per column, not all 0")
    given = given / given.max()  # so that the sum is finite
    return _empty(kind=CODES, codes=codes, points=(given / given.sum())[None])


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Equal values as equal numbers; of objects also where some cannot be put in order."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    places: dict[Any, int] = {}
    return np.array([places.setdefault(value, len(places)) for value in values.tolist()])


def squared_euclidean(points: ArrayLike) -> Distance:
    """|x - y|^2.

    >>> squared_euclidean([[0.0], [1.0], [3.0]]).row(0).tolist()
    [0.0, 1.0, 9.0]
    """
    table = np.asarray(points, dtype=np.float64)
    proper = table.ndim == 2 and table.size > 0 and bool(np.isfinite(table).all())
    require(proper, "points", "other", "rows of finite numbers")
    wide = float((np.ptp(table, axis=0) ** 2).sum())
    require(math.isfinite(wide), "points", "other", "near enough for finite squared distances")
    return _empty(kind=POINTS, points=np.ascontiguousarray(table))


def distance_matrix(
    values: ArrayLike | Callable[[Any, Any], float], profiles: Sequence[Any] | None = None
) -> Distance:
    """Distances given one by one: a matrix [from, to], or a function of two of ``profiles``."""
    if callable(values):
        if profiles is None:
            raise ParameterError("profiles", "given with a function", None)
        values = [[values(a, b) for b in profiles] for a in profiles]
    table = np.ascontiguousarray(values, dtype=np.float64)
    square = table.ndim == 2 and table.shape[0] == table.shape[1] and table.size > 0
    require(square, "values", f"shape {table.shape}", "as many rows as columns")
    good = bool(np.isfinite(table).all() and (table >= 0).all())
    require(good, "values", "other", "finite and not negative")
    require(not table.diagonal().any(), "values", "other", "0 from a profile to itself")
    return _empty(kind=MATRIX, matrix=table)


def _one_hot(codes: NDArray[np.int32], sizes: NDArray[np.int32]) -> NDArray[np.uint64]:
    """One bit per category: two profiles differ in two bits for each column that differs."""
    places = np.concatenate([[0], np.cumsum(sizes)[:-1]]) + codes
    words = np.zeros((len(codes), -(-int(sizes.sum()) // _WORD_BITS)), dtype=np.uint64)
    for column in range(codes.shape[1]):
        word, bit = np.divmod(places[:, column], _WORD_BITS)
        words[np.arange(len(codes)), word] |= np.uint64(1) << bit.astype(np.uint64)
    return words
