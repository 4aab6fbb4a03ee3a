"""The tour: seven steps, whole cards, a ledger whose budget is respected."""

import json

import numpy as np
import pytest

from reticent.cli import demo_steps
from reticent.cli.demo_steps import FILES, LEDGER, MECHANISMS, OWN, STEPS, Tour
from reticent.data import ADULT_CATEGORIES
from reticent.guarantees import RECORD
from reticent.guarantees.card import Card
from reticent.ledger import open_ledger
from reticent.ledger.reports import balances
from reticent.mechanisms import verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "cards"


@pytest.fixture(scope="module")
def told(cli, folder):
    return cli("demo", "--fast", "--directory", folder)


@pytest.fixture(scope="module")
def fields(cli, folder, told):
    return cli("demo", "--fast", "--json", "--directory", folder).json


def test_it_ends_well_and_talks_about_nothing_else(told) -> None:
    assert (told.code, told.err) == (0, "")


def test_the_steps_come_in_order(told) -> None:
    places = [told.out.index(f"{n}. {title}") for n, title in enumerate(STEPS, start=1)]
    assert places == sorted(places)


def test_consequences_come_before_parameters(told) -> None:
    plan = told.out[told.out.index("1. ") : told.out.index("2. ")]
    assert plan.index("right at most") < plan.index("ε")
    assert "Nothing was read and nothing was released." in plan


def test_the_plan_reads_no_data(monkeypatch) -> None:
    def forbidden():
        raise AssertionError("the plan read data")

    monkeypatch.setattr(demo_steps, "load_adult", forbidden)
    demo_steps.plan(Tour(draws=10, ledger=None))


def test_true_values_are_excused_wherever_they_stand(told) -> None:
    steps = told.out.split("\n\n")
    for part in (p for p in steps if "true" in p and "Released" in p):
        assert "because this is public sample data" in part


def test_the_attribution_is_there(told, fields) -> None:
    assert "10.24432/C5XW20, CC BY 4.0" in told.out
    assert "CC BY 4.0" in fields["data"]


def test_all_releases_are_about_one_record() -> None:
    assert {mechanism.guarantee().unit for mechanism in MECHANISMS.values()} == {RECORD}


def test_the_budget_refuses_what_is_too_much(told, fields) -> None:
    assert fields["refused"] == {"asked": "0.5", "left": "0.1", "missing": "0.4"}
    refusal = "asked for epsilon 0.5, 0.1 is left, 0.4 is missing"
    assert f"refused: budget with 'anyone': {refusal}" in told.out


def test_a_refused_release_draws_nothing(monkeypatch, ledger) -> None:
    with open_ledger(ledger) as held:
        tour = Tour(draws=10, ledger=held)
        for step in (demo_steps.education, demo_steps.occupation, demo_steps.hours):
            step(tour)
        monkeypatch.setattr(
            demo_steps.DiscreteLaplace, "release", lambda *_: pytest.fail("something was drawn")
        )
        demo_steps.refusal(tour)
        with held.reading() as connection:
            assert [one.spent for one in balances(connection)] == [900_000_000]
    assert set(tour.releases) == {"education", "occupation", "hours"}


def test_every_tour_is_in_its_own_ledger(cli, folder, told, fields, ledger) -> None:
    assert fields["ledger"] == str(folder / LEDGER)
    assert not ledger.exists()
    shown = cli("ledger", "show", "--ledger", folder / LEDGER, "--json").json["accounts"]
    assert sorted(one["spent_nano"] for one in shown) == [900_000_000] * 2 + [1_000_000_000] * 4
    assert cli("ledger", "verify", "--ledger", folder / LEDGER).code == 0
    films = Card.from_json((folder / "films.json").read_text(encoding="utf-8"))
    assert (films.budget.spent, films.budget.limit) == ("1", "2")


def test_the_released_values_are_near_the_true_ones(fields) -> None:
    assert fields["schema"] == "demo/1"
    assert list(fields["education"]) == list(ADULT_CATEGORIES["education"])
    assert abs(fields["education"]["HS-grad"] - 15_784) < 60  # exp(-30) at epsilon 0.5
    assert fields["occupation"] in ADULT_CATEGORIES["occupation"]
    assert abs(fields["hours"]["mean"] - 40.42) < 0.5


def test_the_attack_measures_less_than_the_claim(fields) -> None:
    attack = fields["attack"]
    assert not attack["violated"]
    assert 0.4 < attack["measured"] <= float(attack["claim"]) == 0.5


def test_the_cards_hold_and_add_up(folder, told) -> None:
    assert set(FILES) < {path.name for path in folder.iterdir()} <= set(OWN)
    spent = []
    for name in ("education", "occupation", "hours"):
        card = Card.from_json((folder / f"{name}.json").read_text(encoding="utf-8"))
        assert verify(card) == []
        assert card.budget is not None
        spent.append(card.budget.spent)
        assert card.title in (folder / f"{name}.html").read_text(encoding="utf-8")
        assert card.words.error in " ".join((folder / f"{name}.txt").read_text("utf-8").split())
    assert spent == ["0.5", "0.6", "0.9"]


def test_the_attack_is_on_the_card(folder, told) -> None:
    card = json.loads((folder / "education.json").read_text(encoding="utf-8"))
    assert "measured ε ≥ 0.4" in card["evidence"]["audit"]


def test_the_next_command_works(cli, folder, told) -> None:
    assert f"next: reticent card verify {folder}/*.json" in told.out
    assert cli("card", "verify", *sorted(folder.glob("*.json"))).code == 0


def test_what_is_not_its_own_is_left_alone(cli, tmp_path) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    ended = cli("demo", "--fast", "--directory", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "holds other files" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]
    assert cli("demo", "--fast", "--directory", tmp_path / "diary.txt").code == 2


def test_a_refuted_promise_is_an_exit_code(cli, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(demo_steps, "_noisy", lambda count, n: np.full(n, count))  # no noise
    ended = cli("demo", "--fast", "--directory", tmp_path / "cards")
    assert ended.code == 1
    assert "REFUTED" in ended.out
