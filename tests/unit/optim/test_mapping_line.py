"""Profiles on a line: few outputs are enough, and the bound is one against all of them."""

from functools import cache

import numpy as np
import pytest

from reticent.optim.distances import hamming, squared_euclidean
from reticent.optim.mapping import Problem, Solution, information
from reticent.optim.mapping_line import first_grid, grid_at, on_a_line
from reticent.optim.mapping_newton import solve_mapping


def halves(size: int, delta: float) -> Problem:
    """The paper's example: which half a number is in is the secret."""
    joint = np.zeros((2, size))
    joint[0, : size // 2] = joint[1, size // 2 :] = 1
    return Problem.of(joint, squared_euclidean(np.arange(1.0, size + 1)[:, None]), delta)


@cache
def solved(size: int, delta: float) -> Solution:
    return solve_mapping(halves(size, delta))


def test_numbers_are_on_a_line_and_words_are_not() -> None:
    assert on_a_line(halves(2048, 10))
    assert not on_a_line(halves(512, 10))
    words = hamming(np.arange(1024)[:, None] >> np.arange(10) & 1)
    assert not on_a_line(Problem.of(np.ones((2, 1024)), words, 0.1))


def test_a_grid_keeps_one_profile_of_every_cell() -> None:
    grid = first_grid(halves(4096, 10))
    assert 500 <= len(grid.kept) <= 520
    assert np.diff(grid.points[grid.kept]).max() <= 10
    line = 2.0 * grid.points[:, None] + 1
    inner = slice(grid.kept[0], grid.kept[-1] + 1)
    assert np.allclose(grid.between(line[grid.kept])[inner], line[inner])
    coarse = grid.coarse(halves(4096, 10))
    assert coarse.joint.sum() == pytest.approx(1)
    assert coarse.untouched <= halves(4096, 10).untouched + 1e-12


def test_a_high_price_needs_all_outputs() -> None:
    assert grid_at(halves(2048, 10), 1e-6) is not None
    assert grid_at(halves(2048, 10), 10.0) is None


@pytest.mark.parametrize("delta", [1024.0, 1024.0**2 / 64])
def test_the_example_of_the_paper_is_solved_with_a_certificate(delta: float) -> None:
    """At 256 numbers all outputs are used; at 1024, four times as fine, the answer is the same."""
    fine = solved(1024, delta)
    assert fine.relative_gap <= 1e-3
    assert fine.distortion <= delta
    coarse = solve_mapping(halves(256, delta / 16))
    assert fine.leak == pytest.approx(coarse.leak, abs=3e-3)
    problem = halves(1024, delta)
    assert information(fine.channel.moments(problem.joint), problem.prior) == fine.leak


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30])
def test_units_do_not_matter(scale) -> None:
    """Distances may be of any size that floats hold."""
    plain = halves(120, 80.0)
    moved = squared_euclidean(plain.distance.points * scale)
    problem = Problem.of(plain.joint, moved, 80.0 * scale**2)
    found = solve_mapping(problem)
    assert found.relative_gap <= 1e-3
    assert (found.channel.support > 0).all()
    assert found.leak == pytest.approx(solved(120, 80.0).leak, rel=2e-3)
    assert found.distortion <= problem.delta * (1 + 1e-9)


def test_any_delta_is_allowed() -> None:
    assert solve_mapping(halves(60, 1e300)).leak < 1e-3


def test_order_does_not_matter() -> None:
    problem = halves(1024, 1024.0)
    order = np.random.default_rng(0).permutation(1024)
    mixed = Problem.of(
        problem.joint[:, order], squared_euclidean(problem.distance.points[order]), 1024.0
    )
    found = solve_mapping(mixed)
    assert found.relative_gap <= 1e-3
    leak = information(found.channel.moments(mixed.joint), mixed.prior)
    assert found.leak == pytest.approx(leak, abs=1e-14)
    assert found.leak == pytest.approx(solved(1024, 1024.0).leak, rel=3e-3)
