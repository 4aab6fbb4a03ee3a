"""What is written to a ledger in SQLite, each inside one transaction: reserve, settle, forget.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge), Theorem 4 (periods do not come again), Theorem 5
          (a refusal that nobody sees), Theorem 6 (nothing is charged for a stale draw)
Notation  amounts in nano-epsilon; at = seconds since 1970, never less than any time seen before
Not here  when it is committed (writer.py), the ledger itself (sqlite.py), the same for PostgreSQL
          (postgres_functions.py).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import TypeAlias

from reticent.errors import BudgetExceeded
from reticent.ledger.accounts import (
    DELETED,
    Account,
    Answer,
    Charge,
    KeyReused,
    LedgerError,
    Request,
)
from reticent.ledger.covers import Given, choose
from reticent.ledger.interface import Connection
from reticent.ledger.lines import append
from reticent.ledger.tables import SALT, SCHEMA_MANY, commitment, seal
from reticent.noise import Source

Row: TypeAlias = tuple[int, int, int, bytes]  # number, limit, spent and salt of an account


def now(connection: Connection) -> int:
    """Time that never goes back: a period that has passed does not come again."""
    held = connection.execute("SELECT value FROM meta WHERE name = 'clock'").fetchone()[0]
    seen, now = int(held), int(time.time())
    if now > seen:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'clock'", (str(now),))
    return max(seen, now)


def known(connection: Connection, request: Request) -> tuple[int, Answer | None] | None:
    """The spend of a key that was used before, and its answer if it has one. Theorems 2, 6.

    What an answer was drawn from may have changed since it was kept, but not before.
    """
    found = connection.execute(
        "SELECT id, fingerprint, state, answer FROM spend WHERE principal = ? AND key = ?",
        (request.principal, request.key),
    ).fetchone()
    if found is not None:
        number, fingerprint, state, kept = found
        if state == "settled" and kept is None:
            raise LedgerError(DELETED)
        if fingerprint != request.fingerprint:
            raise KeyReused
        if kept is not None:
            return number, Answer(kept, replayed=True)
    if request.guard is not None:
        request.guard.check(connection)
    return None if found is None else (number, None)


def reserve(
    request: Request, connection: sqlite3.Connection, given: Given | None = None
) -> tuple[int, Answer | None]:
    """The number of the spend, and its answer: one that it has, or one given. Theorems 1, 2, 5, 6.

    If a budget is exceeded and there are covers, its subject is charged nothing in any account. All
    other subjects are charged: they must not see that somebody else's budget is used up.
    """
    before = known(connection, request)
    if before is not None:
        return before
    at = now(connection)
    charges = sorted(request.charges, key=_order)
    opened = [_opened(connection, charge, at) for charge in charges]
    short = _short(charges, opened, refuse=not isinstance(given, tuple))
    # the work is the same whoever is short, Theorem 5
    answer = None if given is None else choose(given, short)
    amounts = [
        (account, 0 if charge.subject in short else charge.nano)
        for charge, (account, _, _) in zip(charges, opened, strict=True)
    ]
    for account, nano in amounts:
        _add(connection, account, nano)
    number = connection.execute(
        "INSERT INTO spend (principal, key, fingerprint, state, at, event, answer)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(request.principal, request.key, request.fingerprint),
            *("reserved" if answer is None else "settled", at, request.told, answer),
        ),
    ).lastrowid
    assert number is not None  # noqa: S101, a row was inserted
    connection.executemany("INSERT INTO charge VALUES (?, ?, ?)", [(number, *a) for a in amounts])
    salts = {account: salt for account, _, salt in opened}
    sealed = seal(number, (salts[account] for account in sorted(salts)))
    append(connection, "spend", spend_line(request, number, at, sealed, answer, charges=amounts))
    return number, None if answer is None else Answer(answer, replayed=False)


def _short(
    charges: Sequence[Charge], opened: Sequence[tuple[int, int, bytes]], *, refuse: bool
) -> set[str]:
    """Subjects who cannot pay in one of their accounts; ``BudgetExceeded`` if that is refused."""
    short = set()
    for charge, (_, room, _) in zip(charges, opened, strict=True):
        if charge.nano > room:
            if refuse:
                raise BudgetExceeded(f"budget with {charge.provider!r}", charge.nano, room)
            short.add(charge.subject)
    return short


def spend_line(
    request: Request, number: int, at: int, sealed: bytes, answer: bytes | None, **charged: object
) -> dict[str, object]:
    """What the line of a spend says; ``charged`` are its accounts and amounts, or their digest."""
    told = {
        **{"spend": number, "at": at, **charged},
        "by": commitment(b"", request.principal, request.key),
        "of": commitment(sealed, request.fingerprint, request.told),
    }
    return told if answer is None else {**told, "answer": commitment(sealed, answer)}


def _order(charge: Charge) -> tuple[str, str, str]:
    return charge.subject, charge.provider, charge.what


def _opened(connection: sqlite3.Connection, charge: Charge, at: int) -> tuple[int, int, bytes]:
    """The number of the account, what it has left, and its salt."""
    account = charge.account(at)
    row = find(connection, account) or _new(connection, account, charge.limit)
    number, limit, spent, salt = row
    if charge.limit < limit:
        limit = set_limit(connection, row, charge.limit)
    return number, limit - spent, salt


def _add(connection: sqlite3.Connection, account: int, nano: int) -> None:
    done = connection.execute(
        "UPDATE account SET spent = spent + ? WHERE id = ? AND spent + ? <= lim",
        (nano, account, nano),
    ).rowcount
    if not done:  # nobody else writes meanwhile; if somebody did, nothing is charged
        raise LedgerError("an account was changed meanwhile")


def find(connection: sqlite3.Connection, account: Account) -> Row | None:
    """An account's row, if it was opened."""
    found: Row | None = connection.execute(
        "SELECT id, lim, spent, salt FROM account"
        " WHERE subject = ? AND provider = ? AND what = ? AND period = ?",
        (account.subject, account.provider, account.what, account.period),
    ).fetchone()
    return found


def _new(connection: sqlite3.Connection, account: Account, limit: int) -> Row:
    salt = Source.system().bits(8 * SALT).to_bytes(SALT, "big")
    names = (account.subject, account.provider, account.what)
    number = connection.execute(
        "INSERT INTO account (subject, provider, what, period, salt, lim) VALUES (?,?,?,?,?,?)",
        (*names, account.period, salt, limit),
    ).lastrowid
    assert number is not None  # noqa: S101, a row was inserted
    told = {"account": number, "of": commitment(salt, *names), "period": account.period}
    append(connection, "open", {**told, "limit": limit})
    return number, limit, 0, salt


def set_limit(connection: sqlite3.Connection, row: Row, limit: int) -> int:
    """A limit below what is spent becomes what is spent: nothing is left."""
    number, before, spent, _ = row
    after = max(limit, spent)
    if after != before:
        connection.execute("UPDATE account SET lim = ? WHERE id = ?", (after, number))
        append(connection, "limit", {"account": number, "from": before, "to": after})
    return after


def settle(number: int, answer: bytes, connection: sqlite3.Connection) -> Answer:
    """The answer that is kept: the first one, whoever made it."""
    done = connection.execute(
        "UPDATE spend SET state = 'settled', answer = ? WHERE id = ? AND state = 'reserved'",
        (answer, number),
    ).rowcount
    if done:
        salts = connection.execute(
            "SELECT salt FROM charge JOIN account ON account.id = account WHERE spend = ?"
            " ORDER BY account",
            (number,),
        )
        sealed = seal(number, (salt for (salt,) in salts))
        append(connection, "answer", {"spend": number, "answer": commitment(sealed, answer)})
        return Answer(answer, replayed=False)
    kept = connection.execute("SELECT answer FROM spend WHERE id = ?", (number,)).fetchone()
    if kept is None or kept[0] is None:
        raise LedgerError(DELETED)
    return Answer(kept[0], replayed=True)


def forget(subject: str, connection: sqlite3.Connection) -> int:
    """Delete what lets a line be told to be somebody's; how many accounts they had."""
    numbers = [
        row[0] for row in connection.execute("SELECT id FROM account WHERE subject = ?", (subject,))
    ]
    commitments = left_of(connection, subject)
    for number in numbers:
        connection.execute(
            "UPDATE spend SET state = 'settled', answer = NULL, event = '', fingerprint = ''"
            " WHERE id IN (SELECT spend FROM charge WHERE account = ?)",
            (number,),
        )
        connection.execute(
            "UPDATE account SET subject = NULL, provider = NULL, what = NULL, salt = NULL"
            " WHERE id = ?",
            (number,),
        )
    if numbers:
        append(connection, "forget", {"accounts": numbers})
    if commitments:
        append(connection, "forgotten", {"of": commitments})
    return len(numbers)


def left_of(connection: Connection, subject: str) -> dict[str, str]:
    """Commitments by number that a check needs after a person is forgotten.

    Without the salts they tell nothing. Where no line speaks of many accounts, all stand in lines.
    """
    held = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()[0]
    if held != SCHEMA_MANY:
        return {}
    rows = connection.execute(
        "SELECT id, salt, subject, provider, what FROM account WHERE subject = ? ORDER BY id",
        (subject,),
    )
    return {str(number): commitment(salt, *names) for number, salt, *names in rows}
