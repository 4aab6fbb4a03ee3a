"""Tables of values, one person a line, as the commands read them: the values and the names.

Not here  reading a table (data/people_tables.py), the commands (compare_percentile.py,
          sweep_public.py).

Values never raise: what is no number counts as the least, what is outside the range is clamped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ValuesFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="A line for each person: .csv, .csv.gz or .parquet, with a header line.",
        metavar="TABLE",
    ),
]
POption: TypeAlias = Annotated[
    float, typer.Option("--p", help="The rank, between 0 and 1; 0.5 is the median.", metavar="P")
]
UpperOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--upper",
        help="The largest value that there can be. It is public: take what you knew before you saw "
        "the table. Values beyond it are clamped.",
        metavar="L",
    ),
]
ColumnOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--column",
        help="The column of values.  [default: the only one besides --id]",
        metavar="COLUMN",
    ),
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Values:
    """The value of each person, NaN where there is no number, and what people are called."""

    held: NDArray[np.float64]
    names: list[str]

    def __len__(self) -> int:
        return len(self.held)

    @classmethod
    def read(cls, path: Path, column: str | None, ids: str | None) -> Values:
        """From a table; people are numbered from 1 if no column names them."""
        from reticent.data.people_tables import read_people
        from reticent.mechanisms.reading import read_reals

        people = read_people(path)
        called = None if ids is None else people.named(ids)
        if column is None:
            others = [name for name in people.columns if name != called]
            if len(others) != 1:
                raise Failure(f"{path} has several columns", why="--column says which one to take")
            column = others[0]
        elif called == people.named(column):
            raise Failure(f"{called} cannot name people and be their value")
        held = read_reals(people.column(column), len(people))
        if called is None:
            return cls(held, [f"row {line}" for line in range(1, len(people) + 1)])
        names = people.column(called).tolist()
        if not all(names) or len(set(names)) < len(names):
            why = "the list of people is public, and each of them has one line"
            raise Failure(f"{called} must name each person of {path} once", why=why)
        return cls(held, names)


def check_rank(p: float) -> None:
    """Refuse, before anything is read, what is no rank."""
    if not 0 < p < 1:
        raise Failure(f"--p must be between 0 and 1, got {p:g}", why="0.5 is the median")
