"""``reticent fit``: learn from people a mapping that hides a secret.

Not here  which column is what (mapping_columns.py), how the search is run and drawn
          (mapping_search.py), what is said about it (mapping_views.py), releases through a mapping
          (profile.py), attacks on it (attack.py).
"""

from __future__ import annotations

import math
import shlex
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import write_atomically
from reticent.cli.mapping_columns import Columns, check_unique, limits_of, talk_wide, typed
from reticent.cli.mapping_notes import fitted_notes
from reticent.cli.mapping_views import Fitted, fitted_fields, fitted_lines
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.release import check_files
from reticent.errors import MissingExtra

app = typer.Typer(
    help="Learn from people how to release profiles.", rich_markup_mode=None, no_args_is_help=True
)

FIGURES = (".svg",)


class Unknown(StrEnum):
    """What happens to a profile that the mapping does not know."""

    nearest = "nearest"
    withhold = "withhold"
    refuse = "refuse"


PeopleFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="One line per person, one column per attribute: .csv, .csv.gz or .parquet, with a "
        "header line.",
        metavar="PEOPLE",
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--id",
        "--id-column",
        help="The column that names people.  [default: user, if there is one]",
        metavar="COLUMN",
    ),
]
SvgFile: TypeAlias = Path | None


@app.callback()
def fit() -> None:
    """Learn from people how to release profiles."""


@app.command("mapping")
def mapping(
    context: typer.Context,
    path: PeopleFile,
    secret: Annotated[
        str,
        typer.Option(
            "--secret",
            help="The column that released profiles should not tell; several as a,b.",
            metavar="COLUMN",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Write the mapping here, .json.", metavar="FILE")
    ],
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta",
            help="How much of a profile may change on average, 0 to 1; tells as little as that "
            "allows. 0.05 is one column in twenty.",
            min=0.0,
            metavar="SHARE",
        ),
    ] = None,
    leak: Annotated[
        str | None,
        typer.Option(
            "--leak",
            help="How many bits about the secret a release may tell on average, as 0.1, or "
            "income=0.1,health=0.2 for each; changes profiles as little as that allows.",
            metavar="BITS",
        ),
    ] = None,
    perfect: Annotated[
        bool,
        typer.Option("--perfect", help="Tell nothing about the secret; up to 600 profiles."),
    ] = False,
    public: Annotated[
        str | None,
        typer.Option(
            "--public",
            help="The columns that make a profile and are released.  [default: all but the secret "
            "and the column that names people]",
            metavar="COLUMNS",
        ),
    ] = None,
    id_column: IdColumn = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            help="Columns whose change counts more or less than 1, as age=2,sex=0.5.",
            metavar="WEIGHTS",
        ),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(
            "--bins",
            help="Put numbers into ranges so wide: age=10 makes 37 the range 30-39.",
            metavar="WIDTHS",
        ),
    ] = None,
    at_least: Annotated[
        int,
        typer.Option(
            "--at-least",
            help="Leave profiles of fewer people out; who has one is released as the nearest one.",
            min=1,
            metavar="PEOPLE",
        ),
    ] = 1,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            help="Also bound the worst case: local differential privacy of the whole profile. "
            "Changes far more.",
            metavar="E",
        ),
    ] = None,
    unknown: Annotated[
        Unknown,
        typer.Option(
            "--unknown",
            help="A profile that nobody here has: take the nearest, or beyond --radius withhold "
            "it or refuse.",
        ),
    ] = Unknown.nearest,
    radius: Annotated[
        float | None,
        typer.Option("--radius", help="See --unknown; a share of columns.", min=0.0, metavar="R"),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            help="Stop searching after the first step that ends later than this, with the best "
            "mapping so far; so does Ctrl-C.",
            min=0.0,
            metavar="S",
        ),
    ] = 300.0,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            help="Do not learn from this share of people, and measure on them what the mapping "
            "tells of others; file and cards then state it.",
            min=0.0,
            max=0.9,
            metavar="SHARE",
        ),
    ] = 0.0,
    tradeoff: Annotated[
        SvgFile,
        typer.Option("--tradeoff", help="Draw leak against change here, .svg.", metavar="FILE"),
    ] = None,
    picture: Annotated[
        SvgFile,
        typer.Option(
            "--plot", "--picture", help="Draw what becomes what here, .svg.", metavar="FILE"
        ),
    ] = None,
    features: Annotated[
        SvgFile,
        typer.Option("--features", help="Draw what each column tells here, .svg.", metavar="FILE"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn how to release profiles that tell little of a secret.

    Every profile becomes one of a few others, with chances that make the secret hard to guess and
    change profiles little. `reticent release profile` then releases people through the file. Exit
    code 1 if the search with --leak was stopped before it knew how little has to change.
    """
    from reticent.cli import mapping_search as search
    from reticent.data.people_tables import read_people
    from reticent.tasks.recoding_files import recoding_to_json

    check_files(out, suffixes=(".json",))
    for file in (tradeoff, picture, features):
        check_files(file, suffixes=FIGURES)
        if file is not None and find_spec("matplotlib") is None:
            raise MissingExtra("drawing a figure", "plots")
    if [delta is not None, leak is not None, perfect].count(True) != 1:
        why = "--delta 0.05 changes that share of profiles, --leak 0.1 tells that many bits"
        raise Failure("give one of --delta, --leak and --perfect", why=why)
    if delta is not None and not 0 <= delta <= 1:
        raise Failure("--delta must be a share, from 0 to 1", why="0.05 is one column in twenty")
    if (unknown is not Unknown.nearest) is not (radius is not None):
        raise Failure("--radius goes with --unknown withhold or refuse, and they need it")
    if unknown is not Unknown.nearest and epsilon is not None:
        why = (
            "a profile that is withheld or refused is one the mapping does not know, for certain: "
            "no epsilon bounds that. --unknown nearest keeps the worst case"
        )
        raise Failure("--epsilon goes with --unknown nearest only", why=why)
    if unknown is not Unknown.nearest and at_least > 1:
        why = "rare profiles count as the nearest one, and must be released so"
        raise Failure("--at-least goes with --unknown nearest only", why=why)
    table = Columns.of(read_people(path), secret, public, ids=id_column, weights=weights, bins=bins)
    limits = limits_of(table, delta, "0" if perfect else leak, epsilon)
    asked = ("--perfect",) if perfect else ("--leak", leak) if leak else ("--delta", str(delta))
    check_unique(table, lambda others: typed(path, others, out, *asked))
    people, others, dropped = table.split(held_out)
    talk_wide(table, people)
    alphabet, rare = search.alphabet_of(*table.sides(people), at_least, table.measure)
    instead = typed(path, table, out, "--leak", "0.001")
    search.check_size(alphabet, limits, seconds, instead)
    with search.watching(seconds) as watch:
        learnt = search.learnt_mapping(
            alphabet,
            limits,
            watch,
            seconds=seconds,
            measure=table.measure,
            columns=table.public,
            secret=", ".join(table.secrets),
            unknown=unknown.value,
            radius=math.inf if radius is None else radius,
            widths=table.widths,
        )
        search.check_found(learnt, limits, watch)
        untouched = None
        if others:
            learnt, untouched = search.tested(learnt, *table.sides(others))
        fitted = Fitted(
            learnt=learnt,
            secrets=table.secrets,
            people=len(people),
            without_secret=dropped,
            rare=rare,
            at_least=at_least,
            epsilon=epsilon,
            by_leak=delta is None,
            stopped=watch.reason(learnt),
            exponential=search.exponential_distortion(learnt),
            untouched_elsewhere=untouched,
        )
        drawn = {}
        if tradeoff is not None:
            drawn[tradeoff] = search.tradeoff(learnt, watch)
        if picture is not None:
            drawn[picture] = search.picture(learnt)
        if features is not None:
            drawn[features] = search.features(learnt)
    write_atomically(out, recoding_to_json(learnt.recoding), private=True)
    for file, text in drawn.items():
        write_atomically(file, text)
    if as_json:
        notes = fitted_notes(fitted)
        say_json("fit-mapping/1", out=str(out), **fitted_fields(fitted), notes=notes)
    else:
        for line in fitted_lines(fitted):
            say(line)
        for note in fitted_notes(fitted):
            talk(f"note: {note}")
        for file in drawn:
            talk(f"figure: {file}")
        talk(f"mapping: {out}")
        talk("  keep it private: people's data shaped it, without noise")
        following = ("audit", "attack", str(out), str(path), "--secret", table.secrets[0])
        talk(f"  next: {shlex.join(('reticent', *following))}")
    if fitted.unfinished:
        raise typer.Exit(ExitCode.FOUND)
