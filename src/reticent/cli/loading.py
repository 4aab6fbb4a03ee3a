"""Commands whose modules are imported when somebody names them or lists them.

Not here  which commands there are (main.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import typer

from reticent.cli.examples import add_examples


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command or a group of commands is: module.name, within this package."""

    where: str = ""
    """The command or the group; none where ``adds`` makes a command of this name."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Commands that other modules add to a group."""
    adds: str = ""
    """A function that adds more to a group, or the command itself."""
    texts: Mapping[str, Any] = field(default_factory=dict)
    """``help`` or ``short_help``, where it is not the docstring's."""


class Commands(Mapping[str, Any]):
    """Commands by name, in the order of the help. Each is made once, when it is first asked for.

    ``others`` names a function that adds commands which are known only when it is called. It is
    called for a name that no entry has, and to list everything.
    """

    def __init__(self, entries: Mapping[str, Entry], *, others: str) -> None:
        self.entries, self._others = entries, others
        self._made: dict[str, Any] = {}
        self._added: Mapping[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        if name not in self.entries:
            return self._more()[name]
        if name not in self._made:
            self._made[name] = _make(name, self.entries[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self.entries or name in self._more()

    def __iter__(self) -> Iterator[str]:
        yield from self.entries
        yield from (name for name in self._more() if name not in self.entries)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _more(self) -> Mapping[str, Any]:
        if self._added is None:
            app = _empty()
            _named(self._others)(app)
            self._added = _commands(app)
        return self._added


def _make(name: str, entry: Entry) -> Any:
    app = _empty()
    found = _named(entry.where) if entry.where else app
    if isinstance(found, typer.Typer):
        for part, where in entry.parts.items():
            found.command(part)(_named(where))
        if entry.adds:
            _named(entry.adds)(found)
        if found is not app:
            app.add_typer(found, name=name, **entry.texts)
    else:
        app.command(name, **entry.texts)(found)
    return _commands(app)[name]


def _empty() -> typer.Typer:
    return typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)


def _commands(app: typer.Typer) -> Mapping[str, Any]:
    add_examples(app)
    return typer.main.get_group(app).commands


def _named(where: str) -> Any:
    module, _, name = where.partition(".")
    return getattr(import_module(f"reticent.cli.{module}"), name)
