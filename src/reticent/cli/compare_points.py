"""Budgets or distortions to try, as they are typed: a list, or a range with its kind of steps.

Not here  what is tried at them (tasks/comparing.py and its like).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from reticent.cli.failures import Failure

FORMS = "0.01:10:log, 0.1:1:linear:5 or 0.1,1,10"
_USUAL = 9  # points of a range
_MOST = 200
_ROUNDED = Context(prec=3, rounding=ROUND_HALF_EVEN)  # points of a range that have to be rounded


def points(text: str, option: str, *, zero: bool = False) -> list[Fraction]:
    """The numbers that a list or a range stands for, each once, by size.

    Steps of a logarithmic range are rounded to three digits, and its ends are as given. ``zero``
    allows 0.

    >>> [float(x) for x in points("0.01:10:log:4", "--epsilon")]
    [0.01, 0.1, 1.0, 10.0]
    >>> [str(x) for x in points("0:1:linear:3", "--distortion", zero=True)]
    ['0', '1/2', '1']
    """
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        found = [_number(part, option, zero) for part in text.split(",") if part.strip()]
    else:
        found = _range(parts, option, zero)
    if not found:
        raise Failure(f"{option} needs one number or more, as {FORMS}")
    if len(set(found)) > _MOST:
        raise Failure(f"{option} has more than {_MOST} numbers", why="each of them is tried")
    return sorted(set(found))


def _range(parts: Sequence[str], option: str, zero: bool) -> list[Fraction]:
    if len(parts) not in (3, 4) or parts[2] not in ("log", "linear"):
        raise Failure(f"{option} is no range", why=f"ranges and lists are written {FORMS}")
    log = parts[2] == "log"
    low, high = (_number(part, option, zero and not log) for part in parts[:2])
    if low >= high:
        raise Failure(f"{option} must go from less to more, as {FORMS}")
    count = _count(parts[3], option) if len(parts) == 4 else _USUAL
    steps = [Fraction(step, count - 1) for step in range(1, count - 1)]
    if not log:
        return [low, *(low + (high - low) * step for step in steps), high]
    ratio = float(high) / float(low)
    inner = [_rounded(float(low) * ratio ** float(step)) for step in steps]
    return [low, *(x for x in inner if low < x < high), high]


def _rounded(value: float) -> Fraction:
    return Fraction(_ROUNDED.plus(Decimal(value)))


def _count(text: str, option: str) -> int:
    if not text.isascii() or not text.isdigit() or not 2 <= int(text[:9]) <= _MOST:
        raise Failure(f"{option} must have 2 to {_MOST} points, got {text!r}")
    return int(text)


def _number(text: str, option: str, zero: bool) -> Fraction:
    from reticent.errors import ParameterError
    from reticent.rational import budget, rational

    try:
        name = option.removeprefix("--")
        found = rational(text, name)
        return found if zero and found == 0 else budget(text, name)
    except ParameterError as error:
        raise Failure(f"{option} must be {error.rule}, got {text!r}", why=f"as {FORMS}") from None
