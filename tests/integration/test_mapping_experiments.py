"""The reproduction of the paper on mappings runs from a shell, small, on bundled and made data."""

from pathlib import Path

import numpy as np
import pytest

from .quick_runs import quick_run, values

pytestmark = pytest.mark.experiments

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def quick() -> dict:
    return quick_run("experiments.mappings")


def test_what_is_not_there_is_said(quick: dict) -> None:
    assert quick["skipped"] == ["movielens-1m: no --data DIR and RETICENT_DATA is not set"]
    assert quick["private"] is False


def test_bounds_mappings_and_baselines_are_in_order(quick: dict) -> None:
    held = values(quick, "leak")
    points = [(data, x) for data, series, x in held if series == "mapping"]
    assert len(points) > 10
    for data, x in points:
        assert held[data, "least possible", x] <= held[data, "mapping", x] + 1e-12
    for key, gap in values(quick, "gap").items():
        assert gap <= 1.5e-3, key
    assert all(times > 1 for times in values(quick, "times").values())


def test_the_general_solver_agrees_with_the_bound(quick: dict) -> None:
    above = [v for key, v in values(quick, "solved").items() if key[1] == "CVXPY above our bound"]
    assert above
    assert all(-1e-5 <= value <= 1.5e-3 for value in above)


def test_the_printed_gradient_is_wrong_and_ours_is_right(quick: dict) -> None:
    held = values(quick, "gradient")
    assert held["3 x 5", "as printed", ""] > 0.1
    assert held["3 x 5", "without the second sum", ""] < 1e-8


def test_no_attacker_beats_the_exact_rule(quick: dict) -> None:
    areas = [row for row in quick["rows"] if row["figure"] == "AUC"]
    best = {
        (r["data"], r["series"].split(":")[0], r["x"]): r["value"]
        for r in areas
        if r["series"].endswith("exact Bayes rule")
    }
    tried = [r for r in areas if r["low"] is not None]
    assert tried
    for row in tried:
        assert row["low"] <= best[row["data"], row["series"].split(":")[0], row["x"]]


def test_other_people_are_told_more_than_was_promised(quick: dict) -> None:
    held = values(quick, "halves")
    name = "census, 300 most probable"
    assert held[name, "mapping", "same people"] < held[name, "mapping", "other people"]
    assert held[name, "mapping", "other people"] < held[name, "untouched", "other people"]


def test_verdicts_are_judged(quick: dict) -> None:
    verdicts = {v["claim"]: v["verdict"] for v in quick["verdicts"]}
    assert len(verdicts) >= 30
    assert set(verdicts.values()) <= {"holds", "fails", "in part", "cannot be told"}
    assert verdicts["The printed gradient is that of the leak"] == "fails"
    assert verdicts["The leak falls with every step"] == "holds"


def test_figures_say_what_they_show(quick: dict) -> None:
    assert set(quick["drawn"]) == set(quick["findings"])
    for text in quick["drawn"].values():
        assert 'role="img" aria-label="' in text
        assert "dc:date" not in text


@pytest.fixture
def _experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # they are not installed


@pytest.mark.usefixtures("_experiments")
def test_laws_are_laws() -> None:
    from experiments.mappings.datasets import adult, adult_sample, cube, film_like, synthetic

    for case in (
        adult(50),
        adult_sample(40),
        cube(4, secrets=3),
        film_like(60, 9, 3),
        synthetic(4),
    ):
        assert case.joint.sum() == pytest.approx(1)
        assert (case.joint >= 0).all()
        assert case.joint.shape[1] == len(case.profiles) == case.distance.size
        assert len(np.unique(case.profiles, axis=0)) == len(case.profiles)


@pytest.mark.usefixtures("_experiments")
def test_the_census_is_the_published_one() -> None:
    from experiments.mappings.datasets import adult
    from reticent.optim.mapping import Problem

    case = adult()
    assert set(case.profiles[:, -1]) == {"United-States"}
    bits = Problem.of(case.joint, case.distance, 0.0).untouched / np.log(2)
    assert bits == pytest.approx(0.347, abs=5e-4)
    whole = adult(None)
    assert whole.counts is not None
    assert whole.counts.sum() == 32_561
    assert Problem.of(whole.joint, whole.distance, 0.0).untouched / np.log(2) == pytest.approx(
        0.4155, abs=5e-4
    )


@pytest.mark.usefixtures("_experiments")
def test_curves_are_read_between_points() -> None:
    from experiments.mappings.results import at, reaches

    curve = [(0.0, 1.0), (0.2, 0.5), (0.4, 0.0)]
    assert at(curve, 0.1) == pytest.approx(0.75)
    assert reaches(curve, 0.25) == pytest.approx(0.3)
    assert np.isnan(reaches(curve, 2.0))
    assert np.isnan(at(curve, 0.5))


@pytest.mark.usefixtures("_experiments")
def test_a_folder_without_films_is_explained(tmp_path: Path) -> None:
    from experiments.mappings.datasets import load_films

    made, skipped = load_films(tmp_path, quick=True)
    assert made.name.startswith("made like films")
    assert "download" in skipped[0]
