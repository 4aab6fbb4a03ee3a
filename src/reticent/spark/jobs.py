"""What was asked and what is known of it before anything is drawn on a cluster.

Not here  the shapes (people.py, lists.py, pairs.py), how it is published (publishing.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reticent.amounts import show_nano
from reticent.guarantees import Event
from reticent.guarantees.card import Budget, Card
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.queries.base import Answer, Public, Query, Terms
from reticent.queries.binding import Given
from reticent.queries.people import PersonTerms
from reticent.queries.run import asked_of, card_of, event_of
from reticent.spark.publishing import Destination, Released, publish
from reticent.spark.scattering import SparkScatter
from reticent.tasks.batched import PERSON, Batched
from reticent.tasks.charged import Payer


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SparkRequest:
    """A query with what was given for it, and who pays up to what."""

    query: Query
    given: Given
    columns: Mapping[str, str] | None
    spark: Any
    destination: Destination
    key: str
    ledger: Ledger | None
    limit: int | None
    source: Source
    scatter: SparkScatter

    def publish(
        self,
        job: QueryJob,
        drawn: Callable[[], Any],
        *,
        by: Sequence[str] = (PERSON,),
        then: Sequence[str] = (),
        charges: Callable[[Any], Any] | None = None,
    ) -> Answer:
        """The rows of a draw, in files and in an order by names (``by``), as an answer."""
        released = publish(
            job,
            self.spark,
            drawn,
            replace(self.destination, by=by, then=then),
            key=self.key,
            ledger=self.ledger,
            source=self.source,
            charges=charges,
            limit=self.limit,
        )
        return self._answer(released, job.informed(released.people))

    def _answer(self, released: Released, terms: Terms) -> Answer:
        """The rows that can be seen now, as a DataFrame, with their card."""
        value = self.spark.read.parquet(released.out)
        paid = released.charged > 0 or (self.ledger is None and not released.replayed)
        spent = show_nano(terms.words().charge) if paid else "0"
        key, replayed = self.key, released.replayed
        return Answer(self.query, value, released.card, spent, key, replayed, terms=terms)


@dataclass(frozen=True, slots=True, eq=False)
class QueryJob:
    """A release on terms that know who there is; ``tables`` is what was read of the inputs.

    ``decides`` is what else decides the answer and is public: tables that were not read here.
    All pay from accounts like ``account``.
    """

    request: SparkRequest
    terms: Terms
    tables: Mapping[str, Any]
    decides: str = field(default="", kw_only=True)
    account: Payer = field(default=Payer(subject="anybody"), kw_only=True)

    @property
    def fingerprint(self) -> str:
        """Of the query, the columns, and what of the inputs is public."""
        told = asked_of(self.request.query, self.request.columns or {}, self.tables) + self.decides
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    def informed(self, people: int) -> Terms:
        """The terms of a release of so many people."""
        return self.terms

    def event(self, source: Source, people: int | None = None) -> Event:
        """See ``Job``."""
        return event_of(self.terms, self.tables, source)

    def payer(self, person: str) -> Payer:
        """Their account."""
        return replace(self.account, subject=person)

    def card(self, event: Event, people: int, budget: Budget | None) -> Card:
        """See ``Job``."""
        return card_of(self.informed(people), event, budget=budget)


@dataclass(frozen=True, slots=True, eq=False)
class PersonJob(QueryJob):
    """A map over people, batch by batch."""

    terms: PersonTerms
    batches: Batched

    def informed(self, people: int) -> Terms:
        """The terms once it is known how many people there are."""
        known = self.terms.known
        found = Public(people, known.names, known.declared, known.tables)
        return self.terms.informed(self.request.query, found)

    def event(self, source: Source, people: int | None = None) -> Event:
        """That of the batches: people may limit more than the terms do."""
        return self.batches.event(source, people)

    def payer(self, person: str) -> Payer:
        """Their account, up to what they allow."""
        return self.batches.payer(person)
