"""The least leak at a given distortion as the paper finds it: a reference for small alphabets.

Theory    docs/theory/mapping.md, Theorem 1 (gradient), Theorem 2 (certificate), "Algorithm"
Notation  as in mapping_frank_wolfe.py; V = the variables x_ij that the linear program knows
Not here  the linear step without an LP solver (linear_step.py), costs (mapping_prices.py).

Algorithms 1 and 2 of [SalamatianEtAl2014] with its gradient corrected: L steps of Frank-Wolfe, each
a linear program solved by HiGHS over variables that join while their reduced cost is negative, and
a ternary search. The paper starts from the identity, where the gradient may be minus infinity; here
a little of a map that reaches every output is mixed in.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import ParameterError, require
from reticent.optim.mapping import Problem, Progress, Solution, Step, information
from reticent.optim.mapping_baselines import exponential_at
from reticent.optim.mapping_frank_wolfe import (
    Point,
    check_limits,
    identity_entries,
    point_of,
    solution_of,
)
from reticent.optim.mapping_prices import Prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

MOST = 1000  # profiles: beyond it one linear program takes minutes
_ROUNDS = 200  # of column generation in one step
_NOTHING = 1e-14  # nats


def solve_by_paper(
    problem: Problem,
    *,
    steps: int = 100,
    relative_gap: float = 0.0,
    seconds: float = np.inf,
    mix: float = 1e-3,
    progress: Progress | None = None,
) -> Solution:
    """L = ``steps`` steps of the paper's method; 100 and a ``relative_gap`` of 0 are the paper's.

    ``mix`` is the share of an exponential mechanism of distortion Delta in the start.
    """
    check_limits(relative_gap, steps, seconds)
    require(0 < mix < 1, "mix", mix, "between 0 and 1")
    if problem.distance.size > MOST:
        raise ParameterError("problem", f"of at most {MOST} profiles", problem.distance.size)
    return _Paper(problem, mix).run(steps, relative_gap, seconds, progress)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Program:
    """A linear program of Frank-Wolfe: costs and distances [input, output], times p_j."""

    costs: Reals
    far: Reals
    delta: float

    def solve(self, active: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Reals, float, float]:
        """Column generation from ``active``: variables, x over them, the bound, and lam."""
        active = active.copy()
        for _ in range(_ROUNDS):
            x, lam, mu = self._master(active)
            reduced = self.costs + lam * self.far
            best = reduced.argmin(axis=1)
            each = np.arange(len(best))
            least = reduced[each, best]
            fresh = (least - mu < -1e-12) & ~active[each, best]
            if not fresh.any():
                break
            active[each[fresh], best[fresh]] = True
        else:
            x, lam, mu = self._master(active)
            least = (self.costs + lam * self.far).min(axis=1)
        return active, x, float(least.sum()) - lam * self.delta, lam

    def _master(self, active: NDArray[np.bool_]) -> tuple[Reals, float, Reals]:
        """The program over active variables: x, the price of distortion, and mu."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        inputs, _ = np.nonzero(active)
        count = len(inputs)
        columns: Any = csr_array(  # the types of linprog know no sparse matrices
            (np.ones(count), (inputs, np.arange(count))), shape=(len(self.costs), count)
        )
        found = linprog(
            self.costs[active],
            A_ub=self.far[active][None],
            b_ub=[self.delta],
            A_eq=columns,
            b_eq=np.ones(len(self.costs)),
            method="highs",
        )
        if found.x is None:
            raise ParameterError("problem", "one that HiGHS can solve", found.message)
        return found.x, max(0.0, -float(found.ineqlin.marginals[0])), found.eqlin.marginals


class _Paper:
    def __init__(self, problem: Problem, mix: float) -> None:
        self.problem, self.prices = problem, Prices(problem)
        self.far = self.prices.mass[:, None] * self.prices.far(np.arange(len(self.prices.mass)))
        self.point = point_of(self.prices, *identity_entries(self.prices))
        if problem.delta > 0 and problem.untouched > _NOTHING:
            self._mix_in(mix)
        self.bound, self.multiplier = 0.0, 0.0

    def _mix_in(self, share: float) -> None:
        channel = exponential_at(self.problem, distortion=self.problem.delta).channel
        keys = channel.inputs * self.prices.size + channel.outs
        kept = np.isin(channel.inputs, self.prices.columns) & (channel.chances > 0)
        inner = point_of(self.prices, keys[kept], channel.chances[kept])
        self.point = self._between(inner, share)

    def run(
        self, steps: int, relative_gap: float, seconds: float, progress: Progress | None
    ) -> Solution:
        began, history, interrupted = time.perf_counter(), [], False
        goal = max(relative_gap * self.problem.untouched, _NOTHING)
        try:
            for _ in range(steps):
                if self.problem.untouched <= _NOTHING:
                    break
                aim = self._linear()
                step = Step(time.perf_counter() - began, self.point.leak, self.bound)
                history.append(step)
                if progress is not None:
                    progress(step)
                if self.point.leak - self.bound <= goal or step.seconds > seconds:
                    break
                if not self._move(aim):
                    break
        except KeyboardInterrupt:
            interrupted = True
        return solution_of(
            self.prices, self.point, self.bound, self.multiplier, tuple(history), interrupted
        )

    def _linear(self) -> Point:
        """Algorithm 2, and the bound that its prices prove."""
        prices = self.prices
        g = prices.assumed(self.point.moments)
        program = _Program(prices.mass[:, None] * (prices.pi @ g.T), self.far, self.problem.delta)
        own = np.zeros_like(self.far, dtype=bool)
        own[np.arange(len(prices.columns)), prices.columns] = True
        active, x, bound, lam = program.solve(own)
        if bound > self.bound:
            self.bound, self.multiplier = bound, lam
        inputs, outs = np.nonzero(active)
        used = x > 0
        chances = x[used] / np.bincount(inputs[used], weights=x[used])[inputs[used]]
        return point_of(prices, prices.columns[inputs[used]] * prices.size + outs[used], chances)

    def _move(self, aim: Point) -> bool:
        """Ternary search between here and ``aim``, cut where HiGHS' tolerance leaves Delta."""
        here, delta = self.point, self.problem.delta
        top = 1.0
        if aim.distortion > delta:
            top = max(0.0, (delta - here.distortion) / (aim.distortion - here.distortion))
        low, high = 0.0, top
        for _ in range(60):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if self._leak(aim, left) <= self._leak(aim, right):
                high = right
            else:
                low = left
        share = 0.5 * (low + high)
        if not self._leak(aim, share) < here.leak:
            return False
        self.point = self._between(aim, share)
        return True

    def _leak(self, aim: Point, share: float) -> float:
        moments = (1 - share) * self.point.moments + share * aim.moments
        return information(moments, self.problem.prior)

    def _between(self, aim: Point, share: float) -> Point:
        here = self.point
        moments = (1 - share) * here.moments + share * aim.moments
        far = (1 - share) * here.distortion + share * aim.distortion
        rest = Point(aim.keys, aim.chances, moments, far, information(moments, self.problem.prior))
        return here.towards(aim.keys, aim.chances, share, rest)
