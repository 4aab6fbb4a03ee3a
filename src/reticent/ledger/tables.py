"""The tables of a ledger in SQLite, and the hash chain that binds its lines.

Notation  chain_0 = H(ledger id), chain_n = H(chain_n-1, kind_n, body_n), H = SHA-256
Not here  what is written when (spending.py), what is checked (verification.py), the tables in
          PostgreSQL (postgres_tables.py).

Lines are only ever added. ``account``, ``charge`` and ``spend`` say the same in a form that can be
asked; ``verification`` replays the lines and compares. Names of people stand in ``account`` alone,
lines hold commitments to names, requests and answers, salted by account: who is forgotten leaves a
chain that still holds, and tells nothing.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

SCHEMA = "reticent-ledger/1"
SCHEMA_MANY = "reticent-ledger/2"  # the same tables; some lines speak of many accounts at once
SCHEMAS = (SCHEMA, SCHEMA_MANY)
SALT = 16  # bytes
DIGITS = 19  # of the largest integer that a table holds
SCRIPT = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  subject TEXT, provider TEXT, what TEXT, period TEXT NOT NULL,
  salt BLOB,
  lim INTEGER NOT NULL,
  spent INTEGER NOT NULL DEFAULT 0,
  CHECK (0 <= spent AND spent <= lim),
  UNIQUE (subject, provider, what, period)
) STRICT;
CREATE TABLE spend (
  id INTEGER PRIMARY KEY,
  principal TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'settled')),
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  answer BLOB,
  UNIQUE (principal, key)
) STRICT;
CREATE TABLE charge (
  spend INTEGER NOT NULL REFERENCES spend, account INTEGER NOT NULL REFERENCES account,
  nano INTEGER NOT NULL CHECK (nano >= 0),
  PRIMARY KEY (spend, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX charge_account ON charge (account, spend);
CREATE TABLE line (
  seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, chain BLOB NOT NULL
) STRICT;
CREATE TRIGGER line_fixed BEFORE UPDATE ON line BEGIN SELECT RAISE(ABORT, 'lines are fixed'); END;
CREATE TRIGGER line_kept BEFORE DELETE ON line BEGIN SELECT RAISE(ABORT, 'lines are kept'); END;
CREATE TRIGGER spend_kept BEFORE DELETE ON spend BEGIN SELECT RAISE(ABORT, 'keys are kept'); END;
CREATE TRIGGER spend_fixed BEFORE UPDATE ON spend
WHEN new.principal <> old.principal OR new.key <> old.key OR new.at <> old.at
  OR (new.fingerprint <> old.fingerprint AND new.fingerprint <> '')
  OR (new.event <> old.event AND new.event <> '')
  OR (old.state = 'settled' AND (new.state <> 'settled' OR ifnull(new.answer <> old.answer, 0)))
BEGIN SELECT RAISE(ABORT, 'spends are fixed'); END;
CREATE TRIGGER charge_fixed BEFORE UPDATE ON charge
BEGIN SELECT RAISE(ABORT, 'charges are fixed'); END;
CREATE TRIGGER charge_kept BEFORE DELETE ON charge
BEGIN SELECT RAISE(ABORT, 'charges are kept'); END;
CREATE TRIGGER account_rises BEFORE UPDATE ON account WHEN new.spent < old.spent
BEGIN SELECT RAISE(ABORT, 'what is spent stays spent'); END;
CREATE TRIGGER account_kept BEFORE DELETE ON account
BEGIN SELECT RAISE(ABORT, 'accounts are kept'); END;
"""


def statements() -> Iterator[str]:
    """The script, one statement at a time: a script as a whole would end the transaction."""
    held = ""
    for line in SCRIPT.splitlines():
        held += line + "\n"
        if sqlite3.complete_statement(held):
            yield held.strip()
            held = ""


def broken_rules(connection: sqlite3.Connection) -> bool:
    """Whether the tables do not have the rules they were made with.

    What other packages add beside them is theirs, in tables that begin with ``gateway_``.
    """
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND substr(tbl_name, 1, 8) <> 'gateway_' AND substr(tbl_name, 1, 7) <> 'sqlite_'"
    )
    return {row[0] for row in rows} != {statement.removesuffix(";") for statement in statements()}


def first_link(ledger: str) -> bytes:
    """chain_0."""
    return hashlib.sha256(ledger.encode()).digest()


def next_link(before: bytes, kind: str, body: str) -> bytes:
    """chain_n."""
    return hashlib.sha256(before + kind.encode() + b"\0" + body.encode()).digest()


def commitment(salt: bytes, *parts: str | bytes) -> str:
    """What a line says instead: without the salt, which can be deleted, it tells nothing."""
    held = hashlib.sha256(salt)
    for part in parts:
        whole = part.encode() if isinstance(part, str) else part
        held.update(len(whole).to_bytes(8, "big") + whole)
    return held.hexdigest()


def framed(*parts: str) -> bytes:
    """Texts as ``commitment`` takes them in, one after the other."""
    whole = [part.encode() for part in parts]
    return b"".join(len(part).to_bytes(8, "big") + part for part in whole)


def named(salt: bytes, subject: str, others: bytes) -> bytes:
    """``commitment`` to the names of an account, as bytes; ``others`` is framed."""
    whole = subject.encode()
    return hashlib.sha256(b"".join((salt, len(whole).to_bytes(8, "big"), whole, others))).digest()


def digits(numbers: Iterable[int]) -> bytes:
    """Integers of one width, for statements that cut them out again."""
    return b"".join([b"%019d" % number for number in numbers])


def charged(amounts: ArrayLike) -> str:
    """What the line of a spend says instead of many accounts and amounts, in order of accounts."""
    return hashlib.sha256(np.asarray(amounts, ">i8").tobytes()).hexdigest()


def seal(spend: int, salts: Iterable[bytes]) -> bytes:
    """The salt of a spend, from those of its accounts by number: gone when one is forgotten."""
    return hashlib.sha256(b"".join(salts) + spend.to_bytes(8, "big")).digest()
