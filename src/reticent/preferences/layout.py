"""Where each entry of a preferences file stands in its text, to the character.

Not here  what the entries mean (model.py), which of them is changed (editing.py).

Only texts that can be used are laid out, so values are numbers, strings and inline tables, and
the grammar has been checked: what is left is to find where things begin and end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field

from reticent.preferences.lines import KeyPath

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = re.compile(rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*")
_VALUE = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"{3,5}|'
    r"'''[\s\S]*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'|[^\s,{}\[\]#]+"
)
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key with its value, in a line of its own or in an inline table.

    ``span`` goes from the key to the end of the value. ``table`` is the path of the header above,
    or of the inline table around.
    """

    path: KeyPath
    table: KeyPath
    span: tuple[int, int]
    value: tuple[int, int]
    inline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A header with the lines below it; what stands before all headers has the empty path.

    ``rows`` are the starts and ends of its statements' lines, the header's first.
    """

    path: KeyPath
    rows: list[tuple[int, int]] = field(default_factory=list)

    @property
    def span(self) -> tuple[int, int]:
        """From the header to the end of the last statement; comments after it are not in it."""
        return (self.rows[0][0], self.rows[-1][1]) if self.rows else (0, 0)


@dataclass(frozen=True, slots=True, repr=False)
class Layout:
    """A text with its entries and sections, in their order."""

    text: str
    entries: tuple[Entry, ...]
    sections: tuple[Section, ...]

    @classmethod
    def of(cls, text: str) -> Layout:
        """Lay out a text that ``Preferences.parse`` takes."""
        entries, sections, at = list[Entry](), [Section(path=())], 0
        while (at := _after(_GAP, text, at)) < len(text):
            if text[at] == "[":
                path, end = _key(text, _after(_SPACE, text, at + 1))
                sections.append(Section(path=path))
            else:
                found = list(_pair(text, at, sections[-1].path, inline=False))
                entries += found
                end = found[0].span[1]
            sections[-1].rows.append(_row(text, at, end))
            at = sections[-1].rows[-1][1]
        return cls(text, tuple(entries), tuple(sections))

    def entry(self, path: KeyPath) -> Entry | None:
        """The entry of exactly this path."""
        return next((entry for entry in self.entries if entry.path == path), None)

    def section(self, path: KeyPath) -> Section | None:
        """The section whose header is exactly this path."""
        return next((part for part in self.sections[1:] if part.path == path), None)

    def within(self, path: KeyPath) -> list[Entry]:
        """The entries at or below a path that stand in lines of their own."""
        below = (entry for entry in self.entries if entry.path[: len(path)] == path)
        return [entry for entry in below if not entry.inline]

    def row(self, entry: Entry) -> tuple[int, int]:
        """The start and end of the lines of an entry, its comment and line break included."""
        return _row(self.text, *entry.span)


def _pair(text: str, at: int, table: KeyPath, *, inline: bool) -> Iterator[Entry]:
    """The entry at ``at``, and then those in its value."""
    names, end = _key(text, at)
    start = _after(_SPACE, text, _after(_SPACE, text, end) + 1)
    path, is_table = (*table, *names), text[start] == "{"
    inner, stop = _inline(text, start, path) if is_table else ([], _after(_VALUE, text, start))
    yield Entry(
        path=path,
        table=table,
        span=(at, stop),
        value=(start, stop),
        inline=inline,
    )
    yield from inner


def _inline(text: str, start: int, table: KeyPath) -> tuple[list[Entry], int]:
    """The entries of an inline table, and where it ends."""
    entries, at = list[Entry](), _after(_GAP, text, start + 1)
    while text[at] != "}":
        found = list(_pair(text, at, table, inline=True))
        entries += found
        at = _after(_GAP, text, found[0].span[1])
        at = _after(_GAP, text, at + 1) if text[at] == "," else at
    return entries, at + 1


def _key(text: str, at: int) -> tuple[KeyPath, int]:
    """The names of a dotted key, and where it ends."""
    end, path = _after(_KEY, text, at), list[str]()
    found = tomllib.loads(f"{text[at:end]} = 0")
    while isinstance(found, dict):
        ((name, found),) = found.items()
        path.append(name)
    return tuple(path), end


def _row(text: str, start: int, end: int) -> tuple[int, int]:
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop + 1


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
