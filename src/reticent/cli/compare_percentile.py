"""``reticent compare percentile``: how far off each way is, at each budget.

Not here  the expected error (tasks/comparing_selection.py), releases (select_percentile.py).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reticent.cli.compare import (
    EpsilonsOption,
    PlotFile,
    PublicFlag,
    amount,
    check_public,
    drawn,
    figure,
    show,
)
from reticent.cli.compare_points import points
from reticent.cli.compare_values import (
    ColumnOption,
    POption,
    UpperOption,
    Values,
    ValuesFile,
    check_rank,
)
from reticent.cli.output import Json, progress

if TYPE_CHECKING:
    from reticent.tasks.comparing import Curves

FROM_TENTH_TO_TEN = "0.1,0.2,0.5,1,2,5,10"


def percentile(
    context: typer.Context,
    path: ValuesFile,
    upper: UpperOption,
    public: PublicFlag = False,
    p: POption = 0.5,
    column: ColumnOption = None,
    epsilons: EpsilonsOption = FROM_TENTH_TO_TEN,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How far off the chosen person is expected to be, by way.

    On a public table: expected absolute errors in value, computed from the law of each way, so
    without runs and intervals.
    """
    check_public(context, public, plot)
    curves = expected(path, upper, p, column, epsilons, None)
    show_expected(curves, "compare-percentile/1", plot, as_json)


def expected(
    path: Path,
    upper: str,
    p: float,
    column: str | None,
    epsilons: str,
    ways: Collection[str] | None,
) -> Curves:
    """The expected error of each way, for these options."""
    from reticent.rational import positive
    from reticent.tasks.comparing_selection import percentile_curves, percentile_ways

    check_rank(p)
    sizes, most = points(epsilons, "--epsilon"), positive(upper, "upper")
    values = Values.read(path, column, None)
    with progress(len(sizes) * len(ways or percentile_ways())) as advance:
        return percentile_curves(
            values.held, p, upper=most, epsilons=sizes, ways=ways, progress=advance
        )


def show_expected(curves: Curves, schema: str, plot: Path | None, as_json: bool) -> None:
    """Errors in value."""
    show(
        curves,
        schema,
        plot=plot,
        as_json=as_json,
        cell=figure,
        title=f"Expected absolute error in value, looking for {curves.what}",
        notes=(f"a person at random is off by {amount(curves.reference)}", drawn(curves)),
    )
