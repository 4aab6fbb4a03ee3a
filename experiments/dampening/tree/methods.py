"""The mechanisms that are compared: the paper's three, ours, and what they are without noise.

A method says how one table is coded and one tree grown; its accuracy is that of rows left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.dampening.tree.datasets import OURS, PAPERS, Coding, Dataset
from reticent.mechanisms.decision_tree import Tree
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.noise import Source
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

GLOBAL, LOCAL, SHIFTED = "GlobalDiffPID3", "LocalDiffPID3", "ShiftedLocalDiffPID3"
SAME, DEFAULT = "ours, same depth", "ours"
MAJORITY = "most frequent class"
ID3, CART = "ID3, no noise", "CART, no noise"
NO_NOISE = 1e6  # an epsilon at which no noise is left
_ID3: dict[str, Any] = {
    "criterion": "entropy",
    "split": "multiway",
    "stop": "size",
    "law": "exponential",
    "one_way": False,
}


@dataclass(frozen=True, slots=True)
class Method:
    """How a tree is grown; ``depth`` None is by budget. ``trees`` share the rows out."""

    name: str
    depth: int | None = None
    how: str = PAPERS
    bins: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    trees: int = 1
    lean: bool = True  # on the shares of parents, or on a leaf's own counts alone

    def mechanism(self, data: Dataset, coding: Coding, epsilon: float) -> PrivateTree:
        """The mechanism for tables of this kind."""
        depth = by_budget(data.rows, epsilon) if self.depth is None else self.depth
        return PrivateTree(
            epsilon=epsilon,
            sizes=coding.sizes,
            ordered=coding.ordered,
            classes=2,
            depth=depth,
            rows=data.rows,
            **self.options,
        )

    def accuracy(
        self, data: Dataset, tested: NDArray[np.int64], epsilon: float, source: Source
    ) -> float:
        """The share of tested rows whose class is told right by a tree of all other rows."""
        coding = data.coding(self.how, self.bins)
        trained = np.ones(len(data.y), dtype=bool)
        trained[tested] = False
        places = np.flatnonzero(trained)
        plan = self.mechanism(data, coding, epsilon)
        shares = np.zeros((len(tested), 2))
        for part in range(self.trees):
            own = places[part :: self.trees]
            tree = plan.release(Coded(coding.codes[own], data.y[own]), source).value
            shares += self._shares(tree, coding.codes[tested])
        return float((shares.argmax(axis=1) == data.y[tested]).mean())

    def _shares(self, tree: Tree, codes: NDArray[Any]) -> Reals:
        held: Any = tree.shares() if self.lean else tree.leaf_counts
        return np.asarray(held[tree.leaf_of(codes)], dtype=np.float64)


def by_budget(rows: int, epsilon: float) -> int:
    """The library's own choice."""
    declared = Declared(columns=(Column("x", edges=(0, 1)),), classes=(0, 1), rows=rows)
    return declared.depth(epsilon)


def papers(depth: int) -> tuple[Method, ...]:
    """DiffPID3 with its three laws; leaves tell their most frequent class."""
    kinds = ((GLOBAL, "plain"), (LOCAL, "dampened"), (SHIFTED, "shifted"))
    return tuple(
        Method(name, depth, options={**_ID3, "scores": scores}, lean=False)
        for name, scores in kinds
    )


def same(depth: int) -> Method:
    """Ours, on the paper's codes and at its depth."""
    return Method(SAME, depth)


def default() -> Method:
    """Ours as it comes."""
    return Method(DEFAULT, how=OURS)
