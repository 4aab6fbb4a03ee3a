"""Discrete Laplace: integer counts plus integer noise, nothing rounded.

Theory    docs/theory/discrete-laplace.md, Theorem 1 (privacy), Theorem 2 (error);
          [GhoshEtAl2012], [DworkEtAl2006]
Notation  eps = epsilon, D = sensitivity (L1), t = D / eps, r = exp(-1/t)
Not here  the sampler (noise/laplace.py), real values (snapped_laplace.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.errors import require
from reticent.guarantees import RECORD, PureDP, Unit, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.reading import read_integers
from reticent.noise import LARGEST_SCALE, Source, discrete_laplace
from reticent.rational import Number, budget, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplace(Mechanism["NDArray[np.int64]"]):
    """Release ``size`` counts of which one unit changes at most ``sensitivity`` in total.

    >>> from reticent.mechanisms import DiscreteLaplace
    >>> from reticent.noise import Source
    >>> mechanism = DiscreteLaplace(epsilon=0.5, size=3)
    >>> mechanism.utility().sentence
    'within 6 of the true count, 95 times in 100'
    >>> len(mechanism.release([12, 40, 7], Source.system()).value)
    3
    """

    name: ClassVar[str] = "discrete-laplace"
    epsilon: Number
    size: int
    sensitivity: int = 1
    unit: Unit = RECORD

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        whole(self.size, "size", least=1)
        whole(self.sensitivity, "sensitivity", least=1)
        require(isinstance(self.unit, Unit), "unit", self.unit, "a Unit")
        small = self.scale > LARGEST_SCALE
        require(not small, "epsilon", self.epsilon, "at least sensitivity / 2**50")

    @property
    def scale(self) -> Fraction:
        """Scale t of the noise, exact."""
        return self.sensitivity / Fraction(self.epsilon)

    def guarantee(self) -> PureDP:
        """Theorem 1: D / t = eps."""
        return PureDP.of(self.sensitivity / self.scale, self.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "size": self.size,
            "sensitivity": self.sensitivity,
            "unit": [self.unit.thing, self.unit.relation],
        }

    def utility(self) -> Utility:
        """Theorem 2: P[|Z| > k] = 2 r^(k+1) / (1 + r), E|Z| = 2 r / (1 - r^2)."""
        rate = float(1 / self.scale)
        r = math.exp(-rate)
        within = max(0, math.ceil(math.log(40 / (1 + r)) / rate - 1 - 1e-9))
        return Utility(
            sentence=f"within {within} of the true count, 95 times in 100",
            mean_absolute_error=2 * r / -math.expm1(-2 * rate),
            within_95=within,
        )

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        counts = "the count" if self.size == 1 else f"the {self.size} counts"
        return How(
            sensitivity=f"{self.unit}, changes {counts} by at most {self.sensitivity} in total",
            bounds="none needed: whole counts are used as they are, others rounded",
            floating_point="integers only; the noise law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/discrete-laplace.md, Theorem 1",
            assumptions=(
                "the declared sensitivity holds",
                "the counts are whole: rounding others can double what one unit changes",
                "AES-256 is not broken",
            ),
        )

    def release(self, data: ArrayLike, source: Source) -> Release[NDArray[np.int64]]:
        """Counts plus noise. Values that are no numbers count as 0."""
        counts = read_integers(data, self.size)
        noise = discrete_laplace(scale=self.scale, size=self.size, source=source)
        return Release.by(self, counts + noise, source)
