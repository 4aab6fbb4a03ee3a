"""The laws of our own mechanisms on tiny data, as fractions, for exact verification.

Theory    docs/theory/auditing.md, "Exact verification"; the laws in docs/theory/noise.md
Not here  the comparison with a claim (exact.py), choices by local sensitivity (local_laws.py),
          profiles (profile_laws.py), mappings, whose promise is an average (leaks.py).

A law starts from the public parameters of the mechanism and from its own reading of the data,
grid included, so a wrong scale, a wrong rate or a grid that does not pay for itself is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import ParameterError
from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.mechanisms.dampening import Dampened
from reticent.mechanisms.multilevel import MultiLevel
from reticent.mechanisms.stretching import Stretching
from reticent.mechanisms.top_dampened import TopDampened
from reticent.mechanisms.totals import Totals
from reticent.testing.closed_forms import exponential_law, permute_and_flip_law
from reticent.testing.local_laws import dampened_law, top_dampened_law
from reticent.testing.profile_laws import (
    cells,
    joint_law,
    multilevel_law,
    named_cells,
    stretching_law,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.mechanisms.selection import Selection

Numbers: TypeAlias = Sequence[int] | Sequence[float]
LawOf: TypeAlias = Callable[[Any], dict[str, Fraction]]


def law_of(mechanism: object, *, reach: int = 4, cuts: Sequence[int] | None = None) -> LawOf:
    """The function from data to the law of what ``mechanism`` releases.

    Counts are released on infinitely many values: those from -reach to reach are outcomes of
    their own, or the cells between ``cuts``; the tails are one each. The cells of a real value are
    cut at multiples of the noise and at its bounds. Data are numbers, ``Utilities`` for choices by
    local sensitivity, and for profiles pairs of values and weights: one for a histogram, as many
    as the function takes for stretching.
    """
    if isinstance(mechanism, Totals):
        return law_of(mechanism.noise, reach=reach, cuts=cuts)
    if isinstance(mechanism, DiscreteLaplace):
        places = tuple(range(-reach, reach + 2) if cuts is None else cuts)
        return lambda data: _noisy(data, mechanism.scale, places)
    if isinstance(mechanism, SnappedLaplace):
        return lambda data: _snapped(mechanism, data, reach)
    if isinstance(mechanism, Exponential):
        return lambda data: _named(exponential_law(_units(mechanism, data), rate=mechanism.rate))
    if isinstance(mechanism, PermuteAndFlip):
        return lambda data: _named(
            permute_and_flip_law(_units(mechanism, data), rate=mechanism.rate)
        )
    for kind, law in _OTHERS.items():
        if isinstance(mechanism, kind):
            return partial(law, mechanism)
    raise ParameterError("mechanism", "one whose law is known in closed form", type(mechanism))


_OTHERS: dict[type, Callable[..., dict[str, Fraction]]] = {
    Dampened: dampened_law,
    TopDampened: top_dampened_law,
    Stretching: stretching_law,
    MultiLevel: multilevel_law,
}


def _noisy(counts: Numbers, scale: Fraction, cuts: tuple[int, ...]) -> dict[str, Fraction]:
    """Independent noise on each coordinate; what is not whole is rounded as releases round it."""
    return joint_law([cells(scale, round(Fraction(count)), cuts) for count in counts])


def _snapped(mechanism: SnappedLaplace, data: Numbers, reach: int) -> dict[str, Fraction]:
    grid = mechanism.grid
    bounds = {"lower": Fraction(mechanism.lower), "upper": Fraction(mechanism.upper)}
    units = grid.quantise(np.array(data, dtype=np.float64), **bounds)
    width = mechanism.scale / grid.step
    middle = sum(bounds.values()) / 2 / grid.step
    # beyond both bounds p / q is constant: with cuts there, no loss hides in a cell
    outside = ceil(bounds["lower"] / grid.step), floor(bounds["upper"] / grid.step) + 1
    within = [ceil(middle + n * width) for n in range(-reach, reach + 1)]
    cuts = tuple(sorted({*within, *outside}))
    names = named_cells([cut * grid.step for cut in cuts])
    laws = (cells(width, unit, cuts).values() for unit in units.tolist())
    return joint_law([dict(zip(names, law, strict=True)) for law in laws])


def _units(mechanism: Selection, data: Numbers) -> list[int]:
    bound = (1 << 60) * mechanism.grid.step
    scores: NDArray[np.float64] = np.array(data, dtype=np.float64)
    units = mechanism.grid.quantise(scores, lower=-bound, upper=bound)
    return [int(unit) for unit in units]


def _named(law: Sequence[Fraction]) -> dict[str, Fraction]:
    return {f"candidate {i}": chance for i, chance in enumerate(law)}
