"""Bounded least squares against other solvers, and its gap against the truth."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from reticent.errors import ParameterError
from reticent.optim.bounded_least_squares import BoundedFit, bounded_least_squares
from reticent.optim.bounded_least_squares_kernels import gap_at, least_gap, scaled_gap

pytestmark = pytest.mark.compiled
Array = NDArray[np.float64]


def instance(
    seed: int, groups: int = 40, m: int = 8, people: int = 6, decades: float = 2.0
) -> tuple[Array, Array, Array, Array]:
    """Rows of zeros and ones (a tenth of them signed), multiplicities, noisy targets, weights."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((groups, m)) < 0.3).astype(float)
    rows[: groups // 10] *= -1.5
    upper = rng.integers(1, 9, groups).astype(float)
    scales = 10 ** rng.uniform(-decades, decades, (people, m))
    targets = (rng.random((people, groups)) * upper) @ rows + scales * rng.laplace(size=(people, m))
    return rows, upper, targets, 1 / scales**2


def objective(rows: Array, target: Array, weights: Array, c: Array) -> float:
    return float(weights @ (target - c @ rows) ** 2) / 2


def by_enumeration(
    rows: Array, upper: Array, target: Array, weights: Array, total: float | None
) -> float:
    """The least objective over every choice of who is at 0, at the bound or between (small K)."""
    best = np.inf
    for choice in product((0, 1, 2), repeat=len(upper)):
        free = np.array(choice) == 2
        fixed = np.where(np.array(choice) == 1, upper, 0.0)
        root = np.sqrt(weights)
        goal, columns = (target - fixed @ rows) * root, (rows[free] * root).T
        shift = np.zeros(free.sum())
        if total is not None:
            rest = total - fixed.sum()
            if not free.any():
                if abs(rest) < 1e-9:
                    best = min(best, objective(rows, target, weights, fixed))
                continue
            shift[0] = rest
            basis = np.vstack([-np.ones(free.sum() - 1), np.eye(free.sum() - 1)])
        else:
            basis = np.eye(free.sum())
        step = np.linalg.lstsq(columns @ basis, goal - columns @ shift, rcond=None)[0]
        c = fixed.copy()
        c[free] = shift + basis @ step
        if (c >= -1e-9).all() and (c <= upper + 1e-9).all():
            best = min(best, objective(rows, target, weights, c))
    return best


def check(fit: BoundedFit, rows: Array, upper: Array, targets: Array, weights: Array) -> None:
    """What holds of every answer: feasible, consistent, few between the bounds."""
    assert (fit.coefficients >= 0).all()
    assert (fit.coefficients <= upper).all()
    assert np.allclose(fit.fitted, fit.coefficients @ rows)
    parts = zip(targets, weights, fit.coefficients, strict=True)
    assert np.allclose(fit.objectives, [objective(rows, *part) for part in parts])
    assert (fit.gaps >= 0).all()
    between = ((fit.coefficients > 0) & (fit.coefficients < upper)).sum(axis=1)
    assert between.max() <= rows.shape[1] + 1


@pytest.mark.parametrize("decades", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scipy(seed: int, decades: float) -> None:
    rows, upper, targets, weights = instance(seed, decades=decades)
    fit = bounded_least_squares(rows, upper, targets, weights=weights)
    check(fit, rows, upper, targets, weights)
    assert fit.converged.all()
    for p, (target, q) in enumerate(zip(targets, weights, strict=True)):
        root = np.sqrt(q)
        other = lsq_linear((rows * root).T, target * root, (0, upper), method="bvls", tol=1e-14)
        scale = max(other.cost, 1.0)
        assert fit.objectives[p] <= other.cost + 1e-8 * scale
        assert fit.objectives[p] - fit.gaps[p] <= other.cost + 1e-12 * scale


@pytest.mark.solvers
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_clarabel_given_a_total(seed: int) -> None:
    import cvxpy

    rows, upper, targets, weights = instance(seed, decades=1.0)
    totals = np.random.default_rng(seed).uniform(0, upper.sum(), len(targets))
    fit = bounded_least_squares(rows, upper, targets, weights=weights, total=totals)
    check(fit, rows, upper, targets, weights)
    assert fit.converged.all()
    assert np.allclose(fit.coefficients.sum(axis=1), totals, rtol=1e-13)
    for p, (target, q) in enumerate(zip(targets, weights, strict=True)):
        c = cvxpy.Variable(len(upper))
        loss = cvxpy.sum_squares(cvxpy.multiply(np.sqrt(q), target - rows.T @ c)) / 2
        rules = [c >= 0, c <= upper, cvxpy.sum(c) == totals[p]]
        value = cvxpy.Problem(cvxpy.Minimize(loss), rules).solve(solver=cvxpy.CLARABEL)
        assert fit.objectives[p] == pytest.approx(value, rel=1e-6, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 4), st.booleans())
def test_agrees_with_every_vertex(seed: int, groups: int, m: int, with_total: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 3, (groups, m)).astype(float)  # zero and equal rows occur
    upper = rng.integers(0, 4, groups).astype(float)
    targets, weights = 4 * rng.normal(size=(1, m)), 10 ** rng.uniform(-2, 2, (1, m))
    total = float(rng.integers(0, int(upper.sum()) + 1)) if with_total else None
    fit = bounded_least_squares(rows, upper, targets, weights=weights, total=total)
    check(fit, rows, upper, targets, weights)
    best = by_enumeration(rows, upper, targets[0], weights[0], total)
    scale = max(best, 1.0)
    assert fit.converged.all()
    assert fit.objectives[0] == pytest.approx(best, abs=1e-7 * scale)
    assert fit.objectives[0] - fit.gaps[0] <= best + 1e-10 * scale


@pytest.mark.parametrize("with_total", [False, True])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 5, 8])
def test_the_gap_covers_what_is_missing_however_early_it_stops(most: int, with_total: bool) -> None:
    rows, upper, targets, weights = instance(7, groups=120, people=30)
    total = upper.sum() / 3 if with_total else None
    early = bounded_least_squares(
        rows, upper, targets, weights=weights, total=total, max_iterations=most
    )
    best = bounded_least_squares(rows, upper, targets, weights=weights, total=total, tolerance=0)
    check(early, rows, upper, targets, weights)
    missing = early.objectives - best.objectives
    assert (early.gaps >= missing - 1e-9 * np.maximum(best.objectives, 1)).all()
    assert (early.iterations <= most).all()
    if most == 0:
        assert missing.max() > 1e-3  # the control: there was something to miss
        assert not early.converged.all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_gap_holds_at_any_point(seed: int, with_total: bool) -> None:
    """Lemma 1 at points that no search has visited; half the gap would be refuted somewhere."""
    rows, upper, targets, weights = instance(seed % 50, groups=20, people=1, decades=1.0)
    rng = np.random.default_rng(seed)
    c = rng.random(len(upper)) ** 3 * upper
    total = float(c.sum()) if with_total else None
    best = bounded_least_squares(rows, upper, targets, weights=weights, total=total, tolerance=0)
    here = objective(rows, targets[0], weights[0], c)
    v = rows @ (weights[0] * (targets[0] - c @ rows))
    gap = least_gap(v, upper, c, -1.0 if total is None else total)
    missing = here - best.objectives[0]
    assert scaled_gap(gap, here) >= missing - 1e-8 * max(here, 1)
    assert gap >= scaled_gap(gap, here) - 1e-12 * here
    if with_total:
        nus = np.concatenate([v, rng.normal(size=5) * np.abs(v).max()])
        assert gap <= min(gap_at(v, upper, c, nu) for nu in nus) * (1 + 1e-9) + 1e-9


def test_half_the_gap_is_refuted() -> None:
    """A planted mistake: one coefficient, at 0, is missing everything that the gap says."""
    fit = bounded_least_squares([[1.0]], [1.0], [1000.0])
    assert fit.objectives[0] == pytest.approx(999**2 / 2)
    v, upper, c = np.array([1000.0]), np.array([1.0]), np.array([0.0])
    gap = scaled_gap(least_gap(v, upper, c, -1.0), 1000**2 / 2)
    missing = (1000**2 - 999**2) / 2
    assert gap >= missing
    assert gap / 2 < missing


@pytest.mark.parametrize("with_total", [False, True])
def test_people_do_not_touch_each_other(with_total: bool) -> None:
    rows, upper, targets, weights = instance(3, people=5)
    total = np.linspace(1, upper.sum(), 5) if with_total else None
    together = bounded_least_squares(rows, upper, targets, weights=weights, total=total)
    for p in range(5):
        alone = bounded_least_squares(
            rows, upper, targets[p], weights=weights[p], total=None if total is None else total[p]
        )
        assert np.array_equal(alone.coefficients[0], together.coefficients[p])
        assert alone.gaps[0] == together.gaps[p]


def test_what_can_be_met_is_met() -> None:
    rows, upper, _, weights = instance(5, people=4, decades=2.0)
    targets = np.random.default_rng(0).random((4, len(upper))) * upper @ rows
    fit = bounded_least_squares(rows, upper, targets, weights=weights)
    assert fit.converged.all()
    assert np.allclose(fit.fitted, targets)


def test_one_row() -> None:
    fit = bounded_least_squares([[2.0, 0.0]], [3.0], [[1.0, 5.0], [-4.0, 0.0], [99.0, 0.0]])
    assert fit.coefficients.tolist() == [[0.5], [0.0], [3.0]]
    held = bounded_least_squares([[2.0, 0.0]], [3.0], [[1.0, 5.0]], total=2.5)
    assert held.coefficients.tolist() == [[2.5]]
    assert held.gaps.tolist() == [0.0]


def test_totals_at_the_ends() -> None:
    rows, upper, targets, weights = instance(2)
    for total, expected in ((0.0, 0 * upper), (upper.sum(), upper)):
        fit = bounded_least_squares(rows, upper, targets, weights=weights, total=total)
        assert np.array_equal(fit.coefficients, np.tile(expected, (len(targets), 1)))
        assert fit.converged.all()
        assert np.allclose(fit.gaps, 0)


@pytest.mark.parametrize("with_total", [False, True])
def test_degenerate_tables(with_total: bool) -> None:
    rows, upper, targets, weights = instance(4, m=4)
    total = upper.sum() / 4 if with_total else None
    doubled = np.hstack([rows, rows])  # equal columns
    fit = bounded_least_squares(doubled, upper, np.hstack([targets, targets]), total=total)
    once = bounded_least_squares(rows, upper, targets, total=total)
    assert fit.objectives == pytest.approx(2 * once.objectives)
    nothing = bounded_least_squares(0 * rows, upper, targets, weights=weights, total=total)
    assert nothing.converged.all()
    assert np.allclose(nothing.fitted, 0)
    unweighted = bounded_least_squares(rows, upper, targets, weights=0.0, total=total)
    assert unweighted.objectives.tolist() == [0.0] * len(targets)
    closed = bounded_least_squares(rows, 0 * upper, targets, total=0 if with_total else None)
    assert not closed.coefficients.any()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"rows": [1.0, 2.0]}, "rows"),
        ({"rows": np.zeros((0, 2))}, "rows"),
        ({"rows": [[np.inf, 0], [0, 1]]}, "rows"),
        ({"rows": [["a", 0], [0, 1]]}, "rows"),
        ({"upper": [1.0]}, "upper"),
        ({"upper": [1.0, -1.0]}, "upper"),
        ({"targets": [[np.nan, 0.0]]}, "targets"),
        ({"targets": [1.0, 2.0, 3.0]}, "targets"),
        ({"weights": [-1.0, 1.0]}, "weights"),
        ({"weights": [1.0, 1.0, 1.0]}, "weights"),
        ({"total": -0.1}, "total"),
        ({"total": 3.1}, "total"),
        ({"total": np.nan}, "total"),
        ({"total": [1.0, 1.0]}, "total"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"max_iterations": -1}, "max_iterations"),
    ],
)
def test_refuses(change: dict[str, object], name: str) -> None:
    good = {"rows": np.eye(2), "upper": [1.0, 2.0], "targets": [0.5, 0.5]}
    with pytest.raises(ParameterError, match=f"^{name} must be"):
        bounded_least_squares(**(good | change))  # type: ignore[arg-type]
