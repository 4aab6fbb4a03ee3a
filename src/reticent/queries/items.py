"""Queries about people's items: an item of weight v loses at most v times epsilon, to anybody.

Theory    docs/theory/stretching.md, Theorem 1 (items)
Not here  the map over people (people.py), how profiles are read (profile_tables.py).

What such queries share: the tables they read, who pays, what is public, whom they protect.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.queries.base import Pays, Public, Query, Shape
from reticent.queries.inputs import ITEMS, PEOPLE, PROFILES, Input
from reticent.queries.people import PersonTerms
from reticent.queries.worlds import World, item_worlds

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.modular import WeightedProfile
    from reticent.noise import Source
    from reticent.tasks.charged import Payer


class ItemsQuery(Query):
    """An answer for each person about their items; they pay for it."""

    shape: ClassVar[Shape] = Shape.PER_PERSON
    pays: ClassVar[Pays] = Pays.PERSON
    counted: ClassVar[str] = "people"
    inputs: ClassVar[Mapping[str, Input]] = {
        "profiles": PROFILES,
        "people": PEOPLE,
        "items": ITEMS,
    }

    def worlds(self) -> tuple[World, ...]:
        """An item of a person."""
        return item_worlds("you", exchanged=False, more={})

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Who there is."""
        from reticent.queries.profile_tables import everybody

        return everybody(tables)


@dataclass(frozen=True, slots=True)
class ItemsTerms(PersonTerms):
    """A value for each person, drawn from their items by weight."""

    query: Query
    known: Public
    mechanism: Any

    @abstractmethod
    def release(self, profiles: Profiles, source: Source) -> Sequence[Any]:
        """A value for each row of profiles: of one column a cell, of several a tuple."""

    def each(self, tables: Mapping[str, Any], people: Sequence[str], source: Source) -> Any:
        """See ``PersonTerms``."""
        profiles = tables["profiles"].profiles
        if people != profiles.people:
            profiles = profiles.in_catalogue(people, profiles.items)
        return self.release(profiles, source)

    def payer(self, person: str) -> Payer:
        """Their account with anybody."""
        from reticent.tasks.charged import Payer

        return Payer(subject=person)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What counts where there are no weights."""
        from reticent.queries.profile_tables import unweighted

        return unweighted(self.known)

    @property
    def public(self) -> tuple[str, ...]:
        """Who there is."""
        from reticent.queries.profile_tables import who

        return (who(self.known),)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises
        from reticent.queries.profile_tables import declared

        return promises.items(public=declared(self.known))

    def show(self, kept: Sequence[Any]) -> dict[str, Any]:
        """Values by person."""
        return dict(zip(self.known.names or (), kept, strict=True))

    def rows(self, value: dict[str, Any]) -> list[tuple[Any, ...]]:
        """One for each person, by name."""
        one = len(self.columns) == 2
        return [(name, cells) if one else (name, *cells) for name, cells in value.items()]


def weighted(profiles: Profiles) -> Iterator[WeightedProfile]:
    """Each person's items as mechanisms that stretch take them, one person after another."""
    import numpy as np

    from reticent.mechanisms.modular import VALUE_BITS, WeightedProfile

    for at in range(len(profiles)):
        weights = profiles.row_weights(at).astype(np.int64)
        yield WeightedProfile(np.full_like(weights, 1 << VALUE_BITS), weights)
