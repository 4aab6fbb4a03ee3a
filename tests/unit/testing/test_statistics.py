"""The tests of fit agree with SciPy's, are calibrated, and can fail."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from reticent.errors import ParameterError
from reticent.noise import Source, discrete_laplace
from reticent.testing import (
    Fit,
    Power,
    as_pmf,
    check_scale,
    chi_square,
    chi_square_quantiles,
    discrete_laplace_cdf,
    discrete_laplace_pmf,
    kolmogorov,
    two_sample_chi_square,
)

DIE = [Fraction(1, 6)] * 6


def uniforms(count: int, seed: int) -> np.ndarray:
    return Source.seeded(seed).long_words(count) * 2.0**-64


def laplace(scale: Fraction | int, count: int, seed: int = 0) -> np.ndarray:
    return discrete_laplace(scale=scale, size=count, source=Source.seeded(seed))


def test_chi_square_is_pearsons_test() -> None:
    rolls = (uniforms(6000, 1) * 6).astype(np.int64)
    expected = stats.chisquare(np.bincount(rolls, minlength=6))
    fit = chi_square(rolls, as_pmf(DIE))
    assert fit.dof == 5
    assert fit.statistic == pytest.approx(expected.statistic)
    assert fit.p_value == pytest.approx(expected.pvalue)


def test_kolmogorov_is_kolmogorovs_test() -> None:
    sample = uniforms(5000, 2)
    expected = stats.kstest(sample, "uniform")
    fit = kolmogorov(sample, lambda x: np.clip(x, 0, 1))
    assert fit.statistic == pytest.approx(expected.statistic)
    assert fit.p_value == pytest.approx(expected.pvalue, abs=0.01)


def test_two_samples_agree_with_a_contingency_table() -> None:
    a, b = (uniforms(5000, 3) * 6).astype(int), (uniforms(9000, 4) * 6).astype(int)
    table = [np.bincount(sample, minlength=6) for sample in (a, b)]
    expected = stats.chi2_contingency(table, correction=False)
    fit = two_sample_chi_square(a, b)
    assert fit.dof == expected.dof
    assert fit.statistic == pytest.approx(expected.statistic)
    assert fit.p_value == pytest.approx(expected.pvalue)


def test_two_samples_may_be_labels() -> None:
    yes_no = np.array(["no", "yes"])
    a, b = (yes_no[(uniforms(4000, s) < 0.5).astype(int)] for s in (5, 6))
    assert two_sample_chi_square(a, b).p_value > 1e-3
    assert two_sample_chi_square(a, np.full(4000, "yes")).p_value < 1e-100


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(200)])
@pytest.mark.parametrize(
    ("test", "family"),
    [
        (chi_square, discrete_laplace_pmf),
        (chi_square_quantiles, discrete_laplace_cdf),
    ],
)
def test_p_values_are_uniform_under_the_law(test, family, scale: Fraction) -> None:
    law = family(scale)
    p_values = [test(laplace(scale, 3000, seed), law).p_value for seed in range(150)]
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4


def test_kolmogorov_on_integers_does_not_reject_too_often() -> None:
    law = discrete_laplace_cdf(50)
    p_values = [kolmogorov(laplace(50, 2000, seed), law).p_value for seed in range(200)]
    assert np.mean(np.array(p_values) < 0.05) < 0.1


@pytest.mark.parametrize("scale", [Fraction(1, 2), 1, Fraction(37, 10), 10, 100])
def test_one_percent_is_seen(scale: Fraction | int) -> None:
    report = check_scale(laplace(scale, 2_000_000), discrete_laplace_pmf, scale)
    assert report.passed, report


@pytest.mark.parametrize("scale", [1 << 20, 1 << 40])
def test_one_percent_is_seen_at_large_scales(scale: int) -> None:
    samples = laplace(scale, 2_000_000)
    report = check_scale(samples, discrete_laplace_cdf, scale, test=chi_square_quantiles)
    assert report.passed, report
    assert kolmogorov(samples, discrete_laplace_cdf(scale)).p_value > 1e-6


def test_a_wrong_scale_does_not_pass() -> None:
    report = check_scale(laplace(Fraction(99, 100), 2_000_000), discrete_laplace_pmf, 1)
    assert not report.passed
    assert "FAILED" in str(report)


def test_too_few_samples_do_not_pass() -> None:
    report = check_scale(laplace(1, 1000), discrete_laplace_pmf, 1)
    assert report.right.p_value > 1e-6
    assert not report.passed


def test_an_excluded_outcome_is_rejected() -> None:
    assert chi_square(np.array([0] * 100 + [7]), as_pmf(DIE)).p_value == 0.0


def test_a_missing_outcome_is_rejected() -> None:
    rolls = np.tile(np.arange(5), 200)
    assert chi_square(rolls, as_pmf(DIE)).p_value < 1e-30


def test_one_cell_rejects_nothing() -> None:
    assert chi_square(np.zeros(5, dtype=np.int64), as_pmf(DIE)) == Fit(pytest.approx(0.0), 0, 1.0)


@pytest.mark.parametrize("samples", [[], [0.5, 1.0], ["a"]])
def test_samples_must_be_integers(samples: list[object]) -> None:
    with pytest.raises(ParameterError, match="samples must be a non-empty array of integers"):
        chi_square(samples, as_pmf(DIE))


def test_samples_must_not_spread_too_far() -> None:
    with pytest.raises(ParameterError, match="samples must be within"):
        chi_square(np.array([0, 1 << 40]), discrete_laplace_pmf(1 << 40))


@pytest.mark.parametrize("off", [0, 1, -0.1])
def test_off_must_be_a_part(off: float) -> None:
    with pytest.raises(ParameterError, match="off must be between 0 and 1"):
        check_scale([1, 2], discrete_laplace_pmf, 1, off=off)


def test_empty_samples_are_refused() -> None:
    with pytest.raises(ParameterError, match="b must be at least one sample"):
        two_sample_chi_square([1], [])
    with pytest.raises(ParameterError, match="samples must be at least one"):
        kolmogorov([], np.asarray)


def test_power_is_both() -> None:
    good, bad = Fit(1.0, 1, 0.5), Fit(99.0, 1, 1e-20)
    assert Power(good, bad).passed
    assert not Power(good, good).passed
    assert not Power(bad, bad).passed
