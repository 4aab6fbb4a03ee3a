"""What every mechanism is: a frozen value that knows its guarantee before it sees any data.

Theory    docs/theory/guarantees.md, Definition 4 (mechanisms and releases)
Not here  the mechanisms themselves, one file each; how private values are read (reading.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Generic, Self, TypeVar

from reticent.guarantees import Event, Loss, Unit
from reticent.guarantees.card import (
    Budget,
    Card,
    Evidence,
    How,
    Preferences,
    Scope,
    Utility,
    make_card,
)
from reticent.guarantees.loss_words import words_of
from reticent.noise import Source

Value = TypeVar("Value")


class Mechanism(ABC, Generic[Value]):
    """A frozen value with public parameters only. ``release`` is the one method that sees data."""

    __slots__ = ()
    name: ClassVar[str]

    @abstractmethod
    def guarantee(self) -> Loss:
        """What a release loses, recomputed from the noise that is really used."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data, from which ``from_parameters`` makes an equal value."""

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism with these ``parameters()``."""
        return cls(**{**parameters, "unit": Unit(*parameters["unit"])})

    @abstractmethod
    def utility(self) -> Utility:
        """The error to expect, from public parameters only."""

    @abstractmethod
    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure, for the card."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """Theorem and assumptions, for the card."""

    @abstractmethod
    def release(self, data: Any, source: Source) -> Release[Value]:
        """Draw once from ``source`` and release."""

    def event(self, source: Source) -> Event:
        """The record of a release from ``source``, known before it is made: charge it first."""
        return Event(self.name, self.parameters(), self.guarantee(), source.private)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Release(Generic[Value]):
    """What leaves: a value, the event that accounts for it, and the mechanism that made it."""

    value: Value
    event: Event
    mechanism: Mechanism[Value]

    @classmethod
    def by(cls, mechanism: Mechanism[Value], value: Value, source: Source) -> Release[Value]:
        """A release of ``value`` drawn from ``source``, with its event."""
        return cls(value, mechanism.event(source), mechanism)

    def __repr__(self) -> str:
        loss = self.event.loss
        cost = words_of(loss).spent()
        stamp = "" if self.event.private else ", seeded: not private"
        return f"Release({self.value!r}, {self.mechanism.utility().sentence}, {cost}{stamp})"

    def card(
        self,
        title: str,
        *,
        scope: Scope,
        budget: Budget | None = None,
        preferences: Preferences | None = None,
        command: str | None = None,
        made: date | None = None,
    ) -> Card:
        """The guarantee card of this release."""
        return make_card(
            title,
            self.event,
            scope=scope,
            how=self.mechanism.how(),
            utility=self.mechanism.utility(),
            evidence=self.mechanism.evidence(),
            budget=budget,
            preferences=preferences,
            command=command,
            made=made,
        )
