"""``reticent plan`` and ``reticent release histogram``."""

import csv
import json

import pyarrow.parquet as parquet
import pytest

import reticent as rt
from reticent.noise import Source

FILMS = """item,attribute
Heat,Crime
Heat,Drama
Up,Drama
Glory,Drama
Glory,War
"""
PREFERENCES = """version = 1
[items]
default = 0.5
Heat = 0
[attributes]
default = 0.1
War = "withhold"
[providers."filmclub.example"]
epsilon = 0.15
"""
CLUB = "user,item\nann,Heat\nann,Up\nbob,Glory\nbob,Unheard of\n"
PLAN = ("plan", "histogram", "films.csv", "--provider", "filmclub.example")
RELEASE = (
    *("release", "histogram", "club.csv", "films.csv"),
    *("--provider", "filmclub.example"),
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("films.csv", FILMS),
        ("preferences.toml", PREFERENCES),
        ("club.csv", CLUB),
        ("alone.csv", "user,item\nann,Heat\n"),
        ("people.txt", "ann\nbob\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_plan_says_consequences_first_and_reads_no_profile(cli) -> None:
    ended = cli(*PLAN)
    assert ended.code == 0
    first, blank, second, *_ = ended.out.splitlines()
    assert (first, blank) == ("Everybody's noisy histogram for filmclub.example", "")
    assert "right at most 54 times in 100" in second
    assert "nothing private was read" in ended.err
    for word in ("withheld", "threshold", "sharing", "certified"):
        assert word in ended.out


def test_plan_as_json(cli) -> None:
    told = json.loads(cli(*PLAN, "--json").out)
    assert told["schema"] == "plan/1"
    assert told["withheld"] == ["War"]
    assert told["allowed_epsilon"] == told["epsilon"] == "0.15"
    assert told["attributes"]["Drama"]["spent"] == "0.075"
    assert told["gap"] <= 1e-9


def test_plan_without_loss_says_so(cli, here) -> None:
    wide = PREFERENCES.replace("0.15", "0.5")
    (here / "preferences.toml").write_text(wide, encoding="utf-8")
    assert "every attribute gets its whole budget" in cli(*PLAN).out


def test_figures_are_written_and_never_over_another_file(cli, here) -> None:
    words = ("--plot", "noise.svg", "--sharing", "sharing.svg")
    assert cli(*PLAN, *words).code == 0
    assert (here / "noise.svg").read_text(encoding="utf-8").count("<svg") == 1
    assert (here / "sharing.svg").is_file()
    again = cli(*PLAN, *words)
    assert (again.code, "is there already" in again.err) == (2, True)
    assert "  next: reticent plan histogram films.csv" in again.err
    assert "--plot noise-2.svg --sharing sharing.svg" in again.err


def test_without_a_name_it_is_everybody(cli) -> None:
    ended = cli(*RELEASE, "--yes")
    assert ended.code == 0
    assert [line.split(",")[0] for line in ended.out.splitlines()] == ["person", "ann", "bob"]


def test_release_for_one_person(cli, here) -> None:
    ended = cli(*RELEASE, "--person", "ann", "--yes", "--card", "card.json")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[2:]] == ["Crime", "Drama"]
    assert "withheld: War" in cli(*RELEASE, "--dry-run").out
    assert cli("card", "verify", "card.json").code == 0


def test_release_as_json(cli) -> None:
    told = json.loads(cli(*RELEASE, "--person", "bob", "--yes", "--json").out)
    assert told["schema"] == "answer/1"
    assert list(told["value"]) == ["bob"]
    assert list(told["value"]["bob"]) == ["Crime", "Drama"]
    assert told["card"]["promise"]["epsilon"] == "0.15"


@pytest.mark.parametrize("name", ["all.csv", "all.parquet"])
def test_release_for_everybody(cli, here, name) -> None:
    ended = cli(*RELEASE, "--out", name, "--yes", "--possible", "--json")
    assert ended.code == 0
    card = json.loads(ended.out)["card"]
    assert card["scope"]["model"] == "central"
    # numbers worked on together: one attribute alone may tell as much as all
    assert card["event"]["loss"]["attributes"]["named"]["Crime"] == 150_000_000
    if name.endswith(".csv"):
        rows = list(csv.reader((here / name).read_text(encoding="utf-8").splitlines()))
        assert rows[0] == ["person", "Crime", "Drama"]
        people = [row[0] for row in rows[1:]]
        values = [float(value) for row in rows[1:] for value in row[1:]]
    else:
        table = parquet.read_table(here / name)
        people = table.column("person").to_pylist()
        values = [v for key in ("Crime", "Drama") for v in table.column(key).to_pylist()]
    assert people == ["ann", "bob"]
    assert all(-1e-9 <= value <= 3 + 1e-9 for value in values)


def test_a_table_of_one_person_needs_no_name(cli) -> None:
    words = [word.replace("club.csv", "alone.csv") for word in RELEASE]
    assert cli(*words, "--yes").code == 0


def test_a_dry_run_reads_no_profile(cli, here) -> None:
    (here / "club.csv").unlink()
    ended = cli(*RELEASE, "--person", "ann", "--dry-run")
    assert ended.code == 0
    assert "0.15" in ended.out


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (("--provider", "filmclub.exmple", "--yes"), 3, "no line names the provider"),
        (
            ("--person", "zoe", "--people", "people.txt", "--yes"),
            2,
            "--person must be one of the people who were declared",
        ),
        (("--own-device", "--out", "a.csv", "--yes"), 2, "a device is of one person"),
        (("--person", "ann", "--replace", "--yes"), 2, "--replace must be left out with weights"),
        (("--epsilon", "1", "--preferences", "preferences.toml", "--yes"), 2, "--epsilon must be"),
        (("--preferences", "none.toml"), 2, "none.toml"),
        (("--person", "ann"), 2, "--yes agrees to it"),
        (("--out", "all.txt"), 2, "must be named .csv, .json, .parquet"),
    ],
)
def test_what_goes_wrong_is_said_in_one_sentence(cli, here, change, code, says) -> None:
    ended = cli(*RELEASE, *change)
    assert (ended.code, ended.out) == (code, "")
    assert says in ended.err
    assert not list(here.glob("a*.csv.*"))


def test_a_total_that_one_release_exceeds(cli, here) -> None:
    (here / "preferences.toml").write_text(PREFERENCES + "total = 0.1\n", encoding="utf-8")
    refused = cli(*RELEASE, "--person", "ann", "--yes")
    assert refused.code == 3
    assert "asked for epsilon 0.15, 0.1 is left" in refused.err


def test_weights_of_the_table_narrow_those_of_the_preferences(here) -> None:
    """An item counts by the least of its weights; one of 0 is not there at all."""
    text = PREFERENCES.replace("default = 0.5\nHeat = 0", "default = 0.5")
    wishes, films = rt.Preferences.parse(text), here / "films.csv"
    query = rt.Histogram(provider="filmclub.example", person="ann")

    def released(**weights: float) -> dict:
        table = {"person": ["ann"] * 2, "item": ["Heat", "Up"], "weight": [*weights.values()]}
        data = {"profiles": table, "catalogue": films}
        given = {"people": ["ann"], "preferences": wishes, "source": Source.seeded(3)}
        return query.release(data, **given).value["ann"]

    assert released(heat=1, up=1) == released(heat=0.5, up=0.7)
    low, half = released(heat=0.25, up=1), released(heat=0.5, up=1)
    assert half["Crime"] - low["Crime"] == pytest.approx(0.25, abs=1e-6)
    assert released(heat=0, up=1)["Crime"] == pytest.approx(half["Crime"] - 0.5, abs=1e-6)


def test_without_preferences_one_epsilon_says_it_all(cli, here) -> None:
    (here / "preferences.toml").unlink()
    ended = cli(*RELEASE[:4], "--yes")
    assert (ended.code, "--epsilon must be given, or preferences" in ended.err) == (2, True)
    told = cli(*RELEASE[:4], "--epsilon", "1", "--yes", "--json").json
    assert told["card"]["promise"]["epsilon"] == "1"
    assert list(told["value"]["ann"]) == ["Crime", "Drama", "War"]


def test_a_table_is_held_by_somebody_unless_its_owner_says_so(cli) -> None:
    for words, model in (((), "central"), (("--own-device",), "local")):
        told = json.loads(cli(*RELEASE, "--person", "bob", "--yes", "--json", *words).out)
        assert told["card"]["scope"]["model"] == model


def test_what_is_not_kept_yet_is_said(cli, here) -> None:
    hidden = PREFERENCES + "[hide]\ngender = { leak_bits = 0.05 }\n"
    (here / "preferences.toml").write_text(hidden, encoding="utf-8")
    said = "[hide] is about profiles: nothing here limits what a histogram tells about gender"
    words = (*RELEASE, "--person", "ann")
    for told in (cli(*PLAN).err, cli(*words, "--yes").err, cli(*words, "--dry-run").err):
        assert f"caution: {said}" in told
    assert said in cli(*words, "--dry-run", "--json").json["cautions"]
    nothing = PREFERENCES.replace("default = 0.5", "default = 0")
    (here / "preferences.toml").write_text(nothing, encoding="utf-8")
    assert "every item has weight 0" in cli(*PLAN).err


def test_moved_numbers_are_not_given_the_error_of_the_noise(cli) -> None:
    dry = cli(*RELEASE, "--person", "ann", "--possible", "--dry-run")
    assert "each attribute alone tells up to epsilon 0.15" in dry.out
    shown = cli(*RELEASE, "--person", "ann", "--possible", "--yes")
    assert "before moving, 95 times in 100" in shown.out


def test_one_file_for_everybody_is_said(cli) -> None:
    ended = cli(*RELEASE, "--out", "all.csv", "--yes")
    assert "the same preferences are applied to all people of the table" in ended.err


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("default = 0.1", "Dramma = 0.1", "line 6: the catalogue has no attribute Dramma; did you"),
        ("default = 0.1", "Drama = 0", "line 6: attributes.Drama must be a positive epsilon"),
        ("[attributes]", "[atributes]", "line 5: the file has no table atributes; did you mean"),
        ("epsilon = 0.15", "epsilon = -1", 'line 9: providers."filmclub.example".epsilon must be'),
    ],
)
def test_a_wrong_preferences_file_names_line_key_and_fix(cli, here, old, new, line) -> None:
    text = PREFERENCES.replace(old, new)
    (here / "preferences.toml").write_text(text, encoding="utf-8")
    ended = cli(*PLAN)
    assert (ended.code, ended.out) == (2, "")
    assert f"preferences.toml, {line}" in ended.err
    assert "next: reticent prefs check preferences.toml --catalogue films.csv" in ended.err


def test_everything_withheld_is_refused(cli, here) -> None:
    text = PREFERENCES.replace("default = 0.1", "")
    (here / "preferences.toml").write_text(text, encoding="utf-8")
    ended = cli(*PLAN)
    assert ended.code == 3
    assert "every attribute is withheld" in ended.err


def test_an_interrupted_release_writes_nothing(cli, here) -> None:
    before = sorted(path.name for path in here.iterdir())
    cli(*RELEASE, "--person", "zoe", "--people", "people.txt", "--yes", "--card", "c.json")
    assert sorted(path.name for path in here.iterdir()) == before


def test_to_ask_for_a_person_does_not_tell_whether_they_have_a_line(cli, here) -> None:
    (here / "none.csv").write_text("user,item\nbob,Heat\n", encoding="utf-8")
    (here / "one.csv").write_text("user,item\nbob,Heat\nann,Heat\n", encoding="utf-8")
    ended = [
        cli(*RELEASE[:2], table, *RELEASE[3:], "--person", "ann", "--yes")
        for table in ("none.csv", "one.csv")
    ]
    assert [one.code for one in ended] == [0, 0]
    assert len({len(one.out.splitlines()) for one in ended}) == 1
