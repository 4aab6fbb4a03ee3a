"""Sharing a budget: the x that makes a separable convex error least under shared rows and caps.

Theory    docs/theory/multilevel.md, Theorem 3 (optimum), Theorem 4 (certificate)
Notation  minimise sum_j f_j(x_j) over R x <= budget, 0 < x <= caps, with f_j convex and falling;
          s = 1 - R z and q = u - z are what is left, lam and mu their multipliers
Not here  what x means (mechanisms/), the errors f (objectives.py), rows that imply others
          (rows.py), the compiled loops (allocation_kernels.py).

Newton's method runs on the logarithm of the slopes: for powers that equation is linear in log x,
so that caps which differ by decades do not hurt. Every answer carries a lower bound that is proved
from its multipliers; ``gap`` is how far above it the answer is at most, relative to its value.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import ParameterError, require
from reticent.optim.objectives import LatticeError, Objective, PowerError
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals: TypeAlias = NDArray[np.float64]

TOLERANCE = 1e-9
_AIM = 0.2  # of the tolerance: rounding x afterwards must not cost the certificate
_STEPS = 100
_CHUNK = 4096  # people that one thread takes at a time
_MANY = 16  # people for whom compiled loops are worth loading
_STEEPEST = 50.0  # beyond it the error of whole numbers is below 1e-20 and its slope unstable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Allocation:
    """One row per person: x, its error, a proved lower bound of the least error, and the prices.

    ``price`` is by how much the least error falls per unit of budget, ``cap_prices`` per unit of
    each cap. ``gap`` is (error - bound) / error; ``certified`` where it is within the tolerance.
    """

    x: Reals
    error: Reals
    bound: Reals
    gap: Reals
    certified: NDArray[np.bool_]
    price: Reals
    cap_prices: Reals
    steps: NDArray[np.int64]


def allocate(
    rows: ArrayLike,
    *,
    caps: ArrayLike,
    budget: ArrayLike,
    objective: Objective,
    tolerance: float = TOLERANCE,
    threads: int = 1,
    compiled: bool | None = None,
) -> Allocation:
    """Minimise the objective over ``rows @ x <= budget`` and ``0 < x <= caps``, person by person.

    ``rows`` are non-negative and shared; ``caps`` is one row and ``budget`` one number per person.
    ``compiled`` loops are many times faster but take seconds to compile on their first use ever; by
    default a few people do without them. They exist for the errors defined here.

    >>> shared = allocate([[1, 1]], caps=[[1, 0.1]], budget=[0.5], objective=PowerError())
    >>> shared.x.round(6).tolist(), bool(shared.certified.all())
    ([[0.4, 0.1]], True)
    """
    problem = _Problem.of(rows, caps, budget, objective)
    whole(threads, "threads", least=1)
    require(0 < tolerance < 1, "tolerance", tolerance, "between 0 and 1")
    loops = problem.people >= _MANY if compiled is None else compiled
    cuts = range(0, problem.people, _CHUNK)
    parts = [slice(at, min(at + _CHUNK, problem.people)) for at in cuts]

    def solve(part: slice) -> Allocation:
        return _solve(problem.some(part), tolerance, loops)

    if threads == 1 or len(parts) < 2:
        return _joined([solve(part) for part in parts])
    with ThreadPoolExecutor(threads) as pool:
        return _joined(list(pool.map(solve, parts)))


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """The program in z = x largest / budget: entries at most 1, budget 1, caps at most 1."""

    rows: Reals  # divided by the largest entry of their column
    largest: Reals
    caps: Reals  # in z
    budget: Reals
    objective: Objective

    @classmethod
    def of(
        cls, rows: ArrayLike, caps: ArrayLike, budget: ArrayLike, objective: Objective
    ) -> _Problem:
        matrix = np.atleast_2d(np.asarray(rows, dtype=np.float64))
        limits = np.atleast_2d(np.asarray(caps, dtype=np.float64))
        shared = np.atleast_1d(np.asarray(budget, dtype=np.float64))
        proper = bool(np.isfinite(matrix).all() and (matrix >= 0).all())
        require(proper, "rows", "other", "finite and not negative")
        largest = matrix.max(axis=0, initial=0.0)
        require(bool((largest > 0).all()), "rows", "a column of zeros", "without empty columns")
        if limits.shape != (shared.size, matrix.shape[1]):
            shape = f"{shared.size} rows of {matrix.shape[1]}"
            raise ParameterError("caps", shape, f"shape {limits.shape}")
        for name, values in (("caps", limits), ("budget", shared)):
            good = bool(np.isfinite(values).all() and (values > 0).all())
            require(good, name, "other", "positive and finite")
        scaled = np.minimum(limits * (largest / shared[:, None]), 1.0)
        return cls(matrix / largest, largest, scaled, shared, objective)

    @property
    def people(self) -> int:
        return len(self.budget)

    @property
    def per_unit(self) -> Reals:
        """What one unit of z is in x."""
        return self.budget[:, None] / self.largest

    def some(self, part: slice) -> _Problem:
        return _Problem(
            self.rows,
            self.largest,
            self.caps[part],
            self.budget[part],
            self.objective.of_people(part),
        )


def _solve(problem: _Problem, tolerance: float, loops: bool) -> Allocation:
    """Compiled where the error is known to the kernels; what is left uncertified densely."""
    shape = _known_shape(problem) if loops else None
    if shape is None:
        return _finish(problem, _dense(problem, _AIM * tolerance), tolerance)
    first = _finish(problem, _compiled(problem, *shape, _AIM * tolerance), tolerance)
    left = np.flatnonzero(~first.certified)
    for person in left.tolist():
        part = slice(person, person + 1)
        single = problem.some(part)
        again = _finish(single, _dense(single, _AIM * tolerance), tolerance)
        if not first.gap[person] <= again.gap[0]:
            first = _replaced(first, part, again)
    return first


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Points:
    """Where a solver stopped, in z; error and prices are in the caller's units of error."""

    z: Reals
    bound: Reals
    price: Reals
    cap_prices: Reals
    steps: NDArray[np.int64]


def _known_shape(problem: _Problem) -> tuple[int, Reals, Reals] | None:
    """Number of the error in the kernels, and its weights and stretching in z."""
    objective, one = problem.objective, np.ones_like(problem.caps)
    if isinstance(objective, PowerError) and objective.exponent in (1, 2):
        factor = objective.weights * problem.per_unit**-objective.exponent
        return int(objective.exponent), np.asarray(factor * one), one
    if isinstance(objective, LatticeError):
        stretch = objective.steps * problem.per_unit
        if float(np.max(stretch * problem.caps)) <= _STEEPEST:
            return 4 if objective.squared else 3, objective.factors * one, stretch * one
    return None


def _compiled(
    problem: _Problem, kind: int, weights: Reals, stretch: Reals, tolerance: float
) -> _Points:
    from reticent.optim.allocation_kernels import allocate_each  # loads Numba

    marks = problem.rows != 0
    starts = np.concatenate([[0], np.cumsum(marks.sum(axis=1))])
    z, cap_prices = np.empty_like(problem.caps), np.empty_like(problem.caps)
    bound, price = np.empty(problem.people), np.empty(problem.people)
    steps = np.empty(problem.people, dtype=np.int64)
    allocate_each(
        starts,
        np.ascontiguousarray(np.nonzero(marks)[1]),  # else strided or not, and compiled for both
        problem.rows[marks],
        np.ascontiguousarray(problem.caps),
        np.ascontiguousarray(weights),
        np.ascontiguousarray(stretch),
        kind,
        tolerance,
        _STEPS,
        z,
        bound,
        price,
        cap_prices,
        steps,
    )
    return _Points(z, bound, price, cap_prices, steps)


def _finish(problem: _Problem, point: _Points, tolerance: float) -> Allocation:
    """Back to x with the gap of that very x; a point that is none becomes the one to start from.

    Solvers keep within rows and caps up to the last digit; who needs more must round (Lemma 3).
    """
    sound = (np.isfinite(point.z) & (point.z > 0)).all(axis=1, keepdims=True)
    inner = 0.9 * np.minimum(problem.caps, 1 / problem.rows.sum(axis=1).max())
    z = np.where(sound, np.minimum(point.z, problem.caps), inner)
    x = z * problem.per_unit
    error = problem.objective.value(x).sum(axis=1)
    gap = np.where(np.isfinite(point.bound), (error - point.bound) / error, np.inf)
    return Allocation(
        x,
        error,
        point.bound,
        gap,
        gap <= tolerance,
        point.price / problem.budget,
        point.cap_prices / problem.per_unit,
        point.steps,
    )


def _dense(problem: _Problem, tolerance: float) -> _Points:
    """One person after another with NumPy, any error, all rows."""
    solved = [_Newton(problem.some(slice(i, i + 1))) for i in range(problem.people)]
    for person in solved:
        person.run(tolerance)
    return _Points(
        np.array([person.z for person in solved]),
        np.array([person.bound for person in solved]),
        np.array([person.price for person in solved]),
        np.array([person.cap_prices for person in solved]),
        np.array([person.steps for person in solved], dtype=np.int64),
    )


class _Newton:
    """The method of allocation_kernels.py for one person and any error, with all rows."""

    def __init__(self, problem: _Problem) -> None:
        self.u = problem.caps[0]
        self.rows = problem.rows[problem.rows @ self.u > 1]
        self.per_unit, self.objective = problem.per_unit[0], problem.objective
        self.scale = 1.0
        self.z = self.u.copy()
        self.bound, self.price, self.steps = self._value(self.u), 0.0, 0
        self.cap_prices = self._steep(self.u)

    def run(self, tolerance: float) -> None:
        """Iterate until the gap is closed or nothing moves any more."""
        if not len(self.rows):
            return
        self._start()
        best, before = -np.inf, np.inf
        for self.steps in range(_STEPS):
            left = float(self.lam @ self.s + self.mu @ self.q)
            value, bound = self._value(self.z), self._bound()
            if bound > best:
                best, self.bound = bound, bound / self.scale
                self.price = float(self.lam.sum()) / self.scale
                self.cap_prices = self.mu / self.scale
            stuck = self.steps > 15 and left > 0.5 * before
            before = left
            if not value - best > tolerance * value or not self._move(value - best, stuck):
                return

    def _value(self, z: Reals) -> float:
        return self.scale * float(self.objective.value((z * self.per_unit)[None]).sum())

    def _steep(self, z: Reals) -> Reals:
        slope = self.objective.slope((z * self.per_unit)[None])[0]
        return np.asarray(-self.scale * slope * self.per_unit)

    def _bend(self, z: Reals) -> Reals:
        """Curvature over -slope, in z."""
        x = (z * self.per_unit)[None]
        bend = -self.objective.curvature(x)[0] / self.objective.slope(x)[0]
        return np.asarray(bend * self.per_unit)

    def _start(self) -> None:
        self.z = 0.9 * np.minimum(self.u, 1 / self.rows.sum(axis=1).max())
        self.scale = len(self.u) / self._value(self.z)
        self._measure()
        steep, sums = self._steep(self.z), self.rows.sum(axis=0)
        level = steep.min() / max(1.0, sums.max())
        self.lam = np.full(len(self.rows), level)
        self.mu = np.maximum(steep - sums * level, 0.1 * steep)

    def _measure(self) -> None:
        self.s, self.q = 1 - self.rows @ self.z, self.u - self.z

    def _bound(self) -> float:
        """Theorem 4, with tangents near where the slope is the price of the rows."""
        price = self.lam @ self.rows
        y = self.z.copy()
        for _ in range(4):
            steep, bend = self._steep(y), self._bend(y)
            with np.errstate(divide="ignore"):
                way = np.log(steep / price) / (bend * y)
            y = np.minimum(y * np.exp(way.clip(-2, 2)), self.u)
        steep = self._steep(y)
        value = self.scale * self.objective.value((y * self.per_unit)[None])[0]
        tangents = value + steep * y + np.minimum(0.0, price - steep) * self.u
        return float(tangents.sum() - self.lam.sum())

    def _move(self, gap: float, stuck: bool) -> bool:
        """One predictor-corrector step; false when it leads nowhere."""
        steep, bend = self._steep(self.z), self._bend(self.z)
        v = self.lam @ self.rows + self.mu
        mismatch = float(np.abs(np.log(steep / v)).max())
        matrix = (self.rows.T * (self.lam / self.s)) @ self.rows
        matrix[np.diag_indices(len(v))] += self.mu / self.q + v * bend
        unit = 1 / np.sqrt(matrix.diagonal())
        solve = _solver(matrix * np.outer(unit, unit))
        toward = v * (1 + np.log(steep / v))

        def direction(tau: float, row_turn: Reals, cap_turn: Reals) -> tuple[Reals, ...]:
            pull, hold = (tau - row_turn) / self.s, (tau - cap_turn) / self.q
            dz = unit * solve(unit * (toward - pull @ self.rows - hold))
            ds = -self.rows @ dz
            dlam = pull - self.lam - self.lam / self.s * ds
            return dz, ds, dlam, hold - self.mu + self.mu / self.q * dz

        none = np.zeros_like(self.lam), np.zeros_like(self.mu)
        dz, ds, dlam, dmu = direction(0.0, *none)
        primal, dual = self._lengths(dz, ds, dlam, dmu)
        now = float(self.lam @ self.s + self.mu @ self.q)
        then = (self.lam + dual * dlam) @ (self.s + primal * ds)
        then += (self.mu + dual * dmu) @ (self.q - primal * dz)
        centre = (max(float(then), 0.0) / now) ** 3
        centre = min(max(centre, 0.5 if stuck else 0.1 if mismatch > 0.5 else 0.0), 1.0)
        tau = centre * min(max(now, gap), 2 * now) / (len(self.lam) + len(self.mu))
        dz, ds, dlam, dmu = direction(tau, *(none if stuck else (ds * dlam, -dz * dmu)))
        primal, dual = self._lengths(dz, ds, dlam, dmu)
        if mismatch > 0.1:
            primal = dual = min(primal, dual)
        before = self.z
        self.z = self.z + primal * dz
        self._measure()
        if not (np.isfinite(self.z).all() and min(self.s.min(), self.q.min(), self.z.min()) > 0):
            self.z = before
            self._measure()
            return False
        self.lam, self.mu = self.lam + dual * dlam, self.mu + dual * dmu
        return True

    def _lengths(self, dz: Reals, ds: Reals, dlam: Reals, dmu: Reals) -> tuple[float, float]:
        """How far to go: not out of rows, caps and multipliers, nor to a fifth of any z."""
        primal = min(_length(self.s, ds, 0.995), _length(self.q, -dz, 0.995))
        dual = min(_length(self.lam, dlam, 0.995), _length(self.mu, dmu, 0.995))
        return min(primal, _length(self.z, dz, 0.8)), dual


def _length(at: Reals, way: Reals, share: float) -> float:
    falling = way < 0
    return float(min(1.0, (share * at[falling] / -way[falling]).min(initial=1.0)))


def _solver(matrix: Reals) -> Callable[[Reals], Reals]:
    """Solutions with one step of refinement."""
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:  # singular in double precision
        inverse = np.linalg.pinv(matrix, hermitian=True)

    def solve(right: Reals) -> Reals:
        first = inverse @ right
        return np.asarray(first + inverse @ (right - matrix @ first))

    return solve


def _joined(parts: list[Allocation]) -> Allocation:
    if len(parts) == 1:
        return parts[0]
    names = Allocation.__slots__
    return Allocation(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _replaced(whole_: Allocation, part: slice, other: Allocation) -> Allocation:
    for name in Allocation.__slots__:
        getattr(whole_, name)[part] = getattr(other, name)
    return whole_
