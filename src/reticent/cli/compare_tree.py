"""``reticent compare tree``: how often trees are right that are grown in different ways.

Not here  the comparison (tasks/comparing_tree.py), releases (queries.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.compare import (
    EpsilonsOption,
    PlotFile,
    PublicFlag,
    RunsOption,
    SeedOption,
    check_public,
    drawn,
    show,
    source_of,
    tenths,
)
from reticent.cli.compare_points import points
from reticent.cli.data_columns import RowsFile
from reticent.cli.failures import Failure
from reticent.cli.output import Json, progress
from reticent.errors import DeclarationError
from reticent.queries.tree import DECLARATION, DEEPEST, Tree

if TYPE_CHECKING:
    from fractions import Fraction

    from reticent.tasks.comparing import Curves
    from reticent.tasks.comparing_tree import Grower, Rows

HALF_DECADES = "0.01,0.03,0.1,0.3,1,3,10"
TargetOption: TypeAlias = Annotated[
    str, typer.Option("--target", help="The column to be predicted.", metavar="COLUMN")
]
DeclareFile: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--declare",
        help="What is known about such tables, .toml: ranges or categories of the columns to use, "
        "and the classes. `reticent data columns` prints a form.",
        metavar="FILE",
    ),
]
RowsBound: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--rows",
        help="No such table has more rows than this.  [default: as many as the public one has]",
        min=1,
        metavar="N",
    ),
]
HeldOut: TypeAlias = Annotated[
    float,
    typer.Option(
        "--held-out",
        help="The share of rows that a tree is judged on and not grown from.",
        min=0.01,
        max=0.9,
        metavar="SHARE",
    ),
]


def tree(
    context: typer.Context,
    path: RowsFile,
    target: TargetOption,
    declare: DeclareFile,
    public: PublicFlag = False,
    rows: RowsBound = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth",
            help="How many splits lead to a leaf.  [default: by epsilon and rows]",
            min=0,
            max=DEEPEST,
            metavar="D",
        ),
    ] = None,
    epsilons: EpsilonsOption = HALF_DECADES,
    held_out: HeldOut = 0.2,
    runs: RunsOption = 10,
    seed: SeedOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How often trees are right, by how they are grown.

    Judged on rows of a public table that a tree never saw. Splits in two by Gini impurity, chosen
    by permute-and-flip or the exponential mechanism, and splits into all values by entropy, chosen
    by the exponential mechanism or by local dampening. In each run all of them grow from the same
    rows and are judged on the same others.
    """
    from reticent.tasks.comparing_tree import growers

    check_public(context, public, plot)
    sizes = points(epsilons, "--epsilon")
    found = public_rows(path, target, declare, rows)
    tried = growers(found.declared, depth=max_depth)
    curves = judged(found, tried, target, sizes, held_out, runs, seed)
    show_judged(curves, "compare-tree/1", plot, as_json)


def public_rows(path: Path, target: str, declare: Path, rows: int | None) -> Rows:
    """The rows of a table as the declaration reads them."""
    from reticent.queries.base import Public
    from reticent.queries.binding import Given
    from reticent.tasks.comparing_tree import Rows

    try:
        query = Tree(epsilon=1, target=target, declare=declare, rows=rows)
    except DeclarationError as error:
        form = f"{DECLARATION.form} {shlex.quote(str(path))}"
        raise Failure(str(error), next_command=form) from None
    with progress(2) as step:
        step(f"reading {path.name}")
        table = Given.of(query.reads({}), path, None).private({})["table"]
    return Rows.of(query.declared, *query.terms(Public()).cells(table))


def judged(
    rows: Rows,
    tried: Sequence[Grower],
    target: str,
    epsilons: Sequence[Fraction],
    held_out: float,
    runs: int,
    seed: int | None,
) -> Curves:
    """How often each is right."""
    from reticent.tasks.comparing_tree import tree_curves

    with progress(runs * len(epsilons) * len(tried)) as advance:
        return tree_curves(
            rows,
            tried,
            target=target,
            epsilons=epsilons,
            runs=runs,
            source=source_of(seed),
            held_out=held_out,
            progress=advance,
        )


def show_judged(curves: Curves, schema: str, plot: Path | None, as_json: bool) -> None:
    """Rows that are told right, of 100."""
    known = 100 * (curves.reference or 0)
    show(
        curves,
        schema,
        plot=plot,
        as_json=as_json,
        cell=tenths,
        title=f"Of 100 held-out rows told right: {curves.what}",
        notes=(
            drawn(curves, "draws and held-out rows of this table; none if all agree"),
            f"without privacy: {known:.1f}; always the commonest class: "
            f"{100 * curves.more['majority']:.1f}",
        ),
    )
