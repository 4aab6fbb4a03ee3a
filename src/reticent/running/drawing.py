"""What one process does: read a piece, draw for everybody in it, write both files whole.

Theory    docs/theory/parts.md, Theorem 2 (it does not matter who draws)
Not here  which pieces there are (inputs.py, gathering.py), what is shown (arranging.py), who is
          charged (merging.py).

Every piece is drawn by a source with a key of its own from the operating system; a seeded source
gives each person a stream of their own. So nothing depends on who draws what, or in which order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.noise import Source
from reticent.running.arranging import CHARGE
from reticent.running.declaring import known
from reticent.running.gathering import grouped
from reticent.running.inputs import Piece, batches_of
from reticent.running.people import numbers_of
from reticent.running.staging import Staging, put, sync
from reticent.running.workers import Shared
from reticent.tasks.batched import PERSON, Batched, arrow, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Told:
    """What a process tells of a piece that it drew; ``written`` has no name yet."""

    name: str
    numbers: NDArray[np.uint64]
    written: tuple[Path, ...] = ()

    @property
    def people(self) -> int:
        """How many people are in it."""
        return len(self.numbers)


def draw_piece(
    job: Shared[Batched],
    piece: Piece,
    staging: Staging,
    name: str,
    source: Source,
    declared: Path | None = None,
) -> Told:
    """Draw a piece, unless it is there already."""
    if staging.drawn(name):
        return _told(name, staging.charges(name))
    own = source.child(name) if source.private else source
    written = staging.partial(f"piece-{name}"), staging.partial(f"charges-{name}")
    try:
        _write(job.value, piece, written, own, declared)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return replace(_told(name, written[1]), written=written)


def keep(told: Told, staging: Staging) -> None:
    """Name what a process wrote: the charges last, for a piece that has them is whole."""
    if told.written:
        rows, charges = told.written
        if told.people:
            put(rows, staging.piece(told.name))
        put(charges, staging.charges(told.name))


def _told(name: str, charges: Path) -> Told:
    columns = [numbers_of(column) for column, _ in charges_in(charges)]
    return Told(name, np.concatenate([np.empty(0, np.uint64), *columns]))


def charges_in(path: Path) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """People and their losses, as they stand in a file of charges."""
    with import_module("pyarrow.parquet").ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield batch.column(PERSON), np.asarray(batch.column(CHARGE))


def people_in(path: Path) -> tuple[list[str], list[int]]:
    """People and losses of a file of charges, for the ledger."""
    people: list[str] = []
    nano: list[int] = []
    for column, amounts in charges_in(path):
        people += names_of(column)
        nano += amounts.tolist()
    return people, nano


def _rows(job: Batched, piece: Piece, declared: Path | None) -> Iterator[Any]:
    found = grouped(piece, job) if piece.format == "lines" else batches_of(piece, job.columns)
    return found if declared is None else (known(batch, job.person, declared) for batch in found)


def _write(
    job: Batched,
    piece: Piece,
    paths: tuple[Path, Path],
    source: Source,
    declared: Path | None,
) -> None:
    pa, (part, charges) = arrow(), (_Growing(path) for path in paths)
    for batch in _rows(job, piece, declared):
        drawn = job.draw(batch, source)
        if drawn.batch.num_rows:
            people = drawn.batch.column(0)
            part.write(drawn.batch)
            charges.write(pa.record_batch({PERSON: people, CHARGE: pa.array(drawn.nano)}))
    if not charges.begun:
        charges.write(pa.record_batch({PERSON: pa.array([], pa.string()), CHARGE: _NOTHING}))
    part.finish()
    charges.finish()


class _Growing:
    """A Parquet file, synced when it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer: Any = None

    @property
    def begun(self) -> bool:
        return self.writer is not None

    def write(self, batch: Any) -> None:
        if not self.begun:
            self.writer = import_module("pyarrow.parquet").ParquetWriter(self.path, batch.schema)
        self.writer.write_batch(batch)

    def finish(self) -> None:
        if self.begun:
            self.writer.close()
            sync(self.path)
