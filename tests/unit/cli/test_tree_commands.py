"""``reticent train tree``: what it says, writes, spends and hides."""

import csv
import io
import json
import shlex
import subprocess
import sys

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from reticent.cli import plan, train_tree
from reticent.guarantees import RECORD, RECORD_SUBSTITUTE, PureDP
from reticent.guarantees.card import Card
from reticent.mechanisms import verify
from reticent.tasks.tree_files import DEEPEST, KeptTree

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
    assert "2 columns of the table" in ended.err
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
    kept = KeptTree.from_json((here / "tree.json").read_text())
    assert kept.sha256 not in card.to_json()  # a small tree could be guessed from it
    assert card.release_event() == kept.event
    assert cli("card", "verify", "card.json").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--criterion", "accuracy", "--mechanism", "exponential"),
        ("--criterion", "entropy", "--rows", "400"),
        ("--criterion", "entropy", "--rows", "400", "--split", "multiway"),
        (
            "--criterion",
            "entropy",
            "--rows",
            "400",
            "--split",
            "multiway",
            "--mechanism",
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
    assert told["schema"] == "train-tree/1"
    assert verify(Card.from_json(json.dumps(told["card"]))) == []
    assert told["tree"]["classes"] == told["classes"] == ["no", "yes"]
    assert told["leaves"] >= 1
    assert (told["target"], told["losses"]) == ("votes", {"anyone": "1"})


def test_files_are_written_and_never_overwritten(cli, here) -> None:
    words = ("--out", "t.json", "--card", "c.html", "--plot", "t.svg", "--json")
    ended = cli(*GROW, *words)
    assert ended.code == 0, ended.err
    assert (ended.json["tree"], ended.json["card"]) == ("t.json", "c.html")
    assert (here / "t.svg").read_text().count("<svg") == 1
    assert not [path for path in here.iterdir() if path.name.startswith(".")]
    for option, name in (("--out", "t.json"), ("--card", "c.html"), ("--plot", "t.svg")):
        again = cli(*GROW, option, name)
        assert (again.code, again.out) == (2, "")
        assert "is there already" in again.err
    same = cli(*GROW, "--out", "x.json", "--card", "x.json")
    assert (same.code, "same file" in same.err) == (2, True)


def test_a_picture_needs_its_extra(cli, monkeypatch) -> None:
    monkeypatch.setattr(train_tree, "find_spec", lambda name: None)
    ended = cli(*GROW, "--plot", "t.svg")
    assert (ended.code, ended.out) == (4, "")
    assert "reticent[plots]" in ended.err


def test_parquet_and_numbers_that_are_held_otherwise(cli, here) -> None:
    kids = [0.0, 1.0, 2.0, None] * 50
    votes = [kid is not None and kid > 0 for kid in kids]
    parquet.write_table(arrow.table({"kids": kids, "votes": votes}), here / "p.parquet")
    (here / "p.toml").write_text(
        "[columns.kids]\ncategories = [0, 1, 2]\n[target]\nclasses = [true, false]\n"
    )
    words = ("train", "tree", "p.parquet", "--target", "votes", "--declare", "p.toml", "--yes")
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
    assert "can be right at most 74 times in 100" in lines[2]
    begin = [line.partition(":")[0] for line in lines[3:7]]
    assert begin == ["cost", "error to expect", "public", "public"]
    assert "no row was read and nothing was released" in ended.err
    assert cli(*TRAIN, "--dry-run", "--json").json["losses"] == {"anyone": "1"}


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
    assert train_tree.DEEPEST == DEEPEST
