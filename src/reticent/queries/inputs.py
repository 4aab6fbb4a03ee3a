"""What a query reads: tables, what their columns are to it, and artefacts.

Not here  how files and frames become what a query reads (binding.py, artefacts.py).

A column has a *role*: what the query calls it. Callers say which column plays it,
``columns={"value": "pay"}``, unless it has the name of its role or one that is as usual.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from reticent.errors import ParameterError, require

FORMS = ".csv, .csv.gz or .parquet with a header line"


class Cells(StrEnum):
    """What the cells of a column are; the type of a column is public, its cells are not."""

    NUMBER = "numbers"
    NAME = "names"
    ANY = "whatever they hold"  # each is compared with what was declared
    TEXT = "text"  # as files hold it; nothing where a cell is missing


@dataclass(frozen=True, slots=True)
class Role:
    """One column. ``sole``: the only column that nothing else claims plays it.

    ``withholds``: a line in which it is no positive number is as if it were not there. ``unread``:
    it is named so that it plays no other role; its cells decide nothing.
    """

    cells: Cells
    help: str
    required: bool = True
    aliases: tuple[str, ...] = ()
    sole: bool = False
    withholds: bool = False
    unread: bool = False


class Input(ABC):
    """Something that a query reads. ``public``: terms may use it; it is read first.

    ``rest`` says, for help, which columns are read besides: those that options of the query, or
    what is public, name. They are roles of the same name in ``Query.reads``.
    """

    __slots__ = ()
    help: str
    roles: Mapping[str, Role]
    public: bool
    required: bool
    forms: str
    rest: str = ""
    usual: str | None = None
    """The file that a command takes if it is there and none is named."""
    several: bool = False
    """Whether a person may have several lines; else each has one."""

    @abstractmethod
    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """What the query gets of a file, a frame, or an object of ours; ``known`` was read first.

        ``called`` is what the query calls it, ``columns`` has the columns of roles.
        """

    def find(
        self,
        called: str,
        names: Sequence[str],
        columns: Mapping[str, str],
        lists: Collection[str] = (),
    ) -> dict[str, str]:
        """The column of each role that is there, of a table with columns of these ``names``.

        ``lists`` are those of them that hold lists.
        """
        raise ParameterError(called, "a table, which can be read batch by batch", "another")

    def decides(self, read: Any) -> Any:
        """What of a public input decides the answer, as plain data: a key is good for no other.

        Nothing of what is private, nor of what the event of a release says anyway.
        """
        return None


@dataclass(frozen=True, slots=True)
class Table(Input):
    """The roles of a table's columns; it is read as a ``Bound``.

    ``ordered``: the order of its rows decides the answer. ``others``: every column that plays no
    role is read, too, as these cells and under its own name. ``condensed``: equal rows may come as
    one, with how often they occur (``Bound.times``). ``adds_up``: the query asks for nothing but
    sums over parts of the table in which the rows of a person are together (``Bound.added_up``).
    """

    help: str
    roles: Mapping[str, Role]
    public: bool = False
    required: bool = True
    forms: str = FORMS
    ordered: bool = False
    rest: str = ""
    others: Cells | None = None
    several: bool = False
    condensed: bool = False
    adds_up: bool = False

    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """See ``Input``."""
        from reticent.queries.binding import read_table

        return read_table(self, called, held, columns)

    def find(
        self,
        called: str,
        names: Sequence[str],
        columns: Mapping[str, str],
        lists: Collection[str] = (),
    ) -> dict[str, str]:
        """See ``Input``."""
        from reticent.queries.binding import find_roles

        return find_roles(called, names, self, columns)

    def decides(self, read: Any) -> Any:
        """The rows of a public table; each once and in no order, unless that matters."""
        if not self.public:
            return None
        columns = [list(map(str, cells.tolist())) for cells in read.columns.values()]
        rows = list(zip(*columns, strict=True))
        return [list(read.columns), *map(list, rows if self.ordered else sorted(set(rows)))]


@dataclass(frozen=True, slots=True)
class ProfilesTable(Input):
    """Who has what; it is read as ``Profiles`` of the people and items that are declared, if any.

    The names of columns are those of ``data.interactions.Columns``.
    """

    help: str = "Who has what."
    roles: Mapping[str, Role] = field(
        default_factory=lambda: {
            "person": Role(Cells.NAME, "Whose line it is.", aliases=("user",)),
            "item": Role(Cells.NAME, "What they have."),
            "weight": Role(
                Cells.NUMBER,
                "How much it may count, 0 to 1; else all of it.",
                required=False,
                withholds=True,
            ),
        }
    )
    public: bool = False
    required: bool = True
    forms: str = f"{FORMS}, or .npz, a CSR matrix of weights,"
    several: bool = True

    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """See ``Input``."""
        from reticent.queries.profile_tables import read

        return read(called, held, columns, known)

    def find(
        self,
        called: str,
        names: Sequence[str],
        columns: Mapping[str, str],
        lists: Collection[str] = (),
    ) -> dict[str, str]:
        """See ``Input``."""
        from reticent.queries.profile_tables import find

        return find(called, names, columns, lists)


@dataclass(frozen=True, slots=True)
class CatalogueTable(Input):
    """Which item has which attribute; it is read as a ``Catalogue``."""

    help: str = "Which item has which attribute; public."
    roles: Mapping[str, Role] = field(default_factory=dict)
    public: bool = True
    required: bool = True
    forms: str = (
        f"{FORMS} and columns item and attribute (and value), or item and one column per attribute"
    )

    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """See ``Input``."""
        from reticent.queries.profile_tables import read_catalogue_of

        return read_catalogue_of(called, held)

    def decides(self, read: Any) -> Any:
        """All of it."""
        return read.sha256


@dataclass(frozen=True, slots=True)
class MappingFile(Input):
    """How profiles are changed to hide a secret; it is read as a ``Recoding``.

    It is an answer of ``kind``, or a ``Recoding`` made in Python.
    """

    kind: str = "mapping"
    help: str = "A mapping, which `reticent release mapping --out` wrote."
    roles: Mapping[str, Role] = field(default_factory=dict)
    public: bool = True
    required: bool = True
    forms: str = ".json"

    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """See ``Input``."""
        from reticent.tasks.recoding import Recoding
        from reticent.tasks.recoding_files import read_recoding

        if getattr(getattr(held, "query", None), "kind", None) == self.kind:
            held = held.value.recoding
        good = isinstance(held, (str, Path, Recoding))
        rule = "an answer of mapping, its file, or a Recoding"
        require(good, called, type(held).__name__, rule)
        return read_recoding(held)

    def decides(self, read: Any) -> Any:
        """All of it."""
        return read.fingerprint


@dataclass(frozen=True, slots=True)
class PreferencesFile(Input):
    """What people allow; it is read as ``Preferences``. What it grants shows in the terms."""

    help: str = "What is allowed."
    roles: Mapping[str, Role] = field(default_factory=dict)
    public: bool = True
    required: bool = False
    forms: str = "a preferences file, .toml"
    usual: str | None = "preferences.toml"

    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """See ``Input``."""
        from reticent.preferences import Preferences

        if isinstance(held, Preferences):
            return held
        rule = "a preferences file, or Preferences"
        require(isinstance(held, (str, Path)), called, type(held).__name__, rule)
        return Preferences.read(held)


@dataclass(frozen=True, slots=True)
class Artefact(Input):
    """A stored answer of a ``kind`` of query, with its card; it is read as an ``Answer``.

    It was released, so it is public.
    """

    kind: str
    help: str
    roles: Mapping[str, Role] = field(default_factory=dict)
    public: bool = True
    required: bool = True
    forms: str = ".json or the folder of a release"

    def read(
        self, called: str, held: Any, columns: Mapping[str, str], known: Mapping[str, Any]
    ) -> Any:
        """See ``Input``."""
        from reticent.queries.artefacts import read_answer

        return read_answer(held, self.kind, called)


CATALOGUE = CatalogueTable()
MAPPING = MappingFile()
PREFERENCES = PreferencesFile()
PROFILES = ProfilesTable()
PEOPLE = Table(
    "The people, which are public: each is in the answer, whatever is in the other table, and "
    "others are left out.  [default: whoever has a line, which says that this is public]",
    {"person": Role(Cells.NAME, "Their name.", sole=True)},
    public=True,
    required=False,
)
ITEMS = Table(
    "The items, which are public; others are left out.  [default: what has a line, which says "
    "that this is public]",
    {"item": Role(Cells.NAME, "Its name.", sole=True)},
    public=True,
    required=False,
)
