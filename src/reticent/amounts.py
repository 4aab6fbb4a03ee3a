"""Amounts of budget: integer nano-epsilon, with the side each rounds to.

Guarantees round up, limits round down, and nothing is ever lost to a float.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction

NANO = 10**9
"""Nano-epsilon in one epsilon."""


def nano_up(epsilon: Fraction) -> int:
    """Nano-epsilon to charge for a loss: never less than the loss."""
    return math.ceil(epsilon * NANO)


def nano_down(epsilon: Fraction) -> int:
    """Nano-epsilon that a limit allows: never more than the limit."""
    return math.floor(epsilon * NANO)


def show_up(value: float, digits: int = 4) -> str:
    """A bound to a few digits, rounded up: rounded down, a sentence that states it is false.

    >>> show_up(4.38203), show_up(1.5), show_up(12345.6)
    ('4.383', '1.5', '12350')
    >>> show_up(1.23e-12, 2), show_up(0.05)
    ('1.3e-12', '0.05')
    """
    told = repr(float(value))  # 0.05 is meant, and not the binary fraction a little above it
    rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(told).normalize()
    return format(rounded, "f" if -5 < rounded.adjusted() < 15 else "e")


def show_nano(nano: int) -> str:
    """An amount as a decimal, with nothing rounded away.

    >>> show_nano(1_500_000_000), show_nano(1)
    ('1.5', '0.000000001')
    """
    whole, rest = divmod(abs(nano), NANO)
    digits = f"{whole}.{rest:09d}".rstrip("0").rstrip(".")
    return f"-{digits}" if nano < 0 else digits
