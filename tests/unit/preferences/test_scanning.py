"""What a hostile preferences file costs, and that counting agrees with the parser."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.preferences import Preferences, PreferencesError, find_problems
from reticent.preferences.editing import set_item
from reticent.preferences.scanning import ENTRIES, LARGEST, LEVELS, LINES, TooMuch, statements
from tests.unit.preferences.hostile import HOSTILE, LONGEST, MEGABYTES, SECONDS, SIZE, cost, peak


def refused(work: Callable[[], object]) -> None:
    with pytest.raises(PreferencesError):
        work()


@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_file_costs_little(shape: str) -> None:
    text = HOSTILE[shape]
    assert len(text) <= LARGEST
    if shape == "empty lines":
        assert cost(lambda: find_problems(text)) < SECONDS
    assert cost(lambda: refused(lambda: Preferences.parse(text))) < SECONDS
    assert cost(lambda: refused(lambda: set_item(text, "Heat", "0.5"))) < SECONDS
    assert peak(lambda: find_problems(text)) < MEGABYTES


def test_the_parser_alone_takes_more_than_the_limit_for_a_twentieth_of_the_size() -> None:
    """The control: what was refused without parsing is what costs."""
    text = "version = 1\n" + "a." * (SIZE // 40) + "b = 1\n"
    assert peak(lambda: tomllib.loads(text)) > MEGABYTES
    assert peak(lambda: find_problems(text)) < MEGABYTES / 100


@pytest.mark.parametrize("shape", LONGEST)
def test_the_longest_files_that_are_read_cost_little(shape: str) -> None:
    text = LONGEST[shape]
    films = [f"film {n}" for n in range(1682)]
    assert cost(lambda: find_problems(text, attributes=["Drama"], items=films)) < SECONDS
    if shape in ("items", "providers"):  # nothing is wrong with them
        assert cost(lambda: set_item(text, "Heat", "0.5")) < SECONDS
        assert cost(lambda: Preferences.parse(text).notes()) < SECONDS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a." * LEVELS + "b = 1", f"line 2: names or brackets are more than {LEVELS} levels deep"),
        ("a = " + "[" * (LEVELS + 1), f"line 2: names or brackets are more than {LEVELS} levels"),
        ("a=1\n" * (ENTRIES + 1), f"more than {ENTRIES:,} entries; shorten it"),
        ("\n" * LINES, f"more than {LINES:,} lines; shorten it"),
        ("#" * LARGEST, f"longer than {LARGEST:,} characters; shorten it"),
    ],
)
def test_an_error_names_the_limit(text: str, says: str) -> None:
    (problem,) = find_problems("version = 1\n" + text)
    assert says in str(problem)


def test_what_is_in_strings_and_comments_does_not_count() -> None:
    dots = "." * 50 + "[" * 50
    text = f"version = 1 # {dots}\n[items]\n\"{dots}\" = 0\n'{dots}' = 1\n"
    (name,) = Preferences.parse(text.replace(f"'{dots}' = 1\n", "")).wishes.items
    assert name == dots
    text = f'version = 1\n[attributes]\nDrama = """\n{dots}\n\\"""""\n'
    assert [one.line for one in find_problems(text)] == [3]


PARTS = st.sampled_from(
    [
        *(
            "a",
            "b.c",
            " = ",
            "1",
            '"x.y"',
            "'[#'",
            '"""',
            "'''",
            '"',
            "'",
            "\\",
            "\n",
            "\r\n",
            "# n",
        ),
        *("[", "]", "{", "}", ",", ".", " ", "0.5", "true", "[t]\n", "\na = 1\n", '\nb = "\\""\n'),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PARTS, max_size=12).map("".join))
def test_statements_are_those_of_the_parser(text: str) -> None:
    """What parses as a whole parses by statements, to the same number of keys and values."""
    try:
        whole = tomllib.loads(text)
    except ValueError:
        return
    try:
        found = list(statements(text))
    except TooMuch:
        assert text.count(".") >= LEVELS or text.count("[") + text.count("{") > LEVELS
        return
    parts: list[Any] = [tomllib.loads(one.text) for one in found]
    assert all(parts)
    assert bool(whole) == bool(found)
    rows = text.replace("\r\n", "\n").split("\n")
    for one in found:
        assert "\n".join(rows[one.line - 1 :]).startswith(one.text)


@pytest.mark.parametrize("shape", ["dotted key", "inline tables", "short keys"])
def test_a_hostile_file_costs_little_on_disk_too(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "preferences.toml"
    path.write_text(HOSTILE[shape])
    assert cost(lambda: refused(lambda: Preferences.read(path))) < SECONDS
