"""What a release through a mapping would tell, said before it is drawn.

Not here  the command (profile.py), other plans and how they are agreed to (plan.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reticent.cli.mapping_numbers import after_100, near_100, up
from reticent.cli.plan import Plan
from reticent.guarantees.samples import CONFIDENCE, Sample


@dataclass(frozen=True, slots=True)
class BitsPlan(Plan):
    """What a release through a mapping would tell: an average in bits, and right guesses."""

    bits: Mapping[str, float] = field(default_factory=dict)
    guesses: tuple[float, float] = (1.0, 1.0)
    sample: Sample | None = None

    def lines(self) -> list[str]:
        """As sentences."""
        caution = [f"caution: {self.caution}"] if self.caution else []
        told = f"tells {self.cost()}"
        return [self.title, "", self.consequence(), told, f"changes {self.error}", *caution]

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bits": dict(self.bits),
            "right_guesses": {"before": self.guesses[0], "after": self.guesses[1]},
            "sample": None if self.sample is None else self.sample.to_dict(),
            "error": self.error,
            **({"caution": self.caution} if self.caution else {}),
        }

    def cost(self) -> str:
        """In one line."""
        told = (f"{up(bits)} bits about {name}" for name, bits in self.bits.items())
        return f"{', '.join(told)}, on average over the people it was learnt from{self._others()}"

    def _others(self) -> str:
        """What is known of others."""
        held = None if self.sample is None else self.sample.held_out
        if held is None or not held.tells:
            return "; of others it may tell more"
        limit = f"at most {up(held.at_most)} with {100 * CONFIDENCE:.0f} % confidence"
        return f"; {up(held.bits)} of {held.people} held out, and {limit} for their population"

    def consequence(self) -> str:
        """What who looks can gain."""
        before, after = near_100(self.guesses[0]), after_100(*self.guesses)
        secret = ", ".join(self.bits)
        return (
            f"Among the people it was learnt from, the best guess of {secret} is right for {after} "
            f"of 100 who are released, and for {before} of whom nothing is known."
        )
