"""Local dampening: choose by utilities divided by what one unit can change near by.

Theory    docs/theory/dampening.md, Theorem 1 (one unit moves a score by one), Theorem 2 (shifted),
          Theorem 3 (fewer steps), Theorem 4 (privacy), Theorem 8 (spread); [FariasEtAl2020],
          [McKennaSheldon2020]
Notation  u(r) = utility, delta(t, r) = its sensitivity t units away, b(i, r) = sum of delta over
          t < i, G = public limit of all delta, T = steps before delta is taken to be G
Not here  sensitivities (local_sensitivity.py), the two laws (noise/selection.py).

A candidate's score says how many units must change before its utility could be 0 (dampened), or how
far it could rise (shifted). Both move by at most one when a unit changes, however large a utility's
own sensitivity is. Scores are whole numbers of 2**-20, computed without a rounding error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from reticent.amounts import show_up
from reticent.errors import require
from reticent.guarantees import RECORD, PureDP, Unit, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.local_sensitivity import LocalSensitivity, in_steps
from reticent.mechanisms.reading import read_exact
from reticent.noise import Grid, Source, exponential, permute_and_flip
from reticent.rational import Number, budget, positive, rational, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Whole = NDArray[np.int64]

Shift = Literal["none", "left", "right"]
Law = Literal["permute-and-flip", "exponential"]
SCORE_BITS = 20
_FINER = 24  # bits of the grid of utilities below G
_LARGEST = 1 << 41  # steps of a utility, so that no sum or product leaves 63 bits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scored:
    """What is private: the utility of every candidate, and how sensitive each one is."""

    utilities: ArrayLike
    sensitivity: LocalSensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Dampened(Mechanism[int]):
    """Choose one of ``candidates`` by local dampening.

    ``limit`` is G, the most that one unit changes any utility in any data; it is public, and so is
    ``steps``: local sensitivities are used for so many changed units, then G. ``shift`` "left" is
    for sensitivities that do not fall with the utility, "right" for those that do not rise.
    ``spread`` is by how much one unit can move two scores apart, of which 2 is always true.

    >>> from reticent.mechanisms.local_sensitivity import Tabled
    >>> mechanism = Dampened(epsilon=1, candidates=2, limit=100, steps=1, shift="none")
    >>> data = Scored([50, 0], Tabled.of([0.5, 0.5]))
    >>> mechanism.release(data, Source.system()).value in (0, 1)
    True
    """

    name: ClassVar[str] = "dampened"
    epsilon: Number
    candidates: int
    limit: Number
    steps: int
    shift: Shift = "left"
    law: Law = "permute-and-flip"
    unit: Unit = RECORD
    grid: Grid | None = None
    spread: Number = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        object.__setattr__(self, "limit", positive(self.limit, "limit"))
        whole(self.candidates, "candidates", least=1)
        whole(self.steps, "steps", least=0)
        require(self.shift in get_args(Shift), "shift", self.shift, "none, left or right")
        require(self.law in get_args(Law), "law", self.law, "permute-and-flip or exponential")
        require(isinstance(self.unit, Unit), "unit", self.unit, "a Unit")
        object.__setattr__(self, "spread", rational(self.spread, "spread"))
        require(0 < Fraction(self.spread) <= 2, "spread", self.spread, "above 0 and at most 2")
        grid = (
            Grid.finer_than(Fraction(self.limit), bits=_FINER) if self.grid is None else self.grid
        )
        object.__setattr__(self, "grid", grid)
        widest = self.steps * max(self.most, 1 << SCORE_BITS)  # of sums, and of scores
        fits = self.most < _LARGEST and widest < 1 << 62
        require(fits, "steps", self.steps, "fewer, or the grid coarser: sums must fit 62 bits")

    @property
    def _grid(self) -> Grid:
        assert self.grid is not None  # noqa: S101, set when the value was made
        return self.grid

    @property
    def most(self) -> int:
        """G in steps of the grid, as every delta rounded up."""
        return in_steps(Fraction(self.limit), self._grid)

    @property
    def apart(self) -> Fraction:
        """By how many steps one unit can move two scores apart, as each is rounded."""
        return Fraction(self.spread) * (1 << SCORE_BITS) + 2

    @property
    def rate(self) -> Fraction:
        """Weight of one step of a score in the exponent. Theorem 8."""
        return Fraction(self.epsilon) / self.apart

    def scores(self, data: Scored) -> Whole:
        """Scores in steps of 2**-20; one unit moves each by at most 2**20 + 1. Theorems 1 to 3."""
        units = self._units(read_exact(data.utilities, self.candidates, missing=0.0))
        same = data.sensitivity.candidates == self.candidates
        require(same, "data", data.sensitivity.candidates, f"sensitivities of {self.candidates}")
        if self.shift == "none":
            return self._dampened(units, data.sensitivity)
        every = np.full(self.candidates, self.steps)
        sums = data.sensitivity.sums(every, self._grid, self.most)
        moved = units + sums if self.shift == "left" else units - sums
        return _parts(moved, np.full(self.candidates, self.most))

    def plain_scores(self, utilities: NDArray[np.float64]) -> Whole:
        """Scores of many choices, [choice, candidate], where no local sensitivity is used."""
        plain = self.steps == 0 and self.shift != "none"
        require(plain, "steps", self.steps, "0: local sensitivities are of one choice")
        units = self._units(np.nan_to_num(utilities, nan=0.0, posinf=np.inf, neginf=-np.inf))
        return _parts(units, np.full(units.shape, self.most))

    def _units(self, utilities: NDArray[Any]) -> Whole:
        bound = (_LARGEST - 1) * self._grid.step
        return self._grid.quantise(utilities, lower=-bound, upper=bound)

    def _dampened(self, units: Whole, sensitivity: LocalSensitivity) -> Whole:
        """sign(u) (i + (|u| - b(i)) / delta(i)), i the last with b(i) < |u|, by bisection."""
        size = np.abs(units)
        low = np.zeros(self.candidates, dtype=np.int64)
        high = np.full(self.candidates, self.steps)
        while (low < high).any():
            middle = (low + high + 1) // 2
            below = sensitivity.sums(middle, self._grid, self.most) < size
            low, high = np.where(below, middle, low), np.where(below, high, middle - 1)
        before = sensitivity.sums(low, self._grid, self.most)
        after = sensitivity.sums(np.minimum(low + 1, self.steps), self._grid, self.most)
        inside = low < self.steps
        width = np.where(inside, after - before, self.most)
        score = (low << SCORE_BITS) + _parts(size - before, width)
        return np.asarray(np.sign(units) * score)

    def guarantee(self) -> PureDP:
        """Theorems 4 and 8: no two scores move apart by more than the spread and two steps."""
        return PureDP.of(self.rate * self.apart, self.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "candidates": self.candidates,
            "limit": plain(Fraction(self.limit)),
            "steps": self.steps,
            "shift": self.shift,
            "law": self.law,
            "unit": [self.unit.thing, self.unit.relation],
            "grid": self._grid.exponent,
            "spread": plain(Fraction(self.spread)),
        }

    @classmethod
    def from_parameters(cls, parameters: Any) -> Dampened:
        """The mechanism with these ``parameters()``."""
        given = dict(parameters)
        return cls(**{**given, "unit": Unit(*given["unit"]), "grid": Grid(given["grid"])})

    def utility(self) -> Utility:
        """How far the chosen score is from the best, in units that must change; not in utility."""
        steps = math.log(20 * self.candidates) / float(self.rate) + 1
        within = steps / (1 << SCORE_BITS)
        return Utility(
            sentence=(
                f"the chosen score is within {show_up(within)} changed units of the best score, "
                "95 times in 100; what that means for the utility depends on the data"
            ),
            within_95=within,
        )

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        return How(
            sensitivity=(
                f"{self.unit}, moves a score by at most 1, and two scores apart by at most "
                f"{show_up(float(Fraction(self.spread)))}; local sensitivities for {self.steps} "
                f"steps, then {self.limit}"
            ),
            bounds=f"no utility changes by more than {self.limit}; candidates are public",
            floating_point=f"scores are integers times 2**-{SCORE_BITS}; the law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/dampening.md, Theorem 4",
            assumptions=(
                "the sensitivity function is admissible",
                "limit, steps and spread do not depend on the data",
                "the candidates do not depend on the data",
                "AES-256 is not broken",
            ),
        )

    def release(self, data: Scored, source: Source) -> Release[int]:
        """The index of one candidate. Utilities that are no numbers count as 0."""
        draw = exponential if self.law == "exponential" else permute_and_flip
        chosen = draw(self.scores(data), rate=self.rate, source=source)
        return Release.by(self, chosen, source)


def _parts(amount: Whole, width: Whole) -> Whole:
    """floor(2**20 amount / width), without leaving 63 bits."""
    full, rest = np.divmod(amount, width)
    return np.asarray((full << SCORE_BITS) + (rest << SCORE_BITS) // width)
