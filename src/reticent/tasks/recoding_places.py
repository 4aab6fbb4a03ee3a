"""Which profile of an alphabet each row is, found by whole numbers and not row by row.

Notation  a column's cells have codes 0, 1, ..., and those that no profile has there share the next
          one; the codes of several columns are the digits of one number
Not here  what a row stands for that is no profile, and what becomes of it (recoding.py), how
          numbers are looked up (recoding_numbers.py).

Where the number of all columns would be too large, the numbers that profiles have so far are
counted through, and the next columns are added to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reticent.errors import require
from reticent.tasks.recoding_numbers import NEW, Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = 1 << 62
_MET = 1 << 18  # rows that are remembered


class Other(Protocol):
    """Who knows what a row stands for that is no profile."""

    @property
    def by_codes(self) -> bool:
        """Whether cells that no profile has are all alike to it."""

    def place(self, cells: Sequence[Any], codes: NDArray[np.int64]) -> int:
        """A profile, or -1."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coded:
    """A column: some cells, and which of them each row has."""

    cells: Sequence[Any]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, cells: Iterable[Any]) -> Coded:
        """Cells that are equal are one; what cannot be looked up, or is NaN, is like no other.

        Of equal cells of several types, as 1 and True, the first is kept.

        >>> column = Coded.of(["b", "a", "b", ["a"]])
        >>> column.cells, column.codes.tolist()
        (['b', 'a', ['a']], [0, 1, 0, 2])
        """
        held = list(cells)
        try:
            seen = {cell: code for code, cell in enumerate(dict.fromkeys(held))}
            odd = any(cell != cell for cell in seen)  # NaN is found by being the same object
        except TypeError:  # a list, as an odd cell may be, or cells that cannot be compared
            odd = True
        if odd:
            keys = [cell if _plain(cell) else _Odd(cell) for cell in held]
            seen = {cell: code for code, cell in enumerate(dict.fromkeys(keys))}
            own = [cell.cell if isinstance(cell, _Odd) else cell for cell in seen]
            return cls(own, np.fromiter(map(seen.__getitem__, keys), np.int64, len(held)))
        return cls(list(seen), np.fromiter(map(seen.__getitem__, held), np.int64, len(held)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Odd:
    """A cell that cannot be looked up."""

    cell: Any


@dataclass(slots=True, eq=False)
class Met:
    """A place to keep what rows outside an alphabet stand for."""

    numbers: Numbers | None = None  # the alphabet's, and theirs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Places:
    """The rows of a table of profiles, to be found by their cells."""

    cells: tuple[dict[Any, int], ...]  # of each column, with their codes
    codes: NDArray[np.int64]  # [profile, column]
    weights: tuple[int, ...]  # what one more in a column adds to the number
    folds: dict[int, Numbers]  # before which columns numbers are counted through
    known: Numbers

    @classmethod
    def of(cls, profiles: NDArray[Any]) -> Places:
        """Of profiles of at least one column."""
        columns = [Coded.of(column.tolist()) for column in profiles.T]
        found = [cell for column in columns for cell in column.cells]
        require(all(map(_hashable, found)), "profiles", "others", "of cells that can be looked up")
        cells = tuple({cell: i for i, cell in enumerate(column.cells)} for column in columns)
        numbers = np.zeros(len(profiles), dtype=np.int64)
        weights, folds, size = [], {}, 1  # size of all numbers so far
        for at, column in enumerate(columns):
            radix = len(column.cells) + 1
            if size * radix > _LARGEST:
                held, numbers = np.unique(numbers, return_inverse=True)
                folds[at] = Numbers.of(held, np.arange(len(held)))
                size = len(held) + 1
            weights.append(size)
            numbers = numbers + size * column.codes
            size *= radix
        codes = np.array([column.codes for column in columns], dtype=np.int64).T
        known = Numbers.of(numbers, np.arange(len(numbers)))
        return cls(cells, codes, tuple(weights), folds, known)

    @property
    def distinct(self) -> bool:
        """Whether no two profiles are the same."""
        return len(self.known) == len(self.codes)

    def find(
        self, columns: Sequence[Coded], other: Other, met: Met | None = None
    ) -> NDArray[np.int64]:
        """The place of each row, or what ``other`` says of a row that is no profile.

        ``met`` keeps what it said for another time, when it must be the same one.
        """
        own = self._own(columns)
        numbers, lost = self._numbers(columns, own)
        known = self.known if met is None or met.numbers is None else met.numbers
        places = known.find(numbers)
        new = np.flatnonzero(places == NEW)
        if not len(new):
            return places
        asked = _Asked(columns, own, other)
        alone = np.zeros(len(new), dtype=bool) if lost is None else lost[new]
        if not other.by_codes:
            alone = alone | (asked.codes(new) == list(map(len, self.cells))).any(axis=1)
        if alone.any():
            places[new[alone]] = asked.each(new[alone])
            new = new[~alone]
        more, first, which = np.unique(numbers[new], return_index=True, return_inverse=True)
        told = asked.places(new[first])
        places[new] = told[which]
        if met is not None and len(known) + len(more) <= len(self.known) + _MET:
            met.numbers = known.with_more(more, told)
        return places

    def _own(self, columns: Sequence[Coded]) -> list[NDArray[np.int64]]:
        """The code that each cell of a column has among the profiles."""
        found = []
        for held, column in zip(self.cells, columns, strict=True):
            other = len(held)
            own = [held.get(cell, other) if _hashable(cell) else other for cell in column.cells]
            found.append(np.array(own, dtype=np.int64))
        return found

    def _numbers(
        self, columns: Sequence[Coded], own: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Rows as numbers; and which of them have lost what they were, where numbers are folded."""
        numbers, lost = np.zeros(len(columns[0].codes), dtype=np.int64), None
        for at, (column, codes) in enumerate(zip(columns, own, strict=True)):
            if at in self.folds:
                fold = self.folds[at]
                numbers = fold.find(numbers)
                gone = numbers == NEW
                numbers[gone] = len(fold)
                lost = gone if lost is None else lost | gone
            numbers += (self.weights[at] * codes).take(column.codes)
        return numbers, lost


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Asked:
    """Rows, and who is asked for those that are no profile."""

    columns: Sequence[Coded]
    own: Sequence[NDArray[np.int64]]
    other: Other

    def codes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Codes[row, column] among the profiles."""
        each = zip(self.columns, self.own, strict=True)
        return np.array([own[column.codes[rows]] for column, own in each]).T

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """One by one."""
        held = [[c.cells[code] for code in c.codes[rows].tolist()] for c in self.columns]
        each = zip(zip(*held, strict=True), self.codes(rows), strict=True)
        return np.array([self.other.place(cells, codes) for cells, codes in each], dtype=np.int64)

    def each(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Once for those whose cells are the same."""
        cells = np.array([column.codes[rows] for column in self.columns])
        _, first, which = np.unique(cells, axis=1, return_index=True, return_inverse=True)
        return np.asarray(self.places(rows[first])[which.reshape(-1)])


def _plain(cell: Any) -> bool:
    """Whether a cell is of a kind that can always be compared, and is like itself."""
    return isinstance(cell, (str, int, float, type(None))) and cell == cell


def _hashable(cell: Any) -> bool:
    try:
        hash(cell)
    except TypeError:
        return False
    return True
