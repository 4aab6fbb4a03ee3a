"""Figure 3: accuracy against epsilon, by mechanism and depth, with differences in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.dampening.tree.datasets import Dataset, Scale, folds
from experiments.dampening.tree.methods import (
    CART,
    DEFAULT,
    GLOBAL,
    ID3,
    LOCAL,
    MAJORITY,
    NO_NOISE,
    SAME,
    SHIFTED,
    Method,
    default,
    papers,
    same,
)
from experiments.dampening.tree.results import Pool, note
from experiments.harness import progress, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

PAPERS_THREE = (GLOBAL, LOCAL, SHIFTED)
DIFFERENCES = (
    (LOCAL, GLOBAL),
    (SHIFTED, GLOBAL),
    (SHIFTED, LOCAL),
    *((SAME, other) for other in PAPERS_THREE),
    *((DEFAULT, other) for other in PAPERS_THREE),
)
WITHOUT = {GLOBAL: ID3, LOCAL: LOCAL, SHIFTED: SHIFTED, SAME: CART}
BASE = "accuracy, depth by budget"


def figure(depth: int) -> str:
    """The label of accuracies at one depth."""
    return f"accuracy, depth {depth}"


def over(depth: int, other: str) -> str:
    """The label of differences at one depth."""
    return f"over {other}, depth {depth}"


def exact(depth: int) -> str:
    """The label of accuracies without noise."""
    return f"no noise, depth {depth}"


def accuracies(data: Dataset, method: Method, epsilon: float, runs: int, count: int) -> Reals:
    """Of each run and fold."""
    found = np.empty((runs, count))
    for run in range(runs):
        for place, tested in enumerate(folds(len(data.y), count, run)):
            label = (data.name, method.name, method.depth, f"{epsilon:g}", run, place)
            found[run, place] = method.accuracy(data, tested, epsilon, stream("grow", *label))
    return found


def run(pool: Pool, data: Dataset, scale: Scale) -> None:
    """All mechanisms of the figure at all budgets; differences are of the same folds."""
    pool.add("accuracy", data.name, MAJORITY, "", data.majority)
    size = scale.runs, scale.folds
    usual: dict[float, Reals] = {}
    for epsilon in scale.epsilons:
        progress(f"{data.name}: ours at {epsilon:g}")
        usual[epsilon] = accuracies(data, default(), epsilon, *size)
        note(pool, (BASE, data.name, DEFAULT, epsilon), usual[epsilon])
    for depth in scale.depths:
        for epsilon in scale.epsilons:
            progress(f"{data.name}: depth {depth} at {epsilon:g}")
            held = {DEFAULT: usual[epsilon]}
            for method in (*papers(depth), same(depth)):
                held[method.name] = accuracies(data, method, epsilon, *size)
                note(pool, (figure(depth), data.name, method.name, epsilon), held[method.name])
            for one, other in DIFFERENCES:
                label = over(depth, other), data.name, one, epsilon
                note(pool, label, held[one] - held[other])
        _without_noise(pool, data, scale, depth)


def _without_noise(pool: Pool, data: Dataset, scale: Scale, depth: int) -> None:
    """On some folds of the first run; a tree that never stops takes long."""
    chosen = folds(len(data.y), scale.folds, 0)[: scale.exact_folds]
    for method in (*papers(depth), same(depth)):
        progress(f"{data.name}: depth {depth}, {method.name} without noise")
        values = [
            method.accuracy(data, tested, NO_NOISE, stream("exact", place))
            for place, tested in enumerate(chosen)
        ]
        note(pool, (exact(depth), data.name, WITHOUT[method.name], ""), np.array(values)[None, :])
