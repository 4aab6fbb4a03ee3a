"""The default solver against a general one, and on inputs that break solvers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.optim.distances import distance_matrix, hamming, squared_euclidean
from reticent.optim.mapping import Channel, Problem, information
from reticent.optim.mapping_baselines import perfect_privacy
from reticent.optim.mapping_newton import solve_mapping


def instance(n: int = 20, secrets: int = 2, delta: float = 0.08, seed: int = 0) -> Problem:
    rng = np.random.default_rng([n, secrets, seed])
    mass = rng.dirichlet(np.ones(n))
    posteriors = rng.dirichlet(np.full(secrets, 0.6), size=n)
    profiles = rng.integers(0, 3, size=(n, 4))
    return Problem.of((mass[:, None] * posteriors).T, hamming(profiles), delta)


def general(problem: Problem) -> float:
    """The least leak by an interior-point method on the exponential cone."""
    import cvxpy

    n, p = problem.distance.size, problem.profiles
    x = cvxpy.Variable((n, n), nonneg=True)  # [output, input]
    moments = x @ problem.joint.T
    independent = cvxpy.reshape(x @ p, (n, 1), order="F") @ problem.prior[None]
    far = cvxpy.sum(cvxpy.multiply(problem.distance.dense().T * p, x))
    goal = cvxpy.Minimize(cvxpy.sum(cvxpy.rel_entr(moments, independent)))
    program = cvxpy.Problem(goal, [cvxpy.sum(x, axis=0) == 1, far <= problem.delta])
    for tolerance in (1e-10, 1e-9, 1e-8, 1e-7):  # the tightest that it reaches
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an inaccurate end, looked at below
            least = program.solve(
                solver="CLARABEL", tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance
            )
        if program.status == "optimal":
            return float(least)
    raise AssertionError(program.status)  # it would prove nothing


def check(problem: Problem, found) -> None:
    """What must hold of every answer, however it was stopped."""
    assert found.distortion <= problem.delta * (1 + 1e-9)
    sums = np.bincount(found.channel.inputs, weights=found.channel.chances)
    np.testing.assert_allclose(sums, 1, rtol=1e-12)
    assert (found.channel.chances >= 0).all()
    leak = information(found.channel.moments(problem.joint), problem.prior)
    assert found.leak == pytest.approx(leak, abs=1e-13)
    assert 0 <= found.bound <= found.leak + 1e-13
    leaks, bounds = [step.leak for step in found.history], [step.bound for step in found.history]
    assert leaks == sorted(leaks, reverse=True)
    assert bounds == sorted(bounds)


CASES = [(n, secrets, delta) for n in (5, 20, 60) for secrets in (2, 3, 5) for delta in (0.03, 0.1)]


@pytest.mark.solvers
@pytest.mark.parametrize(("n", "secrets", "delta"), CASES)
def test_a_general_solver_finds_nothing_better(n, secrets, delta) -> None:
    problem = instance(n, secrets, delta)
    found, least = solve_mapping(problem), general(problem)
    check(problem, found)
    slack = 1e-6 * problem.untouched
    assert found.bound <= least + slack
    assert least - slack <= found.leak <= least + found.gap + slack


@pytest.mark.parametrize("secrets", [2, 3, 5])
def test_it_certifies_a_thousandth(secrets) -> None:
    problem = instance(60, secrets)
    found = solve_mapping(problem)
    check(problem, found)
    assert found.relative_gap <= 1e-3


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 12),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.02, 0.1, 0.5]),
    st.integers(0, 10**6),
)
def test_theorem_2_its_bound_is_below_every_feasible_map(n, secrets, delta, seed) -> None:
    problem = instance(n, secrets, delta, seed)
    check(problem, found := solve_mapping(problem))
    rng, far = np.random.default_rng(seed), problem.distance.dense()
    for _ in range(20):
        table = rng.dirichlet(np.full(n, 0.2), size=n).T  # [output, input]
        mean = float((far.T * table).sum(axis=0) @ problem.profiles)
        share = min(1.0, delta / mean) if mean > 0 else 1.0
        table = share * table + (1 - share) * np.eye(n)
        assert found.bound <= information(table @ problem.joint.T, problem.prior) + 1e-12


def test_the_history_is_monotone_and_a_warm_start_finds_the_same() -> None:
    first = solve_mapping(instance(40, delta=0.05))
    problem = instance(40, delta=0.07)
    cold, warm = solve_mapping(problem), solve_mapping(problem, start=first.state)
    check(problem, warm)
    assert abs(cold.leak - warm.leak) <= max(cold.gap, warm.gap) + 1e-12


def test_limits_and_interrupts_leave_a_feasible_map() -> None:
    problem = instance(40, 3)
    check(problem, rushed := solve_mapping(problem, relative_gap=0.0, seconds=0.0))
    assert len(rushed.history) == 1

    def stop(step) -> None:
        raise KeyboardInterrupt

    stopped = solve_mapping(problem, progress=stop)
    assert stopped.interrupted
    check(problem, stopped)


def test_one_secret_or_one_profile_has_nothing_to_leak() -> None:
    for joint, profiles in ([[0.3, 0.7]], [[0], [1]]), ([[0.3], [0.7]], [[0]]):
        found = solve_mapping(Problem.of(joint, hamming(profiles), 0.1))
        assert found.leak == pytest.approx(0, abs=1e-15)
        assert found.gap == pytest.approx(0, abs=1e-15)


def test_zero_delta_leaves_distinct_profiles_alone() -> None:
    problem = Problem.of([[0.4, 0.1], [0.1, 0.4]], hamming([[0], [1]]), 0)
    found = solve_mapping(problem)
    assert found.leak == pytest.approx(problem.untouched)
    assert found.distortion == 0


@pytest.mark.parametrize("secrets", [2, 3])
def test_beyond_perfect_privacy_nothing_leaks(secrets) -> None:
    least = perfect_privacy(instance(20, secrets)).distortion
    for factor in (1.05, 2.0, 10.0):
        problem = instance(20, secrets, factor * least)
        check(problem, found := solve_mapping(problem))
        assert found.leak <= 1e-3 * problem.untouched


def test_symbols_without_probability() -> None:
    base = instance(12, 2)
    joint = np.vstack([base.joint, np.zeros(12)])
    joint[:, [3, 7]] = 0
    problem = Problem.of(joint, base.distance, 0.1)
    check(problem, found := solve_mapping(problem))
    assert found.relative_gap <= 1e-3


def test_duplicated_profiles_are_one() -> None:
    single = instance(15, 2, 0.05)
    joint = np.concatenate([single.joint * 0.3, single.joint * 0.7], axis=1)
    far = np.tile(single.distance.dense(), (2, 2))
    double = Problem.of(joint, distance_matrix(far), 0.05)
    first, second = solve_mapping(single), solve_mapping(double)
    check(double, second)
    assert abs(first.leak - second.leak) <= max(first.gap, second.gap) + 1e-12


@pytest.mark.parametrize("delta", [1.0, 8.0, 30.0])
def test_a_secret_that_the_profile_gives_away(delta) -> None:
    joint = np.zeros((2, 32))
    joint[0, :16] = joint[1, 16:] = 1 / 32
    problem = Problem.of(joint, squared_euclidean(np.arange(32.0)[:, None]), delta)
    check(problem, found := solve_mapping(problem))
    assert found.relative_gap <= 1e-2


def test_the_channel_of_the_identity() -> None:
    channel = Channel.identity(4)
    np.testing.assert_array_equal(channel.dense(), np.eye(4))
    assert channel.support.tolist() == [1] * 4
    assert (channel.distances(hamming([[0], [1], [2], [3]])) == 0).all()
