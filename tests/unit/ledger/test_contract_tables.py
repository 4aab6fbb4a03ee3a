"""What the tables of every store refuse, what others may keep beside them, and what is reported."""

import json
import random
import sqlite3
import threading
import time

import pytest

from reticent.errors import BudgetExceeded
from reticent.ledger import Connection, LedgerError, Sealed
from reticent.ledger.reports import balances, entries, health, releases


def test_the_tables_refuse_what_would_undo_a_spend(store, ledger, ask) -> None:
    ledger.once_with(ask(), b"x")
    for statement in (
        "UPDATE account SET spent = 0",
        "UPDATE account SET spent = 11",
        "UPDATE account SET lim = 3",
        "DELETE FROM account",
        "DELETE FROM spend",
        "UPDATE spend SET key = 'other'",
        "UPDATE spend SET principal = 'other'",
        "UPDATE spend SET fingerprint = 'other'",
        "UPDATE spend SET event = '{}'",
        "UPDATE spend SET at = 0",
        "UPDATE spend SET state = 'reserved'",
        "UPDATE spend SET answer = x'00'",
        "UPDATE charge SET nano = 0",
        "DELETE FROM charge",
        "UPDATE line SET body = '{}'",
        "DELETE FROM line",
        "INSERT INTO spend SELECT 9, principal, key, fingerprint, state, at, event, answer"
        " FROM spend",
        "INSERT INTO account (id, period, lim, spent) VALUES (9, '', 1, 2)",
        "INSERT INTO account (id, period, lim) VALUES (9, '', 'much')",
        "INSERT INTO charge VALUES (1, 9, 0)",
        "INSERT INTO charge VALUES (9, 1, 0)",
    ):
        with pytest.raises(store.refusal):
            store.raw((statement,))
    assert store.checked().problems == ()


MAKE = "CREATE TABLE gateway_person (name TEXT PRIMARY KEY, secret BLOB, age BIGINT)"


def test_others_write_in_the_same_database(ledger, open_ledger, store, ask) -> None:
    ledger.write(lambda held: held.execute(MAKE))

    def add(held: Connection) -> list[int]:
        sql = "INSERT INTO gateway_person VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        rows = [("ann", b"\0\xff", None), ("a'?%s%", b"", 2**40), ("ann", b"other", 7)]
        return [held.execute(sql, row).rowcount for row in rows]

    assert ledger.write(add) == [1, 1, 0]
    for handle in (ledger, open_ledger()):
        with handle.reading() as held:
            rows = held.execute("SELECT * FROM gateway_person ORDER BY name DESC").fetchall()
            found = held.execute("SELECT count(*) FROM gateway_person WHERE name LIKE 'a''?%'")
            assert found.fetchone()[0] == 1
            assert found.fetchone() is None
        assert [tuple(row) for row in rows] == [("ann", b"\0\xff", None), ("a'?%s%", b"", 2**40)]
    ledger.once_with(ask(), b"x")
    assert store.checked().problems == ()


def test_what_fails_is_not_written_and_harms_no_neighbour(ledger, store, ask) -> None:
    ledger.write(lambda held: held.execute(MAKE))

    def half(held: Connection) -> None:
        held.execute("INSERT INTO gateway_person (name) VALUES ('ann')")
        raise ZeroDivisionError

    def twice(held: Connection) -> None:
        for _ in range(2):
            held.execute("INSERT INTO gateway_person (name) VALUES ('bob')")

    go = threading.Event()
    waits = ledger._writer.submit(lambda held: go.wait(30))
    before = ledger.submit(ask(1, nano=1), b"x")  # in one transaction with the next three
    failed = [ledger._writer.submit(work) for work in (half, twice)]
    after = ledger.submit(ask(2, nano=1), b"y")
    go.set()
    assert waits.result()
    assert (before.result().value, after.result().value) == (b"x", b"y")
    assert [type(one.exception()) for one in failed] == [ZeroDivisionError, LedgerError]
    with ledger.reading() as held:
        assert held.execute("SELECT count(*) FROM gateway_person").fetchone()[0] == 0
    assert store.lines("spend") == 2
    assert store.checked().problems == ()


def test_a_reader_sees_one_state_and_changes_nothing(ledger, ask) -> None:
    ledger.once_with(ask(1, nano=1), b"x")
    with ledger.reading() as held:
        assert held.execute("SELECT spent FROM account").fetchone()[0] == 1
        ledger.once_with(ask(2, nano=1), b"x")
        assert held.execute("SELECT spent FROM account").fetchone()[0] == 1
        with pytest.raises((LedgerError, sqlite3.Error)):
            held.execute("UPDATE account SET lim = 99")
    with ledger.reading() as held:
        assert held.execute("SELECT spent, lim FROM account").fetchone() == (2, 10)


def test_many_rows_come_in_parts_and_all_of_them(ledger) -> None:
    ledger.write(lambda held: held.execute(MAKE))
    rows = [f"{n:05}" for n in range(4500)]
    many = ", ".join(f"('{name}')" for name in rows)
    ledger.write(lambda held: held.execute(f"INSERT INTO gateway_person (name) VALUES {many}"))
    with ledger.reading() as held:
        first = held.execute("SELECT name FROM gateway_person ORDER BY name")
        second = held.execute("SELECT name FROM gateway_person WHERE name < ?", ("00010",))
        assert first.fetchone()[0] == "00000"
        assert len(second.fetchall()) == 10
        assert [row[0] for row in first] == rows[1:]
        late = "WITH late AS (SELECT name FROM gateway_person WHERE name > ?) SELECT name FROM late"
        assert sorted(row[0] for row in held.execute(late, ("00100",))) == rows[101:]


def test_long_names_of_any_letters(ledger, store, ask, charge) -> None:
    letters = random.Random(3)

    def name() -> str:
        return "".join(chr(letters.randrange(0x4E00, 0x9FFF)) for _ in range(500))

    long = charge(name(), name(), what=name(), nano=4)
    for key in "12":
        ledger.once_with(ask(key, charges=(long,)), b"x")
    with pytest.raises(BudgetExceeded):
        ledger.once_with(ask("3", charges=(long,)), b"x")
    assert list(store.spent().values()) == [(10, 8)]
    assert store.checked().problems == ()


@pytest.fixture
def busy(ledger, ask, charge, monkeypatch):
    """Ann spends with two providers, in time; bob once."""
    day = 86_400

    def spend(at, key, charges, cover=None):
        monkeypatch.setattr(time, "time", lambda: float(at))
        drawn = f"answer {key}".encode()
        answer = drawn if cover is None else Sealed(drawn, cover)
        return ledger.once_with(ask(key, charges=charges), answer)

    ann = charge("ann", renews="daily", nano=3)
    spend(10 * day, "1", (ann, charge("ann", what="item: tea", nano=2), charge("bob", nano=1)))
    spend(11 * day, "2", (charge("ann", "shop", nano=5), charge("bob", nano=1)))
    spend(12 * day, "3", (charge("ann", nano=11, renews="daily"),), cover=b"nothing")
    spend(13 * day, "4", (charge("bob", nano=2**59, limit=2**60),), cover=b"nothing")
    spend(13 * day, "5", (charge("ann", what="item: tea", nano=1),))
    with pytest.raises(ZeroDivisionError):
        ledger.once(ask("6", charges=(ann,)), lambda: bytes([1 // 0]))
    return ledger


def test_what_was_released_of_a_person(busy) -> None:
    with busy.reading() as held:
        found = list(releases(held, subject="ann"))
        assert [one.key for one in found] == list("65321")
        assert [one.nano for one in found] == [3, 0, 0, 5, 3]
        assert [one.provider for one in found] == ["club", "club", "club", "shop", "club"]
        assert [one.answer for one in found] == [
            *(None, b"answer 5", b"nothing", b"answer 2", b"answer 1"),
        ]
        periods = ["1970-01-14", "", "1970-01-13", "", "1970-01-11"]
        assert [one.period for one in found] == periods
        assert {one.principal for one in found} == {"club"}
        assert json.loads(found[0].event)["mechanism"] == "test"
        assert (found[0].spend, found[0].at) == (6, 13 * 86_400)
        assert [one.key for one in releases(held, subject="ann", provider="shop")] == ["2"]
        assert [one.key for one in releases(held, subject="ann", most=2)] == ["6", "5"]
        assert [one.key for one in releases(held, subject="bob", since=11 * 86_400)] == ["4", "2"]
        assert list(releases(held, subject="nobody")) == []


def test_nothing_released_of_who_was_forgotten(busy) -> None:
    busy.forget("ann")
    with busy.reading() as held:
        assert list(releases(held, subject="ann")) == []
        assert [(one.key, one.answer) for one in releases(held, subject="bob")] == [
            *(("4", b"nothing"), ("2", None), ("1", None)),
        ]


def test_how_much_a_ledger_holds(busy, ask, charge) -> None:
    with busy.reading() as held:
        found = health(held)
        lines = held.execute("SELECT count(*) FROM line").fetchone()[0]
    assert (found.accounts, found.spends, found.unanswered, found.lines) == (6, 6, 1, lines)
    assert (found.clock, dict(found.spent)) == (13 * 86_400, {"club": 11, "shop": 5})
    busy.forget("ann")
    rich = tuple(charge(f"p{n}", "shop", nano=2**60, limit=2**60) for n in range(9))
    busy.once_with(ask("rich", charges=rich), b"x")
    with busy.reading() as held:
        assert dict(health(held).spent) == {"club": 2, "shop": 9 * 2**60}
        assert "ann" not in str(found)


def test_balances_and_entries_by_name(busy) -> None:
    with busy.reading() as held:
        assert [one.account.what for one in balances(held, subject="ann", provider="club")] == [
            *("item: tea", "overall", "overall", "overall"),
        ]
        assert [one.spent for one in balances(held, provider="shop")] == [5]
        found = list(entries(held, subject="ann", most=3))
        assert [(one.spend, one.nano, one.answered) for one in found] == [
            *((6, 3, False), (5, 1, True), (3, 0, True)),
        ]
        assert len(list(entries(held))) == 9
