"""Which tables a query reads, and what their columns are to it.

Not here  how files and frames become such tables (binding.py).

A column has a *role*: what the query calls it. Callers say which column plays it,
``columns={"value": "pay"}``, unless it has the name of its role or one that is as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Cells(StrEnum):
    """What the cells of a column are; the type of a column is public, its cells are not."""

    NUMBER = "numbers"
    NAME = "names"


@dataclass(frozen=True, slots=True)
class Role:
    """One column. ``sole``: the only column that nothing else claims plays it."""

    cells: Cells
    help: str
    required: bool = True
    aliases: tuple[str, ...] = ()
    sole: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The roles of a table's columns. ``public``: it may be known to all, and terms may use it."""

    help: str
    roles: Mapping[str, Role]
    public: bool = False
    required: bool = True
