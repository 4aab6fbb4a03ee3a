"""The gateway's own tables, beside the ledger's in one database, in SQL that both engines read.

Not here  what stands in them (directory.py, credentials.py), budgets (ledger/).

Names of tables start with ``gateway_``. Secrets are kept as SHA-256 only; there are 256 random bits
in each of them, so nothing slower is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reticent.ledger import Connection, Ledger

TABLES = (
    "CREATE TABLE IF NOT EXISTS gateway_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS gateway_person ("
    " id TEXT PRIMARY KEY, tag TEXT NOT NULL, preferences TEXT NOT NULL, columns TEXT NOT NULL,"
    " version BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS gateway_item ("
    " person TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (person, item))",
    "CREATE TABLE IF NOT EXISTS gateway_provider ("
    " name TEXT PRIMARY KEY, asks TEXT NOT NULL, version BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS gateway_terms ("
    " id TEXT PRIMARY KEY, provider TEXT NOT NULL, kind TEXT NOT NULL, card TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS gateway_token ("
    " hash TEXT PRIMARY KEY, name TEXT NOT NULL, provider TEXT NOT NULL, scopes TEXT NOT NULL,"
    " made BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS gateway_door ("
    " hash TEXT PRIMARY KEY, role TEXT NOT NULL, person TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS gateway_session ("
    " hash TEXT PRIMARY KEY, role TEXT NOT NULL, person TEXT NOT NULL, form TEXT NOT NULL,"
    " expires BIGINT NOT NULL)",
)


def prepare(ledger: Ledger) -> None:
    """Make the tables that are missing."""

    def work(connection: Connection) -> None:
        for statement in TABLES:
            connection.execute(statement)

    ledger.write(work)
