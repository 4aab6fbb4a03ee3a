"""Errors that fall as more is spent: by value and two derivatives, one for each coordinate.

Theory    docs/theory/multilevel.md, Lemma 2 (errors)
Notation  f_j(x_j) convex and falling in x_j > 0
Not here  making their sum least (allocation.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]


class Objective(ABC):
    """Errors f_j, convex and falling in x_j > 0, by value and two derivatives.

    Each method takes x with one row per person and gives an array of the same shape.
    """

    @abstractmethod
    def value(self, x: Reals) -> Reals:
        """f_j(x_j)."""

    @abstractmethod
    def slope(self, x: Reals) -> Reals:
        """The first derivative, negative."""

    @abstractmethod
    def curvature(self, x: Reals) -> Reals:
        """The second derivative, positive."""

    def of_people(self, people: slice) -> Objective:
        """The same errors for some of the people; only needed if they differ by person."""
        del people
        return self


@dataclass(frozen=True, slots=True, eq=False)
class PowerError(Objective):
    """f_j(x) = weight_j / x ** exponent: the error of continuous noise of scale 1 / x."""

    exponent: float = 1.0
    weights: Reals | float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.exponent <= 8, "exponent", self.exponent, "above 0 and at most 8")
        _check_weights(self.weights)

    def value(self, x: Reals) -> Reals:
        """Weight over power."""
        return np.asarray(self.weights * x**-self.exponent)

    def slope(self, x: Reals) -> Reals:
        """The derivative of ``value``."""
        return np.asarray(-self.exponent * self.weights * x ** -(self.exponent + 1))

    def curvature(self, x: Reals) -> Reals:
        """The derivative of ``slope``."""
        p = self.exponent
        return np.asarray(p * (p + 1) * self.weights * x ** -(p + 2))

    def of_people(self, people: slice) -> PowerError:
        """With the weights of some people."""
        return PowerError(self.exponent, _some(self.weights, people))


@dataclass(frozen=True, slots=True, eq=False)
class LatticeError(Objective):
    """The error of discrete Laplace noise on multiples of ``steps``, rate x. Lemma 2.

    Mean absolute error step / sinh(step x), or, ``squared``, step^2 / (2 sinh^2(step x / 2)).
    """

    steps: Reals | float = 1.0
    weights: Reals | float = 1.0
    squared: bool = False

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        _check_weights(self.steps)

    @property
    def factors(self) -> Reals | float:
        """What multiplies the hyperbolic functions."""
        return self.weights * (self.steps**2 if self.squared else self.steps)

    def value(self, x: Reals) -> Reals:
        """The error itself."""
        y = self.steps * x
        shape = 0.5 / np.sinh(y / 2) ** 2 if self.squared else 1 / np.sinh(y)
        return np.asarray(self.factors * shape)

    def slope(self, x: Reals) -> Reals:
        """The derivative of ``value``."""
        y = self.steps * x
        if self.squared:
            shape = 0.5 * np.cosh(y / 2) / np.sinh(y / 2) ** 3
        else:
            shape = np.cosh(y) / np.sinh(y) ** 2
        return np.asarray(-self.factors * self.steps * shape)

    def curvature(self, x: Reals) -> Reals:
        """The derivative of ``slope``."""
        y = self.steps * x
        if self.squared:
            shape = (2 * np.cosh(y / 2) ** 2 + 1) / (4 * np.sinh(y / 2) ** 4)
        else:
            shape = (np.cosh(y) ** 2 + 1) / np.sinh(y) ** 3
        return np.asarray(self.factors * self.steps**2 * shape)

    def of_people(self, people: slice) -> LatticeError:
        """With the weights of some people."""
        return LatticeError(self.steps, _some(self.weights, people), self.squared)


def _check_weights(values: Reals | float) -> None:
    good = bool(np.isfinite(values).all() and np.greater(values, 0).all())
    require(good, "weights", "other", "positive and finite")


def _some(values: Reals | float, people: slice) -> Reals | float:
    """The rows of some people, where there is one row each."""
    return values[people] if isinstance(values, np.ndarray) and values.ndim == 2 else values
