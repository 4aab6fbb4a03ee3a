"""Items that similar people have, from published sketches.

Theory    docs/theory/blip.md, Theorem 3 (what a bit tells); docs/theory/recommendation.md,
          Theorem 1 (weight 0)
Not here  the sketches (sketches.py), who is near whom (neighbours.py), ranking (tasks/).

From sketches and a public list of items alone this costs nothing and tells nothing more. With raw
profiles it is better and not private: that is said on the card, first of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import ParameterError, require
from reticent.queries import ranked
from reticent.queries.base import Answer, Progress, Public, Shape
from reticent.queries.derived import DerivedQuery, DerivedTerms, parent_of
from reticent.queries.inputs import ITEMS, PROFILES, Artefact, Input
from reticent.queries.offering import Offering
from reticent.queries.options import FLAG, count, option

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope

_RAW = "trusted_gateway"
K = 50
"""Neighbours: one bit of each tells little, so many are needed. Chosen on MovieLens-100k."""


@dataclass(frozen=True, kw_only=True)
class Recommendations(DerivedQuery):
    """Items that similar people seem to have.

    And that a person seems to lack. Neighbours and their items are read off sketches, best off
    those for items, so it costs nothing.
    With profiles the items come from the neighbours' raw profiles: better, and not private. The
    lists must then stay where raw profiles may be seen, and you say so.
    """

    kind: ClassVar[str] = "recommendations"
    shape: ClassVar[Shape] = Shape.PER_PERSON
    offering: ClassVar[Offering] = Offering(
        name="list of recommendations",
        gets="items that may suit you",
        about="items that people like you seem to have",
        value=ranked.schema("item"),
    )
    inputs: ClassVar[Mapping[str, Input]] = {
        "sketches": Artefact(
            "sketches", "Sketches that `reticent release sketches --use items --out` wrote."
        ),
        "items": replace(ITEMS, help="The items to choose from; public.", required=True),
        "profiles": replace(
            PROFILES,
            help="Raw profiles of the same people, which makes the answer not private.  [default: "
            "none, sketches alone]",
            required=False,
        ),
    }

    n_items: int = option("How many items for each person.", count(metavar="N"), default=10)
    k: int = option("How many neighbours of each person.", count(metavar="K"), default=K)
    trusted_gateway: bool = option(
        "You state that the lists stay where raw profiles may be seen; needed with profiles.",
        FLAG,
        default=False,
        local=True,
    )

    def terms(self, public: Public) -> RecommendationsTerms:
        """See ``Query``."""
        raw = "profiles" in public.tables
        if raw and not self.trusted_gateway:
            rule = "given with raw profiles: the items are then not covered by any guarantee"
            raise ParameterError(_RAW, rule, False)
        return RecommendationsTerms(self, parent_of(public, "sketches"), raw)

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """The sketches and the items."""
        return Public(tables=tables)


@dataclass(frozen=True, slots=True)
class RecommendationsTerms(DerivedTerms):
    """A ranked list of items for each person."""

    query: Recommendations
    sketches: Answer
    raw: bool
    columns: ClassVar[tuple[str, ...]] = ("person", "rank", "item", "score")

    @property
    def mechanism(self) -> Any:  # type: ignore[override]
        """That of the sketches."""
        return self.sketches.terms.mechanism

    @property
    def parent(self) -> Answer:
        """The sketches."""
        return self.sketches

    @property
    def covered(self) -> bool:
        """Not with raw profiles."""
        return not self.raw

    @property
    def what(self) -> str:
        """In words."""
        told = f"{self.query.n_items} items for each person"
        if self.raw:
            return f"not private: {told}, from raw profiles of neighbours by published sketches"
        return f"{told}, from published sketches"

    @property
    def public(self) -> tuple[str, ...]:
        """The sketches were released, the items are listed."""
        return ("the sketches, which were released, with their card", "the list of items")

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        card = self.sketches.card
        if self.raw:
            return promises.behind_recommendations(card.scope)
        return promises.read_off_sketches(card.scope, card=card.id)

    def notes(self, kept: Any) -> tuple[str, ...]:
        """That nothing covers the items, if nothing does."""
        from reticent.guarantees import promises

        return (promises.UNPROTECTED_ITEMS,) if self.raw else ()

    def derive(self, tables: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Places of items, their scores, and the items."""
        from reticent.queries.profile_tables import names
        from reticent.queries.sketches import published
        from reticent.tasks import recommendation

        held, items = published(self.sketches), names(tables, "items") or []
        near = held.nearest(min(self.query.k, max(len(held) - 1, 1)))
        if self.raw:
            people = list(self.sketches.value)
            profiles = tables["profiles"].profiles.in_catalogue(people, items)
            found = recommendation.recommend(profiles, near.peers, n_items=self.query.n_items)
        else:
            require(len(items) > 0, "items", "none", "some")
            found = recommendation.from_sketches(
                held, near, items, n_items=self.query.n_items, progress=progress
            )
        return {"found": found, "items": items}

    def derive_one(self, tables: Mapping[str, Any], person: str) -> Any:
        """One person's list, without the others'."""
        from reticent.queries.profile_tables import names
        from reticent.queries.sketches import published
        from reticent.tasks import recommendation

        held, items = published(self.sketches), names(tables, "items") or []
        place = list(self.sketches.value).index(person)
        near = held.nearest_to(place, self.query.k)
        found = recommendation.from_sketches(
            held, near, items, n_items=self.query.n_items, people=[place]
        )
        return ranked.shown([person], found.items, found.scores, items, "item")[person]

    def show(self, kept: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """Lists by person."""
        found, people = kept["found"], list(self.sketches.value)
        return ranked.shown(people, found.items, found.scores, kept["items"], "item")

    def tables(self, kept: dict[str, Any]) -> Iterator[Any]:
        """Lists of some people at a time."""
        found, people = kept["found"], list(self.sketches.value)
        return ranked.tables(people, found.items, found.scores, kept["items"], self.columns)

    def rows(self, value: Any) -> list[tuple[Any, ...]]:
        """One for each item, by person and rank."""
        return ranked.rows(value)
