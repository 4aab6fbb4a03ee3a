"""What must still be as it was when a release was drawn, checked where it is charged.

Theory    docs/theory/ledger.md, Theorem 6 (nothing is charged for a stale draw)
Not here  who draws again (gateway/service.py), the transaction (spending.py, many.py, postgres.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reticent.errors import ReticentError, require

if TYPE_CHECKING:
    from reticent.ledger.interface import Connection

_NAME = re.compile(r"[a-z][a-z_]{0,62}")
_PART = 100  # rows in one question


class Stale(ReticentError):
    """What a release was drawn from was changed before it was charged: draw again."""

    def __init__(self) -> None:
        super().__init__("the data were changed after the draw and nothing was charged; draw again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Rows of another table of the same database that must still be there, as they were read.

    The table must exist. ``columns`` hold its key and what changes with every change of a row.

    >>> Guard(table="gateway_person", columns=("id", "version"), rows=(("ann", 3),)).question()
    ('SELECT count(*) FROM gateway_person WHERE (id = ? AND version = ?)', ('ann', 3))
    """

    table: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]

    def __post_init__(self) -> None:
        for name in (self.table, *self.columns):
            require(_NAME.fullmatch(name) is not None, "guard", "other", "small letters and _")
        require(len(set(self.rows)) == len(self.rows) > 0, "rows", "other", "one or more, distinct")
        width = {len(self.columns), *(len(row) for row in self.rows)}
        require(len(width) == 1, "rows", "other", "one value for each column")
        good = all(_storable(value) for row in self.rows for value in row)
        require(good, "rows", "other", "texts without zero bytes, and whole numbers of 64 bits")

    def question(
        self, rows: tuple[tuple[str | int, ...], ...] | None = None
    ) -> tuple[str, tuple[str | int, ...]]:
        """How many of the rows are still there: a statement of both engines, and its values."""
        rows = self.rows if rows is None else rows
        one = "(" + " AND ".join(f"{name} = ?" for name in self.columns) + ")"
        same = " OR ".join([one] * len(rows))
        values = tuple(value for row in rows for value in row)
        return f"SELECT count(*) FROM {self.table} WHERE {same}", values  # noqa: S608, names checked

    def check(self, connection: Connection) -> None:
        """``Stale`` unless every row is there."""
        for part in self._parts():
            if connection.execute(*self.question(part)).fetchone()[0] != len(part):
                raise Stale

    def _parts(self) -> Iterator[tuple[tuple[str | int, ...], ...]]:
        for first in range(0, len(self.rows), _PART):
            yield self.rows[first : first + _PART]


def _storable(value: object) -> bool:
    """Whether both engines can compare it: one that cannot would end the work of others, too."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return type(value) is int and -(2**63) <= value < 2**63
