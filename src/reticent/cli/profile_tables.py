"""People to release through a mapping: read from a table, found by name, written to a table.

Not here  the command (profile.py), the reader of tables (data/people_tables.py), answers that are
          repeated (once.py).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from reticent.cli.charging import data_set_subject
from reticent.cli.failures import Failure
from reticent.cli.mapping_columns import id_column as named_by
from reticent.cli.once import drawn_once

if TYPE_CHECKING:
    from reticent.data.people_tables import People
    from reticent.noise import Source
    from reticent.tasks.charged import Payer
    from reticent.tasks.recoding import Recoding

Profile: TypeAlias = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, repr=False)
class ProfileTable:
    """The people to release, as the mapping reads them."""

    people: People
    columns: tuple[str, ...]
    rows: Any
    ids: str | None

    @classmethod
    def read(cls, path: Path, id_column: str | None, recoding: Recoding) -> ProfileTable:
        """The columns that the mapping has, numbers in its ranges."""
        from reticent.data.people_tables import read_people

        people = read_people(path)
        ids = named_by(people, id_column)
        if ids is not None and ids.casefold() in {name.casefold() for name in recoding.columns}:
            if id_column is not None:
                raise Failure(f"{ids} names people and is a column of the mapping too")
            ids = None
        rows = people.rows(recoding.columns, recoding.widths)
        return cls(people, recoding.columns, rows, ids)

    def one(self, person: str | None) -> ProfileTable:
        """The one person alone."""
        import numpy as np

        if person is None:
            if len(self.people) == 1:
                return self
            why = "--person says whose; --out FILE releases everybody's"
            raise Failure(f"{self.people.file} holds more than one person", why=why)
        if self.ids is None:
            why = "--id says which column names people"
            raise Failure("--person needs a column that names people", why=why)
        mine = np.flatnonzero(self.people.column(self.ids) == person.strip())
        if not len(mine):
            why = "the list of people is public here; names are compared letter by letter"
            raise Failure(f"nobody in {self.people.file} is called {person!r}", why=why)
        if len(mine) > 1:
            why = f"a person has one line here; {self.ids} must name each once"
            raise Failure(f"{self.people.file} names {person!r} more than once", why=why)
        return ProfileTable(self.people.only(mine), self.columns, self.rows[mine], self.ids)

    def each_once(self) -> ProfileTable:
        """Everybody, in canonical order of names, so that the order of the table does not show.

        Refused if two lines are of the same person, who would be drawn twice.
        """
        import numpy as np

        from reticent.data.labels import in_order

        if self.ids is None:
            return self
        names = self.people.column(self.ids).tolist()
        if len(set(names)) < len(names):
            why = f"a person has one line here; {self.ids} must name each once, two draws tell more"
            raise Failure(f"{self.people.file} names somebody more than once", why=why)
        order = np.array(sorted(range(len(names)), key=lambda line: in_order(names[line])))
        return ProfileTable(self.people.only(order), self.columns, self.rows[order], self.ids)

    def payers(self, recoding: Recoding, provider: str | None) -> list[Payer]:
        """In whose names the release is noted; who has none is of the data set."""
        from reticent.tasks.charged import ANYONE, Payer

        what = f"profile: {recoding.fingerprint}"
        names = [""] if self.ids is None else self.people.column(self.ids).tolist()
        unnamed = data_set_subject(self.people.file)
        return [
            Payer(subject=name or unnamed, provider=provider or ANYONE, what=what) for name in names
        ]

    def released(
        self, recoding: Recoding, source: Source, once: Path | None
    ) -> tuple[list[Profile], int]:
        """One profile per line, and how many are answers of before.

        Where lines have no names their order would be that of the table: what is released is then
        sorted by what it is.
        """
        from reticent.errors import ParameterError

        try:
            if once is not None:
                if self.ids is None:
                    why = "--id says which column names people"
                    raise Failure("--once needs a column that names people", why=why)
                names = self.people.column(self.ids).tolist()
                return drawn_once(recoding, self.rows, names, self.ids, once, source)
            rows = recoding.release_many(self.rows, source).tolist()
            found = [_profile(row) for row in rows]
            return sorted(found, key=lambda row: row or ()) if self.ids is None else found, 0
        except ParameterError as error:
            if error.name != "profile":
                raise
            what = f"{self.people.file} holds a profile too far from all that the mapping knows"
            why = "the mapping was learnt with --unknown refuse; nothing was released"
            raise Failure(what, why=why) from None

    def named(self, value: Profile) -> dict[str, str] | None:
        """A released profile by column."""
        return None if value is None else dict(zip(self.columns, value, strict=True))

    def file(self, values: Sequence[Profile], out: Path) -> str | bytes:
        """Everybody's released profile: the column that names people, then the mapping's."""
        nobody = (None,) * len(self.columns)
        lines = [nobody if value is None else value for value in values]
        heads: tuple[str, ...] = self.columns
        if self.ids is not None:
            heads = (self.ids, *heads)
            names = self.people.column(self.ids).tolist()
            lines = [(name, *line) for name, line in zip(names, lines, strict=True)]
        if out.suffix == ".csv":
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([heads, *lines])
            return text.getvalue()
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        columns = [arrow.array(list(column), arrow.string()) for column in zip(*lines, strict=True)]
        held = io.BytesIO()
        parquet.write_table(arrow.table(columns, names=list(heads)), held)
        return held.getvalue()


def _profile(row: Sequence[str | None]) -> Profile:
    told = tuple(value for value in row if value is not None)
    return told if len(told) == len(row) else None
