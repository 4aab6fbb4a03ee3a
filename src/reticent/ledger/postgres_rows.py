"""Many accounts at once in PostgreSQL: finding them, opening them, and their lines.

Not here  what is done with them (many.py), the same in SQLite (sqlite_rows.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from reticent.guarantees.events import canonical
from reticent.ledger.lines import Line
from reticent.ledger.postgres_connection import PostgresConnection
from reticent.ledger.tables import DIGITS, SALT, digits

_PLACE = f"CAST({DIGITS} * (place - 1) + 1 AS int)"
_CUT = f"CAST(convert_from(substr(CAST(? AS bytea), {_PLACE}, {DIGITS}), 'UTF8') AS bigint)"


class PostgresRows:
    """Values go in as JSON, which takes the client little time to write."""

    pairs = "json_each_text(CAST(? AS json))"

    def find(
        self,
        connection: PostgresConnection,
        subjects: Sequence[str],
        provider: str,
        what: str,
        period: str,
    ) -> list[tuple[int, int, int, int, bytes]]:
        """By the digest of names, which the index holds."""
        return connection.whole(
            "SELECT asked.place - 1, id, lim, spent, salt"
            " FROM json_array_elements_text(CAST(? AS json)) WITH ORDINALITY"
            " AS asked (subject, place)"
            " JOIN account ON names = names_of(asked.subject, ?, ?, ?)",
            (canonical(subjects), provider, what, period),
        )

    def open(
        self,
        connection: PostgresConnection,
        alike: tuple[str, str, str],
        subjects: Sequence[str],
        numbers: Sequence[int],
        limits: Sequence[int],
        salts: bytes,
    ) -> None:
        """Numbers and salts are cut out of bytes, which takes one step wherever they are."""
        connection.execute(
            "INSERT INTO account (id, subject, provider, what, period, salt, lim)"  # noqa: S608
            f" SELECT {_CUT}, subject, CAST(? AS text), CAST(? AS text), CAST(? AS text),"
            f" substr(CAST(? AS bytea), CAST({SALT} * (place - 1) + 1 AS int), {SALT}),"
            f" {_CUT} FROM json_array_elements_text(CAST(? AS json))"
            " WITH ORDINALITY AS asked (subject, place)",
            (digits(numbers), *alike, salts, digits(limits), canonical(subjects)),
        )

    def append(self, connection: PostgresConnection, lines: Sequence[Line]) -> None:
        """All in one statement."""
        rows = [(*others, chain.hex()) for *others, chain in lines]
        connection.execute(
            "INSERT INTO line SELECT CAST(value ->> 0 AS bigint), value ->> 1, value ->> 2,"
            " decode(value ->> 3, 'hex') FROM jsonb_array_elements(CAST(? AS jsonb))",
            (canonical(rows),),
        )
