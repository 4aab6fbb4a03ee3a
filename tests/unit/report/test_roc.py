"""The promised ceiling is never too low; a curve fails when it is above it, and no accident."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.noise import Source, discrete_laplace
from reticent.report.roc import (
    Measured,
    excess,
    failures,
    found_between,
    promised_curve,
    raised,
    thinned,
)
from reticent.tasks.item_attack import ItemAttack, Run, ceiling

MANY = 100_000


def most_found(epsilon: float, delta: float, x: Fraction) -> Decimal:
    """The promise itself, to sixty digits."""
    with localcontext() as context:
        context.prec = 60
        gain, off = Decimal(epsilon).exp(), Decimal(delta)
        rate = Decimal(x.numerator) / Decimal(x.denominator)
        return min(Decimal(1), gain * rate + off, 1 - (1 - off - rate) / gain)


def height(curve, x: Fraction) -> Fraction:
    """The drawn line there, without rounding."""
    xs, ys = ([Fraction(float(v)) for v in side] for side in curve)
    for (a, b), (p, q) in zip(pairwise(xs), pairwise(ys), strict=True):
        if a <= x <= b:
            return max(p, q) if a == b else p + (q - p) * (x - a) / (b - a)
    raise AssertionError(x)


@settings(deadline=None)
@given(epsilon=st.floats(0, 40), delta=st.floats(0, 1), x=st.fractions(0, 1, max_denominator=10**6))
def test_the_drawn_ceiling_is_never_below_the_promise(epsilon, delta, x) -> None:
    drawn = height(promised_curve(epsilon, delta), x)
    with localcontext() as context:
        context.prec = 60
        told = Decimal(drawn.numerator) / Decimal(drawn.denominator)
    true = most_found(epsilon, delta, x)
    assert told >= true
    assert told <= true + Decimal("1e-12")


@pytest.mark.parametrize("epsilon", [0, 1e-9, 0.5, 1, 5, 700, 1e6])
def test_the_ends_of_the_ceiling_hold_at_any_size(epsilon) -> None:
    x, y = promised_curve(epsilon)
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    if epsilon <= 5:
        other = ceiling(epsilon)  # found independently for pure promises
        assert np.allclose(other.at(x), y, atol=1e-12)


def test_a_fraction_is_rounded_up() -> None:
    third = Fraction(1, 3)
    assert promised_curve(third)[1][1] >= promised_curve(float(third))[1][1]


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(-1, 0), (float("inf"), 0), (float("nan"), 0), (1, -0.1), (1, 1.1)]
)
def test_what_is_no_promise_is_refused(epsilon, delta) -> None:
    with pytest.raises(ParameterError):
        promised_curve(epsilon, delta)


def attacked(source: Source, *, too_small: Fraction = Fraction(1), runs: int = MANY) -> Run:
    """The best test of one count, with noise as promised or smaller."""
    one = ItemAttack("Heat", Fraction(1), 1, (1,), (Fraction(1),))

    def noise(scales, shape, source):
        return discrete_laplace(scale=[s / too_small for s in scales], size=shape, source=source)

    return one.run(source, noise=noise, runs=runs)


def measured(run: Run) -> Measured:
    return Measured(
        name="the best test",
        false_rates=run.curve.false_rates,
        true_rates=run.curve.true_rates,
        negatives=run.runs,
        positives=run.runs,
    )


@pytest.mark.parametrize("seed", range(5))
def test_an_attack_on_noise_as_promised_passes(seed) -> None:
    curve = measured(attacked(Source.seeded(seed)))
    assert excess(curve, promised_curve(1)) <= 0
    assert failures([curve], promised_curve(1)) == []


@pytest.mark.parametrize("too_small", [Fraction(2), Fraction(5, 4)])
def test_an_attack_on_noise_that_is_too_small_fails(too_small) -> None:
    curve = measured(attacked(Source.seeded(1), too_small=too_small))
    (told,) = failures([curve], promised_curve(1))
    assert told.startswith("The best test finds more than the promise allows")
    assert "200,000 trials" in told


def at(share: float, cases: int) -> float:
    return round(share * cases) / cases


@pytest.mark.parametrize("cases", [1, 2, 200, 10_000])
def test_a_curve_at_the_ceiling_passes_and_one_planted_above_fails(cases) -> None:
    x, y = promised_curve(1)
    same = Measured(
        name="at it",
        false_rates=[at(v, cases) for v in x],
        true_rates=[at(v, cases) for v in y],
        negatives=cases,
        positives=cases,
    )
    assert excess(same, (x, y)) <= 0
    planted = Measured(
        name="planted",
        false_rates=[0, 0, 1],
        true_rates=[0, 1, 1],
        negatives=cases,
        positives=cases,
    )
    assert (excess(planted, (x, y)) > 0) is (cases >= 200)  # few trials prove nothing


def test_curves_at_the_ceiling_are_hardly_ever_called_above() -> None:
    """A bound of one in twenty for the whole curve holds over many tries of the best test."""
    found = 0
    for seed in range(300):
        curve = measured(attacked(Source.seeded(seed), runs=400))
        found += excess(curve, promised_curve(1), false_alarm=0.05) > 0
    assert found <= 15


def test_intervals_hold_their_rates() -> None:
    curve = measured(attacked(Source.seeded(2), runs=500))
    low, high = found_between(curve)
    assert ((low <= curve.rates[1]) & (curve.rates[1] <= high)).all()
    assert (low[0], high[-1]) == (0, 1)


@pytest.mark.parametrize("most", [2, 10, 200])
def test_thinned_points_are_of_the_curve_and_a_raised_ceiling_is_above_it(most) -> None:
    x = np.linspace(0, 1, 5001)
    curve = x, np.sqrt(x)
    kept = thinned(*curve, most=most)
    assert len(kept) <= most
    assert (kept[0], kept[-1]) == (0, 5000)
    above = raised(curve, most=most)
    assert len(above[0]) <= most + 1
    assert above[1].max() == 1
    assert (np.interp(x, *above) >= curve[1] - 1e-12).all()
    gap = np.interp(x, *above) - curve[1]
    assert gap.max() <= (0.6 if most == 2 else 2.5 / most)
    short = np.array([0, 0.5, 1]), np.array([0, 0.7, 1])
    assert all((a == b).all() for a, b in zip(raised(short), short, strict=True))


@pytest.mark.parametrize(
    "change",
    [
        {"negatives": 0},
        {"positives": 0},
        {"false_rates": [0, 1, 0.5]},
        {"true_rates": [0, 2, 3]},
        {"true_rates": [0, 1]},
        {"false_rates": [0.1, 0.5, 1]},
    ],
)
def test_what_is_no_curve_is_refused(change) -> None:
    fine = {"false_rates": [0, 0.5, 1], "true_rates": [0, 0.6, 1], "negatives": 9, "positives": 9}
    with pytest.raises(ParameterError):
        Measured(name="x", **(fine | change))
