"""The reproduction of the paper on local dampening runs from a shell, small, on made data."""

from pathlib import Path

import numpy as np
import pytest

from .quick_runs import quick_run, values

pytestmark = pytest.mark.experiments

ROOT = Path(__file__).parents[2]
NAME = "made graph"


@pytest.fixture(scope="module")
def quick() -> dict:
    return quick_run("experiments.dampening")


def test_what_is_not_there_is_said(quick: dict) -> None:
    assert len(quick["skipped"]) == 6
    assert all("RETICENT_DATA is not set" in reason for reason in quick["skipped"])
    assert quick["networks"] == [NAME]
    assert quick["private"] is False


def test_shares_are_shares_and_their_intervals_hold_them(quick: dict) -> None:
    rows = [row for row in quick["rows"] if row["figure"].startswith(("overlap", "focus"))]
    assert len(rows) > 100
    for row in rows:
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1


def test_shifted_scores_start_early_and_ours_ends_right(quick: dict) -> None:
    held = values(quick, "focus")
    assert held[NAME, "exponential", "1"] < 0.1
    assert held[NAME, "shifted", "1"] > 0.4
    assert held[NAME, "adaptive", "1"] > held[NAME, "shifted", "1"] - 0.03
    assert held[NAME, "adaptive", "1000"] >= 0.95


def test_shifted_scores_are_nearly_degrees(quick: dict) -> None:
    held = values(quick, "correlation")
    assert held[NAME, "shifted", "degree"] > 0.95
    assert held[NAME, "shifted", "degree"] > held[NAME, "shifted", "betweenness"]


def test_a_bound_from_the_graph_itself_breaks_what_is_proved(quick: dict) -> None:
    moved, lost = values(quick, "one score moves"), values(quick, "loss")
    own = "own largest degree"
    assert moved[own, "two hubs, exponential, own", "5"] == pytest.approx(4 / 3)
    assert moved[own, "two hubs, exponential, declared", "5"] <= 1
    assert lost[own, "clique, ours, own", "6"] > 1.3
    assert all(loss <= 1 for (_, series, _), loss in lost.items() if series.endswith("declared"))
    papers = ("exponential, own", "shifted, own")
    assert all(loss <= 1 for (_, series, _), loss in lost.items() if series.endswith(papers))


def test_small_cases_are_as_derived_by_hand(quick: dict) -> None:
    held = values(quick, "chance of the best")
    assert held["padding", "as defined", "20"] == pytest.approx(0.5)
    assert held["padding", "as defined", "1000"] < 1e-9
    assert held["padding", "padded", "1000"] == pytest.approx(1 / (1 + np.exp(-2.5)))
    assert held["dominance", "as Definition 14 prints", ""] == pytest.approx(0.5)
    assert held["dominance", "global sensitivity", ""] == pytest.approx(1 / (1 + np.exp(-0.5)))


def test_percentile_errors_are_between_none_and_chance(quick: dict) -> None:
    for p in ("0.25", "0.5", "0.75"):
        held = values(quick, f"value error, p = {p}")
        for (data, _, _), error in held.items():
            if "2 max" not in data:
                assert 0 <= error <= 1.2 * held[data, "a person at random", ""]
        less = values(quick, f"less value error, p = {p}")
        assert all(v >= 0 for (_, series, _), v in less.items() if series == "shifted left")


def test_verdicts_are_judged(quick: dict) -> None:
    verdicts = {v["claim"]: v["verdict"] for v in quick["verdicts"]}
    assert len(verdicts) >= 20
    assert set(verdicts.values()) <= {"holds", "fails", "in part", "cannot be told"}
    assert verdicts["Lemma 2: the local sensitivity dominates all admissible functions"] == "fails"
    assert verdicts["With Delta(G) from the graph the loss is at most epsilon"] == "in part"
    assert verdicts["Running time is below quadratic"] == "holds"


def test_figures_say_what_they_show(quick: dict) -> None:
    assert set(quick["drawn"]) == set(quick["findings"])
    for text in quick["drawn"].values():
        assert 'role="img" aria-label="' in text
        assert "dc:date" not in text
        assert "mathdefault" not in text  # what a log axis writes if it is left alone


@pytest.fixture
def _experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # they are not installed


@pytest.mark.usefixtures("_experiments")
def test_budgets_are_read_between_points() -> None:
    from experiments.dampening.results import reached, share_ends

    curve = [(1.0, 0.0), (100.0, 1.0), (1000.0, 0.2)]
    assert reached(curve, 0.5) == pytest.approx(10)
    assert np.isnan(reached(curve[:1], 0.5))
    assert np.isnan(reached([(1.0, 0.9), (10.0, 1.0)], 0.5))  # before the first point
    low, high = share_ends(1.0, 100)
    assert 0.95 < low < 1 == high


@pytest.mark.usefixtures("_experiments")
def test_equals_at_the_edge_are_as_good() -> None:
    from experiments.dampening.influence import hits

    truth = np.array([5.0, 3.0, 3.0, 3.0, 1.0])
    assert hits(truth, (0, 3)) == 2
    assert hits(truth, (1, 3)) == 1  # one place is for the first
    assert hits(truth, (4, 1)) == 1


@pytest.mark.usefixtures("_experiments")
def test_the_dampening_function_is_that_of_definition_11() -> None:
    from fractions import Fraction

    from experiments.dampening.counterexamples import dampened

    def growing(t: int) -> Fraction:
        return Fraction(t + 1)

    assert [dampened(Fraction(u), growing) for u in (0, 1, 3, 6, -3)] == [0, 1, 2, 3, -2]
    assert dampened(Fraction(2), growing) == Fraction(3, 2)


@pytest.mark.usefixtures("_experiments")
def test_a_folder_without_the_sets_is_explained(tmp_path: Path) -> None:
    from experiments.dampening.datasets import load

    networks, people, skipped = load(tmp_path, quick=True)
    assert [one.name for one in networks] == [NAME]
    assert [one.name for one in people] == ["made values"]
    assert len(skipped) == 6
    assert all("download" in reason for reason in skipped)
