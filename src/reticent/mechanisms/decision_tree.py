"""A decision tree as it was released: splits, and noisy counts of classes at the leaves.

Notation  nodes are numbered from the root, 0, level by level; the children of a node follow each
          other; counts of an inner node are the sums of those below it
Not here  how it is grown (tree.py), what columns and codes mean (tasks/).

Everything here is released, so whatever is computed from it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Reals = NDArray[np.float64]

EACH, BELOW, ONE = 0, 1, 2
"""A child for each code; codes up to ``at`` and the rest; code ``at`` and the rest."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Node v splits ``column[v]`` by ``kind[v]`` and ``at[v]``; its children begin at ``child[v]``.

    A leaf has child -1 and counts of its own. ``scale`` is that of their noise.
    """

    column: Whole
    at: Whole
    kind: Whole
    child: Whole
    branches: Whole  # how many children
    leaf_counts: Whole  # [nodes, classes], 0 for inner nodes
    scale: float

    def __len__(self) -> int:
        return len(self.child)

    @property
    def parents(self) -> Whole:
        """Of each node; -1 for the root."""
        found = np.full(len(self), -1, dtype=np.int64)
        for node in np.flatnonzero(self.child >= 0):
            found[self.child[node] : self.child[node] + self.branches[node]] = node
        return found

    @property
    def counts(self) -> Whole:
        """Noisy counts of classes of every node; consistent, as inner ones are sums."""
        found = self.leaf_counts.copy()
        for node, parent in reversed(list(enumerate(self.parents.tolist()))):
            if parent >= 0:
                found[parent] += found[node]
        return found

    def shares(self, weights: Reals | None = None) -> Reals:
        """The probability of each class at each node.

        A node's counts are mixed with its parent's shares, as if these were so many rows as the
        noise of a count is wide: a leaf of few rows says little beside its parent.
        """
        counts = np.maximum(self.counts, 0) * (1.0 if weights is None else weights)
        found = np.full(counts.shape, 1.0 / max(counts.shape[1], 1))
        for node, parent in enumerate(self.parents.tolist()):
            before = found[parent] if parent >= 0 else found[node]
            found[node] = (counts[node] + self.scale * before) / (counts[node].sum() + self.scale)
        return found

    def leaf_of(self, codes: NDArray[Any]) -> NDArray[np.int32]:
        """In which leaf each row ends."""
        from reticent.mechanisms.tree_kernels import descend

        place = np.zeros(len(codes), dtype=np.int32)
        depth = 0
        front = [0]
        while any(self.child[node] >= 0 for node in front):
            front = [
                int(self.child[node]) + branch
                for node in front
                if self.child[node] >= 0
                for branch in range(int(self.branches[node]))
            ]
            depth += 1
            descend(codes, place, self.column, self.at, self.child, self.kind)
        return place

    def importances(self, columns: int) -> Reals:
        """By how much each column's splits lower the Gini impurity, in noisy counts; sums to 1."""
        counts = np.maximum(self.counts, 0).astype(np.float64)
        total = np.maximum(counts.sum(axis=1), 1e-300)
        pure = (counts * counts).sum(axis=1) / total
        found = np.zeros(columns)
        for node in np.flatnonzero(self.child >= 0).tolist():
            below = slice(int(self.child[node]), int(self.child[node] + self.branches[node]))
            found[self.column[node]] += max(float(pure[below].sum() - pure[node]), 0.0)
        whole = found.sum()
        return found / whole if whole > 0 else found

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {name: getattr(self, name).tolist() for name in _ARRAYS} | {"scale": self.scale}

    @classmethod
    def of_plain(cls, held: Mapping[str, Any]) -> Tree:
        """From ``plain()``; anything that is no tree is refused."""
        try:
            arrays = [_whole(held[name]) for name in _ARRAYS]
            scale = float(held["scale"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ParameterError(
                "tree", "arrays of whole numbers, and a scale", "another"
            ) from None
        column, at, kind, child, branches, counts = arrays
        size = len(column)
        flat = all(array.ndim == 1 and len(array) == size for array in arrays[:-1])
        good = size > 0 and flat and counts.ndim == 2 and len(counts) == size
        require(good, "tree", "another", "arrays of one length")
        require(0 < scale < np.inf, "tree", "another", "of a positive scale")
        inner = child >= 0
        known = np.isin(kind, (EACH, BELOW, ONE)) & (column >= 0)
        leaves = (child == -1) & (branches == 0)
        split = inner & (branches > 0) & (branches <= size) & (child > np.arange(size))
        good = bool((known & (leaves | split)).all()) and not counts[inner].any()
        require(good, "tree", "another", "of nodes that are split and of leaves with counts")
        below = [
            range(int(c), int(c + b)) for c, b in zip(child[inner], branches[inner], strict=True)
        ]
        once = sorted(node for some in below for node in some) == list(range(1, size))
        require(once, "tree", "another", "of nodes that have one parent each")
        return cls(column, at, kind, child, branches, counts, scale)


_ARRAYS = ("column", "at", "kind", "child", "branches", "leaf_counts")
_LARGEST = 1 << 50  # so that no sum of counts leaves 63 bits


def _whole(held: Any) -> Whole:
    """An array of whole numbers, none of them very large; nothing is rounded."""
    array = np.array(held)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError
    if array.size and max(abs(int(array.min())), abs(int(array.max()))) > _LARGEST:
        raise ValueError
    return array.astype(np.int64)
