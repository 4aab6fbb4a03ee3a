"""Profiles of many people: who has which item, with which weight, as sorted sparse rows.

Notation  rows = people, columns = items of the catalogue, weight v in units of 2**-20
Not here  reading files (tables.py), what is released from profiles (tasks/).

Values and weights are private: whatever is no number in [0, 1] is clamped or withheld, never
reported; a column without a single number is of the wrong type and is refused. Names are text and
stand in canonical order (labels.py). An item of weight 0 is dropped on reading, before names are
collected, so that it changes nothing at all. People and items that are declared are all there,
whether or not they occur, and others are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.labels import canonical, codes_of, ordered, places_of, texts_of
from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from reticent.data.interactions import Columns

WEIGHT_BITS = 20
FULL_WEIGHT = 1 << WEIGHT_BITS
WEIGHTS = "numbers from 0 to 1"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profiles:
    """Sparse rows: person u has items ``indices[indptr[u]:indptr[u + 1]]``, sorted and distinct."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.int32]
    people: Sequence[str]
    items: Sequence[str]
    private: bool = True  # false once a seeded source has had a part in them

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self.weights.clip(0, FULL_WEIGHT))
        rising = np.ones(self.indices.size, dtype=bool)
        rising[1:] = self.indices[1:] > self.indices[:-1]
        starts = self.indptr[:-1]
        rising[starts[starts < rising.size]] = True
        require(bool(rising.all()), "indices", "other", "sorted and distinct in each row")

    def __repr__(self) -> str:
        return f"Profiles({len(self)} people, {self.n_items} items)"  # who has what is private

    @classmethod
    def of(
        cls,
        who: ArrayLike,
        what: ArrayLike,
        weights: ArrayLike | float = 1.0,
        *,
        people: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Profiles:
        """From a long table, one line per person and item. Repeated lines keep the least weight.

        ``people`` and ``items`` declare who and what there is; otherwise it is whoever and whatever
        has a line of positive weight, and to use that is to say that it is public.

        >>> club = Profiles.of(["bob", "ann", "bob"], ["Heat", "Heat", "Alien"], [1, 0.5, 0])
        >>> club.people, club.items, club.row(0).tolist()
        (['ann', 'bob'], ['Heat'], [0])
        """
        rows, columns = codes_of(who, "people"), codes_of(what, "items")
        shape = rows[0].shape
        lines = f"{shape[0]} lines, as people"
        require(columns[0].shape == shape, "items", f"{columns[0].size} lines", lines)
        units = weight_units(weights)
        if units.ndim == 0:
            units = np.broadcast_to(units, shape)
        require(units.shape == shape, "weights", f"shape {units.shape}", lines)
        return cls.of_codes(rows, columns, units, people=people, items=items)

    @classmethod
    def of_lists(
        cls,
        who: ArrayLike,
        offsets: NDArray[np.int64],
        what: ArrayLike,
        weights: ArrayLike | float = 1.0,
        *,
        people: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Profiles:
        """From a list of items per person, end to end, as a list column of Arrow has them.

        Person u has ``what[offsets[u]:offsets[u + 1]]``. Who has an empty list is kept; a
        person or an item named twice counts as in a long table.

        >>> club = Profiles.of_lists(["ann", "bob", "cid"], np.array([0, 2, 3, 3]), [7, 9, 9])
        >>> len(club), club.sizes.tolist()
        (3, [2, 1, 0])
        """
        rows, names = codes_of(who, "people")
        columns, catalogue = codes_of(what, "items")
        ends = np.asarray(offsets, dtype=np.int64)
        fits = ends.shape == (rows.size + 1,) and int(ends[0]) >= 0
        fits = fits and bool((np.diff(ends) >= 0).all()) and int(ends[-1]) <= columns.size
        rule = "rising, one more than people, up to the number of items"
        require(fits, "offsets", f"shape {ends.shape}", rule)
        inside = slice(int(ends[0]), int(ends[-1]))
        units = weight_units(weights)
        if units.ndim:
            same = units.shape == columns.shape
            require(same, "weights", f"shape {units.shape}", "one per item")
        return cls.of_codes(
            (np.repeat(rows, np.diff(ends)), names),
            (columns[inside], catalogue),
            np.broadcast_to(units, columns.shape)[inside],
            people=canonical(rows, names)[1] if people is None else people,
            items=items,
        )

    @classmethod
    def of_codes(
        cls,
        who: tuple[NDArray[np.int64], Sequence[str]],
        what: tuple[NDArray[np.int64], Sequence[str]],
        units: NDArray[np.int32],
        *,
        people: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Profiles:
        """From lines as codes (labels.py), with names for them, and weights in units."""
        (rows, names), (columns, catalogue) = who, what
        known = (rows >= 0) & (columns >= 0)
        if not known.all():
            rows, columns, units = rows[known], columns[known], units[known]
        if not units.all():  # what is withheld must not even lend its name
            shape = len(names), len(catalogue)
            rows, columns, units = _least(rows, columns, units, shape)
            given = units > 0
            rows, columns, units = rows[given], columns[given], units[given]
        lines, listed = canonical(rows, names, ordered(people, "people"))
        places, things = canonical(columns, catalogue, ordered(items, "items"))
        rows, columns = lines[rows], places[columns]
        kept = (rows >= 0) & (columns >= 0)
        if not kept.all():
            rows, columns, units = rows[kept], columns[kept], units[kept]
        return cls._from_entries(rows, columns, units, listed, things)

    @classmethod
    def from_csr(cls, matrix: Any, weights: ArrayLike | None = None) -> Profiles:
        """From a scipy sparse matrix whose non-zero entries mark the items a person has.

        Rows and columns are named by their numbers, from 0. ``weights`` has one weight for each
        stored entry; without it every weight is 1.
        """
        matrix = matrix.tocoo()
        units = weight_units(np.ones(matrix.nnz) if weights is None else weights)
        given = f"one for each of {matrix.nnz} stored entries"
        require(units.shape == matrix.data.shape, "weights", f"shape {units.shape}", given)
        kept = (matrix.data != 0) & (units > 0)
        who, what = matrix.row[kept].astype(np.int64), matrix.col[kept].astype(np.int64)
        people, items = (list(map(str, range(size))) for size in matrix.shape)
        return cls._from_entries(who, what, units[kept], people, items)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        columns: Columns | None = None,
        *,
        people: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
    ) -> Profiles:
        """From a long table in a pandas or polars frame or an Arrow table, one line per item.

        Lines, names and weights count as in a file, and so do the names of columns: without one
        called weight every item counts in full.

        >>> import pyarrow
        >>> lines = {"user_id": [9, 7, 7], "item_id": ["Heat", "Up", "Heat"], "rating": [5, 3, 4]}
        >>> club = Profiles.from_frame(pyarrow.table(lines))
        >>> club.people, club.items, bool((club.weights == FULL_WEIGHT).all())
        (['7', '9'], ['Heat', 'Up'], True)
        """
        from reticent.data.frame_tables import Interactions  # which needs this module

        return Interactions.of(frame, columns, people=people, items=items).profiles

    def to_csr(self) -> Any:
        """The weights as a scipy sparse matrix; an item of weight 0 is stored as 0.

        >>> Profiles.of(["ann", "bob"], ["Heat", "Up"], [1, 0.5]).to_csr().toarray().tolist()
        [[1.0, 0.0], [0.0, 0.5]]
        """
        from scipy import sparse  # takes longer to load than all of a count or a quantile

        shape = (len(self), self.n_items)
        return sparse.csr_array(
            (self.weights / FULL_WEIGHT, self.indices.copy(), self.indptr.copy()), shape=shape
        )

    @classmethod
    def _from_entries(
        cls,
        who: NDArray[np.int64],
        what: NDArray[np.int64],
        units: NDArray[np.int32],
        people: Sequence[str],
        items: Sequence[str],
    ) -> Profiles:
        """Entries by person and item, each once with its least weight."""
        who, what, units = _least(who, what, units, (len(people), len(items)))
        indptr = np.zeros(len(people) + 1, dtype=np.int64)
        np.cumsum(np.bincount(who, minlength=len(people)), out=indptr[1:])
        return cls(indptr, what.astype(np.int32), units, people, items)

    def __len__(self) -> int:
        return len(self.people)

    @property
    def n_items(self) -> int:
        """Size of the catalogue."""
        return len(self.items)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many items each person has."""
        return np.diff(self.indptr)

    def weighted_sizes(self) -> NDArray[np.int64]:
        """Sum of each person's weights, in units of 2**-20."""
        sums = np.zeros(self.weights.size + 1, dtype=np.int64)
        np.cumsum(self.weights, out=sums[1:])
        return np.diff(sums[self.indptr])

    def row(self, person: int) -> NDArray[np.int32]:
        """Items of one person, as columns."""
        return self.indices[self.indptr[person] : self.indptr[person + 1]]

    def row_weights(self, person: int) -> NDArray[np.int32]:
        """Weights of one person's items, in units of 2**-20."""
        return self.weights[self.indptr[person] : self.indptr[person + 1]]

    def rows(self) -> NDArray[np.int64]:
        """The person of each entry."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def only(self, people: Sequence[int] | NDArray[np.int64]) -> Profiles:
        """Some of the people, by row and in this order, over the same items.

        >>> club = Profiles.of(["ann", "bob", "cid"], ["Heat", "Up", "Heat"])
        >>> club.only([2]).people, club.only([2]).row(0).tolist()
        (['cid'], [0])
        """
        rows = np.asarray(people, dtype=np.int64)
        indptr = np.concatenate([[0], np.cumsum(self.sizes[rows])])
        entries = np.arange(indptr[-1]) + np.repeat(
            self.indptr[rows] - indptr[:-1], np.diff(indptr)
        )
        return replace(
            self,
            indptr=indptr,
            indices=self.indices[entries],
            weights=self.weights[entries],
            people=[self.people[row] for row in rows.tolist()],
        )

    def with_weights(self, weights: ArrayLike) -> Profiles:
        """The same items with other weights, one per entry."""
        units = weight_units(weights)
        require(
            units.shape == self.indices.shape, "weights", f"shape {units.shape}", "one per entry"
        )
        return replace(self, weights=units)

    def where(self, kept: NDArray[np.bool_]) -> Profiles:
        """Only the entries marked; people and catalogue stay."""
        before = np.zeros(kept.size + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        indptr = before[self.indptr]
        return replace(self, indptr=indptr, indices=self.indices[kept], weights=self.weights[kept])

    def between(self, start: int, stop: int) -> Profiles:
        """The people of rows ``start`` to ``stop``, over the same items."""
        entries = slice(int(self.indptr[start]), int(self.indptr[stop]))
        return replace(
            self,
            indptr=self.indptr[start : stop + 1] - self.indptr[start],
            indices=self.indices[entries],
            weights=self.weights[entries],
            people=self.people[start:stop],
        )

    def transposed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The inverted index: for each item its people, sorted, with their weights."""
        from scipy import sparse

        shape = (len(self), self.n_items)
        columns = sparse.csr_array((self.weights, self.indices, self.indptr), shape=shape).tocsc()
        people = columns.indices.astype(np.int32, copy=False)
        return columns.indptr.astype(np.int64), people, columns.data

    def in_catalogue(self, people: Sequence[Any], items: Sequence[Any]) -> Profiles:
        """The same entries over these people and items, in this order; others are dropped."""
        everybody, things = texts_of(people, "people"), texts_of(items, "items")
        line = places_of(self.people, everybody, "people")
        column = places_of(self.items, things, "items")
        who, what = line[self.rows()], column[self.indices]
        kept = (who >= 0) & (what >= 0)
        inside = self._from_entries(who[kept], what[kept], self.weights[kept], everybody, things)
        return replace(inside, private=self.private)


def _least(
    who: NDArray[np.int64],
    what: NDArray[np.int64],
    units: NDArray[np.int32],
    shape: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Entries by person and item, each once with its least weight."""
    if shape[0] * shape[1] >= 1 << (62 - WEIGHT_BITS):
        return _sorted_rows(who, what, units, shape)
    # one integer holds all three: sorting it is ten times faster than lexsort
    key = (who * shape[1] + what) << (WEIGHT_BITS + 1) | units
    key.sort()
    units = (key & ((1 << (WEIGHT_BITS + 1)) - 1)).astype(np.int32)
    who, what = np.divmod(key >> (WEIGHT_BITS + 1), max(shape[1], 1))
    first = np.ones(who.size, dtype=bool)
    first[1:] = (who[1:] != who[:-1]) | (what[1:] != what[:-1])
    return who[first], what[first], units[first]


def _sorted_rows(
    who: NDArray[np.int64],
    what: NDArray[np.int64],
    units: NDArray[np.int32],
    shape: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """As ``_least``, however many names there are."""
    from scipy import sparse

    if (who[1:] < who[:-1]).any():
        order = np.argsort(who, kind="stable")
        who, what, units = who[order], what[order], units[order]
    indptr = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(who, minlength=shape[0]), out=indptr[1:])
    rows = sparse.csr_array((units.astype(np.int32), what.astype(np.int32), indptr), shape=shape)
    rows.sort_indices()
    what, units = rows.indices.astype(np.int64), rows.data
    first = np.ones(who.size, dtype=bool)
    first[1:] = (who[1:] != who[:-1]) | (what[1:] != what[:-1])
    if not first.all():
        units = np.minimum.reduceat(units, np.flatnonzero(first))
    return who[first], what[first], units


def weight_units(weights: ArrayLike | float) -> NDArray[np.int32]:
    """Weights in [0, 1] as multiples of 2**-20, rounded down; what is no number withholds."""
    known = np.nan_to_num(_reals(weights), nan=0.0)
    units: NDArray[np.int32] = np.floor(known.clip(0.0, 1.0) * FULL_WEIGHT).astype(np.int32)
    return units


def _reals(weights: ArrayLike | float) -> NDArray[np.float64]:
    """Weights as floats, each read by itself; what is no number is NaN and is never quoted."""
    try:
        typed = hasattr(weights, "__array__")
        array = np.asarray(weights) if typed else np.asarray(weights, dtype=object)
    except ValueError:  # rows of different lengths
        raise ParameterError("weights", "one number per line", "rows of lengths") from None
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    require(array.dtype.kind in "OUS", "weights", str(array.dtype), WEIGHTS)
    cells = array.ravel().tolist()
    reals = [number_of(cell) for cell in cells]
    require(are_numbers(cells, reals), "weights", "text", WEIGHTS)
    known = [np.nan if real is None else real for real in reals]
    return np.array(known, dtype=np.float64).reshape(array.shape)


def number_of(cell: object) -> float | None:
    """A cell as a number; None if it is none."""
    try:
        return float(cell)  # type: ignore[arg-type]
    except OverflowError:
        return np.inf if isinstance(cell, int) and cell > 0 else -np.inf
    except (TypeError, ValueError):
        return None


def are_numbers(cells: Sequence[object], reals: Sequence[float | None]) -> bool:
    """Whether a column of cells of any type is one of numbers: some cell is, or none says anything.

    The type of a column is public; whether one cell of it can be read is not. A weight of 0 decides
    nothing here either: its line is as if it were not there.
    """
    if any(real is not None and real > 0 for real in reals):
        return True
    return all(_nothing(cell) for cell, real in zip(cells, reals, strict=True) if real is None)


def _nothing(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell)
