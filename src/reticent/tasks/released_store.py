"""A file that remembers who was released as what, so that asking again draws nothing new.

Theory    docs/theory/mapping.md, Theorem 6 (several releases)
Not here  drawing (recoding.py), the same for one program (``recoding.ReleaseOnce``).

Answers are written before they are shown: a crash may lose an answer nobody saw, never draw twice.
The file holds released profiles by the name of the person; only its owner may read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from reticent.data.atomic_files import replace_file
from reticent.errors import ReticentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.noise import Source
    from reticent.tasks.recoding import Recoding

SCHEMA = "released-once/2"
Profile: TypeAlias = list[str] | None
"""The cells of a released profile; None where it was withheld."""


class StoreError(ReticentError):
    """A store of releases that cannot be used; nothing was drawn, or it cannot be shown."""


@dataclass(frozen=True, slots=True, repr=False)
class DrawnProfiles:
    """A profile for each person.

    ``repeated``: how many are answers of before; ``elsewhere``: how many of these people were
    released through another mapping, too.
    """

    profiles: list[Profile]
    repeated: int = 0
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class ReleasedStore:
    """Who was released as what, by mapping and name."""

    path: Path

    def check(self) -> None:
        """Refuse, before anything is drawn, a store that could not be written."""
        if not os.access(self.path.absolute().parent, os.W_OK | os.X_OK):
            raise StoreError(f"{self.path} cannot be written: its folder is missing or closed")

    def draw(
        self, recoding: Recoding, rows: NDArray[Any], names: Sequence[str], source: Source
    ) -> DrawnProfiles:
        """A profile for each person, drawn unless the store has one; each is named once."""
        path = self.path.resolve()  # a link leads to the store, and stays a link
        with _alone(path):
            held = _read(path)
            own = held.setdefault(recoding.fingerprint, {})
            if not all(_fits(value, len(recoding.columns)) for value in own.values()):
                raise _damaged(path)
            others = [by for sha, by in held.items() if sha != recoding.fingerprint]
            elsewhere = sum(any(name in other for other in others) for name in names)
            new = [place for place, name in enumerate(names) if name not in own]
            if new:
                drawn = drawn_profiles(recoding, rows[new], source)
                own.update(zip((names[place] for place in new), drawn, strict=True))
                _write(path, held)
        return DrawnProfiles([own[name] for name in names], len(names) - len(new), elsewhere)


def drawn_profiles(recoding: Recoding, rows: NDArray[Any], source: Source) -> list[Profile]:
    """A draw for each row, as text."""
    drawn = recoding.release_many(rows, source).tolist()
    return [None if None in row else row for row in drawn]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """No other release draws for the same store meanwhile."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        why = f"another release is writing to it; if none is, remove {lock}"
        raise StoreError(f"{path} is in use: {why}") from None
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
    if not all(isinstance(by_person, dict) for by_person in released.values()):
        raise _damaged(path)
    return released


def _write(path: Path, held: dict[str, Any]) -> None:
    text = json.dumps({"schema": SCHEMA, "released": held}, ensure_ascii=False)
    try:
        replace_file(path, (text + "\n").encode(), private=True)
    except OSError as error:
        why = f"{error.strerror or type(error).__name__}; nothing was shown"
        raise StoreError(f"{path} cannot be written: {why}") from None


def _damaged(path: Path) -> StoreError:
    why = "nothing was drawn: a second answer would tell more; give the right file or a new name"
    return StoreError(f"{path} is no store of releases, or is damaged; {why}")


def _fits(value: object, columns: int) -> bool:
    if value is None:
        return True
    texts = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return texts and len(value) == columns  # type: ignore[arg-type]
