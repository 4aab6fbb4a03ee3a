"""``reticent prefs`` on good files, bad files, and names that a catalogue lacks."""

import json
import re
import shlex
from importlib import resources
from pathlib import Path

import pytest

from reticent.cli import main
from reticent.errors import NothingGranted, Refused

TEXT = """\
version = 1

[items]                    # weight
default = 0.5
"The Sessions" = 0

[attributes]
default = 0.1
Drama = 0.02
Western = "withhold"

[providers."filmclub.example"]
epsilon = 0.4
total = 2.0
renews = "yearly"

[hide]
gender = { leak_bits = 0.05 }
"""
BROKEN = TEXT.replace("0.02", "0").replace("epsilon", "epsilno")
PAGE = Path(__file__).parents[3] / "docs" / "preferences.md"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "preferences.toml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "broken.toml").write_text(BROKEN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def catalogue(here):
    """A file of these names; no item has an attribute that is ``empty``."""

    def write(attributes, items=("The Sessions", "Heat"), empty=()) -> str:
        values = ["0" if name in empty else "1" for name in attributes]
        lines = [("item", *attributes), *((item, *values) for item in items)]
        (here / "films.csv").write_text("\n".join(map(",".join, lines)), encoding="utf-8")
        return "films.csv"

    return write


def test_check_of_a_good_file_is_one_line(cli, here) -> None:
    ended = cli("prefs", "check", "preferences.toml")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(
        "preferences.toml holds: 1 provider, 2 attributes, 1 item, 1 secret; fingerprint "
    )
    assert len(ended.out.splitlines()) == 1


def test_check_lists_every_problem(cli, here) -> None:
    ended = cli("prefs", "check", "broken.toml")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        "broken.toml, line 9: attributes.Drama must be a positive epsilon, got 0; to release "
        'nothing about it write Drama = "withhold"',
        'broken.toml, line 12: providers."filmclub.example" has no epsilon; add a line such as '
        "epsilon = 0.1 for one release",
        'broken.toml, line 13: providers."filmclub.example" has no key epsilno; did you mean '
        "epsilon?",
    ]
    assert ended.err == "3 to correct\n"


def test_check_as_json(cli, here) -> None:
    good = cli("prefs", "check", "preferences.toml", "--json").json
    assert (good["schema"], good["holds"], good["problems"]) == ("prefs-check/1", True, [])
    assert len(good["fingerprint"]) == 64
    ended = cli("prefs", "check", "broken.toml", "--json")
    assert (ended.code, ended.json["holds"], ended.json["fingerprint"]) == (1, False, None)
    assert [problem["line"] for problem in ended.json["problems"]] == [9, 12, 13]


def test_notes_are_talk(cli, here) -> None:
    (here / "low.toml").write_text(TEXT.replace("total = 2.0", "total = 0.2"))
    for command in ("check", "show"):
        ended = cli("prefs", command, "low.toml")
        assert ended.code == 0
        assert "note: low.toml, line 14: " in ended.err
        assert "a release that needs all of epsilon would be refused" in ended.err
        assert "note" not in ended.out
    assert len(cli("prefs", "check", "low.toml", "--json").json["notes"]) == 1


def test_check_against_a_catalogue(cli, here, catalogue) -> None:
    films = catalogue(("Drama", "Western"))
    assert cli("prefs", "check", "preferences.toml", "--catalogue", films).code == 0
    films = catalogue(("Dramas", "Western"), items=("Heat",))
    ended = cli("prefs", "check", "preferences.toml", "--catalogue", films)
    assert ended.code == 1
    assert "line 5: the catalogue has no item" in ended.out
    assert "line 9: the catalogue has no attribute Drama; did you mean Dramas?" in ended.out
    films = catalogue(("Drama", "Western"), empty=("Drama",))
    ended = cli("prefs", "check", "preferences.toml", "--catalogue", films)
    assert (ended.code, ended.out.count("\n")) == (1, 1)
    assert "line 9: no item has the attribute Drama; delete the line" in ended.out


def test_check_against_a_catalogue_in_a_file(cli, here) -> None:
    (here / "films.csv").write_text("item,Drama,Western\nThe Sessions,1,0\nHeat,0,1\n")
    (here / "empty.csv").write_text("item,Drama,Western\nThe Sesssions,0,0\nHeat,0,1\n")
    asked = ["prefs", "check", "preferences.toml", "--catalogue"]
    assert cli(*asked, "films.csv").code == 0
    ended = cli(*asked, "empty.csv")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        'preferences.toml, line 5: the catalogue has no item "The Sessions"; did you mean "The '
        'Sesssions"?',
        "preferences.toml, line 9: no item has the attribute Drama; delete the line",
    ]
    ended = cli(*asked, "none.csv")
    assert (ended.code, ended.out) == (2, "")
    assert "none.csv" in ended.err


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_file_that_cannot_be_read_is_wrong_usage(cli, here, command) -> None:
    ended = cli("prefs", command, "none.toml")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: none.toml: there is no such file; give the path of another\n"
        f"  next: reticent prefs {command} --help\n"
    )


@pytest.mark.parametrize("arguments", [["show"], ["explain", "--provider", "x"]])
def test_a_broken_file_leads_to_check(cli, here, arguments) -> None:
    ended = cli("prefs", arguments[0], "broken.toml", *arguments[1:])
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: broken.toml, line 9: ")
    assert ended.err.endswith("(and 2 more)\n  next: reticent prefs check broken.toml\n")


def test_show_says_consequences_first(cli, here) -> None:
    ended = cli("prefs", "show", "preferences.toml")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].endswith("can be right at most 55 times in 100.")  # 0.5 x 0.4
    rows = [line.split() for line in lines if line.startswith("filmclub.example")]
    assert [row[-2:] for row in rows] == [["0.4", "60"], ["2", "89"], ["0.02", "51"], ["0.1", "53"]]
    assert "withheld attributes: Western" in lines
    assert "weights: The Sessions 0, every other item 0.5" in lines


def test_show_lists_the_attributes_of_a_catalogue(cli, here, catalogue) -> None:
    films = catalogue(("Action", "Drama", "Musical", "Western"), empty=("Musical",))
    out = cli("prefs", "show", "preferences.toml", "--catalogue", films).out
    assert "Action alone" in out
    assert "any other" not in out
    told = cli("prefs", "show", "preferences.toml", "--catalogue", films, "--json").json
    assert told["schema"] == "prefs-show/1"
    assert told["providers"]["filmclub.example"]["attributes"] == {"Action": "0.1", "Drama": "0.02"}
    assert told["withheld"] == ["Western"]
    films = catalogue(("Action",))
    ended = cli("prefs", "show", "preferences.toml", "--catalogue", films)
    assert ended.code == 2
    assert "the catalogue has no attribute Drama" in ended.err


def test_show_never_promises_less_than_the_whole_release_can_lose(cli, here) -> None:
    (here / "wide.toml").write_text(TEXT.replace("Drama = 0.02", "Drama = 3"))
    told = cli("prefs", "show", "wide.toml", "--json").json
    assert told["providers"]["filmclub.example"]["attributes"] == {"Drama": "0.4"}


def test_show_of_a_file_that_allows_nothing(cli, here) -> None:
    (here / "none.toml").write_text("version = 1")
    out = cli("prefs", "show", "none.toml").out
    assert out.startswith("Nobody may learn anything")
    assert "withheld attributes: every attribute that is not named" in out


def test_little_protection_is_said(cli, here) -> None:
    little = "This is little worst-case protection."
    for epsilon, said in (("10", False), ("10.1", True)):  # at weight one half
        (here / "much.toml").write_text(TEXT.replace("epsilon = 0.4", f"epsilon = {epsilon}"))
        assert (little in cli("prefs", "show", "much.toml").out) is said


def test_long_lists_are_cut(cli, here) -> None:
    items = "\n".join(f"item{n} = 0" for n in range(100))
    (here / "many.toml").write_text(f"version = 1\n[items]\n{items}")
    out = cli("prefs", "show", "many.toml").out
    assert "item0 0, item1 0, " in out
    assert "item50" not in out
    assert "89 more, every other item 1" in out


def test_explain_names_the_line(cli, here) -> None:
    asked = ["--provider", "filmclub.example", "--attribute", "Drama", "--item"]
    ended = cli("prefs", "explain", "preferences.toml", *asked, "The Sessions")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith('withheld   preferences.toml, line 5 (items."The Sessions" = 0)\n')
    assert "beats preferences.toml, line 13" in ended.out
    ended = cli("prefs", "explain", "preferences.toml", *asked, "Heat", "--json")
    assert ended.json["schema"] == "prefs-explain/1"
    assert ended.json["outcome"] == "released"
    assert (ended.json["epsilon"], ended.json["weight"]) == ("0.01", "0.5")
    assert ended.json["decided"]["line"] == 9
    assert ended.json["weighed"]["line"] == 4
    assert ended.json["right_at_most"] == "51"


def test_explain_tells_what_all_releases_may_tell(cli, here) -> None:
    asked = ["--provider", "filmclub.example"]
    out = cli("prefs", "explain", "preferences.toml", *asked).out
    assert "in all releases together: at most epsilon 2, until it renews (yearly)" in out
    told = cli("prefs", "explain", "preferences.toml", *asked, "--json").json
    assert (told["total"], told["renews"]) == ("2", "yearly")
    (here / "open.toml").write_text(
        "version = 1\n[attributes]\ndefault = 1\n[providers.x]\nepsilon = 1\n"
    )
    out = cli("prefs", "explain", "open.toml", "--provider", "x").out
    assert "in all releases together: no limit" in out
    assert cli("prefs", "explain", "open.toml", "--provider", "x", "--json").json["total"] is None
    refused = cli("prefs", "explain", "open.toml", "--provider", "y")
    assert "in all" not in refused.out


OWN = f"""{TEXT}
[providers."filmclub.example".attributes]
Drama = 0.01
[providers."filmclub.example".items]
Heat = 0
[providers.other]
epsilon = 1
"""


def test_explain_shows_lines_of_a_provider(cli, here) -> None:
    (here / "own.toml").write_text(OWN)
    asked = ["--provider", "filmclub.example", "--attribute", "Drama"]
    out = cli("prefs", "explain", "own.toml", *asked).out.splitlines()
    own = 'providers."filmclub.example"'
    assert out[:3] == [
        f"released   own.toml, line 21 ({own}.attributes.Drama = 0.01)",
        "           beats own.toml, line 9 (attributes.Drama = 0.02)",
        "           beats own.toml, line 8 (attributes.default = 0.1)",
    ]
    out = cli("prefs", "explain", "own.toml", *asked, "--item", "Heat").out
    assert out.startswith(f"withheld   own.toml, line 23 ({own}.items.Heat = 0)\n")


def test_show_tells_what_is_different_for_a_provider(cli, here) -> None:
    (here / "own.toml").write_text(OWN)
    out = cli("prefs", "show", "own.toml").out.splitlines()
    rows = [line.split()[-2] for line in out if "Drama alone" in line]
    assert rows == ["0.01", "0.02"]
    assert "weights for filmclub.example: The Sessions 0, Heat 0, every other item 0.5" in out
    assert "withheld from filmclub.example: Western" in out
    told = cli("prefs", "show", "own.toml", "--json").json["providers"]
    assert told["filmclub.example"]["items"] == {"The Sessions": "0", "Heat": "0"}
    assert told["other"]["items"] == {"The Sessions": "0"}
    assert told["filmclub.example"]["withheld"] == ["Western"]
    assert "1 secret, 2 exceptions; " in cli("prefs", "check", "own.toml").out


def test_explain_of_a_provider_that_is_not_named(cli, here) -> None:
    ended = cli("prefs", "explain", "preferences.toml", "--provider", "filmclub.exmple")
    assert ended.code == 0
    assert ended.out.startswith("refused    preferences.toml (no line names the provider")
    assert "filmclub.example" not in ended.out
    assert 'add [providers."filmclub.exmple"] with an epsilon' in ended.err
    assert "did you mean filmclub.example?" in ended.err


@pytest.mark.parametrize(
    ("item", "note"),
    [
        ("The Sessions", ""),
        ("the sesions", "note: no line names the item the sesions; did you mean The Sessions?\n"),
        ("Heat", "note: no line names the item Heat\n"),
        ("Drama", "note: no line names the item Drama\n"),  # an attribute is no item
    ],
)
def test_explain_of_an_item_that_is_not_named(cli, here, item, note) -> None:
    words = ["prefs", "explain", "preferences.toml", "--provider", "filmclub.example"]
    ended = cli(*words, "--item", item)
    assert (ended.code, ended.err) == (0, note)


def test_names_cannot_drive_the_terminal(cli, here) -> None:
    odd = TEXT.replace("Western", '"\\u001b[31mred\\nholds"')
    (here / "odd.toml").write_text(odd)
    (here / "odder.toml").write_text(odd.replace("withhold", "\\u001b[0m\\u202e"))
    asked = ["--provider", "filmclub.example", "--attribute", "\x1b[31mred\nholds"]
    for ended in (
        cli("prefs", "show", "odd.toml"),
        cli("prefs", "check", "odder.toml"),
        cli("prefs", "explain", "odd.toml", *asked),
        cli("prefs", "show", "odder.toml"),
    ):
        assert not {"\x1b", "\u202e"} & set(ended.out + ended.err)
        assert "\nholds" not in ended.out


def test_schema_prints_the_shipped_one(cli) -> None:
    shipped = resources.files("reticent.preferences") / "preferences-1.schema.json"
    for options in ([], ["--json"]):
        ended = cli("prefs", "schema", *options)
        assert (ended.code, ended.err) == (0, "")
        assert ended.json == json.loads(shipped.read_text(encoding="utf-8"))


def test_refusals_have_their_exit_code(cli, here, monkeypatch) -> None:
    def refuse(_words):
        raise Refused("shop.example", "preferences.toml", nearest="shops.example")

    monkeypatch.setattr(main, "_execute", refuse)
    ended = cli("release")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.splitlines() == [
        'refused: preferences.toml: no line names the provider "shop.example", so nothing is '
        'released to it; to allow it, add [providers."shop.example"] with an epsilon',
        "  did you mean shops.example?",
        "  next: reticent prefs set preferences.toml --provider shop.example --epsilon 1",
        "  to see what decides: reticent prefs explain preferences.toml --provider shop.example",
    ]
    monkeypatch.undo()
    monkeypatch.chdir(here)
    for line in ended.err.splitlines()[2:]:
        assert cli(*shlex.split(line.partition(": ")[2])[1:]).code == 0


def test_what_is_granted_to_nobody_is_explained(cli, here, monkeypatch) -> None:
    def refuse(_words):
        raise NothingGranted("shop.example", "preferences.toml")

    monkeypatch.setattr(main, "_execute", refuse)
    look = "  next: reticent prefs explain preferences.toml --provider shop.example"
    assert cli("release").err.splitlines()[1:] == [look]


def consoles() -> list[tuple[list[str], str]]:
    """The commands on the page, each with what the page says it prints."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M) if part]
    return [(shlex.split(part.split("\n")[0])[1:], part.partition("\n")[2]) for part in parts]


@pytest.mark.parametrize(("arguments", "printed"), consoles())
def test_the_page_shows_what_is_printed(cli, here, arguments, printed) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (here / "preferences.toml").write_text(page.split("```toml\n")[1].split("```")[0])
    ended = cli(*arguments)
    assert ended.out + ended.err == printed


def test_the_page_has_commands() -> None:
    assert len(consoles()) == 4
