"""Answers that are folders of Parquet files: there whole or not at all, with what they are.

Not here  how a folder is made part by part (streaming.py, running/), other forms (publish.py).

``_reticent.json`` in a folder has the query and the card, without what anybody has spent, so that
others can be derived from it. The card with all its lines is in the receipt beside the folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.errors import require

if TYPE_CHECKING:
    from reticent.guarantees.card import Card
    from reticent.queries.base import Answer, Query
    from reticent.running import Described

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


def write_folder(answer: Answer, out: Path) -> Folder:
    """The rows of an answer that is held in memory, in their order; people are not divided."""
    from reticent.queries.publish import as_table
    from reticent.running.arranging import parts_for
    from reticent.running.staging import Staging, digest_of, sync

    parquet, staging = import_module("pyarrow.parquet"), Staging(out.absolute())
    table = as_table(answer)
    starts = _starts(table.column(0).to_pylist())
    people, parts = len(starts) - 1, parts_for(len(starts) - 1)
    event, kept = answer.card.release_event(), described(answer.query, answer.card)
    digests = {}
    with staging.alone():
        for number in range(parts):
            first, last = (starts[people * end // parts] for end in (number, number + 1))
            path = staging.part(f"{number:05d}")
            parquet.write_table(table.slice(first, last - first), path)
            sync(path)
            digests[path.name] = digest_of(path)
        about = {
            "people": people,
            "private": event.private,
            "counted": answer.key is not None,
            "event": json.loads(event.to_json()),
            **kept.shown,
        }
        staging.show(about, {"key": answer.key, "sha256": digests, "owned": dict(kept.owned)})
    return Folder(out, people, tuple(sorted(digests)))


def _starts(names: list[Any]) -> list[int]:
    """Where the rows of each person begin, and where the last ones end."""
    found = [at for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
    return [*found, len(names)]


def read_folder(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What a folder says of itself, and its columns; any error, if it is none of ours."""
    from reticent.running.staging import ABOUT

    parquet = import_module("pyarrow.parquet")
    about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
    tables = [parquet.read_table(part) for part in sorted(path.glob("part-*.parquet"))]
    whole = import_module("pyarrow").concat_tables(tables, promote_options="permissive")
    return about, whole.to_pydict()
