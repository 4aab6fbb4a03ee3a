"""What is wrong with a preferences file: one sentence each, with file, line, key and fix.

Not here  the rules (reading.py), where keys stand (lines.py).

The file belongs to its reader, so names and values in it may be repeated; both are cut short.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from reticent.errors import ReticentError
from reticent.preferences.lines import KeyPath, key_lines

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONG = 60  # characters of a name or value that are repeated
_LARGE = 10**20
_MATCHED = 20_000  # names among which the nearest is looked for


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that a key breaks, before its line is known."""

    path: KeyPath
    says: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one file; its text is a sentence that ends with what to do."""

    file: str
    line: int | None
    key: str
    says: str

    def __str__(self) -> str:
        return f"{place(self.file, self.line)}: {self.says}"


class PreferencesError(ReticentError):
    """A preferences file that cannot be used; ``problems`` holds all that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        first, *others = map(str, self.problems)
        super().__init__(f"{first} (and {len(others)} more)" if others else first)

    def __reduce__(self) -> tuple[type[PreferencesError], tuple[tuple[Problem, ...]]]:
        return PreferencesError, (self.problems,)


def locate(faults: Iterable[Fault], text: str, file: str) -> tuple[Problem, ...]:
    """The faults with the lines they stand on, in the order of the file."""
    faults = list(faults)
    lines = key_lines(text) if faults else {}
    found = [Problem(file, line_of(lines, f.path), dotted(f.path), f.says) for f in faults]
    return tuple(sorted(found, key=lambda problem: problem.line or 0))


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of a key, or of the innermost table that would hold it."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def place(file: str, line: int | None) -> str:
    """Where something stands, as an editor and a person read it."""
    return file if line is None else f"{file}, line {line}"


def dotted(path: KeyPath) -> str:
    """A key as it is typed.

    >>> print(dotted(("providers", "filmclub.example", "epsilon")))
    providers."filmclub.example".epsilon
    """
    return ".".join(map(spelt, path))


def spelt(text: str) -> str:
    """One part of a key, in quotes where TOML needs them."""
    short = text if len(text) <= _LONG else text[: _LONG - 3] + "..."
    return short if _BARE.fullmatch(short) else quoted(short)


def quoted(text: str) -> str:
    """A string as TOML, cut short."""
    return json.dumps(text if len(text) <= _LONG else text[: _LONG - 3] + "...", ensure_ascii=False)


def shown(found: object) -> str:
    """A value as it stands in the file, cut short."""
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, str):
        return quoted(found)
    if isinstance(found, int):  # a longer one may not even be converted to text
        return str(found) if abs(found) < _LARGE else "a number of many digits"
    if isinstance(found, Decimal):
        return str(found) if len(str(found)) <= _LONG else "a number of many digits"
    if isinstance(found, dict):
        return "a table"
    return "an array" if isinstance(found, list) else "a date or time"


def amount(exact: Fraction) -> str:
    """An amount from a file as a decimal, with nothing rounded away.

    >>> amount(Fraction(1, 50)), amount(Fraction(2)), amount(Fraction(1, 10**9))
    ('0.02', '2', '1E-9')
    """
    digits = len(str(exact.denominator)) * 4 + len(str(exact.numerator))
    decimal = Context(prec=digits).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    plain = decimal.normalize(Context(prec=digits))
    return format(plain, "f") if -8 < plain.adjusted() < 15 else str(plain)


def nearest(wrong: str, right: Collection[str]) -> str | None:
    """The name that was probably meant, or None."""
    folded = {known.casefold(): known for known in right}
    if wrong.casefold() in folded:
        return folded[wrong.casefold()]
    if len(folded) > _MATCHED:
        return None
    close = difflib.get_close_matches(wrong.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def meant(wrong: str, right: Collection[str], otherwise: str) -> str:
    """The end of a sentence about an unknown name."""
    near = nearest(wrong, right)
    return otherwise if near is None else f"did you mean {spelt(near)}?"
