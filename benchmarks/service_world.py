"""A gateway to try things on: a database with people, providers and tokens, made for the run.

Not here  the server in front of it (service_server.py), what is asked of it (service_load.py).

People differ by their number: most allow a little up to a small total, one in eight does not name
the provider, and one in eight has no total.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.gateway import Gateway, credentials, directory
from reticent.gateway.catalogue_text import catalogue_to_text
from reticent.gateway.offers import offers_of, read_asks
from reticent.ledger import Connection
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.queries.public_terms import Subject

PROVIDERS = ("club.example", "shop.example")
ASKS: dict[str, dict[str, Any]] = {
    "histogram": {"epsilon": "0.4", "attributes": {"default": "0.1"}},
    "similarity": {"epsilon": "0.5"},
}
STORES = ("sqlite", "postgres")
FILMS, GENRES, SEEN = 400, 18, 40
_KINDS = 8  # of people: see preferences_of


@dataclass(frozen=True)
class World:
    """Where it is, who is there, and the token of each provider."""

    address: str
    people: tuple[str, ...]
    tokens: Mapping[str, str]


def films() -> Catalogue:
    """A small catalogue, always the same; the first film is of every genre."""
    drawn = np.random.default_rng(1).random((FILMS, GENRES)) < 0.15
    drawn[0] = True
    return Catalogue.of(
        drawn.astype(np.int64),
        attributes=[f"genre {genre}" for genre in range(GENRES)],
        items=[f"film {film}" for film in range(FILMS)],
    )


def preferences_of(number: int, total: str) -> str:
    """The file of a person: named with a total, not named, or without a total."""
    kind = number % _KINDS
    if kind == 0:
        return named("")
    return "version = 1\n" if kind == 1 else named(f"total = {total}\n")


def named(more: str, *, epsilon: str = "0.2") -> str:
    """A file that names every provider."""
    each = (f'[providers."{name}"]\nepsilon = {epsilon}\n{more}' for name in PROVIDERS)
    return "version = 1\nattributes.default = 0.05\n" + "".join(each)


@contextmanager
def database(store: str = "sqlite") -> Iterator[str]:
    """The address of an empty database of its own."""
    if store == "postgres":
        from benchmarks.postgres_server import running

        with running() as server:
            server.execute("CREATE DATABASE gateway")
            yield server.address("gateway")
        return
    with tempfile.TemporaryDirectory(prefix="service-") as made:
        yield str(Path(made) / "gateway.db")


def settle(address: str, *, people: int = 400, total: str = "2") -> World:
    """Put everybody in."""
    return settle_with(
        address, {f"person-{number}": preferences_of(number, total) for number in range(people)}
    )


def settle_with(address: str, files: Mapping[str, str], *, alike: bool = False) -> World:
    """Put people of these names and preferences in; ``alike`` gives all of them one profile."""
    draw = np.random.default_rng(2)
    profile = [f"film {film}" for film in draw.integers(0, FILMS, SEEN)]
    tokens = {name: credentials.new_token() for name in PROVIDERS}
    with Gateway.open(address) as gateway:

        def work(connection: Connection) -> None:
            directory.set_setting(connection, "catalogue", catalogue_to_text(films()))
            for name, token in tokens.items():
                directory.set_provider(connection, name, ASKS)
                credentials.add_token(connection, token, provider=name)
            for name, text in files.items():
                seen = [f"film {film}" for film in draw.integers(0, FILMS, SEEN)]
                items = profile if alike else seen
                directory.add_person(connection, name, items=items, preferences=text)
            gateway.changed(connection)

        gateway.write(work)
    return World(address, tuple(files), tokens)


def warm() -> None:
    """Load compiled code, so that processes forked from here need not; no thread is started."""
    catalogue, file = films(), Preferences.parse(named(""))
    offers = offers_of(PROVIDERS[0], read_asks(ASKS), catalogue, None)
    held = np.ones(len(catalogue), dtype=np.int64)
    for offer in offers.values():
        allowed = offer.terms.allowance(file, PROVIDERS[0], catalogue.places)
        both = [Subject(name, held, {}, allowed) for name in ("one", "other")]
        offer.terms.draw(both[: 1 + (offer.kind == "similarity")], Source.system())
