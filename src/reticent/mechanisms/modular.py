"""Functions of profiles that can be stretched: each says how much one item can move it.

Theory    docs/theory/stretching.md, Definition 1 (modular sensitivity), Lemma 1 (closed forms),
          Lemma 2 (bisection), Lemma 3 (integers); [AlagganEtAl2016]
Notation  d_i = value of item i in [0, 1], v_i = its weight, w_i = stretching factor,
          S = sensitivity, S_i(a) = modular sensitivity of item i scaled by a
Not here  noise and guarantee (stretching.py).

Values and weights are rounded down to multiples of 2**-16 and 2**-20 before anything is added, so
that every sum is exact. Item i's term keeps within [0, w_i S], which is all the guarantee needs;
a weight of 0 makes the term 0 whatever the item's value is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from reticent.errors import ParameterError, require
from reticent.guarantees import plain
from reticent.mechanisms.reading import read_reals
from reticent.rational import Number, positive, rational, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

WEIGHT_BITS = 20
VALUE_BITS = 16
Weighting: TypeAlias = Literal["product", "min"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedProfile:
    """One person's items and how much each may count, as integers on the grid.

    >>> profile = WeightedProfile.of([1, 1, 0.5], weights=[1, 0, 0.25])
    >>> (profile.weights / 2**20).tolist()
    [1.0, 0.0, 0.25]
    """

    values: NDArray[np.int64]
    weights: NDArray[np.int64]

    @classmethod
    def of(cls, values: ArrayLike, weights: ArrayLike) -> WeightedProfile:
        """Clamp to [0, 1] and round down; what is no number counts as 0, so it is withheld."""
        try:
            size = len(weights)  # type: ignore[arg-type]
        except TypeError:  # the message would name the type
            raise ParameterError("weights", "one number per item", "a single thing") from None
        return cls(grid_units(values, size, VALUE_BITS), grid_units(weights, size, WEIGHT_BITS))

    @property
    def size(self) -> int:
        """How many items the catalogue has."""
        return self.weights.size


def grid_units(numbers: ArrayLike, size: int, bits: int) -> NDArray[np.int64]:
    """Numbers in [0, 1] as multiples of 2**-bits, rounded down; anything else is clamped."""
    known = np.nan_to_num(read_reals(numbers, size), nan=0.0)
    units: NDArray[np.int64] = np.floor(known.clip(0.0, 1.0) * (1 << bits)).astype(np.int64)
    return units


def combine(x: NDArray[np.int64], y: NDArray[np.int64], weighting: Weighting) -> NDArray[np.int64]:
    """Joint factor of two people's weights: their product, or the smaller. Lemma 1.

    Either is at most each person's own weight; the smaller is never less than the product.
    """
    return np.minimum(x, y) if weighting == "min" else (x * y) >> WEIGHT_BITS


class Modular(ABC):
    """A function of one or two profiles, evaluated on stretched profiles in exact integers."""

    name: ClassVar[str]
    people: ClassVar[int]

    @property
    @abstractmethod
    def sensitivity(self) -> Fraction:
        """S: how much one item of weight 1 can move the function."""

    @property
    @abstractmethod
    def step(self) -> Fraction:
        """The value of one unit of ``evaluate``."""

    @abstractmethod
    def evaluate(self, *profiles: WeightedProfile) -> int:
        """f(diag(w) d) in units of ``step``."""

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {}


@dataclass(frozen=True, slots=True)
class WeightedSum(Modular):
    """sum a_i d_i for public a_i. Lemma 1: S = max |a_i|, w_i = min(1, v_i S / |a_i|)."""

    name: ClassVar[str] = "sum"
    people: ClassVar[int] = 1
    coefficients: tuple[Fraction, ...]

    @classmethod
    def of(cls, coefficients: Sequence[Number]) -> WeightedSum:
        """From numbers; a float means the decimal it is written as."""
        return cls(tuple(rational(a, "coefficient") for a in coefficients))

    def __post_init__(self) -> None:
        nonzero = any(self.coefficients)
        require(nonzero, "coefficients", self.coefficients, "numbers, not all of them 0")

    @property
    def sensitivity(self) -> Fraction:
        """The largest coefficient."""
        return max(abs(a) for a in self.coefficients)

    @property
    def step(self) -> Fraction:
        """S in units of weight times value."""
        return self.sensitivity / (1 << (WEIGHT_BITS + VALUE_BITS))

    def evaluate(self, *profiles: WeightedProfile) -> int:
        """Sum sign(a_i) min(|a_i| / S, v_i) d_i, each factor rounded down. Lemma 3."""
        (profile,) = profiles
        _same_size(profile.size, len(self.coefficients))
        full = [int(abs(a) * (1 << WEIGHT_BITS) / self.sensitivity) for a in self.coefficients]
        terms = np.minimum(full, profile.weights) * profile.values
        return int(np.where([a < 0 for a in self.coefficients], -terms, terms).sum())

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {"coefficients": [plain(a) for a in self.coefficients]}


@dataclass(frozen=True, slots=True)
class Mean(Modular):
    """sum d_i / size for a declared size. Lemma 1: S = 1 / size, w = v."""

    name: ClassVar[str] = "mean"
    people: ClassVar[int] = 1
    size: int

    def __post_init__(self) -> None:
        whole(self.size, "size", least=1)

    @property
    def sensitivity(self) -> Fraction:
        """1 / size."""
        return Fraction(1, self.size)

    @property
    def step(self) -> Fraction:
        """S in units of weight times value."""
        return self.sensitivity / (1 << (WEIGHT_BITS + VALUE_BITS))

    def evaluate(self, *profiles: WeightedProfile) -> int:
        """Sum v_i d_i."""
        (profile,) = profiles
        return int((profile.weights * profile.values).sum())

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {"size": self.size}


@dataclass(frozen=True, slots=True)
class InnerProduct(Modular):
    """sum x_i y_i of two people's profiles. Lemma 1: S = 1, w = v, or the smaller of both."""

    name: ClassVar[str] = "inner product"
    people: ClassVar[int] = 2
    weighting: Weighting = "min"

    def __post_init__(self) -> None:
        known = self.weighting in get_args(Weighting)
        require(known, "weighting", self.weighting, "'product' or 'min'")

    @property
    def sensitivity(self) -> Fraction:
        """1."""
        return Fraction(1)

    @property
    def step(self) -> Fraction:
        """1 in units of weight times value."""
        return Fraction(1, 1 << (WEIGHT_BITS + VALUE_BITS))

    def evaluate(self, *profiles: WeightedProfile) -> int:
        """Sum w_i x_i y_i with w_i from both people's weights, rounded down. Lemma 3."""
        x, y = profiles
        _same_size(y.size, x.size)
        common = (x.values * y.values) >> VALUE_BITS
        return int((combine(x.weights, y.weights, self.weighting) * common).sum())

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {"weighting": self.weighting}


@dataclass(frozen=True, slots=True)
class SquaredDistance(Modular):
    """sum (x_i - y_i)^2. Lemma 1: S = 1, S_i(a) = a (2 - a), so w_i = 1 - sqrt(1 - v_i)."""

    name: ClassVar[str] = "squared distance"
    people: ClassVar[int] = 2

    @property
    def sensitivity(self) -> Fraction:
        """1."""
        return Fraction(1)

    @property
    def step(self) -> Fraction:
        """The square of one unit of a stretched value."""
        return Fraction(1, 1 << (2 * WEIGHT_BITS))

    def evaluate(self, *profiles: WeightedProfile) -> int:
        """Sum (w_i^x x_i - w_i^y y_i)^2 on the grid of weights. Lemma 3."""
        x, y = profiles
        _same_size(y.size, x.size)
        return int(((self._stretched(x) - self._stretched(y)) ** 2).sum())

    def _stretched(self, profile: WeightedProfile) -> NDArray[np.int64]:
        whole_weight = 1 << WEIGHT_BITS
        # floor(1 - sqrt(1 - v)) on the grid: a is one unit less where rounding left a(2-a) > v
        a = np.floor(whole_weight - np.sqrt(whole_weight * (whole_weight - profile.weights)))
        factor: NDArray[np.int64] = a.astype(np.int64)
        factor -= factor * (2 * whole_weight - factor) > profile.weights << WEIGHT_BITS
        return (factor * profile.values) >> VALUE_BITS


@dataclass(frozen=True, slots=True, repr=False)
class UserFunction(Modular):
    """Any function of one profile with declared S and a non-decreasing S_i(a). Lemma 2.

    ``function`` gets the stretched profile as floats and returns a float; what it declares must
    hold for the floats it returns. ``bound`` is its largest magnitude.
    """

    name: ClassVar[str] = "user function"
    people: ClassVar[int] = 1
    function: Callable[[NDArray[np.float64]], float]
    modular: Callable[[float], float]
    declared: Fraction
    bound: Fraction

    def __post_init__(self) -> None:
        most = self.modular(1.0)
        consistent = most <= self.declared  # a float against a fraction compares exactly
        require(consistent, "sensitivity", self.declared, f"at least modular(1.0), {most!r}")

    @classmethod
    def of(
        cls,
        function: Callable[[NDArray[np.float64]], float],
        *,
        sensitivity: Number,
        modular: Callable[[float], float],
        bound: Number,
    ) -> UserFunction:
        """From numbers; a float means the decimal it is written as."""
        return cls(
            function, modular, positive(sensitivity, "sensitivity"), positive(bound, "bound")
        )

    @property
    def sensitivity(self) -> Fraction:
        """S, widened by one step for rounding the value to the grid."""
        return self.declared + self.step

    @property
    def step(self) -> Fraction:
        """A grid of about S / 2**36 that holds values up to ``bound`` in 60 bits."""
        return max(self.declared / (1 << 36), self.bound / (1 << 60))

    def evaluate(self, *profiles: WeightedProfile) -> int:
        """The function of the stretched profile, rounded to the grid."""
        (profile,) = profiles
        distinct, which = np.unique(profile.weights, return_inverse=True)
        factors = np.array([self.factor(Fraction(int(v), 1 << WEIGHT_BITS)) for v in distinct])
        value = float(self.function(factors[which] * profile.values / (1 << VALUE_BITS)))
        known = 0.0 if math.isnan(value) else value
        clamped = min(max(known, -float(self.bound)), float(self.bound))
        return round(Fraction(clamped) / self.step)

    def factor(self, weight: Fraction) -> float:
        """Largest a with S_i(a) + step <= v (S + step), by bisection to 2**-40. Lemma 2."""
        allowed = math.nextafter(float(weight * self.sensitivity - self.step), -math.inf)
        if weight == 1 or self.modular(1.0) <= allowed:
            return 1.0
        feasible, too_much = 0.0, 1.0
        for _ in range(40):
            middle = (feasible + too_much) / 2
            if self.modular(middle) <= allowed:
                feasible = middle
            else:
                too_much = middle
        return feasible


_UNSUITABLE = {
    "l0": "it jumps however little an item is shrunk; use DiscreteLaplace on a count",
    "min": "shrinking an item can only lower it, by any amount; use PermuteAndFlip over values",
    "max": "shrinking one item uncovers the next; use PermuteAndFlip over values",
    "median": "it does not fall as items shrink together; use a selection mechanism over values",
}

FUNCTIONS: dict[str, Callable[..., Modular]] = {
    "sum": WeightedSum.of,
    "mean": Mean,
    "inner product": InnerProduct,
    "squared distance": SquaredDistance,
}


def stretchable(name: str, **parameters: Any) -> Modular:
    """The built-in function of this name; those that stretching cannot protect say why."""
    if name in _UNSUITABLE:
        raise ParameterError(
            "function", f"one that stretching can protect ({name}: {_UNSUITABLE[name]})", name
        )
    if name not in FUNCTIONS:
        raise ParameterError("function", f"one of {', '.join(FUNCTIONS)}", name)
    return FUNCTIONS[name](**parameters)


def _same_size(got: int, wanted: int) -> None:
    require(got == wanted, "profile", f"{got} items", f"of {wanted} items")
