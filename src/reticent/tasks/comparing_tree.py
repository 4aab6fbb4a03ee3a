"""Ways to grow a private tree, and depths of it, by the accuracy on rows that it never saw.

Theory    docs/theory/tree.md, Theorem 1
Notation  d = depth, share = part of the rows that is held out in each run
Not here  growing (mechanisms/tree.py), declarations (columns.py).

In each run every way grows from the same rows and is judged on the same others. Figures are
computed from raw rows and are private if the rows are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.synthetic import uniform
from reticent.errors import ParameterError, require
from reticent.mechanisms.tree import Coded, PrivateTree
from reticent.noise import Source
from reticent.rational import Number, budget
from reticent.tasks.comparing import SHARE, Curves, Point, Progress, paired, seeds
from reticent.tasks.trained_tree import Declared, TrainedTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_NO_NOISE = 10**6  # an epsilon at which no noise is left
_MULTIWAY: dict[str, Any] = {"criterion": "entropy", "split": "multiway", "stop": "size"}
WAYS: dict[str, dict[str, Any]] = {
    "permute-and-flip": {"law": "permute-and-flip"},
    "exponential": {"law": "exponential"},
    "multiway-exponential": {**_MULTIWAY, "law": "exponential"},
    "multiway-dampened": {**_MULTIWAY, "scores": "dampened"},
    "multiway-shifted": {**_MULTIWAY, "scores": "shifted"},
}
"""Options of ``PrivateTree`` by the name of the way; splits in two go by Gini impurity."""


@dataclass(frozen=True, slots=True)
class Grower:
    """One way to grow a tree; ``depth`` None is by budget and rows."""

    name: str
    depth: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def mechanism(self, declared: Declared, epsilon: Number) -> PrivateTree:
        """The mechanism at this budget."""
        return declared.mechanism(epsilon=epsilon, depth=self.depth, **self.options)


def growers(
    declared: Declared, *, depth: int | None = None, common: Mapping[str, Any] | None = None
) -> list[Grower]:
    """Every way that goes with what is declared, at one depth; weights rule out two of them.

    ``common`` are options of ``PrivateTree`` that all of them share.
    """
    weighted = declared.weights is not None
    return [
        Grower(name, depth, {**(common or {}), **options})
        for name, options in WAYS.items()
        if not (weighted and "scores" in options)
    ]


def by_depth(depths: Sequence[int], one: Grower) -> list[Grower]:
    """One way at several depths, and at the depth that goes by the budget."""
    fixed = [Grower(f"depth {depth}", depth, one.options) for depth in dict.fromkeys(depths)]
    return [*fixed, Grower("depth by budget", None, one.options)]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Public rows as codes, and what is declared about them; rows of other classes are left out."""

    declared: Declared
    coded: Coded

    @classmethod
    def of(cls, declared: Declared, table: Sequence[NDArray[Any]], labels: NDArray[Any]) -> Rows:
        """Encode a table, column by column; an undeclared bound on rows is their number."""
        coded = declared.coded(table, labels)
        require(len(coded.y) > 1, "table", f"{len(coded.y)} rows of a class", "of two or more")
        known = declared if declared.rows else replace(declared, rows=len(coded.y))
        return cls(known, coded)

    @property
    def majority(self) -> float:
        """The share of the commonest class: what a tree without splits would get right."""
        return float(np.bincount(self.coded.y).max() / len(self.coded.y))

    def split(self, seed: int, share: Fraction) -> tuple[Coded, Coded]:
        """Rows to grow from, and rows held out."""
        order = np.argsort(uniform(len(self.coded.y), Source.seeded(seed)), kind="stable")
        many = min(max(round(share * len(order)), 1), len(order) - 1)
        codes, y = self.coded.codes[order], self.coded.y[order]
        return Coded(codes[many:], y[many:]), Coded(codes[:many], y[:many])

    def accuracy(self, mechanism: PrivateTree, parts: tuple[Coded, Coded], seed: int) -> float:
        """The share of held-out rows whose class a tree of the others tells right."""
        grown, held = parts
        tree = mechanism.release(grown, Source.seeded(seed)).value
        shares = TrainedTree(self.declared, tree).node_shares[tree.leaf_of(held.codes)]
        return float((shares.argmax(axis=1) == held.y).mean())


def tree_curves(
    rows: Rows,
    tried: Sequence[Grower],
    *,
    target: str,
    epsilons: Sequence[Number],
    runs: int,
    source: Source,
    held_out: Number = Fraction(1, 5),
    progress: Progress | None = None,
) -> Curves:
    """The accuracy of each way at each budget, on rows held out anew in each run."""
    share = Fraction(held_out)
    require(0 < share < 1, "held_out", float(share), "between 0 and 1")
    sizes = sorted({budget(epsilon, "epsilon") for epsilon in epsilons})
    made = {(size, one.name): _made(one, rows.declared, size) for size in sizes for one in tried}
    exact = Grower("without privacy", _deepest(tried)).mechanism(rows.declared, _NO_NOISE)
    found: dict[tuple[Fraction, str], list[float]] = {key: [] for key in made}
    known = []
    splits, draws = seeds(source, runs), seeds(source, runs)
    for run, (split, draw) in enumerate(zip(splits, draws, strict=True)):
        parts = rows.split(split, share)
        known.append(rows.accuracy(exact, parts, draw))
        for (size, name), mechanism in made.items():
            if progress is not None:
                progress(f"run {run + 1}: {name} at epsilon {float(size):g}")
            found[size, name].append(rows.accuracy(mechanism, parts, draw))
    points: list[Point] = []
    for size in sizes:
        of_way = {one.name: np.array(found[size, one.name]) for one in tried}
        points += paired(float(size), of_way, ends=SHARE)
    return Curves(
        what=f"a decision tree for {target}, from {len(rows.coded.y):,} rows",
        x="epsilon",
        y="share of held-out rows that is told right",
        better="higher",
        rows=points,
        runs=runs,
        reference=float(np.mean(known)),
        reference_name="without privacy",
        more={
            "target": target,
            "rows_used": len(rows.coded.y),
            "held_out": float(share),
            "majority": rows.majority,
        },
        share=True,
        notes=(f"always the commonest class: {100 * rows.majority:.1f} %",),
    )


def _deepest(tried: Sequence[Grower]) -> int | None:
    """The depth of the tree without privacy: the largest that is tried, or by its budget."""
    depths = [one.depth for one in tried if one.depth is not None]
    return max(depths) if len(depths) == len(tried) else None


def _made(one: Grower, declared: Declared, size: Fraction) -> PrivateTree:
    try:
        return one.mechanism(declared, size)
    except ParameterError as error:
        raise ParameterError(f"{error.name} of {one.name}", error.rule, error.value) from None
