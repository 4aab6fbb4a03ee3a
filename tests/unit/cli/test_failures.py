"""The exit codes are the documented ones, and what is proposed works as printed."""

import re
import shlex
from pathlib import Path

import pytest

from reticent.cli.failures import ExitCode, ending
from reticent.errors import MissingExtra

PAGE = Path(__file__).parents[3] / "docs" / "command-line.md"


def test_codes_are_fixed() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "DONE": 0,
        "FOUND": 1,
        "USAGE": 2,
        "REFUSED": 3,
        "EXTRA_MISSING": 4,
        "BUG": 70,
        "INTERRUPTED": 130,
        "PIPE_CLOSED": 141,
    }


def test_every_code_is_documented() -> None:
    documented = re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code in documented] == [int(code) for code in ExitCode]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table = "user,item,weight\nann,Heat,1\nbob,Heat,1\n"
    (tmp_path / "films.csv").write_text(table, encoding="utf-8")
    return tmp_path


PAIR = ("--pair", "ann,bob", "--epsilon", "1", "--yes")


def proposed(err: str) -> list[str]:
    (found,) = re.findall(r"^  next: reticent (.*)$", err, re.MULTILINE)
    return shlex.split(found)


def test_a_part_that_is_missing_can_come_from_a_checkout() -> None:
    told = ending(MissingExtra("the console", "console"))
    assert told.next_command == "pip install 'reticent[console]'"
    assert told.why == "or, in a checkout: pip install '.[console]'"


@pytest.mark.parametrize("typed", [["--card", "card.json"], ["--card=./card.json"]])
def test_a_file_that_is_there_gets_the_first_free_number(cli, here, typed) -> None:
    words = ["release", "similarity", "films.csv", *PAIR, *typed]
    for name in ("card.json", "card-2.json"):
        (here / name).write_text("kept", encoding="utf-8")
    ended = cli(*words)
    assert ended.code == 2
    assert proposed(ended.err)[-1].endswith("card-3.json")
    assert cli(*proposed(ended.err)).code == 0
    assert (here / "card-3.json").is_file()
    assert (here / "card.json").read_text(encoding="utf-8") == "kept"


def test_a_file_that_is_missing_may_be_one_with_a_name_like_it(cli, here) -> None:
    ended = cli("release", "similarity", "fims.csv", *PAIR)
    assert "did you mean films.csv?" in ended.err
    assert proposed(ended.err) == ["release", "similarity", "films.csv", *PAIR]
    assert cli(*proposed(ended.err)).code == 0


@pytest.mark.parametrize("other", ["film.csv", "people.csv"])
def test_only_one_clear_name_is_proposed(cli, here, other) -> None:
    asked = {"film.csv": "filmss.csv", "people.csv": "voters.csv"}[other]
    (here / other).write_text("user,item\n", encoding="utf-8")
    ended = cli("release", "similarity", asked, *PAIR)
    assert (ended.code, "did you mean" in ended.err) == (2, False)
    assert proposed(ended.err) == ["release", "similarity", "--help"]


def test_an_address_is_not_repeated(cli, here) -> None:
    (here / "card.json").write_text("kept", encoding="utf-8")
    secret = "postgresql://me:canary@host/db"
    words = ["films.csv", *PAIR, "--card", "card.json", "--ledger", secret]
    ended = cli("release", "similarity", *words)
    assert (ended.code, "canary" in ended.err) == (2, False)
    assert proposed(ended.err) == ["release", "similarity", "--help"]
