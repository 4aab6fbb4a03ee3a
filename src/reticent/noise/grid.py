"""The power-of-two grid on which real values and noise meet as integers.

Theory    docs/theory/noise.md, Theorem 5 (snapping); [Mironov2012], [CasacubertaEtAl2022]
Notation  g = step = 2^exponent, D = sensitivity, D' = D + g * coordinates
Not here  the noise itself (laplace.py), bounds and guarantees (mechanisms/).

A real value is rounded to a multiple of g before anything is added to it, and noise is an integer
multiple of g, so every released number is reachable from every input. Rounding moves each
coordinate by at most g/2; D' pays for that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require
from reticent.noise.laplace import discrete_laplace
from reticent.noise.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

FINENESS = 40
"""A grid is about scale / 2**40, fine enough that widening the sensitivity costs nothing."""

_LARGEST = 1 << 61  # grid units; leaves room for noise within 64 bits


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of 2**exponent."""

    exponent: int

    def __post_init__(self) -> None:
        integral = isinstance(self.exponent, int) and not isinstance(self.exponent, bool)
        require(
            integral and -900 <= self.exponent <= 900,
            "exponent",
            self.exponent,
            "an integer from -900 to 900",
        )

    @classmethod
    def for_scale(cls, scale: Fraction, largest: Fraction) -> Grid:
        """The grid for noise of ``scale`` on values up to ``largest`` in magnitude."""
        fine = cls.finer_than(scale, bits=FINENESS).exponent
        needed = _log2(largest) - 60 if largest else fine  # values must fit 61 bits
        return cls(max(fine, needed))

    @classmethod
    def finer_than(cls, length: Fraction, *, bits: int) -> Grid:
        """The coarsest grid with a step of at most length / 2**bits."""
        require(length > 0, "length", length, "positive")
        return cls(_log2(length) - bits)

    @property
    def step(self) -> Fraction:
        """Distance between neighbouring points."""
        return _power_of_two(self.exponent)

    def widen(self, sensitivity: Fraction, coordinates: int) -> Fraction:
        """Sensitivity after rounding, when one unit moves at most ``coordinates`` values."""
        return sensitivity + self.step * coordinates  # Theorem 5

    def check(self, lower: Fraction, upper: Fraction) -> tuple[int, int]:
        """The outermost grid points within the bounds, which must hold one."""
        least, most = math.ceil(lower / self.step), math.floor(upper / self.step)
        require(
            -_LARGEST <= least <= most <= _LARGEST,
            "bounds",
            (str(lower), str(upper)),
            "wide enough to hold a grid point and within 2**61 steps",
        )
        return least, most

    def quantise(
        self, values: NDArray[Any], *, lower: Fraction, upper: Fraction
    ) -> NDArray[np.int64]:
        """Clamp to the declared bounds and round to the grid, once; NaN counts as the lower bound.

        ``values`` are floats, 64-bit integers, or objects: integers, fractions and floats. The type
        of the array alone decides how it is read.
        """
        least, most = self.check(lower, upper)
        if values.dtype.kind == "i":
            return self._from_integers(values).clip(least, most)
        if values.dtype.kind == "O":
            flat = [self._from_one(value, least, most) for value in values.ravel()]
            return np.array(flat, dtype=np.int64).reshape(values.shape)
        units = np.array(values, dtype=np.float64)  # one copy, then in place: new memory is slow
        np.fmax(units, float(lower), out=units)  # of NaN and x, fmax is x
        np.fmin(units, float(upper), out=units)
        units *= 2.0**-self.exponent
        np.rint(units, out=units)  # the only rounding
        # At most 2**61, which a float holds exactly, so it cannot wrap; then as integers in bounds.
        whole: NDArray[np.int64] = units.astype(np.int64)
        return whole.clip(least, most, out=whole)

    def _from_integers(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nearest grid points, in integers; what is beyond 2**61 steps stands there."""
        if self.exponent > 0:  # half a step rounds up; shifts by 64 and more are not defined
            if self.exponent > 63:
                return np.zeros_like(values)
            return np.asarray((values >> self.exponent) + (values >> (self.exponent - 1) & 1))
        finer = min(-self.exponent, 61)
        largest = _LARGEST >> -self.exponent  # 0 where even 1 is beyond
        inside = values.clip(-largest, largest) << finer
        return np.where(values > largest, _LARGEST, np.where(values < -largest, -_LARGEST, inside))

    def _from_one(self, value: int | Fraction | float, least: int, most: int) -> int:
        if isinstance(value, float) and not math.isfinite(value):
            return most if value > 0 else least  # NaN is not above 0
        return min(max(round(Fraction(value) / self.step), least), most)

    def values(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """Grid points as floats: post-processing of integers, so it reveals nothing more."""
        return units.astype(np.float64) * 2.0**self.exponent


def snapped_laplace(
    units: NDArray[np.int64], *, scale: Fraction, grid: Grid, source: Source
) -> NDArray[np.float64]:
    """Quantised values plus Laplace noise of ``scale``, both on ``grid``, as floats."""
    steps = discrete_laplace(scale=scale / grid.step, size=units.shape, source=source)
    return grid.values(units + steps)


@cache
def _power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _log2(x: Fraction) -> int:
    """Floor of the binary logarithm of x > 0."""
    estimate = x.numerator.bit_length() - x.denominator.bit_length()
    return estimate if Fraction(2) ** estimate <= x else estimate - 1
