"""A file that remembers who was released as what, so that asking again draws nothing new.

Theory    docs/theory/mapping.md, Theorem 6 (several releases)
Not here  the command (profile.py).

Answers are written before they are shown: a crash may lose an answer nobody saw, never draw twice.
The file holds released profiles by the name of the person; only its owner may read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.output import talk

if TYPE_CHECKING:
    from reticent.noise import Source
    from reticent.tasks.recoding import Recoding

SCHEMA = "released-once/1"


def check_store(path: Path | None) -> None:
    """Refuse, before anything is drawn, a store that could not be written."""
    if path is None:
        return
    if path.suffix != ".json":
        raise Failure(f"{path} must be named .json")
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise Failure(f"{path} cannot be written", why="its folder is missing or closed")


def drawn_once(
    recoding: Recoding,
    rows: Any,
    names: Sequence[str],
    id_column: str,
    path: Path,
    source: Source,
) -> tuple[list[tuple[str, ...] | None], int]:
    """A profile for each person, drawn unless the store has one, and how many it had."""
    if not all(names):
        raise Failure(f"a line has nothing in {id_column}", why="--once remembers people by it")
    path = path.resolve()  # a link leads to the store, and stays a link
    with _alone(path):
        held = _read(path)
        own = held.setdefault(recoding.fingerprint, {}).setdefault(id_column.casefold(), {})
        if not all(_fits(value, len(recoding.columns)) for value in own.values()):
            raise _damaged(path)
        _talk_others(held, recoding.fingerprint, id_column, names)
        first: dict[str, int] = {}
        for place, name in enumerate(names):
            if name not in own:
                first.setdefault(name, place)
        repeated = sum(name in own for name in names)
        if first:
            drawn = recoding.release_many(rows[list(first.values())], source).tolist()
            own.update(zip(first, [None if None in row else row for row in drawn], strict=True))
            text = json.dumps({"schema": SCHEMA, "released": held}, ensure_ascii=False)
            write_atomically(path, text + "\n", private=True)
    return [None if own[name] is None else tuple(own[name]) for name in names], repeated


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """No other command draws for the same store meanwhile."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        why = f"another release is writing to it; if none is, remove {lock}"
        raise Failure(f"{path} is in use", why=why) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):  # no text, no JSON, a number without end
        raise _damaged(path) from None
    released = held.get("released") if isinstance(held, dict) else None
    if not isinstance(released, dict) or held.get("schema") != SCHEMA:
        raise _damaged(path)
    for by_column in released.values():
        if not isinstance(by_column, dict):
            raise _damaged(path)
        if not all(isinstance(by_person, dict) for by_person in by_column.values()):
            raise _damaged(path)
    return released


def _damaged(path: Path) -> Failure:
    why = "nothing was drawn: a second answer would tell more; give the right file or a new name"
    return Failure(f"{path} is no store of releases, or is damaged", why=why)


def _fits(value: object, columns: int) -> bool:
    if value is None:
        return True
    texts = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return texts and len(value) == columns  # type: ignore[arg-type]


def _talk_others(held: dict[str, Any], own: str, id_column: str, names: Sequence[str]) -> None:
    """Say if some of these people were released through another mapping."""
    key = id_column.casefold()
    others = [by[key] for sha, by in held.items() if sha != own and key in by]
    before = sum(any(name in other for other in others) for name in set(names))
    if before:
        talk(
            f"caution: {before} of these people were released through another mapping before: "
            "together the two may tell more than either promises"
        )
