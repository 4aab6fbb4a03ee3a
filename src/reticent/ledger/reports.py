"""What a ledger says to people: balances, and what was spent on what, newest first.

Not here  checking (verification.py), words on a screen (cli/).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from reticent.ledger.accounts import Account


@dataclass(frozen=True, slots=True)
class Balance:
    """What an account may spend, and what it has spent, in nano-epsilon."""

    account: Account
    limit: int
    spent: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge: when, by which mechanism, to which account, and whether it was answered."""

    spend: int
    at: int
    mechanism: str
    account: Account
    nano: int
    answered: bool


def balances(
    connection: sqlite3.Connection, *, subject: str | None = None, provider: str | None = None
) -> Iterator[Balance]:
    """Accounts in order of names; forgotten ones are of nobody and left out."""
    rows = connection.execute(
        "SELECT subject, provider, what, period, lim, spent FROM account"
        " WHERE subject IS NOT NULL AND (?1 IS NULL OR subject = ?1)"
        " AND (?2 IS NULL OR provider = ?2) ORDER BY subject, provider, what, period",
        (subject, provider),
    )
    for *names, limit, spent in rows:
        yield Balance(Account(*names), limit, spent)


def entries(
    connection: sqlite3.Connection,
    *,
    subject: str | None = None,
    provider: str | None = None,
    most: int | None = None,
) -> Iterator[Entry]:
    """Charges, newest first."""
    rows = connection.execute(
        "SELECT spend.id, at, event, state, subject, provider, what, period, nano"
        " FROM charge JOIN account ON account.id = charge.account JOIN spend"
        " ON spend.id = charge.spend WHERE subject IS NOT NULL AND (?1 IS NULL OR subject = ?1)"
        " AND (?2 IS NULL OR provider = ?2) ORDER BY spend.id DESC, what LIMIT ?3",
        (subject, provider, -1 if most is None else most),
    )
    for spend, at, event, state, *names, nano in rows:
        mechanism = json.loads(event)["mechanism"] if event else ""
        yield Entry(spend, at, mechanism, Account(*names), nano, state == "settled")
