"""Expected errors of who is at a percentile, computed from the law: no draw is needed.

The largest value L that a person can have is public. The code published with the paper takes the
largest value of the data; declared here as if it were known, and twice as much beside it. An error
that is near that of a person drawn at random says that a budget buys nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.dampening.datasets import LEVELS, People, Scale
from experiments.dampening.results import Pool
from reticent.mechanisms.dampening import Dampened, Law, Shift
from reticent.tasks.percentile import expected_error, percentile_mechanism

EXPONENTIAL, FLIP = "exponential", "permute-and-flip"
DAMPENED, SHIFTED, RIGHT = "dampened", "shifted left", "shifted right"
BY_FLIP = {name: f"{name}, permute-and-flip" for name in (DAMPENED, SHIFTED)}
SERIES = (EXPONENTIAL, FLIP, *(one for pair in BY_FLIP.items() for one in pair), RIGHT)
RANDOM = "a person at random"
MEASURES = ("value error", "rank error")
_STEPS = {DAMPENED: 4, SHIFTED: 1, RIGHT: 1}  # no |u| is above three steps of at least L / 2
_SHIFTS: dict[str, Shift] = {DAMPENED: "none", SHIFTED: "left", RIGHT: "right"}


@dataclass(frozen=True, slots=True)
class Setting:
    """Whose values, and which bound of them is declared."""

    people: People
    times: int

    @property
    def name(self) -> str:
        """The label of rows."""
        return doubled(self.people.name) if self.times == 2 else self.people.name

    @property
    def upper(self) -> float:
        """L."""
        return float(self.times * self.people.values.max())


def doubled(name: str) -> str:
    """The label of rows with twice the bound."""
    return f"{name}, L = 2 max"


def mechanism(series: str, epsilon: float, people: int, upper: float) -> Dampened:
    """The mechanism of this name."""
    base = series.split(",")[0]
    flips = series == FLIP or series in BY_FLIP.values()
    law: Law = "permute-and-flip" if flips else "exponential"
    shift, steps = _SHIFTS.get(base, "left"), _STEPS.get(base, 0)
    return percentile_mechanism(epsilon, people, upper, shift=shift, law=law, steps=steps)


def run(pool: Pool, everybody: list[People], scale: Scale) -> None:
    """Errors, and by how much they are below the exponential mechanism's."""
    for people in everybody:
        for times in (1, 2):
            for p in LEVELS:
                _errors(pool, Setting(people, times), p, scale)


def _errors(pool: Pool, setting: Setting, p: float, scale: Scale) -> None:
    values, upper = setting.people.values, setting.upper
    for name, error in zip(MEASURES, _at_random(values, p), strict=True):
        pool.add(f"{name}, p = {p}", setting.name, RANDOM, "", error)
    for epsilon in scale.percentile_epsilons:
        plain: dict[str, float] = {}
        for series in SERIES:
            used = mechanism(series, epsilon, len(values), upper)
            found = expected_error(values, p, upper=upper, mechanism=used)
            for name, error in zip(MEASURES, (found.value, found.rank), strict=True):
                pool.add(f"{name}, p = {p}", setting.name, series, epsilon, error)
                first = plain.setdefault(name, error)  # the exponential mechanism comes first
                less = 1 - error / first if first > 0 else 0.0
                pool.add(f"less {name}, p = {p}", setting.name, series, epsilon, less)


def _at_random(values: np.ndarray[tuple[int], np.dtype[np.int64]], p: float) -> tuple[float, float]:
    """A budget of almost nothing."""
    used = mechanism(EXPONENTIAL, 1e-9, len(values), float(values.max()))
    found = expected_error(values, p, upper=float(values.max()), mechanism=used)
    return found.value, found.rank
