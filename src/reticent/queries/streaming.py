"""A release for each person of files of any size: streamed, over all cores, resumed by key.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Not here  how it is done (running/), what is drawn (``Terms.batches``), answers in memory (run.py).

Which way a release takes depends on what was asked for, never on how much private data there is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.amounts import show_nano
from reticent.data.frames import Frame
from reticent.data.labels import text_of
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import BudgetExceeded, require
from reticent.guarantees.card import Card
from reticent.queries.base import Answer, Query, Terms
from reticent.queries.folders import Folder, described
from reticent.queries.inputs import Cells, Input, Role
from reticent.queries.people import PersonTerms
from reticent.queries.person_batches import streamed
from reticent.queries.plans import plan_of
from reticent.running import Described, inputs
from reticent.running import run as run_parts
from reticent.running.local import Rows
from reticent.running.merging import most_spent
from reticent.running.staging import Staging
from reticent.tasks.batched import arrow
from reticent.tasks.charged import new_key

if TYPE_CHECKING:
    from reticent.ledger import Ledger
    from reticent.noise import Source
    from reticent.queries.binding import Given
    from reticent.queries.run import Told


_SHARES = {"bringing lines together": (0, 0.3), "drawing": (0.3, 0.8), "charging": (0.8, 1)}
"""What is done of the whole when each step begins and ends, about."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """What is public of a table that is not held in memory: its name and its columns."""

    called: str
    columns: Mapping[str, str]

    @property
    def weighted(self) -> bool:
        """Whether there is a column of weights."""
        return "weight" in self.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stream:
    """A release into a folder, of which everything public is fixed."""

    query: Query
    terms: PersonTerms
    given: Given
    public: Mapping[str, Any]
    out: Path
    processes: int | None
    source: Source
    told: Told

    def released(
        self, book: Ledger | None, key: str | None, principal: str, limit: int | None
    ) -> Answer:
        """The answer; the same key goes on with a release that was broken off."""
        name, table = streamed(self.query, self.public)
        held = self.given.held.get(name)
        require(held is not None, "data", "other tables", f"with {name}")
        chosen = self.given.columns_of(name, self.query.reads(self.public))
        with table_files(table, name, held, chosen, self.out) as files:
            found = find_in(files[0], table, chosen)
            return self._run(name, table, files, found, book, key, principal, limit)

    def _progress(self, what: str, done: int, total: int) -> None:
        first, last = _SHARES[what]
        self.told.progress(first + (last - first) * (done / total if total else 0))

    def _run(
        self,
        name: str,
        table: Input,
        files: list[Path],
        found: Mapping[str, str],
        book: Ledger | None,
        key: str | None,
        principal: str,
        limit: int | None,
    ) -> Answer:
        job = self.terms.batches(found)
        listed = bool(set(job.columns[1:]) & set(inputs.lists_in(files[0])))
        rows: Rows = "items" if table.several and not listed else "people"
        seen = {**self.public, name: Streamed(files[0].name, found)}
        known = replace(self.terms.known, tables=seen)
        self.told.agree(plan_of(self.query, self.terms.informed(self.query, known)))

        def whole(people: int) -> Terms:
            return self.terms.informed(self.query, replace(known, count=people))

        def describe(people: int) -> Described:
            made = whole(people)
            spent = None if book is None else most_spent(book, job, people, limit)
            return described(self.query, self.told.card(made, made.event(self.source), spent))

        own = key or Staging(self.out.absolute()).key() or new_key()
        try:
            ran = run_parts(
                job,
                files,
                self.out,
                key=own,
                ledger=book,
                source=self.source,
                rows=rows,
                processes=self.processes,
                principal=principal,
                progress=self._progress,
                people=known.names,
                limit=limit,
                describe=describe,
            )
        except BudgetExceeded as error:
            raise self.told.refused(error) from None
        if ran.replayed:
            self.told.repeated(own)
        final = whole(ran.people)
        return Answer(
            self.query,
            Folder(self.out, ran.people, tuple(sorted(ran.files))),
            Card.from_json(ran.owned["card"]),
            show_nano(final.words().charge if ran.lost else 0),
            None if book is None else own,
            ran.replayed,
            terms=final,
        )


def find_in(path: Path, table: Input, chosen: Mapping[str, str]) -> dict[str, str]:
    """The columns of roles, by the first file; all must have them."""
    return table.find(path.name, inputs.columns_in(path), chosen, inputs.lists_in(path))


@contextmanager
def table_files(
    table: Input, called: str, held: Any, chosen: Mapping[str, str], out: Path
) -> Iterator[list[Path]]:
    """The files of a table; what is in memory lies in one beside the output meanwhile.

    Only its owner may read that. It is named by what is in it, so that a release that was broken
    off is taken up by the same frame.
    """
    several = isinstance(held, (list, tuple)) and all(isinstance(o, (str, Path)) for o in held)
    if isinstance(held, (str, Path)) or several:
        yield inputs.files_of(list(held) if several else [held])
        return
    home = out.absolute().with_name(f".{out.name}.given")
    read = _as_arrow(table, called, held, chosen)
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)  # by nobody else
    try:
        path = home / "table.parquet"
        import_module("pyarrow.parquet").write_table(read, path)
        with path.open("rb") as file:
            named = home / f"{hashlib.file_digest(file, 'sha256').hexdigest()}.parquet"
        path.rename(named)
        os.utime(named, (0, 0))
        yield [named]
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _as_arrow(table: Input, called: str, held: Any, chosen: Mapping[str, str]) -> Any:
    """The columns of roles of a frame, of profiles or of columns by name, as an Arrow table."""
    pa = arrow()
    if isinstance(held, Profiles):
        rule = "others than those that a seeded source had a part in, where a folder is made"
        require(held.private, called, "profiles", rule)
        who = pa.array(held.people, pa.string()).take(pa.array(held.rows()))
        what = pa.array(held.items, pa.string()).take(pa.array(held.indices))
        return pa.table({"person": who, "item": what, "weight": held.weights / FULL_WEIGHT})
    if isinstance(held, Mapping):
        columns = {str(name): cells for name, cells in held.items()}
        lists: list[str] = []
    else:
        frame = Frame.of(held)
        columns = {str(name): frame.table[name] for name in frame.names}
        lists = frame.lists
    found = table.find(called, list(columns), chosen, lists)
    names = {found[role] for role, one in table.roles.items() if role in found and _named(one)}
    needed = list(found.values()) or list(columns)[:1]  # one at least says how many rows
    read = {own: _column(columns[own], own in names) for own in needed}
    alike = len({len(column) for column in read.values()}) == 1
    require(alike, called, "others", "columns of one length")
    return pa.table(read)


def _named(role: Role) -> bool:
    return role.cells is Cells.NAME


def _column(cells: Any, named: bool) -> Any:
    """An Arrow column; cells of several types, and names that are no whole numbers, are text.

    What Arrow says of cells that it cannot hold would quote them.
    """
    pa = arrow()
    listed = cells.to_list() if hasattr(cells, "to_list") else cells
    try:
        column = pa.array(listed)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([text_of(cell) for cell in listed], pa.string())
    whole = named and pa.types.is_floating(column.type)  # numbers of which some are missing
    if whole or pa.types.is_struct(column.type) or pa.types.is_map(column.type):
        return pa.array([text_of(cell) for cell in listed], pa.string())
    return column
