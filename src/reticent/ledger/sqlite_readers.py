"""Connections that read a ledger in SQLite, kept for the next reader.

Not here  how a connection is opened (sqlite.py), those to a server (postgres_connection.py).

Opening one takes longer than most questions to it. One that nobody uses is outside of any
transaction, so that it holds up neither writers nor erasing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_IDLE = 4  # connections that are kept


class Readers:
    """Each reading sees one state of the file; a forked process opens connections of its own."""

    def __init__(self, open_one: Callable[[], sqlite3.Connection]) -> None:
        self._open = open_one
        self._idle: list[sqlite3.Connection] = []
        self._pid = os.getpid()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction that changes nothing."""
        connection = self._take()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            self._give_back(connection)

    def close(self) -> None:
        """Close those that nobody uses, in the process that opened them."""
        while self._idle and os.getpid() == self._pid:
            self._idle.pop().close()

    def _take(self) -> sqlite3.Connection:
        if os.getpid() != self._pid:
            self._idle, self._pid = [], os.getpid()  # the parent's: not even to be closed here
        try:
            return self._idle.pop()
        except IndexError:  # also when another thread was faster
            return self._open()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.rollback()
        if len(self._idle) < _IDLE and os.getpid() == self._pid:
            self._idle.append(connection)
        else:
            connection.close()
