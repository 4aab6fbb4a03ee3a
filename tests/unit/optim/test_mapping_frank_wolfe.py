"""The gradient, the linear step and the certificate, each against something independent of it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from reticent.errors import ParameterError
from reticent.optim import mapping_prices
from reticent.optim.distances import distance_matrix, hamming
from reticent.optim.linear_step import Choice, linear_step
from reticent.optim.mapping import Channel, Problem, information
from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe
from reticent.optim.mapping_prices import Prices, gradient


def instance(n: int = 20, secrets: int = 2, delta: float = 0.08, seed: int = 0) -> Problem:
    rng = np.random.default_rng([n, secrets, seed])
    mass = rng.dirichlet(np.ones(n))
    posteriors = rng.dirichlet(np.full(secrets, 0.6), size=n)
    profiles = rng.integers(0, 3, size=(n, 4))
    return Problem.of((mass[:, None] * posteriors).T, hamming(profiles), delta)


def of_table(table: np.ndarray) -> Channel:
    """From [output, input]."""
    size = len(table)
    return Channel(np.arange(size + 1) * size, np.tile(np.arange(size), size), table.T.ravel())


def leak_of(problem: Problem, table: np.ndarray) -> float:
    return information(table @ problem.joint.T, problem.prior)


@pytest.mark.parametrize("secrets", [2, 3, 5])
def test_theorem_1_the_gradient_is_that_of_finite_differences(secrets) -> None:
    problem = instance(8, secrets)
    table = np.random.default_rng(1).dirichlet(np.ones(8), size=8).T
    found, step = gradient(problem, of_table(table)), 1e-6
    for i, j in np.ndindex(8, 8):
        up, down = table.copy(), table.copy()
        up[i, j] += step
        down[i, j] -= step
        difference = (leak_of(problem, up) - leak_of(problem, down)) / (2 * step)
        assert abs(difference - found[i, j]) < 1e-8
    assert abs((found * table).sum() - leak_of(problem, table)) < 1e-14  # homogeneous, degree 1


def test_control_the_printed_gradient_is_caught() -> None:
    problem, rng = instance(5, 3), np.random.default_rng(1)
    table = rng.dirichlet(np.ones(5), size=5).T
    moments, mass = table @ problem.joint.T, (table @ problem.joint.T).sum(axis=1)
    i, j = 1, 2
    given_secret = moments[i] / problem.prior
    second = moments[i] * (
        problem.joint[:, j] / problem.prior / given_secret - problem.joint[:, j] / mass[i]
    )
    assert abs(second.sum()) > 1e-3


def test_theorem_1_an_unused_output_has_the_one_sided_derivative() -> None:
    problem = instance(6, 3)
    table = np.eye(6)
    table[:, 4] = table[:, 0]  # nothing becomes 4
    found, step = gradient(problem, of_table(table)), 1e-7
    for j in range(6):
        moved = table.copy()
        moved[4, j] += step
        difference = (leak_of(problem, moved) - leak_of(problem, table)) / step
        assert abs(difference - found[4, j]) < 1e-6


def cheapest_of(costs: np.ndarray, far: np.ndarray):
    def price(rows, lam):
        outs = (costs[rows] + lam * far[rows]).argmin(axis=1)
        return Choice(outs, costs[rows, outs], far[rows, outs])

    return price


def highs(costs: np.ndarray, far: np.ndarray, mass: np.ndarray, delta: float) -> float:
    n, m = costs.shape
    columns = np.kron(np.eye(n), np.ones(m))
    weights = mass[:, None]
    found = linprog(
        (weights * costs).ravel(),
        A_ub=(weights * far).reshape(1, -1),
        b_ub=[delta],
        A_eq=columns,
        b_eq=np.ones(n),
        method="highs",
    )
    return float(found.fun)


def random_program(rng: np.random.Generator):
    n = int(rng.integers(1, 9))
    costs = rng.normal(size=(n, n)) * 10 ** rng.uniform(-2, 2)
    far = rng.integers(0, 5, (n, n)) / 4 if rng.random() < 0.5 else rng.random((n, n))
    if rng.random() < 0.3:
        costs = costs.round(1)  # ties
    np.fill_diagonal(far, 0.0)
    delta = float(rng.choice([0.0, 0.01, 0.1, 0.3, 2.0]) * rng.choice([1, rng.random()]))
    return costs, far, rng.dirichlet(np.ones(n)), delta, float(rng.choice([0, 0.1, 5, 1e3]))


@pytest.mark.parametrize("times", [150, pytest.param(1000, marks=pytest.mark.solvers)])
def test_theorem_4_the_linear_step_is_the_optimum_of_highs(times) -> None:
    rng, split = np.random.default_rng(4), 0
    for _ in range(times):
        costs, far, mass, delta, guess = random_program(rng)
        each = np.arange(len(mass))
        stay = Choice(each, costs[each, each], np.zeros(len(mass)))
        step = linear_step(cheapest_of(costs, far), mass, stay, delta, guess=guess)
        scale = np.abs(costs).max()
        expected = highs(costs, far, mass, delta)
        assert abs(step.value - expected) <= 1e-9 * scale
        assert abs(step.bound - expected) <= 1e-9 * scale
        inputs, outs, chances = step.entries()
        assert abs(mass[inputs] @ (chances * costs[inputs, outs]) - step.value) <= 1e-12 * scale
        assert mass[inputs] @ (chances * far[inputs, outs]) <= delta * (1 + 1e-12) + 1e-16
        assert len(inputs) <= len(mass) + 1
        assert (chances >= 0).all()
        np.testing.assert_allclose(np.bincount(inputs, weights=chances), 1)
        split += step.split >= 0
    assert split > times / 5  # the hard case was met


@pytest.mark.parametrize("start", ["exponential", "identity"])
@pytest.mark.parametrize("secrets", [2, 3, 5])
def test_it_reaches_its_gap_and_every_step_is_better(start, secrets) -> None:
    problem = instance(25, secrets)
    found = solve_by_frank_wolfe(problem, relative_gap=0.01, start=start)
    assert found.relative_gap <= 0.01
    assert found.distortion <= problem.delta * (1 + 1e-9)
    leaks = [step.leak for step in found.history]
    bounds = [step.bound for step in found.history]
    assert all(after < before for before, after in pairwise(leaks))
    assert bounds == sorted(bounds)
    table = found.channel.dense()
    np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)
    assert (table >= 0).all()
    assert abs(leak_of(problem, table) - found.leak) < 1e-14
    far = float((problem.distance.dense().T * table).sum(axis=0) @ problem.profiles)
    assert abs(far - found.distortion) < 1e-14


def test_theorem_4_the_support_grows_by_n_plus_1_a_step() -> None:
    for steps in (1, 3, 10):
        found = solve_by_frank_wolfe(instance(30), start="identity", steps=steps, relative_gap=0)
        assert found.channel.support.sum() <= 30 + steps * 31


def test_blocks_give_the_same_as_a_table(monkeypatch) -> None:
    """The same least costs, with outputs that nobody uses and for some of the profiles."""
    problem = instance(25)
    table = Prices(problem)
    monkeypatch.setattr(mapping_prices, "_TABLE", 0)
    swept = Prices(problem)
    moments = Channel.identity(25).moments(problem.joint)
    moments[3:9] = 0
    empty, g = np.arange(3, 9), table.assumed(moments)
    for rows in (np.arange(25), np.array([0, 4, 17])):
        for lam in (0.0, 0.05, 1.0):
            first, second = (each.cheapest(g, empty)(rows, lam) for each in (table, swept))
            np.testing.assert_allclose(
                first.costs + lam * first.far, second.costs + lam * second.far, atol=1e-12
            )
    assert solve_by_frank_wolfe(problem, steps=400).relative_gap < 0.02


def bound_from(problem: Problem, g: np.ndarray, lam: float) -> float:
    """Theorem 2 by the letter."""
    costs = problem.posteriors @ g.T + lam * problem.distance.dense()
    return float(problem.profiles @ costs.min(axis=1)) - lam * problem.delta


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 8),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.02, 0.1, 0.5]),
    st.integers(0, 10**6),
)
def test_theorem_2_no_bound_is_above_any_feasible_map(n, secrets, delta, seed) -> None:
    problem, rng = instance(n, secrets, delta, seed), np.random.default_rng(seed)
    found = solve_by_frank_wolfe(problem, relative_gap=0, steps=60)
    bounds = [step.bound for step in found.history]
    for _ in range(10):
        table = rng.dirichlet(np.ones(n), size=n).T
        g = Prices(problem).assumed(table @ problem.joint.T)
        bounds.append(bound_from(problem, g, float(rng.exponential(1.0))))
    assert max(bounds, default=0.0) <= found.leak + 1e-12


def test_control_a_bound_that_is_not_normalised_is_caught() -> None:
    problem = instance(20)
    found = solve_by_frank_wolfe(problem, relative_gap=0.005)
    g = Prices(problem).assumed(found.channel.moments(problem.joint))
    assert bound_from(problem, g, found.multiplier) <= found.leak
    lift = 2 * found.gap
    assert (problem.prior @ np.exp(g + lift).T > 1).all()
    assert bound_from(problem, g + lift, found.multiplier) > found.leak - found.gap
    assert bound_from(problem, g + 0.1, found.multiplier) > found.leak


def test_limits_and_interrupts_leave_a_feasible_map() -> None:
    problem = instance(30, 3)
    nothing = solve_by_frank_wolfe(problem, seconds=0.0)
    assert len(nothing.history) == 1
    assert nothing.distortion <= problem.delta * (1 + 1e-9)

    def stop(step) -> None:
        if step.leak < 0.99 * problem.untouched:
            raise KeyboardInterrupt

    stopped = solve_by_frank_wolfe(problem, start="identity", progress=stop)
    assert stopped.interrupted
    assert stopped.bound <= stopped.leak < problem.untouched
    assert stopped.distortion <= problem.delta * (1 + 1e-9)
    assert not nothing.interrupted


def test_one_secret_or_one_profile_has_nothing_to_leak() -> None:
    for joint, profiles in ([[0.3, 0.7]], [[0], [1]]), ([[0.3], [0.7]], [[0]]):
        found = solve_by_frank_wolfe(Problem.of(joint, hamming(profiles), 0.1))
        assert found.leak == pytest.approx(0, abs=1e-15)
        assert found.gap == pytest.approx(0, abs=1e-15)


def test_zero_delta_allows_only_what_costs_nothing() -> None:
    problem = Problem.of([[0.4, 0.0, 0.05], [0.1, 0.3, 0.15]], hamming([[0], [0], [1]]), 0)
    found = solve_by_frank_wolfe(problem, relative_gap=1e-6)
    merged = information(np.array([[0.4, 0.4], [0.05, 0.15]]), problem.prior)
    assert found.leak == pytest.approx(merged, rel=1e-5)
    assert found.distortion == 0
    assert found.relative_gap <= 1e-6
    distinct = Problem.of([[0.4, 0.1], [0.1, 0.4]], hamming([[0], [1]]), 0)
    kept = solve_by_frank_wolfe(distinct)
    assert kept.leak == distinct.untouched
    assert kept.gap == pytest.approx(0, abs=1e-14)


def test_beyond_perfect_privacy_nothing_leaks() -> None:
    found = solve_by_frank_wolfe(instance(20, delta=1.0), relative_gap=1e-3)
    assert found.leak <= 1e-3 * found.untouched


def test_symbols_without_probability() -> None:
    base = instance(12, 2)
    joint = np.vstack([base.joint, np.zeros(12)])
    joint[:, [3, 7]] = 0
    problem = Problem.of(joint, base.distance, 0.1)
    found = solve_by_frank_wolfe(problem, relative_gap=0.01)
    assert found.relative_gap <= 0.01
    table = found.channel.dense()
    assert table[3, 3] == table[7, 7] == 1  # released as they are
    np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)


def test_a_secret_that_the_profile_gives_away() -> None:
    """A is a function of B, so the gradient at the identity is minus infinity."""
    joint = np.zeros((2, 16))
    joint[0, :8] = joint[1, 8:] = 1 / 16
    positions = np.arange(16.0)
    far = (positions[:, None] - positions) ** 2 / 256
    problem = Problem.of(joint, distance_matrix(far), 0.05)
    assert problem.untouched == pytest.approx(np.log(2))
    found = [
        solve_by_frank_wolfe(problem, relative_gap=0.02, start=start)
        for start in ("exponential", "identity")
    ]
    assert all(each.relative_gap <= 0.02 for each in found)
    assert abs(found[0].leak - found[1].leak) <= max(each.gap for each in found)


@pytest.mark.parametrize(
    "wrong", [{"relative_gap": -1}, {"steps": 0.5}, {"seconds": -1}, {"start": "middle"}]
)
def test_parameters_are_checked(wrong) -> None:
    with pytest.raises(ParameterError):
        solve_by_frank_wolfe(instance(5), **wrong)
