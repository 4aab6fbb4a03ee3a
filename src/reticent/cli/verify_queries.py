"""A query in a file that says what to verify: its own small worlds, drawn from and audited.

Not here  the worlds (queries/worlds.py and each query), audits (testing/searched.py).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reticent.cli.verify_file import Section, by_key
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.queries.cells import cells
from reticent.queries.registry import queries, query_of
from reticent.queries.worlds import Sides
from reticent.queries.worlds import World as Neighbours
from reticent.testing.cases import Case
from reticent.testing.neighbourhoods import World

DRAWS = 10_000
_WHY = "a query is tried as a whole, from its tables to what is published"


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


def query_case(section: Section) -> Case:
    """The case of a query with its options; each world may lose its share of the promised loss."""
    kind = section.text("kind", among=tuple(queries()))
    made = query_of(kind)
    section.asked |= {one.name for one in made.options()}
    section.close()
    options = {name: value for name, value in section.held.items() if name != "kind"}
    for one in made.options():
        if one.required and one.name not in options:
            section.wrong("kind", f"{kind} needs {one.name}: {one.help}")
    try:
        query = made.of_plain(options)
    except ParameterError as error:
        raise by_key(error, section) from None
    held = tuple(query.worlds())
    if not held:
        found = cells(made)["verbs"]["verify"]
        reason = "with these options it promises no worst case" if found is True else found
        section.wrong("kind", f"{kind} cannot be verified: {reason}")
    source = Source.system()
    sides = [Sides.of(query, one, source) for one in held]
    claims: dict[Hashable, Fraction] = {
        one.differs: one.weight * own.claim for one, own in zip(held, sides, strict=True)
    }

    def draw(data: Any, count: int) -> Any:
        world, side = data
        return sides[world].outputs(side, count, source)

    return Case(name=kind, world=QueryWorld(held), claims=claims, why=_WHY, draw=draw, draws=DRAWS)
