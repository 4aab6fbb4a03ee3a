"""What a ledger offers, whatever keeps it: one file, or a PostgreSQL server.

Not here  the ledgers (sqlite.py, postgres.py), which of them an address means (addresses.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self, TypeVar

from reticent.ledger.accounts import Account, Answer, Charge, Request
from reticent.ledger.covers import EachAnswer, Sealed

T = TypeVar("T")


class Cursor(Protocol):
    """The outcome of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""

    def fetchone(self) -> Any:
        """The next row, or none."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left, one after the other."""


class Connection(Protocol):
    """SQL that SQLite and PostgreSQL both understand, with ``?`` for values.

    Integers are ``BIGINT``, bytes ``BLOB``; a store chooses no numbers for rows. Where a row may be
    there already, say ``ON CONFLICT DO NOTHING``: PostgreSQL does not go on after an error.
    """

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor:
        """One statement."""


class Ledger(Protocol):
    """Durable budgets: see ``SqliteLedger``."""

    @property
    def address(self) -> str:
        """Where it is, without a password."""

    def close(self) -> None:
        """Finish what waits and leave it."""

    def __enter__(self) -> Self:
        """The ledger itself."""

    def __exit__(self, *_: object) -> None:
        """Close it."""

    def once(self, request: Request, make: Callable[[], bytes]) -> Answer:
        """Charge, make the answer, keep it; or the answer that this key got before."""

    def once_with(self, request: Request, answer: bytes | Sealed) -> Answer:
        """Charge and keep an answer that is already drawn, or its cover, in one commit."""

    def submit(self, request: Request, answer: bytes | Sealed) -> Future[Answer]:
        """``once_with``, to wait for later."""

    def once_each(self, request: Request, sealed: Sequence[Sealed]) -> EachAnswer:
        """Charge and keep a value or its cover for each of ``sealed``, in one commit."""

    def raise_limit(self, account: Account, limit: int) -> None:
        """Set a limit that is higher than the one on record; it is written down."""

    def forget(self, subject: str) -> int:
        """Delete a person's names and answers; how many accounts they had."""

    def left(self, charge: Charge) -> int:
        """What an account would have left for this charge's owner now."""

    def short(self, charges: Iterable[Charge]) -> int:
        """How many of these charges would not fit now, each by itself; nothing is written."""

    def write(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` returns, once all that it wrote is on the disk."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the ledger and changes nothing."""
