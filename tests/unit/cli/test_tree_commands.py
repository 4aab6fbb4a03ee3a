"""``reticent release tree``: what it says, writes, spends and hides."""

import csv
import hashlib
import io
import json
import shlex
import subprocess
import sys

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from reticent.cli import plan
from reticent.guarantees import RECORD, RECORD_SUBSTITUTE, PureDP
from reticent.guarantees.card import Card
from reticent.mechanisms import verify
from reticent.noise import Source
from reticent.queries import tree
from reticent.tasks.tree_values import DEEPEST

from .tree_people import CANARY, DECLARED, GROW, SECRET, SURE, TRAIN, set_out


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    return set_out(tmp_path, monkeypatch)


def answers(ended) -> list[dict[str, str]]:
    return list(csv.DictReader(ended.out.splitlines()))


def following(ended) -> list[str]:
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    return shlex.split(line.partition("next: reticent ")[2])


def silent(ended) -> None:
    for private in (CANARY, SECRET, "w17", "blue"):
        assert private not in ended.err


# Growing


def test_a_tree_is_the_result_and_the_rest_is_talk(cli) -> None:
    ended = cli(*SURE)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("age below 50\n")
    assert "spent epsilon 5000\n" in ended.err
    assert "caution: this is little worst-case protection" in ended.err
    assert "note: about 302 rows in all, by the noisy counts" in ended.err  # one class is unknown
    assert "Guarantee card" in ended.err
    silent(ended)
    assert CANARY not in ended.out


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_card_holds_and_says_what_is_covered(cli, here, relation) -> None:
    words = ("--relation", relation, "--card", "card.json", "--out", "tree.json")
    ended = cli(*GROW, *words)
    assert ended.code == 0, ended.err
    card = Card.from_json((here / "card.json").read_text())
    assert verify(card) == []
    unit = RECORD if relation == "add-remove" else RECORD_SUBSTITUTE
    assert card.release_event().loss == PureDP.of(1, unit)
    assert card.release_event().private
    assert ("whether it is there" in card.scope.protected) is (relation == "add-remove")
    assert "splits and noisy counts" in card.scope.observer
    assert "predictions" in card.scope.observer
    against = " ".join(card.scope.not_against)
    for words in ("predicted", "declared and public", "classes"):
        assert words in against
    kept = json.loads((here / "tree.json").read_text())
    assert kept["schema"] == "answer/1"
    assert kept["card"] == json.loads(card.to_json())
    assert "sha256" not in card.to_json()  # a small tree could be guessed from a digest
    assert cli("card", "verify", "card.json").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--criterion", "accuracy", "--method", "exponential"),
        ("--criterion", "entropy", "--rows", "400"),
        ("--criterion", "entropy", "--rows", "400", "--split", "multiway"),
        (
            "--criterion",
            "entropy",
            "--rows",
            "400",
            "--split",
            "multiway",
            "--method",
            "shifted",
        ),
        ("--max-depth", "0"),
        ("--rows", "5"),
    ],
    ids=" ".join,
)
def test_other_ways_have_cards_that_hold(cli, words) -> None:
    ended = cli(*GROW, *words, "--json")
    assert ended.code == 0, ended.err
    told = ended.json
    assert told["schema"] == "answer/1"
    assert verify(Card.from_json(json.dumps(told["card"]))) == []
    assert (
        told["value"]["classes"] == told["query"]["declare"]["target"]["classes"] == ["no", "yes"]
    )
    assert -1 in told["value"]["tree"]["child"]
    assert (told["query"]["target"], told["spent"]) == ("votes", "1")
    assert told["notes"][-1].startswith("about ")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_tree_as_a_table_of_nodes(cli, here, form) -> None:
    ended = cli(*SURE, "--out", f"tree.{form}")
    assert (ended.code, ended.out) == (0, f"tree.{form}\n")
    if form == "csv":
        rows = list(csv.DictReader((here / "tree.csv").read_text().splitlines()))
    else:
        rows = parquet.read_table(here / "tree.parquet").to_pylist()
    assert list(rows[0]) == ["node", "parent", "when", "likeliest", "share", "rows"]
    assert [(int(row["node"]), int(row["parent"])) for row in rows[:3]] == [(1, 0), (2, 1), (3, 1)]
    assert [row["when"] for row in rows[:3]] == ["", "age below 50", "age 50 or more, or missing"]
    assert rows[2]["likeliest"] == "yes"


def test_files_are_written_and_never_overwritten(cli, here) -> None:
    ended = cli(*GROW, "--out", "t.json", "--card", "c.html", "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["out"], ended.json["card"]) == ("t.json", "c.html")
    assert not [path for path in here.iterdir() if path.name.startswith(".")]
    for option, name in (("--out", "t.json"), ("--card", "c.html")):
        again = cli(*GROW, option, name)
        assert (again.code, again.out) == (2, "")
        assert "is there already" in again.err
    same = cli(*GROW, "--out", "x.json", "--card", "x.json")
    assert (same.code, "same file" in same.err) == (2, True)


def test_a_report_draws_it(cli, here) -> None:
    assert cli(*GROW, "--out", "t.json").code == 0
    ended = cli("report", "t.json", "--out", "page.html", "--json")
    assert (ended.code, ended.json["figures"]) == (0, 1)


def test_parquet_and_numbers_that_are_held_otherwise(cli, here) -> None:
    kids = [0.0, 1.0, 2.0, None] * 50
    votes = [kid is not None and kid > 0 for kid in kids]
    parquet.write_table(arrow.table({"kids": kids, "votes": votes}), here / "p.parquet")
    (here / "p.toml").write_text(
        "[columns.kids]\ncategories = [0, 1, 2]\n[target]\nclasses = [true, false]\n"
    )
    words = ("release", "tree", "p.parquet", "--target", "votes", "--declare", "p.toml", "--yes")
    ended = cli(*words, "--epsilon", "5000", "--max-depth", "3", "--out", "t.json")
    assert ended.code == 0, ended.err
    assert "about 200 rows" in ended.err
    told = answers(cli("predict", "t.json", "p.parquet"))
    assert [row["prediction"] for row in told] == [str(vote) for vote in votes]


def test_weights_of_classes_change_what_is_predicted(cli, here) -> None:
    found = []
    for weights in ("", "weights = { yes = 9 }\n"):
        (here / "columns.toml").write_text(DECLARED + weights)
        out = f"t{len(weights)}.json"
        assert cli(*SURE, "--max-depth", "0", "--out", out).code == 0
        found.append(answers(cli("predict", out, "people.csv", "--proba"))[0]["p(yes)"])
    assert float(found[0]) < 0.6 < 0.85 < float(found[1])


def test_a_tree_of_noise_alone_is_told_from_the_release(cli, here) -> None:
    (here / "columns.toml").write_text(DECLARED.replace('"yes"', '"Ja"').replace('"no"', '"nein"'))
    ended = cli(*GROW)
    assert ended.code == 0
    assert "hardly any rows stand out from the noise" in ended.err
    silent(ended)


WITHOUT = ("sklearn", "matplotlib", "pandas")


def test_loads_neither_scikit_learn_nor_matplotlib(cli, here, monkeypatch) -> None:
    for name in WITHOUT:
        monkeypatch.setitem(sys.modules, name, None)
    assert cli(*GROW, "--out", "t.json").code == 0
    assert cli("predict", "t.json", "people.csv").code == 0


@pytest.mark.processes
def test_works_without_scikit_learn_and_matplotlib(here) -> None:
    words = [[*GROW, "--out", "t.json"], ["predict", "t.json", "people.csv"]]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({WITHOUT!r}))
from reticent.cli.main import run
for words in {words!r}:
    try:
        run(words)
    except SystemExit as stop:
        assert not stop.code, stop.code
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Spending


def test_nothing_is_spent_without_yes_and_the_next_command_works(cli) -> None:
    ended = cli(*TRAIN)
    assert (ended.code, ended.out) == (2, "")
    assert following(ended)[-1] == "--yes"
    assert cli(*following(ended)).code == 0


def test_a_dry_run_reads_no_row(cli, here) -> None:
    (here / "people.csv").unlink()
    ended = cli(*TRAIN, "--rows", "4000", "--dry-run")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0] == "A decision tree for votes, 3 splits deep at most"
    assert ended.out == cli("plan", "tree", *TRAIN[3:], "--rows", "4000").out
    assert "can be right at most 74 times in 100" in lines[2]
    begin = [line.partition(":")[0] for line in lines[3:7]]
    assert begin == ["cost", "error to expect", "public", "public"]
    assert "nothing private was read and nothing was released" in ended.err
    assert cli(*TRAIN, "--dry-run", "--json").json["epsilon"] == "1"


def test_an_answer_is_asked_for_after_the_consequences(cli, monkeypatch) -> None:
    monkeypatch.setattr(plan, "somebody_to_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    ended = cli(*TRAIN, "--epsilon", "6", "--out", "t.json")
    assert (ended.code, ended.out) == (3, "")
    order = ["times in 100", "Taken as public", "caution", "spends epsilon 6"]
    places = [ended.err.index(words) for words in order]
    assert places == sorted(places)
    assert "nothing was released" in ended.err


def test_the_deepest_tree_is_one_that_can_be_read() -> None:
    assert tree.DEEPEST == DEEPEST


# What was released before it was a query, by the same noise

MULTIWAY = ("--criterion", "entropy", "--rows", "400", "--split", "multiway")
GOLDEN = {
    (): ("ba05dcd77acffffb", "19dcee2322496e6a"),
    ("--relation", "substitute"): ("32fa996c47fc3548", "0687dc79efe759bd"),
    ("--criterion", "accuracy", "--method", "exponential"): (
        "0d633a5a44683d6c",
        "b339ad00bd8372a1",
    ),
    ("--rows", "4000"): ("3e75f5af46e11df5", "3e75f5af46e11df5"),
    MULTIWAY: ("5bdf9c3afb0eca79", "5bdf9c3afb0eca79"),
    (*MULTIWAY, "--method", "shifted"): ("5bdf9c3afb0eca79",),
    (*MULTIWAY, "--method", "dampened", "--epsilon", "50"): ("8ad781bf2adac39b",),
}
"""Digests of the trees of version 0.1 from ``Source.seeded(7)``, without and with weights."""


@pytest.mark.parametrize(("words", "digests"), GOLDEN.items(), ids=str)
def test_the_same_noise_grows_the_same_tree_as_before(
    cli, here, monkeypatch, words, digests
) -> None:
    monkeypatch.setattr(Source, "system", classmethod(lambda _: Source.seeded(7)))
    for place, digest in enumerate(digests):
        (here / "columns.toml").write_text(DECLARED + "weights = { yes = 9 }\n" * place)
        told = cli(*GROW, *words, "--json", "--ledger", f"{place}.db").json
        held = json.dumps(told["value"]["tree"], sort_keys=True)
        assert hashlib.sha256(held.encode()).hexdigest()[:16] == digest
