"""A ledger in a PostgreSQL database, for processes of several hosts.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge), Theorem 5 (a refusal that nobody sees)
Not here  what is asked of it (asking.py), what is written (postgres_functions.py), tables
          (postgres_tables.py), commits (postgres_commits.py), checking (verification.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Self

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
from reticent.ledger.asking import AskedLedger, Doing
from reticent.ledger.covers import Given, choose
from reticent.ledger.guards import Stale
from reticent.ledger.interface import Connection
from reticent.ledger.lines import append
from reticent.ledger.many import MANY, reserve_many
from reticent.ledger.postgres_commits import Call, PostgresCommits, Row
from reticent.ledger.postgres_connection import (
    PostgresConnection,
    Readers,
    Server,
    check_schema,
    shown,
    translated,
)
from reticent.ledger.postgres_functions import FUNCTIONS, version
from reticent.ledger.postgres_rows import PostgresRows
from reticent.ledger.postgres_tables import PLACE, script
from reticent.ledger.spending import left_of
from reticent.ledger.tables import SCHEMA
from reticent.noise import Source

_RESERVE = (
    "SELECT * FROM reserve(%s, %s, %s, %s, %s::bigint, %s, %s::text[], %s::text[], %s::text[],"
    " %s::text[], %s::bigint[], %s::bigint[], {unchanged}, {given})"
)
_ID_BITS = 128


class PostgresLedger(AskedLedger):
    """Durable budgets in the schema ``reticent`` of a database.

    A request fails with ``LedgerError`` when the connection is lost before the server's word has
    come: whether it was charged is then not known, and the same key finds out.
    """

    _rows = PostgresRows()

    def __init__(self, address: str, commits: PostgresCommits) -> None:
        super().__init__(shown(address), commits)
        self._readers = Readers(address)
        self._source = Source.system()

    @classmethod
    def open(cls, address: str, *, create: bool = True) -> Self:
        """The ledger in this database, made if it is not there."""
        commits = PostgresCommits(address)
        ledger = cls(address, commits)
        try:
            commits.ledger = ledger._writer.run(partial(_prepare, create))
        except LedgerError as error:
            ledger.close()
            where = f"{ledger.address} cannot be opened as a ledger"
            raise LedgerError(f"{where}: {error}") from None
        except BaseException:
            ledger.close()
            raise
        return ledger

    def close(self) -> None:
        """Finish what waits and close the connections; after a fork, only its owner can."""
        if self._writer.close():
            self._readers.close()

    def forget(self, subject: str) -> int:
        """Delete a person's names and answers from the tables; how many accounts they had.

        The server's log of changes holds them until it is reused, and so do backups and archives:
        they are its operator's to erase.
        """
        found: int = self._writer.run(partial(_forget, subject))
        self._writer.run_alone(_sweep)
        return found

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the database and changes nothing."""
        return self._readers.reading()

    def _reserving(self, request: Request) -> Doing[tuple[int, Answer | None]]:
        if len(request.charges) >= MANY:
            return partial(reserve_many, self._rows, request)
        return self._call(request, None, lambda row: (row[1], _answer(request, row)))

    def _answering(self, request: Request, given: Given) -> Doing[Answer]:
        given = given if isinstance(given, tuple) else _bytes(given)
        if len(request.charges) < MANY:
            return self._call(request, given, lambda row: _answer(request, row))

        def both(connection: PostgresConnection) -> Answer:
            number, kept = reserve_many(self._rows, request, connection, given)
            if kept is None:  # it was reserved and paid before, by somebody who did not finish
                kept = self._settling(number, choose(given, frozenset()))(connection)
            return kept

        return both

    def _call(self, request: Request, given: Given | None, means: Any) -> Call:
        charges = _sorted(request)
        (unchanged, held), (words, kept) = _unchanged(request), _given(given, charges)
        parameters = (
            *(request.principal, request.key, request.fingerprint, request.told),
            *(int(time.time()), self._source.bits(_ID_BITS).to_bytes(_ID_BITS // 8, "big")),
            *([getattr(one, name) for one in charges] for name in ("subject", "provider", "what")),
            [one.renews for one in charges],
            *(_numbers([one.nano for one in charges]), _numbers([one.limit for one in charges])),
            *(*held, *kept),
        )
        return Call(_RESERVE.format(unchanged=unchanged, given=words), parameters, means)

    def _settling(self, number: int, answer: bytes) -> Doing[Answer]:
        def means(row: Row) -> Answer:
            if row[0] == "deleted":
                raise LedgerError(DELETED)
            return Answer(row[1], replayed=row[0] == "replayed")

        return Call("SELECT * FROM settle(%s::bigint, %s)", (number, _bytes(answer)), means)

    def _lifting(self, account: Account, limit: int) -> Doing[None]:
        def means(row: Row) -> None:
            if not row[0]:
                raise LedgerError("there is no such account")

        names = (account.subject, account.provider, account.what, account.period)
        return Call("SELECT lift_limit(%s, %s, %s, %s, %s::bigint)", (*names, limit), means)


def _sorted(request: Request) -> list[Charge]:
    return sorted(request.charges, key=lambda one: (one.subject, one.provider, one.what))


def _numbers(amounts: list[int]) -> str:
    """As the server writes arrays: one type, whatever the size of the numbers."""
    return "{" + ",".join(map(str, amounts)) + "}"


def _given(given: Given | None, charges: Sequence[Charge]) -> tuple[str, tuple[object, ...]]:
    """What is to be kept, as arguments of the function, and their values.

    Of parts: values, covers, whose payment each needs, and whose each charge is. Subjects are bits:
    there are fewer than ``MANY``.
    """
    if not isinstance(given, tuple):
        return "%s, NULL, NULL, NULL, NULL", (given,)
    bits: dict[str, int] = {}
    whose = [bits.setdefault(one.subject, 1 << len(bits)) for one in charges]
    needed = (bits if one.subjects is None else set(one.subjects) for one in given)
    needs = [sum(bits[name] for name in names) for names in needed]
    array = f"ARRAY[{', '.join(['%s'] * len(given))}]::bytea[]"
    return f"NULL, {array}, {array}, %s::bigint[], %s::bigint[]", (
        *(one.value for one in given),
        *(one.cover for one in given),
        *(_numbers(needs), _numbers(whose)),
    )


def _unchanged(request: Request) -> tuple[str, tuple[str | int, ...]]:
    """A word that is true if what the request's guard names is as it was, and its values.

    The server asks it before the function runs, and after the lock that all who write wait for.
    """
    if request.guard is None:
        return "true", ()
    sql, values = request.guard.question()
    return f"({translated(sql)}) = {len(request.guard.rows)}", values


def _bytes(answer: bytes) -> bytes:
    if not isinstance(answer, bytes):
        raise TypeError("an answer is bytes")
    return answer


def _answer(request: Request, row: Row) -> Answer | None:
    """What the function's outcome means."""
    outcome, _, kept, place, remaining = row
    if outcome == "refused":
        charge = _sorted(request)[place - 1]
        raise BudgetExceeded(f"budget with {charge.provider!r}", charge.nano, remaining)
    if outcome == "stale":
        raise Stale
    if outcome == "reused":
        raise KeyReused
    if outcome == "deleted":
        raise LedgerError(DELETED)
    return None if outcome == "reserved" else Answer(kept, replayed=outcome == "replayed")


def _prepare(create: bool, connection: PostgresConnection) -> str:
    found = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE relname = 'meta') FROM pg_class"
        " JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = ?",
        (PLACE,),
    ).fetchone()
    if create and found == (0, 0):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {PLACE}")
        for statement in script():
            connection.execute(statement)
        number = f"{Source.system().bits(_ID_BITS):032x}"
        rows = {"schema": SCHEMA, "ledger": number, "clock": "0", "functions": version()}
        for row in rows.items():
            connection.execute("INSERT INTO meta VALUES (?, ?)", row)
    number = check_schema(connection.held)
    _renew(connection)
    return number


def _renew(connection: PostgresConnection) -> None:
    """Put this version's functions in the place of another's; what is written stays as it is."""
    held = connection.execute("SELECT value FROM meta WHERE name = 'functions'").fetchone()
    if held is not None and held[0] == version():
        return
    old = connection.execute(
        "SELECT CAST(pg_proc.oid AS regprocedure) FROM pg_proc"
        " JOIN pg_namespace AS n ON n.oid = pronamespace WHERE nspname = ? AND proname = ANY (?)",
        (PLACE, [one.name for one in FUNCTIONS]),
    ).fetchall()
    for (name,) in old:
        connection.execute(f"DROP FUNCTION {name}")
    for function in FUNCTIONS:
        connection.execute(function.statement())
    connection.execute(
        "INSERT INTO meta VALUES ('functions', ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (version(),),
    )


def _forget(subject: str, connection: PostgresConnection) -> int:
    commitments = left_of(connection, subject)
    found: int = connection.execute("SELECT forget(?)", (subject,)).fetchone()[0]
    if commitments:
        append(connection, "forgotten", {"of": commitments})
    return found


def _sweep(connection: Server) -> None:
    """Clear away the rows as they were before; it waits for nobody who still reads them."""
    connection.execute("VACUUM account, spend")
