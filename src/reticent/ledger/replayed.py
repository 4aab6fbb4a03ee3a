"""Accounts as the lines of a ledger tell of them, and whether the table says the same.

Theory    docs/theory/ledger.md, Theorem 3 (an edit is noticed)
Not here  the chain and the spends (verification.py).

Numbers count from 1 without gaps, so amounts stand in arrays: a few bytes for each account. Of
those that were opened together the lines hold one digest, which is compared row by row.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reticent.ledger.interface import Connection
from reticent.ledger.tables import framed, named

_UNKNOWN = -1  # the limit of an account of which no line has told


@dataclass(slots=True, order=True)
class _Together:
    """Accounts that one line opened: the digest it holds, and that of the rows seen so far."""

    first: int
    last: int
    of: str
    seen: Any = field(default_factory=hashlib.sha256, compare=False)


class ReplayedAccounts:
    """Limits, amounts, periods and commitments by number."""

    def __init__(self, connection: Connection, problems: list[str]) -> None:
        self.problems = problems
        self.count = 0
        self.forgotten: set[int] = set()
        self._rows: int = connection.execute("SELECT count(*) FROM account").fetchone()[0]
        self._missing = False
        self._limits, self._spent, self._period = array("q"), array("q"), array("q")
        self._periods: dict[str, int] = {}
        self._single: dict[int, bytes] = {}  # commitments of those that a line of their own opened
        self._together: list[_Together] = []
        self._kept: dict[int, bytes] = {}  # commitments of those that were forgotten

    def open(self, number: int, limit: int, period: str, of: str) -> None:
        """One account, with a commitment to its names."""
        self._single[number] = bytes.fromhex(of)
        self._add(number, limit, period, 1)

    def open_many(self, first: int, runs: Iterable[tuple[int, str, int]], of: str) -> None:
        """Accounts from ``first`` on: how many with which limit and period, one after the other."""
        number = first
        for limit, period, count in runs:
            self._add(number, limit, period, count)
            number += count
        self._together.append(_Together(first, number - 1, of))

    def _add(self, first: int, limit: int, period: str, count: int) -> None:
        if limit < 0 or count < 1 or first != len(self._limits) + 1:
            self.problems.append(f"account {first}: not opened in its turn")
        if first < 1 or first + count - 1 > self._rows:  # nothing is kept for what is not there
            self._missing = True
            return
        grown = max(first + count - 1 - len(self._limits), 0)
        self._limits.extend(array("q", [_UNKNOWN]) * grown)
        self._spent.extend(array("q", [0]) * grown)
        self._period.extend(array("q", [_UNKNOWN]) * grown)
        place = self._periods.setdefault(period, len(self._periods))
        self._limits[first - 1 : first - 1 + count] = array("q", [limit]) * count
        self._period[first - 1 : first - 1 + count] = array("q", [place]) * count
        self.count += count

    def limit(self, number: int, limit: int) -> None:
        """Another limit for an account."""
        if self._known(number):
            self._limits[number - 1] = limit
        else:
            self._missing = True

    def spend(self, number: int, nano: int) -> bool:
        """Add a charge; whether it is within the limit."""
        if not self._known(number):
            return False
        self._spent[number - 1] += nano
        return self._spent[number - 1] <= self._limits[number - 1]

    def keep(self, of: Mapping[str, str]) -> None:
        """Commitments of accounts that were forgotten, by number."""
        self._kept.update((int(number), bytes.fromhex(text)) for number, text in of.items())

    def _known(self, number: int) -> bool:
        return 0 < number <= len(self._limits)

    def check(self, connection: Connection) -> None:
        """Every row of the table; a problem for each that is not what the lines say."""
        seen, waiting = 0, iter(sorted(self._together))
        periods = list(self._periods)
        together = next(waiting, None)
        for number, *names, period, salt, limit, spent in connection.execute(
            "SELECT id, subject, provider, what, period, salt, lim, spent FROM account ORDER BY id"
        ):
            if not self._known(number) or self._limits[number - 1] == _UNKNOWN:
                self._missing = True
                continue
            seen += 1
            if (limit, spent) != (self._limits[number - 1], self._spent[number - 1]):
                self.problems.append(f"account {number}: limit or spent is not what the lines say")
            if period != periods[self._period[number - 1]]:
                self.problems.append(f"account {number}: its period was changed")
            of = self._named(number, salt, names)
            while together is not None and number > together.last:
                self._close(together)
                together = next(waiting, None)
            if together is not None and number >= together.first:
                together.seen.update(of)
            elif of != self._single.get(number) and number not in self.forgotten:
                self.problems.append(f"account {number}: its names were changed")
        for one in _rest(together, waiting):
            self._close(one)
        if any(number not in self.forgotten for number in self._kept):
            self.problems.append("a commitment was kept of an account that is not forgotten")
        if self._missing or seen != self.count:
            self.problems.append("accounts are missing, or more than the lines say")

    def _named(self, number: int, salt: bytes | None, names: list[Any]) -> bytes:
        """The commitment to the names of a row: its own, or the one that was kept."""
        held = [part is not None for part in (salt, *names)]
        if number in self.forgotten:
            if any(held):
                self.problems.append(f"account {number}: forgotten, but not deleted")
            kept = self._kept.get(number, b"")
            if kept != self._single.get(number, kept) and kept:
                self.problems.append(f"account {number}: what was kept of it is not what was told")
            return kept
        if not all(held) or salt is None:
            self.problems.append(f"account {number}: deleted, but not forgotten")
            return b""
        subject, *others = names
        return named(salt, subject, framed(*others))

    def _close(self, one: _Together) -> None:
        if one.seen.hexdigest() != one.of:
            self.problems.append(f"accounts {one.first} to {one.last}: their names were changed")


def _rest(first: _Together | None, others: Iterator[_Together]) -> Iterator[_Together]:
    if first is not None:
        yield first
        yield from others
