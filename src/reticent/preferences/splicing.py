"""Put an entry into the text of a preferences file, or take one out, and touch nothing else.

Not here  what may be changed, and the check that only that has changed (editing.py).
"""

from __future__ import annotations

import json
import re

from reticent.preferences.layout import Entry, Layout, Section
from reticent.preferences.lines import KeyPath

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t]*\r?\n)+")
_INDENT = re.compile(r"[ \t]*")


def put(text: str, path: KeyPath, value: str) -> str:
    """The text with an entry set; a new one stands with those of its table.

    >>> print(put("[items] # weights", ("items", "The Sessions"), "0"))
    [items] # weights
    "The Sessions" = 0
    """
    layout = Layout.of(text)
    there = layout.entry(path)
    if there is not None:
        return _replaced(text, there.value, value)
    for length in range(len(path) - 1, 0, -1):
        above, rest = path[:length], path[length:]
        section, entry = layout.section(above), layout.entry(above)
        if entry is not None:
            return _into_inline(layout, entry, rest, value)
        if section is not None and len(rest) == 1:
            return _below(text, section.rows[-1], f"{_key(rest)} = {value}")
        dotted = [entry for entry in layout.within(above) if len(entry.table) < length]
        if dotted:
            last = dotted[-1]
            line = f"{_key(path[len(last.table) :])} = {value}"
            return _below(text, layout.row(last), line)
    return _as_section(layout, path, value)


def drop(text: str, path: KeyPath) -> str:
    """The text without an entry or table; its own comments go too, those above it stay."""
    layout, depth = Layout.of(text), len(path)
    spans = [
        _with_blank(text, section)
        for section in layout.sections[1:]
        if section.path[:depth] == path
    ]
    spans += [layout.row(entry) for entry in layout.within(path) if entry.table[:depth] != path]
    for span in sorted(spans, reverse=True):
        text = _replaced(text, span, "")
    while (inner := _first_inline(text, path)) is not None:
        text = _replaced(text, inner, "")
    return text


def _first_inline(text: str, path: KeyPath) -> tuple[int, int] | None:
    """What to cut next from an inline table; each cut moves the commas."""
    layout = Layout.of(text)
    below = (entry for entry in layout.entries if entry.path[: len(path)] == path)
    return next((_with_comma(layout, entry) for entry in below), None)


def _with_blank(text: str, section: Section) -> tuple[int, int]:
    """A section, with the empty lines after it if there are empty lines before it."""
    start, end = section.span
    before = text[:start].rpartition("\n")[0].rpartition("\n")[2]
    after = _BLANK.match(text, end)
    return (start, after.end()) if after and not before.strip() else (start, end)


def _with_comma(layout: Layout, entry: Entry) -> tuple[int, int]:
    """An entry of an inline table, with the comma after it or, if it is the last, before it."""
    beside = [other for other in layout.entries if other.inline and other.table == entry.table]
    at = beside.index(entry)
    if at + 1 < len(beside):
        return entry.span[0], beside[at + 1].span[0]
    return (beside[at - 1].span[1] if at else entry.span[0]), entry.span[1]


def _into_inline(layout: Layout, around: Entry, rest: KeyPath, value: str) -> str:
    inside = [entry for entry in layout.entries if entry.inline and entry.table == around.path]
    pair = f"{_key(rest[:1])} = {_nested(rest[1:], value)}"
    shared = [entry for entry in inside if entry.path[len(around.path)] == rest[0]]
    if shared:  # the table is spelt with dotted keys
        pair = f"{_key(rest)} = {value}"
    if not inside:
        return _replaced(layout.text, around.value, f"{{ {pair} }}")
    end = inside[-1].span[1]
    return _replaced(layout.text, (end, end), f", {pair}")


def _nested(rest: KeyPath, value: str) -> str:
    for name in reversed(rest):
        value = f"{{ {_key((name,))} = {value} }}"
    return value


def _as_section(layout: Layout, path: KeyPath, value: str) -> str:
    """A new section, behind those that share most of its path, else at the end."""
    text, line = layout.text, f"{_key(path[-1:])} = {value}"
    newline = _newline(text)
    block = f"[{_key(path[:-1])}]{newline}{line}"
    for length in range(len(path) - 2, 0, -1):
        akin = [part for part in layout.sections[1:] if part.path[:length] == path[:length]]
        if akin:
            return _below(text, akin[-1].rows[-1], newline + block, indent=False)
    if not text.endswith("\n"):
        text += newline
    return f"{text}{newline}{block}{newline}"


def _below(text: str, row: tuple[int, int], line: str, *, indent: bool = True) -> str:
    start, end = row
    space = _INDENT.match(text, start)
    line = f"{space[0] if space and indent else ''}{line}"
    newline = _newline(text)
    if not text[:end].endswith("\n"):
        return f"{text[:end]}{newline}{line}"
    return _replaced(text, (end, end), line + newline)


def _newline(text: str) -> str:
    return "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"


def _key(path: KeyPath) -> str:
    """A key as it is typed, in full."""
    return ".".join(map(typed, path))


def typed(name: str) -> str:
    """One name as a key, in full, in quotes where TOML needs them."""
    if _BARE.fullmatch(name):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _replaced(text: str, span: tuple[int, int], put_in: str) -> str:
    return text[: span[0]] + put_in + text[span[1] :]
