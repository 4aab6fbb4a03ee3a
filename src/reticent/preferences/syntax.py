"""From bytes to TOML data: files, characters and grammar, each mistake as a sentence.

Not here  what the data means (reading.py).
"""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from reticent.preferences.problems import PreferencesError, Problem
from reticent.preferences.scanning import LARGEST, TooMuch, bounded_toml

_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_TWICE = "this name is set a second time; delete one of the two lines"
_OPEN = "a quote is not closed; close it on the same line"
_SENTENCES = {
    "Cannot": _TWICE,
    "Duplicate": _TWICE,
    "Invalid value": 'this is no value; words need quotes, as in "withhold", and numbers a digit '
    "before the point",
    "Expected '='": "a key and an = must come first; names with spaces or dots need quotes, as in "
    '"The Sessions" = 0',
    "Expected newline": "something is left over after the value; write one value per line, with a "
    "point in decimals, as in 0.5",
    "Expected ']'": "the name of a table must end with ]; names with spaces or dots need quotes, "
    'as in [providers."filmclub.example"]',
    "Illegal character '\\n'": _OPEN,
    "Unterminated": _OPEN,
    'Expected "\'"': _OPEN,
    "Illegal character": "a character cannot stand here; delete it",
    "Found invalid": "a character cannot stand here; delete it",
}
_OTHERWISE = "this is not TOML; write name = value, or [table]"


def read_text(path: Path, file: str) -> str:
    """The text of a file; ``PreferencesError`` if there is none."""
    try:
        with path.open("rb") as stream:
            packed = stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise _wrong(file, None, "there is no such file; give the path of another") from None
    except IsADirectoryError:
        raise _wrong(file, None, "this is a directory; give the path of a file") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise _wrong(file, None, f"it cannot be read ({why}); see who may read it") from None
    if len(packed) > LARGEST:
        raise _wrong(file, None, f"it is longer than {LARGEST:,} bytes; shorten it")
    try:
        return packed.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = packed[: error.start].count(b"\n") + 1
        raise _wrong(file, line, "this is not text in UTF-8; save the file as UTF-8") from None


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The data of a text, with every decimal exact; ``PreferencesError`` if it is no TOML.

    What is long or deep is refused before it is parsed.
    """
    try:
        return bounded_toml(text, parse_float=_decimal)
    except TooMuch as error:
        raise _wrong(file, error.line, str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise _wrong(file, _line(str(error), text), _sentence(str(error))) from None
    except ValueError:  # a number of thousands of digits
        says = "a value is far too long; write plain numbers and words"
        raise _wrong(file, None, says) from None


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds; refused like any infinity
        return Decimal("inf")


def _line(message: str, text: str) -> int | None:
    at = _AT.search(message)
    if at is None:
        return None
    return int(at[1]) if at[1] else text.rstrip().count("\n") + 1


def _sentence(message: str) -> str:
    starts = (says for start, says in _SENTENCES.items() if message.startswith(start))
    return next(starts, _OTHERWISE)


def _wrong(file: str, line: int | None, says: str) -> PreferencesError:
    return PreferencesError([Problem(file, line, "", says)])
