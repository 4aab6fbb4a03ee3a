"""The figures that a mapping states about itself, in place of the law they were computed from.

Theory    docs/theory/mapping.md, Theorem 5 (leak), Theorem 6 (two releases), Theorem 7 (guesses)
Not here  how they are computed (mapping_law.py), what a card says of them (guarantees/).

Figures of a law that was learnt from people are rounded to three digits, promises up. In full
precision each would be a fingerprint of the law: whoever knows all training people but one could
try that one's secrets until it fits. Three digits leave less of this, but are no protection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import show_up
from reticent.errors import require
from reticent.guarantees.samples import Sample
from reticent.mechanisms.mapping_law import MappingLaw, joint_leak

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 3
_LEAST = 1e-10  # what solvers leave of nothing is stated as this at least
_CHEAP = 200_000  # pairs of draws that are looked at to say what two releases tell


@dataclass(frozen=True, slots=True)
class Statement:
    """Leakage in bits, of one draw, of two, and about each of several secrets; change; guesses.

    ``sample`` is who it was learnt from; None where the law was declared.
    """

    bits: float
    distortion: float
    unchanged: float
    guesses: tuple[float, float]
    maximal_bits: float
    two_releases: float | None = None
    by_secret: Mapping[str, float] = field(default_factory=dict)
    sample: Sample | None = None

    def __post_init__(self) -> None:
        amounts = [self.bits, self.distortion, self.maximal_bits, *self.by_secret.values()]
        amounts += [] if self.two_releases is None else [self.two_releases]
        good = all(_real(value) and 0 <= value < math.inf for value in amounts)
        require(good, "statement", "other", "of finite figures, not negative")
        before, after = self.guesses
        chances = all(map(_real, (before, after, self.unchanged))) and 0 <= before <= after <= 1
        require(chances and 0 <= self.unchanged <= 1, "statement", "other", "of shares up to 1")

    @classmethod
    def exact(cls, law: MappingLaw) -> Statement:
        """Of a declared law: whoever reads it can recompute it."""
        before, after = law.guess_rates()
        return cls(
            law.bits,
            law.distortion,
            min(law.unchanged, 1.0),  # floats may err by an ulp
            (min(1.0, before), min(1.0, max(before, after))),
            max(0.0, law.maximal_leakage()),
        )

    @classmethod
    def learnt(cls, law: MappingLaw, sample: Sample, by_secret: Mapping[str, float]) -> Statement:
        """Of a law that was counted among people, to three digits."""
        whole = cls.exact(law)
        return cls(
            up(whole.bits),
            up(whole.distortion),
            float(f"{whole.unchanged:.{DIGITS}g}"),
            (min(1.0, up(whole.guesses[0])), min(1.0, up(whole.guesses[1]))),
            up(whole.maximal_bits),
            two_releases(law),
            {name: up(bits) for name, bits in by_secret.items()},
            sample,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {
            "bits": self.bits,
            "distortion": self.distortion,
            "unchanged": self.unchanged,
            "guesses": list(self.guesses),
            "maximal_bits": self.maximal_bits,
            "two_releases": self.two_releases,
            "by_secret": dict(self.by_secret),
            "sample": None if self.sample is None else self.sample.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Statement:
        """Inverse of ``to_dict``."""
        before, after = data["guesses"]
        return cls(
            data["bits"],
            data["distortion"],
            data["unchanged"],
            (before, after),
            data["maximal_bits"],
            data["two_releases"],
            {str(name): bits for name, bits in data["by_secret"].items()},
            None if data["sample"] is None else Sample.from_dict(data["sample"]),
        )


def up(value: float) -> float:
    """Three digits, rounded up.

    >>> up(0.049971), up(0.0), up(3.2871e-17)
    (0.05, 0.0, 1e-10)
    """
    return float(show_up(max(value, _LEAST), DIGITS)) if value > 0 else 0.0


def two_releases(law: MappingLaw) -> float | None:
    """What two draws for one person tell together, rounded up; None where that takes long."""
    support = law.channel.support
    if int((support * (support + 1) // 2).sum()) > _CHEAP:
        return None
    return up(max(joint_leak(law, 2), law.bits))


def cover_of(law: MappingLaw) -> NDArray[np.float64]:
    """How often each profile is released, to three digits: what stands in for who is withheld."""
    chances = [float(f"{chance:.{DIGITS}g}") for chance in law.released.tolist()]
    return np.array(chances)


def _real(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
