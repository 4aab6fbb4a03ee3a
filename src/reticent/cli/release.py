"""``reticent release``: one verb for what leaves, and what every release checks and writes.

Not here  what it costs and how it is agreed to (plan.py), the commands of each kind (queries.py).

Files that cannot be written are found before anything is spent on what would be lost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.files import free_name, write_atomically
from reticent.cli.output import talk

if TYPE_CHECKING:
    from reticent.guarantees.card import Card

app = typer.Typer(
    help="Release something under differential privacy.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


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


def warn_unused_preferences(path: Path, weight: str) -> None:
    """Say that a preferences file which other commands would apply is not applied here.

    ``weight`` is what the column of weights is called.
    """
    if not USUAL_PREFERENCES.is_file():
        return
    column = f'the column "{weight}" of {path}, if it has one'
    weights = f"weights come from {path if path.suffix.casefold() == '.npz' else column}"
    talk(f"caution: {USUAL_PREFERENCES} is not applied here; {weights}")


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
