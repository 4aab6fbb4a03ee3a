"""Rows of files of any size through a function, part by part; nothing is drawn, nobody pays.

Not here  releases that are drawn (local.py), what is made of rows (queries/).

Rows keep their order. The output is there whole or not at all; a run that was broken off begins
anew, as it would make the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from reticent.errors import ParameterError
from reticent.running import gathering, inputs
from reticent.running.inputs import Piece, batches_of
from reticent.running.staging import Staging, StagingError, digest_of, put, sync
from reticent.running.workers import Shared, Workers, processes_for


class Mapped(Protocol):
    """What is made of rows; it can be sent to other processes."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""

    def made(self, batch: Any, first: int) -> tuple[Any, frozenset[str]]:
        """A batch of as many rows, and what to note; ``first`` is the number of the first row."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the output: its digest, how many rows it has, and what all of them have noted."""

    name: str
    digest: str
    rows: int
    noted: frozenset[str] | None


def map_rows(
    job: Mapped,
    files: Sequence[Path],
    out: Path,
    processes: int | None,
    progress: Callable[[float], object],
    show: Callable[[Staging, Sequence[Part]], None],
) -> list[Part]:
    """The parts, once ``show`` has made them visible."""
    for path in files:
        has = inputs.columns_in(path)
        for name in job.columns:
            if has.count(name) != 1:
                raise ParameterError("table", f"with one column {name!r}", path.name)
    staging = Staging(out.absolute())
    with staging.alone():
        if staging.manifest() is not None:
            raise StagingError(f"{out.name} was begun as another release: choose another name")
        found = inputs.pieces_of([path for path in files if inputs.format_of(path) != "csv"])
        if any(inputs.format_of(path) == "csv" for path in files):
            found = _in_order(files, job, staging)
        total, firsts = 0, []
        for piece in found:
            firsts.append(total)
            total += piece.rows
        shared = Shared(job)
        tasks = (
            (shared, piece, first, staging, f"{number:05d}")
            for number, (piece, first) in enumerate(zip(found, firsts, strict=True))
        )
        parts: list[Part] = []
        with Workers(processes_for(processes)) as workers:
            for part in workers.each(_map_piece, tasks):
                put(staging.home / f"{part.name}.made", staging.part(part.name))
                parts.append(part)
                progress(sum(one.rows for one in parts) / max(total, 1))
        show(staging, parts)
    return sorted(parts, key=lambda one: one.name)


def _in_order(files: Sequence[Path], job: Any, staging: Staging) -> list[Piece]:
    """Pieces of files of which some are CSV, in the order of files."""
    found: list[Piece] = []
    for path in files:
        if inputs.format_of(path) == "csv":
            found += gathering.set_aside(path, job, staging, len(found))
        else:
            found += inputs.pieces_of([path])
    return found


def _map_piece(
    shared: Shared[Mapped], piece: Piece, first: int, staging: Staging, name: str
) -> Part:
    job, path = shared.value, staging.home / f"{name}.made"
    writer, rows, noted = None, 0, None
    for batch in batches_of(piece, job.columns):
        made, told = job.made(batch, first + rows)
        rows += batch.num_rows
        noted = told if noted is None else noted & told
        if writer is None:
            writer = import_module("pyarrow.parquet").ParquetWriter(path, made.schema)
        writer.write_table(made)
    if writer is None:
        raise StagingError("a file has no rows to write")
    writer.close()
    sync(path)
    return Part(name, digest_of(path), rows, noted)
