"""How figures of a mapping are written: promises rounded up, never above the whole.

Not here  the sentences they stand in (loss_words.py, queries/mapping_words.py).
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context

from reticent.amounts import show_up

TINY = 1e-6  # bits or shares: what solvers leave of nothing at all
_NOISE = 7  # digits after the point of a percentage; the rest is rounding of sums


def near(value: float, digits: int = 4) -> str:
    """A figure of what is, to the nearest; next to nothing is 0.

    >>> near(0.19274), near(3e-17), near(-2e-12)
    ('0.1927', '0', '0')
    """
    return f"{value:.{digits}g}" if abs(value) >= TINY else "0"


def up(value: float, digits: int = 4) -> str:
    """A figure that is promised, rounded up; next to nothing is 0.

    >>> up(0.04997123), up(3e-17)
    ('0.04998', '0')
    """
    return show_up(value, digits) if value >= TINY else "0"


def down(value: float, digits: int = 4) -> str:
    """A figure that is proved at least, rounded down; next to nothing is 0.

    >>> down(0.101086), down(3e-17)
    ('0.101', '0')
    """
    if value < TINY:
        return "0"
    rounded = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal_from_float(value)
    return f"{rounded.normalize():f}"


def near_100(share: float) -> str:
    """A share as it is, in hundredths.

    >>> near_100(0.76073), near_100(1 + 2e-16)
    ('76.1', '100')
    """
    return near(100 * min(share, 1.0), 3)


def up_100(share: float) -> str:
    """A share that is promised, in hundredths, rounded up to 100 at most.

    >>> up_100(0.76111), up_100(1 + 2e-16), up_100(0.75 + 1e-13)
    ('76.2', '100', '75')
    """
    return up(round(min(100 * share, 100.0), _NOISE), 3)


def after_100(before: float, after: float) -> str:
    """What a guess gains to, rounded up; where it gains nothing, the same figure as before.

    >>> after_100(0.5013, 0.5013 + 1e-9), after_100(0.5013, 0.5113)
    ('50.1', '51.2')
    """
    return near_100(before) if after - before < TINY else up_100(after)


def down_100(share: float) -> str:
    """A share that is needed at least, in hundredths, rounded down.

    >>> down_100(0.05678), down_100(0.0)
    ('5.6', '0')
    """
    return f"{int(1000 * share) / 10:g}"
