"""A slider and a number for one epsilon: steps from withheld to accurate, and which of two counts.

Not here  what an epsilon does (people_effects.py).

A form without script sends both the slider and the number. Whichever differs from what the page
showed is what was meant; if neither does, nothing was changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

from reticent.preferences.problems import amount
from reticent.preferences.reading import MOST, exact_decimal

STEPS: Final = (
    *("", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05"),
    *("0.1", "0.2", "0.5", "1", "2", "5", "10"),
)
"""What the slider stands for; the first withholds."""
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """An epsilon as it was typed; the empty text withholds."""

    typed: str

    @classmethod
    def of(cls, exact: Fraction | None) -> Choice:
        """An amount of a file."""
        return cls("" if exact is None else format(Decimal(amount(exact)), "f"))

    @property
    def step(self) -> int:
        """The place of the slider that is nearest."""
        value = _decimal(self.typed)
        if value is None or value <= 0:
            return 0
        return min(range(1, len(STEPS)), key=lambda k: abs(value.ln() - Decimal(STEPS[k]).ln()))

    @property
    def valid(self) -> bool:
        """Whether it withholds or is a positive number that a file can hold."""
        return not self.typed or positive(self.typed)


def positive(typed: str) -> bool:
    """Whether a field holds an amount above 0 that a file takes.

    >>> [positive(text) for text in ("2", "1e-3", "0", "few", "")]
    [True, True, False, False, False]
    """
    exact = _exact(typed)
    return exact is not None and 0 < exact <= MOST


def from_zero(typed: str) -> bool:
    """Whether a field holds an amount from 0 on that a file takes."""
    exact = _exact(typed)
    return exact is not None and 0 <= exact <= MOST


def chosen(fields: Mapping[str, str], shown: Choice) -> Choice:
    """What was meant by a form or an address.

    >>> chosen({"step": "5", "epsilon": "0.1", "shown": "0.1", "shown_step": "7"}, Choice(""))
    Choice(typed='0.02')
    >>> chosen({"step": "7", "epsilon": "0.3", "shown": "0.1", "shown_step": "7"}, Choice(""))
    Choice(typed='0.3')
    """
    typed, step = fields.get("epsilon", "").strip()[:_LONGEST], fields.get("step", "")
    before = Choice(fields.get("shown", shown.typed))
    if "epsilon" in fields and typed != before.typed:
        return Choice("" if _decimal(typed) == 0 else typed)
    moved = step.isascii() and step.isdecimal() and len(step) < 3 and int(step) < len(STEPS)
    if moved and step != fields.get("shown_step", str(before.step)):
        return Choice(STEPS[int(step)])
    return before


def _exact(typed: str) -> Fraction | None:
    value = _decimal(typed) if len(typed) <= _LONGEST else None
    return None if value is None else exact_decimal(value)


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
