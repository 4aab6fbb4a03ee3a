"""Coins and selections are right where doubles cannot decide, and the tools see it when not."""

import math
from fractions import Fraction

import numpy as np
import pytest

from reticent.noise import Source, exponential, permute_and_flip
from reticent.testing import (
    ScriptedSource,
    coin_disagreements,
    exponential_disagreements,
    permute_and_flip_disagreements,
)


def hasty_coin(exponents: list[Fraction], *, source: Source) -> np.ndarray:
    words = source.words(len(exponents)) * 2.0**-32
    return words < [math.exp(-float(x)) for x in exponents]


def hasty_exponential(scores: np.ndarray, *, rate: Fraction, source: Source) -> int:
    uniform = (source.long_words(scores.size) + 0.5) * 2.0**-64
    return int((scores * float(rate) - np.log(-np.log(uniform))).argmax())


def hasty_permute_and_flip(scores: np.ndarray, *, rate: Fraction, source: Source) -> int:
    uniform = (source.long_words(scores.size) + 0.5) * 2.0**-64
    return int((scores * float(rate) - np.log(uniform)).argmax())


def test_close_calls_are_right() -> None:
    assert coin_disagreements(300, seed=0) == 0
    assert exponential_disagreements(30, seed=0) == 0
    assert permute_and_flip_disagreements(30, seed=0) == 0


def test_doubles_alone_are_noticed() -> None:
    assert coin_disagreements(300, flip=hasty_coin) > 100
    assert exponential_disagreements(choose=hasty_exponential) > 5
    assert permute_and_flip_disagreements(choose=hasty_permute_and_flip) > 5


def test_one_law_is_not_the_other() -> None:
    assert exponential_disagreements(choose=permute_and_flip) > 5
    assert permute_and_flip_disagreements(choose=exponential) > 5


@pytest.mark.parametrize("choose", [exponential, permute_and_flip])
@pytest.mark.parametrize("word", [0, (1 << 64) - 1])
def test_the_ends_of_the_unit_interval_are_decided(choose, word: int) -> None:
    source = ScriptedSource(words=[word, 1 << 63])
    assert choose(np.array([0, 0]), rate=Fraction(1), source=source) in (0, 1)
