"""``reticent train``: learn something from private rows; what its commands share.

Not here  the commands (train_tree.py, train_columns.py), predictions (predict.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

app = typer.Typer(
    help="Learn a decision tree from private rows.", rich_markup_mode=None, no_args_is_help=True
)

RowsFile: TypeAlias = Annotated[
    Path,
    typer.Argument(help="A table with a header line: .csv, .csv.gz or .parquet.", metavar="TABLE"),
]


@app.callback()
def train() -> None:
    """Learn a decision tree from private rows."""
