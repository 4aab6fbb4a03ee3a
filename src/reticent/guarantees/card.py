"""The guarantee card: what a release promises, in words first, as data that can be checked.

Theory    docs/theory/guarantees.md, Theorem 4 (odds); wording rules in docs/promise.md
Not here  text and HTML (card_views.py), recomputing a mechanism's loss (mechanisms/).

Everything a reader could recompute is computed here from the event, never passed in, and bounds
round up: a sentence that rounded down would be false.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import date
from decimal import ROUND_CEILING, Context, Decimal
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reticent._version import __version__
from reticent.amounts import NANO, show_nano
from reticent.errors import CardError, require
from reticent.guarantees.average_words import also_on_average, odds_on_average
from reticent.guarantees.events import Event, canonical
from reticent.guarantees.losses import DPLoss, Loss, MutualInformation, PerItemDP, Unprotected
from reticent.guarantees.units import ITEM_SUBSTITUTE

SCHEMA: Literal["guarantee-card/1"] = "guarantee-card/1"
ANYONE = "Anyone who sees the release, whatever else they know"  # unless a promise says who
PRIVATE = "private"  # what a budget says that is its owner's alone to see
_VALUE_DIGEST = (
    "this card holds a digest of the released value, from which the value can be guessed: keep it "
    "to yourself, and make a new card by repeating the release with its key"
)
_LITTLE = 5 * NANO  # above this loss the card says that little is promised in the worst case


class Block(BaseModel):
    """A frozen part of a card; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Words(Block):
    """What a person should read first."""

    odds: str
    right_at_most: str = Field(description="Times in 100 that a guesser can be right, rounded up")
    also: tuple[str, ...] = ()
    error: str


class Promise(Block):
    """The promise in the terms of the theory."""

    kind: str
    worst_case: bool
    unit: str | None = None
    epsilon: str | None = None
    delta: str | None = None
    bits: float | None = None
    prior: str | None = None


class Stated(Block):
    """Which promise the sentences are those of, and the public facts that they are made from."""

    promise: str
    facts: dict[str, Any] = Field(default_factory=dict)


class Scope(Block):
    """Who is protected, against whom, and against whom not.

    ``stated`` lets anybody word it again; without it the sentences are in their maker's own words.
    """

    protected: str
    observer: str = ANYONE
    not_against: tuple[str, ...]
    model: Literal["local", "central"]
    stated: Stated | None = None


class Budget(Block):
    """What has been spent with whom; absent when a release was made without a ledger."""

    spent: str
    limit: str
    renews: str = "never"
    rule: str = "losses add"


class Audience(StrEnum):
    """Whose copy of a card it is. The promise is the same; budgets are for those they belong to."""

    PROVIDER = "provider"
    PERSON = "person"
    OPERATOR = "operator"

    def sees(self, budget: Budget | None) -> Budget | None:
        """What a copy says of a budget: to a provider, that it is private."""
        if self is not Audience.PROVIDER:
            return budget
        return Budget(spent=PRIVATE, limit=PRIVATE, renews=PRIVATE)


class Preferences(Block):
    """That wishes were applied, and whether they are public.

    ``rules_sha256`` names public terms. A person's own wishes have few possibilities: a digest of
    them would give them away.
    """

    rules_sha256: str | None = None
    withheld: int = Field(ge=0)
    public: bool
    others_change_your_risk: bool


class How(Block):
    """How the release was made, from public parameters only."""

    sensitivity: str
    bounds: str
    floating_point: str


class Utility(Block):
    """How wrong a released value is, from public parameters only."""

    sentence: str
    mean_absolute_error: float | None = None
    within_95: float | None = None
    bias: str = "none"


class Evidence(Block):
    """By what right the promise is made."""

    theorem: str
    assumptions: tuple[str, ...] = ()
    audit: str | None = None


class Provenance(Block):
    """Where the release came from."""

    version: str
    made: str
    randomness: str
    seeded: bool
    command: str | None = None


class Card(Block):
    """A guarantee card; make one with ``make_card``."""

    schema_: Literal["guarantee-card/1"] = Field(alias="schema")
    title: str
    words: Words
    promise: Promise
    scope: Scope
    budget: Budget | None
    preferences: Preferences | None
    how: How
    utility: Utility
    evidence: Evidence
    provenance: Provenance
    event: dict[str, Any]
    id: str

    def to_json(self) -> str:
        """Indented JSON, byte-equal for equal cards."""
        return json.dumps(self._data(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Card:
        """Read a card; ``CardError`` says what is wrong with it."""
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the file"
            if where == "provenance.output_sha256":
                raise CardError(_VALUE_DIGEST) from None
            raise CardError(f"not a {SCHEMA}: {where}: {first['msg']}") from None

    def release_event(self) -> Event:
        """The event this card speaks of; ``CardError`` if it is not one."""
        try:
            return Event.from_dict(self.event)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise CardError(f"the event on the card cannot be read: {error}") from None

    def copy_for(self, audience: Audience, budget: Budget | None) -> Card:
        """The same promise, with what this audience may read of a budget."""
        copy = self.model_copy(update={"budget": audience.sees(budget), "id": ""})
        return copy.model_copy(update={"id": _identity(copy._data())})

    def problems(self) -> list[str]:
        """What on this card does not follow from its own event; empty when all of it does."""
        event = self.release_event()
        checks = {
            "words: the sentences do not follow from the loss": self.words
            == _words(event, self.utility),
            "promise: it does not follow from the loss": self.promise == _promise(event.loss),
            "provenance: 'seeded' contradicts the event": self.provenance.seeded
            is not event.private,
            "provenance: the randomness is not that of the event": self.provenance.randomness
            == _randomness(event),
            "id: the card was changed after it was made": self.id == _identity(self._data()),
        }
        return [problem for problem, holds in checks.items() if not holds]

    def _data(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


def make_card(
    title: str,
    event: Event,
    *,
    scope: Scope,
    how: How,
    utility: Utility,
    evidence: Evidence,
    budget: Budget | None = None,
    preferences: Preferences | None = None,
    command: str | None = None,
    made: date | None = None,
) -> Card:
    """The card of one release."""
    require(bool(title.strip()), "title", title, "a few words")
    card = Card(
        schema=SCHEMA,
        title=title,
        words=_words(event, utility),
        promise=_promise(event.loss),
        scope=scope,
        budget=budget,
        preferences=preferences,
        how=how,
        utility=utility,
        evidence=evidence,
        provenance=Provenance(
            version=f"reticent {__version__}",
            made=(made or date.today()).isoformat(),
            randomness=_randomness(event),
            seeded=not event.private,
            command=command,
        ),
        event=event.to_dict(),
        id="",
    )
    return card.model_copy(update={"id": _identity(card._data())})


def card_schema() -> dict[str, Any]:
    """The JSON Schema of a card, shipped as ``guarantee-card-1.schema.json``."""
    schema = Card.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA, **schema}


def right_at_most(nano: int) -> str:
    """Times in 100 that a guesser who was undecided can be right, rounded up. Theorem 4.

    >>> [right_at_most(int(e * 10**9)) for e in (0, 0.1, 0.5, 1, 2, 3, 5)]
    ['50', '53', '63', '74', '89', '96', '99.4']
    """
    if nano > 1000 * NANO:
        return "100"
    context = Context(prec=60)
    odds = context.exp(context.divide(Decimal(nano), Decimal(NANO)))
    chance = context.divide(context.multiply(Decimal(100), odds), context.add(odds, Decimal(1)))
    step = Decimal("1") if chance <= 99 else Decimal("0.1")
    rounded = chance.quantize(step, rounding=ROUND_CEILING)
    return str(rounded) if rounded < 100 else "100"


def _randomness(event: Event) -> str:
    if event.private:
        return "operating system key, AES-256 in counter mode"
    return "not private: seeded, or none over raw data"


def _words(event: Event, utility: Utility) -> Words:
    if not event.private:
        return Words(
            odds="Not private: made with a seeded source, for an experiment, or from raw data. "
            "This release protects nobody.",
            right_at_most="100",
            error=utility.sentence,
        )
    if isinstance(event.loss, MutualInformation):
        return Words(
            odds=odds_on_average(event.loss),
            right_at_most="not bounded",
            also=also_on_average(event.loss),
            error=utility.sentence,
        )
    if isinstance(event.loss, Unprotected):
        return Words(
            odds=f"Not private: {event.loss.whom} are not protected. Nothing bounds what whoever "
            "has this release can learn about them.",
            right_at_most="not bounded",
            error=utility.sentence,
        )
    at_most = right_at_most(event.loss.overall)
    return Words(
        odds=(
            "Whoever sees this release and was undecided (50 in 100) about "
            f"{event.loss.unit.question} can be right at most {at_most} times in 100."
        ),
        right_at_most=at_most,
        also=_also(event.loss),
        error=utility.sentence,
    )


def _also(loss: DPLoss) -> tuple[str, ...]:
    also = []
    if loss.unit.beyond is not None:
        twice = right_at_most(2 * loss.overall)
        also.append(f"About {loss.unit.beyond}, at most {twice} times in 100.")
    also.extend(_by_weight(loss))
    if loss.overall > _LITTLE:
        also.append("This is little worst-case protection.")
    return tuple(also)


def _by_weight(loss: DPLoss) -> Iterator[str]:
    """What weights do; of two items that are exchanged, the larger weight counts."""
    exchanged = loss.unit == ITEM_SUBSTITUTE
    if loss.items.named:
        amounts = [loss.items.default, *loss.items.named.values()]
        least, most = right_at_most(min(amounts)), right_at_most(max(amounts))
        of_two = ", and of two items the larger weight counts" if exchanged else ""
        yield (
            f"Items differ by their weight{of_two}: from at most {least} to at most {most} times "
            "in 100."
        )
    elif isinstance(loss, PerItemDP):
        half, none = right_at_most((loss.overall + 1) // 2), right_at_most(0)
        if exchanged:
            yield (
                "That is if one of the two items has weight 1, whatever the other has: the larger "
                f"weight counts. If neither has more than 1/2 it is at most {half} times in 100; "
                f"only if both have weight 0 does it stay at {none}."
            )
        else:
            yield (
                f"That is for an item of weight 1. For weight 1/2 it is at most {half} times in "
                f"100; with weight 0 it stays at {none}."
            )


def _promise(loss: Loss) -> Promise:
    if isinstance(loss, MutualInformation):
        return Promise(kind=loss.kind, worst_case=False, bits=loss.bits, prior=loss.prior)
    if isinstance(loss, Unprotected):
        return Promise(kind=loss.kind, worst_case=False)
    return Promise(
        kind=loss.kind,
        worst_case=True,
        unit=str(loss.unit),
        epsilon=show_nano(loss.overall),
        delta="0",
    )


def without_budget(card: Card) -> Card:
    """The card as others may see it: without what anybody has spent."""
    made = card.model_copy(update={"budget": None})
    return made.model_copy(update={"id": _identity(made._data())})


def _identity(data: dict[str, Any]) -> str:
    return hashlib.sha256(canonical({**data, "id": ""}).encode()).hexdigest()[:32]
