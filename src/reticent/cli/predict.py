"""``reticent predict``: what a private tree says of new rows.

Theory    docs/theory/tree.md, Guarantee (what is computed from a tree is covered)
Not here  growing a tree (train_tree.py), tables (train_tables.py), the file (tasks/tree_files.py).

A prediction costs nothing of the budget of those whose rows the tree was grown from. It is about
the new row, which the tree does not protect.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.failures import Failure, reason
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.release import check_files
from reticent.cli.train import RowsFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reticent.data.people_tables import People
    from reticent.tasks.tree_files import KeptTree

SCHEMA = "predict/1"
LARGEST = 1 << 28
"""Bytes of the longest tree that is read."""
_GROW = "reticent train tree --help"  # which makes one


def predict(
    tree: Annotated[
        Path,
        typer.Argument(help="A tree that `reticent train tree` wrote, .json.", metavar="TREE"),
    ],
    path: RowsFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the predictions here, .csv.  [default: stdout]", metavar="FILE"
        ),
    ] = None,
    proba: Annotated[
        bool,
        typer.Option("--proba", help="Add a column for each class with its probability."),
    ] = False,
    ids: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="The column that names rows; it is copied.  [default: the number of the row]",
            metavar="COLUMN",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict new rows with a private tree.

    This costs nothing: the tree was released, and those whose rows it was grown from are protected
    as its card says, whatever is predicted. The new rows are not: a prediction tells about its row.
    Only columns that the tree splits by are needed; what it does not know counts as missing.
    """
    from reticent.cli.train_tables import read_table
    from reticent.guarantees.card_facts import printable

    check_files(out, suffixes=(".csv",))
    kept = read_tree(tree)
    with progress(2) as step:
        step(f"reading {path.name}")
        table = read_table(path)
        found, notes = _predicted(kept, tree, table, ids)
    if out is not None:
        write_atomically(out, found.csv(proba))
    if as_json:
        facts = {"target": kept.target, "classes": found.classes, "rows": len(found.names)}
        told = {"predictions": found.rows(proba)} if out is None else {"out": str(out)}
        say_json(SCHEMA, **facts, **told, notes=notes)
        return
    for line in found.csv(proba).splitlines() if out is None else [str(out)]:
        say(printable(line))
    for note in notes:
        talk(f"note: {note}")
    talk("spent nothing: the tree was released before, and its card covers what follows from it")
    talk("  the predictions tell about the rows of this table, which nothing here protects")


def read_tree(path: Path) -> KeptTree:
    """The tree in a file; one that was changed, cut or is something else is refused."""
    from reticent.errors import ParameterError
    from reticent.tasks.tree_files import KeptTree

    try:
        with path.open("rb") as file:
            packed = file.read(LARGEST + 1)
        if len(packed) <= LARGEST:
            return KeptTree.from_json(packed.decode("utf-8"))
        why = f"it is longer than {LARGEST:,} bytes"
    except OSError as error:
        raise Failure(f"{path} cannot be read", why=reason(error), next_command=_GROW) from None
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except ParameterError as error:
        why = str(error)
    raise Failure(f"{path} is no tree that can be used", why=why, next_command=_GROW)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Predicted:
    """Names of rows, and the probability of each class [row, class]."""

    head: str
    names: list[str]
    classes: list[Any]
    shares: NDArray[np.float64]

    def best(self) -> list[Any]:
        return [self.classes[place] for place in self.shares.argmax(axis=1).tolist()]

    def csv(self, proba: bool) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        chances = [f"p({label})" for label in self.classes] if proba else []
        writer.writerow([self.head, "prediction", *chances])
        rows = self.shares.tolist() if proba else [[]] * len(self.names)
        for name, label, row in zip(self.names, self.best(), rows, strict=True):
            writer.writerow([name, label, *(f"{share:.6f}" for share in row)])
        return out.getvalue()

    def rows(self, proba: bool) -> list[dict[str, Any]]:
        """For JSON; probabilities in the order of the classes."""
        told = zip(self.names, self.best(), self.shares.tolist(), strict=True)
        return [
            {"row": name, "prediction": label, **({"probabilities": row} if proba else {})}
            for name, label, row in told
        ]


def _predicted(
    kept: KeptTree, file: Path, table: People, ids: str | None
) -> tuple[_Predicted, list[str]]:
    """The predictions, and what is odd about the rows or the tree."""
    import numpy as np

    from reticent.cli.train_tables import cells, check_columns, named

    declared, tree = kept.trained.declared, kept.trained.tree
    used = set(tree.column[tree.child >= 0].tolist())
    needed = [column.name for j, column in enumerate(declared.columns) if j in used]
    check_columns(table, needed, f", by which {file} splits", "")
    head = "row" if ids is None else named(table, ids)
    names = list(map(str, range(1, len(table) + 1)))
    notes = [] if kept.event.private else ["this tree was grown by a seeded source: no privacy"]
    columns = []
    for j, column in enumerate(declared.columns):
        held = cells(table, column) if j in used else np.full(len(table), "")
        columns.append(held)
        if j in used and bool((column.codes(held) == column.size - 1).all()):
            notes.append(f"{column.name}: no cell holds what the tree knows; all count as missing")
    shares = kept.trained.shares(columns)
    called = names if ids is None else table.column(ids).tolist()
    return _Predicted(head, called, list(declared.classes), shares), notes
