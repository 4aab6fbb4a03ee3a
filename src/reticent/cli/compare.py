"""``reticent compare``: several ways of one release at the same budgets; what sweeps share too.

Not here  the commands (compare_histogram.py and its like, sweep.py), what is computed
          (tasks/comparing.py and its like), pictures (report/), releases (select.py and others).

What is computed from data without noise is no release and has no promise, so it asks for public
data; what needs none says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.output import say, say_json, talk
from reticent.cli.plan import spelled
from reticent.cli.release import check_files
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.tasks.comparing import Curves, Point

app = typer.Typer(
    help="Compare ways to release the same thing.", rich_markup_mode=None, no_args_is_help=True
)

FIGURES = (".svg",)
PRIVATE = (
    "what is shown is computed from the data without noise, and nothing bounds what it tells; use "
    "public data of the same kind, or made-up ones"
)
UNREAD = "no private data were read: errors follow from public parameters alone"
USUAL_EPSILONS = "0.01:10:log"

PublicFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--public",
        help="Required: the data are public or made up. What is shown is exact and protects "
        "nobody.",
    ),
]
EpsilonsOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--epsilon",
        "--epsilons",
        help="Budgets to try: a list, as 0.1,1,10, or a range, as 0.01:10:log (9 points) or "
        "0.1:1:linear:5.",
        metavar="BUDGETS",
    ),
]
PlotFile: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", help="Draw the table here, .svg.", metavar="FILE")
]
RunsOption: TypeAlias = Annotated[
    int, typer.Option("--runs", help="Draws of each way at each budget.", min=1, metavar="N")
]
SeedOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--seed",
        help="Draw from this seed, so that the same command shows the same figures.  [default: "
        "the operating system's source]",
        min=0,
        metavar="SEED",
    ),
]


@app.callback()
def compare() -> None:
    """Compare ways to release the same thing."""


def check_public(context: typer.Context, public: bool, plot: Path | None) -> None:
    """Refuse data that nobody called public, and a figure that could not be drawn or written."""
    if not public:
        one = "a sweep" if "sweep" in context.command_path.split() else "a comparison"
        raise Failure(
            f"{one} needs --public",
            why=f"{PRIVATE}. The flag says that they are",
            next_command=spelled(context, "--public"),
        )
    check_plot(plot)


def check_plot(plot: Path | None) -> None:
    """Refuse a figure that could not be drawn or written, before anything is computed."""
    check_files(plot, suffixes=FIGURES)
    if plot is not None:
        from reticent.report.style import figure

        figure(1, 1)  # says now if drawing is not installed


def source_of(seed: int | None) -> Source:
    """Where draws come from; nothing is released, so a seed costs nobody anything."""
    from reticent.noise import Source

    return Source.system() if seed is None else Source.seeded(seed)


def show(
    curves: Curves,
    schema: str,
    *,
    plot: Path | None,
    as_json: bool,
    cell: Callable[[Point], str],
    title: str,
    notes: tuple[str, ...] = (),
) -> None:
    """Draw if asked to; then one table, or one JSON object, and what to know about it."""
    if plot is not None:
        write_atomically(plot, picture(curves))
    if as_json:
        say_json(schema, **curves.fields())
        return
    say(title)
    say()
    for line in _lines(curves, cell):
        say(line)
    for note in notes:
        talk(note)
    if plot is not None:
        talk(f"figure: {plot}")


def picture(curves: Curves) -> str:
    """A line for each way."""
    from reticent.report.curve_figures import Point as Drawn
    from reticent.report.curve_figures import curve_figure

    return curve_figure(
        [Drawn(row.way, row.x, row.value, row.low, row.high) for row in curves.rows],
        what=curves.what,
        x=curves.x,
        y=curves.y,
        better=curves.better,
        reference=curves.reference,
        reference_name=curves.reference_name,
        runs=curves.runs,
    )


def _lines(curves: Curves, cell: Callable[[Point], str]) -> list[str]:
    """A line for each x, and for each group of people if there are any; a column for each way."""
    groups: list[Mapping[str, object]] = list(curves.more.get("groups", ()))
    names = list(dict.fromkeys(str(row["group"]) for row in groups))
    heads = [f"{curves.x} ", *(["people"] if names else []), *(f"{way} " for way in curves.ways)]
    lines = []
    for x in curves.places:
        whole = [curves.at(way, x) for way in curves.ways]
        told = ["" if point is None else cell(point) for point in whole]
        lines.append([f"{x:.4g}", *(["everybody"] if names else []), *told])
        for name in names:
            held = {row["way"]: row for row in groups if (row["group"], row["x"]) == (name, x)}
            lines.append(["", name, *(cell(_point(held[way])) for way in curves.ways)])
    return table(heads, lines)


def _point(row: Mapping[str, object]) -> Point:
    from reticent.tasks.comparing import Point

    kept = ("way", "x", "value", "low", "high")
    return Point(**{name: row[name] for name in kept})  # type: ignore[arg-type]


def figure(point: Point) -> str:
    """A value in four digits."""
    return amount(point.value)


def amount(value: float | None) -> str:
    """Four digits, written out unless it is very large or small.

    >>> amount(76951.2), amount(0.0123456)
    ('76,950', '0.01235')
    """
    return f"{float(f'{value or 0.0:.4g}'):,.12g}"


def percent(point: Point) -> str:
    """A share with its interval, of 100; without one if it was computed."""
    share = f"{100 * point.value:.0f}"
    if point.low is None or point.high is None:
        return share
    return f"{share} ({100 * point.low:.0f}-{100 * point.high:.0f})"


def tenths(point: Point) -> str:
    """A share of 100 with a digit more, for ways that differ little."""
    share = f"{100 * point.value:.1f}"
    if point.low is None or point.high is None:
        return share
    return f"{share} ({100 * point.low:.1f}-{100 * point.high:.1f})"


def drawn(curves: Curves, spread: str = "draws") -> str:
    """What the brackets hold."""
    if not curves.runs:
        return "computed from the law of each way: there is nothing to draw"
    if curves.runs == 1:
        return "one run: nothing is known of how far it is off; --runs 10 would tell"
    return f"in brackets: 95 % intervals of {curves.runs} runs, over {spread}"
