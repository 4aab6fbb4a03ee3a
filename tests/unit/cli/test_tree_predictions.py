"""``reticent predict``: new rows at no cost, files that are no tree, tables that do not fit."""

import csv

import pytest

from reticent.tasks.tree_files import KeptTree

from .tree_people import CANARY, SECRET, SURE, set_out, written


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    return set_out(tmp_path, monkeypatch)


@pytest.fixture
def tree(cli, here):
    """A tree that splits by age at fifty."""
    ended = cli(*SURE, "--max-depth", "1", "--out", "tree.json", "--card", "card.json")
    assert ended.code == 0, ended.err
    return here / "tree.json"


def answers(ended) -> list[dict[str, str]]:
    return list(csv.DictReader(ended.out.splitlines()))


def silent(ended) -> None:
    for private in (CANARY, SECRET, "w17", "blue"):
        assert private not in ended.err


def test_new_rows_are_predicted_at_no_cost(cli, here, tree) -> None:
    rows = [("7", "20"), ("8", "80"), ("8", "")]
    written(here / "new.csv", rows, ("id", "AGE"))  # no other column is needed
    ended = cli("predict", "tree.json", "new.csv")
    assert ended.code == 0, ended.err
    told = [(row["row"], row["prediction"]) for row in answers(ended)]
    assert told == [("1", "no"), ("2", "yes"), ("3", "yes")]  # missing goes with 50 or more
    assert "spent nothing" in ended.err
    assert "rows of this table, which nothing here protects" in ended.err
    ended = cli("predict", "tree.json", "new.csv", "--id", "ID", "--proba", "--out", "p.csv")
    assert (ended.code, ended.out) == (0, "p.csv\n")
    found = list(csv.DictReader((here / "p.csv").read_text().splitlines()))
    assert [row["id"] for row in found] == ["7", "8", "8"]
    assert list(found[0]) == ["id", "prediction", "p(no)", "p(yes)"]
    assert all(abs(float(row["p(no)"]) + float(row["p(yes)"]) - 1) < 1e-5 for row in found)
    assert cli("predict", "tree.json", "new.csv", "--out", "p.csv").code == 2


def test_predictions_as_json(cli, here, tree) -> None:
    written(here / "new.csv", [("20",), ("80",)], ("age",))
    told = cli("predict", "tree.json", "new.csv", "--proba", "--json").json
    assert (told["schema"], told["target"], told["rows"]) == ("predict/1", "votes", 2)
    assert [row["prediction"] for row in told["predictions"]] == ["no", "yes"]
    assert len(told["predictions"][0]["probabilities"]) == len(told["classes"]) == 2
    told = cli("predict", "tree.json", "new.csv", "--out", "p.csv", "--json").json
    assert (told["out"], "predictions" in told) == ("p.csv", False)


@pytest.mark.parametrize("cell", [CANARY, "", "NaN", "fifty"])
def test_cells_that_a_tree_does_not_know_are_missing(cli, here, tree, cell) -> None:
    written(here / "new.csv", [(cell,), ("20",)], ("age",))
    ended = cli("predict", "tree.json", "new.csv")
    assert (ended.code, answers(ended)[0]["prediction"]) == (0, "yes")
    assert "note" not in ended.err
    written(here / "new.csv", [(cell, "1")], ("age", "x"))
    ended = cli("predict", "tree.json", "new.csv")
    assert ended.code == 0
    assert "note: age: no cell holds what the tree knows; all count as missing" in ended.err
    silent(ended)


def test_a_name_that_is_a_terminal_command_is_not_carried_out(cli, here, tree) -> None:
    written(here / "new.csv", [("\x1b[2J", "3")], ("id", "age"))
    assert "\x1b" not in cli("predict", "tree.json", "new.csv", "--id", "id").out


def test_a_table_without_what_the_tree_splits_by(cli, here, tree) -> None:
    written(here / "new.csv", [(CANARY, SECRET)], ("pet", "kids"))
    ended = cli("predict", "tree.json", "new.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "new.csv lacks 'age', by which tree.json splits" in ended.err
    silent(ended)
    ended = cli("predict", "tree.json", "people.csv", "--id", "name")
    assert (ended.code, ended.out) == (2, "")
    assert "people.csv has no column called 'name'" in ended.err
    ended = cli("predict", "tree.json", "none.csv")
    assert (ended.code, "none.csv" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "tree file must be JSON"),
        (lambda text: text.replace('"votes"', '"other"'), "as its fingerprint says"),
        (lambda text: text.replace("private-tree/1", "private-tree/7"), "got 'version 7'"),
        (lambda text: '{"schema": "profile-mapping/1"}', "got 'another file'"),
        (lambda text: "[" * 90_000, "too deep"),
        (lambda text: "\udcff", "not text in UTF-8"),
        (lambda text: "cos\nsystem\n(S'touch hacked'\ntR.", "tree file must be JSON"),
    ],
    ids=["cut", "changed", "version", "mapping", "deep", "bytes", "pickle"],
)
def test_a_file_that_is_no_tree_is_refused(cli, here, tree, spoil, said) -> None:
    text = tree.read_text()
    tree.write_text(spoil(text), encoding="utf-8", errors="surrogateescape")
    ended = cli("predict", "tree.json", "people.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "tree.json is no tree that can be used" in ended.err
    assert said in ended.err
    assert "next: reticent train tree" in ended.err
    assert not (here / "hacked").exists()
    missing = cli("predict", "none.json", "people.csv")
    assert (missing.code, "none.json cannot be read" in missing.err) == (2, True)


def test_a_tree_by_a_seeded_source_is_named(cli, here, tree) -> None:
    kept = KeptTree.from_json(tree.read_text())
    event = type(kept.event)(kept.event.mechanism, kept.event.parameters, kept.event.loss, False)
    tree.write_text(KeptTree(kept.trained, kept.target, event).to_json())
    assert "seeded source: no privacy" in cli("predict", "tree.json", "people.csv").err
