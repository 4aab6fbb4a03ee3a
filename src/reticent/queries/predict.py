"""What a released tree says of other rows.

Theory    docs/theory/tree.md, Guarantee (what is computed from a tree is covered)
Not here  growing a tree (tree.py), how derived answers are made (derived.py).

A prediction costs nothing of the budget of those whose rows the tree was grown from. It is about
the new row, which nothing here protects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.queries.base import Answer, Progress, Public, Shape
from reticent.queries.derived import DerivedQuery, DerivedTerms, parent_of
from reticent.queries.inputs import Artefact, Cells, Input, Role, Table
from reticent.queries.options import FLAG, option

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.base import Mechanism
    from reticent.tasks.columns import Column
    from reticent.tasks.trained_tree import TrainedTree

_ID = "id"
ROWS = Table(
    "A line for each row.",
    {_ID: Role(Cells.NAME, "What names it, else its number.", required=False)},
    rest="those that the tree splits by",
)


@dataclass(frozen=True, kw_only=True)
class Predict(DerivedQuery):
    """What a private tree says of other rows.

    This costs nothing: the tree was released, and those whose rows it was grown from are protected
    as its card says, whatever is predicted. The new rows are not: a prediction tells about its row.
    Only columns that the tree splits by are needed; what it does not know counts as missing.
    """

    kind: ClassVar[str] = "predict"
    verb: ClassVar[str] = ""
    shape: ClassVar[Shape] = Shape.PER_PERSON
    inputs: ClassVar[Mapping[str, Input]] = {
        "tree": Artefact("tree", "A tree that `reticent release tree --out` wrote."),
        "rows": ROWS,
    }
    absent: ClassVar[Mapping[str, str]] = {
        **DerivedQuery.absent,
        "HTTP": "its rows are those of whoever has the tree",
    }

    proba: bool = option("Add a column for each class with its probability.", FLAG, default=False)

    def terms(self, public: Public) -> PredictTerms:
        """See ``Query``."""
        parent = parent_of(public, "tree")
        return PredictTerms(self, parent, parent.terms.mechanism, named=public.names is not None)

    def reads(self, known: Mapping[str, Any]) -> Mapping[str, Input]:
        """The columns that the tree splits by."""
        if "tree" not in known:
            return self.inputs
        names = [column.name for column in _used(known["tree"].value).values()]
        free = _ID not in {name.casefold() for name in names}
        own = dict.fromkeys(names, Role(Cells.ANY, "What the tree splits by."))
        roles = {**(ROWS.roles if free else {}), **own}
        return {**self.inputs, "rows": replace(ROWS, roles=roles)}

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Rows are not protected here: their number and names are the reader's own."""
        if "rows" not in tables:
            return Public(tables=tables)
        rows = tables["rows"]
        return Public(len(rows), rows[_ID].tolist() if _ID in rows else None, tables=tables)


def _used(trained: TrainedTree) -> dict[int, Column]:
    """The columns that a tree splits by, by place."""
    tree = trained.tree
    places = sorted(set(tree.column[tree.child >= 0].tolist()))
    return {place: trained.declared.columns[place] for place in places}


@dataclass(frozen=True, slots=True)
class PredictTerms(DerivedTerms):
    """A class of the tree for each row, and the share of each class if asked for."""

    query: Predict
    tree: Answer
    mechanism: Mechanism[Any]
    named: bool
    artefact: ClassVar[str] = "tree"

    @property
    def parent(self) -> Answer:
        """The tree."""
        return self.tree

    @property
    def trained(self) -> TrainedTree:
        """The tree itself."""
        held: TrainedTree = self.tree.value
        return held

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The name or number of a row, its class, shares."""
        classes = self.trained.declared.classes if self.query.proba else ()
        return (_ID if self.named else "row", "prediction", *(f"p({label})" for label in classes))

    @property
    def types(self) -> tuple[type, ...]:
        """A name or a number, a class, which may be a number, and chances."""
        kinds = {type(label) for label in self.trained.declared.classes}
        label = kinds.pop() if len(kinds) == 1 else str
        chances = (float,) * (len(self.columns) - 2)
        return (str if self.named else int, label if label in (int, float) else str, *chances)

    @property
    def what(self) -> str:
        """In words."""
        target: Any = self.tree.query
        return f"what a private tree says of {target.target.strip()}, row by row"

    @property
    def public(self) -> tuple[str, ...]:
        """The tree was released."""
        return ("the tree, which was released, with its card",)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.predictions(self.tree.terms.scope(), card=self.tree.card.id)

    def derive(self, tables: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Columns by name, and those in which no cell is known."""
        return self.derive_rows(tables["rows"], 0)

    def derive_rows(self, table: Any, first: int) -> dict[str, Any]:
        """See ``derive``; rows without names are numbered from 1."""
        import numpy as np

        from reticent.queries.tree import cells_of

        trained = self.trained
        held, unknown = [np.full(len(table), "")] * len(trained.declared.columns), []
        for place, column in _used(trained).items():
            held[place] = cells_of(table, column)
            if len(table) and bool((column.codes(held[place]) == column.size - 1).all()):
                unknown.append(column.name)
        shares, classes = trained.shares(held), list(trained.declared.classes)
        names = (
            table[_ID].tolist() if self.named else [first + at for at in range(1, len(table) + 1)]
        )
        best = [classes[place] for place in shares.argmax(axis=1).tolist()]
        chances = shares.T.tolist() if self.query.proba else []
        made = dict(zip(self.columns, (names, best, *chances), strict=True))
        return {"columns": made, "unknown": unknown}

    def show(self, kept: dict[str, Any]) -> dict[str, list[Any]]:
        """Columns by name, as a data frame takes them."""
        made: dict[str, list[Any]] = kept["columns"]
        return made

    def rows(self, value: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
        """In the order of the table; classes of several kinds as text, for a column has one."""
        classes = self.trained.declared.classes
        mixed = 0 < sum(isinstance(label, str) for label in classes) < len(classes)
        told = [str(label) if mixed else label for label in value["prediction"]]
        return list(zip(*{**value, "prediction": told}.values(), strict=True))

    def notes(self, kept: dict[str, Any]) -> tuple[str, ...]:
        """Columns that are probably not those that the tree means."""
        told = "no cell holds what the tree knows; all count as missing"
        return tuple(f"{name}: {told}" for name in kept["unknown"])
