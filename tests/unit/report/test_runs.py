"""Runs become sections; cards are checked again, and what is above its ceiling fails."""

import json
from pathlib import Path

import pytest

import reticent as rt
from reticent.guarantees.card import Card, Scope, make_card
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source
from reticent.queries import publish
from reticent.report.document import Report
from reticent.report.page import report_html
from reticent.report.runs import RunError, known_schemas, read_run

CURVES = {
    "what": "the median",
    "x": "epsilon",
    "y": "expected error, in years",
    "better": "lower",
    "reference": 0.0,
    "reference_name": "without privacy",
    "runs": 20,
    "rows": [
        {"way": "a", "x": 0.1, "value": 3.0, "low": 2.0, "high": 4.0, "gain": 1.0},
        {"way": "b", "x": 0.1, "value": 1.0, "low": None, "high": None},
        {"way": "a", "x": 1.0, "value": 1.0, "low": 0.5, "high": 1.5},
    ],
    "people": 400,
}
CHECKS = [
    {"check": "fast path", "result": "fine", "control": "flagged", "passed": True},
    {"check": "law", "result": "off", "control": "flagged", "passed": False},
]


def card(title: str = "Counts") -> Card:
    mechanism = DiscreteLaplace(epsilon="0.5", size=2)
    return make_card(
        title,
        mechanism.event(Source.system()),
        scope=Scope(protected="a person", not_against=("a break-in",), model="central"),
        how=mechanism.how(),
        utility=mechanism.utility(),
        evidence=mechanism.evidence(),
    )


def plain(made: Card) -> dict:
    return json.loads(made.to_json())


def attacks(**changes) -> dict:
    """Two attacks of a thousand people, one before and one after, under a ceiling."""
    raw = {"false_rates": [0, 0.05, 1], "true_rates": [0, 0.9, 1]}
    released = {"false_rates": [0, 0.4, 1], "true_rates": [0, 0.6, 1]} | changes.pop("after", {})
    told = {"attacker": "naive Bayes", "auc": 0.6, "low": 0.57, "high": 0.63, "above": False}
    fields = {
        "schema": "audit-attack/1",
        "secret": "income",
        "value": "high",
        "people": 1000,
        "positives": 400,
        "negatives": 600,
        "best_possible": 0.62,
        "few_people": False,
        "passed": True,
        "draws_as_the_table_says": 0.4,
        "attacks": [
            {**told, "attacked": "raw profiles", "trained_on": "raw profiles", **raw},
            {**told, "attacked": "released profiles", "trained_on": "raw profiles", **released},
        ],
        "ceiling": {"false_rates": [0, 0.4, 1], "true_rates": [0, 0.65, 1]},
    }
    return fields | changes


@pytest.fixture
def kept(tmp_path):
    def keep(fields, name="run.json"):
        text = fields if isinstance(fields, str) else json.dumps(fields)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return keep


def section(path):
    (found,) = read_run(path)
    assert report_html(Report(title="x", summary=[], sections=[found], again=[]))
    return found


@pytest.mark.parametrize("schema", ["sweep-percentile/1", "compare-percentile/1", "sweep-new/1"])
def test_curves_are_drawn_with_their_numbers(kept, schema) -> None:
    found = section(kept({"schema": schema, **CURVES}))
    assert found.title == "The median"
    assert "3 by a" in found.words[0]
    (picture,) = found.pictures
    assert picture.caption.startswith("Expected error, in years; lower is better. Means of 20 runs")
    numbers, others = found.grids
    assert numbers.heads == ["epsilon ", "a ", "b "]
    assert numbers.rows == [["0.1", "3 (2 to 4)", "1"], ["1", "1 (0.5 to 1.5)", ""]]
    assert list(others.rows) == [("people", "400")]
    assert not found.failures


def test_what_a_comparison_was_made_with_is_said_in_words(kept) -> None:
    inner = {"goal": "mse", "threshold": 0.12, "chosen": 0.06, "attributes": ["Crime", "Drama"]}
    found = section(kept({"schema": "compare-histogram/1", **CURVES, **inner}))
    told = dict(found.grids[1].rows)
    assert not {"goal", "threshold", "chosen"} & set(told)
    assert "mse" not in told.values()
    assert told["epsilon that the preferences grant"] == "0.06"
    assert "the least mean squared error" in told.values()
    assert told["attributes"] == "Crime, Drama"


def test_the_open_folder_is_named_in_words(kept, tmp_path, monkeypatch) -> None:
    kept({"schema": "sweep-a/1", **CURVES}, "a.json")
    kept("words", "notes.txt")
    monkeypatch.chdir(tmp_path)
    for path, told in ((Path(), "Also in the same folder"), (tmp_path, f"in {tmp_path.name}")):
        assert read_run(path)[-1].grids[0].caption.endswith(told)


def test_groups_are_drawn_too(kept) -> None:
    groups = [
        {"group": group, "people": 20, "way": "a", "x": x, "value": v, "low": v, "high": v}
        for group, v in (("strict", 0.1), ("open", 0.3))
        for x in (0.1, 1.0)
    ]
    found = section(kept({"schema": "compare-neighbours/1", **CURVES, "groups": groups}))
    assert [picture.caption for picture in found.pictures][1:] == [
        "a: each privacy group, and the worst off alone."
    ]


def test_attacks_under_their_ceiling_pass(kept) -> None:
    found = section(kept(attacks()))
    assert not found.failures
    assert 'id="ceiling"' in found.pictures[0].svg
    assert "1,000 people attacked, 400 with the secret" in found.pictures[0].caption
    assert list(found.grids[0].rows)[-1][:2] == ["best possible", "released profiles"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"after": {"false_rates": [0, 0.1, 1], "true_rates": [0, 0.9, 1]}}, "above the ceiling"),
        ({"passed": False, "draws_as_the_table_says": 1e-9}, "do not follow"),
        ({"passed": False}, "better than the best possible"),
    ],
)
def test_attacks_above_their_ceiling_fail(kept, changes, told) -> None:
    (failure,) = section(kept(attacks(**changes))).failures
    assert told in failure


def test_checks_of_noise_that_fail_are_failures(kept) -> None:
    found = section(kept({"schema": "audit-noise/1", "passed": False, "checks": CHECKS}))
    assert found.failures == ["The noise, or its check, fails: law."]
    assert [row[1] for row in found.grids[0].rows] == ["holds", "FAILS"]


def test_a_card_is_a_run(kept) -> None:
    found = section(kept(plain(card("Ages"))))
    assert (found.title, [one.title for one in found.cards]) == ("Ages", ["Ages"])
    assert not found.failures


@pytest.mark.parametrize(
    "change", [{"title": "Another"}, {"utility": {"sentence": "exact", "bias": "none"}}]
)
def test_a_card_that_does_not_hold_fails(kept, change) -> None:
    (failure,) = section(kept(plain(card()) | change)).failures
    assert "does not hold" in failure


def test_a_card_of_an_unknown_mechanism_fails(kept) -> None:
    made = plain(card())
    made["event"]["mechanism"] = "magic"
    (failure,) = section(kept(made)).failures
    assert "magic" in failure


def released(**changes) -> dict:
    fields = {
        "schema": "answer/1",
        "query": {"kind": "histogram", "provider": "club.example", "epsilon": None},
        "value": {"ann": {"Drama": 1.5, "Crime": -2.25}},
        "losses": {"anyone": "0.5"},
        "ledger": "/home/ann/ledger.db",
        "key": "abc",
        "spent": "0.5",
    }
    return fields | changes


def test_a_release_shows_its_card_and_nothing_of_its_ledger(kept) -> None:
    found = section(kept(released(card=plain(card()))))
    assert found.title == "A release"
    assert len(found.cards) == 1
    text = " ".join(cell for grid in found.grids for row in grid.rows for cell in row)
    assert "ledger.db" not in text
    assert "abc" not in text
    assert "losses" not in text  # the card says it better
    assert "club.example" in text
    assert "-2.25" in text


def test_a_card_in_its_own_file_is_found_beside_the_run(kept) -> None:
    kept(plain(card()), "card.json")
    assert len(section(kept(released(card="card.json"))).cards) == 1
    found = section(kept(released(card="elsewhere.html")))
    assert (list(found.cards), found.words) == ([], ["Its card is in elsewhere.html."])


def test_recommendations_themselves_are_not_shown(kept) -> None:
    fields = {
        "schema": "answer/1",
        "query": {"kind": "recommendations", "k": 3},
        "notes": ["not covered by the guarantee"],
        "value": {"ann": [{"rank": 1, "item": "canary-77"}]},
    }
    found = section(kept(fields))
    assert "canary-77" not in str(found)
    assert "not shown here" in found.words[0]
    assert "not covered by the guarantee" in str(found)


def test_what_a_mapping_tells_of_its_training_people_is_not_shown(kept) -> None:
    told = {"query": {"kind": "mapping", "secret": ["income"]}, "notes": ["canary-82"]}
    found = section(kept({"schema": "answer/1", **told, "value": {"canary-83": 3}}))
    assert "canary" not in str(found)
    assert "whom nothing protects" in found.words[0]


def test_predictions_of_rows_that_nothing_protects_are_not_shown(kept) -> None:
    told = {"query": {"kind": "predict", "proba": False}, "notes": ["canary-81"]}
    value = {"id": ["canary-80"], "prediction": ["yes"]}
    found = section(kept({"schema": "answer/1", **told, "value": value}))
    assert "canary" not in str(found)
    assert "nothing protects" in found.words[0]
    other = {
        "query": {"kind": "counts"},
        "value": {"canary-80": 3},
    }  # which are released, and shown
    assert "canary-80" in str(section(kept({"schema": "answer/1", **other})))


def test_a_tree_is_drawn_from_its_answer(kept) -> None:
    declare = {"columns": {"age": {"bounds": [0, 9]}}, "target": {"classes": ["no", "yes"]}}
    query = rt.Tree(epsilon=1, target="votes", declare=declare, max_depth=1)
    answer = query.release({"age": [1, 8] * 50, "votes": ["no", "yes"] * 50})
    run = json.loads(publish.as_json(answer))
    found = section(kept(run))
    assert found.title == "A tree for votes"
    assert len(found.pictures) == len(found.cards) == 1
    assert not found.failures
    assert found.words[0].startswith("2 leaves, from about ")
    del run["value"]  # it went to a file of its own
    assert not section(kept({**run, "out": "tree.json"})).pictures


def test_a_plan_does_not_tell_what_a_budget_has_left_nor_what_it_lacks(kept) -> None:
    asked = {"asked": "1", "left": "0.817", "missing": "0.183", "spent": "9.183", "limit": "10"}
    found = section(kept({"schema": "plan/1", "epsilon": "1", "allowed": False, **asked}))
    assert [list(row) for row in found.grids[0].rows] == [["epsilon", "1"], ["asked", "1"]]


def test_lists_and_records_become_tables_and_long_ones_are_cut(kept) -> None:
    fields = {
        "schema": "answer/1",
        "lists": {f"p{n}": [{"rank": 1, "peer": "bob", "score": 0.5}] for n in range(300)},
        "deep": {"a": {"b": {"c": 1}}},
        "odd": [],
    }
    found = section(kept(fields))
    (grid,) = found.grids
    assert grid.heads == ["name", "rank ", "peer", "score "]
    assert (len(grid.rows), grid.caption) == (200, "Lists: the first 200 of 300 rows")
    assert found.words == ["Not shown, as no table holds it: deep."]


def test_a_refusal_is_told(kept) -> None:
    told = {"kind": "refused", "what": "asked for too much", "why": "", "next": "reticent x"}
    found = section(kept({"schema": "error/1", **told}))
    assert (found.title, found.words) == ("A release that was refused", ["Asked for too much."])


def test_a_refusal_does_not_tell_what_is_left_of_whom_nor_what_a_file_names(kept) -> None:
    told = {"asked": "1", "left": "0.817", "missing": "0.183", "why": "nothing was drawn"}
    told["what"] = "canary-81 for club.example: asked for epsilon 1, 0.817 is left"
    found = section(kept({"schema": "error/1", "kind": "refused", **told}))
    assert found.words == ["Asked for epsilon 1, which is more than is left."]
    wishes = {"what": "nothing is released to x", "why": "did you mean canary-82?"}
    found = section(kept({"schema": "error/1", "kind": "refused", **wishes}))
    assert found.words == ["Nothing is released to x."]
    found = section(kept({"schema": "error/1", "kind": "error", "what": "a", "why": "b"}))
    assert found.words == ["A.", "B."]


def test_a_step_of_the_demonstration_is_told_by_its_parts(kept) -> None:
    told = {"released": {"Drama": 1.5, "Crime": 2.0}, "provider": "club.example"}
    run = {"schema": "demo-step/1", "step": "histogram", "private": False, "histogram": told}
    found = section(kept(run))
    assert found.title == "Demonstration: histogram"
    assert found.words == ["Made with a seed: nothing here is private."]
    assert ("released: Drama", "1.5") in list(found.grids[0].rows)


def test_a_flat_run_of_an_unknown_kind_is_shown_as_a_table(kept) -> None:
    found = section(kept({"schema": "new/1", "a": 1, "b": None, "c": True, "d": "x"}))
    assert [list(row) for row in found.grids[0].rows] == [
        ["a", "1"],
        ["b", "none"],
        ["c", "yes"],
        ["d", "x"],
    ]


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ({"schema": "new/1", "a": {"b": 1}}, "compare-*"),
        ({"schema": "gateway-token/1", "token": "canary-78"}, "owner's eyes"),
        ({"schema": "ledger-show/1", "accounts": []}, "owner's eyes"),
        ({"a": 1}, "names no schema"),
        ([1], "names no schema"),
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ({"schema": "audit-attack/1"}, "missing"),
        ({"schema": "compare-x/1", "rows": []}, "curves of ways"),
        ({"schema": "compare-x/1", **CURVES, "rows": [{"way": "a"}]}, "a way, an x and a value"),
        ({"schema": "compare-x/1", **CURVES, "better": "more"}, "lower"),
        ({"schema": "guarantee-card/1"}, "no guarantee-card/1"),
        (attacks(attacks=[]), "at least one attack"),
    ],
)
def test_what_is_no_run_is_refused_in_words(kept, held, told) -> None:
    with pytest.raises(RunError) as caught:
        read_run(kept(held))
    assert told in str(caught.value)
    assert "canary-78" not in str(caught.value)


def test_a_folder_is_read_by_name_and_lists_what_it_does_not_show(kept, tmp_path) -> None:
    kept({"schema": "sweep-b/1", **CURVES, "what": "second"}, "b.json")
    kept({"schema": "sweep-a/1", **CURVES, "what": "first"}, "a.json")
    kept("words", "notes.txt")
    kept({"schema": "gateway-token/1", "token": "canary-79"}, "token.json")
    kept({"schema": "odd/1", "a": 1}, "odd.json")
    skipped = []
    first, second, others = read_run(tmp_path, skipped=skipped.append)
    assert [path.name for path in skipped] == ["notes.txt", "odd.json", "token.json"]
    assert others.title == "Left out: files that are no run"
    assert (first.title, second.title) == ("First", "Second")
    assert [row[0] for row in others.grids[0].rows] == ["notes.txt", "odd.json", "token.json"]
    assert "canary-79" not in str(others)


def test_an_empty_folder_and_a_missing_file_are_refused(tmp_path) -> None:
    for path in (tmp_path, tmp_path / "nothing.json"):
        with pytest.raises(RunError):
            read_run(path)


def test_known_schemas_are_listed() -> None:
    assert {"audit-attack/1", "sweep-*", "guarantee-card/1", "answer/1"} <= set(known_schemas())


@pytest.mark.parametrize(("verdict", "failures"), [("holds", 0), ("broken", 1)])
def test_a_broken_mechanism_fails_the_report(tmp_path, verdict, failures) -> None:
    unit = {"unit": "any", "holds": verdict == "holds", "loss": "1.1", "claim": "1", "p": "3/4"}
    run = {"schema": "verify/1", "name": "your law", "method": "enumerated", "verdict": verdict}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**run, "pairs": 1, "units": [unit], "figures": []}))
    (section,) = read_run(path)
    assert len(section.failures) == failures
    assert any("3/4" in row for grid in section.grids for row in grid.rows)
