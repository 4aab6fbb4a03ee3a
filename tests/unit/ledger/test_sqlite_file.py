"""The file: its settings, what it refuses, what is left in it of a person who was forgotten."""

import sqlite3
import subprocess
import sys

import pytest

from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import LedgerError, SqliteLedger
from reticent.ledger.sqlite import SETTINGS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def test_the_settings_that_the_promises_need(path) -> None:
    assert {"journal_mode=WAL", "synchronous=FULL"} <= set(SETTINGS)
    with SqliteLedger.open(path) as ledger:
        held = ledger._connection
        found = [
            held.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete", "foreign_keys")
        ]
    assert found == ["wal", 2, 1, 1]


@pytest.mark.parametrize(
    "held", [b"a text, no database", b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 4096]
)
def test_another_kind_of_file(path, held) -> None:
    path.write_bytes(held)
    with pytest.raises(LedgerError):
        SqliteLedger.open(path)
    assert path.read_bytes() == held


def test_a_database_of_somebody_else(path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="no ledger"):
        SqliteLedger.open(path)
    assert path.read_bytes() == before


def test_a_ledger_of_another_version(path) -> None:
    SqliteLedger.open(path).close()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE meta SET value = 'reticent-ledger/9' WHERE name = 'schema'")
    other.close()
    with pytest.raises(LedgerError, match="version"):
        SqliteLedger.open(path)


def test_one_that_was_left_empty_is_made_again(path, ask) -> None:
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode=WAL")
    other.close()
    with SqliteLedger.open(path) as ledger:
        assert ledger.once_with(ask(), b"x").value == b"x"


def test_none_is_made_unless_asked_for(path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        SqliteLedger.open(path, create=False)
    assert not path.exists()
    SqliteLedger.open(path).close()
    SqliteLedger.open(path, create=False).close()


def test_no_such_directory(tmp_path) -> None:
    with pytest.raises((LedgerError, OSError)):
        SqliteLedger.open(tmp_path / "none" / "ledger.db")


def test_a_file_that_may_not_be_written(path, ask) -> None:
    """Also where it may be read: a spend that cannot be kept is refused."""
    with SqliteLedger.open(path) as ledger:
        ledger.once_with(ask(), b"x")
    where = f"file:{path}?mode=ro"
    held = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
    readonly = SqliteLedger(path, held)
    with pytest.raises(LedgerError, match="readonly"):
        readonly.once_with(ask(2), b"y")
    assert readonly.once_with(ask(1), b"y").value == b"x"
    readonly.close()


def bytes_of(folder) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(folder.iterdir()))


def test_nothing_of_a_forgotten_person_is_left_in_the_files(tmp_path, path, ask, charge) -> None:
    secret = {"name": "Zwingli Krumpf", "answer": b"verschwiegen", "event": "hyphenology"}
    event = Event(secret["event"], {}, PureDP(1, RECORD), private=True)

    def spend(ledger, key, subject, answer, event):
        many = tuple(charge(subject, what=f"item: {key}.{n}", nano=1) for n in range(3))
        ledger.once_with(ask(key, charges=many, event=event), answer)

    other = Event("other", {}, PureDP(1, RECORD), private=True)
    with SqliteLedger.open(path) as ledger, SqliteLedger.open(path) as second:
        for n in range(150):  # so that pages were split, moved and emptied
            spend(ledger, n, f"person {n % 7} {'x' * (n % 90)}", b"y" * (n * 37 % 900), other)
            spend(second, f"s{n}", secret["name"], secret["answer"] * (1 + n % 40), event)
        fingerprint = ask("s1", event=event).fingerprint.encode()
        traces = [secret["name"].encode(), secret["answer"], secret["event"].encode(), fingerprint]
        assert all(trace in bytes_of(tmp_path) for trace in traces)
        assert ledger.forget(secret["name"]) == 450
        left = bytes_of(tmp_path)
        for trace in traces:
            size = 20 if trace == fingerprint else 6  # short pieces of digests are met by chance
            parts = [trace[n : n + size] for n in range(len(trace) - size + 1)]
            assert not [part for part in parts if part in left]
        assert b"person 3" in left


def test_forgetting_waits_for_readers_and_says_if_it_could_not_erase(
    path, ask, monkeypatch
) -> None:
    monkeypatch.setattr("reticent.ledger.sqlite._PATIENCE", 50)
    with SqliteLedger.open(path) as ledger:
        ledger.once_with(ask(), b"x")
        with ledger.reading() as connection:
            connection.execute("SELECT * FROM line").fetchone()
            with pytest.raises(LedgerError, match="forget again later"):
                ledger.forget("ann")
        assert ledger.forget("ann") == 0
        assert b"ann" not in bytes_of(path.parent)


def test_a_ledger_is_left_open_at_the_end_of_a_program(path) -> None:
    script = "import sys; from reticent.ledger import SqliteLedger as L; x = L.open(sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, path], timeout=30, check=True)
    SqliteLedger.open(path, create=False).close()
