"""Tables of data-frame libraries: pandas, polars and Arrow come in, and the same kind goes out.

Notation  a frame = a table held in memory by one of these libraries, seen through narwhals
Not here  what a table means (frame_tables.py), files (interactions.py, people_tables.py,
          graphs.py), what is released (tasks/).

The only module that knows about frames; narwhals loads when the first one is met. The type of a
column is public, its values are not: a value is read by itself and is never part of an error, and
neither are names of columns that nobody asked for. What has no number or name is missing, as in
files: a line without a person or an item is left out, a weight that is no number withholds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.interactions import TableError
from reticent.data.labels import codes_of, text_of
from reticent.data.list_columns import lines_of
from reticent.data.profiles import number_of
from reticent.data.text_tables import cell_text
from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

CALLED = "the frame"  # in errors
NUMBERS = "with numbers where they are declared"
_WHOLE = re.compile(r"-?\d{1,18}")
_DIGITS = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame:
    """A table of any library, its columns as NumPy arrays, and how to make another of its kind."""

    table: Any  # as narwhals sees it
    batch: bool = False  # an Arrow record batch, not a table

    @classmethod
    def of(cls, table: Any) -> Frame:
        """From a pandas or polars data frame, an Arrow table or an Arrow record batch."""
        import narwhals.stable.v2 as nw

        batch = type(table).__module__ == "pyarrow.lib" and type(table).__name__ == "RecordBatch"
        if batch:
            table = import_module("pyarrow").Table.from_batches([table])
        lazy = hasattr(table, "collect") and not hasattr(table, "height")
        require(not lazy, "frame", "a lazy one", "held in memory: collect() it first")
        try:
            return cls(nw.from_native(table, eager_only=True), batch)
        except TypeError:
            rule = "a pandas or polars data frame or an Arrow table"
            raise ParameterError("frame", rule, type(table).__name__) from None
        except ValueError:  # its message would name the columns
            raise TableError(CALLED, "has two columns of the same name") from None

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"Frame({self.table.implementation})"  # values are private

    @property
    def names(self) -> list[Any]:
        """Of the columns, as the frame spells them."""
        return list(self.table.columns)

    @property
    def lists(self) -> list[str]:
        """Names of the columns that hold lists."""
        kinds = self.table.schema.items()
        return [str(name) for name, kind in kinds if _is(kind, "List", "Array")]

    def exploded(self, names: Sequence[str]) -> Frame:
        """A line for each item of the lists in columns ``names``."""
        return Frame.of(lines_of(self.table.to_arrow(), names))

    def named(self, name: str) -> Any:
        """How the frame spells a column; capitals do not matter unless two differ by them only."""
        if name in self.names:
            return name
        wanted = str(name).strip().casefold()
        found = [own for own in self.names if str(own).strip().casefold() == wanted]
        if len(found) != 1:
            raise TableError(CALLED, f"has no column called {str(name).strip()!r}")
        return found[0]

    def cells(self, name: Any) -> NDArray[Any]:
        """A column: numbers as numbers if none is missing, else what each cell holds, or None."""
        column = self.table[name]
        kind = column.dtype
        whole = kind.is_integer() or _is(kind, "Boolean")
        if kind.is_float() or (whole and not column.null_count()):
            return np.asarray(column.to_numpy())
        return _objects([_cell(value) for value in column.to_list()])

    def texts(self, name: Any) -> NDArray[np.str_]:
        """A column as the readers of files hold it: text, and nothing where a cell is missing."""
        return np.array([cell_text(value) for value in self.cells(name).tolist()], dtype=np.str_)

    def is_named(self, name: Any) -> bool:
        """Whether a column is one of text or of whole numbers, each cell of which is a name."""
        kind = self.table[name].dtype
        return bool(kind.is_integer()) or _is(kind, "String")

    def labels(self, name: Any) -> tuple[NDArray[np.int64], list[str]]:
        """A column of names, text or whole numbers, as codes (labels.py); -1 is missing."""
        column = self.table[name]
        kind = column.dtype
        good = kind.is_integer() or kind.is_float() or _is(kind, *_NAMING)
        require(good, "columns", str(kind), "of names: text or whole numbers")
        if kind.is_integer() and not column.null_count():
            return codes_of(np.asarray(column.to_numpy()), "columns")
        if self.table.implementation.is_pyarrow():
            return _coded(column.to_native())
        return codes_of(column.to_list(), "columns")

    def numbers(self, name: Any) -> NDArray[Any]:
        """A column of numbers; one of text is refused, for the type of a column is public.

        A column of Python objects has no type. What it is called then depends on its cells, so it
        is taken, and each cell is read by itself.
        """
        kind, held = self.table[name].dtype, self.table[name].to_native()
        untyped = str(getattr(held, "dtype", "")).casefold() == "object"
        good = untyped or kind.is_numeric() or _is(kind, "Boolean")
        require(good, "columns", str(kind), NUMBERS)
        return self.cells(name)

    def weights(self, name: Any) -> NDArray[Any]:
        """A column of weights: numbers, or texts of which some are numbers (profiles.py)."""
        kind = self.table[name].dtype
        good = kind.is_numeric() or _is(kind, "Boolean", *_NAMING)
        require(good, "columns", str(kind), "with weights that are numbers")
        return self.cells(name)

    def chosen(
        self, like: Any, values: Sequence[Any], codes: NDArray[Any], *, gaps: bool = False
    ) -> Any:
        """The ``values`` at ``codes`` as a column of the type of column ``like``, if that fits.

        Without ``like`` (None) they have a type of their own. With ``gaps`` codes below 0 are
        missing. The type depends on the values, which are public, and on nothing that was drawn.
        """
        old = None if like is None else self.table[like]
        places = np.asarray(codes, dtype=np.int64)
        return _gathered(self.table, old, list(values), places, gaps)

    def made(self, columns: Mapping[Any, Any], *, rows: bool) -> Any:
        """A frame of this kind; with ``rows`` of this frame's rows, so with its index.

        A column is an array of numbers or comes from ``chosen``.
        """
        import narwhals.stable.v2 as nw

        backend, native = self.table.implementation, self.table.to_native()
        if backend.is_pandas_like():
            index = native.index if rows else None
            made = self.table.__native_namespace__().DataFrame(dict(columns), index=index)
            made.columns.name = native.columns.name
            return made
        series = {
            name: nw.Series.from_numpy(name, np.ascontiguousarray(values), backend=backend)
            if isinstance(values, np.ndarray)
            else values.alias(name)
            for name, values in columns.items()
        }
        table = nw.from_dict(series, backend=backend).to_native()
        return _as_batch(table) if self.batch else table


def _coded(column: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Names of an Arrow column, each of which is spelt once."""
    held = column.combine_chunks()
    coded = held if hasattr(held, "dictionary") else held.dictionary_encode()
    codes, names = codes_of(coded.dictionary.to_pylist(), "columns")
    places = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.append(codes, -1)[places], names


_NAMING = ("String", "Categorical", "Enum", "Object")


def plain_cells(table: Any) -> Any:
    """A pandas frame that mixes its own types of numbers with text, cell by cell; others as is.

    NumPy has no type in common for both, and what libraries choose instead are floats.
    """
    kinds = list(getattr(table, "dtypes", ())) if hasattr(table, "notna") else []
    own = {getattr(kind, "kind", "O") for kind in kinds if not isinstance(kind, np.dtype)}
    mixed = own - {"O"} and any(getattr(kind, "kind", "O") == "O" for kind in kinds)
    return table.astype(object).where(table.notna(), None) if mixed else table


def _is(kind: Any, *names: str) -> bool:
    return type(kind).__name__ in names or getattr(kind, "__name__", "") in names


def _cell(value: Any) -> Any:
    """What a cell holds; None for every sign that something is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _gathered(table: Any, old: Any, values: list[Any], codes: NDArray[np.int64], gaps: bool) -> Any:
    if None in values:  # what is missing stays missing and is no text
        there = np.array([value is not None for value in values])
        codes = np.where(codes < 0, -1, np.where(there, np.cumsum(there) - 1, -1)[codes])
        values, gaps = [value for value in values if value is not None], True
    kind = None if old is None else old.dtype
    own = None if old is None else old.to_native()
    held = _back(kind, values, getattr(getattr(own, "dtype", None), "categories", ()))
    fits = kind is not None and all(_holds(kind, value) for value in held)
    if not fits and len({type(value) for value in held}) > 1:
        held = [str(value) for value in held]
    if gaps:
        codes = np.where(codes < 0, len(held), codes)
    if table.implementation.is_pandas_like():
        dtype = old.to_native().dtype if fits else None
        return _pandas_values(table.__native_namespace__(), dtype, held, gaps).take(codes)
    import narwhals.stable.v2 as nw

    listed = [*held, None] if gaps else held
    return nw.new_series("", listed, kind if fits else None, backend=table.implementation)[codes]


def _pandas_values(pandas: Any, dtype: Any, values: list[Any], gaps: bool) -> Any:
    """As pandas has it: whole numbers that may have gaps are floats, unless they are nullable."""
    if hasattr(dtype, "categories"):
        more = [value for value in dict.fromkeys(values) if value not in dtype.categories]
        dtype = pandas.CategoricalDtype([*dtype.categories, *more], dtype.ordered)
    if gaps and isinstance(dtype, np.dtype):
        dtype = np.dtype(float) if dtype.kind in "iuf" else np.dtype(object)
    if dtype is None and not values:
        dtype = np.dtype(object)
    return pandas.Series([*values, None] if gaps else values, dtype=dtype).array


def _back(kind: Any, values: list[Any], categories: Sequence[Any]) -> list[Any]:
    """Names and values that are kept as text, as the numbers that a column of numbers holds."""
    if kind is None or not all(isinstance(value, str) for value in values):
        return values
    if not kind.is_numeric():
        known = {text_of(category): category for category in categories}
        return [known.get(value, value) for value in values]
    if all(_WHOLE.fullmatch(value) for value in values):
        return [int(value) for value in values]
    numbers = [_number(value) for value in values]
    return numbers if all(_holds(kind, number) for number in numbers) else values


def _number(text: str) -> int | float | None:
    number = number_of(text)
    if number is None or text_of(number) != text:
        return None
    return int(text) if _DIGITS.fullmatch(text) else number


def _holds(kind: Any, value: Any) -> bool:
    """Whether a column of this type holds a value as it is."""
    if isinstance(value, bool):
        return _is(kind, "Boolean", "Object")
    if isinstance(value, int) and kind.is_integer():
        ends = np.iinfo(type(kind).__name__.lower())
        return bool(ends.min <= value <= ends.max)
    if isinstance(value, (int, float)):
        return bool(kind.is_float()) or _is(kind, "Object", "Categorical")
    if _is(kind, "Enum"):
        return value in kind.categories
    return isinstance(value, str) and _is(kind, *_NAMING)


def _as_batch(table: Any) -> Any:
    batches = table.combine_chunks().to_batches()
    if batches:
        return batches[0]
    return import_module("pyarrow").RecordBatch.from_pylist([], schema=table.schema)
