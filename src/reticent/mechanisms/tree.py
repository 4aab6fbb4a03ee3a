"""A decision tree grown privately: each split chosen under a budget of its level, leaves counted.

Theory    docs/theory/tree.md, Theorem 1 (levels add up, nodes of a level do not), Theorem 2 (the
          noisy size of DiffPID3); docs/theory/dampening.md; [FriedmanSchuster2010]
Notation  d = depth, e_l = what a choice on level l loses, e_leaf = what the counts lose
Not here  worths of splits (splits.py), what is released (decision_tree.py), names of columns and
          classes, the query (queries/tree.py).

A row is in one node of a level only, so a level costs what one of its nodes costs. Splits and
counts are all that is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

from reticent.amounts import show_up
from reticent.errors import require
from reticent.guarantees import RECORD, RECORD_SUBSTITUTE, PureDP, Unit, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.dampening import Dampened, Law
from reticent.mechanisms.decision_tree import Tree
from reticent.mechanisms.discrete_laplace import DiscreteLaplace
from reticent.mechanisms.splits import Criterion, grid_of, limit_of, spread_of
from reticent.mechanisms.tree_growth import grow
from reticent.noise import Source
from reticent.rational import Number, budget, positive, rational, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scores: TypeAlias = Literal["plain", "dampened", "shifted"]
Split: TypeAlias = Literal["binary", "multiway"]
Stop: TypeAlias = Literal["depth", "size"]
_MOST_CELLS = 1 << 27  # counts of one level: half a gigabyte


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coded:
    """What is private: the code of each row in each column [n, d], and its class [n]."""

    codes: NDArray[Any]
    y: NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTree(Mechanism[Tree]):
    """How to grow a tree; everything in here is public.

    ``sizes`` says how many codes each column has and ``ordered`` whether they are in an order;
    ``classes`` how many classes there are. ``scores`` "dampened" and "shifted" use the local
    sensitivity of entropy, for which ``rows`` bounds the rows of any table that could be met.
    ``leaf_share`` of epsilon counts the leaves; of the rest each level gets ``growth`` times what
    the one above it gets. ``stop`` "size" is DiffPID3: every level spends alike, half of it on the
    noisy size of its nodes, of which small ones become leaves. ``one_way=False`` gives up the
    discount of worths that one row moves one way, as the paper does.

    >>> import numpy as np
    >>> tree = PrivateTree(epsilon=8, sizes=(2,), ordered=(True,), classes=2, depth=1)
    >>> data = Coded(np.array([[0], [1]] * 50), np.array([0, 1] * 50))
    >>> tree.release(data, Source.system()).value.counts.argmax(axis=1).tolist()[1:]
    [0, 1]
    """

    name: ClassVar[str] = "tree"
    epsilon: Number
    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    classes: int
    depth: int
    criterion: Criterion = "gini"
    scores: Scores = "plain"
    split: Split = "binary"
    law: Law = "permute-and-flip"
    rows: int | None = None
    leaf_share: Number = Fraction(1, 4)
    growth: Number = Fraction(3, 2)
    stop: Stop = "depth"
    one_way: bool = True
    weights: tuple[Fraction, ...] | None = None
    unit: Unit = RECORD

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        object.__setattr__(self, "growth", positive(self.growth, "growth"))
        object.__setattr__(self, "leaf_share", rational(self.leaf_share, "leaf_share"))
        share = Fraction(self.leaf_share)
        good = 0 < share < 1 or (share == 1 and self.depth == 0)
        require(good, "leaf_share", self.leaf_share, "above 0 and below 1: splits cost something")
        for size in self.sizes:
            whole(size, "sizes", least=1)
        require(len(self.sizes) > 0, "sizes", "none", "one for each column")
        same = len(self.ordered) == len(self.sizes)
        require(same, "ordered", len(self.ordered), f"one for each of {len(self.sizes)} columns")
        whole(self.classes, "classes", least=1)
        whole(self.depth, "depth", least=0)
        if self.rows is not None:
            whole(self.rows, "rows", least=1)
        self._check_words()
        if self.weights is not None:
            good = len(self.weights) == self.classes and all(0 < w <= 1 for w in self.weights)
            require(good, "weights", "others", "one for each class, above 0 and at most 1")

    def _check_words(self) -> None:
        for name, words in (
            ("criterion", Criterion),
            ("scores", Scores),
            ("split", Split),
            ("law", Law),
            ("stop", Stop),
        ):
            known = get_args(words)
            require(getattr(self, name) in known, name, getattr(self, name), ", ".join(known))
        entropy = self.criterion == "entropy"
        good = not entropy or self.rows is not None
        require(good, "rows", self.rows, "declared for entropy: no table may have more")
        local = self.scores == "plain" or (entropy and self.split == "multiway")
        require(local, "scores", self.scores, "plain unless multiway splits go by entropy")
        alike = self.scores == "plain" or self.weights is None
        require(alike, "weights", "some", "none with local sensitivity")
        known_unit = self.unit in (RECORD, RECORD_SUBSTITUTE)
        require(known_unit, "unit", self.unit, "a record added or removed, or replaced")
        sized = self.split == "binary" or self.stop == "size"
        require(sized, "stop", self.stop, "size for multiway splits, which else never end")
        cells = sum(self.sizes) * self.classes << max(self.depth - 1, 0)
        fits = self.split == "multiway" or cells <= _MOST_CELLS
        require(
            fits, "depth", self.depth, "less, or columns of fewer codes: counts must fit memory"
        )

    @property
    def price(self) -> int:
        """Rows that one unit adds or removes. Theorem 1."""
        return 1 if self.unit == RECORD else 2

    @property
    def kept(self) -> int | None:
        """How many rows are used: all, but for entropy, whose limit is for so many."""
        return self.rows if self.criterion == "entropy" else None

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """What one choice on each level loses, for one row."""
        own = Fraction(self.epsilon) / self.price
        if self.stop == "size":
            return (own / (2 * self.depth + 1),) * self.depth
        parts = [Fraction(self.growth) ** level for level in range(self.depth)]
        one = own * (1 - Fraction(self.leaf_share)) / sum(parts, start=Fraction(not parts))
        return tuple(one * part for part in parts)

    @property
    def leaf_epsilon(self) -> Fraction:
        """What the counts of a leaf lose, for one row."""
        own = Fraction(self.epsilon) / self.price
        if self.stop == "size":
            return own / (2 * self.depth + 1)
        return own * (Fraction(self.leaf_share) if self.depth else 1)

    @property
    def size_epsilon(self) -> Fraction:
        """What the noisy size of a node loses on each level, for one row; 0 if none is drawn."""
        return self.leaf_epsilon if self.stop == "size" else Fraction(0)

    def choice(self, level: int, candidates: int) -> Dampened:
        """The choice of a split on one level."""
        limit = limit_of(self.criterion, self.rows)
        local = self.scores != "plain"
        one_way = self.one_way and not local
        return Dampened(
            epsilon=self.levels[level],
            candidates=candidates,
            limit=limit,
            steps=(self.rows or 0) if local else 0,
            shift="none" if self.scores == "dampened" else "left",
            law=self.law,
            unit=RECORD,
            grid=grid_of(self.criterion, self.rows),
            spread=spread_of(self.criterion, self.rows) if one_way else 2,
        )

    def guarantee(self) -> PureDP:
        """Theorem 1: levels, noisy sizes and counts add up, as often as one unit shows."""
        sizes = self.depth * self.size_epsilon
        return PureDP.of(self.price * (sum(self.levels) + sizes + self.leaf_epsilon), self.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        exact = {name: plain(Fraction(told[name])) for name in ("epsilon", "leaf_share", "growth")}
        weights = None if self.weights is None else [plain(weight) for weight in self.weights]
        return {
            **told,
            **exact,
            "sizes": list(self.sizes),
            "ordered": list(self.ordered),
            "weights": weights,
            "unit": [self.unit.thing, self.unit.relation],
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism with these ``parameters()``."""
        given = dict(parameters)
        for name in ("sizes", "ordered"):
            given[name] = tuple(given[name])
        if given["weights"] is not None:
            given["weights"] = tuple(Fraction(weight) for weight in given["weights"])
        return cls(**{**given, "unit": Unit(*given["unit"])})

    def utility(self) -> Utility:
        """How wrong the count of a class in a leaf is."""
        counts = DiscreteLaplace(epsilon=self.leaf_epsilon, size=self.classes, unit=RECORD)
        within = counts.utility().within_95 or 0
        return Utility(
            sentence=(
                f"each count of a class in a leaf is within {int(within)} rows of the true "
                "one, 95 times in 100; how good the splits are depends on the data"
            ),
            within_95=within,
        )

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        rows = "" if self.rows is None else f"; no table has more than {self.rows} rows"
        return How(
            sensitivity=(
                f"{self.unit}, is in one node of each of {self.depth} levels and in one leaf; it "
                f"changes a worth by at most {show_up(float(limit_of(self.criterion, self.rows)))}"
            ),
            bounds=f"columns, their values and the classes are public{rows}",
            floating_point="worths are rounded to a grid, counts are integers; the laws are exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/tree.md, Theorem 1",
            assumptions=(
                "columns, bins, categories and classes do not depend on the data",
                "the bound on rows, if there is one, holds for every table that could be met",
                "AES-256 is not broken",
            ),
        )

    def release(self, data: Coded, source: Source) -> Release[Tree]:
        """Grow a tree. Codes and classes must be in range.

        Entropy leaves out rows beyond the bound, which may only be where the bound was wrong: a row
        before them then changes two, and loses twice as much.
        """
        return Release.by(self, grow(self, data, source), source)
