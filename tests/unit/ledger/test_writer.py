"""The writer: nobody waits for ever, whatever happens to one piece of work or to the file."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from reticent.ledger import LedgerError, SqliteLedger
from reticent.ledger.sqlite_commits import SqliteCommits
from reticent.ledger.writer import Writer


@pytest.fixture
def busy(ledger):
    """Keep the writer at work until the event is set."""
    go = threading.Event()
    ledger._writer.submit(lambda connection: go.wait(30))
    time.sleep(0.05)
    yield go
    go.set()


def test_a_cancelled_request_is_not_done_and_harms_nobody(ledger, store, ask, busy) -> None:
    cancelled, kept = ledger.submit(ask(1), b"x"), ledger.submit(ask(2), b"y")
    assert cancelled.cancel()
    busy.set()
    assert kept.result(10).value == b"y"
    assert store.lines("spend") == 1
    assert ledger.once_with(ask(1), b"z").value == b"z"


def test_what_has_begun_cannot_be_cancelled(ledger, ask) -> None:
    begun, go = threading.Event(), threading.Event()
    future = ledger._writer.submit(lambda connection: (begun.set(), go.wait(30)))
    begun.wait(10)
    assert not future.cancel()
    go.set()
    assert future.result(10)


def test_nobody_waits_for_ever_when_it_closes(open_ledger, ask) -> None:
    for attempt in range(20):
        ledger = open_ledger()

        def call(n, ledger=ledger, attempt=attempt):
            try:
                return ledger.submit(ask(f"{attempt}.{n}", nano=0), b"x").result(20).value
            except LedgerError:
                return b"closed"

        with ThreadPoolExecutor(8) as threads:
            outcomes = threads.map(call, range(40))
            ledger.close()
            assert set(outcomes) <= {b"x", b"closed"}


class Broken:
    """A connection on a disk that is full from the n-th statement of a kind on."""

    def __init__(self, held: sqlite3.Connection, word: str) -> None:
        self.held, self.word, self.broken = held, word, False

    def __getattr__(self, name: str) -> object:
        return getattr(self.held, name)

    def execute(self, sql: str, *values: object) -> object:
        if self.broken and sql.startswith(self.word):
            raise sqlite3.OperationalError("database or disk is full")
        return self.held.execute(sql, *values)


@pytest.mark.parametrize("word", ["BEGIN", "SAVEPOINT", "INSERT INTO line", "RELEASE", "COMMIT"])
def test_a_full_disk_is_told_to_all_and_passes(tmp_path, ask, word) -> None:
    SqliteLedger.open(tmp_path / "ledger.db").close()
    held = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None, check_same_thread=False)
    broken = Broken(held, word)
    ledger = SqliteLedger(tmp_path / "ledger.db", broken)  # type: ignore[arg-type]
    broken.broken = True
    futures = [ledger.submit(ask(n, nano=1), b"x") for n in range(3)]
    for future in futures:
        assert isinstance(future.exception(10), LedgerError)
        assert "disk is full" in str(future.exception())
    broken.broken = False
    assert ledger.once_with(ask(0, nano=1), b"y").value == b"y"
    with ledger.reading() as connection:
        assert connection.execute("SELECT spent FROM account").fetchall() == [(1,)]
    ledger.close()


def test_errors_of_one_piece_are_its_own(tmp_path) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE t (x)")
    writer = Writer(SqliteCommits(connection, tmp_path / "gate"))

    def wrong(held: sqlite3.Connection) -> None:
        held.execute("INSERT INTO t VALUES (1)")
        raise KeyError("mine")

    good = writer.submit(lambda held: held.execute("INSERT INTO t VALUES (2)").rowcount)
    with pytest.raises(KeyError, match="mine"):
        writer.run(wrong)
    assert good.result() == 1
    assert writer.run(lambda held: held.execute("SELECT x FROM t").fetchall()) == [(2,)]
    assert writer.close()
    assert not writer.close()
