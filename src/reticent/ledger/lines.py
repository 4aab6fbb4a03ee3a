"""Adding lines to the chain of a ledger.

Notation  chain_0 = H(ledger id), chain_n = H(chain_n-1, kind_n, body_n), H = SHA-256
Not here  what lines say (spending.py, many.py), their check (verification.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from reticent.guarantees.events import canonical
from reticent.ledger.interface import Connection
from reticent.ledger.tables import first_link, next_link

Line: TypeAlias = tuple[int, str, str, bytes]  # number, kind, body, chain


def append(connection: Connection, kind: str, told: dict[str, object]) -> None:
    """One line."""
    number, chain = _last(connection)
    body = canonical(told)
    line = number + 1, kind, body, next_link(chain, kind, body)
    connection.execute("INSERT INTO line VALUES (?, ?, ?, ?)", line)


def chained(
    connection: Connection, lines: Iterable[tuple[str, dict[str, object]]]
) -> Iterator[Line]:
    """Lines as they are to be added; the last one on record is looked up once."""
    before, chain = _last(connection)
    for number, (kind, told) in enumerate(lines, before + 1):
        body = canonical(told)
        chain = next_link(chain, kind, body)
        yield number, kind, body, chain


def _last(connection: Connection) -> tuple[int, bytes]:
    last = connection.execute("SELECT seq, chain FROM line ORDER BY seq DESC LIMIT 1").fetchone()
    if last is not None:
        return last[0], last[1]
    ledger = connection.execute("SELECT value FROM meta WHERE name = 'ledger'").fetchone()[0]
    return 0, first_link(ledger)
