"""Totals: counts or sums by category, of which one person changes a declared number of records.

Theory    docs/theory/discrete-laplace.md, Theorem 1 (privacy), Theorem 2 (error),
          Theorem 3 (a bound on records)
Notation  k = records of a person that count at most, g = step, a and b = ends of the range in steps
Not here  adding up (tasks/totals.py), the noise (discrete_laplace.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.amounts import show_up
from reticent.errors import require
from reticent.guarantees import PERSON, RECORD, PureDP, Unit, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.discrete_laplace import DiscreteLaplace
from reticent.rational import Number, positive, rational, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from reticent.noise import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Mechanism["NDArray[np.int64]"]):
    """Release ``size`` totals in whole steps; a record adds ``lower`` to ``upper`` to one of them.

    Counts have the range from 0 to 1 and the step 1. ``records`` of a person count at most; where
    the unit is a record there is no such bound.

    >>> Totals(epsilon=1, size=3, records=4).utility().sentence
    'within 12 of the true count, 95 times in 100, if nobody has more than 4 records'
    >>> Totals(epsilon=1, size=1, unit=RECORD, upper=500, step="0.01").utility().sentence
    'within 1498 of the true sum, 95 times in 100, if no value is outside 0 to 500'
    """

    name: ClassVar[str] = "totals"
    epsilon: Number
    size: int
    records: int = 1
    lower: Number = 0
    upper: Number = 1
    step: Number = 1
    unit: Unit = PERSON

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, rational(getattr(self, name), name))
        object.__setattr__(self, "step", positive(self.step, "step"))
        whole(self.records, "records", least=1)
        require(self.unit in (PERSON, RECORD), "unit", self.unit, "a person or a record")
        one = self.unit == PERSON or self.records == 1
        require(one, "records", self.records, "1 where the unit is a record")
        ordered = Fraction(self.lower) < Fraction(self.upper)
        require(ordered, "upper", self.upper, f"above lower, {self.lower}")
        fits = all(end.denominator == 1 for end in self.ends)
        require(fits, "step", self.step, "one of which lower and upper are whole multiples")
        object.__setattr__(self, "epsilon", self.noise.epsilon)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The range of one record, in steps."""
        step = Fraction(self.step)
        return Fraction(self.lower) / step, Fraction(self.upper) / step

    @property
    def noise(self) -> DiscreteLaplace:
        """Theorem 3: one unit changes the totals by at most k max(|a|, |b|) steps."""
        most = self.records * int(max(map(abs, self.ends)))
        return DiscreteLaplace(
            epsilon=self.epsilon, size=self.size, sensitivity=most, unit=self.unit
        )

    @property
    def counts(self) -> bool:
        """Whether records are counted, not added up."""
        return (self.lower, self.upper, self.step) == (0, 1, 1)

    def guarantee(self) -> PureDP:
        """That of the noise."""
        return self.noise.guarantee()

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "size": self.size,
            "records": self.records,
            "lower": plain(Fraction(self.lower)),
            "upper": plain(Fraction(self.upper)),
            "step": plain(Fraction(self.step)),
            "unit": [self.unit.thing, self.unit.relation],
        }

    def utility(self) -> Utility:
        """Theorem 2, and what is left out."""
        noise, step = self.noise.utility(), float(Fraction(self.step))
        within = (noise.within_95 or 0.0) * step
        kind, said = ("count", f"{within:.0f}") if self.counts else ("sum", show_up(within))
        given = ", ".join(told for told in (self._bounded("has more than"), self._ranged()) if told)
        return Utility(
            sentence=f"within {said} of the true {kind}, 95 times in 100"
            + (f", if {given}" if given else ""),
            mean_absolute_error=(noise.mean_absolute_error or 0.0) * step,
            within_95=within,
            bias="; ".join(self._left_out()) or "none",
        )

    def _bounded(self, verb: str) -> str:
        if self.unit == RECORD:
            return ""
        some = "one record" if self.records == 1 else f"{self.records:,} records"
        return f"nobody {verb} {some}"

    def _ranged(self) -> str:
        return "" if self.counts else f"no value is outside {self.lower} to {self.upper}"

    def _left_out(self) -> list[str]:
        found = []
        if self.unit == PERSON:
            found.append(f"records of a person beyond {self.records:,} are left out")
        if not self.counts:
            found.append(f"values outside {self.lower} to {self.upper} are clamped")
        return found

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        kind = "count" if self.counts else "sum"
        totals = f"the {kind}" if self.size == 1 else f"the {self.size} {kind}s"
        most = self.noise.sensitivity * Fraction(self.step)
        return How(
            sensitivity=f"{self.unit}, changes {totals} by at most {plain(most)} in total",
            bounds="; ".join(self._left_out()) or "none needed: every record counts once",
            floating_point="integers only; the noise law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/discrete-laplace.md, Theorem 3",
            assumptions=("AES-256 is not broken",),
        )

    def release(self, data: ArrayLike, source: Source) -> Release[NDArray[np.int64]]:
        """Totals in steps, of records that were bounded, plus noise."""
        return Release.by(self, self.noise.release(data, source).value, source)
