"""A private tree with the names of its columns and classes: declare, predict, read, keep.

Theory    docs/theory/tree.md, Theorem 1
Not here  growing (mechanisms/tree.py), declarations (declarations.py), the query and scikit-learn
          (queries/tree.py, queries/tree_classifier.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.frames import Frame
from reticent.errors import require
from reticent.guarantees import RECORD, Unit
from reticent.mechanisms.decision_tree import BELOW, EACH, ONE, Tree
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.rational import Number, budget
from reticent.tasks.columns import Column, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_USUAL_DEPTH, _DEEPEST = 5, 8
_LEAST_WORTH = 256  # epsilon times rows that one more level is worth at first


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is said about a table before it is seen: its columns, its classes, a bound of its rows.

    ``weights`` says how much a row of each class counts, at most 1; a class that matters ten times
    as much as another has ten times its weight.
    """

    columns: tuple[Column, ...]
    classes: tuple[Any, ...]
    rows: int | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        require(len(self.columns) > 0, "columns", "none", "one or more")
        names = [column.name for column in self.columns]
        require(len(set(names)) == len(names), "columns", "repeated names", "of distinct names")
        _ = self._target  # classes that read alike are refused
        if self.weights is not None:
            good = all(0 < weight < math.inf for weight in self.weights)
            good = good and len(self.weights) == len(self.classes)
            require(good, "weights", "others", "one for each class, positive and finite")

    @property
    def _target(self) -> Column:
        require(len(self.classes) > 0, "classes", "none", "one or more, distinct")
        return Column("classes", categories=tuple(self.classes))

    def depth(self, epsilon: Number) -> int:
        """A depth that fits the budget, by the bound on rows; tried on Adult and NLTCS.

        >>> made = Declared(columns=(Column("x", edges=(0, 1)),), classes=(0, 1), rows=40_000)
        >>> [made.depth(epsilon) for epsilon in (0.05, 0.1, 0.5, 1)]
        [2, 3, 5, 6]
        """
        if self.rows is None:
            return _USUAL_DEPTH
        worth = float(budget(epsilon, "epsilon")) * self.rows / _LEAST_WORTH
        return min(max(round(0.8 * math.log2(max(worth, 1.0))), 1), _DEEPEST)

    def mechanism(
        self, *, epsilon: Number, depth: int | None = None, unit: Unit = RECORD, **options: Any
    ) -> PrivateTree:
        """The mechanism for such a table; ``options`` are those of ``PrivateTree``."""
        weights = None
        if self.weights is not None:
            exact = [Fraction(weight) for weight in self.weights]
            weights = tuple(weight / max(exact) for weight in exact)
        return PrivateTree(
            epsilon=epsilon,
            sizes=tuple(column.size for column in self.columns),
            ordered=tuple(column.ordered for column in self.columns),
            classes=len(self.classes),
            depth=self.depth(epsilon) if depth is None else depth,
            rows=self.rows,
            weights=weights,
            unit=unit,
            **options,
        )

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "columns": [column.plain() for column in self.columns],
            "classes": list(self.classes),
            "rows": self.rows,
            "weights": None if self.weights is None else list(self.weights),
        }

    def coded(self, table: Sequence[NDArray[Any]], labels: NDArray[Any]) -> Coded:
        """A table, column by column, and each row's class; rows of other classes are left out."""
        target = self._target.codes(labels)
        known = target < len(self.classes)
        codes = encode(self.columns, table)
        if not known.all():
            codes, target = codes[known], target[known]
        return Coded(codes, target.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTree:
    """A tree that was released, and what its codes mean."""

    declared: Declared
    tree: Tree

    @property
    def node_shares(self) -> Reals:
        """The probability of each class at each node."""
        weights = self.declared.weights
        if weights is None:
            return self.tree.shares()
        return self.tree.shares(np.array(weights) / max(weights))  # only their ratios matter

    def shares(self, table: Sequence[NDArray[Any]]) -> Reals:
        """The probability of each class for each row of a table, column by column."""
        leaf = self.tree.leaf_of(encode(self.declared.columns, table))
        return np.asarray(self.node_shares[leaf])

    def predict_frame(self, frame: Any) -> Any:
        """The likeliest class of each row and the share of each, as a frame of the kind given.

        Columns are called prediction and p(class); the index is that of the frame.
        """
        held = Frame.of(frame)
        shares = self.shares(_named_columns(self.declared, held))
        classes = list(self.declared.classes)
        best = held.chosen(None, classes, shares.argmax(axis=1))
        chances = {f"p({label})": shares[:, j] for j, label in enumerate(classes)}
        return held.made({"prediction": best, **chances}, rows=True)

    def text(self) -> str:
        """The tree as indented lines, with the share of the likeliest class at each leaf."""
        return "\n".join(self._lines(0, 0, self.leaf_texts()))

    def _lines(self, node: int, depth: int, leaves: Sequence[str]) -> list[str]:
        tree, indent = self.tree, "  " * depth
        if tree.child[node] < 0:
            return [f"{indent}{leaves[node]}"]
        found = []
        for branch in range(int(tree.branches[node])):
            found.append(f"{indent}{self.branch_text(node, branch)}")
            found += self._lines(int(tree.child[node]) + branch, depth + 1, leaves)
        return found

    def leaf_texts(self) -> list[str]:
        """Of every node: its likeliest class, the class's share, and about how many rows."""
        rows = np.maximum(self.tree.counts.sum(axis=1), 0).tolist()
        shares = self.node_shares
        best = shares.argmax(axis=1).tolist()
        classes = self.declared.classes
        return [
            f"{classes[kind]} ({shares[node, kind]:.0%} of about {rows[node]:,} rows)"
            for node, kind in enumerate(best)
        ]

    def node_rows(self) -> list[tuple[int, int, str, str, float, int]]:
        """Of every node from 1 on: its parent, which rows come to it, its likeliest class, rows."""
        shares, counts = self.node_shares, np.maximum(self.tree.counts.sum(axis=1), 0)
        found = []
        for node, parent in enumerate(self.tree.parents.tolist()):
            when = ""
            if parent >= 0:
                when = self.branch_text(parent, node - int(self.tree.child[parent]))
            best = int(shares[node].argmax())
            told = str(self.declared.classes[best]), float(shares[node, best])
            found.append((node + 1, parent + 1, when, *told, int(counts[node])))
        return found

    def branch_text(self, node: int, branch: int) -> str:
        """Which rows go to a child."""
        column = self.declared.columns[self.tree.column[node]]
        at = int(self.tree.at[node])
        if self.tree.kind[node] == EACH:
            return f"{column.name}: {column.told(branch)}"
        if self.tree.kind[node] == BELOW:
            last = at == column.size - 2  # everything but the missing
            words = ("is there", "is missing") if last else self._sides(column, at)
        else:
            words = f"is {column.told(at)}", f"is not {column.told(at)}"
        return f"{column.name} {words[branch]}"

    @staticmethod
    def _sides(column: Column, at: int) -> tuple[str, str]:
        cut = f"{column.edges[at + 1]:.6g}"
        return f"below {cut}", f"{cut} or more, or missing"

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return self.declared.plain() | {"tree": self.tree.plain()}

    @classmethod
    def of_plain(cls, held: Mapping[str, Any]) -> TrainedTree:
        """From ``plain()``."""
        weights = held["weights"]
        declared = Declared(
            columns=tuple(Column.of_plain(column) for column in held["columns"]),
            classes=tuple(held["classes"]),
            rows=held["rows"],
            weights=None if weights is None else tuple(weights),
        )
        trained = cls(declared, Tree.of_plain(held["tree"]))
        require(trained._fits(), "tree", "another", "one of these columns and classes")
        return trained

    def _fits(self) -> bool:
        """Whether every split is one of its column, and counts are of these classes."""
        tree, columns = self.tree, self.declared.columns
        if tree.leaf_counts.shape[1] != len(self.declared.classes):
            return False
        if (tree.column >= len(columns)).any():
            return False
        inner = tree.child >= 0
        sizes = np.array([column.size for column in columns])[tree.column]
        ordered = np.array([column.ordered for column in columns])[tree.column]
        at, kind, two = tree.at, tree.kind, tree.branches == 2
        split = (kind == EACH) & (at == 0) & (tree.branches == sizes)
        split |= (kind == BELOW) & two & ordered & (at >= 0) & (at <= sizes - 2)
        split |= (kind == ONE) & two & ~ordered & (at >= 0) & (at < sizes)
        return bool(split[inner].all())


def _named_columns(declared: Declared, frame: Frame) -> list[NDArray[Any]]:
    return [frame.cells(frame.named(column.name)) for column in declared.columns]
