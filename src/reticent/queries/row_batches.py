"""What follows from an artefact row by row, for files of any size: in their order, at no cost.

Not here  how files are cut (running/rows.py), the queries (predict.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import require
from reticent.queries.base import Answer, Public, Query
from reticent.queries.derived import DerivedTerms, card_of_derived
from reticent.queries.folders import Folder, check_free, show
from reticent.queries.publish import as_table
from reticent.queries.streaming import find_in, table_files
from reticent.running import inputs
from reticent.running.rows import Part, map_rows
from reticent.running.staging import Staging

if TYPE_CHECKING:
    from reticent.queries.binding import Given
    from reticent.queries.run import Told


@dataclass(frozen=True, eq=False, repr=False)
class RowBatches:
    """A derived query as a function of rows; ``roles`` has the columns of the ``table``."""

    query: Query
    terms: DerivedTerms
    table: str
    roles: Mapping[str, str]
    columns: tuple[str, ...]
    numbers: ClassVar[Mapping[str, bool]] = {}

    def made(self, batch: Any, first: int) -> tuple[Any, frozenset[str]]:
        """The rows of the answer, and what it notes."""
        public = {self.terms.artefact: self.terms.parent}
        held = self.query.reads(public)[self.table].read(self.table, batch, self.roles, public)
        kept = self.terms.derive_rows(held, first)
        return as_table(self.terms, self.terms.show(kept)), frozenset(self.terms.notes(kept))


def release_rows(
    query: Query,
    terms: DerivedTerms,
    given: Given,
    public: Mapping[str, Any],
    out: Path,
    processes: int | None,
    told: Told,
) -> Answer:
    """An answer in a folder, of rows that nothing here protects."""
    check_free(out)
    name, table = next((n, one) for n, one in query.reads(public).items() if not one.public)
    held = given.held.get(name)
    require(held is not None, "data", "other tables", f"with {name}")
    chosen = given.columns_of(name, query.reads(public))
    with table_files(table, name, held, chosen, out) as files:
        header = inputs.columns_in(files[0])
        found = find_in(files[0], table, chosen)
        known: Any = terms.informed(
            query, Public(names=[] if "id" in found else None, tables=public)
        )
        read = tuple(found.values()) or tuple(header[:1])  # one at least says how many rows
        job = RowBatches(query, known, name, found, read)
        card = card_of_derived(known, told.command)

        def shown(staging: Staging, parts: Sequence[Part]) -> None:
            digests = {f"part-{one.name}.parquet": one.digest for one in parts}
            show(staging, query, card, sum(one.rows for one in parts), digests)

        parts = map_rows(job, files, out, processes, told.progress, shown)
    rows = sum(one.rows for one in parts)
    noted = [one.noted for one in parts if one.noted is not None]
    notes = tuple(sorted(frozenset.intersection(*noted))) if noted else ()
    names = tuple(f"part-{one.name}.parquet" for one in parts)
    return Answer(query, Folder(out, rows, names), card, "0", notes=notes, terms=known)
