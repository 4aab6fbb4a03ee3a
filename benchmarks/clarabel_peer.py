"""The same programs for Clarabel: conic forms called directly, and random instances to compare on.

Notation  minimise sum_j w_j x_j^-p over R x <= budget, 0 < x <= caps; y = x / scale in (0, 1]
Not here  how fast anybody is (multilevel.py), our solver (reticent.optim).

Clarabel judges itself by absolute and relative tolerances of its own variables, so they are brought
to one size first, and once more around its first answer. What it returns is not believed as it is:
the point is moved inside the constraints, and its multipliers give a lower bound by Theorem 4. The
answer lies between, whoever is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import clarabel
import numpy as np
from scipy import sparse

from reticent.optim.rows import maximal_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

GOALS = ("mae", "mse", "mael")
KINDS = ("binary", "integer", "sparse real", "dense real")
CLOSE = 1e-9  # a gap at which Clarabel's answer needs no second solve
ATTEMPTS = 5
NEAR = 1.25  # rows that its last answer fills to less than 1 / NEAR are left out of the next solve
TIGHT, DEFAULT = 1e-12, 1e-8  # tolerances of Clarabel: asked for, and its own


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One person's program: weights over powers, under rows and caps."""

    rows: Reals
    caps: Reals
    budget: float
    weights: Reals
    exponent: int

    @property
    def scale(self) -> Reals:
        """The most that each x can be: its cap, or the whole budget."""
        return np.asarray(np.minimum(self.caps, self.budget / self.rows.max(axis=0)))

    def value(self, x: Reals) -> float:
        """The error of x."""
        return float((self.weights * x**-self.exponent).sum())

    def inside(self, x: Reals) -> Reals:
        """Within rows and caps, near x."""
        x = np.clip(x, 1e-9 * self.caps, self.caps)
        return np.asarray(x / max(1.0, float((self.rows @ x).max(initial=0.0)) / self.budget))

    def bound(self, prices: Reals) -> float:
        """Below every feasible error, for any prices of the rows that are not negative."""
        lam = np.maximum(prices, 0.0)
        slope = self.rows.T @ lam
        with np.errstate(divide="ignore"):
            best = (self.exponent * self.weights / slope) ** (1 / (self.exponent + 1))
        x = np.minimum(best, self.caps)
        return self.value(x) + float(slope @ x) - self.budget * float(lam.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A feasible point, its error, and a lower bound of the least one."""

    x: Reals
    value: float
    bound: float
    solves: int = 1

    @property
    def gap(self) -> float:
        """How far the error may be above the least, relative to it."""
        return (self.value - self.bound) / self.value


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A random program and where it comes from."""

    program: Program
    matrix: Reals
    kind: str
    goal: str
    threshold: float


def weights_for(goal: str, caps: Reals) -> Reals:
    """Ones, or for "mael" the caps: the error relative to that of each cap alone."""
    return np.array(caps) if goal == "mael" else np.ones_like(caps)


def exponent_for(goal: str) -> int:
    """Power of the error."""
    return 2 if goal == "mse" else 1


def answer(program: Program) -> Answer:
    """Solve by Clarabel, again around its own answers until one is as good as proved."""
    best = _once(program, program.scale, program.caps)
    for _ in range(ATTEMPTS - 1):
        if best.gap <= CLOSE:
            break
        again = _once(program, best.x, NEAR * best.x)
        better = min(best, again, key=lambda found: found.value)
        best = Answer(better.x, better.value, max(best.bound, again.bound), best.solves + 1)
    return best


def solution(program: Program) -> Reals:
    """What a careful user would run: scaled, once, and taken as it comes."""
    y, _ = _solve(program, program.scale, program.caps, DEFAULT)
    return np.asarray(y * program.scale)


def _once(program: Program, scale: Reals, reach: Reals) -> Answer:
    """With the rows that ``reach`` would exceed; the others can be left out."""
    y, prices = _solve(program, scale, reach, TIGHT)
    x = program.inside(np.where(np.isfinite(y), y, 0.0) * scale)
    value, bound = program.value(x), program.bound(prices)
    return Answer(x, value, bound if math.isfinite(bound) else 0.0)


def _solve(program: Program, scale: Reals, reach: Reals, tolerance: float) -> tuple[Reals, Reals]:
    """The point and the prices of the rows, by second-order cones: r y >= 1, e >= r^2 for p = 2."""
    m, p = len(scale), program.exponent
    binding = program.rows @ reach > program.budget
    count = int(binding.sum())
    weights = program.weights * scale ** -float(p)
    size = float(weights.sum())
    table, right = np.zeros((count + m + 3 * m * p, m * (p + 1))), np.zeros(count + m + 3 * m * p)
    table[:count, :m] = program.rows[binding] * (scale / program.budget)
    np.fill_diagonal(table[count:, :m], scale / program.caps)
    right[: count + m] = 1
    sums, differences, doubles = (slice(count + m + k, count + m + 3 * m, 3) for k in range(3))
    for rows, of_y in ((sums, -1), (differences, 1)):
        np.fill_diagonal(table[rows, :m], of_y)
        np.fill_diagonal(table[rows, m : 2 * m], -1)
    right[doubles] = 2
    if p == 2:
        sums, differences, doubles = (slice(count + 4 * m + k, None, 3) for k in range(3))
        for rows, one in ((sums, 1), (differences, -1)):
            np.fill_diagonal(table[rows, 2 * m :], -1)
            right[rows] = one
        np.fill_diagonal(table[doubles, m : 2 * m], -2)
    linear = np.concatenate([np.zeros(p * m), weights / size])
    cones = [clarabel.NonnegativeConeT(count + m), *[clarabel.SecondOrderConeT(3)] * (p * m)]
    nothing = sparse.csc_matrix((m * (p + 1), m * (p + 1)))
    settings = _settings(tolerance)
    whole = sparse.csc_matrix(table)
    found = clarabel.DefaultSolver(nothing, linear, whole, right, cones, settings).solve()
    prices = np.zeros(len(binding))
    prices[binding] = np.array(found.z[:count]) * (size / program.budget)
    return np.array(found.x[:m]), np.nan_to_num(prices)


def _settings(tolerance: float) -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
        setattr(settings, name, tolerance)
    return settings


def instances(count: int, seed: int = 1) -> Iterator[Instance]:
    """Random programs: up to 12,000 items and 64 attributes, budgets from 0.001 to above eps*."""
    generator = np.random.default_rng(seed)
    for number in range(count):
        kind, goal = KINDS[number % len(KINDS)], GOALS[number % len(GOALS)]
        large = number % 40 == 7
        n = _between(6_000 if large else 5, 12_000, generator)
        m = _between(32 if large else 1, 64, generator)
        matrix = _matrix(kind, n, m, generator)
        budgets = _budgets(number % 5, m, generator)
        caps = budgets / matrix.max(axis=0)
        threshold = float((matrix @ caps).max())
        low, high = math.log(min(1e-3, threshold)), math.log(1.2 * threshold)
        eps = math.exp(generator.uniform(low, high))
        rows = maximal_rows(matrix).astype(np.float64)
        program = Program(rows, caps, eps, weights_for(goal, caps), exponent_for(goal))
        yield Instance(program, matrix, kind, goal, threshold)


def _between(low: int, high: int, generator: np.random.Generator) -> int:
    """A whole number, its logarithm uniform."""
    return int(math.exp(generator.uniform(math.log(low), math.log(high + 1))))


def _matrix(kind: str, n: int, m: int, generator: np.random.Generator) -> Reals:
    """Non-negative, with something in each column."""
    share = 1.0 if kind == "dense real" else min(1.0, generator.uniform(1.2, 4) / m)
    has = generator.random((n, m)) < share
    has[generator.integers(0, n, m), np.arange(m)] = True
    if kind == "binary":
        return has.astype(np.float64)
    if kind == "integer":
        return np.asarray(has * generator.integers(1, 6, (n, m)), dtype=np.float64)
    return np.asarray(has * (generator.random((n, m)) + 0.01))


def _budgets(way: int, m: int, generator: np.random.Generator) -> Reals:
    """On the simplex, uniform, over four decades, all alike, or in two groups far apart."""
    if way == 0:
        return np.asarray(np.maximum(generator.dirichlet(np.ones(m)), 1e-3))
    if way == 1:
        return np.asarray(generator.random(m) + 0.01)
    if way == 2:
        return np.asarray(10.0 ** generator.uniform(-3, 1, m))
    if way == 3:
        return np.full(m, 0.1)
    return np.asarray(np.where(generator.random(m) < 0.5, 1e-3, 1.0))
