"""The paper's method finds what the others find, with the bounds to prove it."""

from itertools import pairwise

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.optim.distances import hamming, squared_euclidean
from reticent.optim.mapping import Problem, information
from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe
from reticent.optim.mapping_newton import solve_mapping
from reticent.optim.mapping_paper import solve_by_paper


def instance(n: int = 20, secrets: int = 2, delta: float = 0.08, seed: int = 0) -> Problem:
    rng = np.random.default_rng([n, secrets, seed])
    mass = rng.dirichlet(np.ones(n))
    posteriors = rng.dirichlet(np.full(secrets, 0.6), size=n)
    profiles = rng.integers(0, 3, size=(n, 4))
    return Problem.of((mass[:, None] * posteriors).T, hamming(profiles), delta)


@pytest.mark.parametrize(
    "secrets", [3, *(pytest.param(s, marks=pytest.mark.solvers) for s in (2, 5))]
)
def test_the_three_methods_agree_within_their_gaps(secrets) -> None:
    problem = instance(25, secrets)
    found = [
        solve_by_paper(problem, steps=60),
        solve_by_frank_wolfe(problem, relative_gap=5e-3),
        solve_mapping(problem, relative_gap=1e-3),
    ]
    assert max(each.bound for each in found) <= min(each.leak for each in found) + 1e-12
    assert found[0].relative_gap < 0.1  # a hundred steps are a few per cent, not more
    for each in found:
        assert each.distortion <= problem.delta * (1 + 1e-9)
        np.testing.assert_allclose(each.channel.dense().sum(axis=0), 1, rtol=1e-12)
        leak = information(each.channel.moments(problem.joint), problem.prior)
        assert each.leak == pytest.approx(leak, abs=1e-14)


def test_its_history_is_monotone() -> None:
    found = solve_by_paper(instance(15, 3), steps=30)
    leaks = [step.leak for step in found.history]
    assert all(after < before for before, after in pairwise(leaks))
    assert [step.bound for step in found.history] == sorted(step.bound for step in found.history)
    assert len(leaks) == 30


def test_the_secret_that_the_profile_gives_away() -> None:
    """At the identity the gradient is minus infinity (S2); the mixed start can go on."""
    joint = np.zeros((2, 16))
    joint[0, :8] = joint[1, 8:] = 1 / 16
    problem = Problem.of(joint, squared_euclidean(np.arange(16.0)[:, None]), 8.0)
    found = solve_by_paper(problem, steps=60)
    other = solve_mapping(problem)
    assert other.bound - 1e-12 <= found.leak <= 0.9 * problem.untouched
    assert found.bound <= other.leak + 1e-12


def test_limits_and_interrupts_leave_a_feasible_map() -> None:
    problem = instance(12)
    assert len(solve_by_paper(problem, seconds=0.0).history) == 1
    assert solve_by_paper(problem, relative_gap=0.3).relative_gap <= 0.3

    def stop(step) -> None:
        if step.leak < 0.9 * problem.untouched:
            raise KeyboardInterrupt

    stopped = solve_by_paper(problem, progress=stop)
    assert stopped.interrupted
    assert stopped.distortion <= problem.delta * (1 + 1e-9)
    assert stopped.bound <= stopped.leak < problem.untouched


def test_degenerate_inputs() -> None:
    for joint, profiles in ([[0.3, 0.7]], [[0], [1]]), ([[0.3], [0.7]], [[0]]):
        found = solve_by_paper(Problem.of(joint, hamming(profiles), 0.1))
        assert found.leak == pytest.approx(0, abs=1e-15)
    distinct = Problem.of([[0.4, 0.1], [0.1, 0.4]], hamming([[0], [1]]), 0)
    assert solve_by_paper(distinct).leak == distinct.untouched
    silent = Problem.of([[0.4, 0, 0.1], [0.1, 0, 0.4], [0, 0, 0]], hamming([[0], [1], [2]]), 0.2)
    found = solve_by_paper(silent, steps=20)
    assert found.bound <= found.leak < silent.untouched
    assert found.channel.dense()[1, 1] == 1


def test_large_alphabets_and_wrong_parameters_are_refused() -> None:
    line = squared_euclidean(np.arange(1001.0)[:, None])
    with pytest.raises(ParameterError, match="1000 profiles"):
        solve_by_paper(Problem.of(np.ones((2, 1001)), line, 1.0))
    for wrong in ({"mix": 0.0}, {"mix": 1.0}, {"steps": -1}, {"relative_gap": 2.0}):
        with pytest.raises(ParameterError):
            solve_by_paper(instance(4), **wrong)
