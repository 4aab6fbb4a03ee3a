"""``reticent compare mapping``: what mappings of profiles tell at the same distortion.

Not here  the comparison (tasks/comparing_mapping.py), learning a mapping (queries/mapping.py).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.compare import PlotFile, PublicFlag, check_public, show
from reticent.cli.compare_points import points
from reticent.cli.failures import Failure
from reticent.cli.mapping_files import IdColumn, PeopleFile
from reticent.cli.output import Json, talk

if TYPE_CHECKING:
    from reticent.tasks.comparing import Curves, Point

SecretOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--secret",
        help="The column that released profiles should not tell; several as a,b.",
        metavar="COLUMN",
    ),
]
ProfileColumns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="The columns that make a profile.  [default: all but the secret and the column that "
        "names people]",
        metavar="COLUMNS",
    ),
]
BinsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--bins",
        help="Put numbers into ranges so wide: age=10 makes 37 the range 30-39.",
        metavar="WIDTHS",
    ),
]
DistortionsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--distortion",
        help="How much of a profile may change on average: a list, as 0.05,0.1, or a range, as "
        "0:0.2:linear:5.  [default: up to where nothing is told, or 0 to 0.2]",
        metavar="SHARES",
    ),
]
SecondsOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--seconds",
        help="Stop searching after the first step that ends later than this, with the best "
        "mappings so far; so does Ctrl-C.",
        min=0.0,
        metavar="S",
    ),
]


def mapping(
    context: typer.Context,
    path: PeopleFile,
    secret: SecretOption,
    public: PublicFlag = False,
    columns: ProfileColumns = None,
    id_column: IdColumn = None,
    bins: BinsOption = None,
    distortions: DistortionsOption = None,
    seconds: SecondsOption = 300.0,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """What mappings tell about a secret, at the same distortion.

    In bits, on a public table: the mapping of least leak, which `release mapping` finds, beside the
    exponential mechanism and randomised response, which know nothing of the secret, and the mapping
    that tells nothing.
    """
    check_public(context, public, plot)
    curves = told(path, secret, columns, id_column, bins, distortions, seconds, None)
    show_told(curves, "compare-mapping/1", plot, as_json)


def told(
    path: Path,
    secret: str,
    columns: str | None,
    id_column: str | None,
    bins: str | None,
    distortions: str | None,
    seconds: float,
    ways: Collection[str] | None,
) -> Curves:
    """What each mapping tells, for these options."""
    from reticent.cli.query_failures import as_failures
    from reticent.cli.watching import watching
    from reticent.queries.mapping import Mapping, read_training
    from reticent.tasks.comparing_mapping import WAYS, mapping_curves

    asked = None if distortions is None else points(distortions, "--distortion", zero=True)
    named = {} if id_column is None else {"person": id_column}
    try:
        with as_failures({}):
            query = Mapping(secret=secret, public=columns, bins=bins, delta=0)
            search, people = read_training(query, path, named)
    except Failure as error:  # the columns of a profile are --columns here
        raise Failure(error.what.replace("--public", "--columns"), why=error.why) from None
    alphabet = people.alphabet
    _talk_many(len(alphabet.profiles), len(people.profiles))
    with watching(seconds) as watch:
        curves = mapping_curves(
            alphabet,
            search.distance,
            secret=", ".join(search.secrets),
            distortions=asked,
            ways=ways,
            steps=watch,
            progress=watch.show,
        )
    if ways is None and set(WAYS) - set(curves.ways):
        left = ", ".join(way for way in WAYS if way not in curves.ways)
        talk(f"note: left out, as there are too many profiles for them: {left}")
    if watch.why:
        talk(f"note: {watch.why}: the least leaks are of the best mappings so far")
    return curves


def _talk_many(profiles: int, people: int) -> None:
    """Say if nearly everybody has a profile of their own, and what may be meant."""
    from reticent.tasks.training import CROWD, UNIQUE

    if people > CROWD and profiles > UNIQUE * people:
        talk(
            f"note: {profiles:,} different profiles of {people:,} people; --bins puts numbers into "
            "ranges, --columns takes fewer columns, --id-column says which one names people"
        )


def show_told(curves: Curves, schema: str, plot: Path | None, as_json: bool) -> None:
    """Bits, each beside what is proved to be the least."""
    more = curves.more
    show(
        curves,
        schema,
        plot=plot,
        as_json=as_json,
        cell=_bits,
        title=f"Bits told about {more['secret']} on average, by {more['unit_of_distortion']}",
        notes=(
            f"{more['profiles']:,} profiles of {more['people']:,} people; as they are they tell "
            f"{figure_of(curves.reference)} bits",
            "in brackets: no mapping of this distortion tells less; computed from counts, not "
            "drawn",
        ),
    )


def figure_of(bits: float | None) -> str:
    """Bits in four digits; next to nothing is 0."""
    from reticent.guarantees.average_numbers import near

    return near(bits or 0.0)


def _bits(point: Point) -> str:
    from reticent.guarantees.average_numbers import down, near

    bound = point.more.get("bound")
    told, least = near(point.value), "" if bound is None else down(bound)
    return told if least in ("", told) else f"{told} ({least})"
