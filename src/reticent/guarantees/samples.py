"""The people whom a promise on average was computed from, and others on whom it was tested.

Theory    docs/theory/mapping.md, Theorem 11 (people held out)
Not here  the promise itself (losses.py), how it is measured (tasks/held_out.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reticent.errors import require

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Leakage counted among people whom nothing was learnt from, in bits.

    ``left_out`` people have a secret that no training person has, or a profile that is refused.
    ``at_most`` is an upper confidence limit, at confidence ``CONFIDENCE``, for the population that
    the others come from: nothing is known of such people as were left out.
    """

    people: int
    left_out: int
    bits: float
    at_most: float

    @property
    def tells(self) -> bool:
        """Whether it says anything: among nobody, or with one value of the secret, it does not."""
        return self.people > 0 and self.at_most > 0

    def __post_init__(self) -> None:
        for name in ("people", "left_out"):
            count = getattr(self, name)
            whole = isinstance(count, int) and not isinstance(count, bool) and count >= 0
            require(whole, name, count, "a number of people")
        good = 0 <= self.bits <= self.at_most < math.inf
        require(good, "bits", self.bits, "not negative, and at most its limit")


@dataclass(frozen=True, slots=True)
class Sample:
    """Training people: how many, how many different profiles they have, and who was held out."""

    people: int
    profiles: int
    held_out: HeldOut | None = None

    def __post_init__(self) -> None:
        for name in ("people", "profiles"):
            count = getattr(self, name)
            whole = isinstance(count, int) and not isinstance(count, bool) and count > 0
            require(whole, name, count, "a positive whole number")

    @property
    def crowd(self) -> float:
        """Training people per profile."""
        return self.people / self.profiles

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sample:
        """Inverse of ``to_dict``."""
        held = data["held_out"]
        return cls(data["people"], data["profiles"], None if held is None else HeldOut(**held))
