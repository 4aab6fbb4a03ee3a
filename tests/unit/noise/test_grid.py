"""The grid: rounding never widens a distance by more than a step, and nothing falls off it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.noise import Grid, Source, discrete_laplace, snapped_laplace

doubles = st.floats(allow_nan=True, allow_infinity=True)
poison = [math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 2**53 - 1, 2**53 + 1.0, 1.8e308]


def quantised(grid: Grid, values: list[float], lower: Fraction, upper: Fraction) -> list[int]:
    return grid.quantise(np.array(values, dtype=float), lower=lower, upper=upper).tolist()


# The grid itself


@pytest.mark.parametrize("exponent", [-900, -40, 0, 7, 900])
def test_the_step_is_a_power_of_two(exponent: int) -> None:
    assert Grid(exponent).step == Fraction(2) ** exponent


@pytest.mark.parametrize("exponent", [-901, 901, 1.0, "0", None, True])
def test_bad_exponents_are_refused(exponent: object) -> None:
    with pytest.raises(ParameterError, match="^exponent must be an integer from -900 to 900, got"):
        Grid(exponent)  # type: ignore[arg-type]


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9), st.integers(0, 60))
@example(Fraction(1), 0)
@example(Fraction(1, 2), 20)
@example(Fraction(2**53 + 1), 40)
def test_finer_than_is_the_coarsest_that_is_fine_enough(length: Fraction, bits: int) -> None:
    grid = Grid.finer_than(length, bits=bits)
    assert grid.step <= length / 2**bits < 2 * grid.step


def test_no_length_no_grid() -> None:
    with pytest.raises(ParameterError, match="^length must be positive, got"):
        Grid.finer_than(Fraction(0), bits=3)


@given(
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
    st.fractions(min_value=0, max_value=10**15),
)
def test_the_grid_for_a_scale_holds_values_and_is_fine(scale: Fraction, largest: Fraction) -> None:
    grid = Grid.for_scale(scale, largest)
    assert largest / grid.step < 2**61
    fine = grid.step <= scale / 2**40
    assert fine or largest / grid.step >= 2**60, "coarser than the values need"
    assert abs(quantised(grid, [math.inf], -largest, largest)[0]) <= 2**61


def test_widening_pays_for_each_coordinate() -> None:
    assert Grid(-3).widen(Fraction(2), 5) == 2 + Fraction(5, 8)


# Rounding


@settings(max_examples=80, deadline=None)
@given(
    st.lists(doubles, min_size=1, max_size=20),
    st.fractions(min_value=-1000, max_value=0),
    st.fractions(min_value=2, max_value=1000),
    st.integers(-50, 0),
)
@example(poison, Fraction(-1, 3), Fraction(1, 3), -40)
@example(poison, Fraction(-(2**53)), Fraction(2**53), 0)
def test_quantised_values_are_the_nearest_in_bounds(
    values: list[float], lower: Fraction, upper: Fraction, exponent: int
) -> None:
    grid = Grid(exponent)
    least, most = math.ceil(lower / grid.step), math.floor(upper / grid.step)
    for value, units in zip(values, quantised(grid, values, lower, upper), strict=True):
        known = -math.inf if math.isnan(value) else value
        clamped = Fraction(min(max(known, float(lower)), float(upper)))
        assert units == min(max(round(clamped / grid.step), least), most)  # ties to even


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.floats(-1000, 1000), min_size=2, max_size=2),
    st.integers(-45, 8),
)
@example([0.5, 0.5 + 2**-53], -1)
@example([5e-324, -5e-324], -40)
@example([0.1 + 0.2, 0.3], -45)
@example([1000.0, -1000.0], -3)
def test_rounding_widens_a_distance_by_at_most_a_step(pair: list[float], exponent: int) -> None:
    grid = Grid(exponent)
    a, b = quantised(grid, pair, Fraction(-1000), Fraction(1000))
    distance = abs(Fraction(pair[0]) - Fraction(pair[1]))
    assert abs(a - b) * grid.step <= grid.widen(distance, 1)


def test_the_step_of_widening_is_needed() -> None:
    a, b = quantised(Grid(0), [1.49999, 1.50001], Fraction(0), Fraction(10))
    assert b - a == 1  # the control: without widening this would exceed the distance


def test_the_widened_sensitivity_holds_for_many_neighbours() -> None:
    rng = np.random.default_rng(0)
    near = rng.uniform(-100, 100, 30_000)
    far = near + rng.uniform(-1, 1, near.size)
    special = np.array([100.0, -100.0, 5e-324, 2.0**-1022, 0.5, 1.5, -0.0])
    near[: special.size], far[: special.size] = special, special - 0.75
    grid = Grid(-10)
    bounds = {"lower": Fraction(-100), "upper": Fraction(100)}
    moved = np.abs(grid.quantise(near, **bounds) - grid.quantise(far, **bounds)).tolist()
    apart = [
        abs(Fraction(a) - Fraction(b)) for a, b in zip(near.tolist(), far.tolist(), strict=True)
    ]
    pairs = list(zip(moved, apart, strict=True))
    assert all(steps * grid.step <= grid.widen(distance, 1) for steps, distance in pairs)
    excess = sum(steps * grid.step > distance for steps, distance in pairs)
    assert excess > 1000, "the control: without widening these neighbours would be too far apart"


def test_poison_values_are_clamped_and_never_raise() -> None:
    units = quantised(Grid(-2), poison, Fraction(-5), Fraction(7))
    assert units == [-20, 28, -20, 0, 0, 0, 28, 28, 28]


def test_nan_counts_as_the_lower_bound_even_when_it_is_no_float() -> None:
    lower = Fraction(1, 3)
    assert (
        quantised(Grid(-40), [math.nan, 0.0], lower, Fraction(1)) == [math.ceil(lower * 2**40)] * 2
    )


def test_bounds_between_grid_points_are_kept() -> None:
    units = quantised(Grid(0), [-9.0, 9.0], Fraction(-5, 2), Fraction(5, 2))
    assert units == [-2, 2]  # rounding alone would give -2 and 2 or leave the bounds


@pytest.mark.parametrize("exponent", [0, 900, -900])
def test_the_widest_bounds(exponent: int) -> None:
    grid = Grid(exponent)
    most = 2**61 * grid.step
    assert quantised(grid, [math.inf, -math.inf], -most, most) == [2**61, -(2**61)]
    edge = 2**53 + 1
    assert quantised(grid, [float(edge * grid.step)], -most, most) == [2**53]


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (Fraction(1, 3), Fraction(2, 3)),  # no grid point in between
        (Fraction(-(2**62)), Fraction(0)),
        (Fraction(0), Fraction(2**62)),
    ],
)
def test_bounds_that_hold_nothing_are_refused(lower: Fraction, upper: Fraction) -> None:
    with pytest.raises(ParameterError, match="^bounds must be wide enough"):
        Grid(0).quantise(np.zeros(2), lower=lower, upper=upper)


def test_shapes_are_kept() -> None:
    for shape in [(), (0,), (3,), (2, 5)]:
        units = Grid(0).quantise(np.ones(shape), lower=Fraction(0), upper=Fraction(2))
        assert units.shape == shape
        assert units.dtype == np.int64


@given(st.integers(-(2**53), 2**53), st.integers(-900, 900))
def test_grid_points_as_floats_are_exact(units: int, exponent: int) -> None:
    grid = Grid(exponent)
    value = grid.values(np.array([units]))
    assert Fraction(float(value[0])) == units * grid.step


# Noise on the grid


@pytest.mark.parametrize("exponent", [-40, -3, 0, 5])
def test_snapped_values_are_grid_points(exponent: int) -> None:
    grid = Grid(exponent)
    units = np.arange(-500, 500)
    drawn = snapped_laplace(units, scale=Fraction(3), grid=grid, source=Source.seeded(1))
    assert drawn.dtype == np.float64
    assert drawn.shape == units.shape
    steps = drawn * 2.0**-exponent
    assert (steps == np.rint(steps)).all()


def test_snapped_noise_is_discrete_noise_on_the_grid() -> None:
    grid, units = Grid(-4), np.array([5, -7, 0])
    drawn = snapped_laplace(units, scale=Fraction(3, 2), grid=grid, source=Source.seeded(2))
    noise = discrete_laplace(scale=Fraction(24), size=3, source=Source.seeded(2))
    assert (drawn == (units + noise) / 16).all()


def test_snapped_noise_has_the_scale_asked_for() -> None:
    grid = Grid.for_scale(Fraction(5, 2), Fraction(100))
    drawn = snapped_laplace(
        np.zeros(200_000, dtype=np.int64), scale=Fraction(5, 2), grid=grid, source=Source.seeded(3)
    )
    assert np.abs(drawn).mean() == pytest.approx(2.5, rel=0.02)
    assert np.median(np.abs(drawn)) == pytest.approx(2.5 * math.log(2), rel=0.02)


def test_the_largest_values_and_noise_fit_64_bits() -> None:
    grid = Grid(0)
    units = np.array([2**61, -(2**61)])
    for seed in range(50):
        drawn = snapped_laplace(units, scale=Fraction(2**50), grid=grid, source=Source.seeded(seed))
        assert np.sign(drawn).tolist() == [1, -1]
