"""The noise law on millions of draws: the right scale passes, 1 % off fails, OpenDP agrees.

Every source of ours is seeded, so these cannot fail by chance. OpenDP cannot be seeded; what is
asked of it fails once in a million runs.
"""

import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from reticent.noise import Source, discrete_laplace, exponential, permute_and_flip
from reticent.testing.closed_forms import (
    discrete_laplace_cdf,
    discrete_laplace_pmf,
    exponential_law,
    permute_and_flip_law,
)
from reticent.testing.statistics import (
    check_scale,
    chi_square_quantiles,
    kolmogorov,
    two_sample_chi_square,
)

DRAWS = 5_000_000
ALPHA = 1e-6

dp.enable_features("contrib")


def draw(scale: float | Fraction, seed: int, size: int = DRAWS) -> np.ndarray:
    return discrete_laplace(scale=scale, size=size, source=Source.seeded(seed))


@pytest.mark.parametrize("scale", [0.5, 1, 3.7, 10, 100, 1000])
def test_five_million_draws_tell_one_percent(scale: float) -> None:
    # scale=3.7 is the float nearest to 3.7, and 37/10 to the test: 2**-54 apart
    power = check_scale(draw(scale, seed=1), discrete_laplace_pmf, scale)
    assert power.passed, f"scale {scale}: {power}"


@pytest.mark.parametrize("wrong", [Fraction(99, 100), Fraction(101, 100)])
def test_a_sampler_one_percent_off_is_caught(wrong: Fraction) -> None:
    power = check_scale(draw(10 * wrong, seed=2), discrete_laplace_pmf, 10)
    assert not power.passed, f"noise of scale {float(10 * wrong)} passed for 10: {power}"
    assert power.right.p_value < 1e-15, str(power)


@pytest.mark.parametrize("scale", [2**20, 2**40])
def test_wide_noise_follows_its_law(scale: int) -> None:
    drawn = draw(scale, seed=3, size=2_000_000)
    fit = kolmogorov(drawn, discrete_laplace_cdf(scale))
    off = kolmogorov(drawn, discrete_laplace_cdf(scale * Fraction(102, 100)))
    assert fit.p_value > ALPHA, f"scale {scale}: p = {fit.p_value:.3g}"
    assert off.p_value < 1e-15, f"2 % off: p = {off.p_value:.3g}"
    power = check_scale(drawn, discrete_laplace_cdf, scale, test=chi_square_quantiles)
    assert power.passed, f"scale {scale}: {power}"


@pytest.mark.parametrize("scale", [2**20, 2**40])
def test_low_digits_of_wide_noise_are_uniform(scale: int) -> None:
    low = np.bincount(np.abs(draw(scale, seed=4)) & 1023, minlength=1024)
    assert stats.chisquare(low).pvalue > ALPHA


def test_signs_and_neighbours_are_independent() -> None:
    drawn = draw(100, seed=5)
    lag = float(np.corrcoef(np.sign(drawn[1:]), np.sign(drawn[:-1]))[0, 1])
    size = float(np.corrcoef(np.abs(drawn[1:]), np.abs(drawn[:-1]))[0, 1])
    assert abs(lag) < 5 / np.sqrt(DRAWS), f"lag-1 correlation of signs {lag:.5f}"
    assert abs(size) < 5 / np.sqrt(DRAWS), f"lag-1 correlation of sizes {size:.5f}"


def test_per_coordinate_scales_on_many_draws() -> None:
    scales = np.tile([0.5, 3.7, 100.0, 1000.0], DRAWS // 4)
    drawn = discrete_laplace(scale=scales, source=Source.seeded(6)).reshape(-1, 4)
    for column, scale in enumerate([0.5, 3.7, 100.0, 1000.0]):
        power = check_scale(drawn[:, column], discrete_laplace_pmf, scale, off=0.03)
        assert power.passed, f"scale {scale}: {power}"


# OpenDP, the independent witness


def opendp_laplace(scale: float, size: int) -> np.ndarray:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return np.array(dp.m.make_laplace(*space, scale)(np.zeros(size, dtype=np.int64)))


def test_opendp_draws_from_the_same_law() -> None:
    theirs = opendp_laplace(10.0, 200_000)
    ours, wider = draw(10, seed=7, size=200_000), draw(10.5, seed=7, size=200_000)
    fit, off = two_sample_chi_square(ours, theirs), two_sample_chi_square(wider, theirs)
    assert fit.p_value > ALPHA, f"OpenDP and Reticent differ: p = {fit.p_value:.3g}"
    assert off.p_value < 1e-15, f"5 % off is not seen: p = {off.p_value:.3g}"


SCORES = [0, 2, 4]  # the two laws differ so much that 3000 draws miss it once in a million times
CLOSE = [0] * 20 + [5]  # where a steeper rate shows soonest: 20,000 draws tell 8 %
RATE = Fraction(1, 2)  # OpenDP's scale 2: epsilon 1 at sensitivity 1


def p_value(drawn: list[int], law: list[Fraction]) -> float:
    expected = np.array([float(chance) for chance in law]) * len(drawn)
    return float(stats.chisquare(np.bincount(drawn, minlength=len(law)), expected).pvalue)


def opendp_selection(make: Callable[..., dp.Measurement], *arguments: object) -> dp.Measurement:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return make(*space, *arguments, scale=2.0)


def choices(select: dp.Measurement, count: int = 3000) -> list[int]:
    scores = np.array(SCORES)
    return [select(scores) for _ in range(count)]


def test_opendp_noisy_max_is_permute_and_flip() -> None:
    select = opendp_selection(dp.m.make_noisy_max, dp.max_divergence())
    drawn = choices(select)
    assert select.map(1) == 1.0
    fit = p_value(drawn, permute_and_flip_law(SCORES, rate=RATE))
    off = p_value(drawn, exponential_law(SCORES, rate=RATE))
    assert fit > ALPHA, f"OpenDP's noisy max is not permute-and-flip: p = {fit:.3g}"
    assert off < ALPHA, f"the two laws are not told apart: p = {off:.3g}"


def test_opendp_noisy_max_for_zcdp_is_the_exponential_law() -> None:
    select = opendp_selection(dp.m.make_noisy_max, dp.zero_concentrated_divergence())
    drawn = choices(select)
    assert select.map(1) == pytest.approx(1 / 8)  # epsilon^2 / 8; 0.15.1 charged a quarter of it
    fit = p_value(drawn, exponential_law(SCORES, rate=RATE))
    off = p_value(drawn, permute_and_flip_law(SCORES, rate=RATE))
    assert fit > ALPHA, f"OpenDP's zCDP noisy max is not exponential: p = {fit:.3g}"
    assert off < ALPHA, f"the two laws are not told apart: p = {off:.3g}"


def test_opendp_gumbel_alias_returns_the_maximum() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated
        select = opendp_selection(dp.m.make_report_noisy_max_gumbel)
        drawn = choices(select)
    best = sum(i == 2 for i in drawn) / len(drawn)
    assert best > 0.5, f"the best candidates were chosen {best:.0%} of the time"


@pytest.mark.parametrize(
    ("select", "law"),
    [(permute_and_flip, permute_and_flip_law), (exponential, exponential_law)],
)
def test_our_selection_follows_the_same_laws(
    select: Callable[..., int], law: Callable[..., list[Fraction]]
) -> None:
    source, scores = Source.seeded(8), np.array(CLOSE)
    drawn = [select(scores, rate=RATE, source=source) for _ in range(20_000)]
    off = law(CLOSE, rate=RATE * Fraction(108, 100))
    assert p_value(drawn, law(CLOSE, rate=RATE)) > ALPHA
    assert p_value(drawn, off) < 1e-15
