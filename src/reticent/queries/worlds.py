"""Small neighbouring inputs of a query, between which its promise bounds what can be told.

Theory    docs/theory/auditing.md, Theorem 1 (audit bound)
Not here  comparing what is drawn from them (testing/), the promise itself (each query).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.noise import Source
    from reticent.queries.base import Query, Terms

ITEMS = ("Heat", "Up", "Alien")
_LONG = 16  # letters of a label
_TRIED = 20  # answers of each side on which it is chosen what to look at


@dataclass(frozen=True, slots=True)
class World:
    """Two inputs that differ in one unit: ``differs`` says in what.

    ``weight`` is the share of the promised loss that this unit may lose; of weight 0 nothing.
    """

    differs: str
    first: Mapping[str, Any]
    second: Mapping[str, Any]
    weight: Fraction = Fraction(1)


def item_worlds(
    you: str,
    *,
    exchanged: bool,
    more: Mapping[str, Any],
    other: str = "she",
    listed: bool = True,
) -> tuple[World, ...]:
    """One item of a person: there or not, or another one; of weight 1, 1/2 and 0.

    ``more`` are other tables; ``listed`` says whether a list of items is one of them.
    """
    named = dict.fromkeys((other, "she", "he", "they"))  # each is somebody else
    other, third = [name for name in named if name != you][:2]
    theirs = [(other, "Heat", 1), (other, "Up", 1), (third, "Alien", 1)]
    shown = {**more, "people": [you, other, third], **({"items": list(ITEMS)} if listed else {})}

    def tables(rows: Sequence[tuple[str, str, float]]) -> dict[str, Any]:
        held = [*rows, (you, "Up", 1), *theirs]
        people, items, weights = (list(cells) for cells in zip(*held, strict=True))
        return {"profiles": {"person": people, "item": items, "weight": weights}, **shown}

    found = []
    for weight in (Fraction(1), Fraction(1, 2), Fraction(0)):
        own = float(weight)
        if exchanged:
            differs = f"one of two items of weight {weight}"
            pair = ([(you, "Heat", own)], [(you, "Alien", own)])
        else:
            differs, pair = f"an item of weight {weight}", ([(you, "Heat", own)], [])
        found.append(World(differs, tables(pair[0]), tables(pair[1]), weight))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ready:
    """A query on one side of a world, ready to be drawn from as often as one likes."""

    terms: Terms
    tables: Mapping[str, Any]

    @classmethod
    def of(cls, query: Query, data: Mapping[str, Any]) -> Ready:
        """What is public fixed, what is private read."""
        from reticent.queries.run import read_all

        return cls(*read_all(query, data))

    @property
    def claim(self) -> Fraction:
        """What a unit of weight 1 may lose."""
        from reticent.amounts import NANO
        from reticent.guarantees.losses import require_dp

        return Fraction(require_dp(self.terms.loss()).overall, NANO)

    def rows(self, source: Source) -> list[tuple[Any, ...]]:
        """One answer, as it would be published; each is drawn anew, from a seeded source, too."""
        from reticent.noise import Source

        own = source if source.private else Source.seeded(source.bits(128))
        kept = self.terms.draw(self.tables, own, lambda share: None)
        return self.terms.rows(self.terms.show(kept))

    def cells(self, source: Source) -> list[Any]:
        """One answer as a list of all its cells."""
        return [cell for row in self.rows(source) for cell in row]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sides:
    """Both sides of a world, and which cells of an answer are looked at.

    These are chosen on a few draws of both sides: numbers; where labels vary, those and whole
    numbers; long labels letter by letter, as they hardly ever come twice as a whole. A view of an
    answer tells no more than the answer, so an audit of it is one of the query.
    """

    both: tuple[Ready, Ready]
    places: tuple[int, ...]
    numbers: bool
    letters: bool

    @classmethod
    def of(cls, query: Query, world: World, source: Source) -> Sides:
        """Ready to be drawn from."""
        both = Ready.of(query, world.first), Ready.of(query, world.second)
        tried = [one.cells(source) for one in both for _ in range(_TRIED)]
        wide = min(len(cells) for cells in tried)
        named = [j for j in range(wide) if any(not _is_number(cells[j]) for cells in tried)]
        labels = [j for j in named if len({str(cells[j]) for cells in tried}) > 1]
        if not labels:
            rest = (j for j in range(wide) if j not in named)
            return cls(both, tuple(rest), numbers=True, letters=False)
        lengths = [{len(str(cells[j])) for cells in tried} for j in labels]
        letters = all(len(found) == 1 and max(found) > _LONG for found in lengths)
        seen = labels if letters else [j for j in range(wide) if j in labels or j not in named]
        return cls(both, tuple(seen), numbers=False, letters=letters)

    @property
    def claim(self) -> Fraction:
        """What a unit of weight 1 may lose."""
        return self.both[0].claim

    def outputs(self, side: int, count: int, source: Source) -> NDArray[Any]:
        """What is looked at of many answers, a row for each."""
        import numpy as np

        drawn = (self.both[side].cells(source) for _ in range(count))
        return np.array([self._seen(cells) for cells in drawn])

    def _seen(self, cells: Sequence[Any]) -> list[Any]:
        held = [cells[place] if place < len(cells) else "" for place in self.places]
        if self.numbers:
            return [float(cell) if _is_number(cell) else float("nan") for cell in held]
        texts = [f"{cell:.0f}" if _is_number(cell) else str(cell) for cell in held]
        return [letter for text in texts for letter in text] if self.letters else texts


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)
