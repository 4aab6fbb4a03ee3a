"""``reticent compare neighbours``: how good the neighbours are that each way finds.

Not here  the comparison (tasks/comparing_neighbours.py), releases (queries/neighbours.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

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
from reticent.cli.declared import Declared
from reticent.cli.failures import Failure
from reticent.cli.output import Json, progress

TableFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Who has what: .csv, .csv.gz or .parquet with columns user, item and, if people set "
        "them, weight (0 to 1); or .npz, a CSR matrix of weights.",
        metavar="TABLE",
    ),
]
ColumnNames: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Other names of the columns, as user,item or user,item,weight.",
        metavar="NAMES",
    ),
]
KOption: TypeAlias = Annotated[
    int, typer.Option("--k", help="How many neighbours of each person.", min=1)
]
SizeOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--profile-size",
        help="For sketches: how many items a profile is expected to have. Do not count them.",
        min=1,
    ),
]
HALF_DECADES = "0.1,0.3,1,3,10"


def neighbours(
    context: typer.Context,
    path: TableFile,
    public: PublicFlag = False,
    k: KOption = 10,
    profile_size: SizeOption = 100,
    columns: ColumnNames = None,
    epsilons: EpsilonsOption = HALF_DECADES,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            help="The share of items that neighbours have to supply.",
            min=0.01,
            max=0.9,
            metavar="SHARE",
        ),
    ] = 0.1,
    runs: RunsOption = 5,
    seed: SeedOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How good the neighbours are that each way finds.

    On public profiles. Some items are held out; shown is how many of 100 of them one of the k
    neighbours has, for everybody and by what people withhold. All ways lose the same to all others
    together: published sketches and comparisons of all pairs, by the weights of items or, without
    them, at the budget of the strictest item.
    """
    from reticent.tasks.comparing_neighbours import WAYS, Search, neighbour_curves

    check_public(context, public, plot)
    sizes, search = points(epsilons, "--epsilon"), Search(k, profile_size, held_out)
    profiles = Declared().profiles(path, columns)
    if len(profiles) < 2:
        raise Failure(f"{path} has one person only", why="there is nobody to compare")
    with progress(runs * len(sizes) * len(WAYS)) as advance:
        curves = neighbour_curves(
            profiles, search, epsilons=sizes, runs=runs, source=source_of(seed), progress=advance
        )
    known = f"without privacy and weights: {100 * (curves.reference or 0):.1f}"
    show(
        curves,
        "compare-neighbours/1",
        plot=plot,
        as_json=as_json,
        cell=tenths,
        title=f"Of 100 held-out items one of {k} neighbours has, among {len(profiles):,} people",
        notes=(drawn(curves, "draws and held-out items; none if all agree"), known),
    )
