"""``reticent sweep``: what one way of a release gives, over budgets; here those that need no data.

Theory    docs/theory/similarity.md, Theorem 1
Not here  sweeps over public data (sweep_public.py), tables and options (compare.py), what is
          computed (tasks/comparing.py and its like).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from reticent.cli.compare import (
    UNREAD,
    USUAL_EPSILONS,
    EpsilonsOption,
    PlotFile,
    check_plot,
    figure,
    show,
)
from reticent.cli.compare_histogram import GrantsOption, shared, told_of
from reticent.cli.compare_points import points
from reticent.cli.histogram_options import (
    CatalogueFile,
    Goal,
    GoalOption,
    PreferencesFile,
    Provider,
    Replace,
)
from reticent.cli.output import Json
from reticent.queries.similarity import NORMS_HELP

app = typer.Typer(
    help="Show what a budget buys, over many budgets.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


class Measure(StrEnum):
    """What is computed of two profiles."""

    cosine = "cosine"
    overlap = "overlap"
    jaccard = "jaccard"


class Norms(StrEnum):
    """How sizes of profiles enter a similarity."""

    private = "private"
    public = "public"
    none = "none"


MeasureOption: TypeAlias = Annotated[Measure, typer.Option("--measure", help="What to compute.")]
NormsOption: TypeAlias = Annotated[
    Norms | None,
    typer.Option(
        "--norms",
        help=NORMS_HELP,
    ),
]


class Sharing(StrEnum):
    """How a provider's budget is shared among attributes."""

    best = "shared-at-best"
    alike = "scaled-alike"
    one = "one-for-all"
    added = "added-up"


@app.callback()
def sweep() -> None:
    """Show what a budget buys, over many budgets."""


@app.command("histogram")
def histogram(
    path: CatalogueFile,
    provider: Provider,
    preferences: PreferencesFile = Path("preferences.toml"),
    goal: GoalOption = Goal.mse,
    replaced: Replace = False,
    way: Annotated[
        Sharing, typer.Option("--way", help="How the budget is shared among attributes.")
    ] = Sharing.best,
    epsilons: GrantsOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How wrong a histogram would be, by the provider's budget.

    Reads the catalogue and the preferences, and no profile.
    """
    check_plot(plot)
    curves = shared(path, provider, preferences, goal, replaced, epsilons, [way.value])
    show(
        curves,
        "sweep-histogram/1",
        plot=plot,
        as_json=as_json,
        cell=figure,
        title=f"{curves.y[:1].upper()}{curves.y[1:]}: {curves.what} for {provider}",
        notes=told_of(curves),
    )


@app.command("similarity")
def similarity(
    epsilons: EpsilonsOption = USUAL_EPSILONS,
    measure: MeasureOption = Measure.cosine,
    norms: NormsOption = None,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How wrong a noisy similarity is, by budget.

    Shown is the expected error of the overlap behind it, in items. Reads nothing: the error follows
    from the noise.
    """
    from reticent.queries.similarity import comparison
    from reticent.tasks.comparing_similarity import similarity_curves

    check_plot(plot)
    tried = [
        comparison(str(size), measure.value, None if norms is None else norms.value, "min")
        for size in points(epsilons, "--epsilon")
    ]
    curves = similarity_curves(tried)
    show(
        curves,
        "sweep-similarity/1",
        plot=plot,
        as_json=as_json,
        cell=figure,
        title=f"{curves.y[:1].upper()}{curves.y[1:]}: {curves.what}",
        notes=(UNREAD,),
    )
