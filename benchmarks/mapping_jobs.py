"""Measurements of mappings, each the whole life of one process.

Notation  as in mappings.py
Not here  what is measured when, and what it is compared with (mappings.py).

``run`` starts a job in a fresh interpreter whose linear algebra has one thread, and reads the one
line of JSON that it prints. Every job loads or compiles code before it measures, on an alphabet of
its own; only ``begin`` measures just that.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.harness import cpu_seconds, medians
from experiments.mappings import datasets
from reticent.optim.linear_step import linear_step
from reticent.optim.mapping import Channel, Problem, Solution, Step
from reticent.optim.mapping_frank_wolfe import solve_by_frank_wolfe
from reticent.optim.mapping_newton import solve_mapping
from reticent.optim.mapping_paper import _Program, solve_by_paper
from reticent.optim.mapping_prices import Prices

Given: TypeAlias = tuple[str, tuple[int, ...]]
"""An instance: the name of its maker, and what it is made from."""

Answer: TypeAlias = dict[str, Any]

COARSE, FINE = 1e-2, 1e-3  # gaps, as shares of I(A; B)
ROOT = Path(__file__).parents[1]
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")
SMALLER: dict[str, tuple[tuple[int, ...], float]] = {  # to load code on
    "adult": ((300,), 0.03),
    "film_like": ((800,), 0.02),
    "cube": ((10,), 0.02),
    "synthetic": ((10,), 4.0**10 / 64),
}
TINY: tuple[Given, float] = (("cube", (3,)), 0.1)


def run(job: str, *, cold: bool = False, **arguments: Any) -> Answer:
    """Do a job in a fresh process; ``cold`` hides code that was compiled before."""
    told = json.dumps({"job": job, **arguments})
    with tempfile.TemporaryDirectory() as empty:
        env = os.environ | {f"{name}_NUM_THREADS": "1" for name in THREADS}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.mapping_jobs", told],
            check=True,
            cwd=ROOT,
            env=env | ({"NUMBA_CACHE_DIR": empty} if cold else {}),
            stdout=subprocess.PIPE,
            text=True,
        )
    answer: Answer = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """In the fresh process: do what is told, and print the answer."""
    told = json.loads(sys.argv[1])
    print(json.dumps(JOBS[told.pop("job")](**told)))


def problem_of(given: Given, delta: float) -> tuple[Problem, str]:
    """The instance at one Delta, and what it is called."""
    maker, arguments = given
    made: datasets.Instance = getattr(datasets, maker)(*arguments)
    return Problem.of(made.joint, made.distance, delta), made.name


def begin() -> Answer:
    """The interpreter with all imports, and one solve of next to nothing."""
    started = time.process_time()
    problem, _ = problem_of(("cube", (4,)), 0.02)
    return {"start": started, "first": cpu_seconds(lambda: solve_mapping(problem))}


def solve(given: Given, delta: float, rounds: int, limit: float) -> Answer:
    """Our default solver to the fine gap, after a warm-up on a smaller relative."""
    smaller, usual = SMALLER[given[0]]
    solve_mapping(problem_of((given[0], smaller), usual)[0], seconds=3)
    problem, name = problem_of(given, delta)
    base = memory("VmRSS")
    watches = [Watch(problem, limit) for _ in range(rounds)]
    answer = watches[-1].answer
    support = answer.channel.support
    return {
        "name": name,
        "size": problem.distance.size,
        "hamming": given[0] != "synthetic",
        "coarse": [watch.coarse for watch in watches],
        "fine": [watch.total for watch in watches],
        "gap": answer.relative_gap,
        "leak": answer.leak,
        "bound": answer.bound,
        "untouched": answer.untouched,
        "mean": float(support.mean()),
        "p95": float(np.percentile(support, 95)),
        "max": int(support.max()),
        "base": base,
        "peak": memory("VmHWM"),
    }


class Watch:
    """One solve: when the coarse gap was proved, and how long it took or was let."""

    def __init__(self, problem: Problem, limit: float) -> None:
        self.untouched = problem.untouched
        self.coarse: float | None = None
        self.began = time.process_time()
        signal.signal(signal.SIGPROF, interrupt)
        signal.setitimer(signal.ITIMER_PROF, limit)  # of CPU time
        try:
            self.answer = solve_mapping(problem, relative_gap=FINE, progress=self.hear)
        except KeyboardInterrupt:  # before it had anything: profiles as they are, nothing proved
            same, leak = Channel.identity(problem.distance.size), problem.untouched
            self.answer = Solution(same, leak, 0.0, 0.0, 0.0, leak)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.total = time.process_time() - self.began

    def hear(self, step: Step) -> None:
        """One step of the solver."""
        if self.coarse is None and step.leak - step.bound <= COARSE * self.untouched:
            self.coarse = time.process_time() - self.began


def interrupt(*_: object) -> None:
    """As a person would: solvers give back the best they have."""
    raise KeyboardInterrupt


def cvxpy(given: Given, delta: float, other: Sequence[str]) -> Answer:
    """A general solver; writing the program is part of its time."""
    peer = import_module("benchmarks.mapping_peer")
    solver, tolerance, form = other
    peer.answer(problem_of(*TINY)[0], solver=solver, form=form)
    problem, _ = problem_of(given, delta)
    seconds, found = timed(
        lambda: peer.answer(problem, solver=solver, tolerance=tolerance, form=form)
    )
    return {
        "seconds": seconds,
        "status": found.status,
        "value": found.value,
        "leak": found.leak,
        "excess": found.excess,
        "peak": memory("VmHWM"),
    }


def paper(given: Given, delta: float, steps: int) -> Answer:
    """The paper's method as it stands: so many steps, whatever they reach."""
    solve_by_paper(problem_of(*TINY)[0], steps=3)
    problem, _ = problem_of(given, delta)
    seconds, found = timed(lambda: solve_by_paper(problem, steps=steps))
    return {"seconds": seconds, "leak": found.leak, "gap": found.relative_gap}


def linear(given: Given, delta: float) -> Answer:
    """The linear program at the tenth point of Frank-Wolfe, solved in both ways."""
    problem, _ = problem_of(given, delta)
    here = solve_by_frank_wolfe(problem, relative_gap=0.0, steps=10)
    moments, prices = here.channel.moments(problem.joint), Prices(problem)
    g, empty = prices.assumed(moments), np.flatnonzero(moments.sum(axis=1) == 0)
    cheapest, stay = prices.cheapest(g, empty), prices.stay(g, empty)
    size = len(prices.mass)
    values: dict[str, float] = {}

    def ours() -> None:
        found = linear_step(cheapest, prices.mass, stay, delta, guess=here.multiplier)
        values["ours"] = found.value

    far = prices.mass[:, None] * prices.far(np.arange(size))  # once for all steps

    def theirs() -> None:
        slopes = prices.pi @ g.T
        slopes[:, empty] = prices.divergence[:, None]
        program = _Program(prices.mass[:, None] * slopes, far, delta)
        active, x, _, _ = program.solve(np.eye(size, dtype=bool))
        values["paper"] = float(program.costs[active] @ x)

    small = size < 1000
    taken = medians({"ours": ours}, rounds=5)
    taken |= medians({"paper": theirs}, rounds=5 if small else 1)
    difference = abs(values["ours"] - values["paper"]) / problem.untouched
    return {**taken, "size": size, "difference": difference}


def curve(given: Given, deltas: Sequence[float]) -> Answer:
    """All Deltas after the first, each from nothing, and each from the answer before."""
    problems = [problem_of(given, delta)[0] for delta in deltas]
    solve_mapping(problems[0], relative_gap=COARSE)
    first = solve_mapping(problems[0])
    gaps: list[float] = []

    def cold() -> None:
        gaps.extend(solve_mapping(each).relative_gap for each in problems[1:])

    def warm() -> None:
        found = first
        for each in problems[1:]:
            found = solve_mapping(each, start=found.state)
            gaps.append(found.relative_gap)

    taken = {"cold": cpu_seconds(cold), "warm": cpu_seconds(warm)}
    return {**taken, "gap": max(gaps), "size": problems[0].distance.size}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of one call, and what it returns."""
    kept: list[Any] = []
    return cpu_seconds(lambda: kept.append(work())), kept[0]


def memory(what: str) -> float:
    """Megabytes resident: now (VmRSS) or at most (VmHWM), of this process alone.

    What getrusage says begins with what the starting process had, so it is the last resort.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(each for each in status.read_text().splitlines() if each.startswith(what))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


JOBS: dict[str, Callable[..., Answer]] = {
    "begin": begin,
    "solve": solve,
    "cvxpy": cvxpy,
    "paper": paper,
    "linear": linear,
    "curve": curve,
}


if __name__ == "__main__":
    main()
