"""What all selection mechanisms share: scores on a public grid, a rate, and the error bound.

Theory    docs/theory/selection.md, Lemma 1 (grid), Theorem 3 (error)
Notation  eps = epsilon, D = sensitivity of a score, g = grid step, D' = D + g,
          rate c = eps g / (2 D') per grid step, or eps g / D' for monotone scores
Not here  the two laws (exponential.py, permute_and_flip.py), the samplers (noise/selection.py).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.amounts import show_up
from reticent.errors import require
from reticent.guarantees import RECORD, PureDP, Unit, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.reading import read_exact
from reticent.noise import Grid, Source
from reticent.rational import Number, budget, positive, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_SCORE_BITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Mechanism[int]):
    """Choose one of ``candidates`` by private scores that one unit changes by ``sensitivity``.

    ``monotone`` scores all move the same way when a unit is added; they need half the noise.
    """

    name: ClassVar[str]
    page: ClassVar[str]
    epsilon: Number
    candidates: int
    sensitivity: Number
    monotone: bool = False
    unit: Unit = RECORD

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        whole(self.candidates, "candidates", least=1)
        require(isinstance(self.monotone, bool), "monotone", self.monotone, "true or false")
        require(isinstance(self.unit, Unit), "unit", self.unit, "a Unit")
        # a replacement takes from one score and adds to another
        one_way = self.unit.relation == "add-remove" or not self.monotone
        require(one_way, "monotone", self.monotone, "false for units that are substituted")

    @abstractmethod
    def _choose(self, scores: NDArray[np.int64], source: Source) -> int:
        """The index drawn for quantised scores."""

    @property
    def grid(self) -> Grid:
        """Scores are rounded to about sensitivity / 2**20."""
        return Grid.finer_than(Fraction(self.sensitivity), bits=_SCORE_BITS)

    @property
    def widened(self) -> Fraction:
        """Sensitivity D' after rounding to the grid. Lemma 1."""
        return self.grid.widen(Fraction(self.sensitivity), coordinates=1)

    @property
    def rate(self) -> Fraction:
        """Weight c of one grid step in the exponent."""
        halves = 1 if self.monotone else 2
        return Fraction(self.epsilon) * self.grid.step / (halves * self.widened)

    def guarantee(self) -> PureDP:
        """Theorem 1 or 2: c (2 D' / g) = eps, or c D' / g for monotone scores."""
        halves = 1 if self.monotone else 2
        return PureDP.of(self.rate * halves * self.widened / self.grid.step, self.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "candidates": self.candidates,
            "sensitivity": plain(Fraction(self.sensitivity)),
            "monotone": self.monotone,
            "unit": [self.unit.thing, self.unit.relation],
        }

    def utility(self) -> Utility:
        """Theorem 3: P[best - chosen > (g/c) ln(20 n) + g] < 0.05."""
        steps = math.log(20 * self.candidates) / float(self.rate) + 1
        within = float(self.grid.step) * steps
        return Utility(
            sentence=f"the chosen score is within {show_up(within)} of the best, 95 times in 100",
            within_95=within,
        )

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        direction = "in one direction" if self.monotone else "either way"
        return How(
            sensitivity=f"{self.unit}, moves each score by at most {self.sensitivity}, {direction}",
            bounds="none needed: the list of candidates is public",
            floating_point=f"scores are integers times 2**{self.grid.exponent}; the law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem=self.page,
            assumptions=(
                "the declared sensitivity holds",
                "the candidates do not depend on the data",
                "AES-256 is not broken",
            ),
        )

    def release(self, data: ArrayLike, source: Source) -> Release[int]:
        """The index of one candidate. Scores that are no numbers count as the lowest."""
        scores = read_exact(data, self.candidates)
        bound = (1 << 60) * self.grid.step
        units = self.grid.quantise(scores, lower=-bound, upper=bound)
        return Release.by(self, self._choose(units, source), source)
