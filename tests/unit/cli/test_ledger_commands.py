"""``reticent ledger``: what people see of a ledger, sound and damaged."""

import json
import shutil
import sqlite3

import pytest

from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import Charge, Request, SqliteLedger

EVENT = Event("noisy count", {}, PureDP(1, RECORD), private=True)


def spend(path, key, subject="ann", provider="club", nano=4 * 10**8, make=None) -> None:
    charge = Charge(subject=subject, provider=provider, nano=nano, limit=10**9)
    asked = Request(principal=provider, key=key, body=b"", event=EVENT, charges=(charge,))
    with SqliteLedger.open(path) as ledger:
        ledger.once(asked, make or (lambda: b"answer"))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.db"
    spend(path, "1")
    spend(path, "2", provider="shop", nano=1)
    with pytest.raises(ZeroDivisionError):
        spend(path, "3", subject="bob", make=lambda: bytes([1 // 0]))
    return path


def test_show(cli, path) -> None:
    ended = cli("ledger", "show", "--ledger", path)
    assert (ended.code, ended.err) == (0, "")
    assert [line.split() for line in ended.out.splitlines()[2:]] == [
        ["ann", "club", "overall", "for", "ever", "1", "0.4", "0.6"],
        ["ann", "shop", "overall", "for", "ever", "1", "0.000000001", "0.999999999"],
        ["bob", "club", "overall", "for", "ever", "1", "0.4", "0.6"],
    ]


def test_show_as_json_of_one_person_and_provider(cli, path) -> None:
    told = cli(
        "ledger", "show", "--ledger", path, "--subject", "ann", "--provider", "shop", "--json"
    ).json
    assert told["schema"] == "ledger-show/1"
    assert told["accounts"] == [
        {"subject": "ann", "provider": "shop", "what": "overall", "period": ""}
        | {"limit_nano": 10**9, "spent_nano": 1}
    ]
    assert (
        cli("ledger", "show", "--ledger", path, "--subject", "nobody", "--json").json["accounts"]
        == []
    )
    assert "no account" in cli("ledger", "show", "--ledger", path, "--subject", "nobody").err


def test_log_newest_first(cli, path) -> None:
    told = cli("ledger", "log", "--ledger", path, "--json").json
    assert [one["spend"] for one in told["lines"]] == [3, 2, 1]
    assert [one["answered"] for one in told["lines"]] == [False, True, True]
    assert {one["mechanism"] for one in told["lines"]} == {"noisy count"}
    ended = cli("ledger", "log", "--ledger", path, "--most", 1)
    assert len(ended.out.splitlines()) == 3
    assert "not yet" in ended.out
    assert "nothing was spent" in cli("ledger", "log", "--ledger", path, "--provider", "x").err


def test_the_forgotten_are_not_shown(cli, path) -> None:
    with SqliteLedger.open(path) as ledger:
        ledger.forget("ann")
    assert "ann" not in cli("ledger", "show", "--ledger", path).out
    assert "ann" not in cli("ledger", "log", "--ledger", path).out
    assert cli("ledger", "verify", "--ledger", path).code == 0


def test_names_cannot_write_to_the_terminal(cli, path) -> None:
    spend(path, "4", subject="eve\x1b[2J", provider="x\ny")
    for command in ("show", "log"):
        out = cli("ledger", command, "--ledger", path).out
        assert "\x1b" not in out
        assert "eve\\x1b[2J" in out
        assert "x y" in out


def test_verify_what_holds(cli, path) -> None:
    ended = cli("ledger", "verify", "--ledger", path)
    assert ended.code == 0
    assert ended.out.startswith("holds: 3 spends, 3 accounts\nhead: ")
    assert "--head FILE" in ended.err
    told = cli("ledger", "verify", "--ledger", path, "--json").json
    assert (told["problems"], told["spends"]) == ([], 3)


def test_verify_finds_an_edit(cli, path) -> None:
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("UPDATE account SET lim = lim + 1 WHERE id = 1")
    held.close()
    ended = cli("ledger", "verify", "--ledger", path)
    assert ended.code == 1
    assert ended.out == "account 1: limit or spent is not what the lines say\n"
    assert cli("ledger", "verify", "--ledger", path, "--json").json["problems"]


def test_a_head_is_kept_and_finds_an_old_copy(cli, path, tmp_path) -> None:
    head, copy = tmp_path / "head.txt", tmp_path / "copy.db"
    shutil.copy(path, copy)
    assert cli("ledger", "verify", "--ledger", path, "--head", head).code == 0
    first = head.read_text()
    spend(path, "5")
    assert cli("ledger", "verify", "--ledger", path, "--head", head).code == 0
    assert head.read_text() != first
    kept = head.read_text()
    shutil.copy(copy, path)
    ended = cli("ledger", "verify", "--ledger", path, "--head", head)
    assert ended.code == 1
    assert "an old or rewritten copy" in ended.out
    assert head.read_text() == kept
    head.write_text("no head")
    assert cli("ledger", "verify", "--ledger", path, "--head", head).code == 2


def test_export_holds_no_names_and_overwrites_nothing(cli, path, tmp_path) -> None:
    out = tmp_path / "lines.jsonl"
    assert cli("ledger", "export", "--ledger", path, "--out", out).out == f"{out}\n"
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line["kind"] for line in lines} == {"open", "spend", "answer"}
    assert not any(name in out.read_text() for name in ("ann", "bob", "shop", "noisy"))
    before = path.read_bytes()
    for there in (out, path):
        assert "is there already" in cli("ledger", "export", "--ledger", path, "--out", there).err
    assert path.read_bytes() == before
    told = cli(
        "ledger", "export", "--ledger", path, "--out", tmp_path / "again.jsonl", "--json"
    ).json
    assert told["lines"] == len(lines)


@pytest.mark.parametrize("command", ["show", "log", "verify", "export"])
@pytest.mark.parametrize("held", [None, b"", b"no database", b"SQLite format 3\0" + b"\1" * 9000])
def test_what_is_no_ledger(cli, tmp_path, command, held) -> None:
    path = tmp_path / "wrong.db"
    if held is not None:
        path.write_bytes(held)
    more = ["--out", tmp_path / "out"] if command == "export" else []
    ended = cli("ledger", command, "--ledger", path, *more)
    assert (ended.code, ended.out) == (2, "")
    assert "next: " in ended.err
    assert [one.name for one in tmp_path.iterdir()] == ([] if held is None else ["wrong.db"])


def test_lines_that_cannot_be_read_are_not_exported(cli, path, tmp_path) -> None:
    held = sqlite3.connect(path, isolation_level=None)
    held.execute("DROP TRIGGER line_fixed")
    held.execute("UPDATE line SET body = 'x' WHERE seq = 2")
    held.close()
    ended = cli("ledger", "export", "--ledger", path, "--out", tmp_path / "out")
    assert (ended.code, "is damaged" in ended.err) == (2, True)
    assert "line 2: it cannot be read" in cli("ledger", "verify", "--ledger", path).out


def test_a_limit_is_raised_and_written_down(cli, path) -> None:
    words = ("ledger", "raise", "ann", "--provider", "club", "--ledger", path)
    unasked = cli(*words, "--to", "2")
    assert (unasked.code, unasked.out) == (2, "")
    assert "--yes" in unasked.err
    assert cli(*words, "--to", "2", "--yes").out == "1 to 2, of which 0.4 is spent\n"
    told = cli(*words, "--to", "3", "--yes", "--json").json
    assert (told["schema"], told["from_nano"], told["to_nano"]) == (
        *("ledger-raise/1", 2 * 10**9),
        3 * 10**9,
    )
    again = cli(*words, "--to", "2.5", "--yes")
    assert (again.code, "the limit is 3 already" in again.err) == (2, True)
    assert cli("ledger", "verify", "--ledger", path).code == 0
    for wrong in (("zoe", "club"), ("ann", "nobody")):
        other = ("ledger", "raise", wrong[0], "--provider", wrong[1], "--ledger", path)
        assert "no such account" in cli(*other, "--to", "9", "--yes").err


def test_a_person_is_forgotten(cli, path) -> None:
    words = ("ledger", "forget", "ann", "--ledger", path)
    assert cli(*words).code == 2
    assert "ann" in cli("ledger", "show", "--ledger", path).out
    assert cli(*words, "--yes").out == "forgotten: 2 accounts\n"
    assert "ann" not in cli("ledger", "show", "--ledger", path).out
    assert cli(*words, "--yes").code == 2
    told = cli("ledger", "forget", "bob", "--ledger", path, "--yes", "--json").json
    assert (told["schema"], told["accounts"]) == ("ledger-forget/1", 1)


def test_commands_look_where_the_environment_says(cli, path, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RETICENT_LEDGER", str(path))
    assert cli("ledger", "show").out == cli("ledger", "show", "--ledger", path).out
    missing = cli("ledger", "forget", "ann", "--yes", "--ledger", tmp_path / "other.db")
    assert (missing.code, "there is no ledger" in missing.err) == (2, True)
    assert not (tmp_path / "other.db").exists()


def test_only_its_owner_may_read_it(path) -> None:
    for one in path.parent.glob("ledger.db*"):
        assert one.stat().st_mode & 0o077 == 0
