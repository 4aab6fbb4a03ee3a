"""``reticent train tree``: a decision tree in which no single row shows.

Theory    docs/theory/tree.md, Theorem 1
Not here  the declaration file (train_declared.py), tables (train_tables.py), what is said
          (train_views.py), growing (tasks/trained_tree.py), the file (tasks/tree_files.py).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.charging import (
    LEDGER,
    DataSetOption,
    KeyOption,
    LedgerOption,
    Purse,
    TotalOption,
    of_data_set,
)
from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.plan import DryRun, Yes, agreement, published
from reticent.cli.release import CARDS, CardFile, card_fields, check_files, say_card, write_card
from reticent.cli.train import RowsFile
from reticent.cli.train_views import Grown, plan_of
from reticent.errors import MissingExtra, ParameterError

if TYPE_CHECKING:
    from reticent.mechanisms.tree import PrivateTree
    from reticent.tasks.trained_tree import Declared

SCHEMA = "train-tree/1"
DEEPEST = 64  # as in tasks/tree_files.py
_TYPED = {"depth": "--max-depth", "rows": "--rows", "epsilon": "--epsilon"}


class RelationName(StrEnum):
    """How a row may differ."""

    add_remove = "add-remove"
    substitute = "substitute"


class CriterionName(StrEnum):
    """By what splits are compared."""

    gini = "gini"
    accuracy = "accuracy"
    entropy = "entropy"


class MechanismName(StrEnum):
    """How a split is chosen."""

    permute_and_flip = "permute-and-flip"
    exponential = "exponential"
    dampened = "dampened"
    shifted = "shifted"


class SplitName(StrEnum):
    """Into how many parts a node is split."""

    binary = "binary"
    multiway = "multiway"


_LOCAL = (MechanismName.dampened, MechanismName.shifted)


def tree(
    context: typer.Context,
    path: RowsFile,
    target: Annotated[
        str, typer.Option("--target", help="The column to be predicted.", metavar="COLUMN")
    ],
    declare: Annotated[
        Path,
        typer.Option(
            "--declare",
            help="What is public about the table, .toml: ranges or categories of the columns to "
            "use, and the classes. `reticent train columns` prints a form.",
            metavar="FILE",
        ),
    ],
    epsilon: Annotated[
        str, typer.Option("--epsilon", help="What the release may lose.", metavar="E")
    ],
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            help="No table that you could have met has more rows than this; it is public. The "
            "depth is chosen by it, and --criterion entropy needs it: if it is wrong, the promise "
            "of entropy is not kept.",
            min=1,
            metavar="N",
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth",
            help="How many splits lead to a leaf.  [default: by epsilon and --rows, or 5]",
            min=0,
            max=DEEPEST,
            metavar="D",
        ),
    ] = None,
    relation: Annotated[
        RelationName,
        typer.Option(
            "--relation",
            help="Hide whether a row is there, or what it says (which doubles the noise).",
        ),
    ] = RelationName.add_remove,
    criterion: Annotated[
        CriterionName, typer.Option("--criterion", help="By what splits are compared.")
    ] = CriterionName.gini,
    mechanism: Annotated[
        MechanismName,
        typer.Option(
            "--mechanism",
            help="How splits are chosen; dampened and shifted need --criterion entropy and "
            "--split multiway.",
        ),
    ] = MechanismName.permute_and_flip,
    split: Annotated[
        SplitName,
        typer.Option("--split", help="In two, or into a part for each value of a column."),
    ] = SplitName.binary,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the tree here, .json; predictions need it.", metavar="FILE"
        ),
    ] = None,
    card: CardFile = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the tree here, .svg.", metavar="FILE")
    ] = None,
    ledger: LedgerOption = LEDGER,
    key: KeyOption = None,
    data_set: DataSetOption = None,
    total: TotalOption = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Grow a decision tree in which no single row shows.

    Splits are chosen at random, good ones far more often, and leaves hold noisy counts; so all that
    is computed from the tree is private, too. Columns, ranges, categories and classes are public
    and declared in a file; nothing of that is read from the table. Cells that do not fit count as
    missing or as the nearest end, rows of other classes are left out, and nothing reports either.
    """
    from reticent.cli.train_declared import form_command, read_declared
    from reticent.cli.train_tables import as_declared, cells, check_columns, read_table
    from reticent.noise import Source
    from reticent.tasks.trained_tree import TrainedTree, train

    _check_outputs(out, card, plot)
    given = _Given(epsilon, rows, max_depth, relation, criterion, mechanism, split)
    given.check()
    declared = read_declared(declare, path, target, rows)
    grower = given.mechanism(declared)
    plan = plan_of(grower, declared, target, declare)
    purse, payers = Purse(ledger, key, quiet=as_json), of_data_set(path, data_set, total)
    if dry_run:
        plan.say(as_json, purse.outlook(payers, plan.charge))
        return
    agree = agreement(context, yes)
    with progress(2) as step:
        step(f"reading {path.name}")
        table = read_table(path)
        form = form_command(path, target)
        check_columns(table, [target], ", which --target names", form_command(path))
        names = [column.name for column in declared.columns]
        check_columns(table, names, f", which {declare} declares", form)
        columns = [cells(table, column) for column in declared.columns]
        labels = as_declared(table.column(target), declared.classes)
    agree(plan)
    source = Source.system()

    def grow() -> dict[str, Any]:
        with progress(2) as step:
            step("growing the tree")
            return train(declared, columns, labels, mechanism=grower, source=source)[0].plain()

    paid = purse.pay(context, grower.event(source), payers, grow)
    trained = TrainedTree.of_plain(paid.value)
    grown = Grown(trained, grower.event(source), target, len(table.columns) - len(names) - 1)
    made = grown.card(plan.title, grower, paid.budget, published(context))
    if out is not None:
        write_atomically(out, grown.file())
    write_card(made, card)
    if plot is not None:
        from reticent.report.tree_figures import tree_figure

        write_atomically(plot, tree_figure(trained, target=target))
    if as_json:
        told = trained.plain() if out is None else str(out)
        cost = {**plan.fields(), **paid.fields(), **card_fields(made, card)}
        say_json(SCHEMA, **grown.fields(), tree=told, **cost)
        return
    for line in grown.lines():
        say(line)
    for note in grown.notes():
        talk(f"note: {note}")
    talk(paid.cost(plan.cost()))
    if plot is not None:
        talk(f"figure: {plot}")
    if out is not None:
        talk(f"tree: {out}")
        talk(f"  next: {shlex.join(['reticent', 'predict', str(out), 'NEW-ROWS.csv'])}")
    say_card(made, card)


def _check_outputs(out: Path | None, card: Path | None, plot: Path | None) -> None:
    check_files(out, suffixes=(".json",))
    check_files(card, suffixes=CARDS)
    check_files(plot, suffixes=(".svg",))
    files = [file.resolve() for file in (out, card, plot) if file is not None]
    if len(set(files)) < len(files):
        raise Failure("--out and --card name the same file", why="one would overwrite the other")
    if plot is not None and find_spec("matplotlib") is None:
        raise MissingExtra("drawing a figure", "plots")


@dataclass(frozen=True, slots=True)
class _Given:
    """The options that make the mechanism."""

    epsilon: str
    rows: int | None
    depth: int | None
    relation: RelationName
    criterion: CriterionName
    law: MechanismName
    split: SplitName

    def check(self) -> None:
        entropy = self.criterion is CriterionName.entropy
        if entropy and self.rows is None:
            why = "how much one row changes entropy depends on how many rows there can be"
            raise Failure("--criterion entropy needs --rows", why=why)
        if self.law in _LOCAL and not (entropy and self.split is SplitName.multiway):
            needed = "--criterion entropy and --split multiway"
            raise Failure(f"--mechanism {self.law.value} needs {needed}")

    def mechanism(self, declared: Declared) -> PrivateTree:
        from reticent.guarantees import Unit

        if self.law in _LOCAL and declared.weights is not None:
            raise Failure(f"--mechanism {self.law.value} does not go with weights of classes")
        local = self.law in _LOCAL
        options: dict[str, Any] = {"scores" if local else "law": self.law.value}
        try:
            return declared.mechanism(
                epsilon=self.epsilon,
                depth=self.depth,
                unit=Unit("record", self.relation.value),
                criterion=self.criterion.value,
                split=self.split.value,
                stop="size" if self.split is SplitName.multiway else "depth",
                **options,
            )
        except ParameterError as error:
            typed = _TYPED.get(error.name, error.name)
            raise Failure(f"{typed} must be {error.rule}, got {error.value}") from None
