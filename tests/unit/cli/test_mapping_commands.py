"""``reticent release mapping``, ``reticent release profile`` and ``reticent audit profile``."""

import csv
import json
import re
import sys

import numpy as np
import pyarrow.parquet as parquet
import pytest

from reticent.data.labels import in_order
from reticent.tasks.learning import Limits, learn_mapping
from reticent.tasks.recoding import Alphabet, Recoding
from reticent.tasks.recoding_files import recoding_from_json, recoding_to_json

CANARY = "canary-9184"
BARE = ("release", "mapping", "people.csv", "--secret", "income", "--yes")
LEARN = (*BARE, "--public", "age,town,job")
RELEASE = ("release", "profile", "m.json", "people.csv")
ATTACK = ("audit", "profile", "m.json", "people.csv")


def people() -> list[list[str]]:
    """Four hundred people whose income goes with their age and job; one has a rare town."""
    rows = []
    for number in range(400):
        age, town = 20 + number % 40, ("Ulm", "Bern", "Oslo")[number % 3]
        job = ("clerk", "smith")[number // 2 % 2]
        rich = (age > 38) is (number % 5 > 0) if job == "clerk" else number % 4 == 0
        health = ("well", "ill", "so-so")[number * 7 % 11 % 3]
        rows.append([f"p{number}", str(age), town, job, "high" if rich else "low", health])
    rows[7][2] = CANARY
    return rows


def written(path, rows, heads=("user", "age", "town", "job", "income", "health")) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])


@pytest.fixture(scope="module")
def mapping(tmp_path_factory, cli) -> str:
    folder = tmp_path_factory.mktemp("mapping")
    written(folder / "people.csv", people())
    words = [word.replace("people.csv", str(folder / "people.csv")) for word in LEARN]
    ended = cli(*words, "--bins", "age=10", "--delta", "0.1", "--out", folder / "m.json")
    assert ended.code == 0, ended.err
    return (folder / "m.json").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "people.csv", people())
    return tmp_path


@pytest.fixture
def fitted(here, mapping):
    (here / "m.json").write_text(mapping, encoding="utf-8")
    return here


def test_consequences_come_first(cli, here) -> None:
    ended = cli(*LEARN, "--bins", "age=10", "--delta", "0.1", "--out", "m.json")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[:2] == [
        "Hides income in profiles of age, town, job",
        "400 people, 25 different profiles",
    ]
    assert lines[3].startswith("The best guess of income is right for ")
    for words in ("no such mapping tells less than", "proved to within", "exponential mechanism"):
        assert words in ended.out
    assert "is no differentially private release" in ended.err
    assert "--at-least 10 leaves them out" in ended.err
    assert "the bits are an average over these people" in ended.err
    recoding = recoding_from_json((here / "m.json").read_text(encoding="utf-8"))
    assert recoding.widths == {"age": 10}
    assert recoding.mechanism.statement.distortion <= 0.1


def test_a_mapping_as_json(cli) -> None:
    told = cli(*LEARN, "--bins", "age=10", "--leak", "0.02", "--json").json
    assert (told["schema"], told["query"]["kind"]) == ("answer/1", "mapping")
    found, stated = told["value"]["found"], told["value"]["mapping"]["statement"]
    assert found["least_bits"] <= stated["bits"] <= 0.02
    assert stated["bits"] <= found["untouched"]
    nothing, released = stated["guesses"]
    assert nothing <= released <= found["guessed"]
    assert (found["certified"], found["finished"]) == (True, True)
    assert stated["sample"]["held_out"] is None
    assert told["card"]["promise"]["kind"] == "unprotected"


def test_each_secret_may_have_its_own_limit(cli) -> None:
    words = [word.replace("income", "income,health") for word in LEARN]
    limit = ("--bins", "age=20", "--leak", "health=0.02,income=0.03")
    told = cli(*words, *limit, "--out", "m.json", "--json").json
    assert told["query"]["secret"] == ["income", "health"]
    dry = cli(*RELEASE, "--dry-run", "--json").json
    assert dry["bits"]["income"] <= 0.03
    assert dry["bits"]["health"] <= 0.02


def test_a_leak_of_0_tells_nothing(cli) -> None:
    told = cli(*LEARN, "--bins", "age=10", "--leak", "0", "--json").json
    assert told["value"]["mapping"]["statement"]["bits"] < 1e-6


def test_a_floor_bounds_the_worst_case(cli, here) -> None:
    words = ("--bins", "age=20", "--delta", "0.1", "--epsilon", "5", "--out", "m.json")
    ended = cli(*LEARN, *words)
    assert "in the worst case" in ended.out
    assert "no such mapping" not in ended.out
    recoding = recoding_from_json((here / "m.json").read_text(encoding="utf-8"))
    assert recoding.worst_case_epsilon() <= 5 + 1e-6


def test_people_held_out_are_not_learnt_from(cli) -> None:
    words = ("--bins", "age=10", "--delta", "0.1", "--held-out", "0.25")
    told = cli(*LEARN, *words, "--json").json["value"]["mapping"]["statement"]
    assert told["sample"]["people"] == 300
    held = told["sample"]["held_out"]
    assert held["people"] + held["left_out"] == 100
    ended = cli(*LEARN, *words)
    assert "100 people held out" in ended.out
    assert "people of their population" in ended.out
    assert held["bits"] <= held["at_most"]
    assert (held["bits"] > 1.01 * told["bits"]) is (
        "people held out are told about more" in ended.err
    )


def test_people_held_out_who_are_told_about_more_are_said(cli, monkeypatch) -> None:
    monkeypatch.setattr(
        "reticent.tasks.held_out.leak_limit", lambda channel, counts, **aimed: (0.8, 0.9)
    )
    words = ("--bins", "age=10", "--delta", "0.1", "--held-out", "0.25", "--out", "m.json")
    ended = cli(*LEARN, *words)
    assert "0.8 released" in ended.out
    assert "at most 0.9 with 95 % confidence" in ended.out
    assert "people held out are told about more (0.8 bits" in ended.err


def test_rare_profiles_can_be_left_out_of_the_file(cli, here) -> None:
    ended = cli(*LEARN, "--bins", "age=10", "--delta", "0.1", "--at-least", "10", "--out", "m.json")
    assert "leaves them out" not in ended.err
    assert CANARY not in (here / "m.json").read_text(encoding="utf-8")
    assert "by rare profiles" in ended.out


def test_heavy_columns_change_less(cli) -> None:
    told = cli(
        *(*LEARN, "--bins", "age=10", "--weights", "job=20", "--delta", "0.02"),
        "--json",
    ).json["value"]["mapping"]
    assert told["statement"]["distortion"] <= 0.02 + 1e-9
    assert told["measure"]["weights"] == [1, 1, 20]


def test_too_few_people_per_profile_are_said(cli, here) -> None:
    rows = [[*row[:1], str(n // 2 * 7 % 400), *row[2:]] for n, row in enumerate(people())]
    written(here / "people.csv", rows)
    ended = cli(*LEARN, "--delta", "0.1", "--out", "m.json")
    assert "make nearly every profile unique: age (200)" in ended.err
    assert "too few people per profile (1 on average)" in ended.err


def test_crowded_profiles_are_not_called_unique_or_few(cli, here) -> None:
    rows = [[*row[:1], str(n % 60), "Ulm", *row[3:]] for n, row in enumerate(3 * people())]
    written(here / "people.csv", [[f"p{n}", *row[1:]] for n, row in enumerate(rows)])
    ended = cli(*LEARN, "--bins", "age=30", "--delta", "0.1", "--out", "m.json")
    assert ended.code == 0, ended.err
    assert "unique" not in ended.err
    assert "too few people" not in ended.err


def test_a_secret_of_many_values_is_named_as_the_cause(cli, here) -> None:
    rows = [[*row[:4], str(n * 37 % 101 % 50), row[5]] for n, row in enumerate(people())]
    written(here / "people.csv", rows)
    ended = cli(
        *LEARN, "--public", "job,town", "--at-least", "2", "--delta", "0.1", "--out", "m.json"
    )
    assert ", 50 values of income" in ended.out.splitlines()[1]
    assert "income has 50 values: too few people have each of them" in ended.err
    assert "too few people per profile" not in ended.err


def test_who_people_are_is_no_part_of_a_profile(cli, here) -> None:
    words = (*BARE, "--bins", "age=20", "--delta", "0.1", "--json")
    columns = ["age", "town", "job", "health"]
    assert cli(*words).json["value"]["mapping"]["columns"] == columns
    heads = ("name", "age", "town", "job", "income", "health")
    written(here / "people.csv", people(), heads=heads)
    refused = cli(*words)
    assert refused.code == 2
    assert "different for every person, name" in refused.out
    named = cli(*words, "--columns", "person=NAME").json
    assert named["value"]["mapping"]["columns"] == columns


def test_a_column_called_as_a_role_is_not_lost(cli, here) -> None:
    heads = ("user", "age", "person", "job", "income", "health")
    written(here / "people.csv", people(), heads=heads)
    ended = cli(*BARE, "--delta", "0.1", "--columns", "person=user")
    assert (ended.code, ended.out) == (2, "")
    assert "'person' that is not its role" in ended.err


def test_the_mapping_and_the_store_are_for_their_owner_only(cli, here) -> None:
    ended = cli(*LEARN, "--bins", "age=10", "--delta", "0.1", "--out", "m.json")
    assert "keep m.json private: people's data shaped it, without noise" in ended.err
    assert cli(*RELEASE, "--person", "p1", "--once", "s.json", "--yes").code == 0
    for name in ("m.json", "s.json"):
        assert (here / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("limit", [("--delta", "0"), ("--leak", "5")])
def test_a_mapping_that_changes_nothing_says_that_it_hides_nothing(cli, limit) -> None:
    ended = cli(*LEARN, "--bins", "age=10", *limit, "--out", "m.json")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("HIDES NOTHING: ")
    assert f"this mapping hides nothing: {'delta' if 'delta' in limit[0] else 'the'}" in ended.err
    assert "101" not in ended.out


def test_people_without_a_secret_are_left_out(cli, here) -> None:
    rows = [[*row[:4], "" if place < 9 else row[4], row[5]] for place, row in enumerate(people())]
    written(here / "people.csv", rows)
    ended = cli(*LEARN, "--bins", "age=10", "--delta", "0.1", "--out", "m.json")
    assert "9 people without a value of the secret were left out" in ended.err


@pytest.mark.figures
def test_an_attack_draws_changes_and_columns(cli, fitted) -> None:
    figures = ("--changes", "p.svg", "--features", "f.svg")
    ended = cli(*ATTACK, *figures)
    assert ended.code == 0, ended.err
    for name in figures[1::2]:
        assert (fitted / name).read_text(encoding="utf-8").count("<svg") == 1
        assert f"figure: {name}" in ended.err
    drawn = (fitted / "p.svg").read_text(encoding="utf-8")
    assert "the commonest changes, between" in drawn


def test_a_search_that_is_stopped_says_so(cli) -> None:
    ended = cli(*LEARN, "--bins", "age=2", "--delta", "0.1", "--seconds", "0", "--out", "m.json")
    assert ended.code == 0, ended.err
    assert "note: the search was stopped: best so far, certified gap" in ended.err


def stopped_at(monkeypatch, number) -> None:
    """Somebody presses Ctrl-C at a step of the search."""
    seen = []

    def watched(seconds, progress):
        def pressed(step):
            seen.append(step)
            if len(seen) == number:
                raise KeyboardInterrupt

        return pressed

    monkeypatch.setattr("reticent.tasks.mapping_search._shares", watched)


def test_ctrl_c_gives_the_best_so_far_and_stops_every_search(cli, monkeypatch, here) -> None:
    stopped_at(monkeypatch, 10)
    ended = cli(*LEARN, "--bins", "age=10", "--leak", "0.01", "--out", "m.json")
    assert ended.code == 0, ended.err
    first = ended.out.splitlines()[0]
    assert re.match(
        r"NOT FINISHED: changes [\d.]+ % of a profile, at least [\d.]+ % is need", first
    )
    assert "note: the search was stopped: best so far" in ended.err
    assert "profiles may change more than they need to" in ended.err
    assert (here / "m.json").exists()


def test_an_unfinished_search_is_not_certified(cli, monkeypatch) -> None:
    stopped_at(monkeypatch, 10)
    told = cli(*LEARN, "--bins", "age=10", "--leak", "0.01", "--json").json["value"]
    found = told["found"]
    assert (found["finished"], found["certified"]) == (False, False)
    assert 0 < found["least_distortion"] <= told["mapping"]["statement"]["distortion"]


def test_one_profile_for_everybody_for_want_of_time_is_no_mapping(cli, monkeypatch, here) -> None:
    stopped_at(monkeypatch, 1)
    ended = cli(*LEARN, "--bins", "age=2", "--leak", "0.01", "--out", "m.json")
    assert (ended.code, ended.out) == (2, "")
    assert "releasing everybody as one and the same" in ended.err
    assert "to try again" not in ended.err  # nothing was charged, and the same would end the same
    for advice in ("--seconds", "bins", "at_least", "fewer columns"):
        assert advice in ended.err
    assert not (here / "m.json").exists()


def test_nothing_found_in_time_is_no_mapping(cli, here, monkeypatch) -> None:
    monkeypatch.setattr("reticent.optim.mapping_newton._Solver._primal", lambda self: None)
    stopped_at(monkeypatch, 1)
    ended = cli(*LEARN, "--bins", "age=2", "--delta", "0.1", "--out", "m.json")
    assert (ended.code, ended.out) == (2, "")
    assert "nothing better was found yet than the profiles themselves" in ended.err
    assert not (here / "m.json").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("--delta", "0.1", "--leak", "0.1"), "--delta must be given, or leak instead; not both"),
        ((), "--delta must be given, or leak instead; not both"),
        (("--delta", "-1"), "--delta"),
        (("--delta", "nan"), "--delta"),
        (("--delta", "inf"), "--delta"),
        (("--delta", "1.5"), "--delta must be a share, from 0 to 1"),
        (("--delta", "0.1", "--bins", "town=10"), "columns with numbers, and town has none"),
        (("--delta", "0.1", "--columns", "person=age"), "one column for two roles"),
        (("--delta", "0.1", "--public", "user,age"), "different for every person, user"),
        (("--leak", "much"), "--leak must be a finite number, or names with numbers"),
        (("--leak", "-1"), "--leak must be bits, not negative"),
        (("--leak", "health=0.1"), "--leak must be bits for each secret (income)"),
        (("--delta", "0.1", "--secret", "incme"), "has no column called 'incme'"),
        (("--delta", "0.1", "--public", "age,income"), "--public must be without the secret"),
        (("--delta", "0.1", "--public", "age,age"), "--public must be columns, each named once"),
        (("--delta", "0.1", "--bins", "age"), "--bins must be names with numbers above 0"),
        (("--delta", "0.1", "--bins", "age=0"), "--bins must be names with numbers above 0"),
        (("--delta", "0.1", "--weights", "health=2"), "--weights must be of columns of the profi"),
        (("--delta", "0.1", "--at-least", "401"), "--at-least must be less: no profile is one of"),
        (("--delta", "0.1", "--unknown", "withhold"), "--radius must be given with unknown"),
        (("--delta", "0.1", "--radius", "0.5"), "--radius must be given with unknown"),
        (
            ("--delta", "0.1", "--unknown", "refuse", "--radius", "0", "--at-least", "2"),
            "--unknown must be nearest where rare profiles",
        ),
        (("--delta", "0.1", "--held-out", "1"), "--held-out must be a share, from 0 to 0.9"),
        (("--delta", "0.1", "--total", "1"), "No such option"),
        (("--delta", "0.1", "--epsilon", "0"), "--epsilon must be positive"),
        (("--delta", "0.1", "--epsilon", "99"), "--epsilon must be positive and at most 30"),
    ],
)
def test_what_learning_refuses(cli, here, change, says) -> None:
    ended = cli(*LEARN, "--out", "m.json", *change)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert CANARY not in ended.err
    assert not (here / "m.json").exists()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "has nobody with a value of the secret"),
        ([[*row[:4], "low", row[5]] for row in people()], "one secret, the same for everybody"),
        ([[*row[:4], "", row[5]] for row in people()], "has nobody with a value of the secret"),
        ([[*row, CANARY] for row in people()], "as many fields in each line"),
    ],
    ids=["empty", "one class", "all missing", "ragged"],
)
def test_tables_that_nothing_can_be_learnt_from(cli, here, rows, says) -> None:
    written(here / "people.csv", rows)
    ended = cli(*LEARN, "--delta", "0.1", "--out", "m.json")
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert CANARY not in ended.err


def test_a_file_without_header_does_not_show_its_first_person(cli, here) -> None:
    written(here / "people.csv", people()[1:], heads=people()[7])
    ended = cli(*LEARN, "--delta", "0.1", "--out", "m.json")
    assert "has no column called 'income'" in ended.err
    assert CANARY not in ended.err


def test_perfect_privacy_of_many_profiles_offers_what_works(cli, here) -> None:
    rows = [[f"p{n}", str(n % 700), "Ulm", "clerk", ("low", "high")[n % 2], ""] for n in range(701)]
    written(here / "people.csv", rows)
    ended = cli(*LEARN, "--leak", "0", "--out", "m.json")
    assert "--leak must be above 0, as 0.001, with more than 600 profiles" in ended.err
    assert "as 0.001" in ended.err


def test_release_for_one_person(cli, fitted) -> None:
    ended = cli(*RELEASE, "--person", "p3", "--yes", "--card", "card.json")
    assert ended.code == 0, ended.err
    assert [line.split()[0] for line in ended.out.splitlines()[2:]] == ["age", "town", "job"]
    assert "bits together; --once STORE.json repeats the first" in ended.err
    verified = cli("card", "verify", "card.json", "--mapping", "m.json")
    assert verified.code == 0, verified.out
    assert "central" in (fitted / "card.json").read_text(encoding="utf-8")


def test_a_card_is_not_called_proved_without_its_mapping(cli, fitted) -> None:
    assert cli(*RELEASE, "--person", "p3", "--yes", "--card", "card.json").code == 0
    alone = cli("card", "verify", "card.json")
    assert alone.code == 1
    assert alone.out.startswith("UNKNOWN card.json")
    assert "next: reticent card verify card.json --mapping" in alone.err
    (fitted / "m.json").unlink()
    assert cli(*LEARN, "--bins", "age=10", "--delta", "0.05", "--out", "m.json").code == 0
    other = cli("card", "verify", "card.json", "--mapping", "m.json")
    assert other.code == 1
    assert "DIFFERS" in other.out
    assert "of another mapping" in other.out


def test_release_as_json(cli, fitted) -> None:
    told = cli(*RELEASE, "--person", "p3", "--own-device", "--yes", "--json").json
    assert told["schema"] == "answer/1"
    assert list(told["value"]) == ["p3"]
    assert list(told["value"]["p3"]) == ["age", "town", "job"]
    assert told["value"]["p3"]["age"] in ("20-29", "30-39", "40-49", "50-59")
    assert told["card"]["scope"]["model"] == "local"
    planned = cli("plan", "profile", "m.json", "--json").json
    assert told["card"]["promise"]["bits"] == planned["bits"]["income"]


@pytest.mark.parametrize("name", ["all.csv", "all.parquet"])
def test_release_for_everybody(cli, fitted, name) -> None:
    ended = cli(*RELEASE, "--out", name, "--yes")
    assert ended.code == 0, ended.err
    if name.endswith(".csv"):
        rows = list(csv.reader((fitted / name).read_text(encoding="utf-8").splitlines()))
        heads, count = rows[0], len(rows) - 1
    else:
        table = parquet.read_table(fitted / name)
        heads, count = table.column_names, table.num_rows
    assert (heads, count) == (["person", "age", "town", "job"], 400)  # and not the secret


def test_a_table_without_names_is_refused(cli, fitted) -> None:
    """A release is recorded for each person, and a second draw is found by their name."""
    written(fitted / "people.csv", [row[1:4] for row in people()], heads=("age", "town", "job"))
    ended = cli(*RELEASE, "--out", "all.csv", "--once", "store.json", "--yes")
    assert ended.code == 2
    assert "has no column called 'person'" in ended.err
    assert not (fitted / "store.json").exists()


def test_a_person_is_drawn_once_and_repeated_whatever_the_profile_is_now(cli, fitted) -> None:
    once = ("--once", "store.json", "--yes")
    assert cli(*RELEASE, "--out", "a.csv", *once).code == 0
    again = cli(*RELEASE, "--out", "b.csv", *once)
    assert "repeated: 400 of 400" in again.err
    assert (fitted / "a.csv").read_bytes() == (fitted / "b.csv").read_bytes()
    written(fitted / "people.csv", [[row[0], "59", "Oslo", "smith", "", ""] for row in people()])
    told = cli(*RELEASE, "--person", "p3", *once, "--json").json
    lines = (fitted / "a.csv").read_text(encoding="utf-8").splitlines()
    assert ",".join(["p3", *told["value"]["p3"].values()]) in lines
    assert lines[1:] == sorted(lines[1:], key=lambda line: in_order(line.split(",")[0]))
    assert told["notes"] == ["repeated: 1 of 1 were released before and got that answer"]


def test_somebody_new_is_drawn_and_the_others_stay(cli, fitted) -> None:
    for name in ("p1", "p2", "p1"):
        assert cli(*RELEASE, "--person", name, "--once", "s.json", "--yes").code == 0
    held = json.loads((fitted / "s.json").read_text(encoding="utf-8"))["released"]
    assert [list(by_person) for by_person in held.values()] == [["p1", "p2"]]


def test_the_same_table_for_another_column_is_another_mapping(cli, here) -> None:
    """Two columns that run in parallel have equal tables: an answer of one is none of the other."""
    lines = ["user,smoker,diet,income"]
    lines += [f"u{i},{i % 2},{i % 2},{(i // 3) % 2}" for i in range(60)]
    (here / "q.csv").write_text("\n".join(lines), encoding="utf-8")
    for column in ("smoker", "diet"):
        made = cli(
            *("release", "mapping", "q.csv", "--yes", "--secret", "income"),
            *("--delta", "0.1", "--public"),
            column,
            "--out",
            f"{column}.json",
        )
        assert made.code == 0, made.err
        asked = f"release profile {column}.json q.csv --person u1 --once s.json --yes --json"
        told = json.loads(cli(*asked.split()).out)
        assert not any("repeated" in note for note in told.get("notes", ()))
        assert list(told["value"]["u1"]) == [column]


def test_a_store_behind_a_link_stays_behind_it(cli, fitted) -> None:
    (fitted / "link.json").symlink_to(fitted / "real.json")
    first = cli(*RELEASE, "--person", "p1", "--once", "link.json", "--yes")
    assert (fitted / "link.json").is_symlink()
    again = cli(*RELEASE, "--person", "p1", "--once", "real.json", "--yes")
    assert again.out == first.out
    assert "repeated: 1 of 1" in again.err


def test_one_file_for_two_things_is_refused(cli, fitted) -> None:
    ended = cli(*RELEASE, "--person", "p1", "--once", "s.json", "--card", "s.json", "--yes")
    assert ended.code == 2
    assert "name the same file" in ended.err
    assert not (fitted / "s.json").exists()


def test_releases_that_are_no_draws_are_found(cli, fitted, monkeypatch) -> None:
    """The control: profiles as they are, where the mapping says otherwise."""
    monkeypatch.setattr(
        "reticent.mechanisms.mapping.ProfileMapping.release_many", lambda self, places, _: places
    )
    ended = cli("audit", "profile", "m.json", "people.csv", "--secret", "income")
    assert ended.code == 1
    assert "do not follow the mapping's chances" in ended.err


def test_a_mapping_of_numbers_is_refused(cli, fitted) -> None:
    points = np.arange(12.0)[:, None] // 2
    numbers = learn_mapping(
        Alphabet.of(points, np.arange(12) % 3 % 2), Limits(delta=0.5), columns=["age"]
    )
    (fitted / "n.json").write_text(recoding_to_json(numbers.recoding), encoding="utf-8")
    ended = cli("release", "profile", "n.json", "people.csv", "--person", "p1", "--yes")
    assert ended.code == 2
    assert "is a mapping of numbers" in ended.err


def test_a_secret_twice_in_the_limits_is_refused(cli) -> None:
    ended = cli(*LEARN, "--leak", "income=0.1,income=0.9", "--out", "m.json")
    assert ended.code == 2
    assert "names with numbers from 0 on, each once" in ended.err


def test_another_mapping_in_the_store_is_said(cli, fitted) -> None:
    assert cli(*RELEASE, "--person", "p1", "--once", "s.json", "--yes").code == 0
    (fitted / "m.json").unlink()
    assert cli(*LEARN, "--bins", "age=10", "--delta", "0.05", "--out", "m.json").code == 0
    ended = cli(*RELEASE, "--person", "p1", "--once", "s.json", "--yes")
    assert "were released through another mapping before" in ended.err


@pytest.mark.parametrize(
    "held",
    [
        "",
        "[]",
        '{"schema":"released-once/2"}',
        '{"schema":"released-once/2","released":{"a":[]}}',
        '{"schema":"released-once/1","released":{"SHA":{"user":{"p1":["a","b","c"]}}}}',
        '{"schema":"released-once/2","released":{"SHA":{"p1":["x"]}}}',
        '{"schema":"released-once/2","released":{"SHA":{"p1":[1,2,3]}}}',
    ],
)
def test_a_damaged_store_draws_nothing(cli, fitted, mapping, held) -> None:
    text = held.replace("SHA", recoding_from_json(mapping).fingerprint)
    (fitted / "s.json").write_text(text, encoding="utf-8")
    ended = cli(*RELEASE, "--person", "p1", "--once", "s.json", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "is no store of releases, or is damaged" in ended.err
    assert (fitted / "s.json").read_text(encoding="utf-8") == text


def test_two_commands_do_not_draw_for_one_store_at_once(cli, fitted) -> None:
    (fitted / "s.json.lock").touch()
    ended = cli(*RELEASE, "--person", "p1", "--once", "s.json", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "s.json is in use" in ended.err


def test_an_answer_is_kept_before_it_is_shown(cli, fitted, monkeypatch) -> None:
    def full(path, held, *, private):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("reticent.tasks.released_store.replace_file", full)
    ended = cli(*RELEASE, "--person", "p1", "--once", "s.json", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert not list(fitted.glob("s.json*"))


def test_a_dry_run_reads_nobody(cli, fitted) -> None:
    (fitted / "people.csv").unlink()
    ended = cli(*RELEASE, "--person", "p3", "--dry-run")
    assert ended.code == 0
    assert "the best guess of income is right for" in ended.out
    assert "nothing private was read and nothing was released" in ended.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"secret":"income"', '"secret":"health"'),
        ('"unknown":"nearest"', '"unknown":"refuse"'),
        ('"columns":["age"', '"columns":["health"'),
        ('"clerk"', '"smyth"'),
        ('"widths":{"age":10.0}', '"widths":{}'),
        ('"parts":["', '"parts":["1'),
        ('"schema":"profile-mapping/2"', '"schema":"other/1"'),
        ('{"schema"', '"schema"'),
        ('"starts":', '"begins":'),
    ],
)
def test_a_tampered_mapping_is_refused(cli, fitted, mapping, old, new) -> None:
    whole = json.dumps(json.loads(mapping), separators=(",", ":"))
    before, mark, within = whole.partition('"mapping":{')
    assert old in f"{{{within}"
    changed = f"{{{within}".replace(old, new, 1)
    (fitted / "m.json").write_text(f"{before}{mark[:-1]}{changed}", encoding="utf-8")
    for words in ((*RELEASE, "--person", "p1", "--yes"), (*ATTACK, "--secret", "income")):
        ended = cli(*words)
        assert (ended.code, ended.out) == (2, "")
        assert "m.json is no mapping that can be used" in ended.err
        assert "  next: reticent release mapping" in ended.err


def wishes(folder, *hide) -> None:
    lines = "\n".join(f"{name} = {{ leak_bits = {bits} }}" for name, bits in hide)
    text = f'version = 1\n[providers."club"]\nepsilon = 1\n[hide]\n{lines}\n'
    (folder / "preferences.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("hide", "code", "says"),
    [
        ([("income", 0.9)], 0, ""),
        ([], 0, "preferences.toml sets no limit for income"),
        ([("income", 0.0001)], 3, "refused: preferences.toml allows 0.0001 bits"),
        ([("age", 0.9)], 3, "releases that very column"),
        ([("health", 0.9)], 3, "refused: preferences.toml hides health"),
        ([("income", 0.9), ("health", 0.9)], 3, "was not made for it, and may tell all of it"),
        ([("gender", 0.9)], 3, "people.csv has no column gender"),
    ],
)
def test_preferences_are_kept(cli, fitted, hide, code, says) -> None:
    wishes(fitted, *hide)
    ended = cli(*RELEASE, "--person", "p1", "--provider", "club", "--yes")
    assert ended.code == code, ended.err
    assert says in ended.err
    assert bool(ended.out) is (code == 0)
    if code:
        assert "  next: reticent " in ended.err


@pytest.mark.parametrize("hide", [[("income", 0.005)], [("health", 0.02), ("income", 0.01)]])
def test_the_next_command_of_a_refusal_works(cli, fitted, hide) -> None:
    wishes(fitted, *hide)
    (fitted / "stricter.json").touch()
    refused = cli(*RELEASE, "--person", "p1", "--provider", "club", "--yes")
    assert refused.code == 3, refused.err
    words = refused.err.splitlines()[-1].removeprefix("  next: reticent ").split()
    limits = ",".join(f"{name}={bits}" for name, bits in hide)
    assert words[-3:] == [limits, "--out", "stricter-2.json"]
    learnt = cli(*words, "--yes")
    assert learnt.code == 0, learnt.err
    again = [word.replace("m.json", "stricter-2.json") for word in RELEASE]
    assert cli(*again, "--out", "a.csv", "--provider", "club", "--yes").code == 0


def test_only_a_provider_that_is_named_gets_a_profile(cli, fitted) -> None:
    unheard = cli(*RELEASE, "--person", "p1", "--provider", "club", "--yes")
    assert (unheard.code, unheard.out) == (2, "")
    assert "--provider must be left out without preferences" in unheard.err
    wishes(fitted, ("income", 0.9))
    nobody = cli(*RELEASE, "--person", "p1", "--yes")
    assert (nobody.code, nobody.out) == (2, "")
    assert "--provider must be given with preferences" in nobody.err
    for dry in ((), ("--dry-run",)):
        other = cli(*RELEASE, "--person", "p1", "--provider", "clubb", "--yes", *dry)
        assert (other.code, other.out) == (3, "")
        assert 'no line names the provider "clubb", so nothing is released' in other.err
    told = cli(*RELEASE, "--person", "p1", "--provider", "club", "--yes", "--json").json
    assert told["query"]["provider"] == "club"
    assert told["card"]["title"] == "Profile of p1 for club, hiding income"


@pytest.mark.parametrize("once", [(), ("--once", "s.json")])
def test_a_person_who_is_listed_twice_is_not_drawn_twice(cli, fitted, once) -> None:
    written(fitted / "people.csv", [*people(), [CANARY, *people()[0][1:]]] * 2)
    ended = cli(*RELEASE, "--out", "a.csv", *once, "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "people.csv names somebody more than once" in ended.err
    assert CANARY not in ended.err
    assert not (fitted / "a.csv").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("--person", "zoe", "--yes"), "--person must be a person of the table"),
        (("--person", "p1"), "--yes agrees to it"),
        (("--own-device", "--yes"), "--own-device must be given with a person"),
        (("--person", "p1", "--columns", "person=usr", "--yes"), "has no column called 'usr'"),
        (("--person", "p1", "--columns", "person=age", "--yes"), "one column for two roles"),
        (("--columns", "person=health", "--yes"), "names somebody more than once"),
        (("--columns", "secret=income", "--yes"), "--columns must be roles of columns"),
        (("--total", "1", "--yes"), "No such option"),
        (("--person", "p1", "--preferences", "none.toml", "--yes"), "none.toml"),
        (("--out", "a.txt", "--yes"), "must be named .csv, .json, .parquet"),
        (("--out", "a.csv", "--once", "s.txt", "--yes"), "--once must be a file named .json"),
        (("--out", "a.csv", "--once", "no/s.json", "--yes"), "its folder is missing"),
    ],
)
def test_what_release_refuses(cli, fitted, change, says) -> None:
    before = sorted(path.name for path in fitted.iterdir())
    ended = cli(*RELEASE, *change)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert CANARY not in ended.err
    assert sorted(path.name for path in fitted.iterdir()) == before


def test_a_missing_column_is_said(cli, fitted) -> None:
    rows = [[row[0], row[1], row[3]] for row in people()]
    written(fitted / "people.csv", rows, heads=("user", "age", "job"))
    ended = cli(*RELEASE, "--out", "a.csv", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "people.csv has no column called 'town'" in ended.err


@pytest.mark.parametrize("rule", ["withhold", "refuse"])
def test_unknown_profiles_follow_the_rule_of_the_mapping(cli, here, rule) -> None:
    words = ("--bins", "age=10", "--delta", "0.1", "--unknown", rule, "--radius", "0.4")
    assert cli(*LEARN, *words, "--out", "m.json").code == 0
    written(here / "people.csv", [["x", "999", CANARY, "pilot", "", ""], *people()[:3]])
    ended = cli(*RELEASE, "--out", "a.csv", "--yes", "--once", "s.json")
    assert CANARY not in ended.err
    if rule == "refuse":
        assert (ended.code, ended.out) == (2, "")
        assert "a profile too far from all that the mapping knows" in ended.err
        assert not list(here.glob("s.json*"))
    else:
        assert "withheld: 1" in ended.err
        assert (here / "a.csv").read_text(encoding="utf-8").splitlines()[-1] == "x,,,"
        shown = cli(*RELEASE, "--person", "x", "--yes", "--once", "s.json")
        assert shown.out.count("withheld") == 3


def test_attack_compares_before_and_after_with_the_best_possible(cli, fitted) -> None:
    told = cli(*ATTACK, "--json").json
    assert told["schema"] == "audit-attack/1"
    assert (told["secret"], told["value"], told["passed"]) == ("income", "low", True)
    kinds = {(attack["attacked"], attack["trained_on"]) for attack in told["attacks"]}
    raw, released = "raw profiles", "released profiles"
    assert kinds == {(raw, raw), (released, raw), (released, released)}
    assert len(told["attacks"]) == 9
    for attack in told["attacks"]:
        assert attack["low"] <= attack["auc"] <= attack["high"]


def test_attack_as_a_table_and_a_figure(cli, fitted) -> None:
    ended = cli(*ATTACK, "--secret", "income", "--value", "high", "--roc", "r.svg")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("Shown one person with income high and one without")
    assert "best possible" in ended.out
    assert re.search(
        r"The best possible attacker of released ones does it [\d.]+ times, computed exactly",
        ended.out.splitlines()[0],
    )
    assert "there are few people (200 attacked)" in ended.err
    assert "nothing was released" in ended.err
    assert (fitted / "r.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_many_people_are_not_called_few(cli, fitted) -> None:
    rows = [[f"p{n}", *row[1:]] for n, row in enumerate(4 * people())]
    written(fitted / "people.csv", rows)
    assert "there are few people" not in cli(*ATTACK).err


def test_an_attack_that_beats_the_best_possible_is_found(cli, fitted, monkeypatch) -> None:
    """The control: a release that does not draw at all must be noticed."""

    def as_they_are(self, rows, source):
        return self.profiles[self.places(rows)]

    rows = [[f"p{n}", *row[1:]] for n, row in enumerate(3 * people())]
    written(fitted / "people.csv", rows)
    monkeypatch.setattr(Recoding, "release_many", as_they_are)
    ended = cli(*ATTACK)
    assert ended.code == 1
    assert "does better than the best possible one; do not release" in ended.err


def test_another_secret_can_be_attacked_one_value_at_a_time(cli, fitted) -> None:
    many = cli(*ATTACK, "--secret", "health")
    assert (many.code, many.out) == (2, "")
    assert "health has 3 values" in many.err
    assert "--value VALUE" in many.err
    one = cli(*ATTACK, "--secret", "health", "--value", "ill")
    assert one.code == 0, one.err
    assert "was made to hide income, not health" in one.err


@pytest.mark.parametrize(
    ("rows", "words", "says"),
    [
        ([[*row[:4], "low", row[5]] for row in people()], (), "has the same income"),
        ([[*row[:4], "", row[5]] for row in people()], (), "there is nothing to infer"),
        (people()[:30], (), "too few people to attack"),
        (people(), ("--secret", "job"), "job is a column that the mapping releases"),
        (people(), ("--value", "middling"), "nobody in people.csv has that value of income"),
        (people(), ("--secret", "incme"), "names are compared letter by letter"),
        (people(), ("--roc", "r.png"), "must be named .svg"),
    ],
)
def test_what_attack_refuses(cli, fitted, rows, words, says) -> None:
    written(fitted / "people.csv", rows)
    ended = cli(*ATTACK, *words)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert CANARY not in ended.err


def test_attack_without_its_extra_says_what_to_install(cli, fitted, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    monkeypatch.delitem(sys.modules, "reticent.tasks.inference", raising=False)
    ended = cli(*ATTACK)
    assert ended.code == 4
    assert "pip install 'reticent[learn]'" in ended.err


def test_people_held_out_are_in_the_file_and_on_cards(cli, here) -> None:
    words = ("--bins", "age=10", "--delta", "0.1", "--held-out", "0.25", "--out", "m.json")
    assert cli(*LEARN, *words).code == 0
    held = json.loads((here / "m.json").read_text(encoding="utf-8"))["value"]["mapping"]
    stated = held["statement"]["sample"]
    assert stated["people"] == 300
    found = stated["held_out"]
    ended = cli(*RELEASE, "--person", "p3", "--yes", "--card", "card.json")
    assert f"of {found['people']} held out, and at most {found['at_most']}" in ended.err
    card = json.loads((here / "card.json").read_text(encoding="utf-8"))
    (said,) = [text for text in card["words"]["also"] if "other people of the same table" in text]
    assert f"at most {found['at_most']}, with 95 % confidence" in said
    assert cli("card", "verify", "card.json", "--mapping", "m.json").code == 0
    held = card["event"]["loss"]["sample"]["held_out"]
    text = (here / "card.json").read_text(encoding="utf-8")
    low = text.replace(f'"at_most": {held["at_most"]}', f'"at_most": {held["bits"]}')
    assert low != text
    (here / "low.json").write_text(low, encoding="utf-8")
    assert cli("card", "verify", "low.json", "--mapping", "m.json").code == 1


def test_without_people_held_out_nothing_is_said_of_others(cli, fitted) -> None:
    ended = cli(*RELEASE, "--person", "p3", "--yes", "--card", "card.json")
    assert "of others it may tell more" in ended.err
    also = json.loads((fitted / "card.json").read_text(encoding="utf-8"))["words"]["also"]
    assert any("how much was not measured" in text for text in also)
    assert any("are not protected" in text for text in also)


@pytest.mark.parametrize("rule", ["withhold", "refuse"])
def test_a_worst_case_does_not_go_with_withholding(cli, here, rule) -> None:
    words = ("--bins", "age=20", "--delta", "0.1", "--epsilon", "1", "--out", "m.json")
    ended = cli(*LEARN, *words, "--unknown", rule, "--radius", "0.1")
    assert (ended.code, ended.out) == (2, "")
    assert "--unknown must be nearest where epsilon is given" in ended.err
    assert not (here / "m.json").exists()


def test_who_sees_a_profile_withheld_is_on_the_card(cli, here) -> None:
    words = ("--bins", "age=10", "--delta", "0.1", "--unknown", "withhold", "--radius", "0.1")
    assert cli(*LEARN, *words, "--out", "m.json").code == 0
    cli(*RELEASE, "--person", "p3", "--yes", "--card", "card.json")
    scope = json.loads((here / "card.json").read_text(encoding="utf-8"))["scope"]
    assert any("the mapping does not know it" in text for text in scope["not_against"])
    assert cli("card", "verify", "card.json", "--mapping", "m.json").code == 0


def test_a_mapping_of_version_0_1_is_refused_with_what_to_do(cli, fitted, mapping) -> None:
    old = mapping.replace("profile-mapping/2", "profile-mapping/1")
    (fitted / "m.json").write_text(old, encoding="utf-8")
    ended = cli(*RELEASE, "--person", "p1", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "learnt again with reticent release mapping" in ended.err
    assert "delete that file and its copies" in ended.err
