"""Queries on a provider's public terms: what a gateway draws of one person, or of two.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show), Theorem 5 (any map over items)
Not here  the mathematics (tasks/terms.py), who may ask and what is kept (gateway/).

The terms fix the noise for everybody alike; what a person allows acts on their data. A release and
a cover, which holds nothing of anybody, are drawn for every request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import NANO
from reticent.data.labels import in_order, ordered
from reticent.data.profiles import Profiles
from reticent.errors import require
from reticent.guarantees import ITEM, PerItemDP, PureDP
from reticent.queries.base import Query, Terms
from reticent.queries.binding import Given
from reticent.queries.derived import DerivedTerms
from reticent.queries.offered import NO_ITEMS
from reticent.queries.people import PersonTerms
from reticent.queries.profile_tables import Held
from reticent.tasks import terms as maths
from reticent.tasks.terms import FULL, Allowance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.noise import Source
    from reticent.preferences import Preferences
    from reticent.queries.histogram import Histogram, HistogramTerms
    from reticent.queries.profile import Profile, ProfileTerms
    from reticent.queries.similarity import Similarity, SimilarityTerms

PERSON, OTHER = "a person", "another person"
"""Whom terms speak of before anybody is asked about."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Subject:
    """A person as terms read them; ``held`` is 1 at the places of their items in the catalogue."""

    name: str
    held: NDArray[np.int64]
    columns: Mapping[str, str]
    allowed: Allowance


class PublicTerms(ABC):
    """A query as a provider asks for it; ``terms`` are the query's own: form, event, promise."""

    query: Query
    terms: Terms

    @abstractmethod
    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """How far a person's preferences let their data count, and what they lose by that."""

    @abstractmethod
    def draw(self, people: Sequence[Subject], source: Source) -> tuple[Any, Any]:
        """The value of a release, and a cover; as JSON holds them."""


def public_terms(query: Query, held: Mapping[str, Any]) -> Terms:
    """The terms of a query by what a gateway holds that is public: no person is read."""
    return query.terms(query.facts(public_tables(query, held)))


def public_tables(query: Query, held: Mapping[str, Any]) -> dict[str, Any]:
    """What a query reads of what a gateway holds that is public."""
    inputs = query.reads({})
    given = {name: one for name, one in held.items() if name in inputs}
    needed = [name for name, one in inputs.items() if one.public and one.required]
    lacks = [name for name in needed if name not in given]
    require(not lacks, "asks", query.kind, f"others: there is no {', '.join(lacks)} here")
    return Given.of(inputs, given, None).public()


def usual_terms(query: Query, held: Mapping[str, Any]) -> PublicTerms:
    """Terms of a query that says nothing of its own about them."""
    terms: Any = public_terms(query, held)
    if isinstance(terms, DerivedTerms):
        return ReadOff(query, terms, held)
    return StretchedItems(query, terms, held["items"])


def _stream(source: Source, person: str) -> Source:
    """A seeded source has a stream for each person, as in a release of many: always the same."""
    return source if source.private else source.child(person)


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class StretchedItems(PublicTerms):
    """Any map over people's items: theirs are stretched, and the query draws as it always does."""

    query: Query
    terms: PersonTerms
    items: Sequence[str]

    def __post_init__(self) -> None:
        loss = self.terms.loss() if isinstance(self.terms, PersonTerms) else None
        by_item = isinstance(loss, (PerItemDP, PureDP)) and loss.unit == ITEM
        require(by_item, "query", self.query.kind, f"another: {NO_ITEMS}")

    @cached_property
    def _order(self) -> tuple[list[str], NDArray[np.int64]]:
        """The items as a table of profiles has them, and where each is in the catalogue."""
        places = {item: place for place, item in enumerate(self.items)}
        items = ordered(places, "items") or []
        return items, np.array([places[item] for item in items], dtype=np.int64)

    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """By weight; in full or not at all where the loss does not follow weights. Theorem 5."""
        loss: Any = self.terms.loss()
        return maths.stretched_items(
            preferences,
            provider,
            places,
            epsilon=Fraction(loss.overall, NANO),
            full=loss.overall,
            graded=isinstance(loss, PerItemDP),
        )

    def draw(self, people: Sequence[Subject], source: Source) -> tuple[Any, Any]:
        """The query's own draw, of a stretched profile and of an empty one."""
        (one,) = people
        weights = one.held * one.allowed.weights
        rows = (weights, np.zeros_like(weights))
        released, cover = (self._value(row, _stream(source, one.name)) for row in rows)
        return released, cover

    def _value(self, weights: NDArray[np.int64], source: Source) -> Any:
        items, places = self._order
        own = weights[places]
        held = np.flatnonzero(own)
        units = own[held].astype(np.int32)
        starts = np.array([0, held.size])
        profile = Profiles(starts, held.astype(np.int32), units, [PERSON], items)
        tables = {**self.terms.known.tables, "profiles": Held("profiles", profile, weighted=True)}
        drawn = self.terms.each(tables, [PERSON], source)
        return self.terms.plain(self.terms.show(drawn))[PERSON]


@dataclass(frozen=True, slots=True, eq=False)
class ReadOff(PublicTerms):
    """A person's own answer, read off what was drawn for the provider before. Theorem 6.

    It reads no profile and no preferences, so it costs nothing and has no cover.
    """

    query: Query
    terms: DerivedTerms
    held: Mapping[str, Any]

    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """Nothing more of anybody."""
        return Allowance(np.zeros(len(places), dtype=np.int64), np.array([0]), 0)

    def draw(self, people: Sequence[Subject], source: Source) -> tuple[Any, Any]:
        """It draws nothing: see ``read``."""
        raise TypeError(f"{self.query.kind} is read off what was drawn")

    def read(self, person: str, drawn: Mapping[str, Any]) -> Any:
        """The answer about one of those for whom something was drawn, by name."""
        parent = self.terms.parent
        value = {name: drawn[name] for name in sorted(drawn, key=in_order)}
        given = {**self.held, parent.query.kind: replace(parent, value=value)}
        tables = public_tables(self.query, given)
        terms: Any = self.query.terms(self.query.facts(tables))
        return terms.derive_one(tables, person)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeTerms(PublicTerms):
    """A histogram: people also limit what each attribute alone tells. Theorem 1."""

    query: Histogram
    terms: HistogramTerms
    maths: maths.HistogramTerms

    @classmethod
    def of(cls, query: Histogram, held: Mapping[str, Any]) -> AttributeTerms:
        """Refused where one number would tell of several attributes."""
        rule = "left out: a person's limit for one attribute could not be kept"
        require(not query.possible, "possible", True, rule)
        terms: Any = public_terms(query, held)
        return cls(query, terms, maths.HistogramTerms(terms.made))

    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """See ``PublicTerms``."""
        return self.maths.allowance(preferences, provider)

    def draw(self, people: Sequence[Subject], source: Source) -> tuple[Any, Any]:
        """The stretched histogram with noise, and the same noise alone. Theorem 2."""
        (one,) = people
        both = self.maths.draw(one.held, one.allowed, _stream(source, one.name))
        names = self.maths.plan.attributes
        released, cover = (dict(zip(names, row.tolist(), strict=True)) for row in both)
        return released, cover


@dataclass(frozen=True, slots=True, eq=False)
class PairTerms(PublicTerms):
    """A comparison of two people, who both pay. Theorem 3."""

    query: Similarity
    terms: SimilarityTerms
    maths: maths.SimilarityTerms

    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """See ``PublicTerms``."""
        return self.maths.allowance(preferences, provider, places)

    def draw(self, people: Sequence[Subject], source: Source) -> tuple[Any, Any]:
        """The similarity of stretched profiles, and of two empty ones."""
        first, second = ((one.held, one.allowed) for one in people)
        return self.maths.draw(first, second, source)


@dataclass(frozen=True, slots=True, eq=False)
class RecodedTerms(PublicTerms):
    """A profile through a mapping: of the person, or of nobody in particular. Theorem 4."""

    query: Profile
    terms: ProfileTerms
    maths: maths.ProfileTerms

    def allowance(
        self, preferences: Preferences, provider: str, places: Mapping[str, int]
    ) -> Allowance:
        """All or nothing, and no epsilon."""
        factor = FULL if self.maths.permitted(preferences, provider) else 0
        return Allowance(np.zeros(len(places), dtype=np.int64), np.array([factor]), 0)

    def draw(self, people: Sequence[Subject], source: Source) -> tuple[Any, Any]:
        """One draw for the person, and one for nobody in particular."""
        (one,) = people
        columns = self.maths.recoding.columns
        row = [one.columns.get(name) for name in columns]
        both = self.maths.draw(row, _stream(source, one.name))
        released, cover = (dict(zip(columns, cells, strict=True)) for cells in both)
        return released, cover
