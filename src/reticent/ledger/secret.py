"""A key that only this ledger knows: files outside of it carry digests under that key.

Not here  what is put under it (running/seals.py).
"""

from __future__ import annotations

from reticent.ledger.interface import Connection, Ledger
from reticent.noise import Source

_BITS = 256
_FIND = "SELECT value FROM meta WHERE name = 'secret'"


def secret_of(ledger: Ledger) -> bytes:
    """Made when it is first needed; it never leaves the ledger's database."""
    with ledger.reading() as connection:
        found = connection.execute(_FIND).fetchone()
    return bytes.fromhex(ledger.write(_make) if found is None else found[0])


def _make(connection: Connection) -> str:
    made = f"{Source.system().bits(_BITS):0{_BITS // 4}x}"
    connection.execute("INSERT INTO meta VALUES ('secret', ?) ON CONFLICT DO NOTHING", (made,))
    return str(connection.execute(_FIND).fetchone()[0])  # another process may have been faster
