"""Files about people, read and checked: who has which item, public columns, preferences.

Not here  writing them (imports.py), tables as lines of text (data/text_tables.py).

A file with a mistake is refused, and all its mistakes are told at once, by row and without values.
Rows count from the header, which is row 1, empty ones left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reticent.data.interactions import TableError
from reticent.data.people_tables import in_ranges
from reticent.data.text_tables import read_lines
from reticent.errors import ParameterError, ReticentError, require
from reticent.preferences import Preferences, PreferencesError, find_problems
from reticent.preferences.scanning import LARGEST

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue
    from reticent.tasks.recoding import Recoding

FORMATS = (".csv", ".csv.gz", ".parquet")
USER, ITEM, WEIGHT = "user", "item", "weight"
_LISTED = 50  # mistakes in a message; a caller has them all
_LONGEST = 200


class ImportProblems(ReticentError):
    """Mistakes in a file, all of them; nothing of it was taken."""

    def __init__(self, file: str, problems: Sequence[str]) -> None:
        self.file, self.problems = file, tuple(problems)
        listed = [f"  {one}" for one in self.problems[:_LISTED]]
        rest = len(self.problems) - len(listed)
        listed += [f"  and {rest:,} more"] if rest else []
        super().__init__("\n".join([f"{file} was not imported, and nothing was changed:", *listed]))

    def __reduce__(self) -> tuple[type[ImportProblems], tuple[str, tuple[str, ...]]]:
        return ImportProblems, (self.file, self.problems)


def read_items(
    path: Path, catalogue: Catalogue, notice: Callable[[str], None]
) -> dict[str, tuple[str, ...]]:
    """Who has which item, from a table with the columns user and item."""
    header, lines = _table(path)
    user, item = _place(path, header, USER), _place(path, header, ITEM)
    if WEIGHT in header:
        told = "has a column of weights; those are for people to set, in their preferences"
        raise TableError(path.name, told)
    found: dict[str, dict[str, None]] = {}
    problems: list[str] = []
    unknown: list[int] = []
    for row, line in enumerate(lines, start=2):
        name, thing = line[user].strip(), line[item]
        thing = thing if thing in catalogue.places else thing.strip()
        problems += _name_problems(row, name)
        if not thing:
            problems.append(f"row {row}: there is no item")
        elif thing not in catalogue.places:
            unknown.append(row)
        found.setdefault(name, {})[thing] = None
    if lines and len(unknown) == len(lines):
        problems.append("no row names an item of the catalogue")
    _refuse(path, problems)
    if unknown:
        notice(f"{path.name}: items that the catalogue lacks count for nothing: {_rows(unknown)}")
    return {name: tuple(things) for name, things in found.items()}


def read_columns(path: Path, recoding: Recoding | None) -> dict[str, dict[str, str]]:
    """Public columns, one row per person, with the ranges of the mapping; only those it releases.

    Everything else in the table is left where it is, secrets first.
    """
    require(recoding is not None, "columns", path.name, "left out where there is no mapping")
    assert recoding is not None  # noqa: S101
    header, lines = _table(path)
    user = _place(path, header, USER)
    places = {name: _place(path, header, name.casefold()) for name in recoding.columns}
    seen: dict[str, int] = {}
    problems: list[str] = []
    for row, line in enumerate(lines, start=2):
        name = line[user].strip()
        problems += _name_problems(row, name)
        if name and name in seen:
            problems.append(f"row {row}: names somebody whom row {seen[name]} names too")
        seen.setdefault(name, row)
    _refuse(path, problems)
    widths = {name.casefold(): width for name, width in recoding.widths.items()}
    told = {
        name: _cells([line[place].strip() for line in lines], widths.get(name.casefold()))
        for name, place in places.items()
    }
    return {
        person: {name: cells[at] for name, cells in told.items()} for at, person in enumerate(seen)
    }


def read_usual(path: Path) -> str:
    """One preferences file, for whoever is new and has none."""
    text, problems = _preferences(path)
    _refuse(path, problems)
    return text


def read_folder(
    folder: Path, catalogue: Catalogue, here: Iterable[str], notice: Callable[[str], None]
) -> dict[str, str]:
    """Preferences files named NAME.toml, of people who are here or come with the same import."""
    known, found = set(here), {}
    problems: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        text, wrong = _preferences(path)
        problems += wrong
        if path.stem not in known:
            problems.append(f"{path.name}: there is nobody of that name")
        if not wrong:
            found[path.stem] = text
            names = find_problems(text, attributes=catalogue.attributes, items=catalogue.items)
            for line in [one.line for one in names]:
                notice(f"{path.name}, line {line}: a name that the catalogue lacks protects nobody")
    if not found and not problems:
        problems.append("there is no file named PERSON.toml in it")
    if problems:
        raise ImportProblems(folder.name or str(folder), problems)
    return found


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    if not path.name.casefold().endswith(FORMATS):
        raise ParameterError("table", f"a file named {', '.join(FORMATS)}", path.name)
    header, lines = read_lines(path)
    if not lines:
        raise TableError(path.name, "has no people: there is nothing below the header")
    return [name.strip().casefold() for name in header], lines


def _place(path: Path, header: Sequence[str], name: str) -> int:
    if header.count(name) != 1:
        many = "more than one column" if name in header else "no column"
        raise TableError(path.name, f"has {many} called {name!r}; its first line must be a header")
    return header.index(name)


def _name_problems(row: int, name: str) -> Iterator[str]:
    if not name:
        yield f"row {row}: there is no {USER}"
    elif len(name) > _LONGEST or not name.isprintable():
        yield f"row {row}: the {USER} must have at most {_LONGEST} printable signs"


def _cells(values: list[str], width: float | None) -> list[str]:
    import numpy as np

    return values if width is None else in_ranges(np.array(values, dtype=np.str_), width).tolist()


def _preferences(path: Path) -> tuple[str, list[str]]:
    """The text of a file, and what is wrong with it, without what stands in it."""
    with path.open("rb") as file:
        packed = file.read(LARGEST + 1)
    if len(packed) > LARGEST:
        return "", [f"{path.name}: longer than {LARGEST:,} bytes"]
    try:
        text = packed.decode("utf-8-sig")
        Preferences.parse(text, name=path.name)
    except UnicodeDecodeError:
        return "", [f"{path.name}: not text in UTF-8"]
    except PreferencesError as error:
        hint = "breaks a rule; reticent prefs check tells its owner which"
        return "", [f"{path.name}, line {one.line or '?'}: {hint}" for one in error.problems]
    return text, []


def _refuse(path: Path, problems: Sequence[str]) -> None:
    if problems:
        raise ImportProblems(path.name, problems)


def _rows(rows: Sequence[int]) -> str:
    listed = ", ".join(map(str, rows[:10]))
    rest = f" and {len(rows) - 10:,} more" if len(rows) > 10 else ""
    return f"row{'s' if len(rows) > 1 else ''} {listed}{rest}"
