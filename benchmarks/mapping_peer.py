"""The least leak at a given distortion as a program for CVXPY, solved by SCS and Clarabel.

Notation  as in reticent.optim.mapping; g_i = ln(t_i / p), lam = price of distortion, m_j = the
          least cost of profile j
Not here  how fast anybody is (mappings.py), our solvers (reticent.optim).

Two ways to write it: in the chances x_ij, as the paper states it, and by the dual of Theorem 2 in
docs/theory/mapping.md, which has the same n^2 rows but better numbers in them, so that Clarabel
never gives up on it. Neither solver returns a map: chances are a little negative, columns do not
quite sum to one, distortion exceeds Delta. ``repaired`` makes the nearest honest map of it, whose
leak is an upper bound of the least one, whatever the tolerance was.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from reticent.optim.mapping import Problem, information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

cp: Any = import_module("cvxpy")  # its types do not name what it exports

Form: TypeAlias = Literal["written", "dual"]
Solver: TypeAlias = Literal["SCS", "CLARABEL"]
Tolerance: TypeAlias = Literal["default", "matched"] | float

FORMS: tuple[Form, ...] = ("written", "dual")
MATCHED: dict[str, dict[str, float]] = {  # so loose that answers are good to about 0.1 % of I(A; B)
    "SCS": {"eps_abs": 1e-4, "eps_rel": 1e-3},
    "CLARABEL": {"tol_gap_abs": 1e-3, "tol_gap_rel": 1e-3, "tol_feas": 1e-4},
}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What came back: ``value`` as the solver says, ``leak`` of the map made of it, in nats.

    ``excess`` is the share by which distortion exceeded Delta. There is no map where the solver
    gave up; ``value`` and ``leak`` then are infinite.
    """

    status: str
    value: float = np.inf
    leak: float = np.inf
    excess: float = 0.0
    x: Reals | None = None

    @property
    def optimal(self) -> bool:
        """As the solver sees it, and to the tolerance it was given."""
        return self.status == "optimal"


def answer(
    problem: Problem,
    *,
    solver: Solver = "CLARABEL",
    tolerance: Tolerance = "default",
    form: Form = "written",
) -> Answer:
    """Write the program, solve it, and make a map of what comes back."""
    program, chances = (_written if form == "written" else _dual)(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate answer is known by its status
        try:
            program.solve(solver=solver, **_options(solver, tolerance))
        except cp.SolverError:
            return Answer("failed")
    raw = chances()
    if raw is None:
        return Answer(str(program.status))
    x = repaired(problem, raw)
    leak = information(x @ problem.joint.T, problem.prior)
    excess = max(0.0, distortion(problem, raw) / problem.delta - 1) if problem.delta > 0 else 0.0
    return Answer(str(program.status), float(program.value), leak, excess, x)


def distortion(problem: Problem, x: Reals) -> float:
    """E[d] of chances [output, input]."""
    return float(((problem.distance.dense().T * x) @ problem.profiles).sum())


def repaired(problem: Problem, chances: Reals) -> Reals:
    """A map within Delta near ``chances``: clipped, made to sum to 1, mixed with the identity."""
    x = np.maximum(chances, 0.0)
    total = x.sum(axis=0)
    x = np.where(total > 0, x / np.where(total > 0, total, 1.0), np.eye(len(x)))
    far = distortion(problem, x)
    share = min(1.0, problem.delta / far) if far > 0 else 1.0
    return np.asarray(share * x + (1 - share) * np.eye(len(x)))


def _written(problem: Problem) -> tuple[Any, Any]:
    """In x_ij: least sum of q ln(q / (p |q|)), columns sum to 1, E[d] <= Delta."""
    joint, prior = _met(problem)
    n, mass = problem.distance.size, problem.profiles
    x = cp.Variable((n, n), nonneg=True)  # [output, input]
    independent = cp.reshape(x @ mass, (n, 1), order="F") @ prior[None]
    far = cp.sum(cp.multiply(problem.distance.dense().T * mass, x))
    goal = cp.Minimize(cp.sum(cp.rel_entr(x @ joint.T, independent)))
    return cp.Problem(goal, [cp.sum(x, axis=0) == 1, far <= problem.delta]), lambda: x.value


def _dual(problem: Problem) -> tuple[Any, Any]:
    """Most of sum p_j m_j - lam Delta, m_j <= <pi_j, g_i> + lam d_ij, sum_a p(a) e^g_i(a) <= 1.

    Mass p_j x_ij is the price of row (i, j).
    """
    joint, prior = _met(problem)
    n, mass = problem.distance.size, problem.profiles
    safe = np.where(mass > 0, mass, 1.0)
    posteriors = np.where(mass > 0, joint / safe, prior[:, None])
    m, g, lam = cp.Variable(n), cp.Variable((n, len(prior))), cp.Variable(nonneg=True)
    costs = g @ posteriors + lam * problem.distance.dense().T
    rows = np.ones((n, 1)) @ cp.reshape(m, (1, n), order="F") <= costs
    limits = [rows, cp.exp(g) @ prior <= 1]
    program = cp.Problem(cp.Maximize(m @ mass - lam * problem.delta), limits)

    def chances() -> Reals | None:
        prices = rows.dual_value
        return None if prices is None else np.where(mass > 0, prices / safe, np.eye(n))

    return program, chances


def _met(problem: Problem) -> tuple[Reals, Reals]:
    """The joint law and the prior of the secrets that occur."""
    used = problem.prior > 0
    return problem.joint[used], problem.prior[used]


def _options(solver: Solver, tolerance: Tolerance) -> dict[str, Any]:
    own: dict[str, Any] = {"max_threads": 1} if solver == "CLARABEL" else {}
    if tolerance == "default":
        return own
    if tolerance == "matched":
        return own | MATCHED[solver]
    if solver == "SCS":
        return {"eps_abs": tolerance, "eps_rel": tolerance, "max_iters": 1_000_000}
    return own | dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
