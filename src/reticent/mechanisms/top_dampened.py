"""The best k candidates by local dampening, round by round; near or far, as the data can bear.

Theory    docs/theory/dampening.md, Theorem 5 (rounds), Theorem 6 (which scores)
Notation  as in dampening.py; k = how many are chosen, S_(k) = the k-th largest plain score u / G
Not here  one choice (dampening.py), what is scored (tasks/).

Shifted scores find good candidates at small budgets but do not keep the order of utilities; plain
ones keep it but need large budgets. A small part of the budget asks, with noise, whether plain
scores stand out of the noise that the rest of the budget leaves; then one of the two is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from reticent.errors import require
from reticent.guarantees import PureDP
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.noise import Source, discrete_laplace, exponential, permute_and_flip
from reticent.rational import Number, rational, whole

_SURE = 5  # scales of the test's noise that S_(k) must be above its threshold


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
        """One round with plain scores u / G."""
        return replace(self.round, steps=0, shift="left")

    @property
    def threshold(self) -> float:
        """The score that stands out: above the largest noise of a round, and the test's own."""
        noise = 2 * math.log(max(self.whole.candidates, 2)) / float(self.round.epsilon)
        return noise + (_SURE / float(self.asked) if self.asked else math.inf)

    def guarantee(self) -> PureDP:
        """Theorem 5: k rounds and the test add up, as often as one unit shows."""
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

    def stands_out(self, scores: np.ndarray[Any, np.dtype[np.int64]], source: Source) -> bool:
        """Whether the k-th largest plain score, with noise, is above the threshold. Theorem 6."""
        if not self.asked:
            return False
        kth = int(np.partition(scores, -self.k)[-self.k])
        scale = Fraction((1 << SCORE_BITS) + 1) / self.asked
        noise = int(discrete_laplace(scale=scale, source=source))
        return kth + noise >= math.ceil(self.threshold * (1 << SCORE_BITS))

    def release(self, data: Scored, source: Source) -> Release[tuple[int, ...]]:
        """Indices of k different candidates, in the order they were chosen."""
        plain = self.plain.scores(data)
        out = self.stands_out(plain, source)
        one, scores = (self.plain, plain) if out else (self.round, self.round.scores(data))
        draw = exponential if one.law == "exponential" else permute_and_flip
        left, chosen = np.arange(self.whole.candidates), []
        for _ in range(self.k):
            place = draw(scores[left], rate=one.rate, source=source)
            chosen.append(int(left[place]))
            left = np.delete(left, place)
        return Release.by(self, tuple(chosen), source)
