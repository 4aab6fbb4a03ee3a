"""A film club to look at: people of different temper, three providers, and what already left.

Not here  films, people and the mapping's town (demo_films.py, demo_people.py, demo_town.py).

Everybody is invented and their data is always the same. Releases are drawn from the operating
system like all others, so no two demonstrations show the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from reticent.errors import require
from reticent.gateway import credentials, directory
from reticent.gateway.answers import Asked
from reticent.gateway.catalogue_text import catalogue_to_text
from reticent.gateway.demo_films import FILMS, films
from reticent.gateway.demo_people import ADS, ASSISTANT, CLUB, MEMBERS
from reticent.gateway.service import Gateway

if TYPE_CHECKING:
    from reticent.ledger import Connection

MARK = "demonstration"
ASKS: Mapping[str, Mapping[str, Any]] = {
    CLUB: {
        "histogram": {"epsilon": "0.5", "attributes": {"default": "0.25"}},
        "similarity": {"epsilon": "0.5", "measure": "cosine"},
        "profile": {},
    },
    ADS: {"histogram": {"epsilon": "2", "attributes": {"default": "1"}}},
    ASSISTANT: {"similarity": {"epsilon": "1", "measure": "overlap"}, "profile": {}},
}
FIRST = (
    *((CLUB, "histogram", name, None) for name in ("ann", "bob", "cleo", "dan", "eve", "gita")),
    *((ADS, "histogram", name, None) for name in ("bob", "eve", "kaia")),
    *((ADS, "histogram", "finn", None) for _ in range(4)),  # the total is used up before the last
    (CLUB, "similarity", "ann", "bob"),
    (CLUB, "similarity", "dan", "lars"),
    (ASSISTANT, "similarity", "ines", "bob"),
    (ASSISTANT, "profile", "ines", None),
    (CLUB, "profile", "ann", None),
    (ASSISTANT, "profile", "jon", None),
    (CLUB, "histogram", "ann", None),
)
"""What was asked before anybody looks: provider, kind, person, and with whom they are compared."""


@dataclass(frozen=True, slots=True)
class DemoKeys:
    """Keys of the doors and tokens of the providers, to be shown once."""

    engineer: str = field(repr=False)
    people: Mapping[str, str] = field(repr=False)
    tokens: Mapping[str, str] = field(repr=False)


def seed(gateway: Gateway) -> DemoKeys:
    """Fill an empty gateway; one that holds the demonstration already gets new keys only."""
    marked, filled = gateway.read(_state)
    require(marked or not filled, "database", "one in use", "empty, or of the demonstration")
    if not marked:
        from reticent.gateway.demo_town import mapping
        from reticent.tasks.recoding_files import recoding_to_json

        text = recoding_to_json(mapping())
        gateway.write(partial(_fill, gateway, text))
        _release(gateway, FIRST)
    keys = DemoKeys(
        credentials.secret(),
        {member.name: credentials.secret() for member in MEMBERS},
        {provider: credentials.new_token() for provider in ASKS},
    )
    gateway.write(partial(_open_doors, keys))
    return keys


def _state(connection: Connection) -> tuple[bool, bool]:
    """Whether the demonstration is there, and whether anything is."""
    marked = directory.setting(connection, MARK) is not None
    public = directory.setting(connection, "catalogue") is not None
    return marked, public or bool(directory.people(connection))


def _fill(gateway: Gateway, mapping: str, connection: Connection) -> None:
    directory.set_setting(connection, "catalogue", catalogue_to_text(films()))
    directory.set_setting(connection, "mapping", mapping)
    directory.set_setting(connection, MARK, "1")
    for provider, asks in ASKS.items():
        directory.set_provider(connection, provider, asks)
    titles = tuple(FILMS)
    for member in MEMBERS:
        directory.add_person(
            connection,
            member.name,
            items=[titles[place] for place in member.seen],
            columns=member.public(),
            preferences=member.preferences,
        )
    gateway.changed(connection)


def _release(gateway: Gateway, asked: Iterable[tuple[str, str, str, str | None]]) -> None:
    waiting = [
        gateway.submit(provider, Asked(kind, person, f"demo-{number:012d}", other))
        for number, (provider, kind, person, other) in enumerate(asked, start=1)
    ]
    for one in waiting:
        one.result()


def _open_doors(keys: DemoKeys, connection: Connection) -> None:
    credentials.add_door(connection, keys.engineer, role="engineer")
    for person, key in keys.people.items():
        if directory.version_of(connection, person) is not None:
            credentials.add_door(connection, key, role="person", person=person)
    for provider, token in keys.tokens.items():
        scopes = ASKS[provider].keys()
        credentials.add_token(connection, token, provider=provider, scopes=scopes, days=1)
