"""The least leak at a given distortion by Frank-Wolfe, with a linear step that needs no LP solver.

Theory    docs/theory/mapping.md, Theorem 1 (gradient), Theorem 2 (certificate), Theorem 4 (linear
          step), "Algorithm"
Notation  pi_j = p(a | b_j), p_j = p(b_j), t_i = posterior at output i, g_i = ln(t_i / p),
          c_ij = p_j <pi_j, g_i>, lam = price of distortion
Not here  the faster method (mapping_newton.py), the paper's own linear step (mapping_paper.py).

Every step moves towards a map that sends each profile to one output, at most one profile to two.
The value of that linear program is a lower bound of the least leak, so each step certifies. Only
the entries in use are stored; distances are read in blocks where a table of them would be large.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.optim.mapping import Channel, Problem, Progress, Solution, Step, information
from reticent.optim.pricing import Pricing
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

FLOOR = 1e-9  # of a posterior at an output: below it the gradient, then minus infinity, is cut off
_TABLE = 2000  # profiles up to which all distances are kept
_BLOCK = 1 << 22  # pairs priced at a time beyond that
_NEAREST = 16  # outputs of a profile at the start
_SWEEPS = 100  # a guard: the search for the price ends after a dozen
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


# The linear step


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One output for each of some profiles, its cost without distance, and its distance."""

    outs: Whole
    costs: Reals
    far: Reals

    def changed(self, where: Whole | NDArray[np.bool_], other: Choice) -> Choice:
        """With the entries of ``other`` at ``where``."""
        outs, costs, far = self.outs.copy(), self.costs.copy(), self.far.copy()
        outs[where], costs[where], far[where] = other.outs, other.costs, other.far
        return Choice(outs, costs, far)

    def some(self, where: Whole | NDArray[np.bool_]) -> Choice:
        """The entries at ``where``."""
        return Choice(self.outs[where], self.costs[where], self.far[where])


Cheapest: TypeAlias = Callable[["Whole", float], Choice]
"""For some profiles and a price lam: the outputs of least cost + lam distance."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearStep:
    """The optimum of the linear program: ``outs``, but ``share`` of profile ``split`` to ``other``.

    ``value`` is attained, ``bound`` is that of the dual; they differ by rounding only.
    """

    outs: Whole
    split: int
    other: int
    share: float
    value: float
    bound: float
    distortion: float
    multiplier: float

    def entries(self) -> tuple[Whole, Whole, Reals]:
        """Profiles, outputs and chances."""
        profiles, chances = np.arange(len(self.outs)), np.ones(len(self.outs))
        if self.split < 0:
            return profiles, self.outs, chances
        chances[self.split] = 1 - self.share
        return (
            np.append(profiles, self.split),
            np.append(self.outs, self.other),
            np.append(chances, self.share),
        )


def linear_step(
    cheapest: Cheapest, mass: Reals, stay: Choice, delta: float, *, guess: float = 0.0
) -> LinearStep:
    """Minimise sum_j mass_j cost_j over maps of mean distance at most ``delta``. Theorem 4.

    ``stay`` is any choice within ``delta``. The dual is concave and piecewise linear in the one
    price: where the tangents from either side meet is either its top or a point with a new tangent.
    A profile whose choices on both sides are equally far needs no further look.
    """
    everyone = np.arange(len(mass))
    low, high, least = _bracket(cheapest, everyone, mass, stay, delta, guess)
    if low is None:
        return _mixed_step(high, high, mass, delta, 0.0, float(mass @ high.costs))
    bound, lam = -np.inf, least
    for _ in range(_SWEEPS):
        same = (low.far == high.far) & (low.costs < high.costs)
        high = high.changed(same, low.some(same))
        unsettled = np.flatnonzero(low.far != high.far)
        drop = float(mass @ (low.far - high.far))
        if drop <= 0:
            break
        lam = max(least, float(mass @ (high.costs - low.costs)) / drop)
        found = cheapest(unsettled, lam)
        middle = low.changed(unsettled, found)
        tops = np.abs(high.costs) + lam * high.far
        gain = mass @ (high.costs + lam * high.far - middle.costs - lam * middle.far)
        bound = max(bound, float(mass @ (middle.costs + lam * middle.far)) - lam * delta)
        if gain <= 1e-14 * float(mass @ tops):
            break
        if float(mass @ middle.far) > delta:
            low, least = middle, lam
        else:
            high = middle
    return _mixed_step(low, high, mass, delta, lam, bound)


def _bracket(
    cheapest: Cheapest, everyone: Whole, mass: Reals, high: Choice, delta: float, guess: float
) -> tuple[Choice | None, Choice, float]:
    """Choices beyond Delta and within it; the first is None where nothing is beyond it."""
    lam = 0.8 * guess
    while True:
        found = cheapest(everyone, lam)
        if float(mass @ found.far) > delta:
            return found, high, lam
        high = found
        if lam == 0:
            return None, high, lam
        lam = lam / 2 if lam > 0.3 * guess else 0.0


def _mixed_step(
    low: Choice, high: Choice, mass: Reals, delta: float, lam: float, bound: float
) -> LinearStep:
    """Profiles go over from ``high`` to ``low`` one by one, the last one in part, until Delta."""
    saved, extra = high.costs - low.costs, low.far - high.far
    movers = np.flatnonzero((extra > 0) & (saved > 0))
    movers = movers[np.argsort(-saved[movers] / extra[movers], kind="stable")]
    room = delta - float(mass @ high.far)
    used = np.cumsum(mass[movers] * extra[movers])
    count = int(np.searchsorted(used, room, side="right"))
    chosen = high.changed(movers[:count], low.some(movers[:count]))
    split, other, share = -1, -1, 0.0
    value, far = float(mass @ chosen.costs), float(mass @ chosen.far)
    if count < len(movers) and room > 0:
        split = int(movers[count])
        left = room - (used[count - 1] if count else 0.0)
        share = float(min(1.0, max(0.0, left / (mass[split] * extra[split]))))
        other = int(low.outs[split])
        value -= share * float(mass[split] * saved[split])
        far += share * float(mass[split] * extra[split])
    return LinearStep(chosen.outs, split, other, share, value, bound, far, lam)


# Costs of this problem


class Prices:
    """What every profile of positive probability pays for every output, in blocks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.columns = np.flatnonzero(problem.profiles > 0)
        self.secrets = problem.prior > 0
        self.prior = problem.prior[self.secrets]
        self.pi = problem.posteriors[self.columns][:, self.secrets]
        self.mass = problem.profiles[self.columns]
        self.size = problem.distance.size
        small = self.size <= _TABLE
        self._table = problem.distance.dense()[self.columns] if small else None
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self.pi > 0, self.pi * np.log(self.pi / self.prior), 0.0)
        self.divergence = terms.sum(axis=1)  # KL(pi_j || p): the one-sided slope at an unused row

    def far(self, rows: Whole) -> Reals:
        """Distances from some of the columns to all outputs."""
        if self._table is not None:
            return self._table if len(rows) == len(self.columns) else self._table[rows]
        return np.array([self.problem.distance.row(j) for j in self.columns[rows].tolist()])

    def blocks(self, rows: Whole) -> Iterator[slice]:
        """Parts of ``rows`` that fit the memory meant for them."""
        most = len(rows) if self._table is not None else max(1, _BLOCK // self.size)
        return (slice(at, at + most) for at in range(0, len(rows), max(most, 1)))

    def assumed(self, moments: Reals, floor: float = FLOOR) -> Reals:
        """g_i = ln(t_i / p), with t_i floored and made to sum to 1, so that Theorem 2 applies.

        Rows of outputs that nobody uses are 0.
        """
        found = moments[:, self.secrets]
        total = found.sum(axis=1, keepdims=True)
        t = np.where(total > 0, found / np.where(total > 0, total, 1.0), self.prior)
        t = np.maximum(t, floor)
        return np.asarray(np.log(t / (t.sum(axis=1, keepdims=True) * self.prior)))

    def cheapest(self, g: Reals, empty: Whole) -> Cheapest:
        """The pricing of the linear step at the gradient g. Theorem 1."""
        by_secret = np.ascontiguousarray(g.T)
        if self._table is None:
            return _Sweep(self, g, empty).cheapest

        def price(rows: Whole, lam: float) -> Choice:
            outs = np.empty(len(rows), dtype=np.int64)
            costs, far = np.empty(len(rows)), np.empty(len(rows))
            for part in self.blocks(rows):
                distances = self.far(rows[part])
                slopes = self.pi[rows[part]] @ by_secret
                slopes[:, empty] = self.divergence[rows[part], None]
                outs[part] = (slopes + lam * distances).argmin(axis=1)
                each = np.arange(len(slopes))
                costs[part], far[part] = slopes[each, outs[part]], distances[each, outs[part]]
            return Choice(outs, costs, far)

        return price

    def stay(self, g: Reals, empty: Whole) -> Choice:
        """Every profile as it is."""
        costs = np.einsum("ja,ja->j", self.pi, g[self.columns])
        own_empty = np.isin(self.columns, empty)
        costs[own_empty] = self.divergence[own_empty]
        return Choice(self.columns.copy(), costs, np.zeros(len(self.columns)))

    def shortfall(self, g: Reals, empty: Whole, lam: float, least: Reals) -> float:
        """By how much outputs not in use, at the posteriors assumed for them, lower the bound."""
        if not len(empty):
            return 0.0
        rows, total = np.arange(len(self.columns)), 0.0
        for part in self.blocks(rows):
            costs = self.pi[part] @ g[empty].T + lam * self.far(rows[part])[:, empty]
            total += float(self.mass[part] @ np.maximum(least[part] - costs.min(axis=1), 0.0))
        return total

    def blurred(self, empty: Whole, rate: float) -> Reals:
        """Posteriors for outputs not in use: of the profiles around them, nearer ones more."""
        found = np.full((len(empty), len(self.prior)), 1e-300) * self.prior
        rows = np.arange(len(self.columns))
        for part in self.blocks(rows):
            weights = np.exp(-rate * self.far(rows[part])[:, empty]) * self.mass[part, None]
            found += weights.T @ self.pi[part]
        return np.asarray(found / found.sum(axis=1, keepdims=True))


class _Sweep:
    """Pricing without a table of distances, by compiled blocks."""

    def __init__(self, prices: Prices, g: Reals, empty: Whole) -> None:
        self.prices, self.g = prices, g
        used = np.setdiff1d(np.arange(prices.size), empty)
        self.used = Pricing(prices.problem.distance, used)
        self.empty = Pricing(prices.problem.distance, empty) if len(empty) else None

    def cheapest(self, rows: Whole, lam: float) -> Choice:
        """Among outputs in use by their slope, among the others the nearest."""
        own, pi = self.prices.columns[rows], self.prices.pi[rows]
        found, least = self.used.cheapest(pi, self.g, lam, 0.0, 1, own)
        outs, far = found.outs, found.dist
        if self.empty is not None:
            near, _ = self.empty.cheapest(pi, np.zeros_like(self.g), 1.0, 0.0, 1, own)
            better = self.prices.divergence[rows] + lam * near.dist < least
            outs, far = np.where(better, near.outs, outs), np.where(better, near.dist, far)
            costs = np.einsum("ja,ja->j", pi, self.g[outs])
            return Choice(outs, np.where(better, self.prices.divergence[rows], costs), far)
        return Choice(outs, np.einsum("ja,ja->j", pi, self.g[outs]), far)


def gradient(problem: Problem, channel: Channel) -> Reals:
    """The derivative of the leak by x_ij, [output, input]; for small alphabets. Theorem 1."""
    prices = Prices(problem)
    moments = channel.moments(problem.joint)
    found = np.zeros((prices.size, prices.size))
    table = prices.pi @ prices.assumed(moments, floor=1e-300).T
    table[:, moments.sum(axis=1) == 0] = prices.divergence[:, None]
    found[:, prices.columns] = (prices.mass[:, None] * table).T
    return found


# The method


@dataclass(frozen=True, slots=True, eq=False)
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
