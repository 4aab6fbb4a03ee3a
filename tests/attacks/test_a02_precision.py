"""A2, Haney et al. 2022: the lowest bits of float noise plus a float tell the input.

The attack counts outputs finer than some power of two, in memory and again in the text that leaves.
"""

import json
import math
from collections.abc import Callable

import numpy as np
import pytest

from reticent.mechanisms import SnappedLaplace
from reticent.noise import Source

OUTPUTS = 200_000
FINENESS = range(20, 75)
EPSILON = 1


def finer(values: np.ndarray, bits: int) -> float:
    """Share of values that are no multiple of 2^-bits."""
    steps = np.ldexp(values, bits)
    return float((steps != np.rint(steps)).mean())


def in_memory(values: np.ndarray) -> np.ndarray:
    return values


def by_repr(values: np.ndarray) -> np.ndarray:
    return np.array([float(text) for text in repr(values.tolist())[1:-1].split(",")])


def by_json(values: np.ndarray) -> np.ndarray:
    return np.array(json.loads(json.dumps(values.tolist())))


def snapped(x: float, seed: int) -> np.ndarray:
    mechanism = SnappedLaplace(
        epsilon=EPSILON, size=OUTPUTS, sensitivity=1, lower=0, upper=1, coordinates=1
    )
    return mechanism.release(np.full(OUTPUTS, x), Source.seeded(seed)).value


def excess(first: np.ndarray, second: np.ndarray) -> float:
    """By how many standard errors some fineness tells the inputs apart beyond exp(epsilon)."""
    worst, factor = -math.inf, math.exp(EPSILON)
    for bits in FINENESS:
        p, q = finer(first, bits), finer(second, bits)
        for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
            error = math.sqrt((a * (1 - a) + factor**2 * b * (1 - b)) / OUTPUTS) + 1e-9
            worst = max(worst, (a - factor * b) / error)
    return worst


@pytest.mark.parametrize("text", [in_memory, by_repr, by_json])
def test_no_output_is_finer_than_a_double_at_one(
    text: Callable[[np.ndarray], np.ndarray],
) -> None:
    shares = [finer(text(snapped(x, seed)), 53) for x, seed in ((0.0, 1), (1.0, 2))]
    assert shares == [0.0, 0.0], f"finer than 2^-53: {shares[0]:.2%} and {shares[1]:.2%}"


def test_text_and_memory_hold_the_same_numbers() -> None:
    values = snapped(0.3, 3)
    assert (by_repr(values) == values).all()
    assert (by_json(values) == values).all()


@pytest.mark.parametrize(("x", "other"), [(0.0, 1.0), (0.0, 2.0**-30), (1 / 3, 0.5)])
def test_no_fineness_tells_the_inputs_apart(x: float, other: float) -> None:
    found = excess(snapped(x, 4), snapped(other, 5))
    assert found < 6, f"some fineness is {found:.1f} standard errors beyond exp({EPSILON})"


def test_the_numpy_control_is_flagged() -> None:
    noise = np.random.default_rng(6).laplace(size=(2, OUTPUTS))
    at_zero, at_one = 0.0 + noise[0], 1.0 + noise[1]
    shares = [finer(values, 53) for values in (at_zero, at_one)]
    assert shares[0] > 0.2, f"only {shares[0]:.1%} of outputs from 0; about 27 % expected"
    assert shares[1] < 0.01, f"{shares[1]:.1%} of outputs from 1; none expected"
    through_text = finer(by_repr(at_zero), 53)
    assert through_text == shares[0], "text rounds the control, so the attack on text is blunt"
    found = excess(at_zero, at_one)
    assert found > 100, f"the control is only {found:.1f} standard errors beyond exp({EPSILON})"
