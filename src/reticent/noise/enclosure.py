"""Rational bounds on exp and on the laws made of it, as tight as asked for.

Theory    docs/theory/noise.md, Lemma 1 (enclosures).
Not here  drawing. These are the slow, certain values behind the fast tables of laplace.py,
          coins.py and selection.py; they decide the one comparison in a billion that is close.

``decimal`` rounds exp and ln correctly, so its neighbours in the last place enclose the true value.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

Bounds: TypeAlias = tuple[Fraction, Fraction]
Law: TypeAlias = Callable[[Fraction, int], Bounds]
"""A probability as a function of an exact exponent, enclosed to about 2**-bits."""


def exp_minus(x: Fraction, bits: int) -> Bounds:
    """Bounds on exp(-x), x >= 0, at most about 2**-bits apart."""
    if x == 0:
        return Fraction(1), Fraction(1)
    if x > bits:  # exp(-x) < exp(-bits) < 2**-bits; written out it could fill the memory
        return Fraction(0), Fraction(1, 1 << bits)
    digits = bits // 3 + 10
    least, most = _decimal(x, digits, ROUND_FLOOR), _decimal(x, digits, ROUND_CEILING)
    context = _context(digits)
    # not -most: a minus sign would round to the precision of the caller's own decimal context
    lower = context.next_minus(context.exp(most.copy_negate()))
    upper = context.next_plus(context.exp(least.copy_negate()))
    return Fraction(lower), min(Fraction(upper), Fraction(1))


def logistic_minus(x: Fraction, bits: int) -> Bounds:
    """Bounds on 1 / (1 + exp(x)), x >= 0, at most about 2**-bits apart."""
    lower, upper = exp_minus(x, bits)
    return lower / (1 + lower), upper / (1 + upper)  # e / (1 + e) grows with e = exp(-x)


def thinned(x: Fraction, share: Fraction, bits: int) -> Bounds:
    """Bounds on (exp(x share) - 1) / (exp(x) - 1), x > 0, that close in as ``bits`` grow."""
    if share in (0, 1):
        return share, share
    scale = exp_minus(x * (1 - share), bits)
    part, total = exp_minus(x * share, bits), exp_minus(x, bits)
    lower = scale[0] * (1 - part[1]) / (1 - total[0])
    if total[1] == 1:  # too few bits to tell exp(-x) from 1
        return lower, Fraction(1)
    return lower, min(scale[1] * (1 - part[0]) / (1 - total[1]), Fraction(1))


def log(x: Fraction, bits: int) -> Bounds:
    """Bounds on the natural logarithm of x > 0, at most about 2**-bits apart."""
    return log_below(x, bits), log_above(x, bits)


def log_below(x: Fraction, bits: int) -> Fraction:
    """The lower bound of ``log``."""
    digits = bits // 3 + 20
    context = _context(digits)
    found = context.ln(_decimal(x, digits, ROUND_FLOOR))
    # ln 1 is exactly 0, whose neighbours would fill the memory when written out as fractions
    return Fraction(context.next_minus(found)) if found else Fraction(0)


def log_above(x: Fraction, bits: int) -> Fraction:
    """The upper bound of ``log``."""
    digits = bits // 3 + 20
    context = _context(digits)
    found = context.ln(_decimal(x, digits, ROUND_CEILING))
    return Fraction(context.next_plus(found)) if found else Fraction(0)


def _decimal(x: Fraction, digits: int, rounding: str) -> Decimal:
    """``x`` rounded to ``digits`` significant digits."""
    return _context(digits, rounding).divide(Decimal(x.numerator), Decimal(x.denominator))


def _context(digits: int, rounding: str | None = None) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
