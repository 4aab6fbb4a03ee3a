"""Similarity on the command line: what it says, writes, refuses and hides."""

import csv
import io
import json
import shlex
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import reticent as rt
from reticent.amounts import show_nano
from reticent.cli import plan
from reticent.data.interactions import read_profiles
from reticent.errors import CardError
from reticent.guarantees import ITEM_SUBSTITUTE, PerItemDP, Spread, Unit
from reticent.guarantees.card import Card
from reticent.noise import Source
from reticent.queries.card_checks import KNOWN, recomputed
from reticent.queries.neighbour_methods import Direct
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Gossip
from reticent.tasks.mapping_search import MappingSearch
from reticent.tasks.similarity import Similarity

CANARY = "canary-9183"
PEOPLE = ["ann", "bob", "cid", "dee", "eve", "fay"]
ITEMS = ["Heat", "Alien", "Up", "Ran", "M", "Diva", CANARY]


@pytest.fixture
def table(tmp_path):
    """Everybody has every second item, and the canary is withheld."""
    lines = ["user,item,weight"]
    for u, person in enumerate(PEOPLE):
        lines += [f"{person},{ITEMS[i]},{1 - i / 10}" for i in range(u % 2, 6, 2)]
        lines.append(f"{person},{CANARY},0")
    path = tmp_path / "club.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


METHODS = {
    "direct": ["--epsilon", "1", "--method", "direct"],
    "sketches": ["--epsilon", "1"],
    "gossip": ["--epsilon", "1", "--method", "gossip"],
    "capped": [
        *["--epsilon", "1", "--total-epsilon", "2", "--max-contacts", "3"],
        *["--method", "gossip"],
    ],
}


# One pair


def test_a_pair(cli, table) -> None:
    ended = cli("release", "similarity", table, "--pair", "ann,bob", "--epsilon", "1", "--yes")
    assert ended.code == 0
    head, line = ended.out.splitlines()
    assert head == "person,other,similarity"
    one, other, value = line.split(",")
    assert (one, other, np.isfinite(float(value))) == ("ann", "bob", True)
    assert "can be right at most 74 times in 100" in ended.err.replace("\n", " ")
    first, second, *_ = ended.err.splitlines()
    assert first.endswith(": epsilon 1 spent by each of ann and bob at most with anyone")
    assert second == "spent epsilon 1"
    assert "Noisy cosine of ann and bob" in ended.err


def test_several_pairs_cost_each_person_their_own_peers(cli, table, tmp_path) -> None:
    (tmp_path / "pairs.csv").write_text("person,other\nann,bob\nbob,ann\nann,cid\nann,ann\n")
    words = [table, "--pairs", tmp_path / "pairs.csv", "--epsilon", "1", "--yes", "--json"]
    ended = cli("release", "similarity", *words)
    assert [(one["person"], one["other"]) for one in ended.json["value"]] == [
        ("ann", "bob"),
        ("ann", "cid"),
    ]
    card = Card.from_json(json.dumps(ended.json["card"]))
    assert recomputed(card) == []
    assert card.release_event().loss.overall == 1_750_000_000  # one size and two overlaps
    held = cli("ledger", "show", "--json").json["accounts"]
    spent = {one["subject"]: one["spent_nano"] for one in held}
    assert spent == {"ann": 1_750_000_000, "bob": 10**9, "cid": 10**9}


@pytest.mark.parametrize("words", [["release", "neighbours"], ["release", "similarity"]])
def test_preferences_that_are_not_applied_are_named(cli, table, monkeypatch, words) -> None:
    monkeypatch.chdir(table.parent)
    pair = ["--pair", "ann,bob"] if "similarity" in words else []
    typed = [*words, "club.csv", *pair, "--epsilon", "1"]
    assert "preferences.toml" not in cli(*typed, "--dry-run").err
    (table.parent / "preferences.toml").write_text(CANARY, encoding="utf-8")
    said = "caution: preferences.toml is not applied here; "
    for how in ("--dry-run", "--yes"):
        ended = cli(*typed, how)
        assert f'{said}weights come from the column "weight" of club.csv' in ended.err
        assert (ended.code, CANARY in ended.err) == (0, False)
    assert 'from the column "w" of' in cli(*typed, "--columns", "weight=w", "--dry-run").err


def test_a_pair_as_json(cli, table) -> None:
    options = ["--epsilon", "0.5", "--measure", "overlap", "--yes", "--json"]
    ended = cli("release", "similarity", table, "--pair", "ann,bob", *options)
    assert (ended.code, ended.err) == (0, "")
    told = ended.json
    assert (told["schema"], told["query"]["pair"]) == ("answer/1", ["ann", "bob"])
    assert (told["spent"], told["card"]["words"]["right_at_most"]) == ("0.5", "63")
    assert isinstance(told["value"], float)
    card = Card.from_json(json.dumps(told["card"]))
    assert card.problems() == []
    assert recomputed(card) == []
    assert card.release_event().loss == PerItemDP(Spread(500_000_000))
    assert card.release_event().private


def test_the_mean_of_many_pairs_is_the_overlap(table) -> None:
    profiles = read_profiles(table).only([0, 2])
    similarity = Similarity(epsilon=10, measure="overlap", norms="none")
    draws = [similarity.release(profiles, Source.system()).value for _ in range(2000)]
    assert abs(np.mean(draws) - (1 + 0.8 + 0.6)) < 0.03  # Heat, Up, M; five standard errors


def test_a_pair_reads_the_two_people_asked_for(table) -> None:
    profiles = read_profiles(table)
    similarity = rt.Similarity(epsilon=1, pair=("dee", "ann"))
    value = similarity.release(table, source=Source.seeded(4)).value
    pair = profiles.only([0, 3])  # ann and dee, in the order of names
    assert value == Similarity(epsilon=1).release(pair, Source.seeded(4)).value


@pytest.mark.parametrize("names", [("ann", "zoe"), ("zoe", "ann"), ("Ann", "bob"), ("ann", "")])
def test_a_person_who_is_not_there_is_wrong_usage(cli, table, names) -> None:
    words = [table, "--pair", ",".join(names), "--epsilon", "1", "--yes"]
    ended = cli("release", "similarity", *words)
    assert (ended.code, ended.out) == (2, "")
    assert "error: --pair must be " in ended.err


def test_a_person_and_herself(cli, table) -> None:
    ended = cli("release", "similarity", table, "--pair", "ann,ann", "--epsilon", "1", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "two different people" in ended.err


# Spending


@pytest.mark.parametrize(
    "words",
    [
        ["release", "similarity", "{}", "--pair", "ann,bob", "--epsilon", "1"],
        ["release", "neighbours", "{}", "--epsilon", "1", "--k", "2"],
    ],
    ids=lambda words: words[0],
)
def test_nothing_is_spent_without_yes_and_the_next_command_works(cli, table, words) -> None:
    odd = table.rename(table.with_name("film club.csv"))
    ended = cli(*(word.replace("{}", str(odd)) for word in words))
    assert (ended.code, ended.out) == (2, "")
    spelled = following(ended)
    assert spelled[-1] == "--yes"
    assert cli(*spelled).code == 0


def following(ended) -> list[str]:
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    return shlex.split(line.partition("next: reticent ")[2])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("words", [["release", "neighbours"]])
def test_a_dry_run_reads_nothing(cli, tmp_path, method, words) -> None:
    ended = cli(*words, tmp_path / "none.csv", *METHODS[method], "--dry-run")
    assert ended.code == 0
    assert "right at most, of 100" in ended.out
    assert "nothing private was read" in ended.err
    assert ("this is for two" in ended.err) is (method != "sketches")


def test_a_dry_run_of_a_pair(cli, tmp_path) -> None:
    words = ["release", "similarity", tmp_path / "none.csv", "--pair", "ann,bob", "--epsilon", "2"]
    ended = cli(*words, "--dry-run", "--json")
    assert (ended.code, ended.json["schema"]) == (0, "plan/1")
    assert ended.json["right_at_most"] == "89"
    assert list(tmp_path.iterdir()) == []


def test_a_plan_states_what_the_release_then_states(cli, table) -> None:
    for options in METHODS.values():
        told = cli("plan", "neighbours", *options, "--count", "6", "--json").json
        done = cli("release", "neighbours", table, *options, "--yes", "--json").json
        assert (told["epsilon"], told["right_at_most"]) == (
            done["card"]["promise"]["epsilon"],
            done["card"]["words"]["right_at_most"],
        )
        assert told["error"] == done["card"]["utility"]["sentence"]


def test_the_error_to_expect_does_not_look_like_a_failure(cli, table) -> None:
    ended = cli("release", "neighbours", table, "--epsilon", "1", "--dry-run")
    assert ended.out.startswith("The 10 nearest of each person")
    assert "\nerror to expect: " in ended.out
    assert "error:" not in ended.out


LITTLE = "this is little worst-case protection"


def test_little_protection_is_said_before_it_is_spent(cli, table, monkeypatch) -> None:
    words = ["release", "neighbours", table, "--method", "direct", "--epsilon"]
    planned = ["plan", "neighbours", "--method", "direct", "--count", "6", "--epsilon"]
    assert LITTLE in cli(*planned, "2").err
    assert "--method sketches" in cli(*planned, "2").err
    assert LITTLE in cli(*planned, "2", "--json").json["cautions"]
    assert LITTLE in cli(*words, "2", "--yes").err
    assert LITTLE not in cli(*planned, "0.5").err
    plain = ["release", "neighbours", table, "--epsilon"]
    assert LITTLE not in cli(*plain, "5", "--yes").err
    assert LITTLE in cli(*plain, "5.1", "--yes").err
    monkeypatch.setattr(plan, "somebody_to_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    ended = cli(*words, "2")
    asked = ended.err[: ended.err.index("Go on?")]
    assert ended.code == 3
    assert asked.index("times in 100") < asked.index(LITTLE) < asked.index("spends epsilon")
    again = following(ended)
    assert again[-1] == "--dry-run"
    assert cli(*again).code == 0


CHANCE = "ranks are mostly chance"


@pytest.mark.parametrize(
    ("options", "chance"),
    [
        (["--epsilon", "1"], False),  # 21 items of 100
        (["--epsilon", "0.5"], True),  # 83
        (["--epsilon", "1", "--profile-size", "5"], True),
        (["--epsilon", "0.05", "--method", "direct"], False),  # 27 of 100
        (["--epsilon", "0.02", "--method", "direct"], True),
        (["--epsilon", "0.02", "--method", "gossip"], True),
    ],
)
def test_noise_that_hides_ranks_is_said_from_public_numbers(cli, table, options, chance) -> None:
    told = cli("release", "neighbours", table, *options, "--dry-run", "--json").json
    assert (CHANCE in " ".join(told["cautions"])) is chance
    table.write_text("user,item\nx,y\nz,y\n", encoding="utf-8")
    other = cli("release", "neighbours", table, *options, "--dry-run", "--json").json
    assert other["cautions"] == told["cautions"]


# Lists


@pytest.mark.parametrize("method", METHODS)
def test_fewer_others_than_asked_for(cli, table, method) -> None:
    words = [*METHODS[method], "--k", "9"]
    assert (
        "The 5 nearest of each person" in cli("release", "neighbours", table, *words, "--yes").err
    )
    ended = cli("plan", "neighbours", *words, "--count", "6")
    assert ended.out.startswith("The 5 nearest of each person")


def test_scores_have_six_digits(cli, table) -> None:
    told = cli("release", "neighbours", table, *METHODS["direct"], "--yes", "--json").json
    scores = [entry["score"] for entries in told["value"].values() for entry in entries]
    assert scores == [float(f"{score:.6g}") for score in scores]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_lists_in_every_form(cli, table, tmp_path, method, form) -> None:
    out = tmp_path / f"lists.{form}"
    ended = cli("release", "neighbours", table, "--k", "2", *METHODS[method], "--yes", "--out", out)
    folder = form == "parquet"
    assert (ended.code, ended.out) == (0, f"6 people: {out}\n" if folder else f"{out}\n")
    rows = rows_of(out)
    assert set(rows[0]) == {"person", "rank", "peer", "score"}
    assert {row["person"] for row in rows} <= set(PEOPLE)
    assert all(row["peer"] in PEOPLE and row["peer"] != row["person"] for row in rows)
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert left == ([".lists.parquet.receipt"] if folder else [])


def rows_of(path):
    if path.suffix == ".csv":
        return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    if path.suffix == ".json":
        lists = json.loads(path.read_text(encoding="utf-8"))["value"]
        return [{"person": who, **entry} for who, entries in lists.items() for entry in entries]
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def test_lists_on_stdout_are_csv_and_nothing_else(cli, table) -> None:
    ended = cli("release", "neighbours", table, "--k", "2", "--epsilon", "1", "--yes")
    rows = list(csv.DictReader(ended.out.splitlines()))
    assert [row["person"] for row in rows] == [person for person in PEOPLE for _ in range(2)]
    assert "Guarantee card" in ended.err


def test_more_neighbours_than_people(cli, table) -> None:
    for options in METHODS.values():
        told = cli("release", "neighbours", table, "--k", "50", *options, "--yes", "--json").json
        assert set(told["value"]) == set(PEOPLE)
        assert all(len(entries) <= 5 for entries in told["value"].values())


def test_what_lists_lose_is_said_by_who_looks(cli) -> None:
    def losses(method: str) -> dict:
        words = [*METHODS[method], "--count", "6", "--json"]
        return cli("plan", "neighbours", *words).json["losses"]

    assert losses("direct") == {
        "one_other_person": "1",
        "all_others_together": "4",  # 1/4 + 5 * 3/4
        "reader_of_all_lists": "7.75",  # 1/4 + 10 * 3/4
    }
    assert losses("sketches") == {"anyone": "1"}
    assert set(losses("capped").values()) == {"2"}
    assert set(losses("gossip").values()) == {"4"}  # whom one meets depends on what others saw


def test_each_direct_list_has_noise_of_its_own(table) -> None:
    """Why a reader of all lists is counted twice: (a, b) and (b, a) are two draws."""
    way = Direct(Similarity(epsilon=1, measure="overlap", norms="none"), 5)
    profiles = read_profiles(table)
    found = way.find(profiles, Source.system(), lambda done, of: None, None)
    scores = np.zeros((6, 6))
    for person in range(6):
        scores[person, found.peers[person]] = found.scores[person]
    assert (np.abs(scores - scores.T) > 1e-6).sum() == 30


# Cards


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["json", "html", "md", "txt"])
def test_a_card_in_every_form(cli, table, tmp_path, method, form) -> None:
    path = tmp_path / f"card.{form}"
    ended = cli("release", "neighbours", table, *METHODS[method], "--yes", "--json", "--card", path)
    assert ended.json["card"] == str(path)
    text = path.read_text(encoding="utf-8")
    assert CANARY not in text + ended.out + ended.err
    assert "trusted" in text
    assert all(item not in text.split() for item in ITEMS[:3])


@pytest.mark.parametrize("method", METHODS)
def test_cards_can_be_rebuilt_from_their_event(cli, table, method) -> None:
    told = cli("release", "neighbours", table, *METHODS[method], "--yes", "--json").json
    card = Card.from_json(json.dumps(told["card"]))
    assert recomputed(card) == []
    cheaper = PerItemDP(Spread(card.release_event().loss.overall - 1))
    event = replace(card.release_event(), loss=cheaper)
    forged = card.model_copy(update={"event": event.to_dict()})
    assert "event: the loss is not that of the mechanism" in recomputed(forged)
    other = card.utility.model_copy(update={"sentence": "exact"})
    forged = card.model_copy(update={"utility": other})
    assert "utility: the error is not that of the mechanism" in recomputed(forged)


def test_the_known_names_are_those_of_the_tasks(table) -> None:
    lists = Similarity(epsilon=1).neighbours(read_profiles(table), 1, source=Source.seeded(1))
    several = Similarity(epsilon=1).pairs_event(2, private=True).mechanism
    names = {Similarity.name, several, lists.event.mechanism, Gossip.name, Blip.name}
    names.add(MappingSearch.name)
    assert set(KNOWN) == names


def test_a_card_of_another_mechanism_does_not_hold(cli, table) -> None:
    told = cli("release", "neighbours", table, "--epsilon", "1", "--yes", "--json").json
    card = Card.from_json(json.dumps(told["card"]))
    for other in ("discrete-laplace", "mapping-search", "something else"):
        event = card.event | {"mechanism": other}
        with pytest.raises(CardError):
            recomputed(card.model_copy(update={"event": event}))


@pytest.mark.parametrize(
    "words",
    [
        ["release", "similarity", "{}", "--pair", "ann,bob"],
        ["release", "neighbours", "{}", "--method", "direct"],
        ["release", "neighbours", "{}", "--method", "gossip"],
    ],
    ids=" ".join,
)
def test_exact_sizes_are_named_as_unprotected(cli, table, words) -> None:
    words = [word.replace("{}", str(table)) for word in words]
    scopes = [
        cli(*words, "--epsilon", "1", "--norms", norms, "--yes", "--json").json["card"]["scope"]
        for norms in ("public", "private")
    ]
    exact, noisy = (" ".join(scope["not_against"]) for scope in scopes)
    assert "not protected" in exact
    assert "a small weight does not lessen that" in exact
    assert "beyond what exact sizes tell" in scopes[0]["observer"]
    assert "given how many" in scopes[0]["protected"]
    assert "by its weight" in scopes[1]["protected"]
    assert "small weight" not in noisy
    assert "not protected" not in noisy


def test_with_exact_sizes_a_card_is_about_exchanges(cli, table) -> None:
    words = [
        "release",
        "similarity",
        table,
        "--pair",
        "ann,bob",
        "--epsilon",
        "1",
        "--norms",
        "public",
    ]
    card = Card.from_json(json.dumps(cli(*words, "--yes", "--json").json["card"]))
    assert card.release_event().loss == PerItemDP(Spread(10**9), ITEM_SUBSTITUTE)
    assert "which of two given items of the catalogue is in your profile" in card.to_json()
    assert "whether one given item" not in card.to_json()
    assert recomputed(card) == []


WRITERS = {
    "similarity": ["release", "similarity", "{}", "--pair", "ann,bob", "--epsilon", "1"],
    "sizes": [
        "release",
        "similarity",
        "{}",
        "--pair",
        "ann,bob",
        "--epsilon",
        "1",
        "--norms",
        "public",
    ],
    **{method: ["release", "neighbours", "{}", *options] for method, options in METHODS.items()},
    "gossiped sizes": ["release", "neighbours", "{}", *METHODS["capped"], "--norms", "public"],
}


@pytest.fixture(params=WRITERS)
def written(request, cli, table):
    """A card as a file, as each command writes it."""
    path = table.with_name("card.json")
    words = [word.replace("{}", str(table)) for word in WRITERS[request.param]]
    assert cli(*words, "--yes", "--card", path).code == 0
    return path


def test_card_verify_holds_for_what_was_written(cli, written) -> None:
    ended = cli("card", "verify", written)
    assert ended.code == 0, ended.out
    assert ended.out.startswith("holds")


def cheaper(card: Card) -> Card:
    event = card.release_event()
    loss = PerItemDP(Spread(event.loss.overall - 1), event.loss.unit)
    return card.model_copy(update={"event": replace(event, loss=loss).to_dict()})


def of_another_unit(card: Card) -> Card:
    event = card.release_event()
    unit = Unit("item", "add-remove" if event.loss.unit == ITEM_SUBSTITUTE else "substitute")
    loss = PerItemDP(event.loss.items, unit)
    return card.model_copy(update={"event": replace(event, loss=loss).to_dict()})


def exact(card: Card) -> Card:
    other = card.utility.model_copy(update={"sentence": "exact"})
    return card.model_copy(update={"utility": other})


def of_no_parameters(card: Card) -> Card:
    return card.model_copy(update={"event": card.event | {"parameters": {}}})


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (cheaper, "event: the loss is not that of the mechanism"),
        (of_another_unit, "event: the loss is not that of the mechanism"),
        (exact, "utility: the error is not that of the mechanism"),
        (of_no_parameters, "do not fit"),
    ],
)
def test_card_verify_catches_a_tampered_card(cli, written, tamper, problem) -> None:
    card = Card.from_json(written.read_text(encoding="utf-8"))
    written.write_text(tamper(card).to_json(), encoding="utf-8")
    ended = cli("card", "verify", written)
    assert ended.code == 1
    assert ended.out.startswith("DIFFERS")
    assert problem in ended.out


def test_who_must_be_trusted(cli, table) -> None:
    def against(*options: str) -> str:
        told = cli("release", "neighbours", table, *options, "--yes", "--json").json
        return " ".join(told["card"]["scope"]["not_against"])

    assert "they see them raw and are trusted" in against(*METHODS["direct"])
    assert "whoever makes the comparisons: a trusted party" in against(*METHODS["gossip"])


def test_the_card_of_direct_lists_speaks_of_whom_its_loss_is_about(cli, table) -> None:
    told = cli("release", "neighbours", table, *METHODS["direct"], "--yes", "--json").json
    card, people = told["card"], len(told["value"])
    losses = Direct(Similarity(epsilon=1), 1).losses(people)
    assert card["scope"]["observer"].startswith("Anyone who reads all lists")
    assert card["promise"]["epsilon"] == show_nano(losses["reader of all lists"] or 0)
    assert (
        f"to all others together {show_nano(losses['all others together'] or 0)}"
        in (card["scope"]["protected"])
    )


# Wrong usage


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--epsilon", "0"],
        ["--epsilon", "-1"],
        ["--epsilon", "nan"],
        ["--epsilon", "lots"],
        ["--epsilon", "1e9"],
        ["--epsilon", "1e-30"],
        ["--epsilon", "1", "--k", "0"],
        ["--epsilon", "1", "--measure", "overlap", "--norms", "private"],
        ["--epsilon", "1", "--norms", "none", "--method", "direct"],
        ["--epsilon", "1", "--measure", "overlap", "--norms", "private", "--method", "direct"],
        ["--epsilon", "1e-30", "--method", "direct"],
        ["--epsilon", "1e9", "--method", "direct"],
        ["--epsilon", "1", "--population", "6"],
        ["--epsilon", "1", "--measure", "sine"],
        ["--epsilon", "1", "--total-epsilon", "1"],
        ["--epsilon", "1", "--max-contacts", "1"],
        ["--epsilon", "1", "--method", "gossip", "--total-epsilon", "1"],
        ["--epsilon", "8", "--method", "gossip", "--total-epsilon", "1", "--max-contacts", "9"],
        ["--epsilon", "1", "--method", "sketches", "--measure", "overlap"],
        ["--epsilon", "1", "--method", "sketches", "--norms", "public"],
        ["--epsilon", "1", "--method", "sketches", "--profile-size", "0"],
        ["--epsilon", "1", "--seed", "1"],
        ["--epsilon", "1", "--columns", "one"],
        ["--epsilon", "1", "--columns", "who,what"],
        ["--epsilon", "1", "--out", "lists.xls"],
        ["--epsilon", "1", "--out", "none/lists.csv"],
        ["--epsilon", "1", "--card", "card.pdf"],
        ["--epsilon", "1", "--card", "club.csv"],
        ["--epsilon", "1", "--out", "club.csv"],
        ["--epsilon", "1", "--out", "x.json", "--card", "x.json"],
    ],
    ids=lambda options: " ".join(options) or "nothing",
)
def test_wrong_options(cli, table, monkeypatch, options) -> None:
    monkeypatch.chdir(table.parent)
    before = table.read_bytes()
    ended = cli("release", "neighbours", "club.csv", *options, "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert CANARY not in ended.err
    assert table.read_bytes() == before
    assert [path.name for path in table.parent.iterdir()] == ["club.csv"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "--epsilon must be given: what an item of weight 1 may lose"),
        (["--epsilon", "lots"], "--epsilon must be a finite number, got 'lots'"),
        (["--epsilon", "1e-30"], "--epsilon must be at least 0.000000954"),
        (["--epsilon", "1e-30", "--method", "direct"], "--epsilon must be at least 0.00000000373"),
        (
            ["--epsilon", "1", "--max-contacts", "3"],
            "--max-contacts must be left out unless the method is gossip, got 3",
        ),
        (
            ["--method", "gossip", "--total-epsilon", "1"],
            "--total-epsilon must be given with max-contacts",
        ),
        (
            ["--epsilon", "8", "--method", "gossip", "--total-epsilon", "1", "--max-contacts", "9"],
            "--total-epsilon must be above what a norm costs, 2",
        ),
        (
            ["--epsilon", "1", "--norms", "public", "--weighting", "product"],
            "--norms must be left out for sketches, which estimate the cosine; direct and gossip "
            "take it, got 'public'",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(cli, table, options, sentence) -> None:
    lines = cli("release", "neighbours", table, *options, "--yes").err.splitlines()
    assert lines[0] == f"error: {sentence}"
    assert lines[-1] == "  next: reticent release neighbours --help"


@pytest.mark.parametrize(
    ("least", "options"),
    [
        ("0.000000954", []),
        ("0.00000000373", ["--method", "direct"]),
        ("0.000000000932", ["--method", "direct", "--norms", "public"]),
    ],
)
def test_the_least_epsilon_works(cli, table, least, options) -> None:
    assert cli("release", "neighbours", table, "--epsilon", least, *options, "--dry-run").code == 0
    smaller = str(Fraction(least) / 2)
    ended = cli("release", "neighbours", table, "--epsilon", smaller, *options, "--dry-run")
    assert f"epsilon must be at least {least}\n" in ended.err


def test_tables_without_people_and_directories(cli, tmp_path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("user,item\n")
    for words in (
        ["release", "neighbours", path],
        ["release", "similarity", path, "--pair", "ann,bob"],
    ):
        ended = cli(*words, "--epsilon", "1", "--yes")
        assert "films.csv has no people" in ended.err
    (tmp_path / "folder.csv").mkdir()
    for folder in (tmp_path, tmp_path / "folder.csv"):
        ended = cli("release", "neighbours", folder, "--epsilon", "1", "--yes")
        assert (ended.code, "is a directory\n" in ended.err) == (2, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{CANARY},{CANARY}\n",
        f"user,weight\n{CANARY},1\n",
        "user,item,weight\n",
        f"user,item,weight\n{CANARY},{CANARY},1\n",
        f"user,item,weight\n{CANARY},{CANARY}\n",
        f"user,item,weight\n{CANARY},{CANARY},1,1\n",
        f"user,item\n{CANARY},\x00\xff".encode("latin-1"),
    ],
    ids=["empty", "no header", "no item", "nobody", "one", "short", "long", "not text"],
)
@pytest.mark.parametrize("words", [["release", "neighbours"], ["release", "similarity"]])
def test_bad_tables_are_a_sentence_without_data(cli, tmp_path, words, text) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    names = ["--pair", "ann,bob"] if "similarity" in words else []
    ended = cli(*words, path, *names, "--epsilon", "1", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "error: " in ended.err
    assert "bad.csv" in ended.err or "--pair must be" in ended.err
    assert CANARY not in ended.err
    assert "unforeseen" not in ended.err


@pytest.mark.parametrize("weight", ["nan", "-1", "1e400", "", "much", "0", "9" * 4000])
@pytest.mark.parametrize("method", METHODS)
def test_odd_weights_give_a_sensible_result(cli, tmp_path, method, weight) -> None:
    path = tmp_path / "odd.csv"
    lines = [f"{person},{item},{weight}" for person in PEOPLE for item in ITEMS]
    path.write_text("user,item,weight\n" + "\n".join([*lines, *lines, "ann,Solaris,1"]) + "\n")
    (tmp_path / "people.txt").write_text("\n".join(PEOPLE))
    words = ["--people", tmp_path / "people.txt", "--yes", "--json"]
    ended = cli("release", "neighbours", path, *METHODS[method], *words)
    assert ended.code == 0, ended.err
    assert set(ended.json["value"]) == set(PEOPLE)
    assert "NaN" not in ended.out
    assert "Infinity" not in ended.out


def test_two_people(cli, tmp_path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("user,item\nann,Heat\nbob,Up\n")
    for options in METHODS.values():
        ended = cli("release", "neighbours", path, *options, "--yes", "--json")
        assert ended.code == 0
        assert "every item counts in full" in ended.err


def test_names_cannot_drive_the_terminal(cli, table) -> None:
    ended = cli(
        "release", "similarity", table, "--pair", "ann,\x1b[31mbob", "--epsilon", "1", "--yes"
    )
    assert ended.code == 2
    assert "\x1b" not in ended.err


def test_a_missing_extra_is_found_before_anything_is_spent(cli, table, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setattr("reticent.queries.run.answer_once", lambda *_, **__: pytest.fail("spent"))
    out = table.with_name("lists.parquet")
    ended = cli("release", "neighbours", table, "--epsilon", "1", "--yes", "--out", out)
    assert ended.code == 4
    assert "reticent[arrow]" in ended.err
    ended = cli("release", "neighbours", out, "--epsilon", "1", "--yes")
    assert ended.code == 4


def test_epsilon_is_read_exactly(cli, table) -> None:
    told = cli("release", "neighbours", table, "--epsilon", "1/3", "--yes", "--json").json
    event = Card.from_json(json.dumps(told["card"])).release_event()
    assert Fraction(event.parameters["epsilon"]) == Fraction(1, 3)
    assert event.loss.overall == 333_333_334  # rounded up
