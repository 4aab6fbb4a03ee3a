"""Parameters as exact numbers: how a float is read, and which way it rounds.

A float parameter stands for the shortest decimal that reads back as it, so ``epsilon=0.1`` is
exactly one tenth and ten such releases cost exactly 1. Budgets and losses are counted in integer
nano-epsilon: limits round down, charges round up.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from reticent.errors import ParameterError, require

NANO = 10**9

Number: TypeAlias = int | float | Fraction | Decimal | str
"""What a numeric parameter may be given as."""


def rational(value: Number, name: str) -> Fraction:
    """The exact rational that ``value`` stands for; NaN, infinities and non-numbers are refused."""
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    decimal = _decimal(value)
    # Exponents far out of range would cost memory without bound when written out as a fraction.
    if decimal is None or not decimal.is_finite() or abs(decimal.adjusted()) > 400:
        raise ParameterError(name, "a finite number", value)
    return Fraction(decimal)


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, Real) and not isinstance(value, bool):
        value = repr(float(value))
    if isinstance(value, Decimal):
        return value
    if not isinstance(value, str):
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


def positive(value: Number, name: str) -> Fraction:
    """As ``rational``, and above zero."""
    exact = rational(value, name)
    require(exact > 0, name, value, "positive and finite")
    return exact


def whole(value: object, name: str, *, least: int) -> int:
    """``value`` as an int of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(name, f"a whole number of at least {least}", value)
    return int(value)


def nano_up(epsilon: Fraction) -> int:
    """Nano-epsilon to charge for a loss: never less than the loss."""
    return math.ceil(epsilon * NANO)


def nano_down(epsilon: Fraction) -> int:
    """Nano-epsilon that a limit allows: never more than the limit."""
    return math.floor(epsilon * NANO)


def show_nano(nano: int) -> str:
    """An amount of nano-epsilon as a decimal, with nothing rounded away."""
    sign, (whole, rest) = "-" if nano < 0 else "", divmod(abs(nano), NANO)
    return sign + f"{whole}.{rest:09d}".rstrip("0").rstrip(".")
