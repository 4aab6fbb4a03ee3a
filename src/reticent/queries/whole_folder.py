"""A release about everybody at once, held in memory and placed in a folder, charged in parts.

Not here  how it is drawn and shown (running/whole_draw.py), maps over people (streaming.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import show_nano
from reticent.errors import BudgetExceeded
from reticent.guarantees import Event
from reticent.guarantees.card import Card
from reticent.queries.base import Answer, Query, Terms
from reticent.queries.folders import Folder, described
from reticent.queries.run import Told, asked_of
from reticent.running import Described
from reticent.running.merging import check_key
from reticent.running.staging import Staging
from reticent.running.whole_draw import WholeRun
from reticent.tasks.charged import Payer, most_spent, new_key

if TYPE_CHECKING:
    from reticent.ledger import Ledger
    from reticent.noise import Source
    from reticent.queries.base import Progress


@dataclass(frozen=True, eq=False, repr=False)
class WholeJob:
    """A draw from tables in memory; ``due`` is who pays how much."""

    query: Query
    terms: Terms
    tables: Mapping[str, Any]
    columns: Mapping[str, str]
    due: Sequence[tuple[Payer, int]]
    record: Event
    progress: Progress

    @cached_property
    def charges(self) -> list[tuple[str, int]]:
        """People and their losses."""
        return [(payer.subject, nano) for payer, nano in self.due]

    @cached_property
    def fingerprint(self) -> str:
        """Of the query, the columns, and whatever else is public and decides the answer."""
        told = asked_of(self.query, self.columns, self.tables)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    def data(self) -> str:
        """Of the private tables, as they were read."""
        digest = hashlib.sha256()
        for name, one in self.query.inputs.items():
            if name in self.tables and not one.public:
                for part in _bytes(self.tables[name]):
                    digest.update(part)
        return digest.hexdigest()

    def event(self, source: Source, people: int | None = None) -> Event:
        """Known before it is drawn."""
        return self.record

    def payer(self, person: str) -> Payer:
        """All have the same account, but for their names."""
        return replace(self.due[0][0], subject=person)

    def draw(self, source: Source) -> Iterable[Any]:
        """The rows of the answer."""
        return self.terms.tables(self.terms.draw(self.tables, source, self.progress))


def _bytes(held: Any) -> Iterable[bytes]:
    """What a table holds."""
    profiles = getattr(held, "profiles", None)
    if profiles is None:
        for role, cells in held.columns.items():
            yield f"{role}\0{cells.tolist()!r}\0".encode("utf-8", "surrogatepass")
        return
    for part in (profiles.indptr, profiles.indices, profiles.weights):
        yield np.ascontiguousarray(part).tobytes()
    for names in (profiles.people, profiles.items):
        yield "\0".join(names).encode("utf-8", "surrogatepass")


def into_folder(
    job: WholeJob,
    out: Path,
    source: Source,
    book: Ledger | None,
    key: str | None,
    principal: str,
    told: Told,
) -> Answer:
    """The answer in a folder; the same key goes on with what was broken off, and repeats it."""
    own = check_key(key or Staging(out.absolute()).key() or new_key())
    payers = [payer for payer, _ in job.due]
    if book is not None:
        told.paying(book, payers)

    def describe(people: int) -> Described:
        spent = None if book is None else most_spent(book, payers)
        return described(job.query, told.card(job.terms, job.record, spent))

    run = WholeRun(
        out=out,
        key=own,
        ledger=book,
        source=source,
        principal=principal,
        limit=None,
        describe=describe,
        job=job,
    )
    try:
        ran = run.whole()
    except BudgetExceeded as error:
        raise told.refused(error) from None
    if book is not None:
        (told.repeated if ran.replayed else told.charged)(own)
    return Answer(
        job.query,
        Folder(out, ran.people, tuple(sorted(ran.files))),
        Card.from_json(ran.owned["card"]),
        show_nano(job.terms.words().charge if ran.lost else 0),
        None if book is None else own,
        ran.replayed,
        terms=job.terms,
    )
