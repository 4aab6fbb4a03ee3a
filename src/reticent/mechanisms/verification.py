"""Checking a card against the mechanism it names: rebuild it, and compare what it promises.

Theory    docs/theory/guarantees.md, Definition 4 (mechanisms and releases)
Not here  whether a card's words follow from its event (guarantees/card.py).
"""

from __future__ import annotations

from typing import Any, Protocol

from reticent.errors import CardError, ParameterError
from reticent.guarantees import Event, Loss
from reticent.guarantees.card import Card, Evidence, How, Utility
from reticent.mechanisms.base import Mechanism
from reticent.mechanisms.dampening import Dampened
from reticent.mechanisms.discrete_laplace import DiscreteLaplace
from reticent.mechanisms.exponential import Exponential
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.multilevel import MultiLevel
from reticent.mechanisms.permute_and_flip import PermuteAndFlip
from reticent.mechanisms.snapped_laplace import SnappedLaplace
from reticent.mechanisms.stretching import Stretching
from reticent.mechanisms.top_dampened import TopDampened
from reticent.mechanisms.totals import Totals
from reticent.mechanisms.tree import PrivateTree

_ALL: tuple[type[Mechanism[Any]], ...] = (
    Dampened,
    DiscreteLaplace,
    Exponential,
    MultiLevel,
    PermuteAndFlip,
    PrivateTree,
    ProfileMapping,
    SnappedLaplace,
    Stretching,
    TopDampened,
    Totals,
)
_KINDS = {kind.name: kind for kind in _ALL}


def rebuild(event: Event) -> Mechanism[Any]:
    """The mechanism that an event names, from its public parameters."""
    kind = _KINDS.get(event.mechanism)
    if kind is None:
        known = ", ".join(sorted(_KINDS))
        raise CardError(f"mechanism {event.mechanism!r} is not known here; known are {known}")
    try:
        return kind.from_parameters(event.parameters)
    except (KeyError, TypeError, ParameterError) as error:
        raise CardError(f"the parameters of {event.mechanism!r} do not fit: {error}") from None


def verify(card: Card) -> list[str]:
    """Everything on a card that can be recomputed and does not hold; empty when all of it does."""
    mechanism = rebuild(card.release_event())
    return card.problems() + differences(card, mechanism, mechanism.guarantee())


class Described(Protocol):
    """What says of itself what a card says of it."""

    def utility(self) -> Utility:
        """The error to expect."""

    def how(self) -> How:
        """How it is made."""

    def evidence(self) -> Evidence:
        """What it rests on."""


def differences(card: Card, described: Described, loss: Loss) -> list[str]:
    """What a card says otherwise than what made the release, which loses ``loss``."""
    own = described.evidence()
    checks = {
        "event: the loss is not that of the mechanism": card.release_event().loss == loss,
        "utility: the error is not that of the mechanism": card.utility == described.utility(),
        "how: it does not describe the mechanism": card.how == described.how(),
        "evidence: it does not name the mechanism's theorem": card.evidence.theorem == own.theorem,
        "evidence: it leaves out what the mechanism assumes": set(card.evidence.assumptions)
        >= set(own.assumptions),
    }
    return [problem for problem, holds in checks.items() if not holds]
