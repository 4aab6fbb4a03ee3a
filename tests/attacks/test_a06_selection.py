"""A6, Ilvento 2020: exp(eps * score) in floats underflows, and its sum depends on the order.

A candidate whose chance is 2^-58 must have just that chance, wherever it stands in the list.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from reticent.noise import Source, exponential, permute_and_flip
from reticent.testing.closed_forms import exponential_law, permute_and_flip_law
from reticent.testing.sources import ScriptedSource

Select = Callable[..., int]

RATE = Fraction(1, 4)
LAWS = {exponential: exponential_law, permute_and_flip: permute_and_flip_law}
GAPS = [0, 1, 2, 5, 10, 1000, 10**6]  # times the rate: the last two have chances below 2^-256
DRAWS = 6000
both = pytest.mark.parametrize("select", [exponential, permute_and_flip])


def counts(select: Select, scores: list[int], draws: int, seed: int) -> np.ndarray:
    source, vector = Source.seeded(seed), np.array(scores)
    drawn = [select(vector, rate=RATE, source=source) for _ in range(draws)]
    return np.bincount(drawn, minlength=len(scores))


# Ours


@both
def test_gaps_up_to_a_million_follow_the_law_in_any_order(select: Select) -> None:
    likely = len(GAPS) - 2
    law = np.array([float(p) for p in LAWS[select]([-gap for gap in GAPS[:likely]], rate=RATE)])
    for order in (list(range(len(GAPS))), [6, 2, 0, 5, 4, 1, 3]):
        seen = counts(select, [-GAPS[i] for i in order], DRAWS, seed=1)
        back = np.empty_like(seen)
        back[order] = seen
        assert back[likely:].sum() == 0, "an event of chance below 2^-256 was seen"
        p = stats.chisquare(back[:likely], law * DRAWS).pvalue
        assert 1e-6 < p < 1 - 1e-6, f"order {order}: p = {p:.3g}"


class TailSource(Source):
    """The last candidate is given an event of chance 2^-64; everything after it is fair."""

    __slots__ = ()
    word = 0

    def long_words(self, shape: int | tuple[int, ...]) -> np.ndarray:
        words = super().long_words(shape)
        words[-1] = self.word
        return words


class UpperTailSource(TailSource):
    __slots__ = ()
    word = 2**64 - 1


def tail_wins(select: Select, scores: list[int], draws: int) -> int:
    kind = TailSource if select is permute_and_flip else UpperTailSource
    source, vector = kind.seeded(2), np.array(scores)
    return sum(select(vector, rate=RATE, source=source) == 1 for _ in range(draws))


@both
@pytest.mark.parametrize("gap", [176, 180])
def test_beyond_64_bits_the_law_is_still_the_law(select: Select, gap: int) -> None:
    """Two candidates, the second exp(-44) or exp(-45) behind, given the first 64 bits it needs."""
    behind = float(RATE * gap) - 64 * math.log(2)
    if select is permute_and_flip:  # an exponential variable has no memory
        chance = math.exp(-behind) / 2 if behind > 0 else 1 - math.exp(behind) / 2
    else:
        a = math.exp(behind)
        chance = -math.expm1(-a) / a
    draws = 600
    wins = tail_wins(select, [gap, 0], draws)
    p = stats.binomtest(wins, draws, chance).pvalue
    assert p > 1e-6, f"won {wins} of {draws}, chance {chance:.3f}: p = {p:.3g}"
    wrong = stats.binomtest(wins, draws, min(1.4 * chance, 0.99)).pvalue
    assert wrong < 1e-6, f"the test has no power: p = {wrong:.3g}"


@both
@pytest.mark.parametrize("gap", [160, 400, 700])
def test_no_candidate_of_chance_above_two_to_minus_256_is_lost(select: Select, gap: int) -> None:
    assert math.exp(-gap / 4) > 2.0**-256
    end = 0 if select is permute_and_flip else 2**64 - 1
    for place in (0, 1, 2):
        scores, words = np.full(3, gap), np.full(3, 2**63, dtype=np.uint64)
        scores[place], words[place] = 0, end
        script = ScriptedSource(words=words, bits=[end] * 16)
        assert select(scores, rate=RATE, source=script) == place


# The control: weights in floats and a cumulative sum


def float_chances(scores: list[int]) -> list[Fraction]:
    """Exact chances of ``searchsorted(cumsum(weights), U)`` for U a multiple of 2^-53."""
    weights = np.exp(float(RATE) * (np.array(scores, dtype=float) - max(scores)))
    ends = np.cumsum(weights)
    ends /= ends[-1]
    upto = [math.ceil(Fraction(float(end)) * 2**53) for end in ends]
    return [Fraction(b - a, 2**53) for a, b in zip([0, *upto], upto, strict=False)]


def test_the_float_control_drops_candidates() -> None:
    scores = [160, 0]
    true = exponential_law(scores, rate=RATE)
    lost = float_chances(scores)
    assert true[1] > Fraction(1, 2**58), "a chance far above 2^-256"
    assert lost[1] == 0, f"the control gives {float(lost[1]):.3g}, true {float(true[1]):.3g}"


def test_the_float_control_depends_on_the_order() -> None:
    forward, backward = float_chances([160, 0]), float_chances([0, 160])
    assert forward != backward[::-1], "permuting the candidates permuted the control's law"
    assert backward[0] > 10 * exponential_law([0, 160], rate=RATE)[0], "16 times too likely"


def test_the_float_control_overflows() -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(float(RATE) * np.array([10**6, 0]))
        chances = weights / weights.sum()
    assert np.isnan(chances[0]), "without subtracting the maximum nothing is left"
