"""What is declared about a table for a tree: columns, their ranges or categories, the classes.

Not here  a form to fill in (cli/data_columns.py), what columns are (columns.py).

It is a mapping, or a TOML file of the same form. It belongs to who wrote it, so what stands in it
may be repeated. Nothing of a table is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from reticent.errors import DeclarationError, ParameterError
from reticent.preferences.lines import KeyPath
from reticent.preferences.problems import (
    Fault,
    PreferencesError,
    dotted,
    locate,
    meant,
    shown,
)
from reticent.preferences.syntax import parse_toml, read_text
from reticent.tasks.columns import Column
from reticent.tasks.trained_tree import Declared

Declaration: TypeAlias = Declared | Mapping[str, Any] | str | Path
"""What may be given: a declaration, plain data, or a TOML file."""

_USUAL_BINS = 32
_MANY = 1 << 17  # bins, of which a column takes fewer anyway
_LARGEST = 1e300
_WORDS = {"true": True, "false": False}
_KINDS = ("bounds", "edges", "categories")
_KNOWN = {"columns": (*_KINDS, "bins"), "target": ("classes", "weights")}


def read_declaration(given: Declaration, name: str) -> Declared:
    """What is declared; everything that is wrong with it is one sentence."""
    if isinstance(given, Declared):
        return _checked(given, name)
    if isinstance(given, Mapping):
        return _read(given, name, "")
    if not isinstance(given, (str, Path)):
        raise DeclarationError(f"{name} must be a mapping or a TOML file")
    try:
        text = read_text(Path(given), str(given))
        data = parse_toml(text, str(given))
    except PreferencesError as error:
        raise DeclarationError(str(error)) from None
    return _read(data, str(given), text)


def plain_declaration(declared: Declared) -> dict[str, Any]:
    """As a mapping of which ``read_declaration`` makes an equal value."""
    target: dict[str, Any] = {"classes": list(declared.classes)}
    if declared.weights is not None:
        named = zip(declared.classes, declared.weights, strict=True)
        target["weights"] = {str(label): weight for label, weight in named}
    return {
        "columns": {column.name: _plain_column(column) for column in declared.columns},
        "target": target,
    }


def _plain_column(column: Column) -> dict[str, Any]:
    """Bins of one width as bounds, which is shorter."""
    if column.categories:
        return {"categories": list(column.categories)}
    ends, bins = [column.edges[0], column.edges[-1]], len(column.edges) - 1
    if Column.numbers(column.name, ends, bins=bins).edges == column.edges:
        return {"bounds": ends, "bins": bins}
    return {"edges": list(column.edges)}


def _checked(declared: Declared, name: str) -> Declared:
    """One that was made in Python, if it could be written down."""
    held = [*declared.classes, *(one for column in declared.columns for one in column.categories)]
    if not all(_is_word(value) or _is_number(value) for value in held):
        raise DeclarationError(
            f"{name}: categories and classes must be texts, numbers, true, false"
        )
    return declared


def _read(data: Mapping[str, Any], called: str, text: str) -> Declared:
    reading = _Reading()
    found = reading.declared(data)
    if found is None:
        first, *others = map(str, locate(reading.faults, text, called))
        raise DeclarationError(first + (f" (and {len(others)} more to correct)" if others else ""))
    return found


class _Reading:
    """One reading of a declaration, with what was found to be wrong."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def wrong(self, path: KeyPath, says: str) -> None:
        self.faults.append(Fault(path, f"{dotted(path)} {says}" if path else says))

    def declared(self, data: Mapping[str, Any]) -> Declared | None:
        self.known((), data, _KNOWN)
        columns = self.columns(data.get("columns"))
        classes, weights = self.classes(data.get("target"))
        if self.faults:
            return None
        return Declared(columns=columns, classes=classes, weights=weights)

    def known(self, path: KeyPath, held: Mapping[str, Any], names: Iterable[str]) -> None:
        right = list(names)
        for name in held:
            if name not in right:
                hint = meant(str(name), right, f"known are {', '.join(right)}")
                self.wrong((*path, str(name)), f"is not known here; {hint}")

    def columns(self, held: Any) -> tuple[Column, ...]:
        if not isinstance(held, Mapping) or not held:
            self.wrong((), "no column is declared; add [columns.NAME] for each")
            return ()
        found = [self.column(str(name), one) for name, one in held.items()]
        seen = set()
        for name in map(str, held):  # tables are read without regard to capitals
            if name.strip().casefold() in seen:
                self.wrong(("columns", name), "is declared twice; capitals do not matter")
            seen.add(name.strip().casefold())
        return tuple(column for column in found if column is not None)

    def column(self, name: str, held: Any) -> Column | None:
        path = ("columns", name)
        if not isinstance(held, Mapping):
            self.wrong(path, f"must be a table with bounds, edges or categories, got {shown(held)}")
            return None
        before = len(self.faults)
        self.known(path, held, _KNOWN["columns"])
        kinds = [kind for kind in _KINDS if kind in held]
        if len(kinds) != 1 or not name.strip():
            self.wrong(path, "needs a name and one of bounds, edges and categories")
            return None
        kind = kinds[0]
        bins = held.get("bins", _USUAL_BINS)
        if "bins" in held and kind != "bounds":
            self.wrong((*path, "bins"), "goes with bounds only")
        elif isinstance(bins, bool) or not isinstance(bins, int) or not 0 < bins < _MANY:
            self.wrong((*path, "bins"), f"must be a whole number, 1 or more, below {_MANY:,}")
        values = self.array((*path, kind), held[kind], numbers=kind != "categories")
        if kind == "bounds" and len(values) not in (0, 2):
            self.wrong((*path, kind), "must be two numbers, the lower and the upper end")
        if len(self.faults) > before:
            return None
        try:
            if kind == "categories":
                return Column(name.strip(), categories=values)
            return Column.numbers(name.strip(), values, bins=bins if kind == "bounds" else 1)
        except ParameterError as error:
            self.wrong((*path, kind), f"must be {error.rule}")
            return None

    def classes(self, held: Any) -> tuple[tuple[Any, ...], tuple[float, ...] | None]:
        target = held if isinstance(held, Mapping) else {}
        self.known(("target",), target, _KNOWN["target"])
        if "classes" not in target:
            self.wrong((), 'no class is declared; add [target] with classes = ["ONE", "ANOTHER"]')
            return (), None
        classes = self.array(("target", "classes"), target["classes"], numbers=False)
        if len({str(name) for name in classes}) < len(classes):
            self.wrong(("target", "classes"), "must be distinct")
        weights = target.get("weights")
        return classes, None if weights is None else self.weights(weights, classes)

    def weights(self, held: Any, classes: Sequence[Any]) -> tuple[float, ...]:
        path = ("target", "weights")
        if not isinstance(held, Mapping):
            self.wrong(path, "must be a number for each class, as { yes = 2, no = 1 }")
            return ()
        self.known(path, held, [str(name) for name in classes])
        for name, weight in held.items():
            if not _is_number(weight) or weight <= 0:
                self.wrong((*path, str(name)), "must be a positive number")
        if self.faults:
            return ()
        return tuple(float(held.get(str(name), 1)) for name in classes)

    def array(self, path: KeyPath, held: Any, *, numbers: bool) -> tuple[Any, ...]:
        """Values as plain Python ones; empty if something is wrong with them."""
        good = isinstance(held, (list, tuple)) and len(held) > 0
        good = good and all(_is_number(v) or (not numbers and _is_word(v)) for v in held)
        if not good:
            rule = "numbers" if numbers else "texts, numbers, true or false"
            self.wrong(path, f"must be an array of {rule}, not empty")
            return ()
        return tuple(_plain(value) for value in held)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    return (isinstance(value, int) or math.isfinite(value)) and -_LARGEST < value < _LARGEST


def _is_word(value: Any) -> bool:
    return isinstance(value, (str, bool))


def _plain(value: Any) -> Any:
    """Cells of a table are read without the spaces around them, so those here do not count."""
    if isinstance(value, Decimal):
        return float(value)
    return value.strip() if isinstance(value, str) else value


def as_declared(values: np.ndarray[Any, Any], declared: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Cells that are text as numbers, if all that is declared are numbers: "1.0" is 1.

    >>> as_declared(np.array(["1.0", "x"]), (0, 1)).tolist()
    [1.0, 'x']
    """
    numbers = bool(declared) and all(isinstance(value, (int, float)) for value in declared)
    if not numbers or values.dtype.kind not in "UO":
        return values
    known: dict[str, object] = {}
    found = np.empty(len(values), dtype=object)
    found[:] = [_as_number(cell, known) for cell in values.tolist()]
    return found


def _as_number(cell: Any, known: dict[str, object]) -> object:
    """Text as the number it spells, or as it is."""
    if isinstance(cell, Decimal):
        return float(cell)
    if not isinstance(cell, str):
        return cell
    if cell not in known:
        known[cell] = _spelt(cell)
    return known[cell]


def _spelt(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _WORDS.get(text.casefold(), text)
