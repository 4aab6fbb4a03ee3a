"""Integers and decimals are read exactly: inputs one apart end one apart, however large."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from reticent.mechanisms import Exponential, SnappedLaplace
from reticent.mechanisms.reading import read_exact, read_integers, read_reals
from reticent.noise import Grid, Source

BIG = 1 << 59
BOUNDS = {"lower": Fraction(0), "upper": Fraction(1 << 60)}
MECHANISM = SnappedLaplace(epsilon=1, size=1, sensitivity=1, lower=0, upper=1 << 60)
KINDS = {
    "int64": lambda n: np.array([n]),
    "uint64": lambda n: np.array([n], dtype=np.uint64),
    "a list": lambda n: [n],
    "objects": lambda n: np.array([n], dtype=object),
    "fractions": lambda n: [Fraction(n)],
    "decimals": lambda n: [Decimal(n)],
    "text": lambda n: [f" {n} "],
    "bytes": lambda n: [str(n).encode()],
}


def steps(read, kind: str, number: int) -> int:
    return int(MECHANISM.grid.quantise(read(KINDS[kind](number), 1), **BOUNDS)[0])


def farthest(read, kind: str) -> int:
    """How many steps inputs that are 1 apart end apart at most, around 2**59."""
    found = [steps(read, kind, BIG + k) for k in range(60, 70)]
    return max(abs(a - b) for a, b in pairwise(found))


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_one_apart_end_as_far_apart_as_the_noise_pays_for(kind: str) -> None:
    assert farthest(read_exact, kind) <= MECHANISM.widened / MECHANISM.grid.step
    assert steps(read_exact, kind, BIG + 65) == BIG + 65


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_read_exactly_too(kind: str) -> None:
    assert read_integers(KINDS[kind](BIG + 65), 1).tolist() == [BIG + 65]


@pytest.mark.parametrize("kind", KINDS)
def test_the_check_sees_what_floats_do(kind: str) -> None:
    """The control: through floats two inputs 1 apart end 128 steps apart."""
    assert farthest(read_reals, kind) == 128


def test_a_release_of_large_integers_loses_no_more_than_it_says() -> None:
    drawn = [
        np.mean([MECHANISM.release([BIG + k], source).value[0] - 2.0**59 > 64 for _ in range(400)])
        for source in (Source.seeded(1),)
        for k in (64, 65)
    ]
    assert abs(drawn[0] - drawn[1]) < 0.6  # read through floats it is 0.98


@pytest.mark.parametrize("exponent", [-70, -61, -40, -1, 0, 1, 2, 5, 40, 62, 63, 64, 70, 200])
def test_integers_of_every_size_on_every_grid(exponent: int) -> None:
    grid = Grid(exponent)
    bound = (1 << 61) * grid.step
    edges = [0, 1, 2, 3, 5, 1 << 20, (1 << 53) + 1, (1 << 61) + 1, (1 << 62) - 1, (1 << 63) - 1]
    numbers = [*edges, *(-n for n in edges), -(1 << 63)]
    units = grid.quantise(np.array(numbers), lower=-bound, upper=bound).tolist()
    for number, unit in zip(numbers, units, strict=True):
        clamped = min(max(Fraction(number), -bound), bound)
        assert abs(unit * grid.step - clamped) <= grid.step / 2, number
    one_by_one = grid.quantise(np.array(numbers, dtype=object), lower=-bound, upper=bound)
    for number, unit in zip(numbers, one_by_one.tolist(), strict=True):
        clamped = min(max(Fraction(number), -bound), bound)
        assert abs(unit * grid.step - clamped) <= grid.step / 2, number


ODD = [
    None, math.nan, Decimal("sNaN"), "sNaN", "much", "", [1], np.nan, Decimal("nan"), "nan",
    b"\xff", object(), complex(1),
    float("-inf"), "-inf", Decimal("-Infinity"), -(10**5000), "-1e999999999", Decimal("-1e5000"),
]  # fmt: skip
LARGE = [math.inf, "inf", 10**5000, "1e999999999", Decimal("1e5000"), "9" * 5000]


@pytest.mark.parametrize("value", ODD, ids=map(str, range(len(ODD))))
def test_what_is_no_number_or_too_small_counts_as_the_lower_bound(value) -> None:
    units = MECHANISM.grid.quantise(read_exact([value], 1), **BOUNDS)
    assert units.tolist() == [0]


@pytest.mark.parametrize("value", LARGE, ids=map(str, range(len(LARGE))))
def test_what_is_too_large_is_clamped(value) -> None:
    units = MECHANISM.grid.quantise(read_exact([value], 1), **BOUNDS)
    assert units.tolist() == [1 << 60]


def test_floats_are_read_as_before() -> None:
    values = np.array([0.1, -3.0, 2.5e17, math.nan, math.inf, -math.inf])
    both = (
        MECHANISM.grid.quantise(read(given, 6), **BOUNDS).tolist()
        for read, given in ((read_exact, values), (read_exact, values.tolist()))
    )
    first, second = both
    assert first == second == MECHANISM.grid.quantise(values, **BOUNDS).tolist()


def test_scores_of_large_integers_are_told_apart() -> None:
    fine = Exponential(epsilon=2, candidates=2, sensitivity=1).grid.step
    grid = Exponential(epsilon=2, candidates=2, sensitivity=1 / fine).grid
    assert grid.step == 1
    bound = Fraction(1 << 60)
    units = grid.quantise(read_exact([BIG + 64, BIG + 65], 2), lower=-bound, upper=bound)
    assert units.tolist() == [BIG + 64, BIG + 65]
