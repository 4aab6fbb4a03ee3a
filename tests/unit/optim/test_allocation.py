"""The solver finds the least error, and what it proves about it is true."""

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from benchmarks.clarabel_peer import Program
from reticent.errors import ParameterError
from reticent.optim import allocation
from reticent.optim.allocation import allocate
from reticent.optim.objectives import LatticeError, Objective, PowerError

OBJECTIVES = {
    "mae": PowerError(1),
    "mse": PowerError(2),
    "power 3.5": PowerError(3.5),
    "lattice mae": LatticeError(),
    "lattice mse": LatticeError(squared=True),
    "lattice of 8 steps": LatticeError(8.0, 0.5),
}


def some_rows(count=30, m=8, seed=1, share=0.4) -> np.ndarray:
    generator = np.random.default_rng(seed)
    rows = (generator.random((count, m)) < share).astype(float)
    rows[0] = 1
    return rows


def some_people(count=12, m=8, seed=2) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    caps = np.maximum(generator.dirichlet(np.ones(m), count), 1e-3)
    return caps, generator.uniform(0.05, 0.4, count)


@dataclass(frozen=True, slots=True)
class Mixture(Objective):
    """1 / x + 1 / x^3: no power, so it takes the path for any error."""

    def value(self, x):
        return 1 / x + x**-3

    def slope(self, x):
        return -(x**-2) - 3 * x**-4

    def curvature(self, x):
        return 2 * x**-3 + 12 * x**-5


@dataclass(frozen=True, slots=True)
class Entropic(Objective):
    """-log(x): what a proportionally fair share minimises."""

    def value(self, x):
        return 30 - np.log(x)  # positive, so that a relative gap means something

    def slope(self, x):
        return -1 / x

    def curvature(self, x):
        return x**-2


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_an_identity_gives_the_smaller_of_cap_and_budget(objective, compiled) -> None:
    caps, budget = some_people()
    found = allocate(np.eye(8), caps=caps, budget=budget, objective=objective, compiled=compiled)
    assert found.x == pytest.approx(np.minimum(caps, budget[:, None]), rel=4e-16)
    assert found.certified.all()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_above_the_threshold_nothing_is_lost(objective, compiled) -> None:
    rows, (caps, _) = some_rows(), some_people()
    threshold = (caps @ rows.T).max(axis=1)
    found = allocate(
        rows, caps=caps, budget=1.001 * threshold, objective=objective, compiled=compiled
    )
    assert found.x == pytest.approx(caps, rel=4e-16)
    assert found.gap.max() <= 1e-15
    assert (found.price == 0).all()
    assert found.cap_prices == pytest.approx(-objective.slope(caps), rel=1e-12)


def test_a_shared_row_without_caps_is_split_by_the_roots_of_the_weights() -> None:
    weights = np.array([1.0, 4.0, 9.0])
    found = allocate([[1, 1, 1]], caps=[[9, 9, 9]], budget=[6], objective=PowerError(1, weights))
    assert found.x[0] == pytest.approx([1, 2, 3], rel=1e-4)
    assert found.error[0] == pytest.approx(6, rel=1e-9)
    assert found.price[0] == pytest.approx(1, rel=1e-4)  # error 36 / budget, so 36 / 6^2


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_one_attribute(objective, compiled) -> None:
    found = allocate(
        [[2.0]], caps=[[0.3], [0.3]], budget=[0.5, 0.7], objective=objective, compiled=compiled
    )
    assert found.x[:, 0] == pytest.approx([0.25, 0.3], rel=1e-9)
    assert found.certified.all()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_points_are_feasible_and_prices_fit_the_slopes(objective, compiled) -> None:
    rows, (caps, budget) = some_rows(), some_people(60)
    found = allocate(rows, caps=caps, budget=budget, objective=objective, compiled=compiled)
    assert found.certified.all()
    assert (found.x > 0).all()
    assert (found.x <= caps * (1 + 1e-15)).all()
    assert (found.x @ rows.T <= budget[:, None] * (1 + 1e-14)).all()
    assert found.error == pytest.approx(objective.value(found.x).sum(axis=1))
    assert (found.bound <= found.error * (1 + 1e-14)).all()
    # the slopes are a combination of binding rows, and of caps where x is at them
    for person in range(60):
        slack = 1 - rows @ found.x[person] / budget[person]
        binding = rows[slack < 1e-4]
        at_cap = np.eye(8)[found.x[person] > caps[person] * (1 - 1e-4)]
        at = found.x[person : person + 1]
        share = np.sqrt(objective.value(at)[0] / found.error[person])  # what matters for the error
        table = np.concatenate([binding, at_cap]).T / -objective.slope(at)[0][:, None]
        _, residual = optimize.nnls(share[:, None] * table / table.max(axis=0), share)
        assert residual < 1e-4


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_prices_are_derivatives_of_the_least_error(objective) -> None:
    rows, caps, budget = [[1, 1, 0], [0, 1, 1]], [[0.2, 0.9, 0.05]], 0.6
    step = 1e-3

    def least(cap=caps, eps=budget) -> float:
        found = allocate(rows, caps=cap, budget=[eps], objective=objective, tolerance=1e-12)
        return float(found.error[0])

    found = allocate(rows, caps=caps, budget=[budget], objective=objective, tolerance=1e-12)
    change = (least(eps=budget * (1 - step)) - least(eps=budget * (1 + step))) / (2 * step * budget)
    assert found.price[0] == pytest.approx(change, rel=1e-3)
    for j in range(3):
        low, high = np.array(caps), np.array(caps)
        low[0, j] *= 1 - step
        high[0, j] *= 1 + step
        change = (least(low) - least(high)) / (2 * step * caps[0][j])
        assert found.cap_prices[0, j] == pytest.approx(change, rel=1e-3, abs=1e-3 * found.price[0])


def least_by_scipy(rows, caps, budget, objective) -> float:
    """Independent of ours: sequential quadratic programming in logarithms, from several starts."""
    begin = np.minimum(caps, budget / rows.sum(axis=1).max())
    scale = objective.value(begin[None]).sum()
    limits = {
        "type": "ineq",
        "fun": lambda t: 1 - rows @ np.exp(t) / budget,
        "jac": lambda t: -rows * np.exp(t) / budget,
    }
    best = np.inf
    for share in (0.99, 0.5):
        found = optimize.minimize(
            lambda t: objective.value(np.exp(t)[None]).sum() / scale,
            np.log(share * begin),
            jac=lambda t: objective.slope(np.exp(t)[None])[0] * np.exp(t) / scale,
            bounds=[(None, np.log(c)) for c in caps],
            constraints=[limits],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        x = np.exp(found.x) / max(1, (rows @ np.exp(found.x)).max() / budget)
        best = min(best, float(objective.value(np.minimum(x, caps)[None]).sum()))
    return best


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    "objective",
    [*OBJECTIVES.values(), Mixture(), Entropic()],
    ids=[*OBJECTIVES, "mixture", "entropic"],
)
def test_the_bound_is_below_and_the_error_at_the_least_found_by_another_method(
    objective, compiled
) -> None:
    generator = np.random.default_rng(5)
    for _ in range(15):
        m = int(generator.integers(1, 5))
        rows = generator.integers(0, 3, (6, m)).astype(float)
        rows[0] = 1
        caps, budget = generator.uniform(0.05, 1, m), float(generator.uniform(0.1, 2))
        found = allocate(rows, caps=[caps], budget=[budget], objective=objective, compiled=compiled)
        least = least_by_scipy(rows, caps, budget, objective)
        assert found.certified.all()
        assert found.bound[0] <= least * (1 + 1e-12)
        assert found.error[0] <= least * (1 + 1e-9)
        assert found.error[0] == pytest.approx(least, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0, 1, 5, 30]))
def test_stopping_early_never_breaks_the_bound(seed, steps) -> None:
    """Multipliers from anywhere on the way prove a bound that is true."""
    generator = np.random.default_rng(seed)
    rows, (caps, budget) = some_rows(seed=seed), some_people(1, seed=seed)
    objective = list(OBJECTIVES.values())[seed % len(OBJECTIVES)]
    least = allocate(rows, caps=caps, budget=budget, objective=objective).error[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allocation, "_STEPS", steps)
        early = allocate(
            rows, caps=caps, budget=budget, objective=objective, compiled=bool(seed % 2)
        )
    assert early.error[0] >= least * (1 - 2e-9)
    assert not early.bound[0] > least * (1 + 1e-12)
    problem = allocation._Problem.of(rows, caps, budget, objective)
    newton = allocation._Newton(problem)
    if len(newton.rows):
        newton._start()
        newton.lam = newton.lam * generator.lognormal(0, 3, newton.lam.size)
        assert newton._bound() / newton.scale <= least * (1 + 1e-12)


def test_a_false_bound_would_be_seen() -> None:
    """Control: a multiplier counted at 99 % of its cost proves what is not true."""
    rows, (caps, budget) = some_rows(), some_people(1)
    found = allocate(rows, caps=caps, budget=budget, objective=PowerError())
    program = Program(rows, caps[0], float(budget[0]), np.ones(8), 1)
    newton = allocation._Newton(allocation._Problem.of(rows, caps, budget, PowerError()))
    newton.run(1e-11)
    prices = np.zeros(len(rows))
    prices[rows @ newton.u * budget[0] > budget[0]] = newton.lam / newton.scale / budget[0]
    true = program.bound(prices)
    assert true == pytest.approx(found.error[0], rel=1e-8)
    assert true <= found.error[0]
    assert true + 0.01 * budget[0] * prices.sum() > found.error[0] * (1 + 1e-6)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_point_that_is_not_optimal_is_not_certified(monkeypatch, compiled) -> None:
    monkeypatch.setattr(allocation, "_STEPS", 3)
    rows, (caps, budget) = some_rows(), some_people()
    found = allocate(rows, caps=caps, budget=budget, objective=PowerError(), compiled=compiled)
    assert not found.certified.any()
    assert (found.x @ rows.T <= budget[:, None] * (1 + 1e-14)).all()


SHAPES = {
    "power": (PowerError(1.7, 3.0), lambda x: 3 * x ** mpmath.mpf("-1.7")),
    "lattice": (LatticeError(0.5, 3.0), lambda x: 3 * mpmath.mpf("0.5") / mpmath.sinh(x / 2)),
    "lattice squared": (
        LatticeError(2.0, 3.0, squared=True),
        lambda x: 3 * 4 / (2 * mpmath.sinh(x) ** 2),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("x", [1e-3, 0.1, 1.0, 7.0])
def test_derivatives_are_those_of_the_value(name, x) -> None:
    objective, formula = SHAPES[name]
    at = np.array([[x]])
    with mpmath.workdps(40):
        expected = [float(mpmath.diff(formula, mpmath.mpf(x), order)) for order in range(3)]
    computed = [objective.value(at), objective.slope(at), objective.curvature(at)]
    assert [float(value[0, 0]) for value in computed] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("step", "rate"), [(1.0, 0.3), (0.25, 2.0), (2.0, 0.1)])
def test_the_error_of_whole_numbers_is_that_of_the_discrete_law(step, rate) -> None:
    """Noise step * k with probability proportional to exp(-rate step |k|)."""
    k = np.arange(-20_000, 20_001)
    law = np.exp(-rate * step * abs(k))
    law /= law.sum()
    x = np.array([[rate]])
    assert LatticeError(step).value(x)[0, 0] == pytest.approx(float(law @ abs(step * k)))
    squared = LatticeError(step, squared=True).value(x)[0, 0]
    assert squared == pytest.approx(float(law @ (step * k) ** 2))


def test_weights_may_differ_by_person() -> None:
    rows, (caps, budget) = some_rows(), some_people(9)
    weights = np.random.default_rng(4).uniform(0.1, 10, caps.shape)
    for objective in (PowerError(1, weights), LatticeError(1, weights), PowerError(1.5, weights)):
        together = allocate(rows, caps=caps, budget=budget, objective=objective)
        for i in range(9):
            one = slice(i, i + 1)
            alone = allocate(
                rows, caps=caps[one], budget=budget[one], objective=objective.of_people(one)
            )
            assert np.array_equal(alone.x[0], together.x[i])


@pytest.mark.parametrize("name", ["mae", "mse", "lattice mae", "lattice mse"])
def test_many_people_are_solved_as_each_alone(name) -> None:
    rows, (caps, budget) = some_rows(), some_people(40)
    for compiled in (True, False):
        same = {"objective": OBJECTIVES[name], "compiled": compiled}
        together = allocate(rows, caps=caps, budget=budget, **same)
        for i in range(40):
            alone = allocate(rows, caps=caps[i], budget=budget[i], **same)
            assert np.array_equal(alone.x[0], together.x[i])
            assert alone.bound[0] == together.bound[i]


def test_threads_do_not_change_anything(monkeypatch) -> None:
    monkeypatch.setattr(allocation, "_CHUNK", 16)
    rows, (caps, budget) = some_rows(), some_people(100)
    weights = np.random.default_rng(4).uniform(0.1, 10, caps.shape)
    for objective in (PowerError(2), LatticeError(1, weights)):
        one, two = (
            allocate(rows, caps=caps, budget=budget, objective=objective, threads=t) for t in (1, 2)
        )
        for name in allocation.Allocation.__slots__:
            assert np.array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("name", ["mae", "mse", "lattice mae", "lattice mse"])
def test_compiled_and_general_paths_agree(name) -> None:
    rows, (caps, budget) = some_rows(80, 12), some_people(25, 12)
    compiled = allocate(rows, caps=caps, budget=budget, objective=OBJECTIVES[name], compiled=True)
    general = allocate(rows, caps=caps, budget=budget, objective=OBJECTIVES[name], compiled=False)
    assert general.certified.all()
    assert general.error == pytest.approx(compiled.error, rel=2e-9)
    assert (general.bound <= compiled.error).all()
    assert (compiled.bound <= general.error).all()


@pytest.mark.parametrize("name", ["mae", "mse", "lattice mae", "lattice mse"])
def test_what_the_compiled_path_leaves_open_is_solved_by_the_other(name, monkeypatch) -> None:
    rows, (caps, budget) = some_rows(), some_people(10)
    whole = allocate(rows, caps=caps, budget=budget, objective=OBJECTIVES[name], compiled=True)
    compiled = allocation._compiled
    broken = {2, 7}
    spoilt = []

    def spoiled(problem, *given):
        point = compiled(problem, *given)
        for person in broken:
            point.z[person] *= 0.5
            point.bound[person] = -np.inf
        spoilt.append(problem.people)
        return point

    monkeypatch.setattr(allocation, "_compiled", spoiled)
    rescued = allocate(rows, caps=caps, budget=budget, objective=OBJECTIVES[name], compiled=True)
    assert spoilt == [10]
    assert rescued.certified.all()
    assert rescued.error == pytest.approx(whole.error, rel=2e-9)


@pytest.mark.parametrize("compiled", [True, False])
def test_more_columns_of_scale_do_not_matter(compiled) -> None:
    """Dividing a column and its caps is a change of units."""
    rows, (caps, budget) = some_rows(), some_people()
    units = 10.0 ** np.random.default_rng(3).uniform(-6, 6, 8)
    plain = allocate(rows, caps=caps, budget=budget, objective=PowerError(1), compiled=compiled)
    other = allocate(
        rows * units,
        caps=caps / units,
        budget=budget,
        objective=PowerError(1, 1 / units),
        compiled=compiled,
    )
    assert other.certified.all()
    assert other.error == pytest.approx(plain.error, rel=2e-9)


@pytest.mark.parametrize(
    ("compiled", "budget"),
    [*((True, budget) for budget in (1e-3, 0.1, 1.0, 10.0, 1e3)), (False, 1e-3), (False, 10.0)],
)
@pytest.mark.parametrize("objective", [*OBJECTIVES.values(), Mixture()])
def test_caps_over_six_decades(objective, budget, compiled) -> None:
    generator = np.random.default_rng(8)
    rows = some_rows(60, 10)
    caps = 10.0 ** generator.uniform(-3, 3, (20, 10))
    if isinstance(objective, LatticeError):
        caps = np.minimum(caps, 3.0)  # beyond, the error of whole numbers vanishes
    found = allocate(
        rows, caps=caps, budget=np.full(20, budget), objective=objective, compiled=compiled
    )
    assert found.certified.all()


@pytest.mark.parametrize("compiled", [True, False])
def test_thousands_of_dense_rows(compiled) -> None:
    rows = np.random.default_rng(2).random((3000, 24)) + 0.01
    caps, budget = some_people(3, 24)
    found = allocate(rows, caps=caps, budget=budget, objective=PowerError(2), compiled=compiled)
    assert found.certified.all()
    assert found.steps.max() < 40


@pytest.mark.parametrize("kind", ["mae", "mse", "lattice mae", "lattice mse"])
def test_thousands_of_people_are_all_certified(kind) -> None:
    rows, (caps, _) = some_rows(150, 18, share=0.15), some_people(1500, 18)
    budget = np.random.default_rng(1).uniform(0.05, 0.4, 1500)
    found = allocate(rows, caps=caps, budget=budget, objective=OBJECTIVES[kind])
    assert found.certified.all()
    assert found.gap.max() <= 1e-9


BAD = {
    "rows must be finite": {"rows": [[1, np.inf]]},
    "rows must be finite and not negative": {"rows": [[1, -1]]},
    "rows must be without empty columns": {"rows": [[1, 0]]},
    "caps must be 1 rows of 2": {"caps": [[1, 1, 1]]},
    "caps must be positive": {"caps": [[1, 0]]},
    "caps must be positive and finite": {"caps": [[1, np.nan]]},
    "budget must be positive": {"budget": [0]},
    "budget must be positive and finite": {"budget": [np.inf]},
    "tolerance must be between": {"tolerance": 0},
    "threads must be": {"threads": 0},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_problems_are_refused(message) -> None:
    good = {"rows": [[1, 1]], "caps": [[1, 1]], "budget": [1], "objective": PowerError()}
    with pytest.raises(ParameterError, match=message):
        allocate(**{**good, **BAD[message]})


@pytest.mark.parametrize(
    "make",
    [
        lambda: PowerError(0),
        lambda: PowerError(9),
        lambda: PowerError(1, 0),
        lambda: PowerError(1, np.nan),
        lambda: LatticeError(-1),
        lambda: LatticeError(1, np.inf),
    ],
)
def test_bad_errors_are_refused(make) -> None:
    with pytest.raises(ParameterError):
        make()
