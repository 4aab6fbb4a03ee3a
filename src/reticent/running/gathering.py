"""What must be read in one go: rows of CSV are set aside, lines of a person are brought together.

Notation  a bucket = people whose names' numbers agree, small enough to be held in memory
Not here  what processes read by themselves (inputs.py).

Lines are dealt out to files by the person they belong to, in one pass over the table; a piece is a
bucket. How many buckets there are depends on the files, and nothing that is shown depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require
from reticent.running.inputs import (
    ROWS,
    Piece,
    batches_of,
    csv_batches,
    format_of,
    pieces_of,
)
from reticent.running.people import buckets_of
from reticent.running.staging import Staging, StagingError, sync
from reticent.tasks.batched import PERSON, Batched, arrow, with_people

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINES = 1 << 21
"""Lines of a bucket, about."""
_LINE_BYTES = 16  # of a line of a CSV file, at least
MOST = 512
"""Buckets: each is an open file while lines are dealt out."""


def buckets_for(files: Sequence[Path]) -> int:
    """How many buckets these files need."""
    lines = 0
    for path in files:
        if format_of(path) == "csv":
            packed = 5 if path.name.casefold().endswith(".gz") else 1
            lines += packed * path.stat().st_size // _LINE_BYTES
        else:
            lines += sum(piece.rows for piece in pieces_of([path]))
    return min(max(-(-lines // LINES), 1), MOST)


def shares(files: Sequence[Path], most: int) -> list[list[Piece]]:
    """Files in lists for different processes: of CSV whole ones, of others at most so many.

    Where a line of CSV ends, only who has read all before it knows.
    """
    names = [path for path in files if format_of(path) == "csv"]
    alone = [[Piece(str(path.absolute()), "csv", 0, 1, 0)] for path in names]
    pieces = pieces_of([path for path in files if path not in names])
    return alone + [part for part in (pieces[at::most] for at in range(most)) if part]


def set_aside(path: Path, columns: Sequence[str], staging: Staging, at: int) -> list[Piece]:
    """The rows of a CSV file in files that all processes can read; ``at`` numbers the first."""
    found: list[Piece] = []
    held: list[Any] = []
    for batch in chain(csv_batches(path, columns), [None]):
        held += [] if batch is None else [batch]
        rows = sum(part.num_rows for part in held)
        if not held or (batch is not None and rows < ROWS):
            continue
        name = f"{at + len(found):05d}"
        if not staging.drawn(name):
            _write_aside(staging.aside(name), held)
        found.append(Piece(str(staging.aside(name)), "arrow", 0, len(held), rows))
        held = []
    return found


def _write_aside(path: Path, batches: Sequence[Any]) -> None:
    with import_module("pyarrow.ipc").new_file(str(path), batches[0].schema) as file:
        for batch in batches:
            file.write_batch(batch)


def deal_out(
    sources: Sequence[Piece], person: str, item: str, folder: Path, buckets: int, task: int
) -> NDArray[np.int64]:
    """Write each line of some pieces to the file of its bucket; how many lines each bucket got."""
    pa, ipc = arrow(), import_module("pyarrow.ipc")
    writers: dict[int, Any] = {}
    lines = np.zeros(buckets, dtype=np.int64)
    try:
        for batch in _lines(sources, person, item):
            where = buckets_of(batch.column(PERSON), buckets)
            order = np.argsort(where, kind="stable")
            sorted_lines, cuts = batch.take(pa.array(order)), np.bincount(where, minlength=buckets)
            ends = np.cumsum(cuts)
            lines += cuts
            for bucket in np.flatnonzero(cuts).tolist():
                if bucket not in writers:
                    path = folder / _called(bucket, task)
                    writers[bucket] = ipc.new_stream(str(path), batch.schema)
                writers[bucket].write_batch(
                    sorted_lines.slice(int(ends[bucket] - cuts[bucket]), int(cuts[bucket]))
                )
    finally:
        for writer in writers.values():
            writer.close()
    for bucket in writers:
        sync(folder / _called(bucket, task))
    return lines


def _lines(sources: Sequence[Piece], person: str, item: str) -> Iterator[Any]:
    """Batches of person and item, both there, both called so."""
    pa = arrow()
    for piece in sources:
        path = Path(piece.file)
        found = (
            csv_batches(path, (person, item))
            if piece.format == "csv"
            else batches_of(piece, (person, item))
        )
        for batch in found:
            for name in (person, item):
                has = name in batch.schema.names
                require(has, "table", "another", f"with a column {name!r}")
            held = batch.column(item)
            if pa.types.is_dictionary(held.type):
                held = held.dictionary_decode()
            if pa.types.is_integer(held.type):  # names, as in any table of lines, not places
                held = held.cast(pa.string())
            lines = pa.record_batch({PERSON: batch.column(person), "item": held})
            lines = with_people(lines.filter(held.is_valid()), PERSON)
            yield lines


def grouped(piece: Piece, job: Batched) -> Iterator[Any]:
    """A bucket as one batch: a row for each person, with a list of items."""
    pa, ipc = arrow(), import_module("pyarrow.ipc")
    folder, bucket = Path(piece.file), piece.first
    tables = []
    for path in sorted(folder.glob(_called(bucket, "*"))):
        with ipc.open_stream(str(path)) as lines:
            tables.append(lines.read_all())
    if sum(table.num_rows for table in tables) != piece.rows:
        raise StagingError("lines that were brought together are gone: remove what is unreleased")
    if not tables:
        return
    whole = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    coded = whole.column(PERSON).combine_chunks().dictionary_encode()
    codes = np.asarray(coded.indices)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(coded.dictionary)))])
    items = whole.column("item").combine_chunks().take(pa.array(order))
    lists = pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), items)
    person, listed = job.columns[:2]
    yield pa.record_batch({person: coded.dictionary, listed: lists})


def _called(bucket: int, task: int | str) -> str:
    return f"lines-{bucket:05d}-{task}.arrows"
