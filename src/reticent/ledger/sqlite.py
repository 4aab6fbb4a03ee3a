"""A ledger in one SQLite file: charge, then compute, then settle, then send.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge)
Not here  what is asked of it (asking.py), what is written (spending.py), tables and chain
          (tables.py), commits (sqlite_commits.py), connections that read (sqlite_readers.py),
          checking (verification.py).

A charge is on the disk before anything is computed, and an answer before it is sent. A crash in
between leaves the charge: the same key then computes again and pays nothing more. An answer that
was stored is what every later request with its key gets.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from reticent.ledger.accounts import Account, Answer, LedgerError, Request, TracesLeft
from reticent.ledger.asking import AskedLedger, Doing
from reticent.ledger.covers import Given, choose
from reticent.ledger.many import MANY, reserve_many
from reticent.ledger.spending import find, forget, reserve, set_limit, settle
from reticent.ledger.sqlite_commits import SqliteCommits, passing
from reticent.ledger.sqlite_readers import Readers
from reticent.ledger.sqlite_rows import SqliteRows
from reticent.ledger.tables import SCHEMA, SCHEMAS, statements
from reticent.noise import Source

READING = ("foreign_keys=ON", "busy_timeout=60000")
SETTINGS = (
    *("journal_mode=WAL", "synchronous=FULL", "fullfsync=ON"),  # Theorem 1 rests on these
    *("secure_delete=ON", "cache_size=-16000", *READING),  # in kB, for spends of many accounts
)
_ID_BITS = 128
_PATIENCE = 5000  # milliseconds that erasing waits for readers, and others for it


class SqliteLedger(AskedLedger):
    """Durable budgets in one file, shared by any number of processes of one machine.

    >>> import tempfile, pathlib
    >>> from reticent.ledger import Charge, Request
    >>> from reticent.guarantees import RECORD, Event, PureDP
    >>> ledger = SqliteLedger.open(pathlib.Path(tempfile.mkdtemp()) / "ledger.db")
    >>> event = Event("example", {}, PureDP.of(0.4, RECORD), private=True)
    >>> charge = Charge(subject="ann", provider="club", nano=400_000_000, limit=10**9)
    >>> asked = Request(principal="club", key="1", body=b"", event=event, charges=(charge,))
    >>> ledger.once(asked, lambda: b"noisy"), ledger.once(asked, lambda: b"drawn again")
    (Answer(value=b'noisy', replayed=False), Answer(value=b'noisy', replayed=True))
    >>> ledger.close()
    """

    _rows = SqliteRows()

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._readers = Readers(partial(_reader, path))
        super().__init__(str(path), SqliteCommits(connection, _gate(path)))

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True) -> Self:
        """The ledger in this file, made if it is not there."""
        path = Path(path)
        if not create and not path.is_file():
            raise LedgerError(f"there is no ledger at {path}")
        with passing(_gate(path)):  # two that make one file at once would lock each other out
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # names: for its owner only
            connection = connect(path)
        ledger = cls(path, connection)
        try:
            ledger._writer.run(_prepare)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def forget(self, subject: str) -> int:
        """Delete a person's name and answers, in the file and its log; how many accounts they had.

        Amounts and the chain stay: they are of nobody any more. Backups, and blocks that the disk
        has given to others, are not the ledger's to erase.
        """
        found = self._writer.run(partial(forget, subject))
        self._writer.run_alone(_erase_log)
        return found

    def close(self) -> None:
        """Finish what waits and leave the file; after a fork, only its owner can."""
        self._readers.close()  # the last to leave brings the file up to date, and readers cannot
        super().close()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection that sees one state of the file and changes nothing."""
        return self._readers.reading()

    def _reserving(self, request: Request) -> Doing[tuple[int, Answer | None]]:
        return partial(_reserve(request), request)

    def _settling(self, number: int, answer: bytes) -> Doing[Answer]:
        return partial(settle, number, answer)

    def _answering(self, request: Request, given: Given) -> Doing[Answer]:
        def both(connection: sqlite3.Connection) -> Answer:
            number, kept = _reserve(request)(request, connection, given)
            if kept is None:  # it was reserved and paid before, by somebody who did not finish
                return settle(number, choose(given, frozenset()), connection)
            return kept

        return both

    def _lifting(self, account: Account, limit: int) -> Doing[None]:
        def work(connection: sqlite3.Connection) -> None:
            found = find(connection, account)
            if found is None:
                raise LedgerError("there is no such account")
            set_limit(connection, found, limit)

        return work


@contextmanager
def open_reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a ledger that sees one state of it and changes nothing."""
    readers = Readers(partial(_reader, path))
    try:
        with readers.reading() as connection:
            yield connection
    finally:
        readers.close()


def _reader(path: Path) -> sqlite3.Connection:
    connection = connect(path, readonly=True)
    try:
        _check_schema(connection)
    except (sqlite3.Error, UnicodeDecodeError, LedgerError) as error:
        connection.close()
        known = isinstance(error, LedgerError)
        raise error if known else LedgerError(f"{path} is no ledger") from None
    return connection


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection with the settings that the promises need."""
    connection = None
    try:
        where = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
        connection = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
        if _tables(connection):
            _check_schema(connection)  # before a file of somebody else's is changed
        for setting in READING if readonly else SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except (sqlite3.Error, UnicodeDecodeError, LedgerError) as error:  # also in SQLite's messages
        if connection is not None:
            connection.close()
        raise LedgerError(f"{path} cannot be opened as a ledger: {error}") from None
    return connection


def _reserve(request: Request) -> Callable[..., tuple[int, Answer | None]]:
    return partial(reserve_many, SqliteLedger._rows) if len(request.charges) >= MANY else reserve


def _gate(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _prepare(connection: sqlite3.Connection) -> None:
    if not _tables(connection):
        for statement in statements():
            connection.execute(statement)
        number = f"{Source.system().bits(_ID_BITS):032x}"
        rows = {"schema": SCHEMA, "ledger": number, "clock": "0"}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
    _check_schema(connection)


def _erase_log(connection: sqlite3.Connection) -> None:
    """Bring the file up to date and empty its log, which still holds what was deleted."""
    connection.execute(f"PRAGMA busy_timeout={_PATIENCE}")
    try:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        for setting in READING:
            connection.execute(f"PRAGMA {setting}")
    if busy:
        raise TracesLeft


def _tables(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return found


def _check_schema(connection: sqlite3.Connection) -> None:
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    found = known and connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    if not found or found[0] not in SCHEMAS:
        raise LedgerError("the file is no ledger of this version")
