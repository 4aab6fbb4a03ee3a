"""``reticent release histogram``: what a provider gets.

Not here  what it would get (histogram_plan.py), how the noise is planned (mechanisms/).
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from reticent.amounts import show_nano
from reticent.cli.charging import LEDGER, KeyOption, LedgerOption, Purse
from reticent.cli.declared import Declared, DeclaredPeople, nobody_is_an_error
from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.histogram_plan import (
    CatalogueFile,
    Goal,
    GoalOption,
    PreferencesFile,
    Provider,
    Replace,
    doubts,
    hidden,
    plan_of,
    read_both,
)
from reticent.cli.histogram_views import named, released_lines, table_file
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import DryRun, Plan, Yes, agreement, published
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

    from reticent.data.profiles import Profiles
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.preferences import Preferences

TABLES = (".csv", ".parquet")
EVERYBODY = "everybody's noisy histogram"


ItemTable: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Who has what: .csv, .csv.gz or .parquet with columns user and item.", metavar="TABLE"
    ),
]


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
    people: DeclaredPeople = None,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: KeyOption = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """How many items of each attribute, with noise, for a provider.

    Of one person's items or, with --out, of everybody's, as the preferences allow. Each person is
    charged, up to the total that the preferences allow the provider. Weights of items come from the
    preferences: a table with a column of weights is refused. Items that the catalogue lacks count
    for nothing, and nothing reports them.
    """
    from reticent.mechanisms.base import Release
    from reticent.noise import Source
    from reticent.tasks.histogram import ReleasedHistogram, payer_of

    check_files(card, suffixes=CARDS)
    check_files(out, suffixes=TABLES)
    if out is not None and person is not None:
        raise Failure("--person is for one person and --out for everybody: give one of them")
    if out is not None and own_device:
        raise Failure("--own-device is for one person and --out for everybody: give one of them")
    catalogue, wishes = read_both(catalogue_path, preferences)
    made, grant = plan_of(catalogue, wishes, provider, goal, replaced)
    _check_out(out, made)
    if possible:  # each number then depends on all of them
        made = replace(made, mechanism=replace(made.mechanism, together=True))
    whose = f"noisy histogram of {person or 'one person'}"
    agreed = Plan(
        "release-histogram",
        f"{whose if out is None else EVERYBODY} for {provider}",
        {"who sees all of it": made.mechanism.guarantee().overall},
        _error(made),
        doubts(wishes, provider),
        note=hidden(wishes),
    )
    declared = Declared.read(people)
    purse = Purse(ledger, key, quiet=as_json)
    if dry_run:
        known = None if person is None else [payer_of(person, wishes, provider)]
        agreed.say(as_json, purse.outlook(known, agreed.charge))
        return
    agree = agreement(context, yes)
    profiles = _unweighted(path, columns, declared)
    model: Literal["local", "central"] = "local" if own_device else "central"
    if out is None:
        profiles = _one(profiles, path, person)
    agree(agreed)
    source = Source.system()
    paid = purse.pay(
        context,
        made.mechanism.event(source),
        [payer_of(name, wishes, provider) for name in profiles.people],
        lambda: _release(made, profiles, wishes, provider, source, possible),
        out=out,
    )
    values = paid.value
    if out is not None:
        write_atomically(out, table_file(made.attributes, values, profiles, out))
    released = Release.by(made.mechanism, values, source)
    whole = ReleasedHistogram(released, made, grant, paid.budget, paid.replayed)
    public = (declared.public(catalogue=True),) if out is not None else ()
    card_made = whole.card(agreed.title, model=model, command=published(context), public=public)
    write_card(card_made, card)
    if as_json:
        told = {"out": str(out)} if out is not None else {"values": named(made, values[0])}
        facts = {"provider": provider, "people": len(profiles), "withheld": list(grant.withheld)}
        cost = {**agreed.fields(), **paid.fields(), **card_fields(card_made, card)}
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
    talk(paid.cost(f"{agreed.cost()}{', of each person' if out is not None else ''}"))
    say_card(card_made, card)


def _check_out(out: Path | None, made: HistogramPlan) -> None:
    """Refuse, before anything is spent, a table that could not be written or read again."""
    if out is None:
        return
    if out.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtra("writing Parquet", "arrow")
    if "person" in made.attributes:
        raise Failure("an attribute is called 'person', which is a column of --out already")


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


def _unweighted(path: Path, columns: str | None, declared: Declared) -> Profiles:
    """Profiles from a table that has no weights of its own."""
    from reticent.data.interactions import Columns, read_profiles

    if path.name.casefold().endswith(".npz"):
        raise Failure(f"{path} has no names of items", why="a catalogue needs them; give a table")
    notes: list[str] = []
    names = None if columns is None else Columns.parse(columns)
    profiles = read_profiles(path, names, people=declared.people, notice=notes.append)
    if not notes:
        why = "weights come from the preferences; --columns user,item leaves the table's out"
        raise Failure(f"{path} has a column of weights", why=why)
    return nobody_is_an_error(profiles, path)


def _one(profiles: Profiles, path: Path, person: str | None) -> Profiles:
    """The one person alone."""
    if person is None and len(profiles) != 1:
        raise Failure(
            f"{path} holds more than one person",
            why="--person says whose; --out FILE releases everybody's",
        )
    name = profiles.people[0] if person is None else person
    if name not in profiles.people:
        why = "the list of people is public here; names are compared letter by letter"
        raise Failure(f"nobody in {path} is called {name!r}", why=why)
    return profiles.only([list(profiles.people).index(name)])


def _release(
    made: HistogramPlan,
    profiles: Profiles,
    wishes: Preferences,
    provider: str,
    source: Any,
    possible: bool,
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
        held = [profiles.items[place] for place in profiles.row(0).tolist()]
        profile = profile_of(held, catalogue, wishes, provider=provider)
        values = mechanism.release(profile, source).value[None]
    else:
        task = Histograms(
            catalogue, unit=mechanism.exposure.unit, weighted=mechanism.exposure.weighted
        )
        places = np.array([catalogue.places.get(item, -1) for item in profiles.items])
        weights = None
        if mechanism.exposure.weighted:
            by_item = wishes.weights(profiles.items, provider=provider)
            weights = np.array([float(weight) for weight in by_item])[profiles.indices]
        items = places[profiles.indices]
        values = task.release_alike(
            profiles.indptr, items, plan=made, weights=weights, source=source
        ).values
    if not possible:
        return values
    return make_possible(values, [float(scale) for scale in mechanism.scales], catalogue)
