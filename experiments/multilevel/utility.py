"""Figures 2 and 3: four measures of the noise, for proportional scaling and the three optima.

Everything is in the paper's terms: continuous Laplace noise of scale C / t', whatever is released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.harness import stream
from experiments.multilevel.datasets import (
    EPSILONS,
    READINGS,
    SIMPLEX,
    Dataset,
    Scale,
    budgets,
)
from experiments.multilevel.results import Pool
from reticent.mechanisms.exposure import Exposure
from reticent.optim.allocation import allocate
from reticent.optim.objectives import PowerError

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

PROPORTIONAL = "proportional"
GOALS = ("MAE", "MSE", "MAEL")
METHODS = (PROPORTIONAL, *GOALS)
MEASURES = ("MAE", "MSE", "MAEL", "KL")


def thresholds(exposure: Exposure, t: Reals) -> Reals:
    """The epsilon of each person above which no attribute loses anything. Theorem 2."""
    return np.asarray((t / exposure.largest @ exposure.rows.T).max(axis=1))


def spent(exposure: Exposure, t: Reals, epsilon: float, method: str) -> Reals:
    """t': what each attribute gets, one row per person."""
    if method == PROPORTIONAL:
        return np.asarray(t * np.minimum(1, epsilon / thresholds(exposure, t))[:, None])
    weights = t / exposure.largest if method == "MAEL" else 1.0
    found = allocate(
        exposure.rows,
        caps=np.minimum(t, epsilon) / exposure.largest,
        budget=np.full(len(t), epsilon),
        objective=PowerError(2.0 if method == "MSE" else 1.0, weights),
    )
    return np.asarray(found.x * exposure.largest)


def measures(exposure: Exposure, t: Reals, kept: Reals) -> dict[str, Reals]:
    """The paper's four measures, one value per person."""
    scale, best = exposure.largest / kept, exposure.largest / t
    wanted = best**2 / (best**2).sum(axis=1, keepdims=True)
    given = scale**2 / (scale**2).sum(axis=1, keepdims=True)
    return {
        "MAE": scale.mean(axis=1),
        "MSE": 2 * (scale**2).mean(axis=1),
        "MAEL": (t / kept).mean(axis=1) - 1,
        "KL": (wanted * np.log(wanted / given)).sum(axis=1),
    }


def run(pool: Pool, data: Dataset, scale: Scale) -> None:
    """All measures, methods and epsilons, and by how much proportional scaling is worse."""
    for reading in READINGS:
        attributes = len(data.exposure.attributes)
        t = budgets(reading, scale.people, attributes, stream("budgets", data.name, reading))
        pool.add(f"threshold, {reading}", data.name, "epsilon*", "", thresholds(data.exposure, t))
        for epsilon in EPSILONS:
            _at(pool, data, reading, t, epsilon)
    t = budgets(SIMPLEX, scale.people, attributes, stream("budgets", data.name, SIMPLEX))
    _above(pool, data, t)


def _at(pool: Pool, data: Dataset, reading: str, t: Reals, epsilon: float) -> None:
    kept = {method: spent(data.exposure, t, epsilon, method) for method in METHODS}
    held = {method: measures(data.exposure, t, found) for method, found in kept.items()}
    _shares(pool, (data.name, reading, epsilon), t, kept["MSE"])
    for method, values in held.items():
        for measure in MEASURES:
            figure = f"{measure}, {reading}"
            pool.add(figure, data.name, method, epsilon, values[measure])
    for goal in GOALS:
        shift = 1.0 if goal == "MAEL" else 0.0  # a loss of 0 is a ratio of 1
        label = f"advantage, {reading}", data.name, goal, epsilon
        pool.ratio(label, held[PROPORTIONAL][goal] + shift, held[goal][goal] + shift)
        for method in GOALS:
            label = f"excess {goal}, {reading}", data.name, method, epsilon
            pool.ratio(label, held[method][goal] + shift, held[goal][goal] + shift)


def _shares(pool: Pool, at: tuple[str, str, float], t: Reals, kept: Reals) -> None:
    """What part of their budget the most and the least careful attribute keep."""
    name, reading, epsilon = at
    everybody = np.arange(len(t))
    for figure, chosen in (("kept", t.argmin(axis=1)), ("kept by the largest", t.argmax(axis=1))):
        share = kept[everybody, chosen] / t[everybody, chosen]
        pool.add(f"{figure}, {reading}", name, "MSE", epsilon, share)


def _above(pool: Pool, data: Dataset, t: Reals) -> None:
    """The largest relative difference from t once epsilon is above everybody's threshold."""
    epsilon = float(thresholds(data.exposure, t).max())
    for goal in GOALS:
        lost = 1 - spent(data.exposure, t, epsilon, goal) / t
        pool.add("lost above the threshold", data.name, goal, "", lost.max(axis=1))
