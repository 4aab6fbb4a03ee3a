"""The JSON Schema and the rules that are applied say the same."""

import json
from importlib import resources

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.preferences import find_problems
from reticent.preferences.schema import preferences_schema

VALIDATOR = jsonschema.Draft202012Validator(preferences_schema())
NUMBERS = st.sampled_from([0, 1, 0.5, -1, -0.1, 1.5, 10**6, 10**6 + 1, 1e-9])
WRONG = st.sampled_from([True, "withhold", "1", [], {}, {"a": 1}, "yearly"])
VALUES = st.one_of(NUMBERS, WRONG)
NAMES = st.sampled_from(["default", "Drama", "a.b", "epsilon"])


def tables(keys, values):
    return st.dictionaries(st.sampled_from(keys), values, max_size=3)


ENTRIES = VALUES | tables(["epsilon", "total", "renews", "leak_bits", "x"], VALUES)
LINES = VALUES | st.dictionaries(NAMES, VALUES, max_size=2)
GRANTED = ENTRIES | st.fixed_dictionaries(
    {}, optional={"epsilon": NUMBERS, "attributes": LINES, "items": LINES, "example": ENTRIES}
)
FILES = st.fixed_dictionaries(
    {},
    optional={
        "version": st.sampled_from([1, 1, 1, 2, True, "1"]),
        "items": VALUES | st.dictionaries(NAMES, VALUES, max_size=2),
        "attributes": VALUES | st.dictionaries(NAMES, VALUES, max_size=2),
        "providers": VALUES | st.dictionaries(NAMES, GRANTED, max_size=2),
        "hide": VALUES | st.dictionaries(NAMES, ENTRIES, max_size=2),
        "colour": VALUES,
    },
)
GOOD = {
    "version": 1,
    "items": {"default": 0.5, "x": 0},
    "attributes": {"Drama": 0.1, "Western": "withhold"},
    "providers": {
        "a.b": {"epsilon": 1, "total": 0.5, "renews": "daily"},
        "c": {"epsilon": 1, "attributes": {"Drama": "withhold"}, "items": {"x": 1}},
    },
    "hide": {"gender": {"leak_bits": 0}},
}


def inline(value) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        entries = ", ".join(f"{json.dumps(name)} = {inline(v)}" for name, v in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    return json.dumps(value)


def toml(data) -> str:
    return "\n".join(f"{name} = {inline(value)}" for name, value in data.items())


@settings(max_examples=150, deadline=None)
@given(FILES)
def test_both_accept_the_same_files(data) -> None:
    assert VALIDATOR.is_valid(data) is (find_problems(toml(data)) == ())


@pytest.mark.parametrize("left_out", ["", "items", "attributes", "providers", "hide"])
def test_both_accept_good_files(left_out) -> None:
    data = {name: value for name, value in GOOD.items() if name != left_out}
    assert VALIDATOR.is_valid(data)
    assert find_problems(toml(data)) == ()


def test_the_shipped_schema_is_current() -> None:
    shipped = resources.files("reticent.preferences") / "preferences-1.schema.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == preferences_schema()
    jsonschema.Draft202012Validator.check_schema(preferences_schema())
