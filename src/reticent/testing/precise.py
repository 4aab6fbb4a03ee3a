"""Seventy digits: the arithmetic on the independent side of every comparison with a sampler.

Not here  enclosures (noise/enclosure.py), which the samplers use and which this must not share.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import wraps
from typing import ParamSpec, TypeVar

from reticent.testing.sources import MORE

_P = ParamSpec("_P")
_T = TypeVar("_T")


def precisely(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Run ``function`` with decimals of 70 digits; samplers are called outside of such functions.

    >>> precisely(lambda: len(str(Decimal(1) / 3)))()
    72
    """

    @wraps(function)
    def precise(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with localcontext(Context(prec=70)):
            return function(*args, **kwargs)

    return precise


@precisely
def decimal(x: Fraction) -> Decimal:
    """``x`` to 70 digits."""
    return Decimal(x.numerator) / x.denominator


REST = decimal(Fraction(MORE, (1 << 64) - 1))
"""How far into its last place a scripted word is, as its script goes on for ever with MORE."""
