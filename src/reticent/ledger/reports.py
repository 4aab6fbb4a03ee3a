"""What a ledger says to people: balances, and what was spent on what, newest first.

Not here  checking (verification.py), words on a screen (cli/).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reticent.ledger.accounts import OVERALL, Account
from reticent.ledger.interface import Connection


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


@dataclass(frozen=True, slots=True)
class Released:
    """One release that was charged to a subject, with what it cost them overall.

    ``answer`` is what was sent; none if the release was reserved only. ``event`` is JSON.
    """

    spend: int
    at: int
    principal: str
    provider: str
    key: str
    event: str
    answer: bytes | None
    nano: int
    period: str


@dataclass(frozen=True, slots=True)
class Health:
    """How much a ledger holds, for its operator: nobody's names.

    ``spent`` is nano-epsilon by provider, without accounts that were forgotten.
    """

    accounts: int
    spends: int
    unanswered: int
    lines: int
    clock: int
    spent: Mapping[str, int]


def balances(
    connection: Connection, *, subject: str | None = None, provider: str | None = None
) -> Iterator[Balance]:
    """Accounts in order of names; forgotten ones are of nobody and left out."""
    where, values = _where({"subject = ?": subject, "provider = ?": provider})
    rows = connection.execute(
        "SELECT subject, provider, what, period, lim, spent FROM account"  # noqa: S608, by _where
        f" WHERE {where} ORDER BY subject, provider, what, period",
        values,
    )
    for *names, limit, spent in rows:
        yield Balance(Account(*names), limit, spent)


def entries(
    connection: Connection,
    *,
    subject: str | None = None,
    provider: str | None = None,
    most: int | None = None,
) -> Iterator[Entry]:
    """Charges, newest first."""
    where, values = _where({"subject = ?": subject, "provider = ?": provider})
    rows = connection.execute(
        "SELECT spend.id, at, event, state, subject, provider,"  # noqa: S608, by _where
        " what, period, nano"
        " FROM charge JOIN account ON account.id = charge.account JOIN spend"
        f" ON spend.id = charge.spend WHERE {where}"
        f" ORDER BY spend.id DESC, what{_first(most)}",
        values,
    )
    for spend, at, event, state, *names, nano in rows:
        mechanism = json.loads(event)["mechanism"] if event else ""
        yield Entry(spend, at, mechanism, Account(*names), nano, state == "settled")


def releases(
    connection: Connection,
    *,
    subject: str,
    provider: str | None = None,
    since: int | None = None,
    most: int | None = None,
    besides: str | None = None,
) -> Iterator[Released]:
    """What was released of a subject, newest first: one for each spend and provider.

    Also those that cost nothing, and those whose charge is not to the overall account; but not what
    the principal ``besides`` asked for.
    """
    where, values = _where(
        {
            "subject = ?": subject,
            "provider = ?": provider,
            "at >= ?": since,
            "principal <> ?": besides,
        }
    )
    rows = connection.execute(
        "SELECT spend.id, at, principal, provider, key, event, answer,"  # noqa: S608, by _where
        " max(CASE WHEN what = ? THEN nano ELSE 0 END),"
        " coalesce(max(CASE WHEN what = ? THEN period END), max(period))"
        " FROM charge JOIN account ON account.id = charge.account JOIN spend"
        f" ON spend.id = charge.spend WHERE {where}"
        " GROUP BY spend.id, at, principal, provider, key, event, answer"
        f" ORDER BY spend.id DESC, provider{_first(most)}",
        (OVERALL, OVERALL, *values),
    )
    for row in rows:
        yield Released(*row)


def health(connection: Connection) -> Health:
    """How much there is."""

    def one(sql: str) -> int:
        return int(connection.execute(sql).fetchone()[0])

    by_provider = connection.execute(  # in two parts: many large amounts are more than 63 bits
        "SELECT provider, CAST(sum(spent / 1073741824) AS BIGINT),"
        " CAST(sum(spent % 1073741824) AS BIGINT) FROM account WHERE provider IS NOT NULL"
        " GROUP BY provider ORDER BY provider"
    )
    spent = {provider: (high << 30) + low for provider, high, low in by_provider}
    return Health(
        accounts=one("SELECT count(*) FROM account"),
        spends=one("SELECT count(*) FROM spend"),
        unanswered=one("SELECT count(*) FROM spend WHERE state = 'reserved'"),
        lines=one("SELECT count(*) FROM line"),
        clock=one("SELECT value FROM meta WHERE name = 'clock'"),
        spent=MappingProxyType(spent),
    )


def _where(conditions: Mapping[str, str | int | None]) -> tuple[str, tuple[str | int, ...]]:
    """Those that are asked for, of accounts that are somebody's."""
    given = {text: value for text, value in conditions.items() if value is not None}
    return " AND ".join(("subject IS NOT NULL", *given)), tuple(given.values())


def _first(most: int | None) -> str:
    return "" if most is None else f" LIMIT {int(most)}"
