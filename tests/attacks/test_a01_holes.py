"""A1, Mironov 2012: float noise has holes, so an output can exclude one of two neighbours.

The attack asks of every output whether it can be reached from the other input at all. An output
that cannot gives the input away, whatever epsilon was claimed.
"""

from fractions import Fraction

import numpy as np
import pytest

from reticent.mechanisms import SnappedLaplace
from reticent.noise import Source

OUTPUTS = 10**6
MECHANISMS = [
    {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 1},
    {"epsilon": "0.1", "sensitivity": "0.3", "lower": "-1/3", "upper": 1000},
    {"epsilon": 20, "sensitivity": 1, "lower": -(2**40), "upper": 2**40},
]


def released(
    parameters: dict[str, object], x: float, seed: int
) -> tuple[SnappedLaplace, np.ndarray]:
    mechanism = SnappedLaplace(size=OUTPUTS, coordinates=1, **parameters)
    return mechanism, mechanism.release(np.full(OUTPUTS, x), Source.seeded(seed)).value


def grid_points(mechanism: SnappedLaplace, values: np.ndarray) -> np.ndarray:
    """Which values are k * 2^g for an integer k that noise can reach from any point in bounds."""
    units = np.ldexp(values, -mechanism.grid.exponent)  # exact: a power of two
    return (units == np.rint(units)) & (np.abs(units) < 2.0**62)


@pytest.mark.parametrize("parameters", MECHANISMS)
@pytest.mark.parametrize("x", [0.0, 1.0, 0.1 + 0.2])
def test_every_output_is_reachable_from_every_input(
    parameters: dict[str, object], x: float
) -> None:
    mechanism, values = released(parameters, x, seed=1)
    exceptions = int((~grid_points(mechanism, values)).sum())
    assert exceptions == 0, f"{exceptions} of {OUTPUTS} outputs are off the grid"


def test_the_noise_that_joins_two_inputs_to_one_output_is_an_integer() -> None:
    """Spelled out in exact arithmetic for the first outputs: k steps from x, j steps from x'."""
    mechanism, values = released(MECHANISMS[0], 0.1 + 0.2, seed=2)
    bounds = {"lower": Fraction(0), "upper": Fraction(1)}
    inputs = mechanism.grid.quantise(np.array([0.0, 0.1 + 0.2, 1.0, 5e-324, 1 / 3]), **bounds)
    for value in values[:2000].tolist():
        noise = [Fraction(value) / mechanism.grid.step - start for start in inputs.tolist()]
        assert all(steps.denominator == 1 for steps in noise)


# The control: NumPy's formula, noise -ln of a multiple of 2^-53, added to a float


def float_laplace(x: float, k: np.ndarray) -> np.ndarray:
    u = k * 2.0**-53
    return np.where(k < 2**52, x + np.log(2 * u), x - np.log(2 - 2 * u))


def reachable(outputs: np.ndarray, x: float) -> np.ndarray:
    """Whether some U gives each output from x, by trying every U near the one that should."""
    lower = outputs < x
    small = np.exp(-np.abs(outputs - x)) * 2.0**52
    guess = np.rint(np.where(lower, small, 2.0**53 - small)).astype(np.int64)
    found = np.zeros(outputs.size, dtype=bool)
    for offset in range(-8, 9):
        k = np.clip(guess + offset, 1, 2**53 - 1)
        found |= float_laplace(x, k) == outputs
    return found


def test_the_float_control_has_holes() -> None:
    k = (Source.seeded(3).long_words(100_000) >> np.uint64(11)).astype(np.int64)
    outputs = float_laplace(0.0, np.maximum(k, 1))
    own, other = reachable(outputs, 0.0).mean(), reachable(outputs, 1.0).mean()
    assert own == 1, f"the search misses preimages: {own:.3f}"
    assert other < 0.5, f"{other:.1%} of outputs from 0 are reachable from 1; about 18 % expected"


def test_the_control_is_what_numpy_does() -> None:
    uniform, laplace = np.random.default_rng(4), np.random.default_rng(4)
    k = (uniform.random(1000) * 2.0**53).astype(np.int64)
    assert np.allclose(laplace.laplace(size=1000), float_laplace(0.0, k), rtol=1e-12, atol=1e-15)
