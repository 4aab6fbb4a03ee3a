"""What the tour says in figures: errors alike, bounds rounded up, chances of the mapping."""

import numpy as np
import pytest

from reticent.cli import demo, demo_attacks, demo_census, demo_histogram
from reticent.cli.demo_attacks import Attacked
from reticent.cli.demo_club import CLUB, FILE, club
from reticent.cli.demo_tour import Tour
from reticent.ledger import open_ledger
from reticent.report.document import Picture
from reticent.tasks.histogram import plan_for


@pytest.fixture
def tour(tmp_path, census):
    with open_ledger(tmp_path / "ledger.db") as held:
        (tmp_path / "preferences.toml").write_text(FILE, encoding="utf-8")
        yield Tour(folder=tmp_path, ledger=held, fast=True)


def test_errors_of_the_plan_are_all_of_the_same_kind(tour) -> None:
    errors = {row["release"]: row["error"] for row in demo.plan(tour).fields["plan"]}
    for release in ("Similarity, each", "Histogram of genres", "Percentile of ages"):
        assert errors[release].startswith("within ")
        assert errors[release].endswith(", 95 times in 100")
    assert "on average" not in "".join(errors.values())


def test_the_histogram_shows_the_errors_of_its_card(tour) -> None:
    step = demo_histogram.histogram(tour)
    (grid,) = step.section.grids
    assert grid.heads[-1] == "within, 95 in 100 "
    plan, _ = plan_for(club()[0], tour.preferences(), CLUB)
    exact = plan.mechanism.within_95()
    shown = np.array([float(row[-1]) for row in grid.rows])
    assert (shown >= exact).all()  # rounded up
    assert shown == pytest.approx(exact, rel=1e-3)
    said = tour.cards["histogram"].words.error
    assert all(f"{end:.4g}" in said for end in (shown.min(), shown.max()))


def test_a_profile_is_told_as_kept_or_changed_with_the_chance_of_the_mapping(tour) -> None:
    held = demo_census.mapping()
    person = demo_census.rows(tour.people())[demo_census.RECORD - 1].tolist()
    place = held.profiles.tolist().index(person)
    table = zip(
        held.mechanism.channel.inputs,
        held.mechanism.outs,
        held.mechanism.channel.chances,
        strict=True,
    )
    chance = sum(float(p) for a, b, p in table if a == b == place)
    step = demo_census.profile(tour)
    assert step.fields["profile"]["kept_for_her"] == pytest.approx(chance)
    kept = step.fields["profile"]["released"] == person
    begins = "Kept this time (" if kept else "Changed"
    (line,) = (line for line in step.lines if line.startswith(("Kept", "Changed")))
    assert line.startswith(begins)
    assert (f"{100 * chance:.3g} " if chance else "never kept") in line
    assert any(line in words for words in step.section.words)


def test_both_ways_it_can_end_are_said() -> None:
    assert demo_census._luck(0.04157, kept=True) == "Kept this time (4.16 in 100 for her profile)."
    assert "is kept 4.16 times in 100" in demo_census._luck(0.04157, kept=False)
    assert "is never kept" in demo_census._luck(0.0, kept=False)


def test_a_rare_profile_is_never_kept() -> None:
    rare = np.array([["Preschool", "Married-AF-spouse", "Female"]], dtype=object)
    assert rare.tolist()[0] not in demo_census.mapping().profiles.tolist()
    assert demo_census.keeping(demo_census.mapping(), rare).tolist() == [0.0]


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.62245933, "62.3"), (0.623, "62.3"), (0.6230001, "62.4"), (0.5, "50.0"), (1.0, "100.0")],
)
def test_what_bounds_an_attack_is_rounded_up(share, shown) -> None:
    picture = Picture("", "")
    one = Attacked(
        what="", untouched=1, best=share, tried=0.5, within=0, promised=share, picture=picture
    )
    assert (one.row[2], one.row[4]) == (shown, shown)


def test_the_attack_says_that_it_asks_another_question_than_the_profile(tour) -> None:
    number = 1 + list(demo.STEPS).index("profile")
    lines = demo_attacks.attack(tour).lines
    assert any(f"Step {number} asks another question" in line for line in lines)
