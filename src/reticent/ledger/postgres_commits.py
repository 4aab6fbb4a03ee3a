"""Transactions of a ledger in PostgreSQL: one at a time, behind one lock of the database.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit)
Not here  whose work it is (writer.py), what is written (postgres_functions.py).

The lock is held until the commit is on the disk, so the chain's order is that of the commits. Calls
of functions go to the server many at a time; other work has a savepoint each. When the connection
is lost, those who wait are told so, and the next commit begins with a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any, LiteralString, TypeAlias, cast

from reticent.ledger.accounts import LedgerError
from reticent.ledger.postgres_connection import (
    Broken,
    Failed,
    PostgresConnection,
    Server,
    check_schema,
    connect,
    leave,
    primary,
    shown,
)
from reticent.ledger.postgres_functions import LOCK
from reticent.ledger.writer import Outcome, Work

Row: TypeAlias = tuple[Any, ...]
_BEGIN = f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock({LOCK})"
_LOST = (
    "the connection to the ledger was lost: what was asked for may have been kept or not; "
    "ask again with the same key"
)


@dataclass(frozen=True, slots=True)
class Call:
    """Work that is one call of a function, and what its row means: a value, or an error."""

    sql: LiteralString
    parameters: Row
    means: Callable[[Row], Any]

    def __call__(self, connection: PostgresConnection) -> Any:
        """By itself, where others share its savepoint."""
        return self.means(connection.held.execute(self.sql, self.parameters).fetchall()[0])


class PostgresCommits:
    """One connection, made again when it is lost."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._held = connect(address)
        self.ledger: str | None = None  # once it is known, no other may take its place

    def commit(self, batch: Sequence[Work]) -> list[Outcome]:
        """All of it in one transaction."""
        held = self._begun()
        try:
            outcomes = list(_outcomes(held, batch))
            if held.execute("COMMIT").statusmessage != "COMMIT":
                raise LedgerError("the ledger could not be written: the server took it back")
        except BaseException:
            with suppress(Failed):
                held.execute("ROLLBACK")
            raise
        return outcomes

    def _begun(self) -> Server:
        if not self._held.closed:
            try:
                self._held.execute(_BEGIN)
                return self._held
            except Broken:  # nothing was begun, so nothing is lost
                self._held.close()
        held = self._connected()
        held.execute(_BEGIN)
        return held

    def _connected(self) -> Server:
        held = self._held = connect(self._address)
        if self.ledger is not None and check_schema(held) != self.ledger:
            held.close()
            raise LedgerError(f"{shown(self._address)} holds another ledger now")
        return held

    def alone(self, work: Work) -> Any:
        """Outside of transactions."""
        return work(self._connected() if self._held.closed else self._held)

    def named(self, error: BaseException) -> BaseException:
        """A server that is gone, a full disk."""
        if not isinstance(error, Failed):
            return error
        if self._held.closed:
            return LedgerError(_LOST)
        return LedgerError(f"the ledger could not be written: {primary(error)}")

    def close(self) -> None:
        """End the connection."""
        self._held.close()

    def leave(self) -> None:
        """A child's copy of the socket would keep the lock after its owner's death."""
        leave(self._held)


def _outcomes(held: Server, batch: Sequence[Work]) -> Iterator[Outcome]:
    for sql, group in groupby(batch, key=lambda work: work.sql if isinstance(work, Call) else None):
        if sql is not None:
            yield from _called(held, [cast(Call, work) for work in group])
        else:
            for work in group:
                yield _attempt(held, work)


def _called(held: Server, calls: list[Call]) -> Iterator[Outcome]:
    """Calls of one function, sent together."""
    with held.cursor() as cursor:
        if len(calls) == 1:
            rows = cursor.execute(calls[0].sql, calls[0].parameters).fetchall()
        else:
            cursor.executemany(calls[0].sql, [call.parameters for call in calls], returning=True)
            rows = cursor.fetchall()
            while cursor.nextset():
                rows += cursor.fetchall()
    for call, row in zip(calls, rows, strict=True):
        try:
            yield call.means(row), None
        except Exception as error:
            yield None, error


def _attempt(held: Server, work: Work) -> Outcome:
    held.execute("SAVEPOINT one")
    try:
        value = work(PostgresConnection(held))
        held.execute("RELEASE one")
    except Exception as error:
        held.execute("ROLLBACK TO one; RELEASE one")
        return None, error
    return value, None
