"""Columns of numbers, or fields, from the text and parquet files in which data sets are published.

Not here  which file holds what (one module per data set).

Errors name the file and its form, never a line of it.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.interactions import TableError
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_text(path: Path, *, width: int, separator: str, header: bool = False) -> NDArray[np.int64]:
    """The first ``width`` columns of whole numbers, as an array with one row per line."""
    lines = _lines(path)[1 if header else 0 :]
    split = re.compile(re.escape(separator))
    try:
        rows = [[int(field) for field in split.split(line, width)[:width]] for line in lines]
        table = np.array(rows, dtype=np.int64).reshape(len(rows), width)
    except (ValueError, OverflowError):
        table = None
    if table is None:
        rule = f"lines of {width} whole numbers separated by {separator!r}"
        raise TableError(path.name, f"must be {rule}")
    return table


def read_fields(path: Path, *, separator: str) -> list[list[str]]:
    """The fields of each line that is not empty, as text in Latin-1."""
    return [line.split(separator) for line in _lines(path) if line]


def _lines(path: Path) -> list[str]:
    """Lines end where bytes say so: Latin-1 has a line break of its own, which titles may hold."""
    held = path.read_bytes()
    text = gzip.decompress(held) if path.suffix == ".gz" else held
    return [line.decode("latin-1") for line in text.splitlines()]


def read_parquet(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The named columns of a parquet file; other columns are not read."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("reading parquet files", "arrow") from None
    held = set(parquet.read_schema(path).names)
    if not held >= set(names):
        raise TableError(path.name, f"must be a table with columns {', '.join(names)}")
    table = parquet.read_table(path, columns=list(names))
    return {name: table.column(name).to_numpy() for name in names}
