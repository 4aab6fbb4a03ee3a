"""Sliders and the amounts they stand for: ten steps to a factor of ten, and 0 for not asked.

Not here  what follows from the amounts (pages_engineer_plan.py).

A slider that stands where the provider's own amount is nearest means that amount, to the last
digit; so what nobody moved does not change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from reticent.amounts import show_nano
from reticent.queries.histogram import Histogram

STEPS = tuple(f"{10 ** ((place - 30) / 10):.2g}" for place in range(1, 41))
MOST = len(STEPS)
_EPSILON, _AMOUNT = "0.4", "0.1"  # where a provider asks for no histogram yet


@dataclass(frozen=True, slots=True)
class Slider:
    """Where a slider stands and what that means; None is not asked for."""

    field: str
    name: str
    place: int
    amount: str | None


@dataclass(frozen=True, slots=True)
class Sliders:
    """All amounts of a plan for one provider, as the address holds them."""

    provider: str
    epsilon: Slider
    attributes: tuple[Slider, ...]
    own: Histogram | None = None
    """What the provider asks for now."""

    @property
    def ask(self) -> Histogram | None:
        """What would be asked for, other options as they are; None if nothing."""
        wanted = {one.name: one.amount for one in self.attributes if one.amount is not None}
        if not wanted or self.epsilon.amount is None:
            return None
        amounts = {"epsilon": self.epsilon.amount, "attributes": wanted}
        return Histogram.of_request({**(self.own.to_request() if self.own else {}), **amounts})

    @property
    def query(self) -> str:
        """The address that holds them."""
        places = {one.field: one.place for one in (self.epsilon, *self.attributes)}
        return urlencode({"provider": self.provider, **places})


def place_of(amount: str | None) -> int:
    """Where an amount stands, to the nearest step.

    >>> place_of("0.63"), place_of("0"), place_of(None), place_of("5000")
    (28, 0, 0, 40)
    """
    if amount is None or not Fraction(amount):
        return 0
    return min(max(round(10 * math.log10(Fraction(amount))) + 30, 1), MOST)


def three_digits(nano: int) -> str:
    """A loss to three digits, rounded up.

    >>> three_digits(400_000_000), three_digits(65_612_345), three_digits(0)
    ('0.4', '0.0657', '0')
    """
    step = 10 ** max(0, len(str(nano)) - 3)
    return show_nano(-(-nano // step) * step)


def read_sliders(
    provider: str, own: Histogram | None, attributes: tuple[str, ...], fields: Mapping[str, str]
) -> Sliders:
    """Sliders of a form or an address; what it lacks stands where the provider's amounts are."""
    told: dict[str, Any] = {"epsilon": _EPSILON, "attributes": {"default": _AMOUNT}}
    told = told if own is None else own.to_plain()
    asked = told["attributes"] or {"default": told["epsilon"]}
    usual = asked.get("default")
    sliders = tuple(
        _slider(f"a{j}", name, asked.get(name, usual), fields, least=0)
        for j, name in enumerate(attributes)
    )
    most = _slider("e", "All together", told["epsilon"], fields, least=1)
    return Sliders(provider, most, sliders, own)


def _slider(
    field: str, name: str, own: str | None, fields: Mapping[str, str], *, least: int
) -> Slider:
    text = fields.get(field, "")
    usual = place_of(own)
    place = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else usual
    place = min(max(place, least), MOST)
    amount = own if place == usual else STEPS[place - 1]
    return Slider(field, name, place, amount if place else None)
