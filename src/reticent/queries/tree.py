"""A decision tree in which no single row shows.

Theory    docs/theory/tree.md, Theorem 1 (privacy)
Not here  growing (mechanisms/tree.py), declarations (tasks/declarations.py), predictions
          (predict.py), scikit-learn (tree_classifier.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import ParameterError, require
from reticent.queries.base import Progress, Public, Terms, WholeQuery
from reticent.queries.inputs import Cells, Input, Role, Table
from reticent.queries.options import (
    BUDGET,
    EXACT,
    NAME,
    POSITIVE,
    SHARE,
    Option,
    OptionKind,
    choice,
    count,
    option,
    perhaps,
)
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World
from reticent.rational import Number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.guarantees.card import Scope
    from reticent.mechanisms.decision_tree import Tree as Grown
    from reticent.mechanisms.tree import PrivateTree
    from reticent.noise import Source
    from reticent.queries.binding import Bound
    from reticent.tasks.columns import Column
    from reticent.tasks.comparing import Curves
    from reticent.tasks.declarations import Declaration
    from reticent.tasks.trained_tree import Declared, TrainedTree

DEEPEST = 64  # as tasks/tree_values.py reads it
LOCAL = ("dampened", "shifted")
_DEPTHS = (2, 4, 6)  # of a sweep
_OPTIONS = {"depth": "max_depth", "scores": "method", "law": "method"}  # of the mechanism
_FEW = (
    "hardly any rows stand out from the noise: there are too few for this epsilon and depth, or "
    "the target and the declared classes are not what the table holds"
)


def _read(given: Any, name: str) -> Declared:
    from reticent.tasks.declarations import read_declaration

    return read_declaration(given, name)


def _write(declared: Any) -> dict[str, Any]:
    from reticent.tasks.declarations import plain_declaration

    return plain_declaration(declared)


DECLARATION = OptionKind("FILE", _read, write=_write, form="reticent data columns")


def _depths(given: Any, name: str) -> tuple[int, ...]:
    listed = given.split(",") if isinstance(given, str) else given
    kind = count(least=0, most=DEEPEST)
    try:
        found = {kind.read(one.strip() if isinstance(one, str) else one, name) for one in listed}
    except (ParameterError, TypeError):
        found = set()
    require(bool(found), name, given, f"whole numbers up to {DEEPEST}, as 2,4,6")
    return tuple(sorted(found))


TABLE = Table("A line for each row.", {}, rest="the target and the declared columns")


@dataclass(frozen=True, kw_only=True)
class Tree(WholeQuery):
    """A decision tree in which no single row shows.

    Splits are chosen at random, good ones far more often, and leaves hold noisy counts; so all that
    is computed from the tree is private, too. Columns, ranges, categories and classes are public
    and declared; nothing of that is read from the table. Cells that do not fit count as missing or
    as the nearest end, rows of other classes are left out, and nothing reports either.
    """

    kind: ClassVar[str] = "tree"
    inputs: ClassVar[Mapping[str, Input]] = {"table": TABLE}

    comparison: ClassVar[Comparison] = Comparison(
        compared="0.01,0.03,0.1,0.3,1,3,10",
        methods=(
            *("permute-and-flip", "exponential", "multiway-exponential"),
            *("multiway-dampened", "multiway-shifted"),
        ),
        unused=("criterion", "split", "stop"),
        runs=10,
        options=(
            Option(
                "held_out",
                "The share of rows that a tree is judged on and not grown from.",
                SHARE,
                "0.2",
            ),
        ),
        sweep_options=(
            Option(
                "depths",
                "Depths to try, besides the one that goes by epsilon and rows.  [default: 2,4,6, "
                "or max-depth alone]",
                perhaps(OptionKind("D,D,...", _depths)),
                None,
            ),
        ),
    )

    epsilon: Number = option("Privacy budget of this release.", BUDGET)
    target: str = option("The column to be predicted.", NAME)
    declare: Declaration = option(
        "What is public about the table, .toml: ranges or categories of the columns to use, and "
        "the classes. `reticent data columns` prints a form.",
        DECLARATION,
    )
    rows: int | None = option(
        "No table that you could have met has more rows than this; it is public. The depth is "
        "chosen by it, and entropy needs it: if it is wrong, the promise of entropy is not kept.",
        perhaps(count()),
        default=None,
    )
    max_depth: int | None = option(
        "How many splits lead to a leaf.  [default: by epsilon and rows, or 5]",
        perhaps(count(least=0, most=DEEPEST, metavar="D")),
        default=None,
    )
    relation: str = option(
        "Hide whether a row is there, or what it says, which doubles the noise.",
        choice("add-remove", "substitute"),
        default="add-remove",
    )
    criterion: str = option(
        "By what splits are compared.", choice("gini", "accuracy", "entropy"), default="gini"
    )
    split: str = option(
        "In two, or into a part for each value of a column.",
        choice("binary", "multiway"),
        default="binary",
    )
    method: str = option(
        "How splits are chosen; all promise the same. Dampened and shifted need entropy and "
        "multiway splits.",
        choice("permute-and-flip", "exponential", *LOCAL),
        default="permute-and-flip",
    )
    leaf_share: Number = option(
        "The share of epsilon that counts the leaves.", EXACT, default="0.25"
    )
    growth: Number = option(
        "What a level gets of epsilon, as a multiple of the level above it.",
        POSITIVE,
        default="1.5",
    )
    stop: str | None = option(
        "End at the depth, or also at nodes of few rows, which costs budget.  [default: depth, or "
        "size for multiway splits]",
        perhaps(choice("depth", "size")),
        default=None,
    )

    def check(self) -> None:
        """The target is not one of the columns; some methods need others."""
        names = {column.name.casefold() for column in self.declared.columns}
        rule = "no declared column, which the tree would copy"
        require(self.target.strip().casefold() not in names, "target", self.target, rule)
        if self.method in LOCAL:
            rule = "permute-and-flip or exponential unless multiway splits go by entropy"
            good = self.criterion == "entropy" and self.split == "multiway"
            require(good, "method", self.method, rule)
            plain = self.declared.weights is None
            rule = "permute-and-flip or exponential where classes have weights"
            require(plain, "method", self.method, rule)

    @property
    def declared(self) -> Declared:
        """What is declared, with the bound on rows."""
        declared: Declared = self.declare  # type: ignore[assignment]  # as it was read
        return replace(declared, rows=self.rows)

    def terms(self, public: Public) -> TreeTerms:
        """See ``Query``."""
        from reticent.guarantees import Unit

        declared, method = self.declared, self.method
        relation: Any = self.relation
        options: dict[str, Any] = {"scores" if method in LOCAL else "law": method}
        try:
            mechanism = declared.mechanism(
                epsilon=self.epsilon,
                depth=self.max_depth,
                unit=Unit("record", relation),
                criterion=self.criterion,
                split=self.split,
                leaf_share=self.leaf_share,
                growth=self.growth,
                stop=self.stop or ("size" if self.split == "multiway" else "depth"),
                **options,
            )
        except ParameterError as error:
            name = _OPTIONS.get(error.name, error.name)
            raise ParameterError(name, error.rule, error.value) from None
        return TreeTerms(self, declared, mechanism)

    def reads(self, known: Mapping[str, Any]) -> Mapping[str, Input]:
        """The declared columns, and the one to be predicted."""
        names = (*(column.name for column in self.declared.columns), self.target)
        roles = {name: Role(Cells.ANY, "As declared.") for name in names}
        return {"table": replace(TABLE, roles=roles)}

    def usual_method(self) -> str:
        """By how splits are made and chosen."""
        return f"multiway-{self.method}" if self.split == "multiway" else self.method

    def curves(self, tables: Mapping[str, Any], trial: Trial) -> Curves:
        """How often trees are right on rows that they never saw; a sweep is over depths, too."""
        from reticent.guarantees import Unit
        from reticent.tasks.comparing import chosen_ways
        from reticent.tasks.comparing_tree import Rows, by_depth, growers, tree_curves

        relation: Any = self.relation
        unit = Unit("record", relation)
        common = {"unit": unit, "leaf_share": self.leaf_share, "growth": self.growth}
        known = {one.name: one for one in growers(self.declared, common=common)}
        asked = [known[way] for way in chosen_ways(known, trial.methods)]
        tried = [replace(one, depth=self.max_depth) for one in asked]
        depths = trial.more.get("depths")
        if trial.swept and (depths or self.max_depth is None):
            tried = by_depth(depths or _DEPTHS, asked[0])
        table = self.terms(Public()).cells(tables["table"])
        return tree_curves(
            Rows.of(self.declared, *table),
            tried,
            target=self.target,
            epsilons=trial.values,
            runs=trial.runs,
            source=trial.source,
            held_out=trial.more["held_out"],
            progress=trial.progress,
        )

    def worlds(self) -> tuple[World, ...]:
        """A row, there or not, or of another class."""
        columns, classes = self.declared.columns, self.declared.classes
        cells = [column.categories or column.edges for column in columns]
        ends = [(values[0], classes[0]) for values in cells], [(v[-1], classes[-1]) for v in cells]

        def table(*rows: int) -> dict[str, Any]:
            """Rows of the first values, or of the last ones."""
            held = {
                column.name: [ends[row][place][0] for row in rows]
                for place, column in enumerate(columns)
            }
            return {"table": {**held, self.target: [ends[row][0][1] for row in rows]}}

        gone = table(0, 1, 1) if self.relation == "add-remove" else table(0, 1, 1, 0)
        return (World("a row", table(0, 1, 1, 1), gone),)

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Nothing of the table is public beyond what is declared."""
        return Public()

    def restore(self, value: Any) -> TrainedTree:
        """A tree that this query could have released."""
        from reticent.tasks.tree_values import read_tree

        terms = self.terms(Public())
        return read_tree(value, terms.declared, terms.mechanism)


@dataclass(frozen=True, slots=True)
class TreeTerms(Terms):
    """Splits and noisy counts are released."""

    query: Tree
    declared: Declared
    mechanism: PrivateTree
    columns: ClassVar[tuple[str, ...]] = ("node", "parent", "when", "likeliest", "share", "rows")

    @property
    def what(self) -> str:
        """In words."""
        return (
            f"a decision tree for {self.query.target.strip()}, {self.mechanism.depth} splits deep "
            "at most"
        )

    @property
    def public(self) -> tuple[str, ...]:
        """What is declared."""
        columns, classes = len(self.declared.columns), len(self.declared.classes)
        many = f"the {columns} columns with their ranges and categories"
        held = "the column with its range or categories" if columns == 1 else many
        told = [f"{held}, and the {classes} classes, as declared"]
        if self.declared.rows is not None:
            entropy = self.mechanism.criterion == "entropy"
            stated = ": you state it, and if it is not true the promise is not kept"
            bound = f"that no table has more than {self.declared.rows:,} rows"
            told.append(bound + (stated if entropy else ""))
        return tuple(told)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.tree(self.mechanism.unit)

    def draw(self, tables: Mapping[str, Any], source: Source, progress: Progress) -> Grown:
        """Splits, and counts of the leaves."""
        rows = self.declared.coded(*self.cells(tables["table"]))
        return self.mechanism.release(rows, source).value

    def cells(self, table: Bound) -> tuple[list[NDArray[Any]], NDArray[Any]]:
        """The declared columns, and the class of each row."""
        from reticent.tasks.declarations import as_declared

        columns = [cells_of(table, column) for column in self.declared.columns]
        return columns, as_declared(table[self.query.target], self.declared.classes)

    def show(self, kept: Grown) -> TrainedTree:
        """The tree with the names of its columns and classes."""
        from reticent.tasks.trained_tree import TrainedTree

        return TrainedTree(self.declared, kept)

    def plain(self, value: TrainedTree) -> dict[str, Any]:
        """With what is declared."""
        return value.plain()

    def lines(self, value: TrainedTree) -> list[str]:
        """Indented."""
        return value.text().split("\n")

    def rows(self, value: TrainedTree) -> list[tuple[Any, ...]]:
        """One for each node, numbered from 1; a parent of 0 is none."""
        return value.node_rows()

    def notes(self, kept: Grown) -> tuple[str, ...]:
        """About how many rows there are, and whether that is more than noise."""
        rows = max(int(kept.counts[0].sum()), 0)
        leaves = kept.leaf_counts.shape[1] * int((kept.child < 0).sum())
        few = (_FEW,) if rows < 3 * math.sqrt(2 * leaves) * kept.scale else ()
        return (*few, f"about {rows:,} rows in all, by the noisy counts")


def cells_of(table: Bound, column: Column) -> NDArray[Any]:
    """A column as its declaration takes it."""
    from reticent.tasks.declarations import as_declared

    return as_declared(table[column.name], column.categories)
