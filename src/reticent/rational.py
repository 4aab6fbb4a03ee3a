"""Parameters as exact numbers: how a float is read.

A float parameter stands for the shortest decimal that reads back as it, so ``epsilon=0.1`` is
exactly one tenth and ten such releases cost exactly 1.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from reticent.errors import ParameterError, require

_RATIO = re.compile(r"-?[0-9]{1,400}/0*[1-9][0-9]{0,400}")

Number: TypeAlias = int | float | Fraction | Decimal | str
"""What a numeric parameter may be given as."""


def rational(value: Number, name: str) -> Fraction:
    """The exact rational that ``value`` stands for; NaN, infinities and non-numbers are refused."""
    if isinstance(value, str) and _RATIO.fullmatch(value):
        return Fraction(value)
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


def budget(value: Number, name: str) -> Fraction:
    """A positive epsilon of at most a million, beyond which nothing is promised anyway."""
    exact = positive(value, name)
    require(exact <= 10**6, name, value, "positive and at most 1000000")
    return exact


def whole(value: object, name: str, *, least: int) -> int:
    """``value`` as an int of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(name, f"a whole number of at least {least}", value)
    return int(value)
