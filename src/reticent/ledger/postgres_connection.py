"""Connections to a ledger in PostgreSQL: with the settings that the promises need, or none.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit)
Not here  transactions that write (postgres_commits.py).
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from reticent.errors import MissingExtra
from reticent.ledger.accounts import Damaged, LedgerError
from reticent.ledger.interface import Cursor
from reticent.ledger.postgres_tables import PLACE
from reticent.ledger.tables import SCHEMAS

try:
    import psycopg
except ImportError:
    raise MissingExtra("a ledger in PostgreSQL", "postgres") from None

Failed = psycopg.Error
Broken = psycopg.OperationalError
Server: TypeAlias = psycopg.Connection[tuple[Any, ...]]
_PATIENCE = 10  # seconds to wait for a connection
_STALLED = 60  # seconds after which the server lets go of a writer that does nothing
_ROWS = 2000  # that are fetched at once
_IDLE = 4  # connections that are kept for the next reader
_READ = (  # who only reads keeps nobody waiting, and may take its time
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    " SET LOCAL idle_in_transaction_session_timeout = 0"
)
_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[?%]")


def shown(address: str) -> str:
    """The address without password and options."""
    try:
        parts = urlsplit(address)
        if "@" in parts.path + parts.query + parts.fragment:  # a password that was not quoted
            return "postgresql://"
        name = f"{parts.username}@" if parts.username else ""
        port = f":{parts.port}" if parts.port else ""
        return f"postgresql://{name}{parts.hostname or ''}{port}{parts.path}"
    except ValueError:
        return "postgresql://"


def connect(address: str) -> Server:
    """A connection whose commits are on the server's disk when they are confirmed."""
    try:
        connection = psycopg.connect(address, autocommit=True, connect_timeout=_PATIENCE)
    except psycopg.OperationalError as error:
        said = re.search(r"FATAL: +(.*)", str(error))  # by the server; the rest by the address
        why = said[1] if said else "the server cannot be reached"
        raise LedgerError(f"{shown(address)} cannot be opened as a ledger: {why}") from None
    except psycopg.Error:  # its message would repeat parts of the address
        raise LedgerError(f"{shown(address)} is no address of a database") from None
    try:
        _settle(connection)
    except (psycopg.Error, LedgerError) as error:
        connection.close()
        why = primary(error) if isinstance(error, psycopg.Error) else str(error)
        raise LedgerError(f"{shown(address)} cannot be used as a ledger: {why}") from None
    return connection


def _settle(connection: Server) -> None:
    fsync, commits, replica, letters = connection.execute(
        "SELECT current_setting('fsync'), current_setting('synchronous_commit'),"
        " pg_is_in_recovery(), current_setting('server_encoding')"
    ).fetchall()[0]
    if fsync != "on":
        raise LedgerError("the server runs with fsync=off, and would lose what it has confirmed")
    if replica:
        raise LedgerError("the server is a replica; a ledger is written on the primary")
    if letters != "UTF8":
        raise LedgerError(f"the database must be in UTF8, and is in {letters}")
    sure = commits if commits == "remote_apply" else "on"  # more than on is for its owner to ask
    connection.execute(
        f"SET synchronous_commit = {sure}; SET search_path = {PLACE};"
        f"SET idle_in_transaction_session_timeout = '{_STALLED}s'; SET client_encoding = 'UTF8';"
        "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;"
        "SET enable_seqscan = off; SET jit = off"  # plans are kept from when tables were empty
    )


def primary(error: psycopg.Error) -> str:
    """What went wrong, without the details, which repeat values."""
    return error.diag.message_primary or type(error).__name__


def _unread(error: psycopg.Error) -> LedgerError:
    """Damage is told apart from a server that is gone."""
    kind = Damaged if (error.sqlstate or "").startswith("XX") else LedgerError
    return kind(f"the ledger could not be read: {primary(error)}")


def check_schema(connection: Server) -> str:
    """The number of the ledger, if there is one of this version."""
    exists = connection.execute("SELECT to_regclass(%s)", (f"{PLACE}.meta",)).fetchall()[0][0]
    rows = connection.execute("SELECT name, value FROM meta").fetchall() if exists else []
    held: dict[str, str] = dict(rows)
    if held.get("schema") not in SCHEMAS:
        raise LedgerError("the database holds no ledger of this version")
    return held.get("ledger", "")


@lru_cache(maxsize=500)
def translated(sql: str) -> str:
    """``?`` for values, as the driver writes it; not inside of quotes."""

    def each(found: re.Match[str]) -> str:
        text = found[0]
        return "%s" if text == "?" else text.replace("%", "%%")

    return _WORD.sub(each, sql)


class PostgresConnection:
    """A connection for SQL of both engines."""

    def __init__(self, held: Server, *, streams: bool = False) -> None:
        self.held = held
        self._streams = streams
        self._count = count(1)

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor:
        """One statement; rows of a reader come in parts, so that memory stays small."""
        try:
            if self._streams and sql.split(maxsplit=1)[0].upper() in ("SELECT", "WITH"):
                return _Stream(self.held, f"rows_{next(self._count)}", sql, parameters)
            return self.held.execute(translated(sql), tuple(parameters))
        except psycopg.Error as error:
            if self._streams:
                raise _unread(error) from None
            raise

    def whole(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        """The rows of one question among many, at once: no cursor is left on the server."""
        try:
            return self.held.execute(translated(sql), tuple(parameters)).fetchall()
        except psycopg.Error as error:
            if self._streams:
                raise _unread(error) from None
            raise


class _Stream:
    """Rows of a cursor on the server."""

    rowcount = -1

    def __init__(self, held: Server, name: str, sql: str, parameters: Sequence[Any]) -> None:
        self._held, self._name = held, name
        declared = f"DECLARE {name} NO SCROLL CURSOR FOR {translated(sql)}"
        held.execute(declared, tuple(parameters))
        self._part: deque[Any] = deque()
        self._ended = False
        self._more()

    def _more(self) -> None:
        rows = self._held.execute(f"FETCH {_ROWS} FROM {self._name}")
        self._part.extend(rows.fetchall())
        self._ended = len(self._part) < _ROWS

    def fetchone(self) -> Any:
        return next(self, None)

    def fetchall(self) -> list[Any]:
        return list(self)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._part and not self._ended:
            try:
                self._more()
            except psycopg.Error as error:
                raise _unread(error) from None
        if not self._part:
            raise StopIteration
        return self._part.popleft()


class Readers:
    """Connections that only read, kept for the next one to ask."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._idle: deque[Server] = deque()
        self._keep = _IDLE
        self._pid = os.getpid()

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """One that sees one state of the database."""
        if os.getpid() != self._pid:  # those of the parent are not for a child
            self._idle, self._pid = deque(), os.getpid()
        held = self._begun()
        try:
            yield PostgresConnection(held, streams=True)
        finally:
            with suppress(psycopg.Error):
                held.execute("ROLLBACK")
                if not held.closed and len(self._idle) < self._keep:
                    self._idle.append(held)
                    held = None  # type: ignore[assignment]
            if held is not None:
                held.close()

    def _begun(self) -> Server:
        while True:
            try:
                held, fresh = self._idle.pop(), False
            except IndexError:
                held, fresh = connect(self._address), True
            try:
                held.execute(_READ)
                check_schema(held)
            except psycopg.Error as error:
                held.close()
                if fresh:
                    where = shown(self._address)
                    raise LedgerError(f"{where} could not be read: {primary(error)}") from None
            except LedgerError:
                held.close()
                raise LedgerError(f"{shown(self._address)} is no ledger") from None
            else:
                return held

    def close(self) -> None:
        """End those that wait, and keep none from now on."""
        self._keep = 0
        while self._idle:
            self._idle.pop().close()


def leave(connection: Server) -> None:
    """In a forked child: the server sees the owner's end only when no copy of the socket is left.

    The number is given to nothing else, as the driver still has it.
    """
    if not connection.closed:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(nothing, connection.fileno(), inheritable=False)
        os.close(nothing)
