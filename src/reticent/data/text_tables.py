"""Reading a table as lines of text: CSV, also gzipped, and Parquet.

Not here  what the columns mean (catalogue_files.py, people_tables.py), long tables of who has which
          item (interactions.py).

Errors name the file and its form, never a value.
"""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from reticent.data.interactions import TableError
from reticent.errors import MissingExtra

_KNOWN = 1 << 16  # texts that are looked for when one comes again
_LONGEST = (1 << 31) - 1  # characters of a cell, as many as csv can take everywhere


def read_lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the lines below it, all of one length."""
    if path.name.casefold().endswith(".parquet"):
        return _parquet(path)
    header, columns = read_columns(path, lambda names: range(len(names)))
    return header, [list(line) for line in zip(*columns, strict=True)]


def read_columns(
    path: Path, wanted: Callable[[list[str]], Iterable[int]]
) -> tuple[list[str], list[list[str]]]:
    """The header of a CSV file, and the columns that are ``wanted``, by place.

    Others are looked at, as all lines must be of one length, and not kept. A text that comes again
    is kept once.
    """
    csv.field_size_limit(_LONGEST)  # how long a cell is must not be an error
    opened = gzip.open if path.name.casefold().endswith(".gz") else open
    ragged = False
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            lines = (line for line in csv.reader(file) if line)
            header = next(lines, None)
            if header is None:
                raise TableError(path.name, "is empty")
            places, width = list(wanted(header)), len(header)
            columns: list[list[str]] = [[] for _ in places]
            known: dict[str, str] = {}
            for line in lines:
                ragged |= len(line) != width
                for column, place in zip(columns, () if ragged else places, strict=False):
                    column.append(known.setdefault(line[place], line[place]))
                if len(known) > _KNOWN:
                    known.clear()
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError, csv.Error):
        raise TableError(path.name, "must be a table of text in UTF-8") from None
    if ragged:
        raise TableError(path.name, "must have as many fields in each line as in the header")
    return header, columns


def _parquet(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("reading Parquet", "arrow") from None
    try:
        with path.open("rb") as file:
            table = parquet.ParquetFile(file).read()
    except arrow.ArrowException:
        raise TableError(path.name, "must be a Parquet file") from None
    try:
        columns = [[cell_text(value) for value in column.to_pylist()] for column in table.columns]
    except UnicodeDecodeError:
        raise TableError(path.name, "must be a table of text in UTF-8") from None
    return table.column_names, [list(line) for line in zip(*columns, strict=True)]


def cell_text(value: object) -> str:
    """What a cell holds, as text: nothing where it is missing; 7 and 7.0 are one.

    >>> [cell_text(value) for value in (7, 7.0, 0.5, " a", None, math.nan)]
    ['7', '7', '0.5', 'a', '', '']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
