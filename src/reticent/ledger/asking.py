"""What ledgers of all stores do alike: charge, compute, settle, send.

Theory    docs/theory/ledger.md, Theorem 2 (one key, one answer, one charge), Theorem 5 (a refusal
          that nobody sees)
Not here  what a store does for it (sqlite.py, postgres.py).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, Self, TypeAlias, TypeVar

from reticent.errors import require
from reticent.ledger.accounts import LARGEST, Account, Answer, Charge, Request
from reticent.ledger.covers import EachAnswer, Given, Sealed, checked_parts, each_parts, read_each
from reticent.ledger.interface import Connection
from reticent.ledger.many import Rows, short
from reticent.ledger.writer import Commits, Writer

T = TypeVar("T")
Doing: TypeAlias = Callable[[Any], T]  # work for the writer, by what it returns


class AskedLedger(ABC):
    """A ledger whose store says how to reserve, settle, lift and forget."""

    _rows: Rows

    def __init__(self, address: str, commits: Commits) -> None:
        self.address = address
        self._writer = Writer(commits)

    def close(self) -> None:
        """Finish what waits and leave the store; after a fork, only its owner can."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def once(self, request: Request, make: Callable[[], bytes]) -> Answer:
        """Charge, make the answer, keep it; or the answer that this key got before.

        ``BudgetExceeded`` charges nothing and calls nothing. If ``make`` fails the charge stays,
        and the same key may try again without another one. A guard is checked with the charge,
        before ``make``.
        """
        number, kept = self._writer.run(self._reserving(request))
        return self._writer.run(self._settling(number, make())) if kept is None else kept

    def once_with(self, request: Request, answer: bytes | Sealed) -> Answer:
        """Charge and keep an answer that is already drawn, in one commit.

        For releases that cannot fail. The answer must not be sent but by what this returns: if the
        budget is exceeded, or the key has an answer, the one that was drawn is dropped. Of a
        ``Sealed`` the cover is kept where somebody cannot pay, who is then charged nothing: who
        asks does not see the difference. Theorem 5.
        """
        return self.submit(request, answer).result()

    def submit(self, request: Request, answer: bytes | Sealed) -> Future[Answer]:
        """``once_with``, to wait for later."""
        given = checked_parts(request, (answer,)) if isinstance(answer, Sealed) else answer
        return self._writer.submit(self._answering(request, given))

    def once_each(self, request: Request, sealed: Sequence[Sealed]) -> EachAnswer:
        """Charge and keep a value or its cover for each of ``sealed``, in one commit.

        As ``once_with``, but a subject who cannot pay covers only the values that are theirs.
        """
        given = each_parts(request, sealed)
        return read_each(self._writer.run(self._answering(request, given)), len(sealed))

    def raise_limit(self, account: Account, limit: int) -> None:
        """Set a limit that is higher than the one on record; it is written down."""
        good = isinstance(limit, int) and not isinstance(limit, bool) and 0 <= limit <= LARGEST
        require(good, "limit", limit, f"from 0 to {LARGEST}")
        self._writer.run(self._lifting(account, limit))

    def left(self, charge: Charge) -> int:
        """What an account would have left for this charge's owner now."""
        with self.reading() as connection:
            account = charge.account(_clock(connection))
            row = connection.execute(
                "SELECT lim, spent FROM account"
                " WHERE subject = ? AND provider = ? AND what = ? AND period = ?",
                (account.subject, account.provider, account.what, account.period),
            ).fetchone()
        return charge.limit if row is None else max(min(row[0], charge.limit) - row[1], 0)

    def short(self, charges: Iterable[Charge]) -> int:
        """How many of these charges would not fit now, each by itself; any number of them.

        For the operator, before a large release: nothing is written and nothing is promised, as
        others may spend before it.
        """
        with self.reading() as connection:
            return short(self._rows, connection, charges, _clock(connection))

    def write(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` returns, once all that it wrote is on the disk; nothing of it if it fails.

        For tables of others in the same database, whose names begin with their package's:
        ``gateway_``. Others wait meanwhile: keep it short, and do not end the transaction.
        """
        return self._writer.run(work)

    @abstractmethod
    def forget(self, subject: str) -> int:
        """Delete a person's names and answers; how many accounts they had."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the ledger and changes nothing."""

    @abstractmethod
    def _reserving(self, request: Request) -> Doing[tuple[int, Answer | None]]: ...

    @abstractmethod
    def _settling(self, number: int, answer: bytes) -> Doing[Answer]: ...

    @abstractmethod
    def _answering(self, request: Request, given: Given) -> Doing[Answer]: ...

    @abstractmethod
    def _lifting(self, account: Account, limit: int) -> Doing[None]: ...


def _clock(connection: Connection) -> int:
    """The time that a charge would have now: never less than any time seen before."""
    seen = connection.execute("SELECT value FROM meta WHERE name = 'clock'").fetchone()[0]
    return max(int(time.time()), int(seen))
