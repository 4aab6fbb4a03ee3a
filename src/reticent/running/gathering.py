"""What must be read in one go: rows of CSV are set aside, lines of a person are brought together.

Notation  a bucket = people whose names' numbers agree, small enough to be held in memory
Not here  what processes read by themselves (inputs.py).

Lines are dealt out to files by the person they belong to, in one pass over the table; a piece is a
bucket. How many buckets there are depends on the files, and nothing that is shown depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.profiles import WEIGHTS, weight_units
from reticent.errors import require
from reticent.running.inputs import (
    ROWS,
    Piece,
    as_numbers,
    batches_of,
    csv_batches,
    format_of,
    pieces_of,
)
from reticent.running.people import buckets_of
from reticent.running.staging import Staging, StagingError, settle, sync, write_whole
from reticent.running.workers import Shared, Workers
from reticent.tasks.batched import PERSON, Batched, arrow, compute, with_people
from reticent.tasks.charged import new_key

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


def set_aside(path: Path, job: Batched, staging: Staging, at: int) -> list[Piece]:
    """The rows of a CSV file in files that all processes can read; ``at`` numbers the first.

    Spaces around text do not count, as in people_tables.py.
    """
    found: list[Piece] = []
    held: list[Any] = []
    for batch in chain(csv_batches(path, job.columns, job.numbers), [None]):
        held += [] if batch is None else [_trimmed(batch)]
        rows = sum(part.num_rows for part in held)
        if not held or (batch is not None and rows < ROWS):
            continue
        name = f"{at + len(found):05d}"
        if not staging.drawn(name):
            _write_aside(staging.aside(name), held)
        found.append(Piece(str(staging.aside(name)), "arrow", 0, len(held), rows))
        held = []
    return found


def _trimmed(batch: Any) -> Any:
    pa = arrow()
    cells = (
        compute().utf8_trim_whitespace(column) if pa.types.is_string(column.type) else column
        for column in batch.columns
    )
    return pa.RecordBatch.from_arrays(list(cells), names=batch.schema.names)


def _write_aside(path: Path, batches: Sequence[Any]) -> None:
    with import_module("pyarrow.ipc").new_file(str(path), batches[0].schema) as file:
        for batch in batches:
            file.write_batch(batch)


def gathered(
    job: Batched,
    files: Sequence[Path],
    staging: Staging,
    workers: Workers,
    most: int,
    say: Callable[[str, int, int], None],
) -> list[Piece]:
    """All lines in buckets, by at most so many tasks; what an earlier run brought together."""
    buckets, done = buckets_for(files), staging.home / "gathered.json"
    if not done.exists():
        folder = staging.home / f"lines-{new_key()}"  # not that of a run that was broken off
        folder.mkdir()
        tasks, shared = shares(files, most), Shared(job)
        work = ((part, shared, folder, buckets, number) for number, part in enumerate(tasks))
        lines = np.zeros(buckets, dtype=np.int64)
        found = {name: [False, False] for name in job.numbers}
        for at, (dealt, seen) in enumerate(workers.each(deal_out, work), start=1):
            lines += dealt
            for name, marks in seen.items():
                found[name] = [old or new for old, new in zip(found[name], marks, strict=True)]
            say("bringing lines together", at, len(tasks))
        _check_numbers(found)
        settle(folder)
        told = {"folder": folder.name, "lines": lines.tolist()}
        write_whole(done, json.dumps(told).encode())
    held = json.loads(done.read_text())
    where = str(staging.home / held["folder"])
    return [
        Piece(where, "lines", place, place + 1, count) for place, count in enumerate(held["lines"])
    ]


def deal_out(
    sources: Sequence[Piece], shared: Shared[Batched], folder: Path, buckets: int, task: int
) -> tuple[NDArray[np.int64], dict[str, list[bool]]]:
    """Write each line of some pieces to the file of its bucket; how many lines each bucket got.

    Of each column of numbers, whether some are positive and whether some cells are none.
    """
    pa, ipc, job = arrow(), import_module("pyarrow.ipc"), shared.value
    writers: dict[int, Any] = {}
    lines = np.zeros(buckets, dtype=np.int64)
    found = {name: [False, False] for name in job.numbers}
    try:
        for batch in _lines(sources, job, found):
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
    return lines, found


def _check_numbers(found: Mapping[str, list[bool]]) -> None:
    """Refuse a column of text where numbers are declared: the type of a column is public."""
    for name, (positive, text) in found.items():
        require(positive or not text, name, "text", f"a column of {WEIGHTS}")


def _lines(
    sources: Sequence[Piece], job: Batched, found: Mapping[str, list[bool]]
) -> Iterator[Any]:
    """Batches of lines that name a person and have the first of what is read."""
    pa = arrow()
    person, *others = job.columns
    for piece in sources:
        path = Path(piece.file)
        batches = (
            csv_batches(path, job.columns)
            if piece.format == "csv"
            else batches_of(piece, job.columns)
        )
        for batch in batches:
            for name in job.columns:
                has = name in batch.schema.names
                require(has, "table", "another", f"with a column {name!r}")
            columns = {PERSON: batch.column(person)}
            for place, name in enumerate(others):
                held = batch.column(name)
                if name in job.numbers:
                    told = as_numbers(held)
                    found[name][0] |= bool(compute().any(compute().greater(told, 0)).as_py())
                    found[name][1] |= told.null_count > held.null_count
                    held = told
                else:
                    held = _names(held)
                columns[_place(place)] = held
            lines = pa.record_batch(columns)
            yield with_people(lines.filter(_there(lines.column(1))), PERSON)


def _there(cells: Any) -> Any:
    """Which cells hold something; an empty text is missing, as in a release in memory."""
    pa, there = arrow(), cells.is_valid()
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return there
    return compute().and_kleene(there, compute().not_equal(cells, "")).fill_null(False)


def _names(held: Any) -> Any:
    """A column of names, of which 7 and "7" are one."""
    pa = arrow()
    if pa.types.is_dictionary(held.type):
        held = held.dictionary_decode()
    return held.cast(pa.string()) if pa.types.is_integer(held.type) else held


def _place(number: int) -> str:
    """What a column is called among the lines."""
    return f"\0{number}"


def grouped(piece: Piece, job: Batched) -> Iterator[Any]:
    """A bucket as one batch: a row for each person, with lists."""
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
    for place, name in enumerate(job.columns[1:]):
        if job.numbers.get(name):
            whole = _given(whole, _place(place))
    coded = whole.column(PERSON).combine_chunks().dictionary_encode()
    codes = np.asarray(coded.indices)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(coded.dictionary)))])
    lists = {}
    for place, name in enumerate(job.columns[1:]):
        held = whole.column(_place(place)).combine_chunks().take(pa.array(order))
        lists[name] = pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), held)
    yield pa.record_batch({job.person: coded.dictionary, **lists})


def _given(lines: Any, weight: str) -> Any:
    """The lines whose item has a weight: the least of what a person says of it, if that is not 0.

    So who has no other line is not there, as in a release in memory (data/profiles.py).
    """
    units = weight_units(np.asarray(lines.column(weight)))
    if units.all():
        return lines
    keys = [
        np.asarray(lines.column(name).combine_chunks().dictionary_encode().indices)
        for name in (PERSON, _place(0))
    ]
    order = np.lexsort((units, keys[1], keys[0]))
    who, what = (key[order] for key in keys)
    first = np.ones(len(order), dtype=bool)
    first[1:] = (who[1:] != who[:-1]) | (what[1:] != what[:-1])
    kept = order[first & (units[order] > 0)]
    return lines.take(arrow().array(np.sort(kept)))


def _called(bucket: int, task: int | str) -> str:
    return f"lines-{bucket:05d}-{task}.arrows"
