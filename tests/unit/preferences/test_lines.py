"""The line of every key, against texts whose layout is known because the test laid them out."""

import json
import time
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.preferences.lines import key_lines

NAMES = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x7f"), max_size=8),
)
DECOYS = ["[items]", "default = 1", '"x" = """', "# comment", "]", "", "'''x"]
PADDING = st.lists(st.sampled_from(["", "# note", "  # [table]", "\t", '# a = """']), max_size=3)


def multiline_string(content: list[str]) -> list[str]:
    body = "\n".join(content).replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{body}"""'.split("\n")


VALUES = st.one_of(
    st.sampled_from([["1"], ["0.5"], ['"withhold"'], ["true"], ["'[x]'"], ["{ a = 1 }"]]),
    st.lists(st.sampled_from(DECOYS), min_size=1, max_size=5).map(multiline_string),
    st.integers(0, 5).map(lambda n: ["[", *["  1, # ]"] * n, "]"]),
)
TABLES = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=5), max_size=4)


@st.composite
def layouts(draw):
    """A text, and the line of each table and key in it."""
    text: list[str] = []
    expected: dict[tuple[str, ...], int] = {}

    def put(path, statement):
        text.extend(draw(PADDING))
        expected[path] = len(text) + 1
        text.extend(statement)

    for table, entries in draw(TABLES).items():
        put((table,), [f"{draw(st.sampled_from(['', '  ']))}[{quoted(table)}]"])
        for name, value in entries.items():
            put((table, name), [f"{quoted(name)} = {value[0]}", *value[1:]])
    text.extend(draw(PADDING))
    return draw(st.sampled_from(["\n", "\r\n"])).join(text), expected


def quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


@settings(max_examples=80, deadline=None)
@given(layouts())
def test_every_key_is_found_where_it_was_put(layout) -> None:
    text, expected = layout
    tomllib.loads(text)
    found = key_lines(text)
    assert {path: found[path] for path in expected} == expected
    inside = [path for path in found if path not in expected]
    assert all(found[path] == expected[path[:2]] for path in inside)


@settings(max_examples=30, deadline=None)
@given(layouts())
def test_the_line_is_the_first_with_which_the_key_is_there(layout) -> None:
    """The slow way: the shortest prefix that parses and holds the key ends with its statement."""
    text, expected = layout
    rows = text.replace("\r\n", "\n").split("\n")
    for path, line in expected.items():
        assert not holds(rows[: line - 1], path)
        assert any(holds(rows[:end], path) for end in range(line, len(rows) + 1))


def holds(rows: list[str], path: tuple[str, ...]) -> bool:
    try:
        part = tomllib.loads("\n".join(rows))
    except tomllib.TOMLDecodeError:
        return False
    for name in path:
        if not isinstance(part, dict) or name not in part:
            return False
        part = part[name]
    return True


def test_dotted_keys_and_inner_tables() -> None:
    found = key_lines('a.b = 1\n\n[c."d.e"]\nf = { g = 1 }\n[[h]]\ni = 1\n[[h]]\ni = 2')
    assert found == {
        ("a",): 1,
        ("a", "b"): 1,
        ("c",): 3,
        ("c", "d.e"): 3,
        ("c", "d.e", "f"): 4,
        ("c", "d.e", "f", "g"): 4,
        ("h",): 5,
        ("h", "i"): 6,
    }


def test_lines_are_counted_through_long_values() -> None:
    text = "a = 1\nb = [\n" + "1,\n" * 400 + ']\nc = """\n\nx"""\nd = 1'
    tomllib.loads(text)
    assert key_lines(text) == {("a",): 1, ("b",): 2, ("c",): 404, ("d",): 407}


def test_long_files_are_cheap() -> None:
    text = "[items]\n" + "\n".join(f'"item {n}" = 0.5' for n in range(5_000))
    start = time.process_time()
    tomllib.loads(text)
    once = time.process_time() - start
    start = time.process_time()
    assert key_lines(text)["items", "item 4999"] == 5_001
    assert time.process_time() - start < 1 + 20 * once
