"""Files, frames and arrays as the tables that a query declares.

Not here  the declarations (inputs.py), formats of files (data/).

The names and types of columns are public: a column that is missing, or holds text where numbers
are declared, is refused before anything is read. Cells are private: each is read by itself, what
is no number is missing, and no cell is part of an error. A CSV file has no types, so each of its
cells is read as its column is declared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, KeysView, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.frames import NUMBERS, Frame
from reticent.data.interactions import TableError
from reticent.data.labels import text_of
from reticent.data.people_tables import read_people
from reticent.data.text_tables import cell_text
from reticent.errors import require
from reticent.mechanisms.reading import read_reals
from reticent.queries.inputs import Artefact, Cells, Input, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sums: TypeAlias = Callable[["Bound"], NDArray[np.int64]]

_TOGETHER = "person"


class Condensable(ABC):
    """A table on other machines, which bring equal rows together before they are read here."""

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Of its columns."""

    @abstractmethod
    def distinct_rows(self, columns: Sequence[str]) -> tuple[Any, NDArray[np.int64]]:
        """The distinct rows of some columns as a frame, in one order, and how often each occurs."""

    @abstractmethod
    def added_up(
        self,
        columns: Sequence[str],
        together: str | None,
        work: Callable[[Any], NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """The sum of ``work`` over parts, as frames of these columns.

        Rows that agree in the column ``together`` are in one part.
        """


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound:
    """A table whose columns are known by their roles: numbers as floats, names as text or None.

    ``times`` says how often each row occurs, where equal rows were brought together. Rows of a
    table that is not ``numbered`` have no order of their own. ``parts`` adds up where no row is
    here.
    """

    called: str
    columns: Mapping[str, NDArray[Any]]
    rows: int
    times: NDArray[np.int64] | None = None
    numbered: bool = True
    parts: Callable[[Sums], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"Bound({self.called!r}, {len(self.columns)} columns)"  # cells are private

    def __getitem__(self, role: str) -> NDArray[Any]:
        return self.columns[role]

    def __contains__(self, role: str) -> bool:
        return role in self.columns

    def added_up(self, work: Sums) -> NDArray[np.int64]:
        """What ``work`` makes of the table, or the sum of what it makes of its parts."""
        return work(self) if self.parts is None else self.parts(work)

    def repeated(self) -> Bound:
        """Each row as often as it occurs."""
        if self.times is None:
            return self
        columns = {role: np.repeat(cells, self.times) for role, cells in self.columns.items()}
        return replace(self, columns=columns, rows=int(self.times.sum()), times=None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Given:
    """What was given for the inputs of a query, by their names; nothing is read yet."""

    inputs: Mapping[str, Input]
    held: Mapping[str, Any]
    columns: Mapping[str, str]

    @classmethod
    def of(cls, inputs: Mapping[str, Input], data: Any, columns: Mapping[str, str] | None) -> Given:
        """``data`` is what the first input is, or all of them by name."""
        empty = isinstance(data, Mapping) and not data
        given = data if empty or _by_name(inputs, data) else {_meant(inputs, data): data}
        held = {name: one for name, one in given.items() if one is not None}
        return cls(inputs, held, columns or {})

    def and_also(self, **others: Any) -> Given:
        """With inputs that have an argument of their own."""
        more = {name: one for name, one in others.items() if one is not None}
        for name in more:
            rule = "left out: this query has no such input"
            require(name in self.inputs, name, "given", rule)
            require(name not in self.held, name, "given twice", "given once")
        return replace(self, held={**self.held, **more})

    def without(self, name: str) -> Given:
        """As if this input had not been given."""
        return replace(self, held={n: one for n, one in self.held.items() if n != name})

    def public(self) -> dict[str, Any]:
        """What is public, read; terms may use it. Roles that are not known may be known later."""
        return self._read({}, _by_table(self.inputs, self.columns, strict=False), public=True)

    def private(
        self, known: Mapping[str, Any], inputs: Mapping[str, Input] | None = None
    ) -> dict[str, Any]:
        """The rest, read; ``known`` is what is public, ``inputs`` those that it has added to."""
        given = self if inputs is None else replace(self, inputs=inputs)
        return given._read(known, _by_table(given.inputs, self.columns, strict=True), public=False)

    def columns_of(self, table: str, inputs: Mapping[str, Input]) -> Mapping[str, str]:
        """The columns that were said for roles of one table."""
        return _by_table(inputs, self.columns, strict=True).get(table, {})

    def _read(
        self, known: Mapping[str, Any], chosen: Mapping[str, Mapping[str, str]], *, public: bool
    ) -> dict[str, Any]:
        found = {}
        for name, one in self.inputs.items():
            if one.public is public:
                there = name in self.held
                require(there or not one.required, "data", "other tables", f"with {name}")
                if there:
                    found[name] = one.read(name, self.held[name], chosen.get(name, {}), known)
        return found


def _meant(inputs: Mapping[str, Input], data: Any) -> str:
    """What a single thing is: an answer is the artefact of its kind, others the first input."""
    kind = getattr(getattr(data, "query", None), "kind", None)
    found = (name for name, one in inputs.items() if isinstance(one, Artefact) and one.kind == kind)
    return next(found, next(iter(inputs)))


def _by_name(inputs: Mapping[str, Input], data: Any) -> bool:
    """Whether data are tables by name, not columns by name."""
    if not isinstance(data, Mapping) or not data or not data.keys() <= inputs.keys():
        return False
    roles = {role for table in inputs.values() for role in table.roles}
    return not data.keys() <= roles


def _by_table(
    inputs: Mapping[str, Input], columns: Mapping[str, str], *, strict: bool
) -> dict[str, dict[str, str]]:
    """``columns`` by table: a role of the first table that has it, or "table.role"."""
    found: dict[str, dict[str, str]] = {}
    for given, column in columns.items():
        whole = any(given in one.roles for one in inputs.values())  # names of columns have dots
        table, _, role = ("", "", given) if whole else given.rpartition(".")
        owners = [n for n, one in inputs.items() if role in one.roles and table in ("", n)]
        known = ", ".join(f"{n}.{role}" for n, one in inputs.items() for role in one.roles)
        rule = f"roles of columns ({known}); without a table the first that has the role is meant"
        if not owners and not strict:
            continue
        require(len(owners) > 0, "columns", given, rule)
        found.setdefault(owners[0], {})[role] = column
    return found


def read_table(table: Table, name: str, held: Any, chosen: Mapping[str, str]) -> Bound:
    """A table whose columns are known by their roles."""
    if isinstance(held, Condensable):
        return _condensed(table, name, held, chosen)
    columns = _columns(name, table, held, chosen)
    return Bound(columns.called, _roles(columns, table, chosen), len(columns))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Columns:
    """Columns by the name they have, whatever holds them."""

    called: str
    names: Sequence[str]
    held: Any
    untyped: bool = False  # all text, as in a CSV file

    def __len__(self) -> int:
        frame = isinstance(self.held, Frame)
        return len(self.held) if frame else len(next(iter(self.held.values())))

    def cells(self, name: str, cells: Cells) -> NDArray[Any]:
        if isinstance(self.held, Frame):
            column = self.held.named(name)
            if cells is Cells.NUMBER:
                return read_reals(self.held.numbers(column), len(self.held))
            if cells is Cells.TEXT:
                return self.held.texts(column)
            if cells is Cells.NAME and self.held.is_named(column):
                codes, names = self.held.labels(column)
                return np.array([*names, None], dtype=object)[codes]
            found = self.held.cells(column)
        else:
            found = self.held[name]
        if cells is Cells.TEXT:
            return _texts(found)
        if cells is Cells.ANY:
            return _any(found, stripped=self.untyped)
        if cells is Cells.NAME:
            return _names(found)
        text = isinstance(found, np.ndarray) and found.dtype.kind not in "biufO"
        require(not text or self.untyped, "columns", "text", NUMBERS)
        return read_reals(found, len(found))


def _names(cells: Any) -> NDArray[Any]:
    found = np.empty(len(cells), dtype=object)
    found[:] = [text_of(cell) for cell in (cells.tolist() if hasattr(cells, "tolist") else cells)]
    return found


def _texts(cells: Any) -> NDArray[Any]:
    listed = cells.tolist() if hasattr(cells, "tolist") else cells
    return np.array([cell_text(cell) for cell in listed], dtype=np.str_)


def _any(cells: Any, *, stripped: bool) -> NDArray[Any]:
    """Cells of one type as they are, others one by one: none changes how another is read.

    Spaces around text do not count; files are read without them.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biufU":
        return cells if stripped or cells.dtype.kind != "U" else np.char.strip(cells)
    found = np.empty(len(cells), dtype=object)
    listed = cells.tolist() if hasattr(cells, "tolist") else cells
    found[:] = [_one(cell) for cell in listed]
    return found


def _one(cell: Any) -> Any:
    """What a cell holds; several values are none."""
    if isinstance(cell, str):
        return cell.strip()
    return None if isinstance(cell, (list, tuple, dict, np.ndarray)) else cell


def _file(table: Table, path: Path, chosen: Mapping[str, str]) -> _Columns:
    """The columns of a file that are needed, and the names of all."""
    seen: list[str] = []

    def needed(names: Sequence[str]) -> Collection[str]:
        seen.extend(names)
        if table.others is not None:
            return names
        return set(find_roles(path.name, names, table, chosen).values()) or names[:1]

    if path.name.casefold().endswith(".parquet"):
        from importlib import import_module

        whole = import_module("pyarrow.parquet").ParquetDataset(path)
        wanted = list(needed(whole.schema.names))
        return _Columns(path.name, seen, Frame.of(whole.read(columns=wanted)))
    roles = list(table.roles)
    if path.suffix.casefold() == ".txt" and len(roles) == 1:  # a name in each line
        return _Columns(path.name, roles, {roles[0]: _lines(path)}, untyped=True)
    people = read_people(path, empty=True, wanted=needed)  # whether anybody is in it may be private
    return _Columns(path.name, seen, people.columns, untyped=True)


def _columns(name: str, table: Table, held: Any, chosen: Mapping[str, str]) -> _Columns:
    """What a file, a frame, a mapping of columns or one column alone holds."""
    if isinstance(held, (str, Path)):
        return _file(table, Path(held), chosen)
    if isinstance(held, Mapping):
        lengths = {len(cells) for cells in held.values()}
        require(len(lengths) == 1, "data", "others", "columns of one length")
        spelt = [str(one) for one in held]
        require(len(set(spelt)) == len(spelt), "data", "others", "columns of different names")
        return _Columns(name, spelt, dict(zip(spelt, held.values(), strict=True)))
    needed = [role for role, one in table.roles.items() if one.required]
    if isinstance(held, (set, frozenset, KeysView)):  # whose order is none
        held = sorted(held, key=str)
    elif not isinstance(held, np.ndarray) and hasattr(held, "to_list"):  # of pandas or polars
        held = held.to_list()
    if isinstance(held, (list, tuple)) and held and all(isinstance(one, tuple) for one in held):
        fits = all(len(row) == len(needed) for row in held)
        require(fits, "data", "other rows", f"rows of {', '.join(needed)}")
        return _Columns(name, needed, dict(zip(needed, zip(*held, strict=True), strict=True)))
    alone = np.ndim(held) == 1 if isinstance(held, (np.ndarray, list, tuple)) else False
    if alone:
        require(len(needed) == 1, "data", "one column", f"a table with {', '.join(needed)}")
        return _Columns(name, needed, {needed[0]: held})
    frame = Frame.of(held)
    return _Columns(name, [str(one) for one in frame.names], frame)


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise TableError(path.name, "is not text in UTF-8") from None
    return [line.strip() for line in lines if line.strip()]


def find_roles(
    called: str, names: Sequence[str], table: Table, chosen: Mapping[str, str]
) -> dict[str, str]:
    """The column of each role that is there, by the names of columns alone."""
    spelt = {name.strip().casefold(): name for name in names}
    require(len(spelt) == len(names), "data", "others", "columns of different names")
    found: dict[str, str] = {}
    for role, about in table.roles.items():
        wanted = [chosen[role]] if role in chosen else [role, *about.aliases]
        known = [
            spelt[name.strip().casefold()] for name in wanted if name.strip().casefold() in spelt
        ]
        if known:
            found[role] = known[0]
        elif role in chosen:
            raise TableError(called, f"has no column called {chosen[role].strip()!r}")
    left = [name for name in names if name not in found.values()]
    for role, about in table.roles.items():
        if role not in found and about.sole and len(left) == 1:
            found[role] = left.pop()
    for role, about in table.roles.items():
        if about.required and role not in found:
            raise TableError(called, f"has no column called {role!r}: {_say(role)}")
    if len(set(found.values())) < len(found):
        raise TableError(called, "has one column for two roles: name them apart")
    return found


def _roles(held: _Columns, table: Table, chosen: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """The cells of each role that is there."""
    found = find_roles(held.called, held.names, table, chosen)
    read = {
        role: held.cells(name, table.roles[role].cells)
        for role, name in found.items()
        if not table.roles[role].unread
    }
    if table.others is None:
        return read
    own = {role.casefold() for role in table.roles}
    for name in held.names:
        if name not in found.values():
            if name.strip().casefold() in own:
                raise TableError(held.called, f"has a column {name.strip()!r} that is not its role")
            read[name.strip()] = held.cells(name, table.others)
    return read


def _condensed(table: Table, called: str, held: Condensable, chosen: Mapping[str, str]) -> Bound:
    """A table of which the columns that are read are here, and equal rows once."""
    roles = find_roles(called, held.names, table, chosen)
    unread = {name for role, name in roles.items() if table.roles[role].unread}
    wanted = list(roles.values()) if table.others is None else held.names
    if table.adds_up:
        return _apart(table, called, held, roles)
    frame, times = held.distinct_rows([name for name in wanted if name not in unread])
    read = _roles(_Columns(called, held.names, Frame.of(frame)), table, chosen) if wanted else {}
    found = Bound(called, read, len(times), times, numbered=False)
    return found if table.condensed else found.repeated()


def _apart(table: Table, called: str, held: Condensable, roles: Mapping[str, str]) -> Bound:
    """A table of which no row is here: it is asked for sums alone."""
    nothing = np.empty(0)

    def parts(work: Sums) -> NDArray[np.int64]:
        def worked(frame: Any) -> NDArray[np.int64]:
            return work(read_table(table, called, frame, roles))

        return held.added_up(list(roles.values()), roles.get(_TOGETHER), worked)

    return Bound(called, dict.fromkeys(roles, nothing), 0, numbered=False, parts=parts)


def _say(role: str) -> str:
    return f"say which one it is, as columns {role}=NAME"
