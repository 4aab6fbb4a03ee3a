"""Lists of neighbours that are read off released sketches, at no cost.

Theory    docs/theory/blip.md, Theorem 5 (noise of a cosine and ranking)
Not here  the query (neighbours.py), the sketches (sketches.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.queries import ranked
from reticent.queries.base import Answer, Progress
from reticent.queries.derived import DerivedTerms

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.queries.neighbours import Neighbours


@dataclass(frozen=True, slots=True)
class FromSketches(DerivedTerms):
    """Lists that are read off sketches."""

    query: Neighbours
    sketches: Answer
    columns: ClassVar[tuple[str, ...]] = ranked.PEERS

    @property
    def mechanism(self) -> Any:  # type: ignore[override]
        """That of the sketches."""
        return self.sketches.terms.mechanism

    @property
    def parent(self) -> Answer:
        """The sketches."""
        return self.sketches

    @property
    def what(self) -> str:
        """In words."""
        k = min(self.query.k, max(len(self.sketches.value) - 1, 1))
        return f"the {k} nearest of each person by published sketches"

    @property
    def public(self) -> tuple[str, ...]:
        """The sketches were released."""
        return ("the sketches, which were released, with their card",)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.read_off_sketches(self.sketches.card.scope, card=self.sketches.card.id)

    def derive(self, tables: Mapping[str, Any], progress: Progress) -> tuple[Any, Any]:
        """Places of peers, and their scores."""
        from reticent.queries.sketches import published

        held = published(self.sketches)
        found = held.nearest(min(self.query.k, max(len(held) - 1, 1)))
        return found.peers, found.scores

    def derive_one(self, tables: Mapping[str, Any], person: str) -> Any:
        """One person's list, without the others'."""
        from reticent.queries.sketches import published

        names = list(self.sketches.value)
        found = published(self.sketches).nearest_to(names.index(person), self.query.k)
        return ranked.shown([person], found.peers, found.scores, names, "peer")[person]

    def named_in(self, value: Any) -> tuple[str, ...]:
        """The neighbours."""
        return tuple(entry["peer"] for entry in value)

    def show(self, kept: tuple[Any, Any]) -> dict[str, list[dict[str, Any]]]:
        """Lists by person."""
        names = list(self.sketches.value)
        return ranked.shown(names, *kept, names, "peer")

    def tables(self, kept: tuple[Any, Any]) -> Iterator[Any]:
        """Lists of some people at a time."""
        names = list(self.sketches.value)
        return ranked.tables(names, *kept, names, self.columns)

    def rows(self, value: Any) -> list[tuple[Any, ...]]:
        """One for each peer, by person and rank."""
        return ranked.rows(value)
