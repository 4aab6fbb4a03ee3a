"""The laws of our own mechanisms on tiny data, as fractions, for exact verification.

Theory    docs/theory/auditing.md, "Exact verification"; the laws in docs/theory/noise.md
Not here  the comparison with a claim (exact.py).

A law starts from the public parameters of the mechanism and from its own reading of the data,
grid included, so a wrong scale, a wrong rate or a grid that does not pay for itself is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import ParameterError
from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.testing.closed_forms import (
    discrete_laplace_law,
    exponential_law,
    permute_and_flip_law,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.mechanisms.selection import Selection

Numbers: TypeAlias = Sequence[int] | Sequence[float]
LawOf: TypeAlias = Callable[[Numbers], dict[str, Fraction]]


def law_of(mechanism: object, *, reach: int = 4) -> LawOf:
    """The function from data to the law of what ``mechanism`` releases.

    Numbers are released on infinitely many values: those from -reach to reach are outcomes of
    their own, the tails are one each. The cells of a real value are cut at multiples of the noise.
    """
    if isinstance(mechanism, DiscreteLaplace):
        return lambda data: _noisy(data, mechanism.scale, range(-reach, reach + 2))
    if isinstance(mechanism, SnappedLaplace):
        return lambda data: _snapped(mechanism, data, reach)
    if isinstance(mechanism, Exponential):
        return lambda data: _named(exponential_law(_units(mechanism, data), rate=mechanism.rate))
    if isinstance(mechanism, PermuteAndFlip):
        return lambda data: _named(
            permute_and_flip_law(_units(mechanism, data), rate=mechanism.rate)
        )
    raise ParameterError("mechanism", "one whose law is known in closed form", type(mechanism))


def _noisy(counts: Numbers, scale: Fraction, cuts: Sequence[int]) -> dict[str, Fraction]:
    """Independent noise on each coordinate."""
    laws = [discrete_laplace_law(scale, around=int(count), cuts=cuts) for count in counts]
    return {
        ", ".join(cells): prod(
            (law[cell] for law, cell in zip(laws, cells, strict=True)), start=Fraction(1)
        )
        for cells in product(*laws)
    }


def _snapped(mechanism: SnappedLaplace, data: Numbers, reach: int) -> dict[str, Fraction]:
    grid = mechanism.grid
    bounds = {"lower": Fraction(mechanism.lower), "upper": Fraction(mechanism.upper)}
    units = grid.quantise(np.array(data, dtype=np.float64), **bounds)
    width = mechanism.scale / grid.step
    middle = sum(bounds.values()) / 2 / grid.step
    cuts = sorted({ceil(middle + n * width) for n in range(-reach, reach + 1)})
    return _noisy(units.tolist(), width, cuts)


def _units(mechanism: Selection, data: Numbers) -> list[int]:
    bound = (1 << 60) * mechanism.grid.step
    scores: NDArray[np.float64] = np.array(data, dtype=np.float64)
    units = mechanism.grid.quantise(scores, lower=-bound, upper=bound)
    return [int(unit) for unit in units]


def _named(law: Sequence[Fraction]) -> dict[str, Fraction]:
    return {f"candidate {i}": chance for i, chance in enumerate(law)}
