"""Lists that you declare: people, items and nodes from files of their own, and what cards say.

Not here  tables of who has what (data/interactions.py), graphs (compare_graphs.py).

Who is declared has a row, with or without lines in the table, and others are left out. So what you
declare is public, and what the table says of who is in it stays private. Without a list you say
that whoever and whatever occurs in the table is public, and cards repeat it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure
from reticent.cli.output import talk

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles

_TABLES = (".csv", ".csv.gz", ".parquet")
_FORM = "a text file with a name in each line, or a table (.csv, .csv.gz, .parquet) with a column"

DeclaredPeople: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--people",
        help=f"The people, which makes them public: {_FORM} person. Everybody in it gets a row, "
        "with or without lines in the table; others are left out.  [default: who has a line, "
        "which says that this is public]",
        metavar="FILE",
    ),
]
DeclaredItems: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--items",
        help=f"The items, which makes them public: {_FORM} item. Others are left out.  [default: "
        "what has a line, which says that this is public]",
        metavar="FILE",
    ),
]


@dataclass(frozen=True, slots=True, repr=False)
class Declared:
    """Who and what there is, as far as it was declared."""

    people: list[str] | None = None
    items: list[str] | None = None

    @classmethod
    def read(cls, people: Path | None, items: Path | None = None) -> Declared:
        """From the files of ``--people`` and ``--items``."""
        return cls(
            None if people is None else read_names(people, "people", usual="person"),
            None if items is None else read_names(items, "items", usual="item"),
        )

    @property
    def count(self) -> int | None:
        """How many people are declared."""
        return None if self.people is None else len(self.people)

    def public(self, *, catalogue: bool = False) -> str:
        """What a card says is public; with a ``catalogue`` items are public anyway."""
        from reticent.guarantees import promises

        people, items = self.people is not None, self.items is not None
        return promises.public_lists(people=people, items=items, catalogue=catalogue)

    def profiles(self, path: Path, columns: str | None) -> Profiles:
        """The profiles in a file, of the people and items that are declared."""
        from reticent.data.interactions import Columns, read_profiles

        return nobody_is_an_error(
            read_profiles(
                path,
                None if columns is None else Columns.parse(columns),
                people=self.people,
                items=self.items,
                notice=lambda text: talk(f"note: {text}"),
            ),
            path,
        )


def nobody_is_an_error(profiles: Profiles, path: Path) -> Profiles:
    """The profiles, if there are people."""
    if not len(profiles):
        why = "no line with a weight above 0 has both a person and an item"
        raise Failure(f"{path} has no people", why=why)
    return profiles


def read_names(
    path: Path, what: str, *, usual: str, column: str | None = None, option: str | None = None
) -> list[str]:
    """The names that a file declares, each once: one in each line, or a column of a table.

    ``usual`` is what the column is called if nobody says so; ``option`` is how to say so.
    """
    table = path.name.casefold().endswith(_TABLES)
    if column is not None and not table:
        raise Failure(f"{option} is for a table, and {path} is read as one name per line")
    names = _column(path, usual, column, option) if table else _lines(path, what)
    found = list(dict.fromkeys(name for name in (name.strip() for name in names) if name))
    if not found:
        raise Failure(f"{path} names no {what}")
    return found


def _lines(path: Path, what: str) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        why = f"{what} are a name in each line, or a table named .csv, .csv.gz or .parquet"
        raise Failure(f"{path} is not text in UTF-8", why=why) from None


def _column(path: Path, usual: str, column: str | None, option: str | None) -> list[str]:
    from reticent.data.text_tables import read_lines

    header, lines = read_lines(path)
    names = [name.strip().casefold() for name in header]
    wanted = (usual if column is None else column).strip().casefold()
    if column is None and len(names) == 1:
        place = 0
    elif names.count(wanted) == 1:
        place = names.index(wanted)
    else:
        says = f"{option} says which one; " if option else ""
        why = f"{says}the first line must be the header"
        raise Failure(f"{path} must have one column called {wanted}", why=why)
    return [line[place] for line in lines]
