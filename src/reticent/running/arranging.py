"""What was drawn, arranged into parts that show nothing but names: how many, and in which order.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Notation  a piece = some rows of the table, drawn together; a part = a file that is shown
Not here  how the table is cut into pieces (inputs.py, gathering.py), who is charged (merging.py).

Pieces follow the table, whose order and length are private. Parts do not: how many there are
depends on the number of people alone, who is in which on their names, and rows stand in canonical
order. A part is whole once its charges are there, and is not made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from reticent.running import inputs
from reticent.running.people import buckets_of, canonical_order
from reticent.running.staging import Staging, digest_of, put, settle, sync
from reticent.running.workers import Workers
from reticent.tasks.batched import PERSON, arrow
from reticent.tasks.charged import new_key

CHARGE = "charge"
MOST = 512
"""Parts: each is an open file while rows are dealt out."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """A part that is whole: how many people it has, and its digest."""

    name: str
    people: int
    digest: str


def parts_for(people: int) -> int:
    """How many parts so many people have."""
    return min(max(-(-people // inputs.ROWS), 1), MOST)


def arrange(
    staging: Staging, pieces: Sequence[str], people: int, workers: Workers
) -> list[Arranged]:
    """All parts, from all pieces."""
    names = [f"{number:05d}" for number in range(parts_for(people))]
    if not all(staging.arranged(name).exists() for name in names):
        folder = staging.home / f"split-{new_key()}"  # not that of a run that was broken off
        folder.mkdir()
        tasks = ((staging, piece, len(names), folder) for piece in pieces)
        for _ in workers.each(_split, tasks):
            pass
        for part in workers.each(_join, ((staging, name, folder) for name in names)):
            _keep(staging, *part)
    return [_arranged(staging, name) for name in names]


def _split(staging: Staging, piece: str, count: int, folder: Path) -> None:
    """Deal the rows of a piece out to parts, each row with its charge."""
    if not staging.piece(piece).exists():  # nobody was in it
        return
    pa, parquet, ipc = arrow(), import_module("pyarrow.parquet"), import_module("pyarrow.ipc")
    charges = parquet.read_table(staging.charges(piece)).column(CHARGE)
    rows = parquet.read_table(staging.piece(piece)).append_column(_HIDDEN, charges)
    rows = rows.combine_chunks()
    where = buckets_of(rows.column(0).combine_chunks(), count)
    for part in np.unique(where).tolist():
        own = rows.filter(pa.array(where == part))
        with ipc.new_file(str(folder / f"{part:05d}-{piece}.arrow"), own.schema) as file:
            file.write_table(own)


_HIDDEN = "\0charge"  # no column of a release is called so


def _join(staging: Staging, name: str, folder: Path) -> tuple[str, Path, Path]:
    """The rows of a part in canonical order, and their charges; files without their names yet."""
    pa, parquet, ipc = arrow(), import_module("pyarrow.parquet"), import_module("pyarrow.ipc")
    tables = [
        ipc.open_file(str(path)).read_all() for path in sorted(folder.glob(f"{name}-*.arrow"))
    ]
    part, charges = staging.partial(f"part-{name}"), staging.partial(f"arranged-{name}")
    if tables:
        about = tables[0].schema.metadata
        whole = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
        order = canonical_order(whole.column(0).combine_chunks())
        whole = whole.take(pa.array(order)).replace_schema_metadata(about)
        told = pa.table({PERSON: whole.column(0), CHARGE: whole.column(_HIDDEN)})
        parquet.write_table(whole.drop_columns([_HIDDEN]), part)
        sync(part)
    else:
        told = pa.table({PERSON: pa.array([], pa.string()), CHARGE: pa.array([], pa.int64())})
    parquet.write_table(told, charges)
    sync(charges)
    return name, part, charges


def _keep(staging: Staging, name: str, part: Path, charges: Path) -> None:
    """Name what was written: the charges last, for a part that has them is whole."""
    if part.exists():
        put(part, staging.part(name))
    put(charges, staging.arranged(name))
    settle(staging.shown)


def _arranged(staging: Staging, name: str) -> Arranged:
    parquet = import_module("pyarrow.parquet")
    people = int(parquet.read_metadata(staging.arranged(name)).num_rows)
    return Arranged(name, people, digest_of(staging.part(name)) if people else "")
