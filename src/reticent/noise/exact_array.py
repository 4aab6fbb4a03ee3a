"""Exact rationals beside their nearest floats, so that fast and certain paths read one value.

Not here  how parameters of guarantees are read (rational.py): there a float means the decimal it
          is written as. Here, where millions come in one array, a float means exactly itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scalar: TypeAlias = int | float | Fraction


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExactArray:
    """Rationals of one shape: ``array[i]`` is exact, ``approximate`` within 2**-53 of it."""

    approximate: NDArray[np.float64]
    fractions: tuple[Fraction, ...] | None

    @classmethod
    def of(cls, values: Scalar | Sequence[Scalar] | NDArray[np.float64], name: str) -> ExactArray:
        """Read a number, a sequence of numbers, or an array of floats or integers."""
        array = np.asarray(values)
        if array.dtype.kind in "fiu" and array.dtype.itemsize <= 8:
            approximate = array.astype(np.float64)
            require(bool(np.isfinite(approximate).all()), name, values, "finite")
            if array.dtype.kind == "f" or bool((np.abs(approximate) < 2.0**53).all()):
                return cls(approximate, None)
        fractions = tuple(_fraction(value, name) for value in array.reshape(-1).tolist())
        return cls(np.array([_float(f) for f in fractions]).reshape(array.shape), fractions)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array; () for a single number."""
        return self.approximate.shape

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.approximate.size

    def __getitem__(self, flat_index: int) -> Fraction:
        if self.fractions is not None:
            return self.fractions[flat_index]
        return Fraction(float(self.approximate.flat[flat_index]))

    def smallest(self) -> float:
        """The least value, to float precision but with its sign right; +inf when empty."""
        return float(self.approximate.min(initial=np.inf))

    def largest(self) -> float:
        """The greatest value, to float precision; -inf when empty."""
        return float(self.approximate.max(initial=-np.inf))


def _fraction(value: object, name: str) -> Fraction:
    if isinstance(value, Fraction) or type(value) is int:
        return Fraction(value)
    if isinstance(value, float) and np.isfinite(value):
        return Fraction(value)
    raise ParameterError(name, "a finite number or an array of them", value)


def _float(value: Fraction) -> float:
    sign = 1 if value >= 0 else -1
    try:
        nearest = float(value)
    except OverflowError:  # larger than any float: every use below treats 1e308 alike
        return sign * float(np.finfo(np.float64).max)
    # A positive rational below the smallest float must not turn into zero.
    return nearest if nearest or not value else sign * 5e-324
