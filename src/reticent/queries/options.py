"""Options of a query: one declaration gives the argument, the command-line option, the JSON field.

Not here  queries (base.py), how an option is typed in a shell (cli/queries.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.errors import ParameterError, require
from reticent.rational import Number, budget, positive, rational, whole

_LONGEST = 1000  # letters of a name
TAKEN = frozenset(
    (
        *("kind", "inputs", "columns", "people", "preferences", "ledger", "data_set", "total"),
        *("key", "source", "out", "processes", "card", "dry_run", "yes", "json", "as_json"),
        *("context", "count", "draws", "values", "methods", "runs", "seed", "plot"),
    )
)
"""Names that surfaces have for arguments of their own."""


def exact_text(value: Fraction) -> str:
    """A number without loss: as a decimal where one ends, else as a ratio.

    >>> exact_text(Fraction(1, 2)), exact_text(Fraction(200000)), exact_text(Fraction(1, 3))
    ('0.5', '200000', '1/3')
    """
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest > 1:
        return str(value)
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{decimal:f}" if Fraction(decimal) == value else str(value)


def plain(value: Any) -> Any:
    """An option as JSON holds it; exact numbers are text."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return exact_text(value) if isinstance(value, Fraction) else value


@dataclass(frozen=True, slots=True)
class OptionKind:
    """What an option may hold. ``read`` gives its one canonical value, or says what is wrong.

    ``write`` gives what JSON holds, and ``read`` takes that, too. ``form`` is the command that
    prints a form of the file, where the option is one in a shell. ``written``: it names a file
    that a release writes.
    """

    metavar: str
    read: Callable[[Any, str], Any]
    choices: tuple[str, ...] = ()
    flag: bool = False
    write: Callable[[Any], Any] = plain
    form: str = ""
    written: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """A field of a query, as surfaces show it.

    ``local``: whoever runs a release sets it, because it names a person, a provider or a file, or
    says where the data are; a request from outside may not.
    """

    name: str
    help: str
    kind: OptionKind
    default: Any = MISSING
    local: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING


def option(help: str, kind: OptionKind, *, default: Any = MISSING, local: bool = False) -> Any:
    """A field of a query class; ``kind`` says what it may hold, ``Option`` what is ``local``."""
    about = {"help": help, "kind": kind, "local": local or kind.written}
    return field(metadata=about) if default is MISSING else field(default=default, metadata=about)


def fine(width: Fraction, points: int) -> Fraction:
    """The largest of 1, 2 and 5 times a power of ten that fits so often into ``width``.

    >>> [exact_text(fine(Fraction(width), 1000)) for width in ("200000", "1", "0.3")]
    ['200', '0.001', '0.0002']
    """
    most, power = width / points, Fraction(1)
    while power > most:
        power /= 10
    while power * 10 <= most:
        power *= 10
    return max(power * times for times in (1, 2, 5) if power * times <= most)


def _share(value: Number, name: str) -> Fraction:
    exact = rational(value, name)
    require(0 < exact < 1, name, value, "between 0 and 1")
    return exact


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(name, "true or false", value)
    return value


def _name(value: Any, name: str) -> str:
    value = str(value) if type(value) is int else value
    good = isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST
    require(good, name, "another", f"a name of 1 to {_LONGEST} letters")
    return str(value.strip())


def count(*, least: int = 1, most: int = 10**18, metavar: str = "N") -> OptionKind:
    """A whole number."""

    def read(value: Any, name: str) -> int:
        digits = isinstance(value, str) and value.isascii() and value.isdigit()
        found = whole(int(value) if digits and len(value) < 19 else value, name, least=least)
        require(found <= most, name, "more", f"a whole number from {least} to {most}")
        return found

    return OptionKind(metavar, read)


def choice(*names: str) -> OptionKind:
    """One of some words."""

    def read(value: Any, name: str) -> str:
        require(value in names, name, value, f"one of {', '.join(names)}")
        return str(value)

    return OptionKind("|".join(names), read, choices=names)


def names(metavar: str, how_many: int | None = None) -> OptionKind:
    """Some names, so many if that is given; as text they stand between commas."""

    def read(value: Any, name: str) -> tuple[str, ...]:
        listed = value.split(",") if isinstance(value, str) else value
        if isinstance(listed, (list, tuple)):
            listed = [str(one) if type(one) is int else one for one in listed]
        good = isinstance(listed, (list, tuple)) and all(isinstance(one, str) for one in listed)
        found = tuple(one.strip() for one in listed) if good else ()
        proper = len(found) == (how_many or max(len(found), 1)) and all(found)
        many = "names" if how_many is None else f"{how_many} names, as {metavar}"
        require(proper, name, value, many)
        return found

    return OptionKind(metavar, read)


def amounts(metavar: str, *, zero: bool = False) -> OptionKind:
    """Numbers above 0 by name, or from 0 on; as text they stand as a=2,b=0.5."""

    def read(value: Any, name: str) -> tuple[tuple[str, Fraction], ...]:
        if isinstance(value, str):
            pairs = [part.rpartition("=")[::2] for part in value.split(",") if part.strip()]
        elif isinstance(value, Mapping):
            pairs = list(value.items())
        else:
            pairs = list(value) if isinstance(value, tuple) else []
        least = "from 0 on" if zero else "above 0"
        rule = f"names with numbers {least}, each once, as age=10,hours=5"
        good = bool(pairs) and all(isinstance(one, tuple) and len(one) == 2 for one in pairs)
        require(good, name, "another", rule)
        try:
            found = {_name(one, name): rational(amount, name) for one, amount in pairs}
        except ParameterError:
            raise ParameterError(name, rule, "another") from None
        distinct = len({one.casefold() for one in found}) == len(pairs)
        good = all(amount > 0 or (zero and amount == 0) for amount in found.values())
        require(distinct and good, name, "another", rule)
        return tuple(sorted(found.items()))

    def write(value: Any) -> dict[str, str]:
        return {one: exact_text(amount) for one, amount in value}

    return OptionKind(metavar, read, write=write)


def either(one: OptionKind, other: OptionKind) -> OptionKind:
    """What ``one`` reads, or else ``other``; what neither reads, both say."""

    def read(value: Any, name: str) -> Any:
        try:
            return one.read(value, name)
        except ParameterError as first:
            try:
                return other.read(value, name)
            except ParameterError as second:
                rule = f"{first.rule}, or {second.rule}"
                raise ParameterError(name, rule, "another") from None

    def write(value: Any) -> Any:
        return other.write(value) if isinstance(value, tuple) else one.write(value)

    return replace(other, read=read, write=write)


def at_least(value: Number, least: Fraction, name: str = "epsilon") -> None:
    """Refuse an epsilon for which no noise can be drawn."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(float(least))
    require(Fraction(value) >= least, name, "less", f"at least {rounded:f}")


def json_file(metavar: str) -> OptionKind:
    """The name of a file that a release writes, .json; nothing is opened here."""

    def read(value: Any, name: str) -> str:
        told = str(value) if isinstance(value, Path) else value
        good = isinstance(told, str) and "\0" not in told and told.endswith(".json")
        require(good, name, value, "a file named .json")
        return str(told)

    return OptionKind(metavar, read, written=True)


def perhaps(kind: OptionKind) -> OptionKind:
    """The same, or nothing: then the query chooses."""

    def read(value: Any, name: str) -> Any:
        return None if value is None else kind.read(value, name)

    def write(value: Any) -> Any:
        return None if value is None else kind.write(value)

    return replace(kind, read=read, write=write)


BUDGET = OptionKind("E", budget)
EXACT = OptionKind("X", rational)
POSITIVE = OptionKind("X", positive)
SHARE = OptionKind("Q", _share)
NAME = OptionKind("NAME", _name)
FLAG = OptionKind("", _flag, flag=True)
