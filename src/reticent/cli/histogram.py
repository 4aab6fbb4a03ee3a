"""``reticent plan`` and ``reticent release histogram``: what a provider would get, and gets.

Not here  how the noise is planned (mechanisms/), whose wishes count (preferences/).
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.histogram_views import (
    named,
    plan_fields,
    plan_lines,
    released_lines,
    table_file,
)
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import DryRun, Plan, Yes, agreement, spelled
from reticent.cli.release import (
    CARDS,
    CardFile,
    ColumnNames,
    TableFile,
    card_fields,
    check_files,
    read,
    say_card,
    write_card,
)
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue
    from reticent.data.profiles import Profiles
    from reticent.guarantees import Unit
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.preferences import Grant, Preferences
    from reticent.tasks.histogram import ManyHistograms

EPSILONS = ("0.05", "0.1", "0.2", "0.4", "0.8", "1.6")
FIGURES = (".svg",)
TABLES = (".csv", ".parquet")


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
        help="Protect against an item being replaced by another, the number of items being public, "
        "instead of being added or removed.",
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
            "--figure", help="Draw the noise of each attribute here, .svg.", metavar="FILE"
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
    """What a provider would get under a person's preferences, and how wrong it would be.

    Reads the catalogue and the preferences, and no profile.
    """
    check_files(figure, suffixes=FIGURES)
    check_files(sharing, suffixes=FIGURES)
    catalogue, wishes = _read_both(path, preferences)
    made, grant = _plan(catalogue, wishes, provider, goal, replaced)
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
    talk("no profile was read and nothing was released")


def histogram(
    context: typer.Context,
    path: TableFile,
    catalogue_path: CatalogueFile,
    provider: Provider,
    preferences: PreferencesFile = Path("preferences.toml"),
    person: Annotated[
        str | None,
        typer.Option("--person", help="Only this person of the table.", metavar="PERSON"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write everybody's histogram here, .csv or .parquet.", metavar="FILE"
        ),
    ] = None,
    goal: GoalOption = Goal.mse,
    replaced: Replace = False,
    possible: Annotated[
        bool,
        typer.Option(
            "--possible",
            help="Move the numbers to the nearest histogram that a profile can have; smaller "
            "errors, but biased. Costs no privacy.",
        ),
    ] = False,
    columns: ColumnNames = None,
    card: CardFile = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Noisy attribute histogram of a person's items, or of everybody's, under preferences.

    Weights of items come from the preferences, not from the table.
    """
    from reticent.mechanisms.base import Release
    from reticent.noise import Source
    from reticent.tasks.histogram import ReleasedHistogram

    check_files(card, suffixes=CARDS)
    check_files(out, suffixes=TABLES)
    if out is not None and out.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", "arrow")  # before anything is spent
    if out is not None and person is not None:
        raise Failure("--person is for one person and --out for everybody: give one of them")
    catalogue, wishes = _read_both(catalogue_path, preferences)
    made, grant = _plan(catalogue, wishes, provider, goal, replaced)
    if possible:  # each number then depends on all of them
        made = replace(made, mechanism=replace(made.mechanism, together=True))
    whose = "everybody's histogram" if out is not None else f"histogram of {person or 'one person'}"
    agreed = Plan(
        "release-histogram",
        f"noisy {whose} for {provider}",
        {"who sees all of it": made.mechanism.guarantee().overall},
        made.mechanism.utility().sentence,
    )
    if dry_run:
        agreed.say(as_json)
        return
    agree = agreement(context, yes)
    profiles = read(path, columns, quiet=True)
    if out is None:
        profiles = _one(profiles, path, person)
    agree(agreed)
    source = Source.system()
    released = _release(made, profiles, wishes, source, possible)
    if out is not None:
        write_atomically(out, table_file(released, profiles, out))
    whole = ReleasedHistogram(
        Release.by(made.mechanism, released.values, source),
        made,
        grant,
    )
    model: Literal["local", "central"] = "local" if out is None else "central"
    card_made = whole.card(agreed.title, model=model, command=spelled(context))
    write_card(card_made, card)
    if as_json:
        values = {} if out is not None else {"values": named(made, released.values[0])}
        facts = {"provider": provider, "people": len(profiles), "withheld": list(grant.withheld)}
        out_file = {"out": str(out)} if out is not None else {}
        say_json(
            "release-histogram/1",
            **facts,
            **values,
            **out_file,
            **agreed.fields(),
            **card_fields(card_made, card),
        )
        return
    if out is None:
        for line in released_lines(made, released.values[0]):
            say(line)
    else:
        say(f"{len(profiles)} people, {len(made.attributes)} attributes: {out}")
    if grant.withheld:
        talk(f"withheld: {', '.join(grant.withheld)}")
    talk(f"spent {agreed.cost()}, of each person" if out is not None else f"spent {agreed.cost()}")
    say_card(card_made, card)


def _read_both(path: Path, preferences: Path) -> tuple[Catalogue, Preferences]:
    """Catalogue and preferences, which must speak of the same attributes."""
    from reticent.data.catalogue_files import read_catalogue
    from reticent.preferences import Preferences, PreferencesError

    catalogue = read_catalogue(path)
    try:
        wishes = Preferences.read(preferences)
        wishes.check_against(attributes=catalogue.attributes, empty=catalogue.empty)
    except PreferencesError as error:
        words = ("reticent", "prefs", "check", str(preferences), "--catalogue", str(path))
        there = shlex.join(words) if preferences.is_file() else ""
        raise Failure(str(error), next_command=there) from None
    return catalogue, wishes


def _unit(replaced: bool) -> Unit:
    from reticent.guarantees import ITEM, ITEM_SUBSTITUTE

    return ITEM_SUBSTITUTE if replaced else ITEM


def _plan(
    catalogue: Catalogue, wishes: Preferences, provider: str, goal: Goal, replaced: bool
) -> tuple[HistogramPlan, Grant]:
    from reticent.tasks.histogram import plan_for

    if replaced and wishes.weighted:
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
        for epsilon in EPSILONS
    ]
    return sharing_figure(plans)


def _one(profiles: Profiles, path: Path, person: str | None) -> Profiles:
    """The one person alone."""
    import numpy as np

    if person is None and len(profiles) != 1:
        raise Failure(
            f"{path} holds more than one person",
            why="--person NAME releases one of them, --out FILE everybody",
        )
    name = profiles.people[0] if person is None else person
    if name not in profiles.people:
        why = "the list of people is public here; names are compared letter by letter"
        raise Failure(f"nobody in {path} is called {name!r}", why=why)
    row = list(profiles.people).index(name)
    return replace(
        profiles,
        indptr=np.array([0, profiles.sizes[row]], dtype=np.int64),
        indices=profiles.row(row),
        weights=profiles.row_weights(row),
        people=[name],
    )


def _release(
    made: HistogramPlan, profiles: Profiles, wishes: Preferences, source: Any, possible: bool
) -> ManyHistograms:
    import numpy as np

    from reticent.tasks.histogram import Histograms
    from reticent.tasks.histogram import possible as make_possible

    exposure, catalogue = made.mechanism.exposure, made.mechanism.catalogue
    if catalogue is None:
        raise Failure("the plan has no catalogue")
    task = Histograms(catalogue, unit=exposure.unit, weighted=exposure.weighted)
    places = np.array([catalogue.places.get(str(item), -1) for item in profiles.items])
    items = places[profiles.indices] if len(places) else np.empty(0, dtype=np.int64)
    weights = None
    if exposure.weighted:
        by_item = np.array([float(v) for v in wishes.weights(map(str, profiles.items))])
        weights = by_item[profiles.indices]
    released = task.release_alike(profiles.indptr, items, plan=made, weights=weights, source=source)
    if not possible:
        return released
    scales = [float(scale) for scale in made.mechanism.scales]
    return replace(released, values=make_possible(released.values, scales, catalogue))
