"""Ranked lists of peers or items, as CSV, JSON or Parquet, on stdout or in a file.

Not here  how lists are made (neighbour_methods.py, tasks/).
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.output import say
from reticent.cli.release import CARDS, check_files
from reticent.errors import MissingExtra

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles

RESULTS = (".csv", ".json", ".parquet")


@dataclass(frozen=True, slots=True, repr=False)
class Lists:
    """Ranked lists as lines: whose, which rank, what, with which score."""

    heads: tuple[str, str, str, str]
    people: Sequence[str]
    rows: list[tuple[str, int, str, float]]

    @classmethod
    def of(
        cls,
        heads: tuple[str, str, str, str],
        profiles: Profiles,
        found: Any,
        scores: Any,
        names: Any,
    ) -> Lists:
        """From numbers; -1 is nobody, and scores are kept to 6 significant digits."""
        rows = [
            (person, rank, str(names[column]), float(f"{score:.6g}"))
            for person, columns, values in zip(
                profiles.people, found.tolist(), scores.tolist(), strict=True
            )
            for rank, (column, score) in enumerate(zip(columns, values, strict=True), start=1)
            if column >= 0
        ]
        return cls(heads, profiles.people, rows)

    def by_person(self) -> dict[str, list[dict[str, Any]]]:
        """For JSON."""
        lists: dict[str, list[dict[str, Any]]] = {person: [] for person in self.people}
        for person, *entry in self.rows:
            lists[person].append(dict(zip(self.heads[1:], entry, strict=True)))
        return lists

    def csv(self) -> str:
        """As text, for files and pipes."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.heads)
        writer.writerows(self.rows)
        return text.getvalue()

    def write(self, path: Path, schema: str) -> None:
        """Write a file as it is named."""
        if path.suffix == ".csv":
            write_atomically(path, self.csv())
        elif path.suffix == ".json":
            lists = {"schema": schema, "lists": self.by_person()}
            write_atomically(path, json.dumps(lists, indent=2, ensure_ascii=False) + "\n")
        else:
            arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
            columns = zip(*self.rows, strict=True) if self.rows else ([],) * 4
            part = path.with_name(f".{path.name}.part")
            held = arrow.table(dict(zip(self.heads, map(list, columns), strict=True)))
            try:
                parquet.write_table(held, part)
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)


def check_out(out: Path | None, card: Path | None) -> None:
    """Refuse, before anything is spent, files that could not be written."""
    check_files(card, suffixes=CARDS)
    check_files(out, suffixes=RESULTS)
    if out is not None and card is not None and out.absolute() == card.absolute():
        raise Failure("--out and --card name the same file")
    if out is not None and out.suffix == ".parquet":
        try:
            import_module("pyarrow.parquet")
        except ImportError:
            raise MissingExtra("writing Parquet", "arrow") from None


def say_lists(lists: Lists, out: Path | None, schema: str) -> None:
    """To the file, or as CSV to stdout."""
    if out is None:
        say(lists.csv().removesuffix("\n"))
    else:
        lists.write(out, schema)
        say(str(out))
