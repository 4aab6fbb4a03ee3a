"""``reticent compare histogram``: what ways to share a provider's budget are worth.

Not here  the errors (tasks/comparing_histogram.py), the plan of one release (queries/histogram.py).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.amounts import show_up
from reticent.cli.compare import UNREAD, USUAL_EPSILONS, PlotFile, amount, check_plot, figure, show
from reticent.cli.compare_points import points
from reticent.cli.histogram_options import (
    CatalogueFile,
    Goal,
    GoalOption,
    PreferencesFile,
    Provider,
    Replace,
    plan_of,
    read_both,
)
from reticent.cli.output import Json, progress

if TYPE_CHECKING:
    from reticent.tasks.comparing import Curves

GrantsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        "--epsilons",
        help="Budgets of the provider to try: a list, as 0.1,1,10, or a range, as 0.01:10:log (9 "
        "points) or 0.1:1:linear:5.  [default: 0.01:10:log, and what the preferences grant]",
        metavar="BUDGETS",
    ),
]


def histogram(
    path: CatalogueFile,
    provider: Provider,
    preferences: PreferencesFile = Path("preferences.toml"),
    goal: GoalOption = Goal.mse,
    replaced: Replace = False,
    epsilons: GrantsOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How wrong a histogram would be, by how a budget is shared.

    The provider's budget is shared among attributes in several ways, which all keep the budgets of
    the preferences. Reads the catalogue and the preferences, and no
    profile: the errors follow from the noise.
    """
    check_plot(plot)
    curves = shared(path, provider, preferences, goal, replaced, epsilons, None)
    title = f"{curves.y[:1].upper()}{curves.y[1:]}: {curves.what} for {provider}"
    told = told_of(curves)
    show(
        curves,
        "compare-histogram/1",
        plot=plot,
        as_json=as_json,
        cell=figure,
        title=title,
        notes=told,
    )


def shared(
    path: Path,
    provider: str,
    preferences: Path,
    goal: Goal,
    replaced: bool,
    epsilons: str | None,
    ways: Collection[str] | None,
) -> Curves:
    """The error of each way at each budget, for these options."""
    from reticent.tasks.comparing_histogram import histogram_curves

    sizes = points(epsilons or USUAL_EPSILONS, "--epsilon")
    catalogue, wishes = read_both(path, preferences)
    plan, _ = plan_of(catalogue, wishes, provider, goal, replaced)
    if epsilons is None:
        sizes = sorted({*sizes, plan.epsilon})
    with progress(len(sizes)) as advance:
        return histogram_curves(catalogue, plan, epsilons=sizes, ways=ways, progress=advance)


def told_of(curves: Curves) -> tuple[str, ...]:
    """What to know about the table."""
    from reticent.tasks.comparing_histogram import SAID

    least = f"{amount(curves.reference)} is the least, where every attribute gets its whole budget"
    return (
        *(f"{way}: {SAID[way]}" for way in curves.ways),
        f"the preferences grant epsilon {curves.more['chosen']:g}",
        f"{least}: from epsilon {show_up(curves.more['threshold'])} on",
        UNREAD,
    )
