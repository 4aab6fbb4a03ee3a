"""Which ledger an address means: a file, or a PostgreSQL database.

Not here  the ledgers (sqlite.py, postgres.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.ledger.interface import Connection, Ledger
from reticent.ledger.sqlite import SqliteLedger
from reticent.ledger.sqlite import open_reading as open_reading_file


def open_ledger(address: str | Path, *, create: bool = True) -> Ledger:
    """The ledger at a ``postgresql://`` address or in a file, made if it is not there."""
    if _is_server(address):
        from reticent.ledger.postgres import PostgresLedger

        return PostgresLedger.open(str(address), create=create)
    return SqliteLedger.open(address, create=create)


@contextmanager
def open_reading(address: str | Path) -> Iterator[Connection]:
    """A connection to a ledger that sees one state of it and changes nothing."""
    if _is_server(address):
        from reticent.ledger.postgres_connection import Readers

        readers = Readers(str(address))
        try:
            with readers.reading() as connection:
                yield connection
        finally:
            readers.close()
        return
    with open_reading_file(Path(address)) as held:
        yield held


def _is_server(address: str | Path) -> bool:
    return isinstance(address, str) and address.startswith(("postgresql://", "postgres://"))
