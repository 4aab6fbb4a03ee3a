"""Who has what, and which item has which attribute, from files, frames and columns.

Not here  the formats of files (data/interactions.py), other tables (binding.py).

Without weights every item counts in full. People and items are those that were declared or, where
nothing was, whoever and whatever has a line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.data.catalogue import Catalogue
from reticent.data.catalogue_files import catalogue_of, read_catalogue
from reticent.data.frame_tables import Interactions
from reticent.data.frames import Frame
from reticent.data.interactions import Columns, TableError, find_columns, read_profiles
from reticent.data.labels import ordered, text_of
from reticent.data.profiles import Profiles
from reticent.errors import require
from reticent.guarantees import promises
from reticent.queries.base import Public
from reticent.tasks.charged import Payer

_OWN = {"person": "user", "item": "item"}  # roles, and what data/ calls them
_HINT = "columns says which one it is, as person=NAME or item=NAME"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Held:
    """Profiles; ``weighted`` is whether there is a column of weights."""

    called: str
    profiles: Profiles
    weighted: bool

    @property
    def private(self) -> bool:
        """Whether whatever was drawn into the weights was private."""
        return self.profiles.private

    def __repr__(self) -> str:
        return f"Held({self.called!r})"  # who has what is private


def read(called: str, held: Any, chosen: Mapping[str, str], known: Mapping[str, Any]) -> Held:
    """Profiles of the people and items in ``known``, if they are there."""
    people, items = names(known, "people"), names(known, "items")
    listed = {"people": people, "items": items}
    if isinstance(held, Profiles):
        if people or items:
            held = held.in_catalogue(people or held.people, items or held.items)
        return Held(called, held, weighted=True)
    columns = _columns(chosen)
    if isinstance(held, (str, Path)):
        said: list[str] = []
        found = read_profiles(held, columns, **listed, notice=said.append, hint=_HINT)
        return Held(Path(held).name, found, weighted=not said)
    if isinstance(held, Mapping):
        cells = [_listed(column) for column in held.values()]
        places = find_columns(called, [str(name) for name in held], columns, hint=_HINT)
        who, what = (cells[place] for place in places[:2])
        weights = 1.0 if places[2] is None else cells[places[2]]
        return Held(called, Profiles.of(who, what, weights, **listed), places[2] is not None)
    lines = Interactions.of(held, columns, **listed, hint=_HINT)
    return Held(called, lines.profiles, weighted=lines.weighted)


def find(
    called: str, header: Sequence[str], chosen: Mapping[str, str], lists: Collection[str]
) -> dict[str, str]:
    """The columns of person, item and weight."""
    places = find_columns(called, list(header), _columns(chosen), hint=_HINT, lists=lists)
    named = zip(("person", "item", "weight"), places, strict=True)
    return {role: header[place] for role, place in named if place is not None}


def _listed(cells: Any) -> Any:
    """Columns of other libraries, as lists."""
    return cells.to_list() if hasattr(cells, "to_list") else cells


def read_catalogue_of(called: str, held: Any) -> Catalogue:
    """A catalogue from a file, a frame or columns by name."""
    if isinstance(held, Catalogue):
        return held
    if isinstance(held, (str, Path)):
        return read_catalogue(held)
    if isinstance(held, Mapping):
        columns = [[text_of(cell) or "" for cell in cells] for cells in held.values()]
        return catalogue_of(called, [str(name) for name in held], _lines(columns))
    frame = Frame.of(held)
    texts = [frame.texts(name).tolist() for name in frame.names]
    return catalogue_of(called, [str(name) for name in frame.names], _lines(texts))


def _lines(columns: list[list[str]]) -> list[list[str]]:
    return [list(line) for line in zip(*columns, strict=True)]


def names(known: Mapping[str, Any], table: str) -> list[str] | None:
    """The names that a public table declares, each once, in canonical order; None without it."""
    if table not in known:
        return None
    (cells,) = known[table].columns.values()
    found = {name for name in cells.tolist() if name}
    require(bool(found), table, "an empty table", "a table that names some")
    return ordered(found, table)


def everybody(tables: Mapping[str, Any]) -> Public:
    """Who there is: declared, or whoever has a line; unknown where no profiles were read."""
    declared = names(tables, "people")
    if "profiles" in tables:
        held = tables["profiles"]
        people = list(held.profiles.people)
        if not people:
            why = "no line with a weight above 0 has both a person and an item"
            raise TableError(held.called, f"has no people: {why}")
        return Public(len(people), people, declared is not None, tables)
    if declared is not None:
        return Public(len(declared), declared, True, tables)
    return Public(tables=tables)


def _columns(chosen: Mapping[str, str]) -> Columns:
    """The names of columns that were said; a weight that is named must be there."""
    usual = Columns()
    return Columns(
        chosen.get("person", usual.user),
        chosen.get("item", usual.item),
        chosen.get("weight", usual.weight),
        "weight" not in chosen,
        frozenset(own for role, own in _OWN.items() if role not in chosen),
    )


def unweighted(known: Public) -> tuple[str, ...]:
    """What to say of a table without weights; its columns are public."""
    held = known.tables.get("profiles")
    if held is None or held.weighted:
        return ()
    return (f"{held.called} has no column of weights: every item counts in full, with weight 1",)


def declared(known: Public) -> str:
    """What a card says of who and what is public in a table of profiles."""
    return promises.public_lists(people=known.declared, items="items" in known.tables)


def who(known: Public) -> str:
    """Who is public, in a plan."""
    return "the people who were declared" if known.declared else "who is in the table"


def each(known: Public, limit: int | None, nano: int) -> list[tuple[Payer, int]] | None:
    """Everybody pays the same; None where nobody knows who there is."""
    if known.names is None:
        return None
    return [(Payer(subject=name, limit=limit), nano) for name in known.names]
