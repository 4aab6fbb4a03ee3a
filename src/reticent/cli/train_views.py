"""What is said about a tree that would be grown or was: the plan, the card, notes, fields.

Theory    docs/theory/tree.md, Theorem 1
Not here  the command (train_tree.py), pictures (report/tree_figures.py).

What is said after the release is computed from the tree alone, so it costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.amounts import NANO
from reticent.cli.plan import Plan

if TYPE_CHECKING:
    from reticent.guarantees import Event
    from reticent.guarantees.card import Budget, Card
    from reticent.mechanisms.tree import PrivateTree
    from reticent.tasks.trained_tree import Declared, TrainedTree

MUCH = 5 * NANO
LITTLE = "this is little worst-case protection"


@dataclass(frozen=True, slots=True)
class TreePlan(Plan):
    """What a tree would cost, about what, and what is taken as public for it."""

    question: str = ""
    public: tuple[str, ...] = ()
    unread: str = "nothing"

    def lines(self) -> list[str]:
        """As sentences, what follows from the release before what it is made of."""
        caution = [f"caution: {self.caution}"] if self.caution else []
        return [
            self.title,
            "",
            self.gain(),
            f"cost: {self.cost()}",
            f"error to expect: {self.error}",
            *(f"public: {what}" for what in self.public),
            *caution,
        ]

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return {**Plan.fields(self), "public": list(self.public)}

    def cost(self) -> str:
        """In one line; there is one loss, the same for all who look."""
        return ", ".join(f"epsilon {loss}" for loss in Plan.fields(self)["losses"].values())

    def gain(self) -> str:
        """What who looks can gain, as a sentence."""
        (chance,) = Plan.fields(self)["right_at_most"].values()
        return (
            f"Whoever sees the result and was undecided (50 in 100) about {self.question} can be "
            f"right at most {chance} times in 100."
        )

    def consequence(self) -> str:
        """What who looks can gain, and what they may know anyway."""
        return f"{self.gain()} Taken as public: {'; '.join(self.public)}."

    def after(self) -> str:
        """What a dry run has not done."""
        return f"{self.unread} was read and nothing was released"


def cautions(loss: int, *others: str) -> str:
    """What is said before anything is spent."""
    little = [LITTLE] if loss > MUCH else []
    return "; ".join([*others, *little])


def plan_of(mechanism: PrivateTree, declared: Declared, target: str, file: Path) -> TreePlan:
    """What a tree would cost; made without looking at any row."""
    loss = mechanism.guarantee()
    columns, classes = len(declared.columns), len(declared.classes)
    rows = [] if declared.rows is None else [f"that no table has more than {declared.rows:,} rows"]
    if rows and mechanism.criterion == "entropy":
        rows[0] += ": you state it, and if it is not true the promise is not kept"
    return TreePlan(
        "train-tree",
        f"a decision tree for {target}, {mechanism.depth} splits deep at most",
        {"anyone": loss.overall},
        mechanism.utility().sentence,
        cautions(loss.overall),
        loss.unit.question,
        (
            f"the {columns} columns with their ranges and categories, and the {classes} classes, "
            f"as {file} declares them",
            *rows,
        ),
        "no row",
    )


@dataclass(frozen=True, slots=True)
class Grown:
    """A tree that was released, for what is said and written about it."""

    trained: TrainedTree
    event: Event
    target: str
    unused: int

    @property
    def rows(self) -> int:
        """About how many rows it was grown from, by its own noisy counts."""
        return max(int(self.trained.tree.counts[0].sum()), 0)

    def file(self) -> str:
        """As the text of a file."""
        from reticent.tasks.tree_files import KeptTree

        return KeptTree(self.trained, self.target, self.event).to_json()

    def card(self, title: str, mechanism: PrivateTree, budget: Budget, command: str) -> Card:
        """Its guarantee card."""
        from reticent.guarantees import promises
        from reticent.mechanisms.base import Release

        whole: Release[Any] = Release(self.trained.plain(), self.event, mechanism)
        scope = promises.tree(mechanism.unit)
        return whole.card(title, scope=scope, budget=budget, command=command)

    def notes(self) -> list[str]:
        """What follows from the release and the header alone, so costs nothing."""
        tree = self.trained.tree
        noise = math.sqrt(2 * tree.leaf_counts.shape[1] * int((tree.child < 0).sum())) * tree.scale
        few = (
            "hardly any rows stand out from the noise: there are too few for this epsilon and "
            "depth, or --target and the declared classes are not what the table holds"
        )
        found = [few] if self.rows < 3 * noise else []
        if self.unused > 0:
            others = "1 column" if self.unused == 1 else f"{self.unused} columns"
            found.append(f"not used, as the declaration does not name them: {others} of the table")
        return [*found, f"about {self.rows:,} rows in all, by the noisy counts"]

    def lines(self) -> list[str]:
        """As indented lines that a terminal may show."""
        from reticent.guarantees.card_facts import printable

        lines = self.trained.text().split("\n")
        return [line[: len(line) - len(line.lstrip())] + printable(line) for line in lines]

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        leaves = int((self.trained.tree.child < 0).sum())
        classes = list(self.trained.declared.classes)
        told = {"target": self.target, "classes": classes, "leaves": leaves}
        return {**told, "rows_about": self.rows, "notes": self.notes()}
