"""Answers that are folders of Parquet files: there whole or not at all, with what they are.

Not here  how a folder is made part by part (streaming.py, running/), other forms (publish.py).

``_reticent.json`` in a folder has the query and the card, without what anybody has spent, so that
others can be derived from it. The card with all its lines is in the receipt beside the folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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


def placed(
    query: Query, terms: Terms, kept: Any, card: Card, key: str | None, out: Path | None
) -> Any:
    """What an answer shows: its value, or the folder that was asked for."""
    if out is None:
        return terms.show(kept)
    return write_folder(query, terms, kept, card, key, out)


def write_folder(
    query: Query, terms: Terms, kept: Any, card: Card, key: str | None, out: Path
) -> Folder:
    """An answer that is held in memory, in the order of its rows; people are not divided."""
    from reticent.running.staging import Staging, digest_of, sync

    parquet, staging = import_module("pyarrow.parquet"), Staging(out.absolute())
    people, digests = 0, dict[str, str]()
    with staging.alone():
        for table in terms.tables(kept):
            starts = _starts(table.column(0))
            for first, last in _cut(starts):
                path = staging.part(f"{len(digests):05d}")
                parquet.write_table(table.slice(first, last - first), path)
                sync(path)
                digests[path.name] = digest_of(path)
            people += len(starts) - 1
        show(staging, query, card, key, people, digests)
    return Folder(out, people, tuple(sorted(digests)))


def show(
    staging: Staging,
    query: Query,
    card: Card,
    key: str | None,
    people: int,
    digests: dict[str, str],
) -> None:
    """Make a folder visible that is written, with what it is."""
    event, kept = card.release_event(), described(query, card)
    about = {
        "people": people,
        "private": event.private,
        "counted": key is not None,
        "event": json.loads(event.to_json()),
        **kept.shown,
    }
    staging.show(about, {"key": key, "sha256": digests, "owned": dict(kept.owned)})


def _starts(names: Any) -> list[int]:
    """Where the rows of each person begin, and where the last ones end."""
    held = names.to_pylist()
    found = [at for at, name in enumerate(held) if at == 0 or held[at - 1] != name]
    return [*found, len(held)]


def _cut(starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Rows of a part, from the first to before the last, by the number of people alone."""
    from reticent.running.arranging import parts_for

    people = len(starts) - 1
    parts = parts_for(people)
    for number in range(parts):
        yield starts[people * number // parts], starts[people * (number + 1) // parts]


def read_folder(path: Path) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What a folder says of itself, and its columns; any error, if it is none of ours."""
    from reticent.running.staging import ABOUT

    parquet = import_module("pyarrow.parquet")
    about = json.loads((path / ABOUT).read_text(encoding="utf-8"))
    tables = [parquet.read_table(part) for part in sorted(path.glob("part-*.parquet"))]
    whole = import_module("pyarrow").concat_tables(tables, promote_options="permissive")
    return about, whole.to_pydict()
