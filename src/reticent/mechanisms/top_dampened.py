"""The best k candidates by local dampening: by shifted scores, or by plain ones if they stand out.

Theory    docs/theory/dampening.md, Theorem 5 (rounds), Theorem 6 (which scores), Theorem 7 (sets)
Notation  as in dampening.py; k = how many are chosen, S_(b) = the b-th largest plain score u / G,
          M = min_b S_(b) / (k - b + 1)
Not here  one choice (dampening.py), what is scored (tasks/).

Shifted scores find good candidates at small budgets but do not keep the order of utilities; plain
ones keep it but need large budgets. A small part of the budget asks, with noise, whether plain
scores stand out of the noise that the rest of the budget leaves. If so, the set of the best is
chosen at once, with all of the rest; if not, candidates are chosen by shifted scores in rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from reticent.errors import require
from reticent.guarantees import PureDP
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.noise import (
    Source,
    discrete_laplace,
    exponential,
    exponential_set,
    permute_and_flip,
)
from reticent.rational import Number, rational, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SURE = 3  # scales of the test's noise that M must be above its threshold
_WIDE = (1 << SCORE_BITS) + 2  # what one unit moves M by, in steps: rounded twice


@dataclass(frozen=True, slots=True, kw_only=True)
class TopDampened(Mechanism[tuple[int, ...]]):
    """Choose ``k`` candidates; ``whole`` has the budget of all of it.

    ``test`` is the share of the budget that decides between plain scores and those of ``whole``; 0
    decides for the latter. ``changes`` is how many units of what is scored one unit of the data
    can change: each of them then loses that part of epsilon only.

    >>> from reticent.mechanisms.local_sensitivity import Tabled
    >>> both = TopDampened(whole=Dampened(epsilon=4, candidates=3, limit=1, steps=0), k=2)
    >>> len(both.release(Scored([5, 1, 3], Tabled.of([1, 1, 1])), Source.system()).value)
    2
    """

    name: ClassVar[str] = "top-dampened"
    whole: Dampened
    k: int
    test: Number = field(default=Fraction(0))
    changes: int = 1

    def __post_init__(self) -> None:
        whole(self.k, "k", least=1)
        whole(self.changes, "changes", least=1)
        fits = self.k <= self.whole.candidates
        require(fits, "k", self.k, f"at most the number of candidates, {self.whole.candidates}")
        object.__setattr__(self, "test", rational(self.test, "test"))
        require(0 <= Fraction(self.test) < 1, "test", self.test, "at least 0 and below 1")

    @property
    def asked(self) -> Fraction:
        """Epsilon of the test, for one unit of what is scored."""
        return Fraction(self.whole.epsilon) * Fraction(self.test) / self.changes

    @property
    def round(self) -> Dampened:
        """One round with the scores of ``whole``."""
        rest = Fraction(self.whole.epsilon) / self.changes - self.asked
        return replace(self.whole, epsilon=rest / self.k)

    @property
    def plain(self) -> Dampened:
        """A choice by plain scores u / G with all of the rest."""
        rest = self.k * Fraction(self.round.epsilon)
        return replace(self.whole, epsilon=rest, steps=0, shift="left", law="exponential")

    @property
    def set_rate(self) -> Fraction:
        """Weight of one step of a gap, which one unit moves twice as far as a score. Theorem 7."""
        return self.plain.rate / 2

    @property
    def threshold(self) -> float:
        """What M must be so that the best set is likely, and the test's own noise above it."""
        noise = 4 * math.log(max(self.whole.candidates, 2)) / float(self.plain.epsilon)
        return noise + (_SURE / float(self.asked) if self.asked else math.inf)

    def guarantee(self) -> PureDP:
        """Theorems 5 to 7: k rounds, or a set, and the test add up, as often as one unit shows."""
        once = self.k * Fraction(self.round.epsilon) + self.asked
        return PureDP.of(self.changes * once, self.whole.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        told = self.whole.parameters()
        test = Fraction(self.test)
        share = f"{test.numerator}/{test.denominator}"
        return {**told, "k": self.k, "test": share, "changes": self.changes}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism with these ``parameters()``."""
        given = dict(parameters)
        k, test, changes = given.pop("k"), Fraction(given.pop("test")), given.pop("changes")
        return cls(whole=Dampened.from_parameters(given), k=k, test=test, changes=changes)

    def utility(self) -> Utility:
        """That of one round, which all of them share."""
        return self.round.utility()

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        return self.whole.how()

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        one = self.whole.evidence()
        return Evidence(
            theorem="docs/theory/dampening.md, Theorem 5", assumptions=tuple(one.assumptions)
        )

    def stands_out(self, scores: NDArray[np.int64], source: Source) -> bool:
        """Whether M, with noise, is above the threshold. Theorem 6."""
        if not self.asked:
            return False
        best = np.sort(np.partition(scores, -self.k)[-self.k :])[::-1]
        least = int((best // np.arange(self.k, 0, -1)).min())
        noise = int(discrete_laplace(scale=Fraction(_WIDE) / self.asked, source=source))
        return least + noise >= math.ceil(self.threshold * (1 << SCORE_BITS))

    def release(self, data: Scored, source: Source) -> Release[tuple[int, ...]]:
        """Indices of k different candidates: a set in order of number, or as they were chosen."""
        plain = self.plain.scores(data)
        if self.stands_out(plain, source):
            together = exponential_set(plain, self.k, rate=self.set_rate, source=source)
            return Release.by(self, tuple(sorted(together)), source)
        one = self.round
        scores, left, chosen = one.scores(data), np.arange(one.candidates), []
        draw = exponential if one.law == "exponential" else permute_and_flip
        for _ in range(self.k):
            place = draw(scores[left], rate=one.rate, source=source)
            chosen.append(int(left[place]))
            left = np.delete(left, place)
        return Release.by(self, tuple(chosen), source)
