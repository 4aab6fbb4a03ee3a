"""Figure 4: CPU time of a plan against epsilon, alone and among many, and of a general solver.

The general solver gets what ours gets, the reduced rows of the catalogue, scaled by epsilon.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.harness import stream
from experiments.multilevel.datasets import EPSILONS, SIMPLEX, Dataset, Scale, budgets
from reticent.mechanisms.multilevel_plan import plan_histogram, plan_many

if TYPE_CHECKING:
    from numpy.typing import NDArray

REPEATS = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds per person: one of many, one alone with its certificate, general solver."""

    data: str
    epsilon: float
    many: float
    alone: float
    general: float | None


def run(data: Dataset, scale: Scale) -> list[Cost]:
    """One line per epsilon."""
    exposure = data.exposure
    t = budgets(SIMPLEX, scale.timed, len(exposure.attributes), stream("timing", data.name))
    general = _general()
    costs = []
    for epsilon in EPSILONS:
        every = np.full(len(t), epsilon)
        many = _cpu(partial(plan_many, exposure, budgets=t, epsilon=every)) / len(t)
        alone = [_cpu(partial(_alone, data, own, epsilon)) for own in t[:10]]
        peer = None
        if general is not None:
            solve = partial(_solve, general, exposure.rows)
            peer = float(
                np.median([_cpu(partial(solve, own, epsilon)) for own in t[: scale.solved]])
            )
        costs.append(Cost(data.name, epsilon, many, float(np.median(alone)), peer))
    return costs


def _alone(data: Dataset, t: NDArray[np.float64], epsilon: float) -> None:
    named = dict(zip(data.catalogue.attributes, t.tolist(), strict=True))
    plan_histogram(data.catalogue, budgets=named, epsilon=epsilon)


def _cpu(job: Callable[[], Any]) -> float:
    """CPU milliseconds of the fastest of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.process_time()
        job()
        best = min(best, time.process_time() - started)
    return 1000 * best


def _general() -> Any:
    try:
        return import_module("cvxpy")
    except ImportError:
        return None


def _solve(cp: Any, rows: NDArray[np.int64], t: NDArray[np.float64], epsilon: float) -> None:
    z = cp.Variable(rows.shape[1], pos=True)
    caps = np.minimum(t / epsilon, 1) / rows.max(axis=0)
    error = cp.sum(cp.power(z, -2)) / rows.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says when it is not sure of its answer
        cp.Problem(cp.Minimize(error), [rows @ z <= 1, z <= caps]).solve(solver="CLARABEL")
