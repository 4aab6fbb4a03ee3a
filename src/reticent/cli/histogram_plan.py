"""``reticent plan``: what a provider would get, and what plans and releases of histograms share.

Not here  the release (histogram.py), how the noise is planned (mechanisms/), whose wishes count
          (preferences/).
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.histogram_views import plan_fields, plan_lines
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.prefs import unusable
from reticent.cli.release import check_files

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue
    from reticent.guarantees import Unit
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.preferences import Grant, Preferences

EPSILONS = ("0.05", "0.1", "0.2", "0.4", "0.8", "1.6")
FIGURES = (".svg",)


class Goal(StrEnum):
    """Which error is made least."""

    mse = "mse"
    mae = "mae"
    mael = "mael"


CatalogueFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Which item has which attribute: .csv, .csv.gz or .parquet with columns item and "
        "attribute (and value), or item and one column per attribute. It is public.",
        metavar="CATALOGUE",
    ),
]
PreferencesFile: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--preferences",
        help="The person's preferences file, TOML.",
        metavar="FILE",
        show_default=True,
    ),
]
Provider: TypeAlias = Annotated[
    str, typer.Option("--provider", help="Who gets the histogram.", metavar="PROVIDER")
]
GoalOption: TypeAlias = Annotated[
    Goal,
    typer.Option(
        "--goal",
        help="The error to make least: mean squared, mean absolute, or mean absolute relative to "
        "what each attribute's budget alone allows.",
    ),
]
Replace: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Protect against an item being replaced by another one of the catalogue, the number "
        "of a person's items in it being public, instead of being added or removed.",
    ),
]


def plan(
    path: CatalogueFile,
    provider: Provider,
    preferences: PreferencesFile = Path("preferences.toml"),
    goal: GoalOption = Goal.mse,
    replaced: Replace = False,
    figure: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            "--figure",
            help="Draw the noise of each attribute here, .svg.",
            metavar="FILE",
        ),
    ] = None,
    sharing: Annotated[
        Path | None,
        typer.Option(
            "--sharing", help="Draw the error against epsilon here, .svg.", metavar="FILE"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """What a provider would get, and how wrong it would be.

    Reads the catalogue and the person's preferences, and no profile.
    """
    check_files(figure, suffixes=FIGURES)
    check_files(sharing, suffixes=FIGURES)
    catalogue, wishes = read_both(path, preferences)
    made, grant = plan_of(catalogue, wishes, provider, goal, replaced)
    if figure is not None:
        from reticent.report.histogram_figures import noise_figure

        write_atomically(figure, noise_figure(made, withheld=grant.withheld))
    if sharing is not None:
        write_atomically(sharing, _sharing(catalogue, made, goal, replaced))
    if as_json:
        say_json("plan-histogram/1", provider=provider, **plan_fields(made, grant.withheld))
        return
    for line in plan_lines(made, grant.withheld, provider):
        say(line)
    for name in (figure, sharing):
        if name is not None:
            talk(f"figure: {name}")
    for note in filter(None, (hidden(wishes), doubts(wishes, provider))):
        talk(f"note: {note}")
    talk("no profile was read and nothing was released")


def doubts(wishes: Preferences, provider: str) -> str:
    """What the preferences say and may not have meant."""
    named = {*wishes.wishes.items, *wishes.wishes.own_items(provider)}
    if not any(wishes.weights(["", *named], provider=provider)):
        return "every item has weight 0, so the numbers are noise and nothing else"
    return ""


def hidden(wishes: Preferences) -> str:
    """That secrets of the preferences are none of a histogram's."""
    if not wishes.hide:
        return ""
    names = ", ".join(wishes.hide)
    return f"[hide] is about profiles: nothing here limits what a histogram tells about {names}"


def read_both(path: Path, preferences: Path) -> tuple[Catalogue, Preferences]:
    """Catalogue and preferences, which must speak of the same attributes."""
    from reticent.data.catalogue_files import read_catalogue
    from reticent.preferences import Preferences, PreferencesError

    catalogue = read_catalogue(path)
    try:
        wishes = Preferences.read(preferences)
        wishes.check_against(
            attributes=catalogue.attributes, items=catalogue.items, empty=catalogue.empty
        )
    except PreferencesError as error:
        raise unusable(error, preferences, "--catalogue", str(path)) from None
    return catalogue, wishes


def _unit(replaced: bool) -> Unit:
    from reticent.guarantees import ITEM, ITEM_SUBSTITUTE

    return ITEM_SUBSTITUTE if replaced else ITEM


def plan_of(
    catalogue: Catalogue, wishes: Preferences, provider: str, goal: Goal, replaced: bool
) -> tuple[HistogramPlan, Grant]:
    """What these options plan, and what was granted."""
    from reticent.tasks.histogram import plan_for

    if replaced and wishes.weighted_for(provider):
        why = "a replaced item may have another weight; use add-or-remove, or weights of 1"
        raise Failure("--replace does not go with weights of items", why=why)
    return plan_for(catalogue, wishes, provider, goal=goal.value, unit=_unit(replaced))


def _sharing(catalogue: Catalogue, made: HistogramPlan, goal: Goal, replaced: bool) -> str:
    from reticent.mechanisms.multilevel_plan import plan_histogram
    from reticent.report.histogram_figures import sharing_figure

    budgets = dict(zip(made.attributes, made.budgets, strict=True))
    weighted = made.mechanism.exposure.weighted
    plans = [
        plan_histogram(
            catalogue,
            budgets=budgets,
            epsilon=epsilon,
            goal=goal.value,
            weighted=weighted,
            unit=_unit(replaced),
        )
        for epsilon in sorted({*map(Fraction, EPSILONS), made.threshold, made.epsilon})
    ]
    return sharing_figure(plans, chosen=made.epsilon)
