"""People and providers as the gateway knows them: profiles, preferences, what providers ask for.

Not here  budgets (ledger/), what is released (releases.py).

A person has a ``version`` that rises with every change, so that what was worked out of their
profile and preferences can be kept while it holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reticent.errors import ReticentError, require
from reticent.ledger import Guard
from reticent.noise import Source
from reticent.preferences import Preferences

if TYPE_CHECKING:
    from reticent.ledger import Connection

WITHHELD = "version = 1\n"
_TAG_BITS = 128
_LONGEST = 200


class NoSuchPerson(ReticentError):
    """Nobody of that name is here, or not for who asks; both look the same."""

    def __init__(self) -> None:
        super().__init__("there is nobody of that name")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Person:
    """What the gateway holds of one person. ``tag`` names them in keys, and goes with them."""

    id: str
    tag: str
    preferences: Preferences
    columns: Mapping[str, str]
    items: tuple[str, ...]
    version: int


def set_setting(connection: Connection, name: str, value: str) -> None:
    """Keep a public text: the catalogue, the mapping."""
    connection.execute(
        "INSERT INTO gateway_setting VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def setting(connection: Connection, name: str) -> str | None:
    """A public text, if it was set."""
    row = connection.execute("SELECT value FROM gateway_setting WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def add_person(
    connection: Connection,
    person: str,
    *,
    items: Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
    preferences: str = WITHHELD,
) -> None:
    """Add somebody, or give somebody who is here another profile; their preferences stay."""
    named = isinstance(person, str) and 0 < len(person) <= _LONGEST and person.isprintable()
    require(named, "person", "another name", f"up to {_LONGEST} printable characters")
    Preferences.parse(preferences)
    tag = f"{Source.system().bits(_TAG_BITS):032x}"
    told = json.dumps(dict(columns or {}), sort_keys=True)
    connection.execute(
        "INSERT INTO gateway_person VALUES (?, ?, ?, ?, 1) ON CONFLICT (id) DO UPDATE"
        " SET columns = excluded.columns, version = gateway_person.version + 1",
        (person, tag, preferences, told),
    )
    connection.execute("DELETE FROM gateway_item WHERE person = ?", (person,))
    for item in dict.fromkeys(items):
        connection.execute("INSERT INTO gateway_item VALUES (?, ?)", (person, str(item)))


def version_of(connection: Connection, person: str) -> int | None:
    """The version of somebody who is here."""
    row = connection.execute("SELECT version FROM gateway_person WHERE id = ?", (person,))
    found = row.fetchone()
    return None if found is None else int(found[0])


def stamp_of(connection: Connection, person: str) -> tuple[str, int] | None:
    """Tag and version of somebody who is here: who comes back under a name has another tag."""
    if not person.isprintable():  # nobody has such a name, and no store can look for all of them
        return None
    row = connection.execute("SELECT tag, version FROM gateway_person WHERE id = ?", (person,))
    found = row.fetchone()
    return None if found is None else (str(found[0]), int(found[1]))


def guard_of(people: Iterable[Person]) -> Guard:
    """What a release is kept under: these people are here, and as they were."""
    rows = tuple(dict.fromkeys((one.id, one.tag, one.version) for one in people))
    return Guard(table="gateway_person", columns=("id", "tag", "version"), rows=rows)


def find_person(connection: Connection, person: str) -> Person:
    """Everything about one person; ``NoSuchPerson`` if they are not here."""
    row = connection.execute(
        "SELECT tag, preferences, columns, version FROM gateway_person WHERE id = ?", (person,)
    ).fetchone()
    if row is None:
        raise NoSuchPerson
    items = connection.execute(
        "SELECT item FROM gateway_item WHERE person = ? ORDER BY item", (person,)
    ).fetchall()
    wishes = Preferences.parse(row[1], name="your preferences")
    columns = json.loads(row[2])
    return Person(person, row[0], wishes, columns, tuple(one[0] for one in items), int(row[3]))


def people(connection: Connection) -> list[str]:
    """Names of all who are here."""
    rows = connection.execute("SELECT id FROM gateway_person ORDER BY id").fetchall()
    return [row[0] for row in rows]


def set_preferences(connection: Connection, person: str, text: str, *, seen: int) -> int:
    """Keep a new preferences file if nobody changed it since version ``seen``; the new version."""
    done = connection.execute(
        "UPDATE gateway_person SET preferences = ?, version = version + 1"
        " WHERE id = ? AND version = ?",
        (text, person, seen),
    )
    if not done.rowcount:
        raise Changed
    return seen + 1


class Changed(ReticentError):
    """Somebody else changed it first."""

    def __init__(self) -> None:
        super().__init__("your preferences were changed meanwhile; look at them and try again")


def delete_person(connection: Connection, person: str) -> bool:
    """Delete profile, preferences, doors and sessions; whether they were here."""
    done = connection.execute("DELETE FROM gateway_person WHERE id = ?", (person,))
    connection.execute("DELETE FROM gateway_item WHERE person = ?", (person,))
    for table in ("gateway_door", "gateway_session"):
        connection.execute(f"DELETE FROM {table} WHERE person = ?", (person,))  # noqa: S608
    return bool(done.rowcount)


def set_provider(connection: Connection, name: str, asks: Mapping[str, Any]) -> None:
    """Keep what a provider asks for, in public."""
    connection.execute(
        "INSERT INTO gateway_provider VALUES (?, ?, 1) ON CONFLICT (name) DO UPDATE"
        " SET asks = excluded.asks, version = gateway_provider.version + 1",
        (name, json.dumps(dict(asks), sort_keys=True)),
    )


def providers(connection: Connection) -> list[tuple[str, dict[str, Any]]]:
    """All providers by name, with what they ask for."""
    rows = connection.execute("SELECT name, asks FROM gateway_provider ORDER BY name").fetchall()
    return [(row[0], json.loads(row[1])) for row in rows]


def keep_card(connection: Connection, terms: str, provider: str, kind: str, card: str) -> None:
    """Keep the card of terms for as long as an answer may be asked for again."""
    connection.execute(
        "INSERT INTO gateway_terms VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (terms, provider, kind, card),
    )


def card_of(connection: Connection, terms: str) -> str | None:
    """The card of terms, also of terms that hold no more."""
    row = connection.execute("SELECT card FROM gateway_terms WHERE id = ?", (terms,)).fetchone()
    return None if row is None else str(row[0])


def items_of(names: Sequence[str], places: Mapping[str, int]) -> list[int]:
    """Places of items that the catalogue has; all others count for nothing."""
    return [places[name] for name in names if name in places]
