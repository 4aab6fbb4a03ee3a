"""What one process does: read a part, draw for everybody in it, write both files whole.

Theory    docs/theory/parts.md, Theorem 2 (it does not matter who draws)
Not here  which parts there are (inputs.py, gathering.py), who is charged (merging.py).

Every part is drawn by a source with a key of its own from the operating system; a seeded source
gives each person a stream of their own. So nothing depends on who draws what, or in which order.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.noise import Source
from reticent.running.gathering import grouped
from reticent.running.inputs import Piece, batches_of
from reticent.running.people import numbers_of
from reticent.running.staging import Staging, digest_of, put, sync
from reticent.tasks.batched import PERSON, Batched, arrow, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHARGE = "charge"
_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What a process tells of a part that it drew; ``written`` has no name yet."""

    name: str
    numbers: NDArray[np.uint64]
    digest: str
    written: tuple[Path, ...] = ()

    @property
    def people(self) -> int:
        """How many people are in it."""
        return len(self.numbers)


def draw_part(packed: bytes, piece: Piece, staging: Staging, name: str, source: Source) -> Told:
    """Draw a part of a pickled job, unless it is there already."""
    if staging.drawn(name):
        return _told(name, staging.part(name), staging.charges(name))
    own = source.child(name) if source.private else source
    written = staging.partial(f"part-{name}"), staging.partial(f"charges-{name}")
    try:
        _write(_job(packed), piece, written, own)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return replace(_told(name, *written), written=written)


def keep(told: Told, staging: Staging) -> None:
    """Name what a process wrote: the charges last, for a part that has them is whole."""
    if told.written:
        part, charges = told.written
        if told.people:
            put(part, staging.part(told.name))
        put(charges, staging.charges(told.name))


@lru_cache(maxsize=1)
def _job(packed: bytes) -> Batched:
    """Unpacked once by each process; what is packed was made by the process that asks."""
    job: Batched = pickle.loads(packed)  # noqa: S301
    return job


def _told(name: str, part: Path, charges: Path) -> Told:
    columns = [numbers_of(column) for column, _ in charges_in(charges)]
    numbers = np.concatenate([np.empty(0, np.uint64), *columns])
    return Told(name, numbers, digest_of(part) if numbers.size else "")


def charges_in(path: Path) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """People and their losses, as they stand in a file of charges."""
    with import_module("pyarrow.parquet").ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield batch.column(PERSON), np.asarray(batch.column(CHARGE))


def people_in(path: Path) -> tuple[list[str], list[int]]:
    """People and losses of a part, for the ledger."""
    people: list[str] = []
    nano: list[int] = []
    for column, amounts in charges_in(path):
        people += names_of(column)
        nano += amounts.tolist()
    return people, nano


def _rows(job: Batched, piece: Piece) -> Iterator[Any]:
    if piece.format == "lines":
        yield from grouped(piece, job)
    else:
        yield from batches_of(piece, job.columns)


def _write(job: Batched, piece: Piece, paths: tuple[Path, Path], source: Source) -> None:
    pa, (part, charges) = arrow(), (_Growing(path) for path in paths)
    for batch in _rows(job, piece):
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
