"""People who are declared: rows of others are left out, and who has no row gets one.

Not here  how a list is read (queries/), what is drawn for who has nothing (tasks/).

The list is public. It lies beside the pieces, for all processes to read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from reticent.errors import require
from reticent.running.inputs import BATCH, Piece
from reticent.running.staging import Staging, write_whole
from reticent.tasks.batched import Batched, arrow, compute, with_people


def fingerprint(people: Sequence[str] | None) -> str | None:
    """Tells one declared list from another, and from none."""
    if people is None:
        return None
    return hashlib.sha256("\0".join(people).encode("utf-8", "surrogatepass")).hexdigest()


def write_names(people: Sequence[str], staging: Staging) -> Path:
    """Declared names in a file that all processes can read; they hold no line breaks."""
    path = staging.home / "declared.txt"
    good = all(name.isprintable() for name in people)
    require(good, "people", "others", "names that can be printed")
    if not path.exists():
        write_whole(path, "\n".join(people).encode())
    return path


@lru_cache(maxsize=1)
def _names(path: Path) -> Any:
    return arrow().array(path.read_text(encoding="utf-8").split("\n"), arrow().string())


def known(batch: Any, person: str, declared: Path) -> Any:
    """The rows of people who are declared; 7 and "7" are one name."""
    batch = with_people(batch, person)
    names = batch.column(person).cast(arrow().string())
    return batch.filter(compute().is_in(names, value_set=_names(declared)))


def check_numbers(people: Iterable[str]) -> None:
    """Refuse names that are no whole numbers as one writes them: 007 is not 7."""
    for name in people:
        digits = name.removeprefix("-")
        plain = digits.isascii() and digits.isdigit() and name == str(int(name))
        fits = plain and -(1 << 63) <= int(name) < 1 << 63
        require(fits, "people", "other names", "whole numbers, as the table names people")


def without_rows(
    job: Batched,
    people: Iterable[str],
    drawn: Iterable[Sequence[str]],
    staging: Staging,
    *,
    numbers: bool,
) -> Piece | None:
    """A piece with a row for each declared person who has none in the table: they have nothing."""
    missing = dict.fromkeys(people)
    for names in drawn:
        for name in names:
            missing.pop(name, None)
    if not missing:
        return None
    column = arrow().array(list(missing), arrow().string())
    if numbers:
        column = column.cast(arrow().int64())
    rows, path = job.absent(column), staging.aside("declared")
    batches = [rows.slice(at, BATCH) for at in range(0, rows.num_rows, BATCH)]
    with import_module("pyarrow.ipc").new_file(str(path), rows.schema) as file:
        for batch in batches:
            file.write_batch(batch)
    return Piece(str(path), "arrow", 0, len(batches), rows.num_rows)
