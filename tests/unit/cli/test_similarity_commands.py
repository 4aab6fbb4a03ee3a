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
from reticent.cli import neighbours as command
from reticent.cli import plan
from reticent.cli import recommend as recommending
from reticent.cli.neighbour_cards import KNOWN, problems
from reticent.cli.neighbour_methods import Direct
from reticent.data.interactions import read_profiles
from reticent.guarantees import ITEM_SUBSTITUTE, PerItemDP, Spread, Unit
from reticent.guarantees.card import Card
from reticent.noise import Source
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Gossip
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
    "blip": ["--epsilon", "1"],
    "gossip": ["--epsilon", "1", "--method", "gossip"],
    "capped": [
        *["--epsilon", "1", "--total-epsilon", "2", "--max-contacts", "3"],
        *["--method", "gossip"],
    ],
}


def gateway(words) -> list[str]:
    """What ``recommend`` needs besides --yes."""
    return ["--trusted-gateway"] if "recommend" in words else []


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
    assert problems(card) == []
    assert card.release_event().loss.overall == 1_750_000_000  # one size and two overlaps
    held = cli("ledger", "show", "--json").json["accounts"]
    spent = {one["subject"]: one["spent_nano"] for one in held}
    assert spent == {"ann": 1_750_000_000, "bob": 10**9, "cid": 10**9}


@pytest.mark.parametrize("words", [["neighbours"], ["recommend"], ["release", "similarity"]])
def test_preferences_that_are_not_applied_are_named(cli, table, monkeypatch, words) -> None:
    monkeypatch.chdir(table.parent)
    pair = ["--pair", "ann,bob"] if "similarity" in words else []
    typed = [*words, "club.csv", *pair, "--epsilon", "1", *gateway(words)]
    assert "preferences.toml" not in cli(*typed, "--dry-run").err
    (table.parent / "preferences.toml").write_text(CANARY, encoding="utf-8")
    said = "caution: preferences.toml is not applied here; "
    for how in ("--dry-run", "--yes"):
        ended = cli(*typed, how)
        assert f'{said}weights come from the column "weight" of club.csv' in ended.err
        assert (ended.code, CANARY in ended.err) == (0, False)
    others = {"user,item": "every item counts in full", "user,item,w": 'from the column "w" of'}
    if "similarity" in words:
        others = {"weight=w": 'from the column "w" of'}
    for columns, weights in others.items():
        assert weights in cli(*typed, "--columns", columns, "--dry-run").err


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
    assert problems(card) == []
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
    pair = profiles.only([3, 0])  # dee and ann
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
        ["neighbours", "{}", "--epsilon", "1", "--k", "2"],
        ["recommend", "{}", "--epsilon", "1", "--trusted-gateway"],
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
@pytest.mark.parametrize("words", [["neighbours"], ["recommend"]])
def test_a_dry_run_reads_nothing(cli, tmp_path, method, words) -> None:
    ended = cli(*words, tmp_path / "none.csv", *METHODS[method], "--dry-run")
    assert ended.code == 0
    assert "right at most, of 100" in ended.out
    assert "nothing was read or released" in ended.err
    assert ("needs --people" in ended.out) is (method in ("direct", "gossip"))


def test_a_dry_run_of_a_pair(cli, tmp_path) -> None:
    words = ["release", "similarity", tmp_path / "none.csv", "--pair", "ann,bob", "--epsilon", "2"]
    ended = cli(*words, "--dry-run", "--json")
    assert (ended.code, ended.json["schema"]) == (0, "plan/1")
    assert ended.json["right_at_most"] == "89"
    assert list(tmp_path.iterdir()) == []


def test_a_plan_states_what_the_release_then_states(cli, table) -> None:
    for options in METHODS.values():
        told = cli("neighbours", table, *options, "--dry-run", "--population", "6", "--json").json
        done = cli("neighbours", table, *options, "--yes", "--json").json
        for field in ("losses", "right_at_most", "error"):
            assert told[field] == done[field]


def test_the_error_to_expect_does_not_look_like_a_failure(cli, table) -> None:
    ended = cli("neighbours", table, "--epsilon", "1", "--dry-run")
    assert ended.out.startswith("The 10 nearest of each person")
    assert "\nerror to expect: " in ended.out
    assert "error:" not in ended.out


LITTLE = "this is little worst-case protection"


@pytest.mark.parametrize("name", ["neighbours", "recommend"])
def test_little_protection_is_said_before_it_is_spent(cli, table, monkeypatch, name) -> None:
    words = [name, table, "--method", "direct", *gateway([name]), "--epsilon"]
    dry = ["--dry-run", "--population", "6"]
    assert f"{LITTLE} against all others" in cli(*words, "2", *dry).out
    assert "better: --method blip --epsilon 2" in cli(*words, "2", *dry).out
    assert LITTLE in cli(*words, "2", *dry, "--json").json["caution"]
    assert "better: --method blip --epsilon 1" in cli(*words, "6", *dry).out
    assert "better: --method blip --epsilon 2" in cli(*words, "2", "--yes").err
    assert LITTLE not in cli(*words, "1", "--yes").err  # 4 to all others together
    assert LITTLE not in cli(name, table, "--epsilon", "5", *gateway([name]), "--yes").err
    assert LITTLE in cli(name, table, "--epsilon", "5.1", *gateway([name]), "--yes").err
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
    told = cli("neighbours", table, *options, "--dry-run", "--json").json
    assert (CHANCE in told.get("caution", "")) is chance
    table.write_text("user,item\nx,y\nz,y\n", encoding="utf-8")
    other = cli("neighbours", table, *options, "--dry-run", "--json").json
    assert other.get("caution") == told.get("caution")


# Lists


@pytest.mark.parametrize("method", METHODS)
def test_fewer_others_than_asked_for(cli, table, method) -> None:
    most = "at most " if "gossip" in METHODS[method] else ""
    note = f"note: only 5 others: lists have {most}5\n"
    words = ["neighbours", table, *METHODS[method], "--k", "9"]
    assert note in cli(*words, "--yes").err
    ended = cli(*words, "--dry-run", "--population", "6")
    assert note in ended.err
    assert ended.out.startswith("The 5 nearest of each person")
    assert "note" not in cli(*words, "--k", "5", "--yes").err


def test_scores_have_six_digits(cli, table) -> None:
    told = cli("neighbours", table, *METHODS["direct"], "--yes", "--json").json
    scores = [entry["score"] for entries in told["lists"].values() for entry in entries]
    assert scores == [float(f"{score:.6g}") for score in scores]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_lists_in_every_form(cli, table, tmp_path, method, form) -> None:
    out = tmp_path / f"lists.{form}"
    ended = cli("neighbours", table, "--k", "2", *METHODS[method], "--yes", "--out", out)
    assert (ended.code, ended.out) == (0, f"{out}\n")
    rows = rows_of(out)
    assert set(rows[0]) == {"person", "rank", "peer", "score"}
    assert {row["person"] for row in rows} <= set(PEOPLE)
    assert all(row["peer"] in PEOPLE and row["peer"] != row["person"] for row in rows)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def rows_of(path):
    if path.suffix == ".csv":
        return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    if path.suffix == ".json":
        lists = json.loads(path.read_text(encoding="utf-8"))["lists"]
        return [{"person": who, **entry} for who, entries in lists.items() for entry in entries]
    from pyarrow import parquet

    return parquet.read_table(path).to_pylist()


def test_lists_on_stdout_are_csv_and_nothing_else(cli, table) -> None:
    ended = cli("neighbours", table, "--k", "2", "--epsilon", "1", "--yes")
    rows = list(csv.DictReader(ended.out.splitlines()))
    assert [row["person"] for row in rows] == [person for person in PEOPLE for _ in range(2)]
    assert "Guarantee card" in ended.err


def test_more_neighbours_than_people(cli, table) -> None:
    for options in METHODS.values():
        told = cli("neighbours", table, "--k", "50", *options, "--yes", "--json").json
        assert set(told["lists"]) == set(PEOPLE)
        assert all(len(entries) <= 5 for entries in told["lists"].values())


def test_what_lists_lose_is_said_by_who_looks(cli, table) -> None:
    told = cli("neighbours", table, *METHODS["direct"], "--yes", "--json").json
    assert told["losses"] == {
        "one_other_person": "1",
        "all_others_together": "4",  # 1/4 + 5 * 3/4
        "reader_of_all_lists": "7.75",  # 1/4 + 10 * 3/4
    }
    told = cli("neighbours", table, *METHODS["blip"], "--yes", "--json").json
    assert told["losses"] == {"anyone": "1"}
    told = cli("neighbours", table, *METHODS["capped"], "--yes", "--json").json
    assert set(told["losses"].values()) == {"2"}
    told = cli("neighbours", table, *METHODS["gossip"], "--yes", "--json").json
    assert set(told["losses"].values()) == {"4"}  # whom one meets depends on what others saw


def test_each_direct_list_has_noise_of_its_own(table) -> None:
    """Why a reader of all lists is counted twice: (a, b) and (b, a) are two draws."""
    way = Direct(Similarity(epsilon=1, measure="overlap", norms="none"), 5)
    profiles = read_profiles(table)
    found = way.find(profiles, Source.system(), lambda done, of: None)
    scores = np.zeros((6, 6))
    for person in range(6):
        scores[person, found.peers[person]] = found.scores[person]
    assert (np.abs(scores - scores.T) > 1e-6).sum() == 30


# Cards


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["json", "html", "md", "txt"])
def test_a_card_in_every_form(cli, table, tmp_path, method, form) -> None:
    path = tmp_path / f"card.{form}"
    ended = cli("neighbours", table, *METHODS[method], "--yes", "--json", "--card", path)
    assert ended.json["card"] == str(path)
    text = path.read_text(encoding="utf-8")
    assert CANARY not in text + ended.out + ended.err
    assert "trusted" in text
    assert all(item not in text.split() for item in ITEMS[:3])


@pytest.mark.parametrize("method", METHODS)
def test_cards_can_be_rebuilt_from_their_event(cli, table, method) -> None:
    told = cli("neighbours", table, *METHODS[method], "--yes", "--json").json
    card = Card.from_json(json.dumps(told["card"]))
    assert problems(card) == []
    cheaper = PerItemDP(Spread(card.release_event().loss.overall - 1))
    event = replace(card.release_event(), loss=cheaper)
    forged = card.model_copy(update={"event": event.to_dict()})
    assert "event: the loss is not that of the mechanism" in (problems(forged) or [])
    other = card.utility.model_copy(update={"sentence": "exact"})
    forged = card.model_copy(update={"utility": other})
    assert "utility: the error is not that of the mechanism" in (problems(forged) or [])


def test_the_known_names_are_those_of_the_tasks(table) -> None:
    lists = Similarity(epsilon=1).neighbours(read_profiles(table), 1, source=Source.seeded(1))
    several = Similarity(epsilon=1).pairs_event(2, private=True).mechanism
    names = {Similarity.name, several, lists.event.mechanism, Gossip.name, Blip.name}
    assert set(KNOWN) == names


def test_cards_of_other_mechanisms_are_left_to_others(cli, table) -> None:
    told = cli("neighbours", table, "--epsilon", "1", "--yes", "--json").json
    card = Card.from_json(json.dumps(told["card"]))
    event = card.event | {"mechanism": "discrete-laplace"}
    assert problems(card.model_copy(update={"event": event})) is None


@pytest.mark.parametrize(
    "words",
    [
        ["release", "similarity", "{}", "--pair", "ann,bob"],
        ["neighbours", "{}", "--method", "direct"],
        ["neighbours", "{}", "--method", "gossip"],
        ["recommend", "{}", "--method", "direct"],
    ],
    ids=" ".join,
)
def test_exact_sizes_are_named_as_unprotected(cli, table, words) -> None:
    words = [word.replace("{}", str(table)) for word in words] + gateway(words)
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
    assert problems(card) == []


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
    **{method: ["neighbours", "{}", *options] for method, options in METHODS.items()},
    "gossiped sizes": ["neighbours", "{}", *METHODS["capped"], "--norms", "public"],
    "recommend": ["recommend", "{}", "--epsilon", "1", "--trusted-gateway"],
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
        told = cli("neighbours", table, *options, "--yes", "--json").json
        return " ".join(told["card"]["scope"]["not_against"])

    assert "they see raw profiles and are trusted" in against(*METHODS["direct"])
    assert "whoever makes the comparisons: a trusted party" in against(*METHODS["gossip"])


def test_the_card_of_direct_lists_speaks_of_whom_its_loss_is_about(cli, table) -> None:
    told = cli("neighbours", table, *METHODS["direct"], "--yes", "--json").json
    card, people = told["card"], told["people"]
    losses = Direct(Similarity(epsilon=1), 1).losses(people)
    assert card["scope"]["observer"].startswith("Anyone who reads all lists")
    assert card["promise"]["epsilon"] == show_nano(losses["reader of all lists"] or 0)
    assert (
        f"to all others together {show_nano(losses['all others together'] or 0)}"
        in (card["scope"]["protected"])
    )


# Recommendations


def test_recommendations(cli, table) -> None:
    options = ["--k", "3", "--n-items", "2", "--epsilon", "100", "--yes", "--json"]
    ended = cli("recommend", table, *options, "--trusted-gateway")
    told = ended.json
    assert (ended.code, told["schema"]) == (0, "recommend/1")
    assert set(told["lists"]) == set(PEOPLE)
    owned = {person: set(ITEMS[u % 2 : 6 : 2]) for u, person in enumerate(PEOPLE)}
    for person, entries in told["lists"].items():
        assert len(entries) <= 2
        assert not {entry["item"] for entry in entries} & owned[person]
    assert CANARY not in ended.out


def test_recommendations_are_not_called_protected(cli, table) -> None:
    ended = cli("recommend", table, "--epsilon", "1", "--trusted-gateway", "--yes", "--json")
    told = ended.json
    assert told["items_protected"] is False
    assert "raw profiles" in told["warning"]
    assert "warning: the recommended items are not covered by the guarantee" in ended.err
    card = Card.from_json(json.dumps(told["card"]))
    assert card.title.startswith("Neighbours behind recommendations, not the recommendations")
    assert "not the recommendations" in card.scope.observer
    assert card.scope.not_against[0].startswith("whoever sees the recommendations")
    assert problems(card) == []


@pytest.mark.parametrize("agreed", [[], ["--yes"]], ids=["asking", "agreed"])
def test_recommendations_need_a_trusted_gateway(cli, table, monkeypatch, agreed) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(recommending, "search", lambda *_: pytest.fail("spent"))
        ended = cli("recommend", table, "--epsilon", "1", "--json", *agreed)
    assert (ended.code, ended.json["schema"]) == (2, "error/1")
    assert "--trusted-gateway" in ended.err.splitlines()[0]
    assert "not covered by the guarantee" in ended.err
    spelled = following(ended)
    assert {"--trusted-gateway", "--yes"} <= set(spelled)
    assert cli(*spelled).code == 0


def test_on_a_terminal_the_gateway_is_needed_and_the_question_stays(
    cli, table, monkeypatch
) -> None:
    monkeypatch.setattr(recommending, "somebody_to_ask", lambda: True)
    ended = cli("recommend", table, "--epsilon", "1")
    assert ended.code == 2
    assert following(ended)[-1] == "--trusted-gateway"
    assert "--yes" not in following(ended)


def test_the_help_says_that_items_are_not_covered(cli) -> None:
    told = " ".join(cli("recommend", "--help").out.split())
    assert "items are not covered by the guarantee" in told
    assert "--trusted-gateway" in told


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
        ["--epsilon", "1", "--method", "blip", "--measure", "overlap"],
        ["--epsilon", "1", "--method", "blip", "--norms", "public"],
        ["--epsilon", "1", "--method", "blip", "--profile-size", "0"],
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
@pytest.mark.parametrize("name", ["neighbours", "recommend"])
def test_wrong_options(cli, table, monkeypatch, name, options) -> None:
    monkeypatch.chdir(table.parent)
    before = table.read_bytes()
    ended = cli(name, "club.csv", *options, "--yes", *gateway([name]))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert CANARY not in ended.err
    assert table.read_bytes() == before
    assert [path.name for path in table.parent.iterdir()] == ["club.csv"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "neighbours needs --epsilon"),
        (["--epsilon", "lots"], "--epsilon must be a finite number, got 'lots'"),
        (["--epsilon", "1e-30"], "epsilon must be at least 0.000000954"),
        (["--epsilon", "1e-30", "--method", "direct"], "epsilon must be at least 0.00000000373"),
        (["--epsilon", "1", "--max-contacts", "3"], "--max-contacts is for --method gossip only"),
        (
            ["--method", "gossip", "--total-epsilon", "1"],
            "--total-epsilon needs --max-contacts",
        ),
        (
            ["--epsilon", "8", "--method", "gossip", "--total-epsilon", "1", "--max-contacts", "9"],
            "--total-epsilon must be above what a norm costs, 2",
        ),
        (
            ["--epsilon", "1", "--norms", "public", "--weighting", "product"],
            "--norms and --weighting cannot be used with --method blip",
        ),
        (["--epsilon", "1", "--population", "3"], "--population is for --dry-run only"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(cli, table, options, sentence) -> None:
    lines = cli("neighbours", table, *options, "--yes").err.splitlines()
    assert lines[0] == f"error: {sentence}"
    assert lines[-1] == "  next: reticent neighbours --help"


@pytest.mark.parametrize(
    ("least", "options"),
    [
        ("0.000000954", []),
        ("0.00000000373", ["--method", "direct"]),
        ("0.000000000932", ["--method", "direct", "--norms", "public"]),
    ],
)
def test_the_least_epsilon_works(cli, table, least, options) -> None:
    assert cli("neighbours", table, "--epsilon", least, *options, "--dry-run").code == 0
    smaller = str(Fraction(least) / 2)
    ended = cli("neighbours", table, "--epsilon", smaller, *options, "--dry-run")
    assert f"epsilon must be at least {least}\n" in ended.err


def test_tables_without_people_and_directories(cli, tmp_path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("user,item\n")
    for words in (["neighbours", path], ["release", "similarity", path, "--pair", "ann,bob"]):
        ended = cli(*words, "--epsilon", "1", "--yes")
        assert "films.csv has no people" in ended.err
    (tmp_path / "folder.csv").mkdir()
    for folder in (tmp_path, tmp_path / "folder.csv"):
        ended = cli("neighbours", folder, "--epsilon", "1", "--yes")
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
@pytest.mark.parametrize("words", [["neighbours"], ["recommend"], ["release", "similarity"]])
def test_bad_tables_are_a_sentence_without_data(cli, tmp_path, words, text) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    names = ["--pair", "ann,bob"] if "similarity" in words else []
    ended = cli(*words, path, *names, "--epsilon", "1", "--yes", *gateway(words))
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
    for name in ("neighbours", "recommend"):
        ended = cli(name, path, *METHODS[method], *words, *gateway([name]))
        assert ended.code == 0, ended.err
        assert set(ended.json["lists"]) == set(PEOPLE)
        assert "NaN" not in ended.out
        assert "Infinity" not in ended.out


def test_two_people(cli, tmp_path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("user,item\nann,Heat\nbob,Up\n")
    for options in METHODS.values():
        ended = cli("neighbours", path, *options, "--yes", "--json")
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
    monkeypatch.setattr(command, "search", lambda *_: pytest.fail("spent"))
    out = table.with_name("lists.parquet")
    ended = cli("neighbours", table, "--epsilon", "1", "--yes", "--out", out)
    assert ended.code == 4
    assert "reticent[arrow]" in ended.err
    ended = cli("neighbours", out, "--epsilon", "1", "--yes")
    assert ended.code == 4


def test_epsilon_is_read_exactly(cli, table) -> None:
    told = cli("neighbours", table, "--epsilon", "1/3", "--yes", "--json").json
    event = Card.from_json(json.dumps(told["card"])).release_event()
    assert Fraction(event.parameters["epsilon"]) == Fraction(1, 3)
    assert event.loss.overall == 333_333_334  # rounded up
