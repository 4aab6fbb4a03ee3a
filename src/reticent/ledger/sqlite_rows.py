"""Many accounts at once in SQLite: finding them, opening them, and their lines.

Not here  what is done with them (many.py), the same in PostgreSQL (postgres_rows.py).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from reticent.guarantees.events import canonical
from reticent.ledger.lines import Line
from reticent.ledger.tables import DIGITS, SALT, digits


class SqliteRows:
    """Values go in as JSON where SQLite can make a table of them."""

    pairs = "json_each(?)"

    def find(
        self,
        connection: sqlite3.Connection,
        subjects: Sequence[str],
        provider: str,
        what: str,
        period: str,
    ) -> list[tuple[int, int, int, int, bytes]]:
        """By the index of names, one after the other: a join in another order would read all."""
        return connection.execute(
            "SELECT asked.key, account.id, lim, spent, salt FROM json_each(?) AS asked"
            " CROSS JOIN account ON subject = asked.value"
            " AND provider = ? AND what = ? AND period = ?",
            (canonical(subjects), provider, what, period),
        ).fetchall()

    def open(
        self,
        connection: sqlite3.Connection,
        alike: tuple[str, str, str],
        subjects: Sequence[str],
        numbers: Sequence[int],
        limits: Sequence[int],
        salts: bytes,
    ) -> None:
        """Numbers and salts are cut out of bytes, which takes one step wherever they are."""
        connection.execute(
            "INSERT INTO account (id, subject, provider, what, period, salt, lim)"  # noqa: S608
            f" SELECT {_CUT}, value, ?, ?, ?, substr(?, {SALT} * key + 1, {SALT}),"
            f" {_CUT} FROM json_each(?)",
            (digits(numbers), *alike, salts, digits(limits), canonical(subjects)),
        )

    def append(self, connection: sqlite3.Connection, lines: Sequence[Line]) -> None:
        """Row by row, with one statement."""
        connection.executemany("INSERT INTO line VALUES (?, ?, ?, ?)", lines)


_CUT = f"CAST(CAST(substr(?, {DIGITS} * key + 1, {DIGITS}) AS TEXT) AS INTEGER)"
