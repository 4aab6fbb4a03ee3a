"""Growing a tree level by level: count all nodes of a level at once, choose a split in each.

Theory    docs/theory/tree.md, Theorem 1 (levels), Theorem 2 (noisy sizes)
Notation  as in tree.py; the nodes of a level are numbered one after another
Not here  what it costs and who may ask (tree.py), the loops (tree_kernels.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.mechanisms.dampening import Scored
from reticent.mechanisms.decision_tree import BELOW, EACH, ONE, Tree
from reticent.mechanisms.information_gain import GainSensitivity
from reticent.mechanisms.local_sensitivity import Tabled
from reticent.mechanisms.splits import worth
from reticent.noise import Source, discrete_laplace, exponential, permute_and_flip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.mechanisms.tree import Coded, PrivateTree

    Whole = NDArray[np.int64]
    Reals = NDArray[np.float64]


@dataclass(slots=True, repr=False)
class _Nodes:
    """The nodes so far, and which columns are left to each."""

    column: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    child: list[int] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    left: list[tuple[int, ...]] = field(default_factory=list)  # columns no node above has used
    open: list[NDArray[np.bool_]] = field(default_factory=list)  # codes that can come here

    def add(self, left: tuple[int, ...], codes: NDArray[np.bool_]) -> int:
        """A leaf; its number."""
        for held, value in ((self.column, 0), (self.at, 0), (self.kind, EACH), (self.child, -1)):
            held.append(value)
        self.branches.append(0)
        self.left.append(left)
        self.open.append(codes)
        return len(self.child) - 1

    def split(
        self, node: int, column: int, at: int, kind: int, parts: Sequence[NDArray[np.bool_]]
    ) -> None:
        """Make a leaf an inner node; ``parts`` says which codes each child can have."""
        used = kind == EACH
        left = tuple(c for c in self.left[node] if c != column) if used else self.left[node]
        children = [self.add(left, part) for part in parts]
        self.column[node], self.at[node], self.kind[node] = column, at, kind
        self.child[node], self.branches[node] = children[0], len(children)

    def arrays(self) -> tuple[Whole, Whole, Whole, Whole, Whole]:
        """Column, at, kind, child and branches."""
        held = (self.column, self.at, self.kind, self.child, self.branches)
        column, at, kind, child, branches = (np.array(one, dtype=np.int64) for one in held)
        return column, at, kind, child, branches


def grow(plan: PrivateTree, data: Coded, source: Source) -> Tree:
    """Splits chosen level by level, then noisy counts of the leaves."""
    from reticent.mechanisms.tree_kernels import count_classes, descend

    codes, y = data.codes[: plan.kept], data.y[: plan.kept]
    starts = np.concatenate([[0], np.cumsum(plan.sizes)[:-1]]).astype(np.int64)
    splits = _Splits.of(plan, starts) if plan.split == "binary" else None
    nodes = _Nodes()
    every = np.ones(sum(plan.sizes), dtype=np.bool_)
    first = nodes.add(tuple(range(len(plan.sizes))), every)
    place = np.zeros(len(y), dtype=np.int32)
    before = None
    for level in range(plan.depth):
        here = len(nodes.child) - first
        if not here:
            break
        counts = _counted(plan, data, place, starts, nodes, first, before)
        large = _large(plan, counts[:, : plan.sizes[0]].sum(axis=(1, 2)), nodes, first, source)
        for i in np.flatnonzero(large).tolist():
            if splits is None:
                _split_each(plan, level, counts[i], nodes, first + i, starts, source)
        if splits is not None:
            splits.choose(plan, level, counts, np.flatnonzero(large), nodes, first, source)
        first += here
        before = counts if splits is not None else None
        column, at, kind, child, _ = nodes.arrays()
        descend(codes, place, column, at, child, kind)
    column, at, kind, child, branches = nodes.arrays()
    exact = count_classes(y, place, len(child), plan.classes)
    leaves = np.flatnonzero(child < 0)
    shape = (len(leaves), plan.classes)
    exact[leaves] += discrete_laplace(scale=1 / plan.leaf_epsilon, size=shape, source=source)
    return Tree(column, at, kind, child, branches, exact, 1 / float(plan.leaf_epsilon))


def _counted(
    plan: PrivateTree,
    data: Coded,
    place: NDArray[np.int32],
    starts: Whole,
    nodes: _Nodes,
    first: int,
    before: NDArray[np.int32] | None,
) -> NDArray[np.int32]:
    """Counts of all nodes of a level [nodes, codes, classes].

    Of two children only the smaller one is counted: the other has the rest of the parent's rows,
    whose counts are ``before``.
    """
    from reticent.mechanisms.tree_kernels import count

    codes, y = data.codes[: plan.kept], data.y[: plan.kept]
    here, cells = len(nodes.child) - first, sum(plan.sizes)
    if before is None:
        return np.asarray(count(codes, y, place - first, starts, (here, cells, plan.classes)))
    above = first - len(before)
    parents = [i for i in range(len(before)) if nodes.child[above + i] >= 0]
    which = np.full(len(nodes.child), -1, dtype=np.int32)
    smaller = []
    for number, i in enumerate(parents):
        column, at = nodes.column[above + i], nodes.at[above + i]
        own = before[i, starts[column] : starts[column] + plan.sizes[column]].sum(axis=1)
        left = own[: at + 1].sum() if nodes.kind[above + i] == BELOW else own[at]
        smaller.append(nodes.child[above + i] + int(2 * left > own.sum()))
        which[smaller[-1]] = number
    counted = count(codes, y, which[place], starts, (len(parents), cells, plan.classes))
    found = np.empty((here, cells, plan.classes), dtype=np.int32)
    for number, i in enumerate(parents):
        child = nodes.child[above + i]
        found[smaller[number] - first] = counted[number]
        found[2 * child + 1 - smaller[number] - first] = before[i] - counted[number]
    return found


def _large(
    plan: PrivateTree, sizes: Whole, nodes: _Nodes, first: int, source: Source
) -> NDArray[np.bool_]:
    """Which nodes of a level are split: all that may, or those whose noisy size is not small."""
    may = np.array([bool(nodes.left[first + i]) for i in range(len(sizes))])
    if plan.stop == "depth":
        return may
    noisy = sizes + discrete_laplace(scale=1 / plan.size_epsilon, size=len(sizes), source=source)
    most = np.array(
        [max((plan.sizes[c] for c in nodes.left[first + i]), default=1) for i in range(len(sizes))]
    )
    wide = math.sqrt(2) / float(plan.size_epsilon)
    return np.asarray(may & (noisy >= wide * most * plan.classes))


@dataclass(frozen=True, slots=True)
class _Splits:
    """All splits in two: what goes left is ``cumulated[high] - cumulated[low]``."""

    column: Whole
    at: Whole
    kind: Whole
    low: Whole
    high: Whole

    @classmethod
    def of(cls, plan: PrivateTree, starts: Whole) -> _Splits:
        """Cuts between codes in order, and each code against the rest."""
        found = []
        for j, (size, ordered) in enumerate(zip(plan.sizes, plan.ordered, strict=True)):
            begin = int(starts[j])
            for code in range(size - 1 if ordered or size <= 2 else size):
                kind, low = (BELOW, begin) if ordered else (ONE, begin + code)
                found.append((j, code, kind, low, begin + code + 1))
        table = np.array(found, dtype=np.int64).reshape(-1, 5)
        return cls(*table.T)

    def choose(
        self,
        plan: PrivateTree,
        level: int,
        counts: NDArray[np.int32],
        large: Whole,
        nodes: _Nodes,
        first: int,
        source: Source,
    ) -> None:
        """One split for each node that is to be split."""
        if not len(self.column) or not len(large):
            return
        mechanism = plan.choice(level, len(self.column))
        draw = exponential if plan.law == "exponential" else permute_and_flip
        rate = mechanism.rate
        summed = np.zeros((len(large), counts.shape[1] + 1, plan.classes), dtype=np.int64)
        np.cumsum(counts[large], axis=1, out=summed[:, 1:])
        left = summed[:, self.high] - summed[:, self.low]
        right = summed[:, plan.sizes[0], None] - left  # whole numbers: an empty part is empty
        both = [worth(plan.criterion, _weighted(plan, part)) for part in (left, right)]
        for i, scores in zip(
            large.tolist(), mechanism.plain_scores(both[0] + both[1]), strict=True
        ):
            codes = nodes.open[first + i]
            possible = np.flatnonzero(self._possible(plan, codes))
            if not len(possible):
                continue
            best = possible[draw(scores[possible], rate=rate, source=source)]
            split = int(self.column[best]), int(self.at[best]), int(self.kind[best])
            nodes.split(first + i, *split, parts=self._parts(int(best), codes, plan))

    def _possible(self, plan: PrivateTree, codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Splits both sides of which can have rows, by the splits above: public, like these."""
        summed = np.concatenate([[0], np.cumsum(codes)])
        left = summed[self.high] - summed[self.low]
        ends = np.cumsum(plan.sizes)
        in_column = summed[ends] - summed[ends - np.array(plan.sizes)]
        return np.asarray((left > 0) & (left < in_column[self.column]))

    def _parts(
        self, best: int, codes: NDArray[np.bool_], plan: PrivateTree
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The codes that can come to either side."""
        left, right = codes.copy(), codes.copy()
        end = int(np.cumsum(plan.sizes)[self.column[best]])
        begin = end - plan.sizes[self.column[best]]
        left[begin : self.low[best]] = False
        left[self.high[best] : end] = False
        right[self.low[best] : self.high[best]] = False
        return left, right


def _split_each(
    plan: PrivateTree,
    level: int,
    counts: NDArray[np.int32],
    nodes: _Nodes,
    node: int,
    starts: Whole,
    source: Source,
) -> None:
    """A split by all codes of a column that no node above has used."""
    columns = nodes.left[node]
    tables = [counts[starts[c] : starts[c] + plan.sizes[c]].astype(np.int64) for c in columns]
    values = np.array([worth(plan.criterion, _weighted(plan, table)).sum() for table in tables])
    local: Any = Tabled.of(np.zeros(len(columns)))
    if plan.scores != "plain" and plan.rows is not None:
        local = GainSensitivity(tables, plan.rows)
    best = plan.choice(level, len(columns)).release(Scored(values, local), source).value
    column = columns[best]
    nodes.split(node, column, 0, EACH, [nodes.open[node]] * plan.sizes[column])


def _weighted(plan: PrivateTree, counts: NDArray[Any]) -> Reals:
    weights = 1.0 if plan.weights is None else np.array([float(w) for w in plan.weights])
    return np.asarray(counts * weights, dtype=np.float64)
