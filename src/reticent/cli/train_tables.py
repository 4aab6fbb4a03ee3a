"""Tables as a tree reads them: the declared columns as arrays, cells as what was declared.

Not here  reading a table (data/people_tables.py), codes (tasks/columns.py).

Cells are text. Where all declared categories are numbers, or true and false, so are the cells that
look like it: "1.0" is the category 1. Nothing that a cell holds is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.cli.failures import Failure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.data.people_tables import People
    from reticent.tasks.columns import Column

_WORDS = {"true": True, "false": False}
_HEADER = "the first line of the table must be its header; capitals do not matter"


def read_table(path: Path) -> People:
    """The table in a file."""
    from reticent.data.people_tables import read_people

    return read_people(path, empty=True)


def named(table: People, name: str, *, asked_by: str = "", next_command: str = "") -> str:
    """How the table spells a column."""
    from reticent.data.interactions import TableError

    try:
        return table.named(name)
    except TableError:
        what = f"{table.file} has no column called {name.strip()!r}{asked_by}"
        raise Failure(what, why=_HEADER, next_command=next_command) from None


def check_columns(table: People, names: Sequence[str], asked_by: str, next_command: str) -> None:
    """Refuse a table that lacks columns, naming all of them."""
    have = {name.casefold() for name in table.columns}
    lacking = [name for name in names if name.strip().casefold() not in have]
    if lacking:
        told = ", ".join(repr(name) for name in lacking[:5])
        more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
        what = f"{table.file} lacks {told}{more}{asked_by}"
        raise Failure(what, why=_HEADER, next_command=next_command)


def cells(table: People, column: Column) -> NDArray[Any]:
    """One column as its declaration takes it."""
    return as_declared(table.column(column.name), column.categories)


def as_declared(values: NDArray[Any], declared: Sequence[Any]) -> NDArray[Any]:
    """Cells as numbers, if all that is declared are numbers."""
    import numpy as np

    if not declared or not all(isinstance(value, (int, float)) for value in declared):
        return values
    distinct, which = np.unique(values, return_inverse=True)
    read = np.empty(len(distinct), dtype=object)
    read[:] = [_number(text) for text in distinct.tolist()]
    return np.asarray(read[which.reshape(-1)])


def _number(text: str) -> object:
    """Text as the number it spells, or as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _WORDS.get(text.casefold(), text)
