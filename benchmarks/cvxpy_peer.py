"""The same programs as one would write them in CVXPY, solved by Clarabel.

Not here  Clarabel without CVXPY, and the programs themselves (clarabel_peer.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmarks.clarabel_peer import Program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

cp: Any = import_module("cvxpy")  # its types do not name what it exports


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came back, as it came; no x where the solver gave up."""

    x: Reals | None
    status: str


def naive(program: Program) -> Outcome:
    """The program as the paper states it, in x."""
    x = cp.Variable(len(program.caps))
    limits = [program.rows @ x <= program.budget, x <= program.caps]
    error = cp.multiply(program.weights, cp.power(x, -program.exponent))
    return _solved(cp.Problem(cp.Minimize(cp.sum(error)), limits), x)


def scaled(program: Program) -> Outcome:
    """In y = x / scale, with weights that sum to one."""
    scale, p = program.scale, program.exponent
    weights = program.weights * scale ** -float(p)
    y = cp.Variable(len(scale))
    limits = [(program.rows * (scale / program.budget)) @ y <= 1, y <= program.caps / scale]
    error = cp.multiply(weights / weights.sum(), cp.power(y, -p))
    found = _solved(cp.Problem(cp.Minimize(cp.sum(error)), limits), y)
    return Outcome(None if found.x is None else found.x * scale, found.status)


def prepared(rows: Reals, exponent: int) -> Callable[[Program], Outcome]:
    """The scaled program built once, with what differs between people as parameters."""
    m = rows.shape[1]
    y = cp.Variable(m)
    reach, most, weights = (cp.Parameter(m, pos=True) for _ in range(3))
    error = cp.multiply(weights, cp.power(y, -exponent))
    limits = [rows @ cp.multiply(reach, y) <= 1, y <= most]
    problem = cp.Problem(cp.Minimize(cp.sum(error)), limits)

    def solve(program: Program) -> Outcome:
        scale = program.scale
        raw = program.weights * scale ** -float(exponent)
        reach.value, most.value = scale / program.budget, program.caps / scale
        weights.value = raw / raw.sum()
        found = _solved(problem, y)
        return Outcome(None if found.x is None else found.x * scale, found.status)

    return solve


def _solved(problem: Any, variable: Any) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate answer is counted by its status
        try:
            problem.solve(solver=cp.CLARABEL, max_threads=1)
        except cp.SolverError:
            return Outcome(None, "error")
    value = variable.value
    return Outcome(None if value is None else np.asarray(value), str(problem.status))
