"""Spends of many: edits are found, one of them can be forgotten, and a kill leaves no half."""

import json
import os
import signal
import subprocess
import sys

import pytest

from reticent.ledger import open_ledger
from reticent.ledger.tables import first_link, named, next_link

ACCOUNTS = 100


def fill(store, ask, charge) -> None:
    """Account 1 alone, then a hundred at once, twice, with limits and periods of their own."""
    with store.open() as ledger:
        ledger.once_with(ask(1), b"one")
        people = [
            charge(f"p{n:03}", limit=10 + n % 3, renews=("never", "daily")[n % 2])
            for n in range(ACCOUNTS)
        ]
        ledger.once_with(ask(2, charges=tuple(people)), b"two")
        ledger.once(ask(3, charges=(charge(), *people[:70])), lambda: b"three")
        ledger.forget("p090")


@pytest.fixture
def filled(store, ask, charge):
    fill(store, ask, charge)
    return store


def test_it_holds(filled) -> None:
    checked = filled.checked()
    assert checked.problems == filled.checked(checked.head).problems == ()
    assert (checked.spends, checked.accounts) == (3, 1 + ACCOUNTS)
    assert filled.open() is not None
    assert [filled.lines(one) for one in ("open", "opened", "forget", "forgotten")] == [1] * 4


@pytest.mark.parametrize("who", ["p000", "p041", "p099"])
@pytest.mark.parametrize(
    "change",
    [
        "subject = 'other'",
        "provider = 'shop'",
        "what = 'item: tea'",
        "period = '2020-01-01'",
        "salt = zeroblob(16)",
        "lim = lim + 1",
        "lim = lim - 1",
        "spent = spent - 1",
        "spent = spent + 1",
        "id = 777",
        "subject = NULL",
        "subject = NULL, provider = NULL, what = NULL, salt = NULL",
    ],
)
def test_an_edit_of_any_account_is_found(filled, who, change) -> None:
    changed = filled.edit((f"UPDATE account SET {change} WHERE subject = '{who}'",))
    assert changed in (1, None)
    assert changed is None or filled.checked().problems


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM account WHERE subject = 'p041'",
        "DELETE FROM account WHERE subject IS NULL",
        "UPDATE account SET lim = lim + 1 WHERE subject IS NULL",
        "UPDATE account SET spent = spent - 1 WHERE subject IS NULL",
        "UPDATE account SET subject = 'p090' WHERE subject IS NULL",
        "UPDATE account SET salt = zeroblob(16) WHERE subject IS NULL",
        "UPDATE account SET period = 'x' WHERE subject IS NULL",
        "INSERT INTO account (id, subject, provider, what, period, salt, lim)"
        " VALUES (102, 'fay', 'club', 'overall', '', zeroblob(16), 5)",
        "UPDATE charge SET nano = nano - 1 WHERE spend = 2 AND account = 2",
        "UPDATE charge SET nano = nano + 1 WHERE spend = 2 AND account = 101",
        "UPDATE charge SET nano = 0 WHERE spend = 3 AND account = 1",
        "UPDATE charge SET account = 1 WHERE spend = 2 AND account = 50",
        "UPDATE charge SET spend = 1 WHERE spend = 2 AND account = 50",
        "DELETE FROM charge WHERE spend = 2 AND account = 50",
        "DELETE FROM charge WHERE spend = 2",
        "INSERT INTO charge VALUES (2, 1, 0)",
        "INSERT INTO charge VALUES (99, 1, 0)",
        "UPDATE spend SET at = at - 1 WHERE id = 2",
        "UPDATE spend SET answer = x'00' WHERE id = 3",
        "UPDATE spend SET event = '{}' WHERE id = 3",
        "UPDATE spend SET fingerprint = 'other' WHERE id = 3",
        "UPDATE spend SET key = 'other' WHERE id = 2",
        "DELETE FROM spend WHERE id = 2",
        "UPDATE meta SET value = 'reticent-ledger/1' WHERE name = 'schema'",
        "UPDATE line SET body = replace(body, '100', '99') WHERE kind = 'spend'",
        "UPDATE line SET body = replace(body, '10', '11') WHERE kind = 'opened'",
        "UPDATE line SET body = replace(body, ':\"', ':\"00') WHERE kind = 'forgotten'",
        "UPDATE line SET kind = 'open' WHERE kind = 'opened'",
        "DELETE FROM line WHERE kind = 'opened'",
        "DELETE FROM line WHERE kind = 'forgotten'",
    ],
)
def test_other_edits_are_found(filled, statement) -> None:
    changed = filled.edit((statement,))
    assert changed is None or (changed >= 1 and filled.checked().problems)


def rewrite(store, change) -> None:
    """A new chain over changed lines, which is what the owner of the file can do."""
    with store.open().reading() as held:
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


def runs_of(*runs):
    def change(kind, told):
        if kind == "opened":
            told["runs"] = [list(run) for run in runs]

    return change


def other(of_kind, **others):
    def change(kind, told):
        if kind == of_kind:
            told.update(others)

    return change


@pytest.mark.parametrize(
    "change",
    [
        runs_of((10, "", 100)),
        runs_of((10, "", 10**15)),
        runs_of((10, "", -1), (10, "", 101)),
        runs_of((10, "", 1)),
        runs_of((2**70, "", 100)),
        runs_of(),
        other("opened", first=1),
        other("opened", first=3),
        other("opened", first=-5),
        other("opened", of="0" * 64),
        other("opened", runs=7),
        other("forgotten", of={}),
        other("forgotten", of={"7": "0" * 64}),
        other("forgotten", of={"x": "0" * 64}),
        other("forgotten", of={"50": "zz"}),
        other("forget", accounts=[]),
        other("forget", accounts=[1]),
        other("spend", accounts=99),
        other("spend", charged="0" * 64),
    ],
)
def test_a_new_chain_over_wrong_lines_is_found(filled, change) -> None:
    """The digests are compared with the rows, whoever wrote the chain."""
    assert filled.checked().problems == ()
    rewrite(filled, change)
    assert filled.checked().problems


def test_writing_the_chain_anew_itself_is_not_what_is_found(filled) -> None:
    rewrite(filled, lambda kind, told: None)
    assert filled.checked().problems == ()


def test_who_is_forgotten_leaves_nothing_but_a_commitment(filled) -> None:
    ledger = filled.open()
    with ledger.reading() as held:
        before = held.execute("SELECT id, salt FROM account WHERE subject = 'p050'").fetchone()
    for name in ("p050", "p003", "ann"):
        assert ledger.forget(name) == 1
    with ledger.reading() as held:
        row = held.execute("SELECT * FROM account WHERE id = ?", (before[0],)).fetchone()
        lines = held.execute("SELECT body FROM line WHERE kind = 'forgotten'").fetchall()
        kept = held.execute("SELECT event, answer FROM spend").fetchall()
    assert "p050" not in str(row)
    framed = b"".join(len(one).to_bytes(8, "big") + one for one in (b"club", b"overall"))
    expected = named(before[1], "p050", framed).hex()
    assert expected in {one for (body,) in lines for one in json.loads(body)["of"].values()}
    assert all(event == "" and answer is None for event, answer in kept)
    assert filled.checked().problems == ()


def test_who_was_forgotten_comes_back_as_somebody_new(filled, ask, charge) -> None:
    ledger = filled.open()
    people = tuple(charge(f"p{n:03}", nano=1) for n in range(80, ACCOUNTS))
    fresh = tuple(charge(f"q{n:03}", nano=1) for n in range(100))
    ledger.once_with(ask(9, charges=(*people, *fresh)), b"x")
    assert filled.spent()["p090", "club", "overall", ""] == (10, 1)
    ledger.forget("p090")
    assert filled.checked().problems == ()


KILLED = """
import os, signal, sys
from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import Charge, Request, many, open_ledger
address, count, where = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ledger = open_ledger(address)
event = Event("test", {"scale": 1}, PureDP(1, RECORD), private=True)

def spend(key, count):
    charges = tuple(Charge(subject=f"p{n}", provider="club", nano=4, limit=40)
                    for n in range(count))
    asked = Request(principal="club", key=key, body=b"body", event=event, charges=charges)
    return ledger.once_with(asked, b"x")

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

spend("before", count // 2)
if where == "loop":
    for key in range(10**6):
        spend(str(key), count) if key < 9 else spend(str(key), 1)
        print(key, flush=True)
setattr(many, where, die)
spend("killed", count)
"""


@pytest.mark.parametrize("where", ["_short", "_lowered", "_spent", "spend_line", "chained"])
def test_killed_in_the_middle_nobody_is_charged(store, ask, charge, where) -> None:
    count = 3000 if where == "_spent" else 600  # once more than a reader fetches at once
    command = [sys.executable, "-c", KILLED, str(store.address), str(count), where]
    assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
    ledger = store.open()
    assert {spent for _, spent in store.spent().values()} == {4}
    assert len(store.spent()) == count // 2
    assert store.checked().problems == ()
    people = tuple(charge(f"p{n}", limit=40) for n in range(count))
    assert ledger.once_with(ask("killed", charges=people), b"again").value == b"again"
    assert sorted({spent for _, spent in store.spent().values()}) == [4, 8]
    assert store.checked().problems == ()


def test_killed_at_any_moment_what_was_told_is_kept(store) -> None:
    told = -1
    for after in (0, 1, 3):
        command = [sys.executable, "-c", KILLED, str(store.address), "2000", "loop"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        for line in running.stdout:
            told = max(told, int(line))
            if int(line) >= after:
                break
        os.kill(running.pid, signal.SIGKILL)
        told = max([told, *(int(line) for line in running.stdout)])
        running.stdout.close()
        running.wait()
        with open_ledger(store.address) as ledger, ledger.reading() as held:
            rows = held.execute("SELECT key FROM spend WHERE state = 'settled'").fetchall()
        assert {str(key) for key in range(told + 1)} <= {key for (key,) in rows}
        assert store.checked().problems == ()
    store.open()
