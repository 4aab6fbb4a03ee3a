"""The public catalogue: which item has which attribute, and how much of it, in whole numbers.

Theory    docs/theory/multilevel.md, Definition 1 (catalogue)
Notation  a_ij = value of attribute j for item i = units_ij step_j
Not here  reading one from a file (catalogue_files.py), who has which item (profiles.py), what may
          be released of it (mechanisms/).

The catalogue is public and becomes exact here: a column of whole numbers up to 2**26 is kept as it
is, any other one is rounded to multiples of a power of two, about 2**-26 of its largest value.
What is released later is the histogram of these values, so nothing else needs rounding.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.labels import text_of
from reticent.errors import require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

UNIT_BITS = 26


@dataclass(frozen=True, eq=False, repr=False)  # no slots: cached properties need a dictionary
class Catalogue:
    """Items and attributes by name, and their values in columns: attribute j of its items.

    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
    >>> films.attributes, films.dense().tolist()
    (('Crime', 'Drama'), [[1, 1], [0, 1]])
    """

    items: tuple[str, ...]
    attributes: tuple[str, ...]
    starts: NDArray[np.int64]  # of each column, and the end
    rows: NDArray[np.int64]
    units: NDArray[np.int64]
    steps: tuple[Fraction, ...]

    @classmethod
    def of(
        cls,
        matrix: ArrayLike | Any,
        *,
        attributes: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
    ) -> Catalogue:
        """From a dense or SciPy sparse matrix with one row per item; unnamed is numbered from 0."""
        table = _by_columns(matrix)
        finite = bool(np.isfinite(table.data).all())
        require(finite, "matrix", "a value that is none", "finite numbers")
        count, width = table.shape
        names = _names(attributes, width, "attributes")
        things = _names(items, count, "items")
        units, steps = np.empty(table.nnz, dtype=np.int64), []
        for j in range(width):
            column = slice(int(table.indptr[j]), int(table.indptr[j + 1]))
            units[column], step = _whole_numbers(table.data[column])
            steps.append(step)
        return cls(
            things,
            names,
            table.indptr.astype(np.int64),
            table.indices.astype(np.int64),
            units,
            tuple(steps),
        )

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"Catalogue({len(self.items)} items, {len(self.attributes)} attributes)"

    @property
    def empty(self) -> tuple[str, ...]:
        """Attributes that no item has."""
        counts = np.diff(self.starts)
        return tuple(name for name, n in zip(self.attributes, counts, strict=True) if n == 0)

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """The attribute of each entry."""
        return np.repeat(np.arange(len(self.attributes)), np.diff(self.starts))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each item stands."""
        return {name: place for place, name in enumerate(self.items)}

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of names and values."""
        digest = hashlib.sha256(repr((self.items, self.attributes, self.steps)).encode())
        for part in (self.starts, self.rows, self.units):
            digest.update(part.astype("<i8").tobytes())
        return digest.hexdigest()

    def dense(self) -> NDArray[np.int64]:
        """Units, one row per item."""
        table = np.zeros((len(self.items), len(self.attributes)), dtype=np.int64)
        table[self.rows, self.columns] = self.units
        return table

    def values(self) -> NDArray[np.float64]:
        """Values as floats, one row per item."""
        return np.asarray(self.dense() * np.array([float(step) for step in self.steps]))

    def only(self, attributes: Sequence[str]) -> Catalogue:
        """The catalogue of some attributes, in the order given."""
        places = {name: place for place, name in enumerate(self.attributes)}
        for name in attributes:
            require(name in places, "attributes", name, "attributes of the catalogue")
        kept = [places[name] for name in attributes]
        parts = [np.arange(self.starts[j], self.starts[j + 1]) for j in kept]
        entries = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        return Catalogue(
            self.items,
            tuple(attributes),
            np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64),
            self.rows[entries],
            self.units[entries],
            tuple(self.steps[j] for j in kept),
        )


def _by_columns(matrix: Any) -> Any:
    """A sparse matrix without zeros, sorted by column."""
    from scipy import sparse  # takes longer to load than the rest of this module

    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix, dtype=np.float64)
        require(matrix.ndim == 2, "matrix", f"{matrix.ndim} dimensions", "one row per item")
    table: Any = sparse.csc_array(matrix, dtype=np.float64)
    table.sum_duplicates()
    table.eliminate_zeros()
    return table


def _names(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    listed = tuple(text_of(n) or "" for n in (range(count) if names is None else names))
    require(len(listed) == count, what, f"{len(listed)} names", f"{count} names")
    require(len(set(listed)) == count, what, "a name twice", "distinct names")
    return listed


def _whole_numbers(column: NDArray[np.float64]) -> tuple[NDArray[np.int64], Fraction]:
    """A column as multiples of the largest step that all its values share, once rounded."""
    largest = float(np.abs(column).max(initial=0.0))
    if largest == 0:
        return column.astype(np.int64), Fraction(1)
    require(1e-200 < largest < 1e200, "matrix", "another value", "within 1e-200 and 1e200")
    exponent = math.frexp(largest)[1] - UNIT_BITS
    if largest <= 1 << UNIT_BITS and bool((column == np.rint(column)).all()):
        exponent = 0
    units = np.rint(np.ldexp(column, -exponent)).astype(np.int64)
    divisor = int(np.gcd.reduce(units))
    return units // divisor, divisor * Fraction(2) ** exponent
