"""``reticent compare``: what ways of choosing are worth, on public or made-up data.

Not here  the commands (compare_influencers.py, compare_percentile.py), pictures
          (report/selection_figures.py), releases (select.py).

A comparison is computed from the data without noise: it is no release, and has no promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.output import table
from reticent.cli.plan import spelled
from reticent.cli.release import check_files

if TYPE_CHECKING:
    from reticent.mechanisms.comparison import Compared

app = typer.Typer(
    help="Compare ways of choosing, on public data.", rich_markup_mode=None, no_args_is_help=True
)

FIGURES = (".svg",)
PRIVATE = (
    "what is shown is computed from the data without noise, and nothing bounds what it tells; use "
    "public data of the same kind, or made-up ones"
)

PublicFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--public",
        help="Required: the data are public or made up. What is shown is exact and protects "
        "nobody.",
    ),
]
EpsilonsOption: TypeAlias = Annotated[
    str, typer.Option("--epsilons", help="Budgets to compare at, as 0.1,1,10.", metavar="E,E,...")
]
PlotFile: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", help="Draw the comparison here, .svg.", metavar="FILE")
]


@app.callback()
def compare() -> None:
    """Compare ways of choosing, on public data."""


def check_public(context: typer.Context, public: bool, plot: Path | None) -> None:
    """Refuse data that nobody called public, and a figure that could not be drawn or written."""
    if not public:
        raise Failure(
            "a comparison needs --public",
            why=f"{PRIVATE}. The flag says that they are",
            next_command=spelled(context, "--public"),
        )
    check_files(plot, suffixes=FIGURES)
    if plot is not None:
        from reticent.report.style import figure

        figure(1, 1)  # says now if drawing is not installed


def budgets(text: str) -> list[Fraction]:
    """The budgets, each once, by size."""
    from reticent.rational import budget

    found = {budget(part.strip(), "epsilons") for part in text.split(",") if part.strip()}
    if not found:
        raise Failure("--epsilons needs one or more budgets, as 0.1,1,10")
    return sorted(found)


def by_budget(
    rows: Mapping[tuple[str, float], str], ways: Sequence[str], epsilons: Sequence[float]
) -> list[str]:
    """A line for each epsilon, a column for each way."""
    heads = ("epsilon ", *(f"{way} " for way in ways))
    lines = [
        (f"{epsilon:g}", *(rows.get((way, epsilon), "") for way in ways)) for epsilon in epsilons
    ]
    return table(heads, lines)


def percent(row: Compared) -> str:
    """A share with its interval, of 100; without one if it was computed."""
    share = f"{100 * row.overlap:.0f}"
    return share if not row.runs else f"{share} ({100 * row.low:.0f}-{100 * row.high:.0f})"
