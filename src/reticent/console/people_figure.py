"""Where dots and lines of the noise figure go: a log axis, one row for each attribute.

Not here  how they look (templates/figure.html, static/style.css), the numbers (people_effects.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from reticent.console.people_effects import Effect

LEFT, WIDTH, ROW, TOP = 190, 250, 32, 14
_SHORT = 21


@dataclass(frozen=True, slots=True)
class Mark:
    """One row: the mean error as a dot, the end that 95 in 100 stay below as a line."""

    name: str
    full_name: str
    y: int
    dot: float
    end: float
    within: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing in its own units."""

    marks: tuple[Mark, ...]
    grid: tuple[tuple[float, str], ...]
    height: int
    left: int = LEFT
    wide: int = LEFT + WIDTH + 60


def figure(effects: Iterable[Effect]) -> Figure | None:
    """The noise of each attribute that is asked for; None if there is none to draw."""
    drawn = [effect for effect in effects if effect.state != "not asked" and effect.within > 0]
    if not drawn:
        return None
    least = min(effect.mean_error for effect in drawn)
    most = max(effect.within for effect in drawn)
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    high = max(high, low + 1)

    def place(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return round(LEFT + WIDTH * share, 1)

    marks = tuple(
        Mark(
            effect.attribute
            if len(effect.attribute) <= _SHORT
            else effect.attribute[: _SHORT - 1] + "…",
            effect.attribute,
            TOP + ROW * place_of + ROW // 2,
            place(effect.mean_error),
            place(effect.within),
            effect.within,
        )
        for place_of, effect in enumerate(drawn)
    )
    grid = tuple((place(10.0**k), f"{10.0**k:,g}") for k in range(low, high + 1))
    return Figure(marks, grid, TOP + ROW * len(marks) + 30)
