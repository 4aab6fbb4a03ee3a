"""Small worlds: all data there can be, who neighbours whom, and local sensitivity by enumeration.

Theory    docs/theory/auditing.md, "Exact verification"; docs/theory/dampening.md, Definition 1
Notation  LS(t, x, r) = the most that u(r) changes between neighbours within t steps of x
Not here  the losses compared (exact.py), audits of worlds too large to enumerate (searched.py).

A world makes its pairs when they are asked for, so a large one takes no memory; some pairs spread
over it can be had without going through the rest.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

from reticent.testing.exact import Pair

_LOOKED_AT = 256  # neighbours of one data among which some are chosen
_STRIDE = 31


class World(ABC):
    """All data of a small domain, in an order of their own, with their neighbours."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many data there are, or more: not every number need be a different one."""

    @abstractmethod
    def data(self, number: int) -> Hashable:
        """The data of one number below ``size``."""

    @abstractmethod
    def neighbours(self, data: Any) -> Iterator[tuple[Hashable, Hashable]]:
        """The neighbours of data that come after it, each with the unit in which they differ."""

    def words(self, data: Any) -> str:
        """Data as a person reads them."""
        return str(data)

    def pairs(self) -> Iterator[Pair[Any]]:
        """Every pair of neighbours once."""
        for number in range(self.size):
            own = self.data(number)
            for other, unit in self.neighbours(own):
                yield Pair(own, other, unit)

    def some_pairs(self, most: int) -> Iterator[Pair[Any]]:
        """At most ``most`` pairs of data spread evenly over the world, and over its units."""
        count = min(self.size, most)
        places = [self.data(i * self.size // count) for i in range(count)]
        left = {own: list(islice(self.neighbours(own), _LOOKED_AT)) for own in places}
        given: Counter[Hashable] = Counter()
        while any(left.values()):
            for own, others in left.items():
                if not others:
                    continue
                if given.total() >= most:
                    return
                rarest = min(given[unit] for _, unit in others)
                fitting = [place for place, (_, u) in enumerate(others) if given[u] == rarest]
                # not the first of them each time, or only the first items would ever change
                other, unit = others.pop(fitting[given.total() * _STRIDE % len(fitting)])
                given[unit] += 1
                yield Pair(own, other, unit)


@dataclass(frozen=True, slots=True)
class Vectors(World):
    """Vectors of given values; a unit moves at most ``coordinates`` by ``most`` in total.

    With ``each`` it may move every coordinate by ``most``; ``one_way`` ones move alike.
    """

    values: tuple[Fraction, ...]
    length: int
    most: Fraction
    unit: str = "record"
    each: bool = False
    one_way: bool = False
    coordinates: int | None = None

    @property
    def size(self) -> int:
        """All vectors."""
        return int(len(self.values) ** self.length)

    def data(self, number: int) -> tuple[Fraction, ...]:
        """By digits, the first counts least."""
        found = []
        for _ in range(self.length):
            number, digit = divmod(number, len(self.values))
            found.append(self.values[digit])
        return tuple(found)

    def words(self, data: tuple[Fraction, ...]) -> str:
        """As a list of numbers."""
        return f"[{', '.join(f'{float(value):g}' for value in data)}]"

    def neighbours(self, data: tuple[Fraction, ...]) -> Iterator[tuple[Hashable, Hashable]]:
        """Those after it in the order of vectors."""
        room = self.coordinates if self.coordinates is not None else self.length
        for other in self._moved(data, (), self.most, room, 0, alike=True):
            yield other, self.unit

    def _moved(
        self,
        rest: tuple[Fraction, ...],
        done: tuple[Fraction, ...],
        left: Fraction,
        room: int,
        way: int,
        alike: bool,
    ) -> Iterator[tuple[Fraction, ...]]:
        """Vectors that go on from ``done``; while it is ``alike``, only what comes after."""
        if not rest:
            if not alike:
                yield done
            return
        for value in self.values:
            by = value - rest[0]
            if alike and by < 0:
                continue
            sign = (by > 0) - (by < 0)
            if abs(by) > left or (by and not room) or (self.one_way and sign * way < 0):
                continue
            spent = Fraction(0) if self.each else abs(by)
            yield from self._moved(
                rest[1:],
                (*done, value),
                left - spent,
                room - bool(by),
                way or sign,
                alike=alike and not by,
            )


@dataclass(frozen=True, slots=True)
class Databases(World):
    """At most ``people`` records, one added or removed; or that many, one replaced."""

    records: tuple[Hashable, ...]
    people: int
    substitute: bool = False
    unit: str = "record"
    ordered: bool = False  # whether it matters who holds a record

    @property
    def size(self) -> int:
        """All lists of records, those in order of number only being data."""
        if self.substitute and self.ordered:
            return int(len(self.records) ** self.people)
        kinds = len(self.records)
        if self.substitute:
            return math.comb(kinds + self.people - 1, self.people)
        return math.comb(kinds + self.people, self.people)

    def data(self, number: int) -> tuple[Hashable, ...]:
        """Multisets in the order of their numbers, smaller ones first; or lists by digits."""
        if self.substitute and self.ordered:
            found = []
            for _ in range(self.people):
                number, digit = divmod(number, len(self.records))
                found.append(self.records[digit])
            return tuple(found)
        length = self.people if self.substitute else 0
        while not self.substitute:
            many = math.comb(len(self.records) + length - 1, length)
            if number < many:
                break
            number, length = number - many, length + 1
        return tuple(self.records[place] for place in _multiset(number, len(self.records), length))

    def words(self, data: tuple[Hashable, ...]) -> str:
        """As the records held, in the order that counts."""
        shown = [f"{float(r):g}" if isinstance(r, Fraction) else str(r) for r in data]
        return f"[{', '.join(shown)}]" if shown else "nobody"

    def neighbours(self, data: tuple[Hashable, ...]) -> Iterator[tuple[Hashable, Hashable]]:
        """With one record more; or with one replaced by a later one."""
        if not self.substitute:
            if len(data) < self.people:
                for record in self.records:
                    yield self._sorted((*data, record)), self.unit
            return
        place = {record: i for i, record in enumerate(self.records)}
        for i, own in enumerate(data):
            if not self.ordered and own in data[:i]:
                continue
            for record in self.records[place[own] + 1 :]:
                changed = (*data[:i], record, *data[i + 1 :])
                yield (changed if self.ordered else self._sorted(changed)), self.unit

    def _sorted(self, data: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        place = {record: i for i, record in enumerate(self.records)}
        return tuple(sorted(data, key=place.__getitem__))


@dataclass(frozen=True, slots=True)
class Profiles(World):
    """Values of every item, for one person or more; one item's value is another one."""

    items: tuple[str, ...]
    values: tuple[Fraction, ...] = (Fraction(0), Fraction(1))
    people: tuple[str, ...] = ("",)

    @property
    def size(self) -> int:
        """All profiles of all people."""
        return int(len(self.values) ** (len(self.items) * len(self.people)))

    def data(self, number: int) -> tuple[tuple[Fraction, ...], ...]:
        """One profile per person."""
        found = []
        for _ in self.people:
            profile = []
            for _ in self.items:
                number, digit = divmod(number, len(self.values))
                profile.append(self.values[digit])
            found.append(tuple(profile))
        return tuple(found)

    def words(self, data: tuple[tuple[Fraction, ...], ...]) -> str:
        """The items that are there, with their value where it is not 1."""
        told = []
        for person, profile in zip(self.people, data, strict=True):
            held = [
                item if value == 1 else f"{item} {float(value):g}"
                for item, value in zip(self.items, profile, strict=True)
                if value
            ]
            told.append(f"{person}{{{', '.join(held)}}}")
        return " ".join(told)

    def neighbours(
        self, data: tuple[tuple[Fraction, ...], ...]
    ) -> Iterator[tuple[Hashable, Hashable]]:
        """One item of one person with a larger value."""
        for p, profile in enumerate(data):
            for i, item in enumerate(self.items):
                for value in self.values:
                    if value > profile[i]:
                        changed = (*profile[:i], value, *profile[i + 1 :])
                        yield (*data[:p], changed, *data[p + 1 :]), f"{self.people[p]}{item}"


@dataclass(frozen=True, slots=True)
class Listed(World):
    """Data by name, and which are neighbours: all of them unless told."""

    names: tuple[str, ...]
    beside: tuple[tuple[str, str], ...] | None = None
    unit: str = "any"

    @property
    def size(self) -> int:
        """How many are named."""
        return len(self.names)

    def data(self, number: int) -> str:
        """By name."""
        return self.names[number]

    def neighbours(self, data: str) -> Iterator[tuple[Hashable, Hashable]]:
        """As listed."""
        given = combinations(self.names, 2) if self.beside is None else self.beside
        for one, other in given:
            if one == data:
                yield other, self.unit


def local_sensitivities(
    world: World, utilities: Mapping[Hashable, Sequence[Fraction]], steps: int
) -> dict[Hashable, tuple[tuple[Fraction, ...], ...]]:
    """LS(t, x, r) for t below ``steps``, for all data of a world, as rows over t.

    The largest change between neighbours at one place spreads by one place a step.
    """
    beside: dict[Hashable, list[Hashable]] = {data: [] for data in utilities}
    for pair in world.pairs():
        beside[pair.a].append(pair.b)
        beside[pair.b].append(pair.a)
    rows = {
        data: tuple(
            max((abs(u - utilities[other][r]) for other in others), default=Fraction(0))
            for r, u in enumerate(utilities[data])
        )
        for data, others in beside.items()
    }
    found: dict[Hashable, list[tuple[Fraction, ...]]] = {data: [] for data in utilities}
    for _ in range(steps):
        for data, row in rows.items():
            found[data].append(row)
        rows = {
            data: tuple(map(max, zip(row, *(rows[o] for o in beside[data]), strict=True)))
            for data, row in rows.items()
        }
    return {data: tuple(table) for data, table in found.items()}


def _multiset(number: int, kinds: int, length: int) -> list[int]:
    """The multiset of this number, in the order of ``combinations_with_replacement``."""
    found: list[int] = []
    first = 0
    for left in range(length, 0, -1):
        while True:
            many = math.comb(kinds - first + left - 2, left - 1)
            if number < many:
                break
            number, first = number - many, first + 1
        found.append(first)
    return found
