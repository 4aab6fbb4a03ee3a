"""A ledger in one SQLite file: charge, then compute, then settle, then send.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge)
Not here  what is written (spending.py), tables and chain (tables.py), commits (writer.py), checking
          (verification.py).

A charge is on the disk before anything is computed, and an answer before it is sent. A crash in
between leaves the charge: the same key then computes again and pays nothing more. An answer that
was stored is what every later request with its key gets.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from reticent.errors import require
from reticent.ledger.accounts import LARGEST, Account, Charge, LedgerError, Request
from reticent.ledger.spending import Answer, clock, find, forget, reserve, set_limit, settle
from reticent.ledger.tables import SCHEMA, statements
from reticent.ledger.writer import Writer, passing
from reticent.noise import Source

READING = ("foreign_keys=ON", "busy_timeout=60000")
SETTINGS = (
    *("journal_mode=WAL", "synchronous=FULL", "fullfsync=ON"),  # Theorem 1 rests on these
    *("secure_delete=ON", *READING),
)
_ID_BITS = 128
_PATIENCE = 5000  # milliseconds that erasing waits for readers, and others for it


class SqliteLedger:
    """Durable budgets in one file, shared by any number of processes of one machine.

    >>> import tempfile, pathlib
    >>> from reticent.guarantees import RECORD, Event, PureDP
    >>> ledger = SqliteLedger.open(pathlib.Path(tempfile.mkdtemp()) / "ledger.db")
    >>> event = Event("example", {}, PureDP.of(0.4, RECORD), private=True)
    >>> charge = Charge(subject="ann", provider="club", nano=400_000_000, limit=10**9)
    >>> asked = Request(principal="club", key="1", body=b"", event=event, charges=(charge,))
    >>> ledger.once(asked, lambda: b"noisy"), ledger.once(asked, lambda: b"drawn again")
    (Answer(value=b'noisy', replayed=False), Answer(value=b'noisy', replayed=True))
    >>> ledger.close()
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._writer = Writer(connection, _gate(path))

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

    def close(self) -> None:
        """Finish what waits and close the file; after a fork, only its owner can."""
        if self._writer.close():
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def once(self, request: Request, make: Callable[[], bytes]) -> Answer:
        """Charge, make the answer, keep it; or the answer that this key got before.

        ``BudgetExceeded`` charges nothing and calls nothing. If ``make`` fails the charge stays,
        and the same key may try again without another one.
        """
        number, kept = self._writer.run(partial(reserve, request))
        if kept is not None:
            return kept
        made = make()
        return Answer(*self._writer.run(partial(settle, number, made)))

    def once_with(self, request: Request, answer: bytes) -> Answer:
        """Charge and keep an answer that is already drawn, in one commit.

        For releases that cannot fail. The answer must not be sent but by what this returns: if the
        budget is exceeded, or the key has an answer, the one that was drawn is dropped.
        """
        return self.submit(request, answer).result()

    def submit(self, request: Request, answer: bytes) -> Future[Answer]:
        """``once_with``, to wait for later."""

        def both(connection: sqlite3.Connection) -> Answer:
            number, kept = reserve(request, connection, answer)
            if kept is None:  # it was reserved before, by somebody who did not finish
                return Answer(*settle(number, answer, connection))
            return kept

        return self._writer.submit(both)

    def raise_limit(self, account: Account, limit: int) -> None:
        """Set a limit that is higher than the one on record; it is written down."""
        good = isinstance(limit, int) and not isinstance(limit, bool) and 0 <= limit <= LARGEST
        require(good, "limit", limit, f"from 0 to {LARGEST}")

        def work(connection: sqlite3.Connection) -> None:
            found = find(connection, account)
            if found is None:
                raise LedgerError("there is no such account")
            set_limit(connection, found, limit)

        self._writer.run(work)

    def forget(self, subject: str) -> int:
        """Delete a person's name and answers, in the file and its log; how many accounts they had.

        Amounts and the chain stay: they are of nobody any more. Backups, and blocks that the disk
        has given to others, are not the ledger's to erase.
        """
        found = self._writer.run(partial(forget, subject))
        self._writer.run_alone(_erase_log)
        return found

    def left(self, charge: Charge) -> int:
        """What an account would have left for this charge's owner now."""
        with self.reading() as connection:
            at = max(int(time.time()), clock(connection))
            account = charge.account(at)
            row = find(connection, account)
        return charge.limit if row is None else max(min(row[1], charge.limit) - row[2], 0)

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection that sees one state of the file and changes nothing."""
        return open_reading(self.path)


@contextmanager
def open_reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a ledger that sees one state of it and changes nothing."""
    connection = connect(path, readonly=True)
    try:
        try:
            connection.execute("BEGIN")
            _check_schema(connection)
        except (sqlite3.Error, UnicodeDecodeError):
            raise LedgerError(f"{path} is no ledger") from None
        yield connection
    finally:
        connection.close()


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
        raise LedgerError(
            "forgotten, but the log still holds traces while somebody reads: forget again later"
        )


def _tables(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return found


def _check_schema(connection: sqlite3.Connection) -> None:
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    found = known and connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    if not found or found[0] != SCHEMA:
        raise LedgerError("the file is no ledger of this version")
