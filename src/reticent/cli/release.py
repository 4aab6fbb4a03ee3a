"""``reticent release``: one verb for what leaves, and what every release checks and writes.

Not here  what it costs and how it is agreed to (plan.py), lists for everybody (neighbours.py,
          recommend.py), the mechanisms (tasks/).

Files that cannot be written are found before anything is spent on what would be lost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.files import free_name, write_atomically
from reticent.cli.output import talk

if TYPE_CHECKING:
    from reticent.guarantees.card import Card, Utility
    from reticent.tasks.similarity import Similarity

app = typer.Typer(
    help="Release something under differential privacy.",
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


class Weighting(StrEnum):
    """What a common item counts for, given two weights."""

    min = "min"
    product = "product"


TableFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Who has what: .csv, .csv.gz or .parquet with columns user, item and, if people set "
        "them, weight (0 to 1); or .npz, a CSR matrix of weights.",
        metavar="TABLE",
    ),
]
ColumnNames: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Other names of the columns, as user,item or user,item,weight.",
        metavar="NAMES",
    ),
]
MeasureOption: TypeAlias = Annotated[Measure, typer.Option("--measure", help="What to compute.")]
NormsOption: TypeAlias = Annotated[
    Norms | None,
    typer.Option(
        "--norms",
        help="Sizes of profiles: with noise; exact, which protects neither them nor that an item "
        "of weight 0 is there; or none, for overlap.  [default: private, or none for overlap]",
    ),
]
WeightingOption: TypeAlias = Annotated[
    Weighting, typer.Option("--weighting", help="What a common item counts, given both weights.")
]
CardFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--card", help="Write the guarantee card here: .json, .html, .md or .txt.", metavar="FILE"
    ),
]

USUAL_PREFERENCES = Path("preferences.toml")
CARDS = (".json", ".html", ".md", ".txt")


@app.callback()
def release() -> None:
    """Release something under differential privacy."""


def overlap_noise(mechanism: Similarity) -> Utility:
    """The error of the overlap that a similarity is made of."""
    alone = replace(mechanism, epsilon=mechanism.epsilon_overlap, measure="overlap", norms="none")
    return alone.utility()


def warn_unused_preferences(path: Path, weight: str | None) -> None:
    """Say that a preferences file which other commands would apply is not applied here.

    ``weight`` is what the column of weights is called; None if it is not read.
    """
    if not USUAL_PREFERENCES.is_file():
        return
    if path.suffix.casefold() == ".npz":
        weights = f"weights come from {path}"
    elif weight is None:
        weights = "every item counts in full"
    else:
        weights = f'weights come from the column "{weight}" of {path}, if it has one'
    talk(f"caution: {USUAL_PREFERENCES} is not applied here; {weights}")


def weight_column(columns: str | None) -> str | None:
    """What ``--columns`` calls the column of weights."""
    from reticent.data.interactions import Columns

    return (Columns() if columns is None else Columns.parse(columns)).weight


def comparison(
    epsilon: str, measure: Measure, norms: Norms | None, weighting: Weighting
) -> Similarity:
    """The similarity that the options ask for."""
    from reticent.tasks.similarity import Similarity

    usual = Norms.none if measure is Measure.overlap else Norms.private
    if (measure is Measure.overlap) is not ((norms or usual) is Norms.none):
        raise Failure("--norms none goes with --measure overlap, and with that only")
    parts = 4 if (norms or usual) is Norms.private else 1  # a quarter is for the size
    check_epsilon(epsilon, Fraction(parts, 1 << 30))
    return Similarity(
        epsilon=epsilon,
        measure=measure.value,
        norms=(norms or usual).value,
        weighting=weighting.value,
    )


def check_epsilon(epsilon: str, least: Fraction) -> None:
    """Refuse an epsilon for which no noise can be drawn."""
    from reticent.rational import budget

    if budget(epsilon, "epsilon") < least:
        rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(float(least))
        raise Failure(f"epsilon must be at least {rounded:f}")


def check_files(path: Path | None, *, suffixes: Sequence[str]) -> None:
    """Refuse, before anything is spent, a file that could not be written."""
    if path is None:
        return
    if path.suffix not in suffixes:
        raise Failure(f"{path} must be named {', '.join(suffixes)}")
    if path.exists():
        why = "nothing is overwritten; give another name"
        raise Failure(f"{path} is there already", why=why, instead=(path, free_name(path)))
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise Failure(f"{path} cannot be written", why="its folder is missing or closed")


def write_card(made: Card, path: Path | None) -> None:
    """Write a card as its file is named, if there is one."""
    from reticent.guarantees import card_views

    views = {
        ".json": lambda card: card.to_json(),
        ".html": card_views.card_html,
        ".md": card_views.card_markdown,
        ".txt": card_views.card_text,
    }
    if path is not None:
        write_atomically(path, views[path.suffix](made))


def say_card(made: Card, path: Path | None) -> None:
    """Where the card went; on stderr as a whole if it went nowhere."""
    from reticent.guarantees.card_views import card_text

    if path is None:
        talk(card_text(made).removesuffix("\n"), raw=True)
    else:
        talk(f"card: {path}")


def card_fields(made: Card, path: Path | None) -> dict[str, Any]:
    """The card for JSON: the file it went to, or itself."""
    whole = made.model_dump(mode="json", by_alias=True)
    return {"card": whole if path is None else str(path)}
