"""What any command printed, as tables: single facts in one, lists of alike things in one each.

Not here  files and which command printed them (runs.py), what has a picture (run_pictures.py).

Where and under which key a release was counted, and what is left of a budget, is its owner's alone
to see, so that is left out; what a card says of it is what may be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from reticent.report.document import Grid

PRIVATE = frozenset(
    [
        *("ledger", "key", "spent", "limit", "left", "missing"),
        *("replayed", "repeated", "allowed"),
    ]
)  # about somebody's budget and where it is kept
_SHOWN = 200  # rows of a table
_LISTED = 12  # values in one cell
_APART = frozenset(["schema", "card", "cards"])


def facts(fields: Mapping[str, Any], *, caption: str, without: Sequence[str] = ()) -> list[Grid]:
    """Tables of all fields but those named; what is nested deeper is left to ``left_out``."""
    kept = {
        name: held for name, held in fields.items() if name not in {*without, *PRIVATE, *_APART}
    }
    single = [row for name, held in kept.items() for row in _single(name, held)]
    grids = [Grid(caption, ("fact", "value"), single)] if single else []
    return grids + [grid for name, held in kept.items() for grid in _alike(name, held)]


def left_out(fields: Mapping[str, Any]) -> list[str]:
    """Names of fields that are nested too deep for a table."""
    return [
        name
        for name, held in fields.items()
        if name not in {*PRIVATE, *_APART}
        and held not in ([], {})
        and not list(_single(name, held))
        and not _alike(name, held)
    ]


def shown(value: object) -> str:
    """One value as text: numbers to six digits, yes and no, none for nothing."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def words(name: str) -> str:
    """The name of a field as words."""
    return name.replace("_", " ")


def is_single(value: object) -> TypeGuard[str | float | None]:
    """Whether this is one value and no collection."""
    return value is None or isinstance(value, (str, bool, int, float))


def _single(name: str, held: object) -> Iterator[tuple[str, str]]:
    if is_single(held):
        yield words(name), shown(held)
    elif isinstance(held, list) and held and all(map(is_single, held)):
        rest = f" and {len(held) - _LISTED:,} more" if len(held) > _LISTED else ""
        yield words(name), ", ".join(map(shown, held[:_LISTED])) + rest
    elif isinstance(held, dict) and _few(held):
        for part, value in held.items():
            yield f"{words(name)}: {words(part)}", shown(value)


def _few(held: Mapping[str, object]) -> bool:
    return 0 < len(held) <= _LISTED and all(map(is_single, held.values()))


def _alike(name: str, held: object) -> list[Grid]:
    """A table of a list of records, of named records, of named lists of them, or of many values."""
    if isinstance(held, list):
        return _records(words(name), [("", row) for row in held], named=False)
    if not isinstance(held, dict) or not held or _few(held):
        return []
    if all(map(is_single, held.values())):
        rows = [(part, shown(value)) for part, value in held.items()]
        return [Grid(_cut(words(name), len(rows)), ("name", "value "), rows[:_SHOWN])]
    if all(isinstance(rows, list) for rows in held.values()):
        pairs = [(part, row) for part, rows in held.items() for row in rows]
        return _records(words(name), pairs, named=True)
    return _records(words(name), list(held.items()), named=True)


def _records(caption: str, rows: Sequence[tuple[str, object]], *, named: bool) -> list[Grid]:
    flat = [(part, row) for part, row in rows if isinstance(row, dict)]
    whole = len(flat) == len(rows) > 0
    if not whole or not all(is_single(value) for _, row in flat for value in row.values()):
        return []
    columns = list(dict.fromkeys(column for _, row in flat for column in row))
    heads = [*(["name"] if named else []), *(_head(column, flat) for column in columns)]
    cells = [
        [*([part] if named else []), *(shown(row.get(column)) for column in columns)]
        for part, row in flat[:_SHOWN]
    ]
    return [Grid(_cut(caption, len(flat)), heads, cells)]


def _head(column: str, rows: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    values = [row.get(column) for _, row in rows]
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    return words(column) + (" " if numbers else "")


def _cut(caption: str, count: int) -> str:
    told = caption[:1].upper() + caption[1:]
    return told if count <= _SHOWN else f"{told}: the first {_SHOWN} of {count:,} rows"
