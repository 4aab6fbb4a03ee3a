"""Edits change what was asked for and nothing else: in every layout that TOML allows."""

import copy
import json
import re
import tomllib
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.preferences import Preferences, PreferencesError, editing
from reticent.preferences.layout import Layout

NAMES = ["Drama", "The Sessions", "a.b", "héros", 'say "no"', "", "x\ty", "# 1", "[z]", "epsilon"]
PROVIDERS = ["club", "filmclub.example", "shop.example", "é é"]
SECRETS = ["gender", "the age"]
WEIGHTS = st.sampled_from(["0", "1", "0.5", "0.10", "0.0000000001"])
EPSILONS = st.sampled_from(["0.1", "2", "1.0", "0.00000000005"])
BUDGETS = EPSILONS | st.just('"withhold"')
LINES = st.sampled_from(NAMES) | st.just("default")


def tables(keys, values):
    return st.dictionaries(keys, values, max_size=3)


GRANTED = st.fixed_dictionaries(
    {"epsilon": EPSILONS},
    optional={
        "total": EPSILONS,
        "renews": st.sampled_from(['"yearly"', "'never'", '"""daily"""']),
        "attributes": tables(LINES, BUDGETS),
        "items": tables(LINES, WEIGHTS),
    },
)
WANTED = st.fixed_dictionaries(
    {"version": st.just("1")},
    optional={
        "items": tables(LINES, WEIGHTS),
        "attributes": tables(LINES, BUDGETS),
        "providers": tables(st.sampled_from(PROVIDERS), GRANTED),
        "hide": tables(st.sampled_from(SECRETS), WEIGHTS.map(lambda bits: {"leak_bits": bits})),
    },
)


def key(*names: str) -> str:
    return ".".join(
        name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name) for name in names
    )


def inline(value, space: str = " ") -> str:
    if not isinstance(value, dict):
        return value
    inner = f",{space}".join(f"{key(name)}{space}={space}{inline(v)}" for name, v in value.items())
    return f"{{{space}{inner}{space}}}"


def leaves(value, path=()):
    if not isinstance(value, dict) or not value:
        yield path, inline(value)
    else:
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))


class Layouts:
    """Writes one content in a way of its own; every comment tells what it stands in."""

    def __init__(self, draw) -> None:
        self.draw, self.root, self.sections, self.owners = draw, [], [], {}

    def pick(self, *among):
        return self.draw(st.sampled_from(among))

    def comment(self, owner) -> str:
        text = f"# c{len(self.owners)}."
        self.owners[text] = owner
        return text

    def put(self, block: list[str], statement: str, owner, above=None) -> None:
        kind = self.pick("bare", "bare", "end", "above", "blank", "indent")
        if kind in ("above", "blank"):
            block.append(self.comment(owner if above is None else above) if kind == "above" else "")
        end = f"  {self.comment(owner)}" if kind == "end" else ""
        block.append(f"{'  ' if kind == 'indent' else ''}{statement}{end}")

    def statements(self, block: list[str], table: tuple, content: dict) -> None:
        """The lines of a table, each inner table inline or with dotted keys."""
        for name, value in content.items():
            path = (*table, name)
            if isinstance(value, dict) and value and self.pick(True, False):
                for inner, shown in leaves(value, (name,)):
                    self.put(block, f"{key(*inner)} = {shown}", (*table, *inner), table)
            else:
                space = self.pick(" ", "")
                self.put(block, f"{key(name)} = {inline(value, space)}", path, table)

    def section(self, table: tuple, content: dict) -> None:
        block: list[str] = []
        self.put(block, f"[{key(*table)}]", table, above=())
        split = [name for name, value in content.items() if isinstance(value, dict)]
        split = [name for name in split if self.pick(True, False)]
        rest = {name: value for name, value in content.items() if name not in split}
        if rest or not split or self.pick(True, False):
            self.statements(block, table, rest)
            self.sections.append(block)
        for name in split:
            self.section((*table, name), content[name])

    def write(self, content: dict) -> str:
        for name, value in content.items():
            if isinstance(value, dict) and self.pick(True, True, False):
                self.section((name,), value)
            else:
                self.statements(self.root, (), {name: value})
        blocks = [self.root, *self.draw(st.permutations(self.sections))]
        for block in blocks:
            block += [""] if self.pick(True, False) else []
            block += [self.comment(())] if self.pick(True, False, False) else []
        text = "\n".join(line for block in blocks for line in block)
        return text + self.pick("\n", "")


@st.composite
def files(draw):
    content, layouts = draw(WANTED), Layouts(draw)
    text = layouts.write(content)
    owners = {comment: owner for comment, owner in layouts.owners.items() if comment in text}
    return content, draw(st.sampled_from([text, text.replace("\n", "\r\n")])), owners


def edited(content: dict, path: tuple, value) -> dict:
    """The content with one entry set, or deleted (None)."""
    changed = copy.deepcopy(content)
    inner = changed
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return changed


def meaning(content: dict):
    return Preferences.parse("\n".join(f"{k} = {inline(v)}" for k, v in content.items())).wishes


@st.composite
def edits(draw, content):
    """A function of the text, the path it changes, and what the content is then."""
    provider = draw(st.sampled_from([None, *content.get("providers", {})]))
    above = () if provider is None else ("providers", provider)
    name = draw(st.sampled_from(NAMES))
    kind = draw(st.sampled_from(["item", "attribute", "default", "provider", "hidden"]))
    clear = draw(st.booleans())
    if kind in ("item", "attribute", "default"):
        part = f"{kind}s" if kind != "default" else draw(st.sampled_from(["items", "attributes"]))
        value = draw(WEIGHTS if part == "items" else BUDGETS)
        path = (*above, part, "default" if kind == "default" else name)
        amount = None if value == '"withhold"' else value
        call = {
            ("default", True): lambda t: editing.clear_default(t, part, provider=provider),
            ("default", False): lambda t: editing.set_defaults(
                t, **{part: amount}, provider=provider
            ),
            ("item", True): lambda t: editing.clear_item(t, name, provider=provider),
            ("item", False): lambda t: editing.set_item(t, name, amount, provider=provider),
            ("attribute", True): lambda t: editing.clear_attribute(t, name, provider=provider),
            ("attribute", False): lambda t: editing.set_attribute(
                t, name, amount, provider=provider
            ),
        }[kind, clear]
        return call, path, edited(content, path, None if clear else value)
    if kind == "hidden":
        path, bits = ("hide", draw(st.sampled_from(SECRETS))), draw(WEIGHTS)
        if clear:
            return lambda t: editing.clear_hidden(t, path[1]), path, edited(content, path, None)
        after = edited(content, path, {"leak_bits": bits})
        return lambda t: editing.set_hidden(t, path[1], bits), path, after
    path = ("providers", draw(st.sampled_from(PROVIDERS)))
    if clear:
        return lambda t: editing.remove_provider(t, path[1]), path, edited(content, path, None)
    asked = {"epsilon": draw(EPSILONS)}
    asked |= draw(st.sampled_from([{}, {"total": "3"}, {"total": None}]))
    asked |= draw(st.sampled_from([{}, {"renews": "weekly"}, {"renews": None}]))
    after = content
    for part, value in asked.items():
        shown = f'"{value}"' if part == "renews" and value else value
        after = edited(after, (*path, part), shown)
    return lambda t: editing.set_provider(t, path[1], **asked), path, after


def lines(text: str) -> Counter:
    return Counter(line.rstrip("\r") for line in text.split("\n") if line.strip())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_an_edit_changes_what_was_asked_for_and_nothing_else(data) -> None:
    content, text, owners = data.draw(files())
    assert Preferences.parse(text).wishes == meaning(content)
    edit, path, after = data.draw(edits(content))
    new = edit(text)
    assert Preferences.parse(new).wishes == meaning(after)
    lost = {comment for comment in owners if comment not in new}
    assert all(owners[comment][: len(path)] == path for comment in lost)
    removed, added = lines(text) - lines(new), lines(new) - lines(text)
    if path[0] != "providers" or len(path) > 2:
        assert removed.total() <= 2 + len(lost)
        assert added.total() <= 2
    else:
        told = key(path[1])
        assert all(told in line or "=" in line or line in lost for line in removed)
        assert added.total() <= 4
    assert edit(new) == new
    assert (new.count("\r\n") == new.count("\n")) or "\r\n" not in text


@settings(max_examples=50, deadline=None)
@given(files())
def test_every_entry_is_found_to_the_character(file) -> None:
    content, text, _ = file
    found = {entry.path: text[slice(*entry.value)] for entry in Layout.of(text).entries}
    tables = {path: value for path, value in found.items() if value.startswith("{")}
    assert {path: value for path, value in found.items() if path not in tables} == {
        path: value for path, value in leaves(content) if not value.startswith("{")
    }
    for path, value in tables.items():
        inner = content
        for name in path:
            inner = inner[name]
        assert tomllib.loads(f"x = {value}") == tomllib.loads(f"x = {inline(inner)}")


@settings(max_examples=50, deadline=None)
@given(files())
def test_setting_everything_to_what_it_is_keeps_the_text(file) -> None:
    content, text, _ = file
    new = text
    for part in ("items", "attributes"):
        put = editing.set_item if part == "items" else editing.set_attribute
        for name, value in content.get(part, {}).items():
            amount = None if value == '"withhold"' else value
            if name == "default":
                new = editing.set_defaults(new, **{part: amount})
            else:
                new = put(new, name, amount)
    for provider, granted in content.get("providers", {}).items():
        new = editing.set_provider(new, provider, epsilon=granted["epsilon"])
    assert new == text


TEXT = """\
# mine
version = 1

[items]                    # weight
default = 0.5              # half

# about attributes
[attributes]
Drama = 0.02   # little

# the club
[providers."filmclub.example"]
epsilon = 0.4
# not much
total = 2.0

# about hiding
[hide]
gender = { leak_bits = 0.05 }
"""
CLUB = "filmclub.example"


def changed(new: str) -> tuple[list[str], list[str]]:
    """The lines that went, and those that came."""
    return list((lines(TEXT) - lines(new)).elements()), list((lines(new) - lines(TEXT)).elements())


def test_a_new_line_stands_with_its_table_and_not_under_the_next_comment() -> None:
    new = editing.set_item(TEXT, "The Sessions", "0")
    half = "default = 0.5              # half\n"
    assert new == TEXT.replace(half, f'{half}"The Sessions" = 0\n')


def test_a_value_is_replaced_where_it_stands() -> None:
    new = editing.set_attribute(TEXT, "Drama", "0.30")
    assert new == TEXT.replace("Drama = 0.02 ", "Drama = 0.30 ")
    withheld = editing.set_attribute(TEXT, "Drama", None)
    assert withheld == TEXT.replace("Drama = 0.02 ", 'Drama = "withhold" ')


def test_an_exception_gets_a_table_behind_its_provider() -> None:
    new = editing.set_item(TEXT, "The Sessions", "0", provider=CLUB)
    block = f'total = 2.0\n\n[providers."{CLUB}".items]\n"The Sessions" = 0\n'
    assert new == TEXT.replace("total = 2.0\n", block)
    assert Preferences.parse(new).weight("The Sessions", provider=CLUB) == 0
    assert Preferences.parse(new).weight("The Sessions") == Fraction(1, 2)


def test_a_removed_table_takes_no_comment_of_others() -> None:
    new = editing.remove_provider(TEXT, CLUB)
    gone, came = changed(new)
    assert gone == [f'[providers."{CLUB}"]', "epsilon = 0.4", "# not much", "total = 2.0"]
    assert came == []
    assert "# about hiding\n[hide]" in new


def test_a_provider_is_named_changed_and_limited() -> None:
    new = editing.set_provider(TEXT, "shop", epsilon="1", total=Fraction(5), renews="yearly")
    block = 'total = 2.0\n\n[providers.shop]\nepsilon = 1\ntotal = 5\nrenews = "yearly"\n'
    assert new == TEXT.replace("total = 2.0\n", block)
    assert editing.set_provider(TEXT, CLUB, total=None) == TEXT.replace("total = 2.0\n", "")
    assert editing.set_provider(TEXT, CLUB) == TEXT


def test_defaults_and_secrets() -> None:
    new = editing.set_defaults(TEXT, items="1", attributes=Fraction(1, 8))
    assert "default = 1              # half" in new
    assert "Drama = 0.02   # little\ndefault = 0.125\n" in new
    new = editing.set_hidden(TEXT, "age", "0.1")
    assert new.endswith("gender = { leak_bits = 0.05 }\nage = { leak_bits = 0.1 }\n")
    assert editing.clear_hidden(new, "age") == TEXT
    new = editing.set_defaults(TEXT, attributes=None, provider=CLUB)
    assert Preferences.parse(new).grant(CLUB, attributes=["Comedy", "Drama"]).budgets == {}
    back = editing.clear_default(new, "attributes", provider=CLUB)
    assert Preferences.parse(back) == Preferences.parse(TEXT)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("0.50", "0.50"),
        (Fraction(1, 2), "0.5"),
        (Fraction(1, 10**12), "0.000000000001"),
        ("1e-3", "0.001"),
        (".5", "0.5"),
        (" 0.5", "0.5"),
        ("1", "1"),
        (Fraction(1), "1"),
        ("-0", "0"),
    ],
)
def test_amounts_are_exact_decimals(typed, written) -> None:
    new = editing.set_item("version = 1", "x", typed)
    assert new == f"version = 1\n\n[items]\nx = {written}\n"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda: editing.set_item(TEXT, "x", "2"), "line 6: items.x must be a weight from 0 to 1"),
        (lambda: editing.set_item(TEXT, "x", Fraction(1, 3)), "items.x must be a decimal, got 1/3"),
        (lambda: editing.set_item(TEXT, "x", "half"), "items.x must be a decimal, got half"),
        (lambda: editing.set_item(TEXT, "x", "inf"), "items.x must be a decimal, got inf"),
        (lambda: editing.set_item(TEXT, "x", "1e99999999"), "items.x must be a decimal"),
        (lambda: editing.set_item(TEXT, "default", "1"), 'called "default" cannot be named'),
        (lambda: editing.clear_attribute(TEXT, "default"), 'called "default" cannot be named'),
        (lambda: editing.set_item(TEXT, "\ud800", "1"), "is not text that a file can hold"),
        (lambda: editing.set_attribute(TEXT, "Drama", "0"), "must be a positive epsilon, got 0"),
        (lambda: editing.set_item(TEXT, "x", "1", provider="y"), "providers.y is not there"),
        (lambda: editing.set_provider(TEXT, "y", total="1"), "providers.y is not there"),
        (lambda: editing.set_provider(TEXT, CLUB, epsilon="0"), "must be a positive epsilon"),
        (lambda: editing.set_provider(TEXT, CLUB, renews="hourly"), "renews must be one of"),
        (lambda: editing.set_hidden(TEXT, "age", "-1"), "must be a number of bits"),
        (lambda: editing.set_item("", "x", "1"), "the file is empty"),
        (lambda: editing.set_item("version = 2", "x", "1"), "version must be 1"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(edit, says) -> None:
    with pytest.raises(PreferencesError) as caught:
        edit()
    assert says in str(caught.value)


def test_an_edit_that_would_change_more_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(editing, "put", lambda text, path, value: text.replace("0.5 ", "0.6 "))
    with pytest.raises(PreferencesError, match="items.x cannot be changed alone in this layout"):
        editing.set_item(TEXT, "x", "1")


def test_long_files_are_edited_soon() -> None:
    text = "version = 1\n[items]\n" + "\n".join(f'"item {n}" = 0.5' for n in range(5_000))
    new = editing.set_item(text, "item 4999", "0")
    assert new == text.removesuffix("0.5") + "0"
