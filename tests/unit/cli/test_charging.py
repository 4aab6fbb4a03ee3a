"""Every command that releases charges a ledger first: once, within limits, and says so."""

import contextlib
import csv
import json
import shlex
import sqlite3
import time
from pathlib import Path

import pytest
import typer

from reticent.cli import charging, main
from reticent.cli.demo_tour import LEDGER
from reticent.ledger import open_reading
from reticent.ledger.reports import balances, entries
from reticent.mechanisms.multilevel import MultiLevel
from reticent.noise import Source

from .tree_people import DECLARED

CANARY = "canary-9187"
SECRET = "73523"  # a value that no message and no ledger may hold
CLUB = "club.example"
WISHES = """version = 1
[items]
Up = 0.5
[attributes]
default = 0.1
[providers."club.example"]
epsilon = 0.15
total = 0.4
renews = "yearly"
"""
FILES = {
    "films.csv": f"item,attribute\nHeat,Crime\nHeat,Drama\nUp,Drama\nM,Crime\n{CANARY},Drama\n",
    "preferences.toml": WISHES,
    "club.csv": f"user,item\nann,Heat\nann,Up\nbob,M\nbob,{CANARY}\ncid,Up\n",
    "links.csv": "source,target\na,b\na,c\nb,c\nc,d\n",
    "pay.csv": f"who,pay\na,5\nb,10\nc,15\nd,{SECRET}\n",
    "columns.toml": DECLARED,
}
HISTOGRAM = ("release", "histogram", "club.csv", "films.csv", "--provider", CLUB, "--yes")
ANN = (*HISTOGRAM, "--person", "ann")
MEDIAN = (
    *("release", "percentile", "pay.csv", "--upper", "100"),
    *("--columns", "person=who", "--yes"),
)
FOLDER = "into a folder"
RELEASES = {
    ("release", "histogram"): ANN,
    ("release", "similarity"): (
        *("release", "similarity", "club.csv", "--pair", "ann,bob"),
        *("--epsilon", "1", "--yes"),
    ),
    ("release", "profile"): (
        *("release", "profile", "m.json", "people.csv", "--provider", CLUB),
        *("--yes", "--person", "p3"),
    ),
    ("release", "histogram", FOLDER): (*HISTOGRAM, *("--out", "all.parquet", "--processes", "1")),
    ("release", "profile", FOLDER): (
        *("release", "profile", "m.json", "people.csv", "--provider", CLUB),
        *("--out", "told.parquet", "--processes", "1", "--yes"),
    ),
    ("release", "sketches"): ("release", "sketches", "club.csv", "--epsilon", "1", "--yes"),
    ("release", "neighbours"): (
        *("release", "neighbours", "club.csv"),
        *("--epsilon", "1", "--k", "1", "--yes"),
    ),
    ("release", "top-nodes"): (
        *("release", "top-nodes", "links.csv", "--bound", "3"),
        *("--k", "1", "--epsilon", "1", "--yes"),
    ),
    ("release", "counts"): (
        *("release", "counts", "club.csv", "--columns", "person=user", "--records", "2"),
        *("--epsilon", "1", "--yes"),
    ),
    ("release", "percentile"): (*MEDIAN, "--epsilon", "0.4"),
    ("release", "quantile"): (
        *("release", "quantile", "pay.csv", "--columns", "value=pay", "--upper", "100"),
        *("--epsilon", "0.4", "--yes"),
    ),
    ("release", "mapping"): (
        *("release", "mapping", "people.csv", "--secret", "rich", "--delta", "0.2", "--yes"),
    ),
    ("release", "tree"): (
        *("release", "tree", "voters.csv", "--target", "votes", "--declare", "columns.toml"),
        *("--epsilon", "1", "--yes"),
    ),
    ("demo",): ("demo", "--fast", "--directory", "tour"),
}
NO_RELEASE = {
    ("plan",): "reads nothing private",
    ("queries",): "lists kinds of query",
    ("predict",): "is computed from a tree that was released",
    ("release", "recommendations"): "are computed from sketches that were released",
    ("data", "columns"): "reads the header alone, which is public",
    ("doctor",): "reads no data",
    ("verify",): "enumerates small made domains",
    ("sweep",): "takes public data only, or no data",
    ("report",): "shows what was released before",
    ("reproduce",): "runs experiments on public data",
    ("init",): "writes invented people",
    ("data",): "tells of public data sets",
    ("audit",): "attacks, for who holds the data",
    ("compare",): "takes public data only, and says so by --public",
    ("prefs",): "is for the owner of the preferences",
    ("card",): "reads cards",
    ("ledger",): "is for the owner of the ledger",
    ("gateway",): "keeps a gateway, which charges each answer itself",
    ("serve",): "runs a gateway",
}


def commands(command=None, path=()):
    command = command or typer.main.get_command(main.app)
    parts = getattr(command, "commands", None)
    if parts is None:
        yield path, command
        return
    for name, part in parts.items():
        yield from commands(part, (*path, name))


def written(path, rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(scope="module")
def mapping(tmp_path_factory, cli) -> str:
    folder = tmp_path_factory.mktemp("mapping")
    people(folder)
    words = ("--secret", "rich", "--public", "town,job", "--delta", "0.2")
    ended = cli(
        *("release", "mapping", folder / "people.csv", *words),
        *("--out", folder / "m.json", "--ledger", folder / "l.db", "--yes"),
    )
    assert ended.code == 0, ended.err
    return (folder / "m.json").read_text(encoding="utf-8")


def people(folder) -> None:
    rows = [(f"p{i}", "ABC"[i % 3], "xy"[i // 2 % 2], "ny"[i % 5 > 2]) for i in range(90)]
    written(folder / "people.csv", [("user", "town", "job", "rich"), *rows])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, mapping):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    people(tmp_path)
    (tmp_path / "m.json").write_text(mapping, encoding="utf-8")
    voters = [(i, ("cat", "dog")[i % 2], i % 3, "ny"[i > 50]) for i in range(100)]
    written(tmp_path / "voters.csv", [("age", "pet", "kids", "votes"), *voters])
    return tmp_path


def charged(ledger) -> dict[tuple[str, str], int]:
    if not ledger.exists():
        return {}
    with open_reading(ledger) as connection:
        return {
            (one.account.subject, one.account.provider): one.spent for one in balances(connection)
        }


def log(ledger) -> list:
    if not ledger.exists():
        return []
    with open_reading(ledger) as connection:
        return list(entries(connection))


def no_drawing(monkeypatch) -> None:
    """From now on whoever touches a source of the system for noise fails the test."""
    monkeypatch.setattr(MultiLevel, "release", lambda *_: pytest.fail("something was drawn"))


# Every command


def test_every_command_releases_with_a_ledger_or_is_known_not_to_release() -> None:
    for path, command in commands():
        known = [path[:n] for n in range(1, len(path) + 1) if path[:n] in NO_RELEASE]
        assert (path in RELEASES) is not bool(known), path
        options = {option for parameter in command.params for option in parameter.opts}
        spends = "--dry-run" in options
        assert not spends or path in RELEASES, f"{path} spends and is not in RELEASES"
        if path in RELEASES and path != ("demo",):
            assert {"--ledger", "--key", "--yes", "--dry-run"} <= options, path


# what a tour releases is counted in test_demo.py too
TOUR = pytest.param(("demo",), marks=pytest.mark.pages)


@pytest.mark.parametrize(
    "path", [TOUR if path == ("demo",) else path for path in RELEASES], ids=" ".join
)
def test_every_release_is_counted(cli, here, ledger, path) -> None:
    ended = cli(*RELEASES[path])
    assert ended.code == 0, ended.err
    where = here / "tour" / LEDGER if path == ("demo",) else ledger
    found = log(where)
    assert found
    assert all(one.answered for one in found)
    noted = [one.nano == 0 for one in found]  # what is no worst case does not add
    unbounded = (("release", "mapping"), ("release", "profile"), ("release", "profile", FOLDER))
    assert any(noted) is (path in (*unbounded, ("demo",)))
    assert all(noted) is (path in unbounded)
    assert cli("ledger", "verify", "--ledger", where).code == 0
    with contextlib.closing(sqlite3.connect(where)) as connection:
        held = "\n".join(connection.iterdump())
    for private in (CANARY, SECRET):
        assert private not in held
    assert not (here / "reticent-ledger.db").exists()


@pytest.mark.parametrize("path", [path for path in RELEASES if path != ("demo",)], ids=" ".join)
def test_the_same_key_gives_the_same_answer_at_no_charge(cli, ledger, path) -> None:
    words = [*RELEASES[path], "--key", "again", "--json"]
    first, second = cli(*words).json, cli(*words).json
    assert (first["replayed"], second["replayed"]) == (False, True)
    assert (first["ledger"], first["key"]) == (str(ledger), "again")
    for told in (first, second):
        assert told["card"]["budget"]["spent"] == told["spent"]
        told.pop("replayed")
        told["card"].pop("id")
    assert first == second
    assert len({one.spend for one in log(ledger)}) == 1
    shown = cli(*(word for word in words if word != "--json"))
    assert "key again: answered before, repeated;" in shown.err


@pytest.mark.parametrize("path", [path for path in RELEASES if path != ("demo",)], ids=" ".join)
def test_a_dry_run_charges_nothing_and_tells_what_is_left(cli, ledger, path) -> None:
    words = [word for word in RELEASES[path] if word != "--yes"]
    assert "ledger: " in cli(*words, "--dry-run").err
    assert cli(*words, "--dry-run", "--json").json["ledger"] == str(ledger)
    assert not ledger.exists()


def test_what_is_left_is_told_before(cli) -> None:
    assert cli(*ANN).code == 0
    dry = cli(*ANN, "--dry-run")
    assert f"epsilon 0.15 spent of 0.4 by ann with {CLUB}, renews yearly, 0.25 left" in dry.err
    told = cli(*ANN, "--dry-run", "--json").json
    assert (told["spent"], told["limit"], told["left"]) == ("0.15", "0.4", "0.25")


def test_a_dry_run_that_would_be_refused_says_so_and_ends_well(cli, ledger) -> None:
    """It was asked what would happen, and has told: 3 is for a release that was refused."""
    for allowed in (True, True):
        assert cli(*ANN, "--dry-run", "--json").json["allowed"] is allowed
        assert cli(*ANN).code == 0
    dry = cli(*ANN, "--dry-run")
    assert dry.code == 0
    assert "would be refused: asked for epsilon 0.15, 0.1 is left, 0.05 is missing" in dry.err
    told = cli(*ANN, "--dry-run", "--json").json
    assert (told["allowed"], told["asked"], told["missing"]) == (False, "0.15", "0.05")
    assert charged(ledger) == {("ann", CLUB): 300_000_000}
    assert cli(*HISTOGRAM, "--dry-run", "--out", "x.csv", "--json").json["allowed"] is None


def test_before_a_first_release_there_is_no_limit_to_raise(cli) -> None:
    words = (*RELEASES[("release", "similarity")], "--total", "0.5")
    refused = cli(*words).err
    assert "reticent ledger raise" not in refused
    assert "--total 1 " in refused


# People and their totals


def test_a_total_is_enforced_and_nothing_is_drawn(cli, ledger, monkeypatch) -> None:
    lines = [cli(*ANN).err.splitlines()[0] for _ in range(2)]
    assert lines[1].endswith(f"epsilon 0.3 spent of 0.4 by ann with {CLUB}, renews yearly")
    no_drawing(monkeypatch)
    refused = cli(*ANN)
    assert (refused.code, refused.out) == (3, "")
    assert "asked for epsilon 0.15, 0.1 is left, 0.05 is missing" in refused.err
    assert "nothing was drawn and nothing was charged" in refused.err
    assert charged(ledger) == {("ann", CLUB): 300_000_000}


def test_what_a_refusal_proposes_works(cli, here) -> None:
    for _ in range(2):
        cli(*ANN)
    lines = cli(*ANN).err.splitlines()
    (look,) = [line.partition("next: reticent ")[2] for line in lines if "next:" in line]
    assert cli(*shlex.split(look)).out.count("multi-level") == 2
    at = next(place for place, line in enumerate(lines) if "to allow more, type both" in line)
    first, second = (line.partition(": reticent ")[2] for line in lines[at : at + 2])
    assert cli(*shlex.split(first)).code == 0
    assert cli(*ANN).code == 3  # a higher total alone does not raise what the ledger holds
    assert cli(*shlex.split(second)).code == 0
    assert cli(*ANN).code == 0
    assert cli(*ANN).code == 3


def test_everybody_is_charged_each(cli, ledger) -> None:
    told = cli(*HISTOGRAM, "--out", "all.csv", "--json").json
    assert charged(ledger) == {(name, CLUB): 150_000_000 for name in ("ann", "bob", "cid")}
    assert (told["spent"], told["limit"]) == ("0.15", "0.4")


def test_one_who_has_too_little_stops_a_release_for_everybody(cli, here, ledger) -> None:
    for _ in range(2):
        assert cli(*ANN).code == 0
    refused = cli(*HISTOGRAM, "--out", "all.csv")
    assert (refused.code, refused.out) == (3, "")
    assert f"budget of 1 of 3 people with {CLUB}" in refused.err
    assert "ann" not in refused.err
    assert not (here / "all.csv").exists()
    assert charged(ledger) == {("ann", CLUB): 300_000_000}


def test_a_card_tells_the_most_that_anybody_lost(cli) -> None:
    cli(*ANN)
    card = cli(*HISTOGRAM, "--out", "all.csv", "--json").json["card"]
    assert card["budget"]["spent"] == "0.3"
    assert "the most that any of 3 people has lost" in card["budget"]["rule"]


def test_a_budget_renews(cli, monkeypatch) -> None:
    codes = [cli(*ANN).code for _ in range(3)]
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 366 * 24 * 3600)
    assert [*codes, cli(*ANN).code] == [0, 0, 3, 0]


def test_without_a_total_losses_are_counted_all_the_same(cli, here, ledger) -> None:
    (here / "preferences.toml").write_text(WISHES.replace("total = 0.4\n", ""), encoding="utf-8")
    for _ in range(4):
        told = cli(*ANN, "--json").json
    assert (told["spent"], told["limit"]) == ("0.6", None)
    (here / "preferences.toml").write_text(WISHES, encoding="utf-8")
    assert cli(*ANN).code == 3


def test_people_who_are_compared_are_charged_both(cli, ledger) -> None:
    words = (*RELEASES[("release", "similarity")], "--total", "1.5")
    assert cli(*words).code == 0
    assert charged(ledger) == {(name, "anyone"): 10**9 for name in ("ann", "bob")}
    refused = cli(*words)
    assert refused.code == 3
    (less,) = [line for line in refused.err.splitlines() if "to spend less" in line]
    assert cli(*shlex.split(less.partition(": reticent ")[2])).code == 0
    assert charged(ledger)[("ann", "anyone")] == 15 * 10**8


def test_neighbours_charge_everybody_what_a_reader_of_all_learns(cli, ledger) -> None:
    words = (*RELEASES[("release", "neighbours")], "--method", "direct")
    told = cli(*words, "--json").json
    assert set(charged(ledger).values()) == {3_250_000_000}  # four comparisons and one size
    assert told["card"]["promise"]["epsilon"] == told["spent"] == "3.25"


# Data sets


def test_a_total_of_a_data_set(cli, ledger) -> None:
    words = (*MEDIAN, "--total", "1")
    assert cli(*words, "--epsilon", "0.7").code == 0
    refused = cli(*words, "--epsilon", "0.7")
    assert refused.code == 3
    assert "0.7, 0.3 is left, 0.4 is missing" in refused.err
    (less,) = [line for line in refused.err.splitlines() if "to spend less" in line]
    assert cli(*shlex.split(less.partition(": reticent ")[2])).code == 0
    assert set(charged(ledger).values()) == {10**9}
    assert cli(*MEDIAN, "--epsilon", "0.1").code == 3  # the ledger keeps the total


def test_one_file_is_one_account_however_it_is_reached(cli, here, ledger, monkeypatch) -> None:
    (here / "sub").mkdir()
    (here / "link.csv").symlink_to(here / "pay.csv")
    cli(*MEDIAN, "--epsilon", "0.1")
    monkeypatch.chdir(here / "sub")
    for path in ("../pay.csv", "../sub/../pay.csv", here / "pay.csv", "../link.csv"):
        assert cli(*(path if w == "pay.csv" else w for w in MEDIAN), "--epsilon", "0.1").code == 0
    whole = f"data set {(here / 'pay.csv').resolve()}"
    assert charged(ledger) == {(whole, "anyone"): 5 * 10**8}


def test_a_data_set_may_be_named(cli, ledger) -> None:
    for command in (("release", "percentile"), ("release", "tree")):
        assert cli(*RELEASES[command], "--data-set", "town").code == 0
    assert charged(ledger) == {("data set town", "anyone"): 14 * 10**8}
    assert cli(*MEDIAN, "--epsilon", "1", "--data-set", "").code == 2


# Keys


def test_a_crash_leaves_the_charge_and_the_key_resumes(cli, ledger, monkeypatch) -> None:
    whole = MultiLevel.release

    def crash(*_):
        raise MemoryError(SECRET)

    monkeypatch.setattr(MultiLevel, "release", crash)
    ended = cli(*ANN)
    assert (ended.code, ended.out) == (70, "")
    assert SECRET not in ended.err
    assert charged(ledger) == {("ann", CLUB): 150_000_000}
    (again,) = [line for line in ended.err.splitlines() if "at no further charge: " in line]
    monkeypatch.setattr(MultiLevel, "release", whole)
    assert cli(*shlex.split(again.partition(": reticent ")[2])).code == 0
    assert charged(ledger) == {("ann", CLUB): 150_000_000}
    assert [one.answered for one in log(ledger)] == [True]


def test_a_key_is_for_one_question(cli, ledger) -> None:
    assert cli(*ANN, "--key", "1").code == 0
    other = cli(*HISTOGRAM, "--person", "bob", "--key", "1")
    assert (other.code, "used before for another request" in other.err) == (2, True)
    words = (*MEDIAN, "--epsilon", "0.1", "--key", "2")
    assert cli(*words).code == 0
    assert cli(*words, "--p", "0.9").code == 2
    assert cli(*ANN, "--key", "").code == 2


def test_a_table_that_was_lost_is_written_again(cli, here) -> None:
    words = (*HISTOGRAM, "--key", "1", "--out", "all.csv")
    assert cli(*words).code == 0
    held = (here / "all.csv").read_bytes()
    (here / "all.csv").unlink()
    assert cli(*words).code == 0
    assert (here / "all.csv").read_bytes() == held


# Where, and what is told


def test_the_ledger_is_here_unless_said_otherwise(cli, here, monkeypatch, ledger) -> None:
    assert cli(*ANN, "--ledger", "mine.db", "--json").json["ledger"] == "mine.db"
    assert not ledger.exists()
    monkeypatch.delenv("RETICENT_LEDGER")
    assert cli(*ANN, "--json").json["ledger"] == "reticent-ledger.db"
    assert (here / "reticent-ledger.db").stat().st_mode & 0o077 == 0


def test_a_ledger_that_cannot_be_used_is_found_before_anything_is_drawn(
    cli, here, monkeypatch
) -> None:
    no_drawing(monkeypatch)
    (here / "text.db").write_text("no ledger at all, but text of some length" * 30)
    for wrong in ("text.db", "nowhere/ledger.db"):
        ended = cli(*ANN, "--ledger", wrong)
        assert (ended.code, ended.out) == (2, "")
        assert wrong in ended.err


def test_where_it_was_counted_is_not_on_the_card(cli, ledger) -> None:
    card = cli(*ANN, "--key", "k-7731", "--ledger", "mine.db", "--json").json["card"]
    assert "k-7731" not in json.dumps(card)
    assert "mine.db" not in json.dumps(card)


def test_an_address_is_told_without_its_password() -> None:
    address = "postgresql://me:pass-5523@host:5432/ledgers?sslmode=require"
    assert charging.shown(address) == "postgresql://host:5432/ledgers"


def test_the_noise_of_a_refused_release_is_never_drawn(cli, monkeypatch) -> None:
    """Sources may be asked for keys and salts; of the refused release nothing else is drawn."""
    for _ in range(2):
        cli(*ANN)
    asked = []
    whole = Source.system

    def spied():
        asked.append(whole())
        return asked[-1]

    monkeypatch.setattr(Source, "system", staticmethod(spied))
    no_drawing(monkeypatch)
    assert cli(*ANN, "--key", "mine").code == 3
    assert len(asked) <= 1  # the source that would have been used


def test_profiles_are_noted_not_added(cli, ledger) -> None:
    words = RELEASES[("release", "profile")]
    shown = cli(*words)
    assert f"noted for p3 with {CLUB}; what it tells does not add up" in shown.err
    told = cli(*words, "--json").json
    assert (told["spent"], told["limit"]) == ("0", None)
    assert [(one.nano, one.account.what[:9]) for one in log(ledger)] == [(0, "profile: ")] * 2
    assert cli(*words[:-2], "--out", "all.csv").code == 0
    assert len(charged(ledger)) == 90


def test_no_table_no_charge(cli, ledger) -> None:
    Path("club.csv").unlink()
    assert cli(*ANN).code == 2
    assert not ledger.exists()
