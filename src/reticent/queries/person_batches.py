"""Any map over people as a function from Arrow batch to Arrow batch.

Theory    docs/theory/parts.md, Theorem 2 (it does not matter who draws)
Not here  what is drawn (``PersonTerms.each``), kinds with faster batches (tasks/histogram_arrow.py,
          tasks/recoding_arrow.py), who feeds batches (running/, spark/).

In: who, and the columns of the other roles of the private table: a row for each person, with lists
where a person may have several lines, or these lines. Out: ``person`` and the columns of the terms,
of their types. A batch has all lines of whoever is in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.list_columns import lines_of
from reticent.errors import ParameterError, require
from reticent.guarantees import Event, canonical
from reticent.noise import Source
from reticent.queries.base import Public
from reticent.queries.binding import Bound
from reticent.queries.inputs import Cells, Input
from reticent.queries.people import PersonTerms
from reticent.tasks.batched import Drawn, arrow, compute, names_of, with_people
from reticent.tasks.charged import Payer

if TYPE_CHECKING:
    from reticent.queries.base import Query

WHO = "person"
"""The role of the column that names people, and that column of every output."""
_DECLARED = "people"


def streamed(query: Query, known: Mapping[str, Any]) -> tuple[str, Input]:
    """The private table that is read batch by batch: the one that says whose rows they are."""
    for name, one in query.reads(known).items():
        if not one.public and WHO in one.roles:
            return name, one
    raise ParameterError("query", "one with a private table of people", query.kind)


@dataclass(frozen=True, eq=False, repr=False)  # no slots: cached properties need a dictionary
class PersonBatches:
    """A release on ``terms``; ``roles`` has the column of each role of the private table."""

    terms: PersonTerms
    roles: Mapping[str, str]

    @classmethod
    def of(cls, terms: PersonTerms, columns: Mapping[str, str]) -> PersonBatches:
        """Without the people: every batch brings its own."""
        query, held = terms.query, terms.known.tables
        public = {n: one for n, one in held.items() if query.inputs[n].public and n != _DECLARED}
        name, table = streamed(query, public)
        for role, about in table.roles.items():
            there = role in columns or not about.required
            require(there, "columns", "others", f"with the column of {name}.{role}")
        require(columns.keys() <= table.roles.keys(), "columns", "others", f"roles of {name}")
        roles = {role: columns[role] for role in table.roles if role in columns}
        alone: Any = terms.informed(query, Public(tables=public))
        return cls(alone, roles)

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def person(self) -> str:
        """The column that names people."""
        return self.roles[WHO]

    @property
    def columns(self) -> tuple[str, ...]:
        """Who first, then what."""
        return (self.person, *(name for role, name in self.roles.items() if role != WHO))

    @property
    def numbers(self) -> dict[str, bool]:
        """Those of the roles that are numbers."""
        held = self._streamed[1].roles
        return {
            column: held[role].withholds
            for role, column in self.roles.items()
            if held[role].cells is Cells.NUMBER
        }

    @cached_property
    def fingerprint(self) -> str:
        """Of the query, the columns, and whatever else is public and decides the answer."""
        query, tables = self.terms.query, self.terms.known.tables
        public = {
            name: [query.inputs[name].decides(held), getattr(held, "text", None)]  # of preferences
            for name, held in sorted(tables.items())
        }
        event = json.loads(self.event(Source.system()).to_json())
        told = canonical([query.to_plain(), dict(self.roles), public, event])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    def event(self, source: Source, people: int | None = None) -> Event:
        """The record of releasing so many people."""
        if people is None:
            return self.terms.event(source)
        known = Public(people, tables=self.terms.known.tables)
        return self.terms.informed(self.terms.query, known).event(source)

    def payer(self, person: str) -> Payer:
        """Their account."""
        return self.terms.payer(person)

    def draw(self, batch: Any, source: Source) -> Drawn:
        """A row for each person of the batch."""
        for name in self.columns:
            has = name in batch.schema.names
            require(has, "batch", "another", f"with a column {name!r}")
        batch = with_people(batch.select(list(self.columns)), self.person)
        people = compute().unique(batch.column(self.person))
        names, (called, table) = names_of(people), self._streamed
        lines = lines_of(batch, [name for name in self.columns[1:] if table.several])
        alone = len(names) == batch.num_rows or (table.several and lines is batch)
        require(alone, "table", "somebody in two rows", "one row for each person")
        listed = np.empty(len(names), dtype=object)
        listed[:] = names
        public = dict(self.terms.known.tables)
        if table.several and names:
            public[_DECLARED] = Bound(_DECLARED, {WHO: listed}, len(names))
        held = table.read(called, lines, self.roles, public)
        entries: Any = []
        if names:
            entries = self.terms.drawn({**public, called: held}, names, source)
        private = source.private and getattr(held, "private", True)
        nano = np.full(len(names), self._nano, dtype=np.int64)
        return Drawn(self._made(people, entries, private=private), nano)

    def absent(self, people: Any) -> Any:
        """Rows of people who have no lines."""
        if not self._streamed[1].several:
            raise ParameterError("person", "people of the table, where each has a row", "another")
        pa = arrow()
        kinds = {name: pa.float64() for name in self.numbers}
        nothing = {
            name: pa.array([[]] * len(people), pa.list_(kinds.get(name, pa.string())))
            for name in self.columns[1:]
        }
        return pa.record_batch({self.person: people, **nothing})

    @cached_property
    def _streamed(self) -> tuple[str, Input]:
        return streamed(self.terms.query, self.terms.known.tables)

    @cached_property
    def _nano(self) -> int:
        return self.terms.words().charge

    def _made(self, people: Any, entries: Any, *, private: bool) -> Any:
        pa = arrow()
        kinds = {float: pa.float64(), int: pa.int64(), str: pa.string()}
        types = self.terms.types
        try:
            columns = [
                pa.array(cells, kinds[kind], from_pandas=False)
                for cells, kind in zip(_columns(entries, len(types)), types, strict=True)
            ]
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # whose text has a cell in it
            rule = f"what its columns hold: {', '.join(kind.__name__ for kind in types)}"
            raise ParameterError("types", rule, "another") from None
        provider = self.payer("anybody").provider
        return pa.RecordBatch.from_arrays(
            [people, *columns],
            names=list(self.terms.columns),
            metadata={
                "reticent.provider": provider,
                "reticent.private": json.dumps(private),
            },
        )


def _columns(entries: Any, width: int) -> Sequence[Any]:
    """Column by column; an entry that is missing is missing in all of them."""
    if isinstance(entries, np.ndarray) and entries.ndim == 2:
        return [np.ascontiguousarray(cells) for cells in entries.T]
    rows = [_row(entry, width) for entry in entries]
    return list(zip(*rows, strict=True)) if rows else [[] for _ in range(width)]


def _row(entry: Any, width: int) -> Sequence[Any]:
    if entry is None:
        return [None] * width
    if isinstance(entry, np.ndarray):
        entry = entry.tolist()
    return entry if isinstance(entry, (list, tuple)) else [entry]
