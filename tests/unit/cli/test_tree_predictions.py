"""``reticent predict``: new rows at no cost, files that are no tree, tables that do not fit."""

import csv

import pytest

from reticent.guarantees.card import Card
from reticent.mechanisms import verify
from reticent.noise import Source

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
    written(here / "new.csv", rows, ("nr", "AGE"))  # no other column is needed
    ended = cli("predict", "tree.json", "new.csv")
    assert ended.code == 0, ended.err
    told = [(row["row"], row["prediction"]) for row in answers(ended)]
    assert told == [("1", "no"), ("2", "yes"), ("3", "yes")]  # missing goes with 50 or more
    assert "spent nothing: it follows from what was released before" in ended.err
    assert "not the rows that are predicted here" in " ".join(ended.err.split())
    ended = cli(
        "predict", "tree.json", "new.csv", "--columns", "id=NR", "--proba", "--out", "p.csv"
    )
    assert (ended.code, ended.out) == (0, "p.csv\n")
    found = list(csv.DictReader((here / "p.csv").read_text().splitlines()))
    assert [row["id"] for row in found] == ["7", "8", "8"]
    assert list(found[0]) == ["id", "prediction", "p(no)", "p(yes)"]
    assert all(abs(float(row["p(no)"]) + float(row["p(yes)"]) - 1) < 1e-5 for row in found)
    assert cli("predict", "tree.json", "new.csv", "--out", "p.csv").code == 2


def test_predictions_as_json(cli, here, tree) -> None:
    written(here / "new.csv", [("20",), ("80",)], ("age",))
    told = cli("predict", "tree.json", "new.csv", "--proba", "--json").json
    assert told["schema"] == "answer/1"
    assert told["query"] == {"kind": "predict", "proba": True}
    assert list(told["value"]) == ["row", "prediction", "p(no)", "p(yes)"]
    assert told["value"]["prediction"] == ["no", "yes"]
    assert "ledger" not in told
    told = cli("predict", "tree.json", "new.csv", "--out", "p.csv", "--json").json
    assert (told["out"], "value" in told) == ("p.csv", False)


def test_nothing_is_asked_charged_or_kept(cli, here, tree, ledger) -> None:
    before = ledger.read_bytes()
    written(here / "new.csv", [("20",)], ("age",))
    assert cli("predict", "tree.json", "new.csv").code == 0  # without --yes
    assert ledger.read_bytes() == before
    for option in ("--ledger", "--key", "--data-set", "--total", "--epsilon"):
        assert cli("predict", "tree.json", "new.csv", option, "1").code == 2
    assert cli("plan", "predict").code == cli("release", "predict").code == 2


def test_the_card_cites_that_of_the_tree(cli, here, tree) -> None:
    written(here / "new.csv", [("20",)], ("age",))
    assert cli("predict", "tree.json", "new.csv", "--card", "p.json").code == 0
    own, parent = (Card.from_json((here / name).read_text()) for name in ("p.json", "card.json"))
    assert verify(own) == []
    assert own.release_event() == parent.release_event()
    assert (own.promise, own.budget) == (parent.promise, parent.budget)
    assert parent.id in own.scope.protected
    assert parent.scope.protected in own.scope.protected
    assert "rows that are predicted" in own.scope.not_against[0]
    assert set(parent.scope.not_against) - set(own.scope.not_against)  # said once, not twice
    assert "tree.json" in (own.provenance.command or "")


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
    ended = cli("predict", "tree.json", "new.csv")
    assert (ended.code, ended.out.split(",")[0]) == (0, "id")
    assert "\x1b" not in ended.out


def test_a_table_without_what_the_tree_splits_by(cli, here, tree) -> None:
    written(here / "new.csv", [(CANARY, SECRET)], ("pet", "kids"))
    ended = cli("predict", "tree.json", "new.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "new.csv has no column called 'age': say which one it is" in ended.err
    silent(ended)
    ended = cli("predict", "tree.json", "people.csv", "--columns", "id=name")
    assert (ended.code, ended.out) == (2, "")
    assert "people.csv has no column called 'name'" in ended.err
    ended = cli("predict", "tree.json", "none.csv")
    assert (ended.code, "none.csv" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "no JSON, line"),
        (lambda text: text.replace('"max_depth": 1', '"max_depth": 2'), "card is that of another"),
        (lambda text: text.replace('"scale": ', '"scale": 1'), "its parts do not fit"),
        (lambda text: text.replace("answer/1", "answer/7"), "it is of version 7"),
        (lambda text: text.replace('"kind": "tree"', '"kind": "counts"'), "of another query"),
        (lambda text: '{"schema": "profile-mapping/1"}', "it is another file"),
        (lambda text: "[" * 90_000, "too deep"),
        (lambda text: "\udcff", "not text in UTF-8"),
        (lambda text: "cos\nsystem\n(S'touch hacked'\ntR.", "no JSON"),
    ],
    ids=["cut", "query", "value", "version", "kind", "mapping", "deep", "bytes", "pickle"],
)
def test_a_file_that_is_no_tree_is_refused(cli, here, tree, spoil, said) -> None:
    text = tree.read_text()
    assert spoil(text) != text
    tree.write_text(spoil(text), encoding="utf-8", errors="surrogateescape")
    ended = cli("predict", "tree.json", "people.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "tree.json is no tree that can be used" in ended.err
    assert said in ended.err
    assert "next: reticent release tree --help" in ended.err
    assert not (here / "hacked").exists()
    missing = cli("predict", "none.json", "people.csv")
    assert (missing.code, "none.json cannot be used" in missing.err) == (2, True)


def test_what_was_printed_is_an_artefact_too(cli, here) -> None:
    (here / "printed.json").write_text(cli(*SURE, "--max-depth", "1", "--json").out)
    assert cli("predict", "printed.json", "people.csv").code == 0


def test_a_tree_by_a_seeded_source_is_named(cli, here, monkeypatch) -> None:
    monkeypatch.setattr(Source, "system", classmethod(lambda _: Source.seeded(7)))
    assert cli(*SURE, "--max-depth", "1", "--out", "seeded.json").code == 0
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert "release protects nobody" in " ".join(
        cli("predict", "seeded.json", "people.csv").err.split()
    )
