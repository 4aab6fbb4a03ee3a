"""Scripted and recording sources say and write down exactly what they should."""

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import bernoulli, discrete_laplace
from reticent.testing import RecordingSource, ScriptedSource


def test_a_script_is_said_word_for_word() -> None:
    source = ScriptedSource(words=[1, 2, 3, 4], bits=[9], more=(0b101 << 61) + 1)
    assert source.long_words(2).tolist() == [1, 2]
    assert source.words((1, 2)).tolist() == [[3, 4]]
    assert [source.bits(64), source.bits(3), source.bits(64)] == [9, 5, (0b101 << 61) + 1]
    assert not source.private


def test_a_script_can_run_out() -> None:
    source = ScriptedSource(words=[1])
    with pytest.raises(ParameterError, match="words must be enough for 2, got 1"):
        source.long_words(2)


@pytest.mark.parametrize("more", [0, 1 << 64])
def test_more_must_be_a_word(more: int) -> None:
    with pytest.raises(ParameterError, match="more must be from 1"):
        ScriptedSource(more=more)


def test_the_script_is_not_changed_by_the_sampler() -> None:
    words = np.array([5, 1 << 63], dtype=np.uint64)
    discrete_laplace(scale=3, size=2, source=ScriptedSource(words=words))
    assert words.tolist() == [5, 1 << 63]


def test_calls_are_recorded_with_their_public_arguments() -> None:
    source = RecordingSource(seed=3)
    discrete_laplace(scale=2, size=4, source=source)
    bernoulli([0.5, 0.5], source=source)
    first, second = source.calls
    assert (first.primitive, dict(first.arguments), first.at) == (
        "discrete_laplace",
        {"scale": 2, "shape": (4,)},
        0,
    )
    assert (second.primitive, second.at) == ("bernoulli", 32)
    assert str(first) == "discrete_laplace(scale=2, shape=(4,)) after 0 bytes"
    assert source.drawn == 40


def test_equal_seeds_record_equal_noise() -> None:
    a, b, c = (
        discrete_laplace(scale=9, size=50, source=RecordingSource(seed=seed)) for seed in (1, 1, 2)
    )
    assert a.tolist() == b.tolist() != c.tolist()
    assert not RecordingSource().private
