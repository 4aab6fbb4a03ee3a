"""A query verified as a whole: its own small inputs, drawn from and audited.

Theory    docs/theory/auditing.md, Theorem 1 (audit bound)
Not here  the inputs (worlds.py and each query), audits (testing/searched.py), what a file says
          (cli/verify_queries.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reticent.errors import ParameterError, require
from reticent.noise import Source
from reticent.queries.base import Query
from reticent.queries.cells import cells
from reticent.queries.worlds import Ready, Sides
from reticent.queries.worlds import World as Neighbours
from reticent.rational import whole
from reticent.testing.cases import Case
from reticent.testing.neighbourhoods import World
from reticent.testing.searched import Searched, audit_world

DRAWS = 10_000
CONFIDENCE = 0.9999
_FEWEST = 100
_TRIED = 20
_WHY = "a query is tried as a whole, from its tables to what is published"
_NO_WORST_CASE = "with these options it promises no worst case"


@dataclass(frozen=True)
class QueryWorld(World):
    """Both sides of each of a query's worlds: data are (which world, which side)."""

    held: tuple[Neighbours, ...]

    @property
    def size(self) -> int:
        """A pair for each world."""
        return len(self.held)

    def data(self, number: int) -> tuple[int, int]:
        """The first side."""
        return number, 0

    def neighbours(self, data: tuple[int, int]) -> Iterator[tuple[Hashable, Hashable]]:
        """The other side."""
        yield (data[0], 1), self.held[data[0]].differs

    def words(self, data: tuple[int, int]) -> str:
        """Which side it is."""
        return ("as it is", "changed")[data[1]]


@dataclass(frozen=True, slots=True)
class Verified:
    """What an audit of each world found; it can refute a promise, and prove none."""

    case: Case
    units: Mapping[Hashable, Searched]
    draws: int

    @property
    def refuted(self) -> tuple[str, ...]:
        """What loses more than is promised."""
        return tuple(str(unit) for unit, one in self.units.items() if one.audit.violated)

    def __str__(self) -> str:
        return "\n".join(f"{unit}: {one.audit}" for unit, one in self.units.items())


def tried_worlds(query: Query, verb: str) -> tuple[Neighbours, ...]:
    """The small inputs of a query; why there are none is an error about ``verb``."""
    found = tuple(query.worlds())
    if not found:
        told = cells(type(query))["verbs"][verb]
        reason = _NO_WORST_CASE if told is True else told
        raise ParameterError("query", f"one that can be tried: {reason}", query.kind)
    return found


def _differ(query: Query, held: tuple[Neighbours, ...]) -> bool:
    """Whether anything can be told apart: with next to no noise, from equal random bits.

    A query that looks only at items which no world has would pass whatever it does.
    """
    loud = query.with_little_noise()
    for world in (one for one in held if one.weight):
        both = Ready.of(loud, world.first), Ready.of(loud, world.second)
        for seed in range(_TRIED):
            first, second = (one.rows(Source.seeded(seed)) for one in both)
            if first != second:
                return True
    return False


def case_of(query: Query, source: Source | None = None) -> Case:
    """The case of a query; each world may lose its share of the promised loss."""
    drawn = Source.system() if source is None else source
    held = tried_worlds(query, "verify")
    rule = "one whose small inputs (worlds) differ in what it releases with these options"
    require(_differ(query, held), "query", query.kind, rule)
    sides = [Sides.of(query, one, drawn) for one in held]
    claims: dict[Hashable, Fraction] = {
        one.differs: one.weight * own.claim for one, own in zip(held, sides, strict=True)
    }

    def draw(data: Any, count: int) -> Any:
        world, side = data
        return sides[world].outputs(side, count, drawn)

    world = QueryWorld(held)
    return Case(name=query.kind, world=world, claims=claims, why=_WHY, draw=draw, draws=DRAWS)


def verify(
    query: Query,
    *,
    draws: int | None = None,
    source: Source | None = None,
    tick: Callable[[str], None] = lambda step: None,
) -> Verified:
    """Audit what would be published on each pair of small inputs."""
    case = case_of(query, source)
    many = whole(case.draws if draws is None else draws, "draws", least=_FEWEST)
    return Verified(case, audited(case, many, tick), many)


def audited(case: Case, draws: int, tick: Callable[[str], None]) -> dict[Hashable, Searched]:
    """The audit of each unit of a case that can be drawn from."""
    if case.draw is None:
        raise TypeError(f"{case.name} cannot be drawn from")
    given: dict[str, Any] = {"samples": draws, "confidence": CONFIDENCE, "tick": tick}
    return audit_world(case.draw, case.world, case.claims, **given)
