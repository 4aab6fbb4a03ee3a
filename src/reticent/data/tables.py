"""A table of records: named columns of equal length, frozen.

Not here  file formats (one module each), noise and promises (mechanisms/).

What a table computes is exact and therefore private: it goes into a mechanism, not to a reader.
Domains and bounds are always given by the caller, never read off the data, and a value outside
them is left out or clamped, never an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from reticent.errors import ParameterError, require

Cell: TypeAlias = str | int | None
"""One value; None where it is missing."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """Records by column.

    >>> table = Table({"town": ["Ulm", "Bern", "Ulm", None], "age": [30, 41, 250, None]})
    >>> table.counts("town", ["Bern", "Ulm", "Oslo"])
    [1, 2, 0]
    >>> table.clamped_sum("age", lower=0, upper=100)
    171
    """

    columns: Mapping[str, Sequence[Cell]]

    def __post_init__(self) -> None:
        kept = {name: tuple(values) for name, values in self.columns.items()}
        lengths = {len(values) for values in kept.values()}
        require(len(lengths) == 1, "columns", tuple(kept), "at least one, all of one length")
        object.__setattr__(self, "columns", MappingProxyType(kept))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> tuple[Cell, ...]:
        if name not in self.columns:
            raise ParameterError("column", f"one of {', '.join(self.columns)}", name)
        return tuple(self.columns[name])

    def __repr__(self) -> str:
        return f"Table({', '.join(self.columns)})"  # names only: values are private

    def counts(self, name: str, categories: Sequence[str]) -> list[int]:
        """How many records hold each declared category; anything else is left out.

        One record more or less changes one of the counts by one.
        """
        require(len(set(categories)) == len(categories), "categories", categories, "distinct")
        seen = Counter(self[name])
        return [seen[category] for category in categories]

    def clamped_sum(self, name: str, *, lower: int, upper: int) -> int:
        """The sum of a column with each value clamped to the declared bounds.

        What is missing, or no number, adds nothing. One record more or less changes the sum by at
        most the larger of the bounds in magnitude.
        """
        require(lower <= upper, "lower", lower, f"at most upper, {upper}")
        numbers = (value for value in self[name] if isinstance(value, int))
        return sum(min(max(number, lower), upper) for number in numbers)
