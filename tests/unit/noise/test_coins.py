"""Coins: the right chance, and exact where the first 32 bits cannot tell."""

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reticent.errors import ParameterError
from reticent.noise import Source, bernoulli, bernoulli_exp
from reticent.noise.coins import decide
from reticent.noise.enclosure import Bounds, exp_minus
from reticent.testing.sources import RecordingSource, ScriptedSource

DRAWS = 400_000


def p_value(heads: np.ndarray, chance: float) -> float:
    return float(stats.binomtest(int(heads.sum()), heads.size, chance).pvalue)


@pytest.mark.parametrize("chance", [0.5, 0.001, 0.3, 1 - 2**-10, Fraction(1, 3), Fraction(99, 100)])
def test_rational_coins(chance: float | Fraction) -> None:
    heads = bernoulli([chance] * 1000, source=Source.seeded(0))
    assert heads.shape == (1000,)
    assert heads.dtype == bool
    many = bernoulli(np.full(DRAWS, float(chance)), source=Source.seeded(1))
    assert p_value(many, float(chance)) > 1e-6
    wrong = float(chance) + (0.01 if chance < 0.5 else -0.01)
    assert p_value(many, wrong) < 1e-6


@pytest.mark.parametrize("exponent", [1e-3, 0.1, 0.5, 1.0, 3.7, 6.0])
def test_exponential_coins(exponent: float) -> None:
    heads = bernoulli_exp(np.full(DRAWS, exponent), source=Source.seeded(2))
    assert p_value(heads, np.exp(-exponent)) > 1e-6
    assert p_value(heads, np.exp(-exponent * 1.2 - 0.01)) < 1e-6


def test_each_coordinate_has_its_own_chance() -> None:
    exponents = np.tile([0.0, 0.25, 1.0, 4.0], (100_000, 1))
    heads = bernoulli_exp(exponents, source=Source.seeded(3))
    assert heads.shape == (100_000, 4)
    assert heads[:, 0].all()
    for column, x in enumerate([0.25, 1.0, 4.0], start=1):
        assert p_value(heads[:, column], np.exp(-x)) > 1e-6


@pytest.mark.parametrize("word", [0, 1, 2, 2**31, 2**32 - 2, 2**32 - 1])
def test_certain_coins_are_certain_whatever_is_drawn(word: int) -> None:
    def flip(coin: Callable[..., np.ndarray], value: object) -> bool:
        return bool(coin(value, source=ScriptedSource(words=[word])))

    assert flip(bernoulli, 1)
    assert flip(bernoulli, Fraction(1))
    assert not flip(bernoulli, 0)
    assert flip(bernoulli_exp, 0)
    assert not flip(bernoulli_exp, 10**400)


def digits_of(value: mpmath.mpf, chunks: int) -> tuple[int, list[int]]:
    """The first 32 bits of a chance and the 64-bit chunks that follow."""
    whole = int(mpmath.floor(value * mpmath.mpf(2) ** (32 + 64 * chunks)))
    rest = [(whole >> 64 * k) & (2**64 - 1) for k in reversed(range(chunks))]
    return whole >> 64 * chunks, rest


@settings(max_examples=80, deadline=None)
@given(st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=10**12))
def test_a_close_coin_is_settled_by_as_many_bits_as_it_takes(x: Fraction) -> None:
    with mpmath.workprec(1000):
        word, chunks = digits_of(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), 4)
    assert 0 < chunks[-1] < 2**64 - 1
    below, above = [*chunks[:-1], chunks[-1] - 1], [*chunks[:-1], chunks[-1] + 1]
    assert bernoulli_exp(x, source=ScriptedSource(words=[word], bits=below))
    assert not bernoulli_exp(x, source=ScriptedSource(words=[word], bits=above))


@settings(max_examples=80, deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**6), max_value=1, max_denominator=10**12))
def test_a_close_rational_coin_is_settled_too(p: Fraction) -> None:
    whole = p.numerator * 2**160 // p.denominator
    for u, heads in ((whole - 1, True), (whole + 1, False)):  # U = (u, u + 1) / 2**160
        if 0 <= u < 2**160:
            chunks = [(u >> 64) & (2**64 - 1), u & (2**64 - 1)]
            source = ScriptedSource(words=[u >> 128], bits=chunks)
            assert bool(bernoulli(p, source=source)) is heads


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2, 3])
def test_words_around_the_threshold_agree_with_exact_arithmetic(offset: int) -> None:
    x = Fraction(7, 5)
    word = int(mpmath.floor(mpmath.exp(-mpmath.mpf("1.4")) * 2**32)) + offset
    expected = decide(word, exp_minus, x, ScriptedSource())
    assert bool(bernoulli_exp(x, source=ScriptedSource(words=[word]))) is expected
    assert expected is (offset < 0) or offset == 0


def test_the_law_holds_when_every_coin_is_settled_exactly() -> None:
    source = Source.seeded(4)

    def coin() -> bool:
        return decide(source.bits(32), exp_minus, Fraction(1, 3), source)

    heads = np.array([coin() for _ in range(8_000)])
    assert p_value(heads, np.exp(-1 / 3)) > 1e-6


def test_decide_asks_for_more_precision_with_more_bits() -> None:
    asked = []

    def law(x: Fraction, bits: int) -> Bounds:
        asked.append(bits)
        return x, x

    p = Fraction(1, 2) + Fraction(1, 2**100)
    source = ScriptedSource(bits=[0, 0])
    assert decide(1 << 31, law, p, source)  # U = 0.1000..., p = 0.1000...1
    assert asked == [96, 160, 224]


def test_an_improbable_coin_can_show_heads() -> None:
    x = 1000  # exp(-1000) is about 2**-1443
    zeros = [0] * 23
    assert bernoulli_exp(x, source=ScriptedSource(words=[0], bits=zeros))
    assert not bernoulli_exp(x, source=ScriptedSource(words=[0], bits=[*zeros[:10], 1]))


def test_seeds_repeat() -> None:
    exponents = np.linspace(0, 3, 1000)
    first, second = (bernoulli_exp(exponents, source=Source.seeded(5)) for _ in range(2))
    assert (first == second).all()


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (0, 2)])
def test_coins_have_the_shape_of_their_chances(shape: tuple[int, ...]) -> None:
    assert bernoulli_exp(np.ones(shape), source=Source.system()).shape == shape
    assert bernoulli(np.full(shape, 0.5), source=Source.system()).shape == shape


def test_what_is_noted_is_public() -> None:
    source = RecordingSource()
    bernoulli_exp([0.5, 1.5], source=source)
    bernoulli(0.25, source=source)
    assert [(call.primitive, dict(call.arguments)) for call in source.calls] == [
        ("bernoulli_exp", {"shape": (2,)}),
        ("bernoulli", {"shape": ()}),
    ]


@pytest.mark.parametrize("bad", [-1, [-1e-300], Fraction(-1, 10**400), np.nan, np.inf, "1", True])
def test_bad_exponents_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="^exponent must be .*, got"):
        bernoulli_exp(bad, source=Source.seeded(0))  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-0.1, 1.1, [0.5, 2], Fraction(-1, 10**400), np.nan, None, True])
def test_bad_probabilities_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="^probability must be .*, got"):
        bernoulli(bad, source=Source.seeded(0))  # type: ignore[arg-type]


def test_a_probability_a_little_above_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="^probability must be from 0 to 1"):
        bernoulli([Fraction(2**60 + 1, 2**60)], source=Source.seeded(1))
