"""A mechanism on a small world with what it claims: enumerated if it can be, else refused.

Theory    docs/theory/auditing.md, Theorem 2 (exact verification)
Not here  laws (mechanism_laws.py, or yours), worlds (neighbourhoods.py), audits (searched.py).

How much work an enumeration is, is counted before it is begun, and counting stops at the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from reticent.testing.exact import ENCLOSED, LawFunction, Pair, Verification, Witness, verify_law

if TYPE_CHECKING:
    from reticent.testing.leaks import Figure
    from reticent.testing.neighbourhoods import World
    from reticent.testing.searched import Draw

MOST_COMPARISONS = 2_000_000
"""Comparisons of two probabilities that an enumeration may need: minutes at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that an observer sees, its law, and what each unit may lose by it.

    ``named`` renames the units of the world, so that all of them share one claim, for instance.
    """

    law: LawFunction[Any]
    claims: Mapping[Hashable, Fraction]
    outcomes: int
    named: Callable[[Hashable], Hashable] = lambda unit: unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is verified. Without ``parts``, ``why`` says why nothing can be enumerated."""

    name: str
    world: World
    claims: Mapping[Hashable, Fraction]  # of an observer who sees everything
    parts: tuple[Part, ...] = ()
    why: str = ""
    draw: Draw | None = None
    draws: int = 100_000  # of an audit, unless told otherwise
    exact: bool = False  # whether laws are rational as they stand, with no exp enclosed
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """How much there is to enumerate; ``more`` if counting stopped at the limit."""

    pairs: int
    comparisons: int
    more: bool


def work_of(case: Case, *, most: int = MOST_COMPARISONS) -> Work:
    """Count the pairs of neighbours, up to what the limit allows."""
    each = 2 * sum(part.outcomes for part in case.parts)
    allowed = most // each if each else 0
    pairs = sum(1 for _ in islice(case.world.pairs(), allowed + 1))
    return Work(pairs, pairs * each, pairs > allowed)


def verify_case(case: Case, *, tick: Callable[[], None] = lambda: None) -> Verification:
    """The worst outcome and neighbours of every unit, over all parts; ``tick`` after each pair."""
    worst: dict[Hashable, Witness] = {}
    broken: tuple[Hashable, ...] = ()
    count = 0
    for part in case.parts:
        found = verify_law(
            part.law,
            _pairs(case, part, tick),
            claim=part.claims,
            tolerance=Fraction(0) if case.exact else ENCLOSED,
        )
        worst.update(found.worst)
        broken += found.broken
        count = max(count, found.pairs)
    return Verification(worst, broken, count)


def _pairs(case: Case, part: Part, tick: Callable[[], None]) -> Iterator[Pair[Any]]:
    for pair in case.world.pairs():
        yield replace(pair, unit=part.named(pair.unit))
        tick()
