"""The reproduction of the paper's decision trees runs from a shell, small, on bundled data."""

from pathlib import Path

import numpy as np
import pytest

from .quick_runs import quick_run, values

pytestmark = pytest.mark.experiments

ROOT = Path(__file__).parents[2]
NAME = "experiments.dampening.tree"
ADULT, MADE = "Adult", "made answers"


@pytest.fixture(scope="module")
def quick() -> dict:
    return quick_run(NAME)


def test_what_is_not_there_is_said(quick: dict) -> None:
    assert len(quick["skipped"]) == 2
    assert all("is not set" in reason for reason in quick["skipped"])
    assert quick["data"] == [ADULT, MADE]
    assert quick["private"] is False


def test_accuracies_are_shares_and_their_intervals_hold_them(quick: dict) -> None:
    rows = [
        row for row in quick["rows"] if row["figure"].startswith(("accuracy, d", "ablation, a"))
    ]
    assert len(rows) > 30
    for row in rows:
        assert row["low"] <= row["value"] <= row["high"]
        assert row["figure"].startswith("ablation, against") or 0.4 < row["value"] < 1


def test_ours_is_ahead_of_the_three_laws(quick: dict) -> None:
    ours = values(quick, "accuracy, depth by budget")
    for depth in quick["depths"]:
        theirs = values(quick, f"accuracy, depth {depth}")
        for (data, series, x), value in theirs.items():
            if series.endswith("DiffPID3"):
                assert ours[data, "ours", x] >= value  # equal where all tell the same class


def test_differences_are_those_of_the_means(quick: dict) -> None:
    held = values(quick, "accuracy, depth 2")
    for (data, series, x), value in values(quick, "over GlobalDiffPID3, depth 2").items():
        if series.startswith(("Local", "Shifted")):
            assert value == pytest.approx(held[data, series, x] - held[data, "GlobalDiffPID3", x])


def test_dampened_scores_stay_behind_without_noise(quick: dict) -> None:
    held = values(quick, "no noise, depth 2")
    assert held[MADE, "LocalDiffPID3", ""] < held[MADE, "ID3, no noise", ""] - 0.02
    most = values(quick, "accuracy")[MADE, "most frequent class", ""]
    assert held[MADE, "CART, no noise", ""] > most


def test_small_tables_are_as_derived_by_hand(quick: dict) -> None:
    held = values(quick, "fact")
    assert held["one row replaced", "bound one row away", ""] == pytest.approx(4.529, abs=1e-3)
    assert held["one row replaced", "neighbour's own", ""] == pytest.approx(4.690, abs=1e-3)
    assert held["one row replaced", "tables violated, bound at 2t", ""] == 0
    assert held["one row replaced", "tables violated, bound at t", ""] > 0
    capped = [held["rows capped", s, ""] for s in ("bound one row away", "neighbour's own")]
    assert capped[0] < capped[1]
    assert held[f"whole file, {ADULT}", "share of nodes and columns above it", ""] > 0.1


def test_verdicts_are_judged(quick: dict) -> None:
    verdicts = {v["claim"]: v["verdict"] for v in quick["verdicts"]}
    assert len(verdicts) >= 12
    assert set(verdicts.values()) <= {"holds", "fails", "in part", "cannot be told"}
    assert verdicts["It may be capped by the number of rows at hand"] == "fails"
    assert verdicts["Ours: no tree or forest of diffprivlib is better"] == "cannot be told"


def test_figures_say_what_they_show(quick: dict) -> None:
    assert set(quick["drawn"]) == set(quick["findings"]) == {"accuracy", "gain", "ablation"}
    for text in quick["drawn"].values():
        assert 'role="img" aria-label="' in text
        assert "dc:date" not in text
        assert "mathdefault" not in text  # what a log axis writes if it is left alone


@pytest.fixture
def _experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # they are not installed


@pytest.mark.usefixtures("_experiments")
def test_folds_test_every_row_once() -> None:
    from experiments.dampening.tree.datasets import folds

    parts = folds(103, 10, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(103))
    assert {len(part) for part in parts} == {10, 11}
    assert any((a != b).any() for a, b in zip(parts[3:], folds(103, 10, 1)[3:], strict=True))


@pytest.mark.usefixtures("_experiments")
def test_intervals_are_over_runs_where_there_are_some() -> None:
    from experiments.dampening.tree.results import ends

    low, high = ends(np.array([[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]]))  # runs of mean 2, 3, 4
    half = 4.302653 / np.sqrt(3)
    assert (low, high) == pytest.approx((3 - half, 3 + half))
    assert ends(np.array([[0.5]])) == (0.5, 0.5)


@pytest.mark.usefixtures("_experiments")
def test_the_census_is_coded_as_the_paper_says() -> None:
    from experiments.dampening.tree.datasets import OURS, QUICK, load

    adult = load(None, QUICK)[0][0]
    papers, ours = adult.coding(), adult.coding(OURS)
    assert len(papers.sizes) == 12
    assert papers.sizes[3] == 2  # married or not
    assert ours.sizes[3] == 7
    for coding in (papers, ours):
        assert (coding.codes.max(axis=0) < np.array(coding.sizes)).all()  # nothing is missing


@pytest.mark.usefixtures("_experiments")
def test_an_interpreter_that_is_not_there_is_said() -> None:
    from experiments.dampening.tree import peer
    from experiments.dampening.tree.datasets import QUICK, load
    from experiments.dampening.tree.results import Pool

    pool = Pool()
    reasons = peer.run(pool, load(None, QUICK)[0], QUICK, "/nowhere/python")
    assert reasons == ["diffprivlib: /nowhere/python failed, FileNotFoundError"]
    assert pool.rows == []
