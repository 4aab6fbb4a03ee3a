"""The tour: all kinds of release, charged and on cards; a refusal; attacks under their ceilings."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from reticent.cli import demo, demo_attacks, demo_census, demo_histogram, demo_tour
from reticent.cli.demo_club import ADS, ANN, BOB, CLEO, CLUB, FILE, HIDDEN, club
from reticent.cli.demo_tour import LEDGER, NO_DAY, REPORT, RUNS, Tour
from reticent.errors import ParameterError
from reticent.guarantees.card import Card
from reticent.ledger import open_ledger
from reticent.ledger.reports import balances
from reticent.mechanisms import Stretching, verify
from reticent.preferences import Preferences

SEED = 7
KINDS = {
    "similarity-bob": "stretching",
    "similarity-cleo": "stretching",
    "histogram": "multi-level",
    "profile": "profile-mapping",
    "influencers": "top-dampened",
    "percentile": "exponential",
    "tree": "tree",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "tour"


@pytest.fixture(scope="module")
def told(cli, folder, census):
    return cli("demo", "--fast", "--directory", folder)


@pytest.fixture(scope="module")
def fields(cli, folder, told):
    """A second tour in the same place."""
    return cli("demo", "--fast", "--json", "--directory", folder).json


@pytest.fixture(scope="module")
def seeded(cli, tmp_path_factory, census):
    place = tmp_path_factory.mktemp("seeded")
    return place, cli("demo", "--fast", "--seed", SEED, "--directory", place)


@pytest.fixture
def tour(tmp_path, census):
    with open_ledger(tmp_path / "ledger.db") as held:
        (tmp_path / "preferences.toml").write_text(FILE, encoding="utf-8")
        yield Tour(folder=tmp_path, ledger=held, fast=True)


def cards_in(folder):
    read = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return {name: Card.from_json(text) for name, text in read.items()}


def files_in(folder):
    """All but the ledger, whose entries have times and keys."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in found
        if not path.name.startswith(LEDGER)
    }


def test_it_ends_well_and_talks_about_nothing_else(told) -> None:
    assert (told.code, told.err) == (0, "")


def test_the_steps_come_in_order_and_fit_on_a_few_screens(told) -> None:
    places = [told.out.index(f"{n}. {title}") for n, title in enumerate(demo.STEPS.values(), 1)]
    assert places == sorted(places)
    lines = told.out.splitlines()
    assert len(lines) < 80
    assert max(len(line) for line in lines if "/" not in line) <= 105  # paths are the caller's


def test_consequences_come_before_parameters(told) -> None:
    plan = told.out[told.out.index("2. Plan") : told.out.index("3. ")]
    assert plan.index("right at most") < plan.index("ε")
    assert "No record was read and nothing was released." in plan


def test_the_plan_reads_no_data(monkeypatch, tour) -> None:
    for name in ("people", "source"):
        monkeypatch.setattr(demo_tour.Tour, name, lambda self: pytest.fail("data were read"))
    monkeypatch.setattr("reticent.cli.demo_graph.load_github", lambda: pytest.fail("read"))
    assert len(demo.plan(tour).fields["plan"]) == 6


def test_true_values_are_excused(told, folder) -> None:
    assert "True values are shown because all of it is public." in told.out
    assert demo_tour.PUBLIC in (folder / REPORT).read_text("utf-8")


def test_the_attributions_are_there(told, folder) -> None:
    report = (folder / REPORT).read_text("utf-8")
    for words in ("10.24432/C5XW20", "CC BY 4.0", "Rozemberczki", "MIT"):
        assert words in told.out
        assert words in report


def test_the_preferences_have_all_four_dials_and_are_shown(told, folder) -> None:
    read = Preferences.read(folder / "preferences.toml")
    assert read.weight(HIDDEN) == 0
    assert read.providers[CLUB].epsilon == 1
    assert read.grant(CLUB, attributes=["Drama"]).budgets["Drama"] == Fraction("0.1")
    assert read.hide["income"] == Fraction("0.02")
    assert all(line in told.out for line in FILE.splitlines()[1:])


def test_the_hidden_film_is_one_that_would_have_counted() -> None:
    _, seen = club()
    assert HIDDEN in set(seen[ANN]) & set(seen[BOB])


def test_all_kinds_are_released_with_cards_that_hold(cli, told, folder) -> None:
    cards = cards_in(folder)
    assert {name: card.release_event().mechanism for name, card in cards.items()} == KINDS
    for name, card in cards.items():
        assert verify(card) == []
        assert card.release_event().private
        assert card.budget is not None
        assert card.title in (folder / f"{name}.html").read_text("utf-8").replace("&#x27;", "'")
        assert card.title in (folder / f"{name}.txt").read_text("utf-8")
    assert f"next: reticent card verify {folder}/*.json" in told.out
    assert cli("card", "verify", *sorted(folder.glob("*.json"))).code == 0


def test_every_tour_is_charged_to_accounts_of_its_own(cli, fields, folder, ledger) -> None:
    assert fields["ledger"] == str(folder / LEDGER)
    assert not ledger.exists()
    shown = cli("ledger", "show", "--ledger", folder / LEDGER, "--json").json["accounts"]
    spent = {one["subject"].partition(",")[0]: one["spent_nano"] for one in shown}
    assert len(shown) == 2 * len(spent)
    assert spent == {
        "Ann": 3_000_000_000,
        "Bob": 1_000_000_000,
        "Cleo": 1_000_000_000,
        f"record {demo_census.RECORD} of Adult": 0,  # bits on average do not add
        "data set Adult": 600_000_000,
        "data set GitHub": 500_000_000,
    }
    assert cli("ledger", "verify", "--ledger", folder / LEDGER).code == 0
    budgets = {name: (c.budget.spent, c.budget.limit) for name, c in cards_in(folder).items()}
    assert budgets["similarity-bob"] == ("1", "3.5")
    assert budgets["histogram"] == ("3", "3.5")
    assert budgets["tree"] == ("0.6", "1")


def test_a_refusal_says_what_is_missing_and_what_to_do(cli, told, fields, folder) -> None:
    amounts = {"asked": "1", "left": "0.5", "missing": "0.5"}
    assert fields["refused"] == {**amounts, "not_named": ADS, "charged": "0"}
    assert "asked for epsilon 1, 0.5 is left, 0.5 is missing" in told.out
    command = next(line for line in told.out.splitlines() if "next: reticent ledger" in line)
    assert cli(*command.split()[2:]).code == 0


def test_a_refused_release_draws_and_charges_nothing(monkeypatch, tour) -> None:
    demo_histogram.histogram(tour)
    for _ in range(2):
        demo_histogram.ask(tour, tour.preferences(), CLUB)
    monkeypatch.setattr("reticent.mechanisms.MultiLevel.release", lambda *_: pytest.fail("drawn"))
    told = demo_histogram.refusal(tour)
    assert told.fields["refused"]["charged"] == "0"
    with tour.ledger.reading() as connection:
        assert [one.spent for one in balances(connection)] == [3_000_000_000]


def test_released_values_are_near_the_true_ones(fields) -> None:
    assert (fields["schema"], fields["private"]) == ("demo/1", True)
    released = fields["similarity"]["released"]
    _, seen = club()
    for name, member in (("Bob", BOB), ("Cleo", CLEO)):
        common = set(seen[ANN]) & set(seen[member]) - {HIDDEN}
        assert abs(released[name] - len(common) / 2) < 30  # exp(-30) at epsilon 1
    assert fields["influencers"]["right"] >= 8
    assert abs(fields["percentile"]["released"] - fields["percentile"]["true"]) <= 2
    assert fields["tree"]["right"] > 0.75
    assert len(fields["histogram"]["released"]) == 9


def test_the_mapping_is_what_learning_finds(census) -> None:
    learnt = demo_census.learn(census())
    held = demo_census.mapping()
    assert held.profiles.tolist() == learnt.recoding.profiles.tolist()
    assert held.mechanism.bits <= demo_census.LEAK_BITS
    assert np.allclose(held.mechanism.cover, learnt.recoding.mechanism.cover, atol=1e-3)
    assert held.mechanism.statement.distortion == pytest.approx(learnt.distortion, rel=0.02)


def test_a_mapping_that_tells_more_than_is_allowed_is_not_used(tour) -> None:
    strict = FILE.replace("leak_bits = 0.02", "leak_bits = 0.0001")
    (tour.folder / "preferences.toml").write_text(strict, encoding="utf-8")
    with pytest.raises(ParameterError):
        demo_census.profile(tour)
    with tour.ledger.reading() as connection:
        assert list(balances(connection)) == []


def test_attacks_gain_less_than_before_and_than_promised(fields) -> None:
    assert fields["refuted"] == []
    for one in fields["attacks"]:
        most = one["best"] if one["promised"] is None else one["promised"]
        assert 0.5 < one["best"] <= most + 1e-9 < one["untouched"]
        assert abs(one["tried"] - one["best"]) < 2.5 * one["within"]  # near, so a real attack


def test_bits_on_average_are_no_promise_about_picks(fields, told) -> None:
    assert [one["promised"] is None for one in fields["attacks"]] == [False, False, True]
    (line,) = (line for line in told.out.splitlines() if "income, from a profile" in line)
    assert line.endswith("0.02 bits")


def test_the_card_of_the_profile_bounds_no_one_who_knows_more(fields, folder) -> None:
    card = cards_in(folder)["profile"]
    assert "whatever" not in card.scope.observer
    assert "not who knows more" in card.scope.observer


def test_rare_profiles_count_as_changed_and_as_told(fields, census) -> None:
    """Against a count by hand over the true profiles of everybody, not those of the mapping."""
    held, people = demo_census.mapping(), census()
    own = list(zip(*(people[name] for name in demo_census.PUBLIC_COLUMNS), strict=True))
    known = {tuple(row): place for place, row in enumerate(held.profiles.tolist())}
    table = {
        (int(a), int(b)): float(chance)
        for a, b, chance in zip(
            held.mechanism.channel.inputs,
            held.mechanism.outs,
            held.mechanism.channel.chances,
            strict=True,
        )
    }
    places = [known.get(profile) for profile in own]
    kept = sum(0.0 if a is None else table.get((a, a), 0.0) for a in places) / len(own)
    assert fields["profile"]["kept"] == pytest.approx(kept, abs=1e-9)
    assert fields["profile"]["rare"] == pytest.approx(places.count(None) / len(own), abs=1e-9)
    assert kept < held.mechanism.statement.unchanged - 0.02  # what the mapping alone would say
    rich: dict[tuple[str, ...], list[int]] = {}
    for profile, income in zip(own, people["income"], strict=True):
        rich.setdefault(profile, []).append(income == ">50K")
    right = sum(max(sum(of), len(of) - sum(of)) for of in rich.values()) / len(own)
    assert fields["profile"]["guesses"]["true"] == pytest.approx(right, abs=1e-9)


def test_a_release_with_too_little_noise_is_an_exit_code(
    cli, tmp_path, monkeypatch, census
) -> None:
    """The control: the attack goes through the release itself, so it must find this."""
    honest = Stretching.release

    def quieter(self, data, source):
        return honest(replace(self, epsilon=3 * Fraction(self.epsilon)), data, source)

    monkeypatch.setattr(Stretching, "release", quieter)
    steps = {
        name: step for name, step in demo._steps().items() if name in ("preferences", "attack")
    }
    monkeypatch.setattr(demo, "_steps", lambda: steps)
    ended = cli("demo", "--fast", "--directory", tmp_path / "tour")
    assert ended.code == 1
    assert "REFUTED" in ended.out
    report = (tmp_path / "tour" / REPORT).read_text("utf-8")
    assert "a promise does not hold" in report


def test_a_mapping_that_is_not_drawn_from_is_found(tour, monkeypatch) -> None:
    """The control: profiles handed out as they are."""
    kind = type(demo_census.mapping().mechanism)
    monkeypatch.setattr(kind, "release_many", lambda self, profiles, source: profiles)
    found = demo_attacks._in_profiles(tour)
    assert found.wrong
    assert found.tried == pytest.approx(found.untouched, abs=0.01)


def test_the_report_tells_everything_in_one_file(told, folder) -> None:
    report = (folder / REPORT).read_text("utf-8")
    titles = ("Preferences", "Plan", "Similarity", "Histogram", "Profile", "Selection", "Refusal")
    for title in (*titles, "Attack", "How to run this again", "Notes"):
        assert f">{title}" in report
    assert report.count("<svg") == report.count('role="img"') >= 8
    assert "<script" not in report
    assert "http://" not in report.replace("http://www.w3.org", "")
    assert all(card.title in report.replace("&#x27;", "'") for card in cards_in(folder).values())


def test_each_step_leaves_its_run(told, folder) -> None:
    for name in demo.STEPS:
        run = json.loads((folder / RUNS / f"{name}.json").read_text("utf-8"))
        assert (run["schema"], run["step"], run["private"]) == ("demo-step/1", name, True)


@pytest.mark.pages
def test_equal_seeds_give_equal_bytes(cli, seeded, tmp_path) -> None:
    cli("demo", "--fast", "--seed", SEED, "--directory", tmp_path)
    one, other = files_in(seeded[0]), files_in(tmp_path)
    assert one == other
    assert len(one) == 3 * len(KINDS) + len(demo.STEPS) + 2


def test_a_seeded_tour_is_marked_as_not_private_everywhere(seeded) -> None:
    folder, ended = seeded
    assert ended.code == 0
    assert ended.err.startswith("not private: ")
    assert "NOT private" in (folder / REPORT).read_text("utf-8")
    for card in cards_in(folder).values():
        assert card.provenance.seeded
        assert card.provenance.made == NO_DAY.isoformat()
        assert f"--seed {SEED}" in card.provenance.command
    runs = (folder / RUNS).glob("*.json")
    assert not any(json.loads(run.read_text("utf-8"))["private"] for run in runs)


@pytest.mark.parametrize(("seeds", "distinct"), [((7, 7), 1), ((7, 8), 2), ((None, None), 2)])
def test_only_equal_seeds_draw_the_same(tour, seeds, distinct) -> None:
    tours = [Tour(folder=tour.folder, ledger=tour.ledger, seed=seed) for seed in seeds]
    asked = [demo_histogram.ask(one, one.preferences(), CLUB) for one in tours]
    drawn = [str(list(answer.value.values())) for answer in asked]
    assert len(set(drawn)) == distinct


def test_what_is_not_its_own_is_left_alone(cli, tmp_path) -> None:
    (tmp_path / "diary.txt").write_text("mine")
    ended = cli("demo", "--fast", "--directory", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "holds other files" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]
    assert cli("demo", "--fast", "--directory", tmp_path / "diary.txt").code == 2


def test_nor_is_what_lies_among_the_runs(cli, tmp_path) -> None:
    (tmp_path / RUNS).mkdir()
    (tmp_path / RUNS / "mine.json").write_text("{}")
    assert cli("demo", "--fast", "--directory", tmp_path).code == 2


@pytest.mark.processes
def test_it_needs_neither_scikit_learn_nor_a_network(tmp_path) -> None:
    code = (
        "import socket, sys; socket.socket = socket.create_connection = None; "
        "sys.modules['sklearn'] = None; from reticent.cli.main import run; run(sys.argv[1:])"
    )
    words = [sys.executable, "-c", code, "demo", "--fast", "--directory", str(tmp_path)]
    ended = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
