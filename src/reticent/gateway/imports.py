"""People taken from files into the gateway: written whole, and only where something is new.

Not here  reading and checking the files (imports_files.py), the catalogue, the mapping and
          providers (imports_public.py).

All files are read and checked before anything is written. What is the same as before changes
nothing, so an import that was interrupted is finished by repeating it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from reticent.gateway import directory
from reticent.gateway.directory import WITHHELD

if TYPE_CHECKING:
    from reticent.gateway.service import Gateway
    from reticent.ledger import Connection

_BATCH = 500  # people in one commit


@dataclass(frozen=True, slots=True)
class Incoming:
    """People as files tell of them: items, columns and preferences by name, each if it is known.

    ``usual`` are the preferences of those who are new and have none of their own.
    """

    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    preferences: Mapping[str, str] = field(default_factory=dict, repr=False)
    usual: str = field(default=WITHHELD, repr=False)

    def names(self) -> list[str]:
        """Everybody, in the order of the files."""
        return list(dict.fromkeys([*self.items, *self.columns, *self.preferences]))


@dataclass(frozen=True, slots=True)
class Imported:
    """How many people were added, changed, or left as they were.

    ``kept`` had other preferences already, which were not replaced.
    """

    added: int = 0
    changed: int = 0
    same: int = 0
    kept: int = 0

    def __add__(self, other: Imported) -> Imported:
        return Imported(
            self.added + other.added,
            self.changed + other.changed,
            self.same + other.same,
            self.kept + other.kept,
        )


def take(
    gateway: Gateway,
    incoming: Incoming,
    *,
    replace: bool = False,
    progress: Callable[[str], None] = lambda step: None,
) -> Imported:
    """Write people, some hundred in each commit; everybody is written whole or not at all.

    Without ``replace``, preferences that people have here stay: they may have chosen since.
    """
    done, names = Imported(), iter(incoming.names())
    while batch := list(islice(names, _BATCH)):
        done += gateway.write(partial(_write, incoming, batch, replace))
        for name in incoming.preferences.keys() & set(batch):
            _replace(gateway, name, incoming.preferences[name], replace)
        progress(f"{done.added + done.changed + done.same:,} people")
    return done


def batches(incoming: Incoming) -> int:
    """How many steps ``take`` has."""
    return -(-len(incoming.names()) // _BATCH)


def _write(
    incoming: Incoming, names: Sequence[str], replace: bool, connection: Connection
) -> Imported:
    done = Imported()
    for name in names:
        done += _write_one(incoming, name, replace, connection)
    return done


def _write_one(incoming: Incoming, name: str, replace: bool, connection: Connection) -> Imported:
    own = incoming.preferences.get(name)
    row = connection.execute(
        "SELECT preferences, columns FROM gateway_person WHERE id = ?", (name,)
    ).fetchone()
    items, columns = incoming.items.get(name), incoming.columns.get(name)
    if row is None:
        text = incoming.usual if own is None else own
        directory.add_person(connection, name, items=items or (), columns=columns, preferences=text)
        return Imported(added=1)
    told, other = json.loads(row[1]), own is not None and own != row[0]
    replace = replace or row[0] == directory.WITHHELD  # who has none cannot lose any
    held = connection.execute("SELECT item FROM gateway_item WHERE person = ?", (name,)).fetchall()
    had = {one[0] for one in held}
    new = (had if items is None else set(items)) != had
    new = new or (told if columns is None else dict(columns)) != told
    if new:
        directory.add_person(
            connection,
            name,
            items=sorted(had) if items is None else items,
            columns=told if columns is None else columns,
        )
    changed = new or (other and replace)
    return Imported(changed=int(changed), same=int(not changed), kept=int(other and not replace))


def _replace(gateway: Gateway, name: str, text: str, replace: bool) -> None:
    """Through the gateway, which raises limits too where a person raises a total."""
    person = gateway.person(name)
    here = person.preferences.text
    if text != here and (replace or here == directory.WITHHELD):
        gateway.set_preferences(name, text, seen=person.version)
