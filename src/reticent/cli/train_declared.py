"""A declaration file: columns, their categories or ranges, and the classes, all of them public.

Not here  a form to fill in (train_columns.py), what columns are (tasks/columns.py).

The file belongs to who wrote it, so what stands in it may be repeated. Nothing of a table is.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.cli.failures import Failure

if TYPE_CHECKING:
    from reticent.preferences.lines import KeyPath
    from reticent.preferences.problems import Fault
    from reticent.tasks.columns import Column
    from reticent.tasks.trained_tree import Declared

_USUAL_BINS = 32
_KINDS = ("bounds", "edges", "categories")
_KNOWN = {"columns": (*_KINDS, "bins"), "target": ("classes", "weights")}
_WHY = "what is public is declared in this file and never read from the table"


def form_command(table: Path, target: str | None = None) -> str:
    """The command that prints a form of such a file."""
    aim = [] if target is None else ["--target", target]
    return shlex.join(["reticent", "train", "columns", str(table), *aim])


def read_declared(path: Path, table: Path, target: str, rows: int | None) -> Declared:
    """What a file says of a table; everything that is wrong with it is one sentence."""
    from reticent.preferences.problems import PreferencesError, locate
    from reticent.preferences.syntax import parse_toml, read_text

    form = form_command(table, target)
    try:
        text = read_text(path, str(path))
        data = parse_toml(text, str(path))
    except PreferencesError as error:
        raise Failure(str(error), why=_WHY, next_command=form) from None
    reading = _Reading(target)
    declared = reading.declared(data, rows)
    if declared is None:
        first, *others = map(str, locate(reading.faults, text, str(path)))
        more = f" (and {len(others)} more to correct)" if others else ""
        raise Failure(first + more, why=_WHY, next_command=form)
    return declared


class _Reading:
    """One reading of a file, with what was found to be wrong."""

    def __init__(self, target: str) -> None:
        self.target = target.strip()
        self.faults: list[Fault] = []

    def wrong(self, path: KeyPath, says: str) -> None:
        from reticent.preferences.problems import Fault, dotted

        self.faults.append(Fault(path, f"{dotted(path)} {says}" if path else says))

    def declared(self, data: Mapping[str, Any], rows: int | None) -> Declared | None:
        from reticent.tasks.trained_tree import Declared

        self.known((), data, _KNOWN)
        columns = self.columns(data.get("columns"))
        classes, weights = self.classes(data.get("target"))
        if self.faults:
            return None
        return Declared(columns=columns, classes=classes, rows=rows, weights=weights)

    def known(self, path: KeyPath, held: Mapping[str, Any], names: Iterable[str]) -> None:
        from reticent.preferences.problems import meant

        right = list(names)
        for name in held:
            if name not in right:
                hint = meant(name, right, f"known are {', '.join(right)}")
                self.wrong((*path, name), f"is not known here; {hint}")

    def columns(self, held: Any) -> tuple[Column, ...]:
        if not isinstance(held, dict) or not held:
            self.wrong((), "no column is declared; add [columns.NAME] for each")
            return ()
        found = [self.column(name, one) for name, one in held.items()]
        self.distinct(held)
        return tuple(column for column in found if column is not None)

    def distinct(self, names: Iterable[str]) -> None:
        """Tables are read without regard to capitals, and the target is not one of the columns."""
        seen = {self.target.casefold(): "is what --target names; the tree would copy it: delete it"}
        for name in names:
            folded = name.strip().casefold()
            if folded in seen:
                self.wrong(("columns", name), seen[folded])
            seen.setdefault(folded, "is declared twice; capitals do not matter")

    def column(self, name: str, held: Any) -> Column | None:
        from reticent.errors import ParameterError
        from reticent.preferences.problems import shown
        from reticent.tasks.columns import Column

        path = ("columns", name)
        if not isinstance(held, dict):
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
        elif isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
            self.wrong((*path, "bins"), "must be a whole number, 1 or more")
        values = self.array((*path, kind), held[kind], numbers=kind != "categories")
        if kind == "bounds" and len(values) not in (0, 2):
            self.wrong((*path, kind), "must be two numbers, the lower and the upper end")
        if len(self.faults) > before:
            return None
        try:
            if kind == "categories":
                return Column(name.strip(), categories=values)
            return Column.numbers(name.strip(), values, bins=bins)
        except ParameterError as error:
            self.wrong((*path, kind), f"must be {error.rule}")
            return None

    def classes(self, held: Any) -> tuple[tuple[Any, ...], tuple[float, ...] | None]:
        target = held if isinstance(held, dict) else {}
        self.known(("target",), target, _KNOWN["target"])
        if "classes" not in target:
            self.wrong((), 'no class is declared; add [target] with classes = ["ONE", "ANOTHER"]')
            return (), None
        classes = self.array(("target", "classes"), held["classes"], numbers=False)
        if len(classes) < 2 or len({str(name) for name in classes}) < len(classes):
            self.wrong(("target", "classes"), "must be two or more, distinct")
        weights = held.get("weights")
        return classes, None if weights is None else self.weights(weights, classes)

    def weights(self, held: Any, classes: Sequence[Any]) -> tuple[float, ...]:
        path = ("target", "weights")
        if not isinstance(held, dict):
            self.wrong(path, "must be a number for each class, as { yes = 2, no = 1 }")
            return ()
        self.known(path, held, [str(name) for name in classes])
        for name, weight in held.items():
            if not _is_number(weight) or weight <= 0:
                self.wrong((*path, name), "must be a positive number")
        if self.faults:
            return ()
        return tuple(float(held.get(str(name), 1)) for name in classes)

    def array(self, path: KeyPath, held: Any, *, numbers: bool) -> tuple[Any, ...]:
        """Values as plain Python ones; empty if something is wrong with them."""
        good = isinstance(held, list) and len(held) > 0
        good = good and all(_is_number(v) or (not numbers and _is_word(v)) for v in held)
        if not good:
            rule = "numbers" if numbers else "texts, numbers, true or false"
            self.wrong(path, f"must be an array of {rule}, not empty")
            return ()
        return tuple(_plain(value) for value in held)


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    return number and math.isfinite(value) and abs(value) < Decimal("1e300")


def _is_word(value: Any) -> bool:
    return isinstance(value, (str, bool))


def _plain(value: Any) -> Any:
    """Cells of a table are read without the spaces around them, so those here do not count."""
    if isinstance(value, Decimal):
        return float(value)
    return value.strip() if isinstance(value, str) else value
