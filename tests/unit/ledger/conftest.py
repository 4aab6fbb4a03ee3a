"""Ledgers for tests: the contract's tests run for every store in ``STORES``."""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.postgres_server import running
from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import (
    Charge,
    Checked,
    Guard,
    Head,
    Ledger,
    Request,
    open_reading,
    verify_ledger,
)
from reticent.ledger import open_ledger as open_ledger_at
from reticent.ledger.reports import balances

EVENT = Event("test", {"scale": 1}, PureDP(1, RECORD), private=True)


@dataclass
class Store:
    """What a test needs of a store: another handle on it, what it holds, whether it fits."""

    address: Any
    opened: list[Ledger] = field(default_factory=list)

    def open(self) -> Ledger:
        ledger = open_ledger_at(self.address)
        self.opened.append(ledger)
        return ledger

    def spent(self) -> dict[tuple[str, ...], tuple[int, int]]:
        """Limit and spent by subject, provider, what and period."""
        with self.opened[0].reading() as connection:
            return {
                (a.subject, a.provider, a.what, a.period): (one.limit, one.spent)
                for one in balances(connection)
                for a in (one.account,)
            }

    def lines(self, kind: str) -> int:
        with self.opened[0].reading() as connection:
            rows = connection.execute("SELECT count(*) FROM line WHERE kind = ?", (kind,))
            return int(rows.fetchone()[0])

    def checked(self, known: Head | None = None) -> Checked:
        with open_reading(self.address) as connection:
            return verify_ledger(connection, known)

    def close(self) -> None:
        for ledger in self.opened:
            ledger.close()


class SqliteStore(Store):
    refusal = sqlite3.IntegrityError

    def raw(self, *statements: Any) -> int:
        """As somebody with the file in hand."""
        held = sqlite3.connect(self.address, isolation_level=None)
        held.execute("PRAGMA foreign_keys=ON")
        try:
            return sum(held.execute(*statement).rowcount for statement in statements)
        finally:
            held.close()

    def edit(self, *statements: Any) -> int | None:
        """With rules taken away, and put back."""
        held = sqlite3.connect(self.address, isolation_level=None)
        held.execute("PRAGMA foreign_keys=OFF")
        held.execute("PRAGMA ignore_check_constraints=ON")
        rules = held.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = rules.fetchall()
        for name, _ in kept:
            held.execute(f"DROP TRIGGER {name}")
        changed = sum(held.execute(*statement).rowcount for statement in statements)
        for _, sql in kept:
            held.execute(sql)
        held.close()
        return changed


class PostgresStore(Store):
    refusal = psycopg.Error

    def raw(self, *statements: Any, first: str = "") -> int:
        """As the owner of the database, who may do anything."""
        changed = 0
        with psycopg.connect(self.address, autocommit=True) as held:
            held.execute(f"SET search_path = reticent; {first}")
            for sql, *values in statements:
                words = {"zeroblob(": "zeros(", "x'00'": "decode('00', 'hex')", "?": "%s"}
                for word, own in words.items():
                    sql = sql.replace(word, own)
                sql = re.sub(r"zeros\((\d+)\)", r"decode(repeat('00', \1), 'hex')", sql)
                changed += held.execute(sql, *values).rowcount
        return changed

    def edit(self, *statements: Any) -> int | None:
        """With triggers asleep; nothing where a check, which cannot sleep, refuses it."""
        try:
            return self.raw(*statements, first="SET session_replication_role = replica")
        except psycopg.errors.CheckViolation:
            return None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A server for the session, in memory where that can be: syncs are for the fault runs."""
    memory = Path("/dev/shm")
    with running(under=str(memory) if os.access(memory, os.W_OK) else None) as server:
        yield server


def sqlite_store(request: Any) -> SqliteStore:
    return SqliteStore(request.getfixturevalue("tmp_path") / "ledger.db")


def postgres_store(request: Any) -> PostgresStore:
    server = request.getfixturevalue("postgres_server")
    database = f"test_{next(_NUMBERS)}"
    server.execute(f"CREATE DATABASE {database}")
    return PostgresStore(server.address(database))


_NUMBERS = count()
STORES: dict[str, Callable[[Any], Any]] = {"postgres": postgres_store, "sqlite": sqlite_store}
EVERY_STORE = [pytest.param("postgres", marks=pytest.mark.postgres), "sqlite"]


@pytest.fixture(params=EVERY_STORE)
def store(request: Any) -> Iterator[Any]:
    made = STORES[request.param](request)
    yield made
    assert made.opened, "a test of the contract opens the ledger"
    made.close()


@pytest.fixture(params=EVERY_STORE)
def make_store(request: Any) -> Iterator[Callable[[], Any]]:
    """Another store of one kind with every call, to compare two of them."""
    made: list[Any] = []

    def make() -> Any:
        one = STORES[request.param](request)
        if isinstance(one, SqliteStore):
            one.address = one.address.with_name(f"ledger{len(made)}.db")
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


@pytest.fixture
def sqlite(request: Any) -> Iterator[Any]:
    """A file for a ledger, for what only SQLite does."""
    made = sqlite_store(request)
    yield made
    made.close()


@pytest.fixture
def postgres(request: Any) -> Iterator[Any]:
    """A database for a ledger, for what only PostgreSQL does."""
    made = postgres_store(request)
    yield made
    made.close()


@pytest.fixture
def open_ledger(store: Any) -> Callable[[], Any]:
    """Open the test's store; every call gives another handle."""
    return store.open


@pytest.fixture
def ledger(open_ledger: Any) -> Any:
    return open_ledger()


def make_charge(subject: str = "ann", provider: str = "club", **others: Any) -> Charge:
    return Charge(subject=subject, provider=provider, **({"nano": 4, "limit": 10} | others))


@pytest.fixture
def charge() -> Callable[..., Charge]:
    """A charge of 4 from 10."""
    return make_charge


@pytest.fixture
def ask() -> Callable[..., Request]:
    """A request by key; ``charges`` or the fields of one charge may be given."""

    def build(
        key: object = "1",
        *,
        body: bytes = b"body",
        principal: str = "club",
        event: Event = EVENT,
        charges: tuple[Charge, ...] | None = None,
        guard: Guard | None = None,
        **others: Any,
    ) -> Request:
        taken = charges if charges is not None else (make_charge(**others),)
        return Request(
            principal=principal, key=str(key), body=body, event=event, charges=taken, guard=guard
        )

    return build
