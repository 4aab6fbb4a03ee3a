"""The domain of a file: which data there can be, who neighbours whom, and what they count to.

Not here  the mechanisms (verify_numbers.py, verify_profiles.py), enumeration (testing/).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from reticent.cli.verify_file import Section
from reticent.guarantees import Unit
from reticent.preferences.problems import shown
from reticent.rational import rational
from reticent.testing.neighbourhoods import Databases, Listed, Vectors, World

Vector: TypeAlias = tuple[Fraction, ...]
KINDS = "values, records or inputs"
_MOST_PEOPLE, _MOST_NUMBERS = 1000, 200


@dataclass(frozen=True, slots=True)
class Domain:
    """A world, the vector of numbers that its data come to, and between what these lie."""

    world: World
    vector: Callable[[Any], Vector]
    least: Fraction
    most: Fraction


def unit_of(domain: Section) -> Unit:
    """What one neighbour can change: a record, added or removed, unless told otherwise."""
    thing = domain.text("unit", "record", among=("record", "edge", "item"))
    relation = domain.text("relation", "add-remove", among=("add-remove", "substitute"))
    return Unit(thing, relation)


def numeric(
    domain: Section,
    length: int,
    *,
    distance: Fraction,
    unit: Unit,
    each: bool = False,
    one_way: bool = False,
    coordinates: int | None = None,
) -> Domain:
    """Vectors of ``length``: of given values, from records, or listed one by one."""
    if length > _MOST_NUMBERS:
        domain.wrong("values", f"a domain is of at most {_MOST_NUMBERS} numbers, not {length}")
    if "values" in domain:
        values = tuple(sorted(set(domain.numbers("values"))))
        most = domain.number("distance", distance)
        world = Vectors(values, length, most, unit.thing, each, one_way, coordinates)
        return Domain(world, lambda data: data, values[0], values[-1])
    if "records" in domain:
        return _from_records(domain, length, unit)
    if "inputs" not in domain:
        domain.wrong("values", f"[domain] needs one of {KINDS}")
    vectors = inputs_as_vectors(domain, length)
    flat = [x for vector in vectors.values() for x in vector]
    named = listed(domain, tuple(vectors), unit.thing)
    return Domain(named, vectors.__getitem__, min(flat), max(flat))


def databases(domain: Section, records: tuple[Hashable, ...], unit: Unit, **how: bool) -> Databases:
    """Databases of records of this domain."""
    people = domain.whole("people")
    if people > _MOST_PEOPLE:
        domain.wrong("people", f"people must be at most {_MOST_PEOPLE:,}, got {people}")
    return Databases(records, people, unit.relation == "substitute", unit.thing, **how)


def _from_records(domain: Section, length: int, unit: Unit) -> Domain:
    adds = _adds(domain, length)
    world = databases(domain, tuple(adds), unit)

    def vector(data: tuple[Hashable, ...]) -> Vector:
        return tuple(sum((adds[r][j] for r in data), Fraction(0)) for j in range(length))

    flat = [x for vector in adds.values() for x in vector]
    least, most = min([Fraction(0), *flat]), max([Fraction(0), *flat])
    return Domain(world, vector, world.people * least, world.people * most)


def _adds(domain: Section, length: int) -> dict[Hashable, Vector]:
    """What each record adds to the numbers: told, or itself, or one to its own place."""
    if isinstance(domain.held["records"], dict):
        told = domain.section("records")
        adds = {name: told.numbers(name) for name in told.held}
        for name, vector in adds.items():
            if len(vector) != length:
                told.wrong(name, f"{name} must add {length} numbers, got {len(vector)}")
        return dict(adds)
    records = domain.listed("records")
    if all(isinstance(record, (int, Decimal)) for record in records) and length == 1:
        return {exact: (exact,) for exact in (rational(r, "records") for r in records)}
    names = [str(record) for record in records]
    if length == 1:
        return {name: (Fraction(1),) for name in names}
    if length != len(set(names)):
        says = f"records must be {length} different ones, one for each number, got {len(names)}"
        domain.wrong("records", says)
    return {n: tuple(Fraction(n == other) for other in names) for n in names}


def inputs_as_vectors(domain: Section, length: int) -> dict[str, Vector]:
    """Inputs by name, each a list of numbers."""
    told = domain.section("inputs")
    found = {name: told.numbers(name) for name in told.held}
    for name, vector in found.items():
        if len(vector) != length:
            told.wrong(name, f"{name} must have {length} numbers, got {len(vector)}")
    return found


def listed(domain: Section, names: tuple[str, ...], unit: str = "any") -> Listed:
    """Inputs by name; ``neighbours`` lists pairs of them, else all are neighbours."""
    if "neighbours" not in domain:
        return Listed(names, None, unit)
    pairs = []
    for pair in domain.listed("neighbours"):
        good = isinstance(pair, list) and len(pair) == 2 and all(end in names for end in pair)
        if not good or pair[0] == pair[1]:
            found = pair if isinstance(pair, list) else [pair]
            says = 'neighbours must be pairs of inputs, as [["x", "y"]], got '
            domain.wrong("neighbours", says + ", ".join(map(shown, found)))
        pairs.append((pair[0], pair[1]))
    return Listed(names, tuple(pairs), unit)


def claim_of(claim: Section | None, promised: Fraction) -> Fraction:
    """The epsilon claimed: that of the file, or what the mechanism promises."""
    return promised if claim is None else claim.number("epsilon", promised)


def item_claims(
    claim: Section | None, promised: Mapping[Hashable, Fraction]
) -> dict[Hashable, Fraction]:
    """Claims by item: those of the file, or what the mechanism promises."""
    claims = dict(promised)
    if claim is None:
        return claims
    overall = claim.number("epsilon", None)
    if overall is not None:
        claims = dict.fromkeys(claims, overall)
    told = claim.section("items", None)
    if told is not None:
        for name in claims:
            claims[name] = told.number(str(name), claims[name])
        told.close()
    return claims
