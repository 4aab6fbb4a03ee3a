"""Reading a table of people, one line each, into columns of text; numbers put into ranges.

Not here  who has which item (interactions.py), what is done with profiles (tasks/).

Formats: CSV with a header line (also gzipped) and Parquet. Every cell is read as text, without the
spaces around it; an empty one is a value of its own. Errors name the file and its form, never a
value, and not the header either: in a file without one that would be the first person.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.interactions import TableError
from reticent.data.text_tables import read_columns, read_lines
from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

PEOPLE_FORMATS = (".csv", ".csv.gz", ".parquet")
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_LARGEST = 1e15  # beyond it floats are no whole numbers any more


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class People:
    """Columns of text by name, one line per person; ``file`` is what errors call it."""

    file: str
    columns: Mapping[str, NDArray[np.str_]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"People({self.file!r}, {len(self.columns)} columns)"  # values are private

    def named(self, name: str) -> str:
        """How the table spells a column; capitals do not matter."""
        spelt = {own.casefold(): own for own in self.columns}
        wanted = name.strip().casefold()
        if wanted in spelt:
            return spelt[wanted]
        hint = "its first line must be the header, and names are compared letter by letter"
        raise TableError(self.file, f"has no column called {name.strip()!r}; {hint}")

    def column(self, name: str) -> NDArray[np.str_]:
        """One column."""
        return self.columns[self.named(name)]

    def rows(self, names: Sequence[str], widths: Mapping[str, float] | None = None) -> NDArray[Any]:
        """Some columns side by side, [person, column]; numbers of ``widths`` put into ranges."""
        wide = {self.named(name): width for name, width in (widths or {}).items()}
        found = [
            in_ranges(self.column(name), wide[self.named(name)])
            if self.named(name) in wide
            else self.column(name)
            for name in names
        ]
        return np.column_stack(found)

    def only(self, kept: NDArray[np.bool_] | NDArray[np.int64]) -> People:
        """Some of the people, by mark or by line."""
        return People(self.file, {name: held[kept] for name, held in self.columns.items()})


def read_people(
    path: str | Path,
    *,
    empty: bool = False,
    wanted: Callable[[Sequence[str]], Collection[str]] | None = None,
) -> People:
    """A table with a header line: .csv, .csv.gz or .parquet; ``empty`` if it may have no people.

    Where it is private whether anybody is in it, it must. Of all names of columns ``wanted`` says
    which are read; without it all are.
    """
    path = Path(path)
    name = path.name.casefold()
    if not name.endswith(PEOPLE_FORMATS):
        if path.is_dir():
            raise TableError(path.name, "is a directory")
        raise ParameterError("table", f"a file named {', '.join(PEOPLE_FORMATS)}", path.name)
    if name.endswith(".parquet"):
        header, lines = read_lines(path)
        _check_header(path, header)
        held = [[line[place] for line in lines] for place in range(len(header))]
        kept, count = header, len(lines)
    else:
        kept = []

        def chosen(header: list[str]) -> list[int]:
            _check_header(path, header)
            names = [own.strip() for own in header]
            some = names if wanted is None else wanted(names)
            kept.extend(own for own in names if own in some)
            return [place for place, own in enumerate(names) if own in some]

        _, held = read_columns(path, chosen)
        count = len(held[0]) if held else 0
    if not count and not empty:
        raise TableError(path.name, "has no people: there is nothing below the header")
    return People(
        path.name,
        {
            own.strip(): np.array([cell.strip() for cell in cells], dtype=np.str_)
            for own, cells in zip(kept, held, strict=True)
        },
    )


def _check_header(path: Path, header: Sequence[str]) -> None:
    names = [name.strip() for name in header]
    for sign, called in _SEPARATORS.items():
        if len(names) == 1 and sign in names[0]:
            told = f"has a single column: is it separated by {called}? Commas are needed"
            raise TableError(path.name, told)
    if len({name.casefold() for name in names}) < len(names):
        raise TableError(path.name, "has two columns of the same name")


def in_ranges(values: NDArray[np.str_], width: float) -> NDArray[np.str_]:
    """Numbers as the range of ``width`` they fall in, counted from 0; other text stays as it is.

    >>> in_ranges(np.array(["37", "40", "-3", "?"]), 10).tolist()
    ['30-39', '40-49', '-10 to -1', '?']
    >>> in_ranges(np.array(["0.3"]), 0.25).tolist()
    ['0.25 to below 0.5']
    """
    require(math.isfinite(width) and width > 0, "width", width, "positive and finite")
    distinct, which = np.unique(values, return_inverse=True)
    ranges = np.array([_range(text, width) for text in distinct.tolist()], dtype=np.str_)
    return np.asarray(ranges[which.reshape(-1)])


def has_numbers(values: NDArray[np.str_]) -> bool:
    """Whether some of the values are numbers, which ranges could be made of.

    >>> has_numbers(np.array(["?", "37"])), has_numbers(np.array(["?", "nan", ""]))
    (True, False)
    """
    return any(math.isfinite(_number(text)) for text in np.unique(values).tolist())


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _range(text: str, width: float) -> str:
    number = _number(text)
    if not abs(number) < _LARGEST * min(width, 1.0):
        return text
    wide = Decimal(repr(float(width)))  # as it was written: 0.3 is in the range from 0.3
    low = (Decimal(text.strip()) / wide).to_integral_value(ROUND_FLOOR) * wide
    if wide != wide.to_integral_value():
        return f"{low.normalize():f} to below {(low + wide).normalize():f}"
    first, last = int(low), int(low + wide) - 1
    if first == last:
        return str(first)
    return f"{first} to {last}" if first < 0 else f"{first}-{last}"
