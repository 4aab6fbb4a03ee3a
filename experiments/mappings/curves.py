"""Figure 2: what leaks at which distortion, for mappings and for what they are compared with.

Not here  the example of the paper by its own algorithm (solvers.py).

A curve is solved from point to point, each from where the last one ended. Every point of a mapping
has a certified lower bound beside it. Leaks are in bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from experiments.mappings.datasets import Instance
from experiments.mappings.results import Pool, at, reaches
from reticent.optim.mapping import Problem, Solution
from reticent.optim.mapping_baselines import (
    MOST_PERFECT,
    Baseline,
    exponential_channel,
    perfect_privacy,
    randomised_response,
)
from reticent.optim.mapping_newton import solve_mapping
from reticent.tasks.leakage import BITS

CURVE = "leak"
MAPPING, BOUND = "mapping", "least possible"
EXPONENTIAL, RESPONSE, PERFECT = "exponential", "randomised response", "perfect privacy"
LEVELS = (0.7, 0.5, 0.3, 0.2, 0.14, 0.1, 0.083, 0.05)  # of I(A; B)
NOTHING = 0.002  # of I(A; B): the curve ends here
STEEPNESS = np.geomspace(0.05, 30.0, 22)  # beta, in inverse mean distances


def problem(instance: Instance, delta: float) -> Problem:
    """The instance with a limit."""
    return Problem.of(instance.joint, instance.distance, delta)


def solved(instance: Instance, deltas: Sequence[float], gap: float = 1e-3) -> list[Solution]:
    """Mappings from the smallest distortion on, until nothing leaks."""
    found: list[Solution] = []
    for delta in deltas:
        start = found[-1].state if found else None
        found.append(solve_mapping(problem(instance, delta), relative_gap=gap, start=start))
        if found[-1].leak <= NOTHING * found[-1].untouched:
            break
    return found


def run(
    pool: Pool,
    instance: Instance,
    deltas: Sequence[float],
    *,
    perfect: bool = False,
    every: int = 1,
) -> None:
    """All series of one instance, and the distortions compared at equal leak.

    ``every`` leaves out points of the exponential mechanism, ``perfect`` adds the end of the curve.
    """
    name, untouched = instance.name, problem(instance, 0.0).untouched * BITS
    mapped, bounds = [(0.0, untouched)], [(0.0, untouched)]
    for delta, solution in zip(deltas, solved(instance, deltas), strict=False):
        mapped.append((delta, solution.leak * BITS))
        bounds.append((delta, solution.bound * BITS))
        pool.add("gap", name, MAPPING, delta, solution.relative_gap)
    others = _exponentials(instance, every)
    exponential = [(b.distortion, b.leak * BITS) for b in others] + [(0.0, untouched)]
    response = [(0.0, untouched)] + [(b.distortion, b.leak * BITS) for b in _responses(instance)]
    pool.add("untouched", name, "I(A; B)", "bits", untouched)
    pool.add("untouched", name, "I(A; B)", "nats", untouched / BITS)
    pool.add("untouched", name, "uniform", "distortion", others[0].distortion)
    series = ((MAPPING, mapped), (BOUND, bounds), (EXPONENTIAL, exponential), (RESPONSE, response))
    for label, curve in series:
        for x, y in sorted(curve):
            pool.add(CURVE, name, label, x, y)
    if perfect and len(instance.profiles) <= MOST_PERFECT:
        best = perfect_privacy(problem(instance, 0.0))
        pool.add(PERFECT, name, MAPPING, "distortion", best.distortion)
    for level in (part for part in LEVELS if part * untouched >= mapped[-1][1]):
        ours, peer, reply = (reaches(c, level * untouched) for c in (mapped, exponential, response))
        pool.add("needed", name, MAPPING, level, ours)
        pool.add("needed", name, EXPONENTIAL, level, peer)
        pool.add("times", name, EXPONENTIAL, level, peer / ours)
        pool.add("times", name, RESPONSE, level, reply / ours)
    for x in (0.02, 0.05, 0.1, 0.2):
        for label, curve in ((MAPPING, mapped), (EXPONENTIAL, exponential)):
            left = at(curve, x)
            left = 0.0 if math.isnan(left) and label == MAPPING else left  # beyond its end
            pool.add("left", name, label, x, left / untouched)
    _promises(pool, instance, others)


def _exponentials(instance: Instance, every: int) -> list[Baseline]:
    """From a uniform draw to nearly no change."""
    law = problem(instance, 0.0)
    uniform = exponential_channel(law, 0.0)
    return [uniform] + [
        exponential_channel(law, beta / uniform.distortion) for beta in STEEPNESS[::every].tolist()
    ]


def _responses(instance: Instance) -> list[Baseline]:
    law, size = problem(instance, 0.0), len(instance.profiles)
    keeps = np.linspace(1 / size, 1.0, 12)[:-1]
    return [randomised_response(law, keep) for keep in keeps.tolist()]


def _promises(pool: Pool, instance: Instance, others: Sequence[Baseline]) -> None:
    """What the exponential mechanism promises in nats, against what really leaks."""
    largest = max(float(instance.distance.row(j).max()) for j in range(len(instance.profiles)))
    used = [b for b in others if b.parameter > 0]
    most = max(b.leak / (2 * b.parameter * largest) for b in used)
    pool.add("promise", instance.name, EXPONENTIAL, "leak / (2 beta d)", most)
    half = min(used, key=lambda b: abs(b.leak - 0.14 * problem(instance, 0.0).untouched))
    pool.add("promise", instance.name, EXPONENTIAL, "epsilon near 0.14", half.epsilon)


@cache
def ladder(largest: float, points: int) -> tuple[float, ...]:
    """Distortions that start densely."""
    return tuple(float(f"{largest * (k / points) ** 1.5:.3g}") for k in range(1, points + 1))
