"""A file that says what to verify: its tables read with care, and every mistake with its line.

Not here  what the tables mean (verify_numbers.py, verify_profiles.py, verify_tables.py).

Numbers may be written as numbers, as text (``"0.1"``) or as fractions (``"3/4"``): all are exact.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from reticent.errors import ParameterError, ReticentError
from reticent.preferences.lines import KeyPath
from reticent.preferences.problems import Fault, dotted, locate, meant, nearest, place, shown
from reticent.preferences.scanning import TooMuch, bounded_toml
from reticent.rational import rational

MISSING: Any = object()
_MOST_LISTED = 2000  # values, records or names in one list


class WrongFile(ReticentError):
    """The file breaks a rule at a key; where that stands is found when the file is known."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.says)


@dataclass(slots=True)
class Section:
    """One table of the file; what nobody asked for is a mistake when it is closed."""

    held: Mapping[str, Any]
    path: KeyPath = ()
    asked: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.held

    def wrong(self, name: str, says: str) -> NoReturn:
        """Raise about one key of this table."""
        raise WrongFile(Fault((*self.path, name), says))

    def take(self, name: str, rule: str, default: Any = MISSING) -> Any:
        """What stands at a key, or the default; a key without one must be there."""
        self.asked.add(name)
        if name in self.held:
            return self.held[name]
        if default is MISSING:
            wrong = nearest(name, [key for key in self.held if key not in self.asked])
            if wrong is not None:
                self.wrong(wrong, f"{wrong} is not known; did you mean {name}?")
            head = f"[{dotted(self.path)}]" if self.path else "the file"
            self.wrong(name, f"{head} needs {name}: {rule}")
        return default

    def number(self, name: str, default: Any = MISSING) -> Any:
        """A number, exact."""
        value = self.take(name, "a number", default)
        return value if value is default else self._exact(name, value)

    def numbers(self, name: str, default: Any = MISSING) -> Any:
        """A list of numbers, exact; one number is a list of one."""
        value = self.take(name, "a list of numbers", default)
        if value is default:
            return default
        listed = value if isinstance(value, list) else [value]
        self._check_length(name, listed)
        return tuple(self._exact(name, each) for each in listed)

    def whole(self, name: str, default: Any = MISSING, *, least: int = 1) -> Any:
        """A whole number."""
        value = self.take(name, "a whole number", default)
        good = isinstance(value, int) and not isinstance(value, bool) and value >= least
        if value is not default and not good:
            self.wrong(
                name, f"{name} must be a whole number of at least {least}, got {shown(value)}"
            )
        return value

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.take(name, "true or false", default)
        if not isinstance(value, bool):
            self.wrong(name, f"{name} must be true or false, got {shown(value)}")
        return value

    def text(self, name: str, default: Any = MISSING, *, among: Sequence[str] = ()) -> Any:
        """Text; ``among`` some words only."""
        value = self.take(name, "text", default)
        if value is default:
            return default
        if not isinstance(value, str):
            self.wrong(name, f"{name} must be text in quotes, got {shown(value)}")
        if among and value not in among:
            hint = meant(value, among, f"it is one of {', '.join(among)}")
            self.wrong(name, f"{name} {shown(value)} is not known; {hint}")
        return value

    def section(self, name: str, default: Any = MISSING) -> Any:
        """A table of its own."""
        value = self.take(name, "a table", default)
        if value is default:
            return default
        if not isinstance(value, dict):
            self.wrong(name, f"{name} must be a table, got {shown(value)}")
        self._check_length(name, list(value))
        return Section(value, (*self.path, name))

    def listed(self, name: str) -> list[Any]:
        """A list that is not empty."""
        value = self.take(name, "a list")
        if not isinstance(value, list):
            self.wrong(name, f"{name} must be a list, got {shown(value)}")
        self._check_length(name, value)
        return value

    def close(self, *others: str) -> None:
        """Refuse what nobody asked for, nor will: ``others`` are known too."""
        self.asked.update(others)
        for name in self.held:
            if name not in self.asked:
                known = sorted(self.asked)
                hint = meant(name, known, f"known here: {', '.join(known)}")
                self.wrong(name, f"{name} is not known; {hint}")

    def _exact(self, name: str, value: Any) -> Fraction:
        good = isinstance(value, (int, str, Decimal)) and not isinstance(value, bool)
        if not good:
            self.wrong(name, f"{name} must be a number, got {shown(value)}")
        try:
            return rational(value, name)
        except ParameterError:
            self.wrong(name, f"{name} must be a finite number, got {shown(value)}")

    def _check_length(self, name: str, listed: Sequence[Any]) -> None:
        if not listed:
            self.wrong(name, f"{name} must not be empty")
        if len(listed) > _MOST_LISTED:
            self.wrong(name, f"{name} must have at most {_MOST_LISTED:,} entries")


def parsed(text: str, file: str) -> Section:
    """The file as tables; what is no TOML is said with its line."""
    try:
        return Section(bounded_toml(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        raise ReticentError(f"{file}: this is not TOML: {error}") from None
    except TooMuch as error:
        raise ReticentError(f"{place(file, error.line)}: {error}") from None


def told(error: WrongFile, text: str, file: str) -> str:
    """A mistake with file and line."""
    return str(locate([error.fault], text, file)[0])


def by_key(error: ParameterError, section: Section) -> WrongFile:
    """What a mechanism says of a parameter, at the key that gave it."""
    name = (
        error.name if error.name in section else next(iter(section.asked & set(section.held)), "")
    )
    value = shown(section.held[name]) if name == error.name else str(error.value)[:60]
    says = f"{error.name} must be {error.rule}, got {value}"
    return WrongFile(Fault((*section.path, name) if name else section.path, says))


def beside(file: Path, name: str) -> Path:
    """A path written in a file, which is relative to that file."""
    return Path(name) if str(file) == "-" else file.parent / name
