"""How methods of a query are compared: what varies, what is read, and one comparison as asked for.

Not here  comparing (evaluate/compare.py), what is measured (tasks/comparing.py and its like).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from reticent.errors import ParameterError, require
from reticent.queries.options import Option
from reticent.rational import budget, rational

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.queries.base import Query

METHOD = "method"
"""The option of a query whose alternatives are compared, where it has one."""
FORMS = "0.01:10:log, 0.1:1:linear:5 or 0.1,1,10"
_USUAL = 9  # points of a range
_MOST = 200
_ROUNDED = Context(prec=3, rounding=ROUND_HALF_EVEN)  # points of a range that have to be rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How a kind of query is compared.

    ``varies`` is the option that is tried at several values, ``compared`` and ``swept`` are these
    values unless others are given; None: the query chooses. ``placeholder`` stands for the option
    itself, where the query cannot be without one. ``reads`` are the inputs that it needs,
    None for all of them. ``methods`` are names of alternatives that no option ``method`` lists; a
    sweep takes the first of them. ``unused`` are options that do not matter. ``runs`` is how often
    each method is drawn from; None: errors are computed, and nothing is drawn. ``options`` are for
    comparisons and sweeps, ``sweep_options`` for sweeps alone.
    """

    measured: str = "error"
    better: Literal["lower", "higher"] = "lower"
    varies: str = "epsilon"
    placeholder: str | None = None
    compared: str | None = "0.1,0.3,1,3,10"
    swept: str | None = "0.01:10:log"
    zero: bool = False
    reads: tuple[str, ...] | None = None
    methods: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    runs: int | None = 20
    options: tuple[Option, ...] = ()
    sweep_options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One comparison: at which values, of which methods, how often; None is all that there are.

    ``swept`` tells a sweep from a comparison of one method; ``more`` are the options of the
    comparison itself.
    """

    at: tuple[Fraction, ...] | None
    methods: tuple[str, ...] | None
    runs: int
    source: Source
    swept: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda step: None

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The values to try, of a query that does not choose them."""
        return self.at or ()


def methods_of(query: type[Query]) -> tuple[str, ...]:
    """The names of a kind's methods; some may not go with all options."""
    listed = [one.kind.choices for one in query.options() if one.name == METHOD]
    return query.comparison.methods or (listed[0] if listed else (query.kind,))


def points(given: str | Sequence[Any], name: str, *, zero: bool = False) -> tuple[Fraction, ...]:
    """The numbers that a list or a range stands for, each once, by size.

    Steps of a logarithmic range are rounded to three digits, and its ends are as given. ``zero``
    allows 0.

    >>> [float(x) for x in points("0.01:10:log:4", "epsilon")]
    [0.01, 0.1, 1.0, 10.0]
    >>> [str(x) for x in points("0:1:linear:3", "delta", zero=True)]
    ['0', '1/2', '1']
    """
    if not isinstance(given, str):
        found = [_number(one, name, zero) for one in given]
    elif ":" in given:
        found = _range([part.strip() for part in given.split(":")], name, zero)
    else:
        found = [_number(part.strip(), name, zero) for part in given.split(",") if part.strip()]
    require(bool(found), name, "none", f"one number or more, as {FORMS}")
    require(len(set(found)) <= _MOST, name, "more", f"at most {_MOST} numbers: each is tried")
    return tuple(sorted(set(found)))


def _range(parts: Sequence[str], name: str, zero: bool) -> list[Fraction]:
    good = len(parts) in (3, 4) and parts[2] in ("log", "linear")
    require(good, name, "another", f"a range or a list, as {FORMS}")
    log = parts[2] == "log"
    low, high = (_number(part, name, zero and not log) for part in parts[:2])
    require(low < high, name, "another", f"a range from less to more, as {FORMS}")
    count = _count(parts[3], name) if len(parts) == 4 else _USUAL
    steps = [Fraction(step, count - 1) for step in range(1, count - 1)]
    if not log:
        return [low, *(low + (high - low) * step for step in steps), high]
    ratio = float(high) / float(low)
    inner = [Fraction(_ROUNDED.plus(Decimal(float(low) * ratio ** float(step)))) for step in steps]
    return [low, *(x for x in inner if low < x < high), high]


def _count(text: str, name: str) -> int:
    good = text.isascii() and text.isdigit() and 2 <= int(text[:9]) <= _MOST
    require(good, name, text, f"a range of 2 to {_MOST} points")
    return int(text)


def _number(value: Any, name: str, zero: bool) -> Fraction:
    try:
        found = rational(value, name)
        return found if zero and found == 0 else budget(value, name)
    except ParameterError as error:
        raise ParameterError(name, f"{error.rule}, as in {FORMS}", value) from None
