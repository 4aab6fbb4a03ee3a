"""A mapping that was learnt, and what was found on the way, to three digits.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 7 (guesses)
Not here  learning (learning.py), the figures that cards of profiles state
          (mechanisms/mapping_statement.py), how all this is said (queries/mapping_words.py).

In full precision a figure would be a fingerprint of the law that it was computed from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from reticent.errors import ParameterError
from reticent.guarantees.average_numbers import down
from reticent.mechanisms.mapping_statement import DIGITS, Statement, up
from reticent.optim.mapping import Channel
from reticent.tasks.recoding import Recoding
from reticent.tasks.recoding_files import recoding_from_plain, recoding_to_plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reticent.guarantees.samples import HeldOut
    from reticent.tasks.learning import Learnt

COMPARED = 3000  # profiles up to which the exponential mechanism is tried
FEW = 10  # people: a profile of fewer is rare


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How good a mapping is among its training people, besides what it states itself.

    ``untouched`` bits are what profiles tell as they are, ``least_bits`` what no mapping of this
    distortion undercuts (None with a floor), ``least_distortion`` the same the other way round,
    ``guessed`` how often the best guess from a true profile is right, rounded up as that from a
    released one is, ``gap`` how far the search
    may be from the best, ``moved`` how far rare profiles were moved, ``exponential`` the distortion
    that the exponential mechanism needs to tell as little, ``floor_cost`` the part of the
    distortion that is for the worst case, ``untouched_elsewhere`` the bits that true profiles of
    people held out tell.
    """

    values: int
    rare: int
    without_secret: int
    wide: tuple[str, ...]
    untouched: float
    least_bits: float | None
    guessed: float
    gap: float
    certified: bool
    finished: bool
    least_distortion: float
    moved: float
    exponential: float | None
    floor_cost: float | None
    untouched_elsewhere: float | None


@dataclass(frozen=True, slots=True, eq=False)
class LearntMapping:
    """The mapping, and how it came about."""

    recoding: Recoding
    found: Found

    @classmethod
    def of(
        cls,
        learnt: Learnt,
        *,
        counts: NDArray[np.int64],
        without_secret: int,
        wide: Sequence[str],
        floored: bool,
        certified: float,
        untouched_elsewhere: float | None,
    ) -> LearntMapping:
        """What may be kept of a search; ``counts`` are people by profile, ``certified`` the gap."""
        solution = learnt.solution
        proved = solution.relative_gap <= certified * (1 + 1e-9) and learnt.finished
        found = Found(
            values=len(learnt.alphabet.secrets),
            rare=int((counts < FEW).sum()),
            without_secret=without_secret,
            wide=tuple(wide),
            untouched=_near(learnt.untouched_bits),
            least_bits=None if floored else _down(solution.bound / math.log(2)),
            guessed=min(up(float(learnt.law.joint.max(axis=0).sum())), 1.0),
            gap=_near(solution.relative_gap),
            certified=proved,
            finished=learnt.finished,
            least_distortion=_down(learnt.least_distortion),
            moved=up(learnt.alphabet.moved),
            exponential=_near_or_none(exponential_distortion(learnt)),
            floor_cost=up(max(learnt.cost_of_epsilon, 0.0)) if floored else None,
            untouched_elsewhere=_near_or_none(untouched_elsewhere),
        )
        return cls(learnt.recoding, found)

    @property
    def statement(self) -> Statement:
        """The mapping's own figures."""
        return self.recoding.mechanism.statement

    @property
    def people(self) -> int:
        """How many it was learnt from."""
        sample = self.statement.sample
        return 0 if sample is None else sample.people

    @property
    def held_out(self) -> HeldOut | None:
        """What was found among people held out, if there were any."""
        sample = self.statement.sample
        return None if sample is None else sample.held_out

    @property
    def hides_nothing(self) -> bool:
        """Whether every profile is released as it is."""
        channel = self.recoding.mechanism.channel
        return bool((channel.outs == channel.inputs).all())

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        found = asdict(self.found)
        return {
            "mapping": recoding_to_plain(self.recoding),
            "found": found | {"wide": list(self.found.wide)},
        }

    @classmethod
    def of_plain(cls, told: Mapping[str, Any]) -> LearntMapping:
        """Inverse of ``plain``; anybody may have written it."""
        try:
            held = dict(told["found"])
            found = Found(**held | {"wide": tuple(held["wide"])})
        except (KeyError, TypeError):
            raise ParameterError("mapping", "a whole answer", "others") from None
        return cls(recoding_from_plain(told["mapping"]), found)


def exponential_distortion(learnt: Learnt) -> float | None:
    """What the exponential mechanism would change to tell as little; None for large alphabets."""
    from reticent.optim.mapping import Problem
    from reticent.optim.mapping_baselines import exponential_at

    alphabet, recoding = learnt.alphabet, learnt.recoding
    if len(alphabet.profiles) > COMPARED or learnt.leak_bits >= learnt.untouched_bits:
        return None
    distance = recoding.measure.distance(alphabet.profiles)
    problem = Problem.of(alphabet.joint, distance, 0.0)
    return exponential_at(problem, leak=learnt.leak_bits * math.log(2)).distortion


def tested(
    learnt: Learnt, public: NDArray[Any], private: NDArray[Any]
) -> tuple[Learnt, float | None]:
    """The mapping with what it tells about other people, and what their true profiles tell."""
    from reticent.tasks.held_out import held_out
    from reticent.tasks.leakage import counted, leak_under

    found = held_out(learnt.recoding, learnt.alphabet, public, private)
    counts, _ = counted(learnt.recoding, learnt.alphabet.secrets, public, private)
    before = leak_under(Channel.identity(counts.shape[1]), counts) if found.people else None
    return learnt.tested(found), before


def _near(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _near_or_none(value: float | None) -> float | None:
    return None if value is None else _near(value)


def _down(value: float) -> float:
    return float(down(value, DIGITS))
