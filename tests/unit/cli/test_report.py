"""``reticent report``: one page of what commands printed, and an exit code that tells failures."""

import json
import re

import pytest

from . import tree_people
from .test_histogram_commands import CLUB, FILMS, PREFERENCES
from .test_mapping_commands import people, written

PLAN = ("plan", "histogram", "films.csv", "--provider", "filmclub.example")
RELEASE = ("release", "histogram", "club.csv", "films.csv", "--provider", "filmclub.example")
RUNS = {
    "1-plan": (PLAN, "A planned histogram for filmclub.example"),
    "2-histogram": ((*RELEASE, "--person", "ann", "--yes"), "A release"),
    "3-neighbours": (
        ("release", "neighbours", "club.csv", "--epsilon", "1", "--yes"),
        "A release",
    ),
    "4-tree": (
        (
            *("release", "tree", "voters.csv", "--target", "votes", "--declare", "columns.toml"),
            *("--epsilon", "1", "--max-depth", "2", "--yes"),
        ),
        "A tree for votes",
    ),
    "5-attack": (("audit", "profile", "m.json", "people.csv"), "What an attacker learns about"),
    "6-percentile": (
        (
            *("release", "quantile", "pay.csv", "--upper", "100"),
            *("--epsilon", "1", "--step", "5", "--yes"),
        ),
        "A release",
    ),
    "7-compared": (
        (
            "compare",
            "percentile",
            "pay.csv",
            "--columns",
            "value=pay",
            "--upper",
            "100",
            "--public",
        ),
        "The person at 0.5 of",
    ),
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory, cli):
    """What each command printed, in a folder."""
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        (place / "out").mkdir()
        for name, text in (("films.csv", FILMS), ("club.csv", CLUB)):
            (place / name).write_text(text, encoding="utf-8")
        (place / "preferences.toml").write_text(PREFERENCES, encoding="utf-8")
        (place / "columns.toml").write_text(tree_people.DECLARED, encoding="utf-8")
        tree_people.written(place / "voters.csv", tree_people.people())
        written(place / "people.csv", people())
        written(place / "pay.csv", [(str(5 * n),) for n in range(12)], heads=("pay",))
        learn = ("release", "mapping", "people.csv", "--secret", "income", "--yes")
        assert (
            cli(
                *learn,
                "--public",
                "age,town,job",
                "--bins",
                "age=10",
                "--delta",
                "0.1",
                "--out",
                "m.json",
            ).code
            == 0
        )
        for name, (words, _) in RUNS.items():
            ended = cli(*words, "--json")
            assert ended.code == 0, (name, ended.err)
            (place / "out" / f"{name}.json").write_text(ended.out, encoding="utf-8")
    return place / "out"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_commands_print_becomes_one_page(cli, here, printed) -> None:
    ended = cli("report", printed, "--title", "All of it")
    assert (ended.code, ended.out) == (0, "report.html\n"), ended.err
    assert "7 sections and 4 figures" in ended.err
    page = (here / "report.html").read_text(encoding="utf-8")
    titles = re.findall(r'<h2 id="part-\d+-title">([^<]*)</h2>', page)
    assert len(titles) == len(RUNS)
    for title, (_, begins) in zip(titles, RUNS.values(), strict=True):
        assert title.startswith(begins)
    assert "<h1>All of it</h1>" in page
    assert "reticent release histogram club.csv films.csv" in page  # to run it again
    assert "ledger.db" not in page
    assert page.count('class="card"') == 4


def test_the_same_runs_give_the_same_bytes(cli, here, printed) -> None:
    pages = []
    for _ in range(2):
        assert cli("report", printed, "--out", "page.html").code == 0
        pages.append((here / "page.html").read_bytes())
    assert pages[0] == pages[1]


def test_files_that_are_no_run_are_named(cli, here, printed) -> None:
    (here / "run.json").write_bytes((printed / "1-plan.json").read_bytes())
    (here / "notes.txt").write_text("words", encoding="utf-8")
    ended = cli("report", ".")
    assert (ended.code, ended.out) == (0, "report.html\n")
    assert "left out: notes.txt\n" in ended.err
    assert "Left out: files that are no run" in (here / "report.html").read_text("utf-8")
    for number in range(30):
        (here / f"{number}.txt").write_text("words", encoding="utf-8")
    many = cli("report", ".").err
    assert many.count("left out: ") == 21
    assert "left out: 12 files more" in many  # with the page of before


def test_the_usage_names_a_run_plainly(cli) -> None:
    told = cli("report", "--help").out
    assert "reticent report [OPTIONS] {RUN}...\n" in told  # as of all commands, and more of them
    assert "RUN..." not in told


def test_the_result_as_json(cli, printed) -> None:
    told = cli("report", printed / "1-plan.json", printed / "5-attack.json", "--json").json
    assert told == {
        "schema": "report/1",
        "file": "report.html",
        "sections": 2,
        "figures": 2,
        "failures": [],
    }


def test_a_card_that_was_changed_fails_and_the_page_says_so_first(cli, here, printed) -> None:
    held = json.loads((printed / "2-histogram.json").read_text(encoding="utf-8"))
    held["card"]["promise"]["epsilon"] = "0.01"
    (here / "run.json").write_text(json.dumps(held), encoding="utf-8")
    ended = cli("report", "run.json")
    assert ended.code == 1
    assert "does not hold" in ended.err
    page = (here / "report.html").read_text(encoding="utf-8")
    assert page.index('class="alarm"') < page.index('class="summary"')
    told = cli("report", "run.json", "--json")
    assert (told.code, len(told.json["failures"])) == (1, 1)


def test_an_attack_above_its_ceiling_fails(cli, here, printed) -> None:
    held = json.loads((printed / "5-attack.json").read_text(encoding="utf-8"))
    for row in held["attacks"]:
        row |= {"false_rates": [0, 0, 1], "true_rates": [0, 1, 1]}
    (here / "run.json").write_text(json.dumps(held), encoding="utf-8")
    ended = cli("report", "run.json")
    assert ended.code == 1
    assert "above the ceiling" in ended.err


def test_cards_of_neighbours_are_recomputed(cli, here, printed) -> None:
    held = json.loads((printed / "3-neighbours.json").read_text(encoding="utf-8"))
    held["card"]["how"]["sensitivity"] = "none at all"
    (here / "run.json").write_text(json.dumps(held), encoding="utf-8")
    assert cli("report", printed / "3-neighbours.json").code == 0
    assert cli("report", "run.json").code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nothing.json",), "there is no nothing.json"),
        ((".",), "holds no run"),
        (("words.json",), "words.json is no JSON"),
        (("token.json",), "which no report shows"),
        (("deep.json",), "is not known here"),
        (("words.json", "--out", "page.txt"), "must end in .html"),
        (("words.json", "--out", "no/page.html"), "there is no folder"),
    ],
)
def test_what_cannot_be_reported_is_refused_with_a_next_command(cli, here, words, told) -> None:
    if words != (".",):
        (here / "words.json").write_text("words", encoding="utf-8")
        (here / "token.json").write_text('{"schema": "gateway-token/1", "token": "canary"}')
        (here / "deep.json").write_text('{"schema": "deep/1", "a": {"b": 1}}')
    ended = cli("report", *words)
    assert ended.code == 2
    assert ended.out == ""
    assert told in ended.err
    assert "canary" not in ended.err
    assert "next: reticent " in ended.err
    assert not (here / "report.html").exists()
