"""``reticent plan`` and ``reticent release histogram``: what a provider would get, and gets.

Not here  how the noise is planned (mechanisms/), whose wishes count (preferences/).
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from reticent.amounts import nano_down, show_nano
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
    card_fields,
    check_files,
    say_card,
    write_card,
)
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reticent.data.catalogue import Catalogue
    from reticent.data.profiles import Profiles
    from reticent.guarantees import Unit
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.preferences import Grant, Preferences

EPSILONS = ("0.05", "0.1", "0.2", "0.4", "0.8", "1.6")
FIGURES = (".svg",)
TABLES = (".csv", ".parquet")
EVERYBODY = "everybody's noisy histogram"


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
ItemTable: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Who has what: .csv, .csv.gz or .parquet with columns user and item.", metavar="TABLE"
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
    if _uncounted(wishes, provider):
        talk(f"note: {_uncounted(wishes, provider)}")
    talk("no profile was read and nothing was released")


def histogram(
    context: typer.Context,
    path: ItemTable,
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
            "--out",
            help="Write everybody's histogram here, .csv or .parquet; the one preferences file is "
            "applied to all of them.",
            metavar="FILE",
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
    own_device: Annotated[
        bool,
        typer.Option(
            "--own-device",
            help="You are this person and the table never left your device: the card then says "
            "that nobody else sees the profile.",
        ),
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", help="Other names of the columns, as user,item.", metavar="NAMES"
        ),
    ] = None,
    card: CardFile = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Noisy attribute histogram of a person's items, or of everybody's, under preferences.

    Weights of items come from the preferences: a table with a column of weights is refused. Items
    that the catalogue lacks count for nothing, and nothing reports them.
    """
    from reticent.mechanisms.base import Release
    from reticent.noise import Source
    from reticent.tasks.histogram import ReleasedHistogram

    check_files(card, suffixes=CARDS)
    check_files(out, suffixes=TABLES)
    if out is not None and person is not None:
        raise Failure("--person is for one person and --out for everybody: give one of them")
    if out is not None and own_device:
        raise Failure("--own-device is for one person and --out for everybody: give one of them")
    catalogue, wishes = _read_both(catalogue_path, preferences)
    made, grant = _plan(catalogue, wishes, provider, goal, replaced)
    _check_out(out, made)
    if possible:  # each number then depends on all of them
        made = replace(made, mechanism=replace(made.mechanism, together=True))
    whose = f"noisy histogram of {person or 'one person'}"
    agreed = Plan(
        "release-histogram",
        f"{whose if out is None else EVERYBODY} for {provider}",
        {"who sees all of it": made.mechanism.guarantee().overall},
        _error(made),
        _uncounted(wishes, provider),
    )
    if dry_run:
        agreed.say(as_json)
        return
    agree = agreement(context, yes)
    profiles = _unweighted(path, columns)
    model: Literal["local", "central"] = "local" if own_device else "central"
    if out is None:
        profiles = _one(profiles, path, person)
    agree(agreed)
    source = Source.system()
    values = _release(made, profiles, wishes, source, possible)
    if out is not None:
        write_atomically(out, table_file(made.attributes, values, profiles, out))
    whole = ReleasedHistogram(Release.by(made.mechanism, values, source), made, grant)
    card_made = whole.card(agreed.title, model=model, command=spelled(context))
    write_card(card_made, card)
    if as_json:
        told = {"out": str(out)} if out is not None else {"values": named(made, values[0])}
        facts = {"provider": provider, "people": len(profiles), "withheld": list(grant.withheld)}
        cost = {**agreed.fields(), **card_fields(card_made, card)}
        say_json("release-histogram/1", **facts, **told, **cost)
        return
    if out is None:
        for line in released_lines(made, values[0]):
            say(line)
    else:
        say(f"{len(profiles)} people, {len(made.attributes)} attributes: {out}")
        talk("the same preferences were applied to all of them")
    if grant.withheld:
        talk(f"withheld: {', '.join(grant.withheld)}")
    talk(f"spent {agreed.cost()}{', of each person' if out is not None else ''}")
    say_card(card_made, card)


def _check_out(out: Path | None, made: HistogramPlan) -> None:
    """Refuse, before anything is spent, a table that could not be written or read again."""
    if out is None:
        return
    if out.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", "arrow")
    if "person" in made.attributes:
        raise Failure("an attribute is called 'person', which is a column of --out already")


def _uncounted(wishes: Preferences, provider: str) -> str:
    """What the preferences ask for and no command keeps yet, and what they may not have meant."""
    asked, told = wishes.providers[provider], []
    if asked.total is not None:
        total = show_nano(nano_down(asked.total))
        told.append(f"the total of {total} for {provider} is not counted: no ledger is charged yet")
    if wishes.hide:
        names = ", ".join(f"hide.{name}" for name in wishes.hide)
        told.append(f"{names} is not enforced: nothing limits what a histogram tells about it")
    if wishes.weighted and not any(wishes.weights([""])) and not any(wishes.wishes.items.values()):
        told.append("every item has weight 0, so the numbers are noise and nothing else")
    return "; ".join(told)


def _error(made: HistogramPlan) -> str:
    """The error to expect, and what moving numbers together does to it."""
    sentence = made.mechanism.utility().sentence
    if not made.mechanism.together:
        return sentence
    loss = show_nano(made.mechanism.guarantee().overall)
    return (
        f"before moving {sentence}; moved to the nearest possible histogram the error is smaller "
        f"but biased, and each attribute alone tells up to epsilon {loss}"
    )


def _unweighted(path: Path, columns: str | None) -> Profiles:
    """Profiles from a table that has no weights of its own."""
    from reticent.data.interactions import Columns, read_profiles

    if path.name.casefold().endswith(".npz"):
        raise Failure(f"{path} has no names of items", why="a catalogue needs them; give a table")
    notes: list[str] = []
    names = None if columns is None else Columns.parse(columns)
    profiles = read_profiles(path, names, notice=notes.append)
    if not notes:
        why = "weights come from the preferences; --columns user,item leaves the table's out"
        raise Failure(f"{path} has a column of weights", why=why)
    if not len(profiles):
        raise Failure(f"{path} has no people", why="no line has both a person and an item")
    return profiles


def _read_both(path: Path, preferences: Path) -> tuple[Catalogue, Preferences]:
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
        for epsilon in sorted({*map(Fraction, EPSILONS), made.threshold, made.epsilon})
    ]
    return sharing_figure(plans, chosen=made.epsilon)


def _one(profiles: Profiles, path: Path, person: str | None) -> Profiles:
    """The one person alone."""
    if person is None and len(profiles) != 1:
        raise Failure(
            f"{path} holds more than one person",
            why="--person NAME releases one of them, --out FILE everybody",
        )
    name = profiles.people[0] if person is None else person
    if name not in profiles.people:
        why = "the list of people is public here; names are compared letter by letter"
        raise Failure(f"nobody in {path} is called {name!r}", why=why)
    return profiles.only([list(profiles.people).index(name)])


def _release(
    made: HistogramPlan, profiles: Profiles, wishes: Preferences, source: Any, possible: bool
) -> NDArray[np.float64]:
    """One row of released numbers per person."""
    import numpy as np

    from reticent.tasks.histogram import possible as make_possible
    from reticent.tasks.histogram import profile_of
    from reticent.tasks.histogram_batches import Histograms

    mechanism, catalogue = made.mechanism, made.mechanism.catalogue
    if catalogue is None:
        raise Failure("the plan has no catalogue")
    if len(profiles) == 1:
        held = [str(profiles.items[place]) for place in profiles.row(0).tolist()]
        values = mechanism.release(profile_of(held, catalogue, wishes), source).value[None]
    else:
        task = Histograms(
            catalogue, unit=mechanism.exposure.unit, weighted=mechanism.exposure.weighted
        )
        places = np.array([catalogue.places.get(str(item), -1) for item in profiles.items])
        weights = None
        if mechanism.exposure.weighted:
            by_item = np.array([float(v) for v in wishes.weights(map(str, profiles.items))])
            weights = by_item[profiles.indices]
        items = places[profiles.indices]
        values = task.release_alike(
            profiles.indptr, items, plan=made, weights=weights, source=source
        ).values
    if not possible:
        return values
    return make_possible(values, [float(scale) for scale in mechanism.scales], catalogue)
