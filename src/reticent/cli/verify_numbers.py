"""Cases of mechanisms that release numbers or choose by scores, from the tables of a file.

Not here  choices by local sensitivity (verify_local.py), profiles (verify_profiles.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import NANO
from reticent.cli.verify_domains import Domain, claim_of, numeric, unit_of
from reticent.cli.verify_file import Section
from reticent.guarantees import Loss, PureDP
from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.mechanisms.selection import Selection
from reticent.noise import Source
from reticent.testing.cases import Case, Part
from reticent.testing.mechanism_laws import law_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SINGLE = 12  # counts this far apart are outcomes of their own
BY_ONE = 20_000  # draws of an audit where each release is a call of its own


def make_discrete_laplace(mechanism: Section, domain: Section) -> DiscreteLaplace:
    """From epsilon, size and sensitivity."""
    return DiscreteLaplace(
        epsilon=mechanism.number("epsilon"),
        size=mechanism.whole("size", 1),
        sensitivity=mechanism.whole("sensitivity", 1),
        unit=unit_of(domain),
    )


def make_snapped_laplace(mechanism: Section, domain: Section) -> SnappedLaplace:
    """From epsilon, size, sensitivity and bounds."""
    return SnappedLaplace(
        epsilon=mechanism.number("epsilon"),
        size=mechanism.whole("size", 1),
        sensitivity=mechanism.number("sensitivity"),
        lower=mechanism.number("lower"),
        upper=mechanism.number("upper"),
        coordinates=mechanism.whole("coordinates", None),
        unit=unit_of(domain),
    )


def make_selection(kind: type[Selection]) -> Callable[[Section, Section], Selection]:
    """From epsilon, candidates and sensitivity, for either law."""

    def make(mechanism: Section, domain: Section) -> Selection:
        return kind(
            epsilon=mechanism.number("epsilon"),
            candidates=mechanism.whole("candidates"),
            sensitivity=mechanism.number("sensitivity", Fraction(1)),
            monotone=mechanism.flag("monotone", False),
            unit=unit_of(domain),
        )

    return make


def counts_case(
    mechanism: DiscreteLaplace, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """Counts with noise."""
    distance = Fraction(mechanism.sensitivity)
    found = numeric(domain, mechanism.size, distance=distance, unit=mechanism.unit)
    low, high = floor(found.least), ceil(found.most) + 1
    cuts = range(low, high + 1) if high - low <= _SINGLE else (low, high)
    law = law_of(mechanism, cuts=cuts)

    def draw(data: Any, n: int) -> NDArray[Any]:
        many = replace(mechanism, size=n * mechanism.size)
        released = many.release(np.tile(_floats(found, data), n), Source.system()).value
        return released.reshape(n, mechanism.size)

    outcomes = (len(cuts) + 1) ** mechanism.size
    return pure_case(
        mechanism.name, found, law, outcomes, claim_of(claim, promised(loss)), draw=draw
    )


def reals_case(
    mechanism: SnappedLaplace, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """Bounded reals with noise."""
    found = numeric(
        domain,
        mechanism.size,
        distance=Fraction(mechanism.sensitivity),
        unit=mechanism.unit,
        coordinates=mechanism.coordinates,
    )
    law = law_of(mechanism, reach=1)

    def draw(data: Any, n: int) -> NDArray[Any]:
        many = replace(mechanism, size=n * mechanism.size, coordinates=mechanism.coordinates)
        released = many.release(np.tile(_floats(found, data), n), Source.system()).value
        return released.reshape(n, mechanism.size)

    outcomes = 6**mechanism.size
    return pure_case(
        mechanism.name, found, law, outcomes, claim_of(claim, promised(loss)), draw=draw
    )


def selection_case(
    mechanism: Selection, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """A choice by scores."""
    found = numeric(
        domain,
        mechanism.candidates,
        distance=Fraction(mechanism.sensitivity),
        unit=mechanism.unit,
        each=True,
        one_way=mechanism.monotone,
    )
    law, count = law_of(mechanism), mechanism.candidates

    def draw(data: Any, n: int) -> NDArray[Any]:
        source, scores = Source.system(), _floats(found, data)
        return np.array([str(mechanism.release(scores, source).value) for _ in range(n)])

    epsilon = claim_of(claim, promised(loss))
    return pure_case(mechanism.name, found, law, count, epsilon, draw=draw, draws=BY_ONE)


def pure_case(
    name: str,
    found: Domain,
    law: Callable[[Any], dict[str, Fraction]],
    outcomes: int,
    epsilon: Fraction,
    *,
    draw: Callable[[Any, int], NDArray[Any]],
    draws: int = 100_000,
) -> Case:
    """One claim for every unit."""
    unit = next((pair.unit for pair in found.world.pairs()), "any")
    part = Part(
        law=lambda data: law([float(x) for x in found.vector(data)]),
        claims={unit: epsilon},
        outcomes=outcomes,
    )
    return Case(
        name=name,
        world=found.world,
        claims={unit: epsilon},
        parts=(part,),
        draw=draw,
        draws=draws,
    )


def promised(loss: Loss) -> Fraction:
    """The epsilon that a pure promise states."""
    assert isinstance(loss, PureDP)  # noqa: S101, what these mechanisms promise
    return Fraction(loss.nano, NANO)


def _floats(found: Domain, data: Any) -> NDArray[np.float64]:
    return np.array([float(x) for x in found.vector(data)])


SELECTIONS: tuple[type[Selection], ...] = (Exponential, PermuteAndFlip)
