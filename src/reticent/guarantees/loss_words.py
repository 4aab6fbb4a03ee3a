"""What a loss costs and tells, in words, before a release is made: odds, or bits on average.

Theory    docs/theory/guarantees.md, Theorem 4 (odds); docs/theory/mapping.md, Theorem 11 (people
          held out)
Not here  plans (queries/plans.py), the words of a card (card.py, average_words.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reticent.amounts import NANO, show_nano
from reticent.guarantees.average_numbers import after_100, near_100, up
from reticent.guarantees.card import right_at_most
from reticent.guarantees.losses import Loss, MutualInformation, Unprotected
from reticent.guarantees.samples import CONFIDENCE

MUCH = 5 * NANO
LITTLE = "this is little worst-case protection"
UNBOUNDED = "not bounded"


class LossWords(Protocol):
    """What is said of a loss."""

    @property
    def charge(self) -> int:
        """What an account pays, in nano-epsilon."""

    @property
    def right_at_most(self) -> str:
        """Times in 100 that somebody who was undecided can be right, rounded up."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to say before it is lost."""

    def gain(self) -> str:
        """What who looks can gain, as a sentence."""

    def cost(self) -> str:
        """In one line."""

    def spent(self) -> str:
        """What was lost by a release that was made."""

    def fields(self) -> dict[str, Any]:
        """For JSON; amounts that add are text, so that nothing is rounded."""


@dataclass(frozen=True, slots=True)
class EpsilonWords:
    """Of a worst case, which adds; ``question`` is what it protects the answer to.

    ``others`` are those who see less of the result, with what they learn, in nano-epsilon.
    """

    charge: int
    question: str
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def right_at_most(self) -> str:
        """See ``LossWords``."""
        return right_at_most(self.charge)

    @property
    def cautions(self) -> tuple[str, ...]:
        """See ``LossWords``."""
        return (LITTLE,) if self.charge > MUCH else ()

    def gain(self) -> str:
        """See ``LossWords``."""
        less = "".join(f", {who} {right_at_most(nano)}" for who, nano in self.others.items())
        return (
            f"Whoever sees the result and was undecided (50 in 100) about {self.question} can be "
            f"right at most {self.right_at_most} times in 100{less}."
        )

    def cost(self) -> str:
        """See ``LossWords``."""
        return f"epsilon {show_nano(self.charge)}"

    def spent(self) -> str:
        """See ``LossWords``."""
        return f"spent {self.cost()}"

    def fields(self) -> dict[str, Any]:
        """See ``LossWords``."""
        return {"epsilon": show_nano(self.charge), "right_at_most": self.right_at_most}


class Uncharged:
    """What does not add: accounts are charged nothing, and no guess is bounded."""

    __slots__ = ()

    @property
    def charge(self) -> int:
        """See ``LossWords``."""
        return 0

    @property
    def right_at_most(self) -> str:
        """See ``LossWords``."""
        return UNBOUNDED

    @property
    def cautions(self) -> tuple[str, ...]:
        """See ``LossWords``."""
        return ()


@dataclass(frozen=True, slots=True)
class BitsWords(Uncharged):
    """Of an average, which does not add: accounts are charged nothing. ``bits`` by secret."""

    loss: MutualInformation
    bits: Mapping[str, float]

    def gain(self) -> str:
        """See ``LossWords``."""
        secret, among = ", ".join(self.bits), self._among()
        if self.loss.guesses is None:
            return f"Among {among}: how often {secret} can be guessed was not computed."
        before, after = near_100(self.loss.guesses[0]), after_100(*self.loss.guesses)
        return (
            f"Among {among}, the best guess of {secret} is right for {after} of 100 who are "
            f"released, and for {before} of whom nothing is known."
        )

    def cost(self) -> str:
        """See ``LossWords``."""
        told = ", ".join(f"{up(bits)} bits about {name}" for name, bits in self.bits.items())
        return f"{told}, on average over {self._among()}{self._others()}"

    def spent(self) -> str:
        """See ``LossWords``."""
        return f"told {self.cost()}"

    def fields(self) -> dict[str, Any]:
        """See ``LossWords``."""
        guesses, sample = self.loss.guesses, self.loss.sample
        chances = None if guesses is None else {"before": guesses[0], "after": guesses[1]}
        return {
            "bits": dict(self.bits),
            "right_guesses": chances,
            "sample": None if sample is None else sample.to_dict(),
        }

    def _among(self) -> str:
        """Whose average it is."""
        if self.loss.sample is None:
            return f"people who follow {self.loss.prior}"
        return "the people it was learnt from"

    def _others(self) -> str:
        """What is known of others."""
        held = None if self.loss.sample is None else self.loss.sample.held_out
        if held is None or not held.tells:
            return "; of others it may tell more"
        limit = f"at most {up(held.at_most)} with {100 * CONFIDENCE:.0f} % confidence"
        return f"; {up(held.bits)} of {held.people} held out, and {limit} for their population"


@dataclass(frozen=True, slots=True)
class UnprotectedWords(Uncharged):
    """Of no promise at all: there is nothing that could be charged."""

    whom: str

    @property
    def cautions(self) -> tuple[str, ...]:
        """See ``LossWords``."""
        return (f"keep the result as private as the data of {self.whom}",)

    def gain(self) -> str:
        """See ``LossWords``."""
        return f"Nothing bounds what whoever has the result can learn about {self.whom}."

    def cost(self) -> str:
        """See ``LossWords``."""
        return f"no budget: {self.whom} are not protected"

    def spent(self) -> str:
        """See ``LossWords``."""
        return f"spent {self.cost()}"

    def fields(self) -> dict[str, Any]:
        """See ``LossWords``."""
        return {"epsilon": "0", "right_at_most": self.right_at_most, "unprotected": self.whom}


@dataclass(frozen=True, slots=True)
class DerivedWords(Uncharged):
    """Of what follows from an earlier release: the odds are that one's, and nothing is charged."""

    released: LossWords

    @property
    def right_at_most(self) -> str:
        """See ``LossWords``."""
        return self.released.right_at_most

    def gain(self) -> str:
        """See ``LossWords``."""
        return self.released.gain()

    def cost(self) -> str:
        """See ``LossWords``."""
        return "nothing: it follows from what was released before"

    def spent(self) -> str:
        """See ``LossWords``."""
        return "spent nothing"

    def fields(self) -> dict[str, Any]:
        """See ``LossWords``."""
        return {"epsilon": "0", "right_at_most": self.right_at_most}


def words_of(loss: Loss) -> LossWords:
    """The words of a loss."""
    if isinstance(loss, MutualInformation):
        return BitsWords(loss, {loss.secret: loss.bits})
    if isinstance(loss, Unprotected):
        return UnprotectedWords(loss.whom)
    return EpsilonWords(loss.overall, loss.unit.question)
