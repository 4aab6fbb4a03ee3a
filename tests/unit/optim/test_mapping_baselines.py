"""The mappings to compare with, against their definitions written out."""

import math

import numpy as np
import pytest

from reticent.errors import ParameterError
from reticent.optim import mapping_baselines
from reticent.optim.distances import hamming, squared_euclidean
from reticent.optim.mapping import Channel, Problem, information
from reticent.optim.mapping_baselines import (
    channel_epsilon,
    exponential_at,
    exponential_channel,
    perfect_privacy,
    randomised_response,
)
from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe


def instance(n: int = 20, secrets: int = 2, seed: int = 0) -> Problem:
    rng = np.random.default_rng([n, secrets, seed])
    mass = rng.dirichlet(np.ones(n))
    posteriors = rng.dirichlet(np.full(secrets, 0.6), size=n)
    profiles = rng.permutation(list(np.ndindex(3, 3, 3, 3)))[:n]
    return Problem.of((mass[:, None] * posteriors).T, hamming(profiles), 0.1)


def checked(problem: Problem, found) -> np.ndarray:
    """X [output, input], after its figures were recomputed from it."""
    table = found.channel.dense()
    np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)
    far = float((problem.distance.dense().T * table).sum(axis=0) @ problem.profiles)
    assert found.distortion == pytest.approx(far, rel=1e-12)
    leak = information(table @ problem.joint.T, problem.prior)
    assert found.leak == pytest.approx(leak, abs=1e-14)
    with np.errstate(divide="ignore"):
        logs = np.log(table[table.any(axis=1)])
    worst = float((logs.max(axis=1) - logs.min(axis=1)).max())
    assert found.epsilon == pytest.approx(worst, rel=1e-9, abs=1e-12)
    assert channel_epsilon(found.channel) == pytest.approx(worst, rel=1e-9, abs=1e-12)
    return table


@pytest.mark.parametrize("beta", [0.0, 0.5, 3.0, 20.0])
def test_the_exponential_mechanism_is_its_formula(beta, monkeypatch) -> None:
    problem = instance()
    monkeypatch.setattr(mapping_baselines, "_BLOCK", 100)  # several blocks
    found = exponential_channel(problem, beta)
    table = checked(problem, found)
    weights = np.exp(-beta * problem.distance.dense())
    np.testing.assert_allclose(table, (weights / weights.sum(axis=1, keepdims=True)).T, rtol=1e-12)
    assert found.epsilon <= 2 * beta * problem.distance.dense().max() + 1e-12


def test_it_is_found_by_distortion() -> None:
    problem = instance()
    for limit in (0.0, 0.01, 0.1, 0.4):
        found = exponential_at(problem, distortion=limit)
        assert found.distortion <= limit
        assert limit == 0 or found.distortion == pytest.approx(limit, rel=1e-9)
    assert exponential_at(problem, distortion=1.0).parameter == 0


def test_it_is_found_by_leak() -> None:
    problem = instance()
    for share in (0.05, 0.3, 0.9):
        found = exponential_at(problem, leak=share * problem.untouched)
        assert found.leak <= share * problem.untouched
        assert found.leak == pytest.approx(share * problem.untouched, rel=1e-6)
    assert exponential_at(problem, leak=0.0).parameter < 1e-4
    assert exponential_at(problem, leak=9.0).leak == pytest.approx(problem.untouched, rel=1e-6)


def test_a_mapping_made_for_the_law_leaks_less() -> None:
    problem = instance()
    blind = exponential_at(problem, distortion=problem.delta)
    assert solve_by_frank_wolfe(problem, relative_gap=0.01).leak < 0.7 * blind.leak


@pytest.mark.parametrize("keep", [0.0, 1 / 20, 0.5, 0.9, 1.0])
def test_randomised_response(keep) -> None:
    problem = instance()
    found = randomised_response(problem, keep)
    table = checked(problem, found)
    assert table[3, 3] == pytest.approx(keep)
    if 0 < keep < 1:
        assert found.epsilon == pytest.approx(abs(math.log(keep * 19 / (1 - keep))), abs=1e-12)
    if keep == 1 / 20:
        assert found.leak == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    "secrets", [2, *(pytest.param(s, marks=pytest.mark.solvers) for s in (3, 5))]
)
def test_perfect_privacy_leaks_nothing_and_less_distortion_leaks(secrets) -> None:
    problem = instance(15, secrets)
    found = perfect_privacy(problem)
    checked(problem, found)
    assert found.leak < 1e-10
    for factor, private in ((1.001, True), (0.9, False)):
        at = Problem.of(problem.joint, problem.distance, factor * found.distortion)
        solved = solve_by_frank_wolfe(at, relative_gap=1e-3, steps=3000)
        assert (solved.bound > 0) != private
        assert not private or solved.leak <= 3e-3 * problem.untouched


def test_perfect_privacy_by_hand() -> None:
    """Two profiles that give the secret away: everybody must be released alike."""
    problem = Problem.of([[0.5, 0], [0, 0.5]], hamming([[0], [1]]), 0.1)
    assert perfect_privacy(problem).distortion == pytest.approx(0.5)
    independent = Problem.of([[0.2, 0.3], [0.2, 0.3]], hamming([[0], [1]]), 0.1)
    assert perfect_privacy(independent).distortion == pytest.approx(0)
    silent = Problem.of([[0.5, 0, 0.2], [0.3, 0, 0], [0, 0, 0]], hamming([[0], [1], [2]]), 0.1)
    assert perfect_privacy(silent).leak < 1e-12
    assert perfect_privacy(Problem.of([[1.0], [2.0]], hamming([[0]]), 0.1)).distortion == 0


def test_supports_that_differ_have_no_worst_case() -> None:
    assert channel_epsilon(Channel.identity(3)) == math.inf
    assert channel_epsilon(Channel.identity(1)) == 0
    everything = Channel(np.arange(4), np.zeros(3, dtype=np.int64), np.ones(3))
    assert channel_epsilon(everything) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda p: exponential_channel(p, -1.0),
        lambda p: exponential_channel(p, math.inf),
        lambda p: exponential_at(p),
        lambda p: exponential_at(p, distortion=0.1, leak=0.1),
        lambda p: exponential_at(p, distortion=-0.1),
        lambda p: exponential_at(p, leak=-0.1),
        lambda p: randomised_response(p, 1.1),
    ],
)
def test_parameters_are_checked(make) -> None:
    with pytest.raises(ParameterError):
        make(instance(4))


def test_perfect_privacy_says_what_is_too_large() -> None:
    line = squared_euclidean(np.arange(601.0)[:, None])
    with pytest.raises(ParameterError, match="600 profiles"):
        perfect_privacy(Problem.of(np.ones((2, 601)), line, 1.0))
