"""The least leak at a given distortion: Newton's method on a smoothed dual, level by level.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), Theorem 3 (smoothed dual), "Algorithm"
Notation  as in mapping_kernels.py; z = parameters of the assumed posteriors, tau = temperature
Not here  the loops (mapping_kernels.py), the reference methods (mapping_frank_wolfe.py).

At temperature tau every profile chooses softly among outputs near the cheapest one. The dual is
concave in (z, lam); a level solves it over short candidate lists, then one sweep over all pairs
gives the exact lower bound and the next lists. Primal answers come from the soft choices.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.optim.mapping import Channel, Problem, Progress, Solution, Step, information
from reticent.optim.mapping_line import Grid, first_grid, grid_at, on_a_line
from reticent.optim.mapping_primal import feasible_channel
from reticent.optim.pricing import Lists, Pricing, in_order, near_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_WIDTH = 12.0  # candidates cost at most this many tau more than the cheapest
_REACH = 0.25  # of I(A; B): and this much more, because costs move before the next sweep
_CAP, _LEAST_CAP = 400, 32  # candidates of one profile; in a crowd
_ENTRIES = 1 << 23  # of all candidate lists together
_FEW = 600  # profiles: all of them are candidates
_FEWEST, _NEAREST = 8, 150  # first candidates: fewer on average are too few
_ROUGHLY = 3e-3  # the relative gap of a coarser problem
_WARM = 0.02  # of I(A; B): the temperature of a search that starts where another ended
_COLDEST = 1e-6  # of I(A; B): below this temperature nothing is gained any more
_SMALL = 2000  # profiles up to which another method may take over
_MORE_STEPS = 2000
_LIKELY = 1e-7  # chances below it do not bend the dual
_NEAR, _NEARER, _COLD = 1e-2, 1e-3, 3e-3  # of tau: another Newton step's gain, warm and cold
_STEPS = 30


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class State:
    """Where the dual stands; a later solve at another Delta may start from it."""

    z: Reals
    lam: float
    tau: float


def solve_mapping(
    problem: Problem,
    *,
    relative_gap: float = 1e-3,
    seconds: float = np.inf,
    start: State | None = None,
    progress: Progress | None = None,
) -> Solution:
    """A mapping within ``relative_gap`` of I(A; B) of the least leak, or the best until then.

    Where the smoothed dual stalls on a small alphabet, Frank-Wolfe steps go on from there.
    """
    require(0 <= relative_gap < 1, "relative_gap", relative_gap, "at least 0 and below 1")
    require(seconds >= 0, "seconds", seconds, "not negative")
    began = time.perf_counter()
    found = _Solver(problem, start, began + seconds).run(relative_gap, progress)
    left = seconds - (time.perf_counter() - began)
    done = found.interrupted or found.relative_gap <= relative_gap or left <= 0
    if done or len(problem.profiles) > _SMALL:
        return found
    return _better(found, problem, relative_gap, left, progress)


def _better(
    found: Solution, problem: Problem, relative_gap: float, left: float, progress: Progress | None
) -> Solution:
    """The better mapping and the better bound of two methods."""
    from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe

    other = solve_by_frank_wolfe(
        problem, relative_gap=relative_gap, seconds=left, steps=_MORE_STEPS, progress=progress
    )
    best = other if other.leak < found.leak else found
    bounding = other if other.bound > found.bound else found
    return replace(
        best,
        bound=bounding.bound,
        multiplier=bounding.multiplier,
        history=found.history + _going_on(found, other.history),
        interrupted=other.interrupted,
        state=found.state,
    )


def _going_on(found: Solution, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Later steps as part of one search: the best leak and bound so far, and the time of both."""
    spent = found.history[-1].seconds if found.history else 0.0
    return tuple(
        Step(spent + step.seconds, min(step.leak, found.leak), max(step.bound, found.bound))
        for step in steps
    )


class _Solver:
    def __init__(self, problem: Problem, start: State | None, deadline: float) -> None:
        self.deadline = deadline
        self.order = near_order(problem.distance)
        self.unit = problem.distance.largest or 1.0  # distances are at most 1 in here
        problem = Problem(
            np.ascontiguousarray(problem.joint[:, self.order]),
            in_order(problem.distance.scaled(1 / self.unit), self.order),
            problem.delta / self.unit,
        )
        self.problem = problem
        self.pi, self.p, self.prior = problem.posteriors, problem.profiles, problem.prior
        used = self.prior > 0
        self.pi, self.prior = np.ascontiguousarray(self.pi[:, used]), self.prior[used]
        self.log_prior = np.log(self.prior)
        self.untouched = problem.untouched
        self.n, self.secrets = self.pi.shape
        self.pricing = self.certifying = Pricing(problem.distance)
        self.grid: Grid | None = None
        self.z = np.zeros((self.n, self.secrets - 1))  # of the last secret it is 0
        self.lam = 0.3 * self.untouched / max(problem.delta, 1e-9)
        self.tau = 0.15 * self.untouched
        self.reg = 1.0
        if on_a_line(problem) and problem.delta > 0:
            self._start_on_a_line()
        if start is not None:
            self.z, self.lam, self.tau = start.z[self.order], start.lam, _WARM * self.untouched
        self.bound, self.multiplier = 0.0, 0.0
        self.best = Channel.identity(self.n)
        self.leak, self.distortion = self.untouched, 0.0

    def _start_on_a_line(self) -> None:
        """Begin with what coarser problems give; keep few outputs if few are enough."""
        first = first_grid(self.problem)
        coarse = _Solver(first.coarse(self.problem), None, self.deadline)
        found = coarse.run(_ROUGHLY, None).state
        self.z, self.lam, self.tau = first.between(found.z), found.lam, 4 * found.tau
        self.grid = grid_at(self.problem, self.lam)
        if self.grid is not None:
            self.pricing = Pricing(self.problem.distance, self.grid.kept)

    def run(self, relative_gap: float, progress: Progress | None) -> Solution:
        began, history, interrupted = time.perf_counter(), [], False
        goal = relative_gap * self.untouched
        try:
            if self.untouched > 1e-15 and self.problem.delta > 0:
                self.lists = self._first_lists()
                for _ in range(60):
                    self._ascend()
                    fresh, bound = self._price(self.tau)
                    violation = self._restricted() - bound
                    if bound > self.bound:
                        self.bound, self.multiplier = bound, self.lam
                    self._primal()
                    step = Step(time.perf_counter() - began, self.leak, self.bound)
                    history.append(step)
                    if progress is not None:
                        progress(step)
                    if self.leak - self.bound <= goal or self._late():
                        break
                    if violation > 0.1 * self.tau:
                        self.lists = self.lists.union(fresh)
                    elif self.tau <= _COLDEST * self.untouched:
                        break
                    else:
                        self.tau *= 0.4
                        self.lists = self._narrowed(fresh)
        except KeyboardInterrupt:
            interrupted = True
        return Solution(
            self._as_given(self.best),
            self.leak,
            self.bound,
            self.distortion * self.unit,
            self.multiplier / self.unit,
            self.untouched,
            tuple(history),
            interrupted,
            State(self.z[np.argsort(self.order)], self.lam, self.tau),
        )

    def _as_given(self, channel: Channel) -> Channel:
        """The channel with profiles in the order of the problem."""
        inputs, outs = self.order[channel.inputs], self.order[channel.outs]
        sort = np.lexsort((outs, inputs))
        starts = np.searchsorted(inputs[sort], np.arange(self.n + 1))
        return Channel(starts, outs[sort], channel.chances[sort])

    def _posterior(self, z: Reals) -> tuple[Reals, Reals]:
        """t_i and g_i = ln(t_i / p)."""
        high = np.zeros((self.n, self.secrets))
        high[:, :-1] = z
        high += self.log_prior
        high = high - high.max(axis=1, keepdims=True)
        g = high - np.log(np.exp(high).sum(axis=1, keepdims=True)) - self.log_prior
        return np.exp(g + self.log_prior), g

    def _price(self, tau: float, cap: int = _CAP) -> tuple[Lists, float]:
        """Candidates within reach at ``tau``, and the lower bound of Theorem 2."""
        cap = self.n if self.n <= _FEW else min(cap, max(_LEAST_CAP, _ENTRIES // self.n))
        width = _WIDTH * tau + _REACH * self.untouched
        if self.grid is not None:
            self.z = self.grid.between(self.z[self.grid.kept])
        gains = self._posterior(self.z)[1]
        lists, least = self.pricing.cheapest(self.pi, gains, self.lam, width, cap)
        if self.grid is not None:
            _, least = self.certifying.cheapest(self.pi, gains, self.lam, 0.0, 0)
        return lists, float(self.p @ least) - self.lam * self.problem.delta

    def _narrowed(self, lists: Lists) -> Lists:
        """Those of ``lists`` that are candidates at the present temperature."""
        costs = self._costs(lists)
        least = np.minimum.reduceat(costs, lists.starts[:-1])
        width = _WIDTH * self.tau + _REACH * self.untouched
        return lists.only(costs <= least[lists.inputs] + width)

    def _costs(self, lists: Lists) -> Reals:
        inputs = lists.inputs
        gain = np.einsum("ea,ea->e", self.pi[inputs], self.g[lists.outs])
        return np.asarray(self.lam * lists.dist + gain)

    def _first_lists(self) -> Lists:
        """Outputs near enough at the first temperature; the nearest ones where those are few."""
        if self.n <= _FEW:
            return self._price(np.inf)[0]
        near, _ = self._price(self.tau)
        few = len(near.outs) < _FEWEST * self.n
        return self._price(np.inf, cap=_NEAREST)[0] if few else near

    def _soften(self, z: Reals, lam: float) -> tuple[float, float]:
        """Value of the dual at tau and E[d]; leaves x, mass and moment behind."""
        from reticent.optim.mapping_kernels import soften

        self.t, self.g = self._posterior(z)
        lists = self.lists
        self.x = np.empty(len(lists.outs))
        self.mass, self.moment = np.empty(self.n), np.empty((self.n, self.secrets))
        value, distortion = soften(
            lists.starts,
            lists.outs,
            lists.dist,
            self.pi,
            self.p,
            self.t,
            self.g,
            lam,
            self.tau,
            self.x,
            self.mass,
            self.moment,
        )
        return value - lam * self.problem.delta, distortion

    def _restricted(self) -> float:
        """The bound as it would be if only the lists existed: at the hard minimum."""
        costs = self._costs(self.lists)
        least = np.minimum.reduceat(costs, self.lists.starts[:-1])
        return float(self.p @ least) - self.lam * self.problem.delta

    def _ascend(self) -> None:
        """Newton steps on the smoothed dual over the lists; the ridge follows their success."""
        near = _NEAR if self.tau > _COLD * self.untouched else _NEARER
        self._settle_price()
        value, distortion = self._soften(self.z, self.lam)
        for _ in range(_STEPS):
            slope = (self.moment - self.mass[:, None] * self.t)[:, :-1]
            slope_lam = distortion - self.problem.delta
            way, way_lam, decrement = self._direction(slope, slope_lam)
            if decrement < near * self.tau or self._late():
                return
            length = min(1.0, 3.0 / max(np.abs(way).max(), 1e-300))
            if way_lam != 0:  # far off its path the price of distortion loses all feeling
                length = min(length, (0.5 if way_lam > 0 else -0.33) * self.lam / way_lam)
            whole = length
            for _try in range(8):
                z, lam = self.z + length * way, self.lam + length * way_lam
                new, far = self._soften(z, lam)
                if new >= value + 1e-4 * length * decrement:
                    break
                length *= 0.3
            else:
                value, distortion = self._soften(self.z, self.lam)
                self.reg *= 8
                if self.reg > 1e4:
                    self.reg = 1.0
                    return
                continue
            self.reg = max(0.03, self.reg * (0.5 if length == whole else 2.0))
            self.z, self.lam, value, distortion = z, lam, new, far

    def _late(self) -> bool:
        return time.perf_counter() > self.deadline

    def _settle_price(self) -> None:
        """The price of distortion at which the soft choices just meet Delta, z as it is."""
        low, high = self.lam, self.lam
        while self._soften(self.z, high)[1] > self.problem.delta and high < 1e9 * self.lam:
            low, high = high, 2 * high
        while self._soften(self.z, low)[1] < self.problem.delta and low > 1e-9 * self.lam:
            low, high = low / 2, low
        for _ in range(5):
            middle = float(np.sqrt(low * high))
            if self._soften(self.z, middle)[1] > self.problem.delta:
                low = middle
            else:
                high = middle
        self.lam = float(np.sqrt(low * high))

    def _direction(self, slope: Reals, slope_lam: float) -> tuple[Reals, float, float]:
        """Conjugate gradients on (-H + reg diag(p)) way = slope, with the diagonal in front."""
        from reticent.optim.mapping_kernels import curve, diagonal

        tau, likely = self.tau, self.x > _LIKELY
        lists, x = self.lists.only(likely), self.x[likely]
        scale, turns = np.empty_like(self.z), np.empty(len(x))
        arrays = (lists.starts, lists.outs, lists.dist, self.pi, self.p, self.t, tau, x)
        scale_lam = diagonal(*arrays, self.mass, scale)
        ridge = (self.reg * self.p + 1e-12)[:, None]
        ridge_lam = 0.01 * self.problem.delta**2 / tau + 1e-12
        scale = scale + ridge
        scale_lam = max(scale_lam, 0.0) + ridge_lam
        way, way_lam = np.zeros_like(slope), 0.0
        left, left_lam = slope.copy(), slope_lam
        front, front_lam = left / scale, left_lam / scale_lam
        turn, turn_lam = front.copy(), front_lam
        size = float((left * front).sum() + left_lam * front_lam)
        first = size
        image = np.empty_like(slope)
        for _ in range(12):
            image_lam = curve(*arrays, self.mass, turn, turn_lam, turns, image)
            image += ridge * turn
            image_lam += ridge_lam * turn_lam
            bend = float((turn * image).sum() + turn_lam * image_lam)
            if not bend > 0:
                break
            step = size / bend
            way += step * turn
            way_lam += step * turn_lam
            left -= step * image
            left_lam -= step * image_lam
            front, front_lam = left / scale, left_lam / scale_lam
            new = float((left * front).sum() + left_lam * front_lam)
            if new < 1e-2 * first:
                break
            turn, turn_lam = front + new / size * turn, front_lam + new / size * turn_lam
            size = new
        return way, way_lam, float((slope * way).sum() + slope_lam * way_lam)

    def _primal(self) -> None:
        """The mapping that the soft choices give, kept if it leaks less than the best so far."""
        channel = feasible_channel(self.problem, self.pi, self.prior, self.lists, self.x, self.lam)
        whole = bool(np.isfinite(channel.chances).all()) and bool((channel.support > 0).all())
        if not whole:  # beyond what floats can hold
            return
        leak = information(channel.moments(self.problem.joint), self.problem.prior)
        if leak < self.leak:
            moved = channel.chances * channel.distances(self.problem.distance)
            far = float(self.p[channel.inputs] @ moved)
            self.best, self.leak, self.distortion = channel, leak, far
