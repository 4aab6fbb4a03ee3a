r"""The statements of a TOML text and their size, found in one pass, before anything is parsed.

Not here  what a statement says (tomllib, reading.py), sentences about mistakes (syntax.py).

The parser's work grows with the square of how deep keys and values are, so that a short text can
take gigabytes: who reads a text that somebody else wrote must bound it first. Strings, comments and
brackets are found by TOML's own rules, so up to the first mistake, where the parser stops, the
parser sees nothing that is deeper or more than what is counted here.

>>> [(one.line, one.text) for one in statements("a = 1\n\nb = [ # two lines\n2]\n")]
[(1, 'a = 1'), (3, 'b = [ # two lines\n2]')]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

LARGEST: Final = 1 << 18
"""Bytes of the longest file that is read, and characters of the longest text."""
ENTRIES: Final = 6_000
"""The most values, tables and names in a text, counted by ``=``, ``[``, ``{`` and commas."""
LINES: Final = 12_000
"""The most lines of a text."""
LEVELS: Final = 6
"""The most names in a dotted key, and the most brackets around a value."""

_TOKEN = re.compile(
    r'(?P<string>"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}'
    r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"'
    r"|'[^'\n]*+')"
    r"|(?P<comment>\#[^\n]*+)"
    r"|(?P<plain>[^\"'\#\[\]{}.=,\n]++)"
    r"|(?P<mark>[\[\]{}.=,\n])",
    re.DOTALL,
)


class TooMuch(ValueError):
    """A text beyond a limit; says which, what to do, and the line if it is about one."""

    def __init__(self, says: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(says)


@dataclass(frozen=True, slots=True)
class Statement:
    """A table's name or a key with its value, and the line, from 1, on which it begins."""

    line: int
    text: str


def bounded_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The data of a TOML text; ``TooMuch`` for one that would cost too much to parse."""
    if len(text) > LARGEST:
        raise TooMuch(f"it is longer than {LARGEST:,} characters; shorten it")
    if text.count("\n") >= LINES:
        raise TooMuch(f"it has more than {LINES:,} lines; shorten it")
    for _ in statements(text):
        pass
    return tomllib.loads(text, parse_float=parse_float)


def statements(text: str) -> Iterator[Statement]:
    """All statements, up to a string that does not end; ``TooMuch`` beyond a limit."""
    text = text.replace("\r\n", "\n")
    line, begin, at = 1, 0, 0  # of the statement
    depth = names = entries = 0
    here = 1  # the line of ``at``
    empty = True
    while (token := _TOKEN.match(text, at)) is not None:
        kind, found, at = token.lastgroup, token[0], token.end()
        if kind == "string":
            here, empty = here + found.count("\n"), False
        elif kind == "plain":
            empty = empty and found.isspace()
        elif found == "\n":
            here, names = here + 1, 0
            if not depth:
                if not empty:
                    yield Statement(line, text[begin : at - 1])
                line, begin, empty = here, at, True
        elif kind == "mark":
            empty = False
            names = names + 1 if found == "." else 0
            depth = max(0, depth + (found in "[{") - (found in "]}"))
            entries += found in "[{=,"
            if names >= LEVELS or depth > LEVELS:
                says = f"names or brackets are more than {LEVELS} levels deep"
                raise TooMuch(f"{says}; a name with dots needs quotes", here)
            if entries > ENTRIES:
                raise TooMuch(f"it has more than {ENTRIES:,} entries; shorten it")
    if not empty or at < len(text):
        yield Statement(line, text[begin:])
