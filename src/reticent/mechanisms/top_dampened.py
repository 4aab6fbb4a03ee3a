"""The best k candidates: by shifted scores, or by plain ones as far as those stand out.

Theory    docs/theory/dampening.md, Theorem 5 (rounds), Theorem 6 (three ways), Theorem 7 (sets),
          Theorem 9 (error)
Notation  as in dampening.py; k = how many are chosen, S_(b) = the b-th largest plain score u / G,
          M = min_b S_(b) / (k - b + 1)
Not here  one choice (dampening.py), what is scored (tasks/).

Shifted scores find good candidates at small budgets but do not keep the order of utilities; plain
ones keep it but need large budgets. A small part of the budget asks, with noise, how far plain
scores stand out of the noise that the rest of the budget leaves: not at all, and candidates are
chosen by shifted scores; enough for rounds by plain scores; or enough for the set at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from reticent.amounts import show_up
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

    Whole = NDArray[np.int64]

Way: TypeAlias = Literal["shifted", "rounds", "set"]
_SURE = 3  # scales of the test's noise that keep one way off the next: wrong 1 time in 40
_SELDOM = 3  # a way is taken where it would err less than 1 time in so many
_WIDE = (1 << SCORE_BITS) + 2  # what one unit moves S_(k) or M by, in steps: rounded twice


def usual_test(k: int, candidates: int) -> Fraction:
    """A share for the test whose noise keeps nobody long from rounds, nor from the set.

    >>> usual_test(1, 1000), usual_test(10, 1000)
    (Fraction(3, 10), Fraction(1, 8))
    """
    return Fraction(_SURE, _SURE + math.ceil(min(k, 3) * math.log(max(candidates, 2))))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopDampened(Mechanism[tuple[int, ...]]):
    """Choose ``k`` candidates; ``whole`` has the budget of all of it.

    ``plain`` scores without local sensitivities, by default with the limit of ``whole``. ``test``
    is the share of the budget that decides between the two; 0 decides for ``whole``. ``changes`` is
    how many units of what is scored one unit of the data can change: each of them then loses that
    part of epsilon only.

    >>> from reticent.mechanisms.local_sensitivity import Tabled
    >>> both = TopDampened(whole=Dampened(epsilon=4, candidates=3, limit=1, steps=0), k=2)
    >>> len(both.release(Scored([5, 1, 3], Tabled.of([1, 1, 1])), Source.system()).value)
    2
    """

    name: ClassVar[str] = "top-dampened"
    whole: Dampened
    k: int
    plain: Dampened | None = None
    test: Number = field(default=Fraction(0))
    changes: int = 1

    def __post_init__(self) -> None:
        whole(self.k, "k", least=1)
        whole(self.changes, "changes", least=1)
        fits = self.k <= self.whole.candidates
        require(fits, "k", self.k, f"at most the number of candidates, {self.whole.candidates}")
        object.__setattr__(self, "test", rational(self.test, "test"))
        require(0 <= Fraction(self.test) < 1, "test", self.test, "at least 0 and below 1")
        if self.plain is None:
            undampened = replace(self.whole, steps=0, shift="left", spread=2)
            object.__setattr__(self, "plain", undampened)
        other, own = self._plain, self.whole
        same = all(
            getattr(other, name) == getattr(own, name) for name in ("epsilon", "candidates", "unit")
        )
        good = same and other.steps == 0 and other.shift != "none"
        require(good, "plain", "another", "of no steps, with the budget and candidates of whole")

    @property
    def _plain(self) -> Dampened:
        assert self.plain is not None  # noqa: S101, set when the value was made
        return self.plain

    def at(self, epsilon: Number) -> TopDampened:
        """The same with another budget."""
        whole, plain = (replace(one, epsilon=epsilon) for one in (self.whole, self._plain))
        return replace(self, whole=whole, plain=plain)

    @property
    def asked(self) -> Fraction:
        """Epsilon of the test, for one unit of what is scored."""
        return Fraction(self.whole.epsilon) * Fraction(self.test) / self.changes

    @property
    def rest(self) -> Fraction:
        """Epsilon of the choice, for one unit of what is scored."""
        return Fraction(self.whole.epsilon) / self.changes - self.asked

    @property
    def round(self) -> Dampened:
        """One round with the scores of ``whole``."""
        return replace(self.whole, epsilon=self.rest / self.k)

    @property
    def plain_round(self) -> Dampened:
        """One round with plain scores."""
        return replace(self._plain, epsilon=self.rest / self.k)

    @property
    def set_rate(self) -> Fraction:
        """Weight of one step of a gap, which one unit moves as far as two scores. Theorem 7."""
        return self.rest / (2 * self._plain.apart)

    @property
    def needed(self) -> tuple[int, int]:
        """S_(k) at which rounds, and M at which the set is likely right, in steps of a score."""
        many = math.log(_SELDOM * max(self.whole.candidates, 2))
        rates = self.plain_round.rate, self.set_rate
        return math.ceil(many / float(rates[0])), math.ceil(many / float(rates[1]))

    @property
    def room(self) -> int:
        """What keeps one way off the next, in steps of a score; public."""
        return math.ceil(_SURE * _WIDE / self.asked) if self.asked else 0

    def guarantee(self) -> PureDP:
        """Theorems 5 to 7: k rounds, or a set, and the test add up, as often as one unit shows."""
        return PureDP.of(self.changes * (self.rest + self.asked), self.whole.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        test = Fraction(self.test)
        return {
            "whole": self.whole.parameters(),
            "plain": self._plain.parameters(),
            "k": self.k,
            "test": f"{test.numerator}/{test.denominator}",
            "changes": self.changes,
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism with these ``parameters()``."""
        whole, plain = (Dampened.from_parameters(parameters[name]) for name in ("whole", "plain"))
        test, k, changes = Fraction(parameters["test"]), parameters["k"], parameters["changes"]
        return cls(whole=whole, plain=plain, k=k, test=test, changes=changes)

    def utility(self) -> Utility:
        """What holds whichever way is taken: that of the way with the largest error."""
        within = max(self._errors()) / (1 << SCORE_BITS)
        what = "the chosen score is within {} changed units of the best score"
        if self.k > 1:
            what = "no score left out is more than {} changed units above one that was chosen"
        return Utility(
            sentence=f"{what.format(show_up(within))}, 95 times in 100; what that means for the "
            "utility depends on the data",
            within_95=within,
        )

    def _errors(self) -> Iterator[float]:
        """By way, the steps that the best score left out exceeds 5 times in 100. Theorem 9."""
        many, n = math.log(20), self.whole.candidates
        rounds = [self.round, self.plain_round] if self.asked else [self.round]
        for one in rounds:
            yield (many + math.log(self.k * n)) / float(one.rate) + 1
        if self.asked and self.k > 1:
            sets = math.fsum(math.log((n - i) / (i + 1)) for i in range(self.k))
            yield (many + sets) / float(self.set_rate) + 1

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        one = self.whole.how()
        if self.changes == 1:
            return one
        many = f"{self.whole.unit}, changes at most {self.changes} of what is scored; of these, "
        return How(
            sensitivity=many + one.sensitivity,
            bounds=one.bounds,
            floating_point=one.floating_point,
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        page = f"docs/theory/dampening.md, Theorem {6 if self.test else 5}"
        return Evidence(theorem=page, assumptions=self.whole.evidence().assumptions)

    def margin(self, scores: Whole) -> int:
        """How far plain scores stand out, in steps. Theorem 6.

        One unit moves it by at most 1, and rounding: below 0 shifted scores are better, up to
        twice the test's room rounds by plain ones, beyond it the set.
        """
        best = np.sort(np.partition(scores, -self.k)[-self.k :])[::-1]
        least = int((best // np.arange(self.k, 0, -1)).min())
        for_rounds, for_set = self.needed
        enough = int(best[-1]) - max(for_rounds, self.room)
        if self.k == 1:  # a round is as good as a set, at half its noise
            return enough
        return min(enough, self.room + max(least - max(for_set - self.room, 0), 0))

    def way(self, scores: Whole, source: Source) -> Way:
        """By which scores to choose, from the margin with noise."""
        if not self.asked:
            return "shifted"
        noise = int(discrete_laplace(scale=Fraction(_WIDE) / self.asked, source=source))
        seen = self.margin(scores) + noise
        if seen < 0:
            return "shifted"
        return "rounds" if self.k == 1 or seen < 2 * self.room else "set"

    def release(self, data: Scored, source: Source) -> Release[tuple[int, ...]]:
        """Indices of k different candidates: a set in order of number, or as they were chosen."""
        plain = self._plain.scores(data)
        way = self.way(plain, source)
        if way == "set":
            together = exponential_set(plain, self.k, rate=self.set_rate, source=source)
            return Release.by(self, tuple(sorted(together)), source)
        one = self.round if way == "shifted" else self.plain_round
        scores = one.scores(data) if way == "shifted" else plain
        return Release.by(self, self._rounds(one, scores, source), source)

    def _rounds(self, one: Dampened, scores: Whole, source: Source) -> tuple[int, ...]:
        left, chosen = np.arange(one.candidates), []
        draw = exponential if one.law == "exponential" else permute_and_flip
        for _ in range(self.k):
            place = draw(scores[left], rate=one.rate, source=source)
            chosen.append(int(left[place]))
            left = np.delete(left, place)
        return tuple(chosen)
