"""Columns as they are declared: which categories, or which range of numbers, never read from data.

Notation  a value's code = the number of its category, or of its bin; the last code is for what is
          missing, unknown or no number
Not here  what is learnt from codes (tasks/trained_tree.py), files (cli/).

A value outside a declared range counts as the nearest end of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from reticent.errors import ParameterError, require
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bounds: TypeAlias = Sequence[float]
"""The lower and the upper end of a range, or all edges of its bins, rising."""

_MOST = 1 << 15  # codes of a column
_SHORT = 1 << 8  # codes that fit a byte
_CELLS = 1 << 11  # in which edges are looked up
_BLOCK = 1 << 12  # rows
_CLOSE = 1 << 12  # whole numbers at most so far apart are looked up in a table
_EXACT = 1 << 50  # and so large: floats hold these exactly
_WRITTEN = 10**400
_NONE = "\0"  # what is missing; no category may be this text
_WHOLE = re.compile("0|-?[1-9][0-9]{0,400}")  # as _text writes them


@dataclass(frozen=True, slots=True)
class Column:
    """A name, and either categories or edges of bins. What is missing has a code of its own.

    >>> age = Column.numbers("age", (0, 100), bins=10)
    >>> age.codes(np.array([0, 99, 250, np.nan])).tolist(), age.size
    ([0, 9, 9, 10], 11)
    >>> Column("pet", categories=("cat", "dog")).codes(np.array(["dog", "owl"])).tolist()
    [1, 2]
    """

    name: str
    categories: tuple[Any, ...] = ()
    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        one = bool(self.categories) != bool(self.edges)
        require(one, self.name, "neither or both", "declared by categories or by bounds")
        if self.categories:
            texts = {_text(value) for value in self.categories}
            distinct = len(texts) == len(self.categories) and _NONE not in texts
            require(distinct, self.name, "repeated or missing ones", "distinct categories")
        else:
            rising = all(math.isfinite(edge) for edge in self.edges) and len(self.edges) > 1
            rising = rising and all(np.diff(self.edges) > 0)
            require(rising, self.name, "other edges", "two or more finite edges, rising")
        require(self.size <= _MOST, self.name, self.size, f"of at most {_MOST} values")

    @classmethod
    def numbers(cls, name: str, bounds: Bounds, *, bins: int) -> Self:
        """A range in ``bins`` bins of one width, or bins between all edges."""
        whole(bins, "bins", least=1)
        try:
            ends = [float(end) for end in bounds]
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(name, "declared by numbers as bounds", "others") from None
        good = len(ends) > 1 and all(math.isfinite(end) for end in ends) and ends[0] < ends[-1]
        require(good, name, "other bounds", "a lower and an upper end, or edges that rise")
        edges = np.linspace(ends[0], ends[1], bins + 1).tolist() if len(ends) == 2 else ends
        return cls(name, edges=tuple(edges))

    @property
    def ordered(self) -> bool:
        """Whether codes are in an order; then the missing come last."""
        return bool(self.edges)

    @property
    def size(self) -> int:
        """How many codes there are, with that of the missing."""
        return len(self.categories) + 1 if self.categories else len(self.edges)

    def codes(self, values: NDArray[Any]) -> NDArray[np.uint16]:
        """The code of each value."""
        found = np.empty(len(values), dtype=np.uint16)
        if not self._quick(values.dtype).find(values, found):
            found[:] = self._by_text(values)
        return found

    def _quick(self, dtype: np.dtype[Any]) -> _Bins | _Numbers | _Words:
        """How most values of this kind are coded."""
        if self.edges:
            return _Bins.of(self.edges)
        number = {_text(value): code for code, value in enumerate(self.categories)}
        return _Numbers.of(number) if dtype.kind in "iufb" else _Words(number, dtype.kind == "U")

    def _by_text(self, values: NDArray[Any]) -> NDArray[np.uint16]:
        """The code of each category, by what its text is."""
        number = {_text(value): code for code, value in enumerate(self.categories)}
        distinct, which = np.unique(values, return_inverse=True)
        codes = [number.get(_text(value), len(number)) for value in distinct.tolist()]
        return np.array(codes, dtype=np.uint16)[which.reshape(-1)]

    def told(self, code: int) -> str:
        """What a code stands for, in words."""
        if code == self.size - 1:
            return "missing"
        if self.categories:
            return str(self.categories[code])
        return f"{self.edges[code]:.6g} to {self.edges[code + 1]:.6g}"

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        if self.categories:
            return {"name": self.name, "categories": list(self.categories)}
        return {"name": self.name, "edges": list(self.edges)}

    @classmethod
    def of_plain(cls, held: Mapping[str, Any]) -> Self:
        """From ``plain()``."""
        categories, edges = tuple(held.get("categories", ())), tuple(held.get("edges", ()))
        return cls(str(held["name"]), categories, tuple(float(edge) for edge in edges))


def encode(columns: Sequence[Column], table: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Codes [n, d] of a table given column by column, in one byte each if they fit."""
    rows = len(table[0]) if table else 0
    short = all(column.size <= _SHORT for column in columns)
    found = np.empty((rows, len(columns)), dtype=np.uint8 if short else np.uint16)
    quick = [column._quick(values.dtype) for column, values in zip(columns, table, strict=True)]
    slow = set()
    for begin in range(0, rows, _BLOCK):  # columns of one array in turn, while it is in the cache
        block = slice(begin, begin + _BLOCK)
        for j, values in enumerate(table):
            if j not in slow and not quick[j].find(values[block], found[block, j]):
                slow.add(j)
    for j in slow:
        found[:, j] = columns[j].codes(table[j])
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Bins:
    """Inner edges, and how many of them are in cells before each of many evenly wide ones."""

    inner: NDArray[np.float64]
    first: NDArray[np.uint16]
    low: float
    near: float

    @classmethod
    def of(cls, edges: Sequence[float]) -> Self:
        """Cells of one width; only one if floats cannot tell them apart."""
        inner, low = np.array(edges[1:-1], dtype=np.float64), edges[0]
        width = (edges[-1] - low) / _CELLS
        near = 1 / width if 0 < width < math.inf else 0.0
        good = 0 < near < math.inf
        cells = _CELLS if good else 1
        # as find_bins computes it: then no edge of a cell before is above a value of this one
        cell = np.clip((inner - low) * near, 0, cells - 1).astype(np.int64) if good else 0 * inner
        first = np.searchsorted(cell, np.arange(cells + 1), side="left").astype(np.uint16)
        return cls(inner, first, low, near if good else 0.0)

    def find(self, values: NDArray[Any], found: NDArray[Any]) -> bool:
        """The bin of each value, into ``found``."""
        from reticent.mechanisms.tree_kernels import find_bins

        codes = np.empty(len(values), dtype=np.uint16)  # kernels compile once for each layout
        find_bins(_numbers(values), self.inner, self.first, self.low, self.near, codes)
        found[:] = codes
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Numbers:
    """Codes of whole numbers that lie close together: low, low + 1, ..., others, not a number."""

    low: int
    table: NDArray[np.uint16]

    @classmethod
    def of(cls, number: Mapping[str, int]) -> Self:
        """From the codes of texts; an empty table if the numbers among them are too far apart."""
        missing = len(number)
        ends = [missing, missing]
        of = {int(text): code for text, code in number.items() if _WHOLE.fullmatch(text)}
        if not of:
            return cls(0, np.array(ends, dtype=np.uint16))
        low, high = min(of), max(of)
        if high - low > _CLOSE or max(high, -low) > _EXACT:
            return cls(0, np.empty(0, dtype=np.uint16))
        codes = [of.get(value, missing) for value in range(low, high + 1)]
        return cls(low, np.array(codes + ends, dtype=np.uint16))

    def find(self, values: NDArray[Any], found: NDArray[Any]) -> bool:
        """The code of each value, into ``found``; False if another way must be taken."""
        from reticent.mechanisms.tree_kernels import look_up

        codes = np.empty(len(values), dtype=np.uint16)
        if not self.table.size or not look_up(_numbers(values), self.low, self.table, codes):
            return False
        found[:] = codes
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Words:
    """Codes of texts, value by value."""

    number: Mapping[str, int]
    alike: bool  # of a kind that NumPy can sort

    def find(self, values: NDArray[Any], found: NDArray[Any]) -> bool:
        """The code of each value, into ``found``; False if another way must be taken."""
        if self.alike:
            return False
        get, missing = self.number.get, len(self.number)
        texts = (value if type(value) is str else _text(value) for value in values.tolist())
        found[:] = [get(text, missing) for text in texts]
        return True


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind in "iufb":
        return values.astype(np.float64)
    return np.array([_number(value) for value in values.tolist()], dtype=np.float64)


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _text(value: object) -> str:
    """Equal numbers are one category however they are held: 1, 1.0 and '1'.

    What is missing, and whole numbers that no file writes out, are no category.
    """
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return _NONE
    if isinstance(value, int) and abs(value) > _WRITTEN:
        return _NONE
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)
