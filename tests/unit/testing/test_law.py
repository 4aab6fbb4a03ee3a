"""The executable noise proof holds, agrees with mpmath, and would notice."""

import decimal
import math
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.noise import Source, discrete_laplace
from reticent.testing import (
    LOG_RATIO_LIMIT,
    LawBroken,
    ScriptedSource,
    fast_path_disagreements,
    log_error,
    log_ratio_error,
)
from reticent.testing.faults import hasty_laplace
from reticent.testing.sources import MORE


@pytest.mark.parametrize("scale", [Fraction(1, 3), 1, Fraction(37, 10), 30])
def test_the_law_is_right_at_every_magnitude(scale: Fraction | int) -> None:
    assert log_ratio_error(scale, visits=40) <= LOG_RATIO_LIMIT


def test_the_law_does_not_hang_on_the_callers_decimals() -> None:
    with decimal.localcontext(decimal.Context(prec=5, rounding=decimal.ROUND_UP)):
        assert log_ratio_error(Fraction(37, 10), visits=10) <= LOG_RATIO_LIMIT
        assert fast_path_disagreements(Fraction(37, 10), breakpoints=10) == 0


def test_a_scale_one_part_in_2_to_the_70_off_is_noticed() -> None:
    def off(*, scale: Fraction, **others: object) -> np.int64:
        return discrete_laplace(scale=scale * (1 + Fraction(1, 1 << 70)), **others)

    with pytest.raises(LawBroken, match="does not step to 1"):
        log_ratio_error(3, visits=20, sampler=off)


@pytest.mark.parametrize("scale", [Fraction(1, 2), 1, Fraction(37, 10)])
def test_the_fast_path_is_never_wrong(scale: Fraction | int) -> None:
    assert fast_path_disagreements(scale) == 0


@pytest.mark.parametrize("scale", [100, 1 << 20, Fraction(3**26, 2), 1 << 40, 1 << 50])
def test_the_fast_path_is_never_wrong_at_sampled_breakpoints(scale: Fraction | int) -> None:
    assert fast_path_disagreements(scale, breakpoints=20) == 0


def test_a_missing_margin_is_noticed() -> None:
    assert fast_path_disagreements(Fraction(37, 10), sampler=hasty_laplace) > 100


def test_a_low_digit_kept_too_often_is_noticed() -> None:
    careless = partial(_without_thinning, low_bits=2)
    assert fast_path_disagreements(1 << 20, breakpoints=50, sampler=careless) > 10


def _without_thinning(
    *, scale: Fraction, source: ScriptedSource, low_bits: int, size: int | None = None
) -> object:
    """The high part as it should be, and low digits that are simply uniform."""
    if size is None:
        word, low = source.bits(64), source.bits(64)
        drawn = _without_thinning(
            scale=scale, source=ScriptedSource(words=[word, low]), low_bits=low_bits, size=1
        )
        return drawn[0]
    words, lows = source.long_words(size), source.long_words(size)
    keep = np.full(size, (1 << 64) - (1 << low_bits), dtype=np.uint64)  # J = 0, never thinned
    script = ScriptedSource(words=np.concatenate([words, keep]))
    high = discrete_laplace(scale=scale, size=size, source=script)
    low = (lows & np.uint64((1 << low_bits) - 1)).astype(np.int64)
    return np.sign(high) * (np.abs(high) + np.where(high != 0, low, 0))


@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(1 << 30)])
def test_mpmath_says_the_same(scale: Fraction) -> None:
    words = Source.seeded(4).long_words(200)
    lows = np.full(200, MORE, dtype=np.uint64)
    script = words if scale < 1 << 19 else np.concatenate([words, lows])
    drawn = discrete_laplace(scale=scale, size=200, source=ScriptedSource(words=script))
    low_bits = max(0, math.frexp(float(scale))[1] - 19)
    with mpmath.workdps(60):
        t = mpmath.mpf(scale.numerator) / scale.denominator
        for word, z in zip(words.tolist(), drawn.tolist(), strict=True):
            u = mpmath.mpf(min(word, ~word & (1 << 64) - 1)) + mpmath.mpf(MORE) / ((1 << 64) - 1)
            y = -(mpmath.log(u / 2**64) + mpmath.log1p(mpmath.exp(-1 / t)) + 1 / t) * t
            h = int(mpmath.floor(y / 2**low_bits))
            expected = 0 if h < 0 else 1 + (h << low_bits) + (MORE & (1 << low_bits) - 1)
            assert z == (expected if word < 1 << 63 else -expected)


def test_logarithms_are_as_good_as_assumed() -> None:
    assert log_error(1 << 12) < 2.0**-46


@pytest.mark.parametrize("scale", [0, -1, float("nan")])
def test_scales_must_be_positive(scale: float) -> None:
    with pytest.raises(ParameterError, match="scale must be"):
        log_ratio_error(scale)
    with pytest.raises(ParameterError, match="scale must be"):
        fast_path_disagreements(scale)


def test_too_large_a_scale_is_refused() -> None:
    with pytest.raises(ParameterError, match="scale must be below"):
        log_ratio_error(1 << 18)
    with pytest.raises(ParameterError, match="scale must be at most"):
        fast_path_disagreements(1 << 51)
