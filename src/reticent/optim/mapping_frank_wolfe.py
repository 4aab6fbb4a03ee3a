"""The least leak at a given distortion by Frank-Wolfe, with a linear step that needs no LP solver.

Theory    docs/theory/mapping.md, Theorem 1 (gradient), Theorem 2 (certificate), Theorem 4 (linear
          step), "Algorithm"
Notation  pi_j = p(a | b_j), p_j = p(b_j), t_i = posterior at output i, g_i = ln(t_i / p),
          c_ij = p_j <pi_j, g_i>, lam = price of distortion
Not here  the linear step (linear_step.py), costs (mapping_prices.py), the faster method
          (mapping_newton.py), the paper's own linear step (mapping_paper.py).

Every step moves towards a map that sends each profile to one output, at most one profile to two.
The value of that linear program is a lower bound of the least leak, so each step certifies. Only
the entries in use are stored; distances are read in blocks where a table of them would be large.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.optim.linear_step import Cheapest, LinearStep, linear_step
from reticent.optim.mapping import Channel, Problem, Progress, Solution, Step, information
from reticent.optim.mapping_prices import FLOOR, Prices
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

_NEAREST = 16  # outputs of a profile at the start
_LONGEST = 0.99  # of the way to the linear optimum: an output in use never becomes empty
_NOTHING = 1e-14  # nats


def solve_by_frank_wolfe(
    problem: Problem,
    *,
    relative_gap: float = 1e-3,
    steps: int = 10_000,
    seconds: float = np.inf,
    start: Literal["exponential", "identity"] = "exponential",
    progress: Progress | None = None,
) -> Solution:
    """A mapping within ``relative_gap`` of I(A; B) of the least leak, or the best until then.

    ``start`` is the map it sets out from: every profile as it is, or a draw among the nearest
    outputs with chances that fall exponentially, as far as Delta allows.
    """
    check_limits(relative_gap, steps, seconds)
    require(start in ("exponential", "identity"), "start", start, "exponential or identity")
    return _FrankWolfe(problem, start).run(relative_gap, steps, seconds, progress)


def check_limits(relative_gap: float, steps: int, seconds: float) -> None:
    """When to stop, the same for every method of steps."""
    require(0 <= relative_gap < 1, "relative_gap", relative_gap, "at least 0 and below 1")
    whole(steps, "steps", least=0)
    require(seconds >= 0, "seconds", seconds, "at least 0")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Point:
    """A feasible map: chances by profile * n + output, in order, and what follows from them."""

    keys: Whole
    chances: Reals
    moments: Reals
    distortion: float
    leak: float

    def towards(self, keys: Whole, chances: Reals, share: float, rest: Point) -> Point:
        """``share`` of the way to another map, ``rest`` holding what is linear in it."""
        order = np.argsort(keys)
        keys, chances = keys[order], chances[order]
        fresh = keys[~np.isin(keys, self.keys, assume_unique=True)]
        places = np.searchsorted(self.keys, fresh)
        merged = np.insert(self.keys, places, fresh)
        mixed = np.insert((1 - share) * self.chances, places, 0.0)
        mixed[np.searchsorted(merged, keys)] += share * chances
        return Point(merged, mixed, rest.moments, rest.distortion, rest.leak)


class _FrankWolfe:
    def __init__(self, problem: Problem, start: str) -> None:
        self.problem, self.prices = problem, Prices(problem)
        self.untouched, self.delta = problem.untouched, problem.delta
        keys, chances = identity_entries(self.prices)
        self.point = point_of(self.prices, keys, chances)
        if start == "exponential" and self.delta > 0 and self.untouched > _NOTHING:
            self.point = point_of(self.prices, *_near_start(self.prices, self.delta))
        self.empty = np.flatnonzero(self.point.moments.sum(axis=1) == 0)
        self.blurred: Reals | None = None
        self.bound, self.multiplier, self.guess = 0.0, 0.0, 0.0

    def run(
        self, relative_gap: float, steps: int, seconds: float, progress: Progress | None
    ) -> Solution:
        began, history, interrupted = time.perf_counter(), [], False
        goal = max(relative_gap * self.untouched, _NOTHING)
        try:
            for _ in range(steps):
                if self.untouched <= _NOTHING:
                    break
                found = self._linear()
                step = Step(time.perf_counter() - began, self.point.leak, self.bound)
                history.append(step)
                if progress is not None:
                    progress(step)
                closed = self.point.leak - self.bound <= goal
                if closed or step.seconds > seconds or not self._move(found, goal):
                    break
        except KeyboardInterrupt:
            interrupted = True
        return solution_of(
            self.prices, self.point, self.bound, self.multiplier, tuple(history), interrupted
        )

    def _linear(self) -> LinearStep:
        """The linear step from here, and the bound that it proves."""
        g = self.prices.assumed(self.point.moments)
        cheapest = self.prices.cheapest(g, self.empty)
        stay = self.prices.stay(g, self.empty)
        found = linear_step(cheapest, self.prices.mass, stay, self.delta, guess=self.guess)
        self.guess = found.multiplier
        bound = found.bound
        if len(self.empty):
            bound -= self._shortfall(g, cheapest, found.multiplier)
        if bound > self.bound:
            self.bound, self.multiplier = bound, found.multiplier
        return found

    def _shortfall(self, g: Reals, cheapest: Cheapest, lam: float) -> float:
        if self.blurred is None:
            rate = 10 * lam / self.untouched
            t = np.maximum(self.prices.blurred(self.empty, rate), FLOOR)
            t /= t.sum(axis=1, keepdims=True)
            self.blurred = np.log(t / self.prices.prior)
        g = g.copy()
        g[self.empty] = self.blurred
        least = cheapest(np.arange(len(self.prices.mass)), lam)
        return self.prices.shortfall(g, self.empty, lam, least.costs + lam * least.far)

    def _move(self, step: LinearStep, goal: float) -> bool:
        """To the best point on the way to the linear optimum; False if there is none."""
        columns, outs, chances = step.entries()
        keys = self.prices.columns[columns] * self.prices.size + outs
        aim = moments_of(self.prices, keys, chances)
        share = self._length(aim, goal)
        moments = (1 - share) * self.point.moments + share * aim
        leak = information(moments, self.problem.prior)
        if not leak < self.point.leak:
            return False
        distortion = (1 - share) * self.point.distortion + share * step.distortion
        rest = Point(keys, chances, moments, distortion, leak)
        self.point = self.point.towards(keys, chances, share, rest)
        self.empty = self.empty[moments[self.empty].sum(axis=1) == 0]
        self.blurred = None
        return True

    def _length(self, aim: Reals, goal: float) -> float:
        """Bisection on the derivative of the leak along the way; it is convex."""
        if information(aim, self.problem.prior) <= goal:
            return 1.0
        here = self.point.moments[:, self.prices.secrets]
        way = aim[:, self.prices.secrets] - here
        rows = np.flatnonzero(way.any(axis=1))
        here, way = here[rows], way[rows]
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            if _slope(here + middle * way, way, self.prices.prior) < 0:
                low = middle
            else:
                high = middle
            if high - low <= 1e-4 * high:
                break
        return min(0.5 * (low + high), _LONGEST)


def _slope(moments: Reals, way: Reals, prior: Reals) -> float:
    """d/ds of the leak at moments + s way; mass never comes to 0 between two maps."""
    safe = np.where(moments > 0, moments, 1.0)
    logs = np.log(safe / (prior * np.maximum(moments.sum(axis=1, keepdims=True), 1e-300)))
    return float((np.where(moments > 0, way, 0.0) * logs).sum())


def identity_entries(prices: Prices) -> tuple[Whole, Reals]:
    """Keys and chances of the map that changes nothing."""
    columns = prices.columns
    return columns * prices.size + columns, np.ones(len(columns))


def moments_of(prices: Prices, keys: Whole, chances: Reals) -> Reals:
    """q_i(a) of a map given by keys."""
    inputs, outs = np.divmod(keys, prices.size)
    found = np.empty((prices.size, len(prices.problem.joint)))
    for a, law in enumerate(prices.problem.joint):
        parts = law[inputs] * chances
        found[:, a] = np.bincount(outs, weights=parts, minlength=prices.size)
    return found


def point_of(prices: Prices, keys: Whole, chances: Reals) -> Point:
    """A map given by keys in order, with its leak and distortion."""
    moments = moments_of(prices, keys, chances)
    moved = prices.problem.profiles[keys // prices.size] * chances
    far = float(moved @ distances_of(prices, keys))
    return Point(keys, chances, moments, far, information(moments, prices.problem.prior))


def distances_of(prices: Prices, keys: Whole) -> Reals:
    """d(j, i) of each entry; keys in order."""
    inputs, outs = np.divmod(keys, prices.size)
    ends = np.searchsorted(inputs, prices.columns, side="right")
    found, at = np.empty(len(keys)), 0
    for column, end in zip(prices.columns.tolist(), ends.tolist(), strict=True):
        found[at:end] = prices.problem.distance.row(column)[outs[at:end]]
        at = end
    return found


def _near_start(prices: Prices, delta: float) -> tuple[Whole, Reals]:
    """Chances ~ exp(-beta d) among the nearest outputs, with E[d] at most Delta."""
    count = min(_NEAREST, prices.size)
    everyone = np.arange(len(prices.columns))
    outs = np.empty((len(everyone), count), dtype=np.int64)
    far = np.empty((len(everyone), count))
    for part in prices.blocks(everyone):
        distances = prices.far(everyone[part])
        nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
        outs[part] = np.sort(nearest, axis=1)
        far[part] = np.take_along_axis(distances, outs[part], axis=1)
    chances, mean = _falling(far, prices.mass, 0.0)
    low, high = 0.0, 1.0 / delta
    while mean > delta and high < 1e12 / delta:
        chances, mean = _falling(far, prices.mass, high)
        low, high = (high, 2 * high) if mean > delta else (low, high)
    if mean <= delta and low > 0:
        for _ in range(30):
            middle = 0.5 * (low + high)
            other, reached = _falling(far, prices.mass, middle)
            if reached > delta:
                low = middle
            else:
                high, chances, mean = middle, other, reached
    keys = (prices.columns[:, None] * prices.size + outs).ravel()
    return (keys, chances.ravel()) if mean <= delta else identity_entries(prices)


def _falling(far: Reals, mass: Reals, beta: float) -> tuple[Reals, float]:
    chances = np.exp(-beta * (far - far.min(axis=1, keepdims=True)))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances, float(mass @ (chances * far).sum(axis=1))


def solution_of(
    prices: Prices,
    point: Point,
    bound: float,
    multiplier: float,
    history: tuple[Step, ...],
    interrupted: bool,
) -> Solution:
    """The point as a channel, with leak and distortion computed afresh from it."""
    silent = np.setdiff1d(np.arange(prices.size), prices.columns)  # released as they are
    kept = point.chances > 0
    keys = np.concatenate([point.keys[kept], silent * (prices.size + 1)])
    chances = np.concatenate([point.chances[kept], np.ones(len(silent))])
    order = np.argsort(keys)
    inputs, outs = np.divmod(keys[order], prices.size)
    chances = chances[order] / np.bincount(inputs, weights=chances[order])[inputs]
    channel = Channel(np.searchsorted(inputs, np.arange(prices.size + 1)), outs, chances)
    fresh = point_of(prices, point.keys[kept], point.chances[kept])
    return Solution(
        channel,
        fresh.leak,
        min(bound, fresh.leak),
        fresh.distortion,
        multiplier,
        prices.problem.untouched,
        history,
        interrupted,
    )
