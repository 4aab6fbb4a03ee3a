"""Columns of lists in Arrow tables: a row for each person, or a line for each item of a list.

Not here  what the lines mean (interactions.py, profiles.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from reticent.errors import require


def holds_lists(column: Any) -> bool:
    """Whether an Arrow column, or a field of a schema, holds lists."""
    types, kind = import_module("pyarrow").types, column.type
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def lines_of(table: Any, names: Sequence[str]) -> Any:
    """An Arrow table or batch with a line for each item of the lists in columns ``names``.

    Lists of one row are of one length; a missing or empty one makes no line. Where the first of
    ``names`` holds no lists, the table is one of lines already.
    """
    if not names or not holds_lists(table.schema.field(names[0])):
        return table
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    flat: dict[str, Any] = {}
    parents = compute.list_parent_indices(table.column(names[0]))
    for name in names:
        column = table.column(name)
        alike = holds_lists(column) and compute.list_parent_indices(column).equals(parents)
        require(alike, name, "others", f"lists as long as those of {names[0]}")
        flat[name] = compute.list_flatten(column)
    own = {
        name: flat[name] if name in flat else table.column(name).take(parents)
        for name in table.schema.names
    }
    return arrow.table(own)
