"""Theorem 3: whatever is changed in a ledger is found, some of it by a head kept elsewhere only."""

import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from reticent.errors import ParameterError
from reticent.ledger import (
    Head,
    LedgerError,
    Sealed,
    SqliteLedger,
    head_of,
    open_reading,
    verify_ledger,
)
from reticent.ledger.tables import first_link, next_link


def fill(store, ask, charge) -> None:
    """A bit of everything, closed."""
    with store.open() as ledger:
        ledger.once_with(ask(1), b"one")
        ledger.once(ask(2, subject="bob", renews="daily"), lambda: b"two")
        both = (charge("ann", nano=1, limit=9), charge("cid", what="item: tea"))
        ledger.once_with(ask(3, charges=both), b"three")
        with pytest.raises(ZeroDivisionError):
            ledger.once(ask(4, subject="dan"), lambda: bytes([1 // 0]))
        ledger.once_with(ask(5, subject="eve"), b"five")
        ledger.forget("eve")
        ledger.once_with(ask(6, subject="gus", nano=11), Sealed(b"six", b"nothing"))


@pytest.fixture
def filled(store, ask, charge):
    fill(store, ask, charge)
    return store


@pytest.fixture
def path(sqlite, ask, charge):
    fill(sqlite, ask, charge)
    return sqlite.address


def problems(path, known=None):
    with open_reading(path) as connection:
        return verify_ledger(connection, known).problems


def head(path):
    with open_reading(path) as connection:
        return head_of(connection)


def test_it_holds(filled) -> None:
    checked = filled.checked()
    assert checked.problems == filled.checked(checked.head).problems == ()
    assert (checked.spends, checked.accounts) == (6, 6)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE account SET subject = 'bob' WHERE subject = 'ann'",
        "UPDATE account SET provider = 'shop' WHERE subject = 'ann'",
        "UPDATE account SET what = 'item: milk' WHERE subject = 'cid'",
        "UPDATE account SET period = '2020-01-01' WHERE subject = 'bob'",
        "UPDATE account SET period = '' WHERE subject = 'bob'",
        "UPDATE account SET salt = zeroblob(16) WHERE subject = 'ann'",
        "UPDATE account SET lim = lim + 1 WHERE subject = 'ann'",
        "UPDATE account SET lim = lim - 1 WHERE subject = 'ann'",
        "UPDATE account SET spent = spent - 1 WHERE subject = 'ann'",
        "UPDATE account SET spent = lim + 1 WHERE subject = 'ann'",
        "UPDATE account SET spent = 0 WHERE subject IS NULL",
        "UPDATE account SET subject = NULL WHERE subject = 'ann'",
        "UPDATE account SET subject = NULL, provider = NULL, what = NULL, salt = NULL WHERE id = 1",
        "UPDATE account SET subject = 'eve' WHERE subject IS NULL",
        "UPDATE account SET salt = zeroblob(16) WHERE subject IS NULL",
        "UPDATE account SET id = 77 WHERE subject = 'dan'",
        "DELETE FROM account WHERE subject = 'dan'",
        "INSERT INTO account (id, subject, provider, what, period, salt, lim)"
        " VALUES (99, 'fay', 'club', 'overall', '', zeroblob(16), 5)",
        "UPDATE spend SET principal = 'shop' WHERE key = '1'",
        "UPDATE spend SET key = 'other' WHERE key = '1'",
        "UPDATE spend SET key = 'other' WHERE key = '5'",
        "UPDATE spend SET fingerprint = 'other' WHERE key = '1'",
        "UPDATE spend SET fingerprint = 'other' WHERE key = '5'",
        "UPDATE spend SET event = '{}' WHERE key = '1'",
        "UPDATE spend SET event = '' WHERE key = '1'",
        "UPDATE spend SET event = '{}' WHERE key = '5'",
        "UPDATE spend SET at = at - 86400 WHERE key = '1'",
        "UPDATE spend SET answer = x'00' WHERE key = '1'",
        "UPDATE spend SET answer = x'00' WHERE key = '5'",
        "UPDATE spend SET answer = NULL WHERE key = '1'",
        "UPDATE spend SET answer = NULL, state = 'reserved' WHERE key = '1'",
        "UPDATE spend SET state = 'settled' WHERE key = '4'",
        "UPDATE spend SET answer = x'00', state = 'settled' WHERE key = '4'",
        "UPDATE spend SET state = 'other' WHERE key = '1'",
        "UPDATE spend SET state = 'other' WHERE key = '4'",
        "DELETE FROM spend WHERE key = '4'",
        "INSERT INTO spend SELECT 99, 'x', key, fingerprint, state, at, event, answer FROM spend"
        " WHERE key = '1'",
        "UPDATE charge SET nano = nano - 1 WHERE spend = 1",
        "UPDATE charge SET account = 2 WHERE spend = 1",
        "UPDATE charge SET spend = 4 WHERE spend = 1",
        "DELETE FROM charge WHERE spend = 1",
        "INSERT INTO charge VALUES (1, 3, 0)",
        "INSERT INTO charge VALUES (99, 1, 0)",
        "UPDATE meta SET value = '0' WHERE name = 'clock'",
        "UPDATE meta SET value = 'soon' WHERE name = 'clock'",
        "DELETE FROM meta WHERE name = 'clock'",
        "UPDATE meta SET value = 'other' WHERE name = 'ledger'",
        "DELETE FROM meta WHERE name = 'ledger'",
        "UPDATE line SET kind = 'limit' WHERE seq = 2",
        "UPDATE line SET kind = 'other' WHERE seq = 2",
        "UPDATE line SET body = replace(body, '4', '3') WHERE seq = 2",
        "UPDATE line SET body = '[]' WHERE seq = 2",
        "UPDATE line SET body = 'broken' WHERE seq = 2",
        "UPDATE line SET body = '{}' WHERE seq = 2",
        "UPDATE line SET chain = zeroblob(32) WHERE seq = 2",
        "UPDATE line SET chain = zeroblob(32) WHERE seq = (SELECT max(seq) FROM line)",
        "UPDATE line SET seq = 77 WHERE seq = (SELECT max(seq) FROM line)",
        "DELETE FROM line WHERE seq = 1",
        "DELETE FROM line WHERE seq = 2",
        "DELETE FROM line WHERE seq = (SELECT max(seq) FROM line)",
        "DELETE FROM line",
        "INSERT INTO line VALUES (0, 'forget', '{\"accounts\":[]}', zeroblob(32))",
        "INSERT INTO line VALUES (99, 'forget', '{\"accounts\":[1]}', zeroblob(32))",
    ],
)
def test_every_edit_is_found(filled, statement) -> None:
    changed = filled.edit((statement,))
    if changed is None:
        return  # refused
    assert changed == 1 or "DELETE" in statement
    assert filled.checked().problems


def test_the_way_of_editing_itself_is_not_what_is_found(filled) -> None:
    filled.edit(("UPDATE line SET body = body",))
    assert filled.checked().problems == ()


def test_two_lines_that_changed_places_are_found(filled) -> None:
    filled.edit(
        ("UPDATE line SET seq = -1 WHERE seq = 2",),
        ("UPDATE line SET seq = 2 WHERE seq = 3",),
        ("UPDATE line SET seq = 3 WHERE seq = -1",),
    )
    assert filled.checked().problems


RULES = {
    "SqliteStore": ("DROP TRIGGER line_fixed", "DROP INDEX charge_account"),
    "PostgresStore": (
        "DROP TRIGGER line_fixed ON line",
        "ALTER TABLE line DISABLE TRIGGER line_fixed",
        "DROP TRIGGER spend_kept ON spend",
        "DROP INDEX charge_account",
        "ALTER TABLE account DROP CONSTRAINT account_within",
        "ALTER TABLE charge DROP CONSTRAINT charge_spend_fkey",
        "ALTER TABLE spend DROP CONSTRAINT spend_principal_key_key",
        "ALTER TABLE account ALTER names DROP EXPRESSION",
        "CREATE OR REPLACE FUNCTION line_guard() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN RETURN NULL; END'",
        "CREATE OR REPLACE FUNCTION period_of(renews text, moment bigint) RETURNS text"
        " LANGUAGE plpgsql AS 'BEGIN RETURN moment; END'",
        "CREATE RULE silent AS ON UPDATE TO account DO INSTEAD NOTHING",
        "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ),
}


def test_rules_that_were_taken_away_are_found(store, ask, charge) -> None:
    taken = (*RULES[type(store).__name__], "CREATE TABLE more (x int)")
    for number, statement in enumerate(taken):
        fresh = type(store)(store.address)
        if isinstance(store.address, Path):
            fresh.address = store.address.with_name(f"{number}.db")
        else:
            fresh.raw(("DROP SCHEMA IF EXISTS reticent CASCADE",))
        fill(fresh, ask, charge)
        assert fresh.checked().problems == ()
        fresh.raw((statement,))
        found = fresh.checked().problems
        assert found == ("the tables do not have the rules they were made with",), statement
    store.open().close()


def test_tables_of_the_gateway_are_its_own(filled) -> None:
    filled.raw(
        ("CREATE TABLE gateway_person (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",),
        ("CREATE INDEX gateway_names ON gateway_person (name)",),
    )
    assert filled.checked().problems == ()
    filled.open().close()
    filled.raw(("DROP TABLE gateway_person",), ("CREATE TABLE gatewayperson (id INTEGER)",))
    assert filled.checked().problems


def rewrite(store, change):
    """A new chain over changed lines: what the owner of the file can do."""
    with open_reading(store.address) as held:
        ledger = held.execute("SELECT value FROM meta WHERE name = 'ledger'").fetchone()[0]
        rows = held.execute("SELECT seq, kind, body FROM line ORDER BY seq").fetchall()
    chain, statements = first_link(ledger), [("DELETE FROM line",)]
    for seq, kind, body in rows:
        told = json.loads(body)
        change(kind, told)
        text = json.dumps(told, sort_keys=True, separators=(",", ":"))
        chain = next_link(chain, kind, text)
        statements.append(("INSERT INTO line VALUES (?, ?, ?, ?)", (seq, kind, text, chain)))
    store.edit(*statements)


def test_a_rewritten_chain_is_found_by_a_head_only(filled) -> None:
    known = filled.checked().head

    def cheaper(kind, told):
        if kind == "spend" and told["spend"] == 1:
            told["charges"][0][1] -= 1

    rewrite(filled, cheaper)
    filled.edit(
        ("UPDATE charge SET nano = nano - 1 WHERE spend = 1",),
        ("UPDATE account SET spent = spent - 1 WHERE id = 1",),
    )
    assert filled.checked().problems == ()
    assert filled.checked(known).problems == (
        "the chain does not pass through the head: an old or rewritten copy",
    )


def test_an_old_copy_is_found_by_a_head_only(path, ask) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    old = head(path)
    with SqliteLedger.open(path) as ledger:
        ledger.once_with(ask(7, subject="fay"), b"x")
    new = head(path)
    assert problems(path, old) == problems(path, new) == ()
    shutil.copy(copy, path)
    assert problems(path) == ()
    assert problems(path, old) == ()  # the limit that the theory page states
    assert problems(path, new)
    with SqliteLedger.open(path) as ledger:  # and again when it has grown past the head
        for key in range(10, 20):
            ledger.once_with(ask(key, subject="fay", nano=0), b"x")
    assert problems(path, new)


def test_the_head_of_another_ledger(path, tmp_path) -> None:
    SqliteLedger.open(tmp_path / "other.db").close()
    assert problems(tmp_path / "other.db") == ()
    assert problems(path, head(tmp_path / "other.db")) == ("the head is of another ledger",)


def test_a_head_as_text(path) -> None:
    known = head(path)
    assert Head.of_text(known.text() + "\n") == known
    for wrong in ("", "a b c", f"x 1 {'0' * 63}", f"x -1 {'0' * 64}", "x " * 4):
        with pytest.raises(ParameterError):
            Head.of_text(wrong)


def test_flipped_bytes_are_found_or_change_nothing_that_is_told(path, tmp_path) -> None:
    """Whatever byte is flipped: no traceback, and if it is not found, all rows are the same."""
    packed, choice = path.read_bytes(), random.Random(19)
    before, found = rows(path), 0
    told = [n for n, byte in enumerate(packed) if byte]
    for n in range(500):
        copy = tmp_path / f"copy{n}.db"
        place = choice.choice(told)
        flipped = bytes([packed[place] ^ (1 << choice.randrange(8))])
        copy.write_bytes(packed[:place] + flipped + packed[place + 1 :])
        try:
            seen = problems(copy)
        except LedgerError:
            seen = ("cannot be opened",)
        found += bool(seen)
        assert seen or rows(copy) == before
    assert found > 20


def rows(path):
    held = sqlite3.connect(path)
    tables = ("account", "charge", "line", "spend")
    told = [held.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]
    held.close()
    return told
