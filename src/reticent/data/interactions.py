"""Reading who has what: a long table of person, item and weight from a file, into profiles.

Notation  one line per person and item; the weight of a line is in [0, 1]
Not here  published data sets (sources/), what is done with profiles (tasks/).

Formats: CSV with a header line (also gzipped), Parquet, and a CSR matrix saved by scipy, whose
stored entries mark items and whose values are their weights. A weight that is no number withholds,
and a column of weights without a number is refused; a line without a person or an item is left out.
Errors name the file and its form, never a value, and not the header either: in a file without one
that would be the first person.
"""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.labels import codes_of, ordered, text_of
from reticent.data.list_columns import holds_lists, lines_of
from reticent.data.profiles import WEIGHTS, Profiles, number_of, weight_units
from reticent.errors import MissingExtra, ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNREADABLE = (
    *(AttributeError, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)  # what numpy and zipfile raise on a file that is no archive of arrays
FORMATS = (".csv", ".csv.gz", ".parquet", ".npz")
_ALSO = {
    "user": "userid uid person personid customer customerid member memberid visitor visitorid",
    "item": "items itemid iid movie movieid film filmid artist artistid track trackid song songid "
    "book bookid product productid article articleid",
}  # other names of these columns, without signs; of the weights there are none: a rating is no wish
_ALIKE = {name: frozenset(others.split()) for name, others in _ALSO.items()}
_HINT = "if it has another name: --columns NAME,NAME,NAME"


class TableError(ParameterError):
    """A file is not the table it should be; the message is about its form, never its lines."""

    def __init__(self, file: str, what: str) -> None:
        super().__init__(file, what, None)
        self.args = (f"{file} {what}",)

    def __reduce__(self) -> tuple[type[TableError], tuple[str, str]]:  # type: ignore[override]
        return TableError, (self.name, self.rule)


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a long table are called; capitals do not matter.

    A table without ``user`` or ``item`` may have one column of another usual name instead, as
    ``user_id`` or ``movieId``, where nothing is said or the name is one of those ``unsaid``.
    Ratings and counts are never taken for weights.

    >>> Columns.parse("reader,book")
    Columns(user='reader', item='book', weight=None, weight_optional=False)
    """

    user: str = "user"
    item: str = "item"
    weight: str | None = "weight"
    weight_optional: bool = True
    unsaid: frozenset[str] = field(default=frozenset(), repr=False)

    def __post_init__(self) -> None:
        names = [name for name in (self.user, self.item, self.weight) if name is not None]
        given = all(name.strip() for name in names)
        distinct = len({name.strip().casefold() for name in names}) == len(names)
        require(given and distinct, "columns", ",".join(names), "distinct names")

    @classmethod
    def parse(cls, text: str) -> Columns:
        """From ``user,item`` or ``user,item,weight``; a weight that is named must be there."""
        names = [name.strip() for name in text.split(",")]
        require(len(names) in (2, 3), "columns", text, "user,item or user,item,weight")
        return cls(names[0], names[1], names[2] if len(names) == 3 else None, False)


def read_profiles(
    path: str | Path,
    columns: Columns | None = None,
    *,
    people: Iterable[Any] | None = None,
    items: Iterable[Any] | None = None,
    notice: Callable[[str], None] | None = None,
    hint: str = _HINT,
) -> Profiles:
    """Profiles from a file; ``notice`` is told when there are no weights and all items count as 1.

    ``hint`` says how to name a column that is not found. ``people`` and ``items`` declare who and
    what there is, as in ``Profiles.of``. A matrix has no
    names: its rows and columns are numbered from 0.
    """
    path, columns = Path(path), columns or Columns()
    name = path.name.casefold()
    if not name.endswith(FORMATS):
        if path.is_dir():
            raise TableError(path.name, "is a directory")
        raise ParameterError("table", f"a file named {', '.join(FORMATS)}", path.name)
    if name.endswith(".npz"):
        found = _read_matrix(path)
        if people is None and items is None:
            return found
        everybody, things = ordered(people, "people"), ordered(items, "items")
        return found.in_catalogue(
            found.people if everybody is None else everybody,
            found.items if things is None else things,
        )
    read = _read_parquet if name.endswith(".parquet") else _read_csv
    lines = read(path, columns, hint)
    if lines.weights is None and notice is not None:
        notice(f"{path.name} has no column of weights: every item counts in full, with weight 1")
    return lines.profiles(people, items)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Lines:
    """A long table as codes of people and items, with what they stand for, and weights.

    ``everyone`` are the people of a table with a row for each: an empty list has no line.
    """

    who: tuple[NDArray[np.int64], list[str]]
    what: tuple[NDArray[np.int64], list[str]]
    weights: Any
    everyone: list[str] | None = None

    def profiles(self, people: Iterable[Any] | None, items: Iterable[Any] | None) -> Profiles:
        people = self.everyone if people is None else people
        units = weight_units(1.0 if self.weights is None else self.weights)
        each = np.broadcast_to(units, self.who[0].shape)
        return Profiles.of_codes(self.who, self.what, each, people=people, items=items)


def _wrong(path: Path, rule: str) -> TableError:
    return TableError(path.name, f"must be {rule}")


def find_columns(
    file: str,
    header: list[str],
    columns: Columns,
    *,
    hint: str = _HINT,
    lists: Collection[str] = (),
) -> tuple[int, int, int | None]:
    """Where person, item and weight stand in a line.

    Of the columns that hold ``lists`` one may be called weights.
    """
    names = [name.strip().casefold() for name in header]
    if columns.weight_optional and "weights" in lists and columns.weight not in names:
        columns = replace(columns, weight="weights", unsaid=_unsaid(columns))

    def place(name: str) -> int:
        count = names.count(name.strip().casefold())
        if count == 1:
            return names.index(name.strip().casefold())
        if count:
            raise TableError(file, f"has more than one column called {name!r}")
        free = columns == Columns() or name in columns.unsaid
        alike = [i for i, own in enumerate(names) if free and _bare(own) in _ALIKE[name]]
        if len(alike) == 1:
            return alike[0]
        if alike:
            several = ", ".join(names[i] for i in alike)
            raise TableError(file, f"has more than one column for the {name}: {several}; {hint}")
        raise TableError(file, f"has no column called {name!r}; {hint}")

    weight = columns.weight
    absent = weight is None or (columns.weight_optional and weight.strip().casefold() not in names)
    return place(columns.user), place(columns.item), None if absent else place(weight or "")


def _unsaid(columns: Columns) -> frozenset[str]:
    return frozenset({"user", "item"}) if columns == Columns() else columns.unsaid


def _bare(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum())


def _read_csv(path: Path, columns: Columns, hint: str) -> _Lines:
    opened = gzip.open if path.name.casefold().endswith(".gz") else open
    problem = "lines of text in UTF-8 with as many fields as the header"
    try:
        with opened(path, "rb") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            rows = csv.reader(text)
            header = next(rows, None)
            if header is None:
                raise TableError(path.name, "is empty")
            places = find_columns(path.name, header, columns, hint=hint)
            lines = _numbered(path, rows, len(header), places)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise _wrong(path, "a file packed by gzip") from None
    except (UnicodeDecodeError, csv.Error):
        raise _wrong(path, problem) from None
    if lines is None:
        raise _wrong(path, problem)
    return lines


def _numbered(
    path: Path, rows: Iterator[list[str]], width: int, places: tuple[int, int, int | None]
) -> _Lines | None:
    """Lines as codes; None if one has another width."""
    user, item, weight = places
    people: dict[str, int] = {}
    items: dict[str, int] = {}
    who, what, weights = [], [], []
    numbers = texts = 0
    for row in rows:
        if len(row) != width:
            if row:
                return None
            continue  # an empty line
        if row[user] and row[item]:
            who.append(people.setdefault(row[user], len(people)))
            what.append(items.setdefault(row[item], len(items)))
            if weight is not None:
                number = number_of(row[weight])
                numbers += number is not None and number > 0
                texts += number is None and row[weight] != ""
                weights.append(nan if number is None else number)
    if texts and not numbers:
        raise TableError(path.name, f"has a column of weights that holds text, not {WEIGHTS}")
    return _Lines(
        (np.array(who, dtype=np.int64), list(people)),
        (np.array(what, dtype=np.int64), list(items)),
        None if weight is None else np.array(weights, dtype=np.float64),
    )


def _read_parquet(path: Path, columns: Columns, hint: str) -> _Lines:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("reading Parquet", "arrow") from None
    with path.open("rb") as file:
        try:
            held = parquet.ParquetFile(file)
            names = held.schema_arrow.names
            lists = [one.name for one in held.schema_arrow if holds_lists(one)]
            places = find_columns(path.name, names, columns, hint=hint, lists=lists)
            wanted = [names[place] for place in places if place is not None]
            table = held.read(columns=wanted).select(wanted)
            if wanted[1] not in lists:
                return _from_table(table)
            everyone = _from_table(table.select([0, 0])).who[1]
            return replace(_from_table(lines_of(table, wanted[1:])), everyone=everyone)
        except (arrow.ArrowException, OSError, UnicodeDecodeError):
            rule = "a Parquet file with columns of text or numbers"
            raise _wrong(path, rule) from None


def _from_table(table: Any) -> _Lines:
    coded = []
    for column in table.columns[:2]:
        if hasattr(column.type, "value_type"):  # a dictionary may hold what no line has
            column = column.cast(column.type.value_type)
        column = column.combine_chunks().dictionary_encode()
        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        numbers, names = codes_of([_name(cell) for cell in column.dictionary.to_pylist()], "table")
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        coded.append((np.append(numbers, -1)[codes], names))
    who, what = coded
    return _Lines(who, what, table.columns[2].to_numpy() if table.num_columns == 3 else None)


def _name(cell: Any) -> str | None:
    """Dates and the like are named as they are written."""
    return text_of(cell) if cell is None or isinstance(cell, (bytes, float)) else str(cell)


def _read_matrix(path: Path) -> Profiles:
    from scipy import sparse  # takes longer to load than all of a count or a quantile

    rule = "a CSR matrix saved by scipy.sparse.save_npz"
    matrix: Any
    with path.open("rb") as file:
        try:
            matrix = sparse.load_npz(file)
            fits = matrix.format == "csr" and matrix.data.dtype.kind in "fiub"
            if fits:
                matrix.check_format(full_check=True)  # indices out of range would be read unchecked
        except _UNREADABLE:
            fits = False
    if not fits:
        raise _wrong(path, rule)
    marks = sparse.csr_array(
        (np.ones(matrix.nnz, dtype=np.int8), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    return Profiles.from_csr(marks, matrix.data)
