"""The paper's example and algorithm: how near to the least leak, how sparse, and at what cost.

Not here  trade-offs on data (curves.py).

The reference is our certified optimum and, where CVXPY is installed, a general solver. Times are
CPU seconds of one run in one process; compare them with each other, not with other machines.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.mappings.curves import problem
from experiments.mappings.datasets import Instance, cube, synthetic
from experiments.mappings.results import Pool
from reticent.optim.mapping import Problem, Solution, Step, information
from reticent.optim.mapping_baselines import exponential_channel
from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe
from reticent.optim.mapping_newton import solve_mapping
from reticent.optim.mapping_paper import solve_by_paper
from reticent.tasks.leakage import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTHS = (3, 10, 100, 500)
USUAL = 1 / 64
MIX = 1e-3  # share of a full map in the start: such entries do not count
OURS, PAPER, GENERAL = "ours, to 0.1 %", "paper, L = {}", "CVXPY with Clarabel"
FRANK_WOLFE, EXPONENTIAL = "Frank-Wolfe, to 1 %", "exponential"


class Watch:
    """CPU seconds and leaks of a solver, step by step."""

    def __init__(self) -> None:
        self.began = time.process_time()
        self.steps: list[tuple[float, float]] = []

    def __call__(self, step: Step) -> None:
        """One line of its history."""
        self.steps.append((time.process_time() - self.began, step.leak))

    def after(self, steps: int, last: Solution) -> tuple[float, float]:
        """Seconds and leak after so many steps; the last ones if it stopped before."""
        if steps < len(self.steps):
            return self.steps[steps]
        return self.seconds, last.leak

    def stop(self) -> None:
        """The end of the run."""
        self.seconds = time.process_time() - self.began


def watched(solve: Callable[..., Solution], law: Problem, **options: Any) -> tuple[Solution, Watch]:
    """A solution and its times."""
    watch = Watch()
    found = solve(law, progress=watch, **options)
    watch.stop()
    return found, watch


def by_length(pool: Pool, bits: int, shares: Sequence[float], steps: int) -> None:
    """Figure 2, left: the example for several L, against the least leak."""
    case = synthetic(bits)
    size = len(case.profiles)
    for share in shares:
        law = problem(case, share * size**2)
        best = solve_mapping(law)
        pool.add("by length", case.name, "least possible", share, best.bound * BITS)
        pool.add("by length", case.name, OURS, share, best.leak * BITS)
        found, watch = watched(solve_by_paper, law, steps=steps)
        for length in (n for n in LENGTHS if n <= steps):
            _, leak = watch.after(length, found)
            pool.add("by length", case.name, PAPER.format(length), share, leak * BITS)
        leaks = np.array([leak for _, leak in watch.steps])
        rises = float(np.diff(leaks).max()) if len(leaks) > 1 else 0.0
        pool.add("rises", case.name, PAPER.format(steps), share, rises)
        for length in (10, 30, 100, 300):
            if length <= steps:
                _, leak = watch.after(length, found)
                excess = length * max(leak - best.bound, 0.0) / law.untouched
                pool.add("L times excess", case.name, f"{share:.6g}", length, excess)


def excess(pool: Pool, case: Instance, delta: float, steps: int = 100) -> None:
    """How far the paper's L steps are above the least leak, and what both cost."""
    law = problem(case, delta)
    best, mine = watched(solve_mapping, law)
    found, watch = watched(solve_by_paper, law, steps=steps, mix=MIX)
    rows = {
        "excess": (found.leak - best.leak) / law.untouched,
        "excess, most": (found.leak - best.bound) / law.untouched,
        "its own gap": found.relative_gap,
        "our gap": best.relative_gap,
        "times our CPU": watch.seconds / mine.seconds,
        "entries per profile": (found.channel.chances > MIX).sum() / len(case.profiles),
    }
    for series, value in rows.items():
        pool.add("excess", case.name, series, delta, value)


def times(pool: Pool, bits: Sequence[int], paper: int, general: int, peers: int) -> None:
    """Figure 6: CPU seconds against the size of the alphabet, Delta = n^2 / 64.

    The paper's algorithm runs up to ``paper`` bits, the general solver up to ``general``, and
    Frank-Wolfe and the exponential mechanism up to ``peers``.
    """
    solve_mapping(problem(synthetic(4), 1.0))  # compiled before it is timed
    for m in bits:
        case = synthetic(m)
        size = len(case.profiles)
        law = problem(case, USUAL * size**2)
        best, watch = watched(solve_mapping, law)
        _time(pool, OURS, size, watch.seconds)
        pool.add("solved", "example", "gap", size, best.relative_gap)
        pool.add("solved", "example", "support", size, float(best.channel.support.mean()))
        if m <= paper:
            found, watch = watched(solve_by_paper, law, steps=100)
            for length in (3, 10, 100):
                _time(pool, PAPER.format(length), size, watch.after(length, found)[0])
        if m <= peers:
            _, watch = watched(solve_by_frank_wolfe, law, relative_gap=1e-2, steps=3000)
            _time(pool, FRANK_WOLFE, size, watch.seconds)
            _exponential(pool, law, "example")
        if m <= general:
            _general(pool, law, best)


def cubes(pool: Pool, bits: Sequence[int], peers: int) -> None:
    """The same on profiles of so many bits, Delta = 0.02."""
    solve_mapping(problem(cube(4), 0.02))
    for m in bits:
        law = problem(cube(m), 0.02)
        best, watch = watched(solve_mapping, law)
        _time(pool, OURS, 2**m, watch.seconds, "cube")
        pool.add("solved", "cube", "gap", 2**m, best.relative_gap)
        if m <= peers:
            _, watch = watched(solve_by_frank_wolfe, law, relative_gap=1e-2, steps=3000)
            _time(pool, FRANK_WOLFE, 2**m, watch.seconds, "cube")
            _exponential(pool, law, "cube")


def _exponential(pool: Pool, law: Problem, data: str) -> None:
    """One table of the exponential mechanism; finding its beta takes several."""
    began = time.process_time()
    exponential_channel(law, 1 / law.delta)
    _time(pool, EXPONENTIAL, law.distance.size, time.process_time() - began, data)


def _time(pool: Pool, series: str, size: int, seconds: float, data: str = "example") -> None:
    pool.add("time", data, series, size, seconds)


def _general(pool: Pool, law: Problem, best: Solution) -> None:
    """A general convex solver on the same problem; nothing if it is not installed."""
    try:
        cp: Any = import_module("cvxpy")
    except ImportError:
        return
    size = law.distance.size
    began = time.process_time()
    x = cp.Variable((size, size), nonneg=True)  # [input, output]
    moments = law.joint @ x
    mass = cp.reshape(cp.sum(moments, axis=0), (1, size), order="C")
    leak = cp.sum(cp.rel_entr(moments, law.prior[:, None] @ mass))
    far = law.profiles[:, None] * law.distance.dense()
    rules = [cp.sum(x, axis=1) == 1, cp.sum(cp.multiply(far, x)) <= law.delta]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says when it is not sure of its answer
        value = cp.Problem(cp.Minimize(leak), rules).solve(solver="CLARABEL")
    _time(pool, GENERAL, size, time.process_time() - began)
    inside = (float(value) - best.bound) / law.untouched
    pool.add("solved", "example", "CVXPY above our bound", size, inside)


def peers(pool: Pool, case: Instance, delta: float, gap: float) -> None:
    """CPU seconds to one certified gap by our two methods, as a ratio."""
    law = problem(case, delta)
    _, mine = watched(solve_mapping, law, relative_gap=gap)
    other, watch = watched(solve_by_frank_wolfe, law, relative_gap=gap, steps=4000)
    pool.add("peers", case.name, "CPU s", delta, mine.seconds)
    pool.add("peers", case.name, "Frank-Wolfe / ours", delta, watch.seconds / mine.seconds)
    pool.add("peers", case.name, "gap of Frank-Wolfe", delta, other.relative_gap)


def gradients(pool: Pool) -> None:
    """The paper's gradient as printed, and without its second sum, against finite differences."""
    rng = np.random.default_rng(3)
    joint, x = rng.dirichlet(np.ones(15)).reshape(3, 5), rng.dirichlet(np.ones(5), size=5).T
    first, second = _gradient(joint, x)
    measured = np.empty_like(x)
    for i, j in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i, j] = 1e-6
        measured[i, j] = (_leak(joint, x + step) - _leak(joint, x - step)) / 2e-6
    pool.add("gradient", "3 x 5", "as printed", "", np.abs(first + second - measured).max())
    pool.add("gradient", "3 x 5", "without the second sum", "", np.abs(first - measured).max())
    case = synthetic(6)
    given = case.joint / case.joint.sum(axis=1, keepdims=True)  # p(b | a) at the identity
    endless = (given.T[:, :, None] == 0) & (case.joint[None] > 0)  # [output, secret, input]
    share = float(endless.any(axis=1).mean())
    pool.add("gradient", case.name, "minus infinity at the identity", "", share)


def _leak(joint: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    return information(x @ joint.T, joint.sum(axis=1))


def _gradient(
    joint: NDArray[np.float64], x: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two sums of section 3.4, [output, input]."""
    prior, moments = joint.sum(axis=1), x @ joint.T  # p(a, bh_i) at [i, a]
    mass = moments.sum(axis=1)
    given, ratio = moments / prior, joint / prior[:, None]  # p(bh_i | a), p(b_j | a)
    first = np.log(given / mass[:, None]) @ joint
    second = np.einsum("ia,aj,ia->ij", moments, ratio, 1 / given)
    second -= np.einsum("ia,aj->ij", moments, joint) / mass[:, None]
    return first, second


def growth(curve: Sequence[tuple[float, float]]) -> float:
    """The exponent of a power of n that goes through the last two points."""
    (n, before), (more, after) = curve[-2:]
    return math.log(after / before) / math.log(more / n)
