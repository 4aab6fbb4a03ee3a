"""Answers that are folders of Parquet files: there whole or not at all, with what they are.

Not here  how a folder is made part by part (streaming.py, running/), other forms (publish.py).

``_reticent.json`` in a folder has the query and the card, without what anybody has spent, so that
others can be derived from it. The card with all its lines is in the receipt beside the folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.errors import require

if TYPE_CHECKING:
    from reticent.guarantees.card import Card
    from reticent.queries.base import Query, Terms
    from reticent.running import Described
    from reticent.running.staging import Staging

SUFFIX = ".parquet"


@dataclass(frozen=True, slots=True)
class Folder:
    """Where an answer is, how many people it is about, and the files it is made of."""

    path: Path
    people: int
    files: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"out": str(self.path), "people": self.people, "files": list(self.files)}


def check_free(out: Path) -> None:
    """Refuse, before anything is drawn, a folder that could not be made."""
    from reticent.running.staging import StagingError

    require(out.suffix == SUFFIX, "out", out.name, "named .parquet: a folder of Parquet files")
    if out.exists() or out.is_symlink():
        raise StagingError(f"{out.name} is there already: choose another name")


def described(query: Query, card: Card) -> Described:
    """What is kept of a release with its rows, and what for its owner alone."""
    from reticent.guarantees.card import without_budget
    from reticent.running import Described

    shown = {"query": query.to_plain(), "card": json.loads(without_budget(card).to_json())}
    return Described(shown, {"card": card.to_json()})


def write_folder(query: Query, terms: Terms, kept: Any, card: Card, out: Path) -> Folder:
    """An answer that nobody pays for, in the order of its rows."""
    from reticent.running.staging import Staging, digest_of, sync
    from reticent.running.whole_draw import write_parts

    people, digests, staging = 0, dict[str, str](), Staging(out.absolute())

    def counted() -> Iterator[Any]:
        nonlocal people
        for table in terms.tables(kept):
            people += len(set(table.column(0).to_pylist()))
            yield table

    with staging.alone():
        for path in write_parts(staging, counted()):
            sync(path)
            digests[path.name] = digest_of(path)
        show(staging, query, card, people, digests)
    return Folder(out, people, tuple(sorted(digests)))


def show(
    staging: Staging,
    query: Query,
    card: Card,
    people: int,
    digests: dict[str, str],
) -> None:
    """Make a folder visible that is written, with what it is; nobody was charged for it."""
    event, kept = card.release_event(), described(query, card)
    about = {
        "people": people,
        "private": event.private,
        "counted": False,
        "event": json.loads(event.to_json()),
        **kept.shown,
    }
    staging.show(about, {"key": None, "sha256": digests, "owned": dict(kept.owned)})


def read_folder(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What a folder says of itself, and its columns; any error, if it is none of ours."""
    from reticent.running.staging import ABOUT

    parquet = import_module("pyarrow.parquet")
    about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
    tables = [parquet.read_table(part) for part in sorted(path.glob("part-*.parquet"))]
    whole = import_module("pyarrow").concat_tables(tables, promote_options="permissive")
    return about, whole.to_pydict()
