"""What ``compare`` and ``sweep`` of histograms share: options, and what they plan.

Not here  ``plan`` and ``release`` (queries/histogram.py), how the noise is planned (mechanisms/).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.prefs import unusable

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue
    from reticent.guarantees import Unit
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.preferences import Grant, Preferences


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
