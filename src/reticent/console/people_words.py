"""Amounts, weights and days in the words of the people's pages.

Not here  which amount holds (preferences/, tasks/terms.py).

Bounds round up, and consequences come before parameters.
"""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from reticent.amounts import NANO, show_nano, show_up
from reticent.guarantees.card import right_at_most

NONE: Final = "\N{EN DASH}"
SYMBOLS: Final = {"withheld": "○", "noisy": "◐", "coded": "◈", "not asked": NONE}
MEANINGS: Final = (
    ("withheld", "they get noise only, nothing of you"),
    ("noisy", "your number with noise on it, so that a single thing of yours hardly shows"),
    (
        "coded",
        "a profile drawn for you, or your own, so that what you hide stays hard to infer",
    ),
    ("not asked", "they do not ask for it"),
)
RENEWALS: Final = {
    "never": "never",
    "daily": "every day",
    "weekly": "every week",
    "monthly": "every month",
    "yearly": "every year",
}
_WEIGHTS: Final = {
    Fraction(0): "0 · hidden, never counts",
    Fraction(1, 4): "¼ · counts a quarter",
    Fraction(1, 2): "½ · counts half",
    Fraction(3, 4): "¾ · counts three quarters",
    Fraction(1): "1 · counts in full",
}
NO_TOTAL: Final = (
    "No total is set: nothing limits what all releases together tell. Whoever asks often enough "
    "averages the noise away."
)
WEIGHTS: Final = ("0", "0.25", "0.5", "0.75", "1")


def odds(what: str, nano: int, about: str = "one item of yours") -> str:
    """The sentence that comes first, for an item of weight 1."""
    return (
        f"Whoever sees {what} and was undecided (50 in 100) about whether {about} is in your "
        f"profile can be right at most {right_at_most(nano)} times in 100."
    )


def together(total: int | None, renews: str, spent: int) -> str:
    """What all releases to one service allow together: the sum of their epsilons decides.

    >>> together(2 * NANO, "never", 0)[-37:]
    'can be right at most 89 times in 100.'
    >>> together(2 * NANO, "never", 3 * NANO)[-37:]
    'can be right at most 96 times in 100.'
    """
    so_far = odds(f"all it got so far (epsilon {epsilon(spent)})", spent) if spent else ""
    if total is None:
        return f"{NO_TOTAL} {so_far}".strip()
    if renews == "never":
        most = max(total, spent)  # a total that was set or lowered later takes nothing back
        return odds(f"all its releases together (epsilon {epsilon(most)})", most)
    first = odds(f"all releases that one period allows (epsilon {epsilon(total)})", total)
    again = f"It starts anew {RENEWALS[renews]}, and what several periods tell adds up."
    return f"{first} {again} {so_far if spent > total else ''}".strip()


def counts(share: float) -> str:
    """How far somebody's data counts, of 100.

    >>> counts(0), counts(0.4), counts(1)
    ('does not count', 'counts 40 in 100', 'counts in full')
    """
    if share <= 0:
        return "does not count"
    return "counts in full" if share >= 1 else f"counts {show_up(100 * share, 2)} in 100"


def counted(share: float) -> str:
    """The same after a number.

    >>> counted(0.08), counted(1)
    ('counts (8 in 100)', 'counts (in full)')
    """
    return f"counts ({'in full' if share >= 1 else f'{show_up(100 * share, 2)} in 100'})"


def weight(exact: Fraction) -> str:
    """A weight in words."""
    return _WEIGHTS.get(exact, f"{float(exact):g} · counts {show_up(100 * float(exact), 3)} in 100")


def number(value: float) -> str:
    """A number that was released or is true, to what matters of it.

    >>> number(12.0), number(3.14159), number(-0.0), number(12345.678)
    ('12', '3.14', '0', '12,345.7')
    """
    digits = 0 if value == round(value) else 1 if abs(value) >= 100 else 2
    return f"{value + 0:,.{digits}f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def bound(value: float) -> str:
    """A bound to three digits, rounded up."""
    return show_up(value, 3)


def epsilon(nano: int) -> str:
    """An amount to four decimals, rounded up; nothing is hidden that rounding would hide.

    >>> epsilon(399_999_999), epsilon(1), epsilon(0)
    ('0.4', '0.0001', '0')
    """
    step = NANO // 10_000
    return show_nano(-(-nano // step) * step)


def remaining(nano: int) -> str:
    """What is left of an amount, to four decimals, rounded down."""
    return show_nano(nano // (NANO // 10_000) * (NANO // 10_000))


def day(at: int) -> str:
    """The day of a time, in UTC.

    >>> day(0)
    'Thursday 1 January 1970'
    """
    then = datetime.fromtimestamp(at, UTC)
    return f"{then:%A} {then.day} {then:%B %Y}"


def clock(at: int) -> str:
    """The time of day, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M}"


def machine_time(at: int) -> str:
    """A time for ``<time datetime=…>``."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%MZ}"
