"""Snapped Laplace: bounded real values plus Laplace noise, both on one fine grid of integers.

Theory    docs/theory/snapped-laplace.md, Theorem 1 (privacy), Theorem 2 (error); [Mironov2012]
Notation  eps = epsilon, D = sensitivity (L1), g = grid step, D' = D + g * coordinates, t = D' / eps
Not here  the sampler and the grid (noise/), counts (discrete_laplace.py).
"""

from __future__ import annotations

import math
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
from reticent.noise import LARGEST_SCALE, Grid, Source, snapped_laplace
from reticent.rational import Number, budget, positive, rational, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SnappedLaplace(Mechanism["NDArray[np.float64]"]):
    """Release ``size`` reals in [lower, upper]; one unit moves them ``sensitivity`` in total.

    ``coordinates`` says how many of them one unit can move; all of them unless told otherwise.

    >>> from reticent.mechanisms import SnappedLaplace
    >>> mechanism = SnappedLaplace(epsilon=1, size=2, sensitivity=0.5, lower=0, upper=100)
    >>> mechanism.utility().sentence
    'within 1.498 of the true value, 95 times in 100'
    """

    name: ClassVar[str] = "snapped-laplace"
    epsilon: Number
    size: int
    sensitivity: Number
    lower: Number
    upper: Number
    coordinates: int | None = None
    unit: Unit = RECORD

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        for name in ("lower", "upper"):
            object.__setattr__(self, name, rational(getattr(self, name), name))
        whole(self.size, "size", least=1)
        if self.coordinates is None:
            object.__setattr__(self, "coordinates", self.size)
        whole(self.coordinates, "coordinates", least=1)
        require(isinstance(self.unit, Unit), "unit", self.unit, "a Unit")
        ordered = Fraction(self.lower) < Fraction(self.upper)
        require(ordered, "lower", self.lower, f"below upper, {self.upper}")
        self.grid.check(Fraction(self.lower), Fraction(self.upper))
        fits = self.scale / self.grid.step <= LARGEST_SCALE
        require(fits, "epsilon", self.epsilon, "large enough for noise of 50 bits on its grid")

    @property
    def grid(self) -> Grid:
        """The grid on which values and noise meet."""
        largest = max(abs(Fraction(self.lower)), abs(Fraction(self.upper)))
        return Grid.for_scale(Fraction(self.sensitivity) / Fraction(self.epsilon), largest)

    @property
    def widened(self) -> Fraction:
        """Sensitivity D' after rounding to the grid."""
        return self.grid.widen(Fraction(self.sensitivity), self.coordinates or self.size)

    @property
    def scale(self) -> Fraction:
        """Scale t of the noise, exact."""
        return self.widened / Fraction(self.epsilon)

    def guarantee(self) -> PureDP:
        """Theorem 1: D' / t = eps."""
        return PureDP.of(self.widened / self.scale, self.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "size": self.size,
            "sensitivity": plain(Fraction(self.sensitivity)),
            "lower": plain(Fraction(self.lower)),
            "upper": plain(Fraction(self.upper)),
            "coordinates": self.coordinates,
            "unit": [self.unit.thing, self.unit.relation],
        }

    def utility(self) -> Utility:
        """Theorem 2: E|Z| < t + g/2 and P[|Z| > k] < 0.05 at k = t ln 20 + g."""
        step, scale = float(self.grid.step), float(self.scale)
        within = scale * math.log(20) + step
        return Utility(
            sentence=f"within {show_up(within)} of the true value, 95 times in 100",
            mean_absolute_error=scale + step / 2,
            within_95=within,
            bias=f"values outside [{self.lower}, {self.upper}] are clamped",
        )

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        values = "the value" if self.size == 1 else f"the {self.size} values"
        extra = float(self.widened / Fraction(self.sensitivity) - 1)
        return How(
            sensitivity=(
                f"{self.unit}, changes {values} by at most {self.sensitivity} in total, times "
                f"1 + {show_up(extra, 2)} for rounding"
            ),
            bounds=f"declared: [{self.lower}, {self.upper}]; values outside are clamped",
            floating_point=f"values and noise are integers times 2**{self.grid.exponent}",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/snapped-laplace.md, Theorem 1",
            assumptions=("the declared sensitivity holds", "AES-256 is not broken"),
        )

    def release(self, data: ArrayLike, source: Source) -> Release[NDArray[np.float64]]:
        """Clamped values plus noise. Values that are no numbers count as ``lower``."""
        units = self.grid.quantise(
            read_exact(data, self.size), lower=Fraction(self.lower), upper=Fraction(self.upper)
        )
        value = snapped_laplace(units, scale=self.scale, grid=self.grid, source=source)
        return Release.by(self, value, source)
