"""A console on a seeded gateway, with everybody who may come to it."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from reticent.console.app import make_app
from reticent.console.limits import Limits
from reticent.gateway import Gateway, credentials
from reticent.gateway.credentials import Session
from tests.unit.gateway.seeded import (
    ADS,
    ASKS,
    Told,
    asking,
    call,
    fill,
    opened,
    somebody,
    token,
    wishes,
)

PLENTY = Limits(
    provider_rate=1e9,
    provider_burst=10**9,
    address_rate=1e9,
    address_burst=10**9,
    door_rate=1e9,
    door_burst=10**9,
    slot_seconds=0.001,
)
OWN = "http://localhost:8000"


@dataclass
class Visitor:
    """Somebody with a browser."""

    made: str
    session: Session
    name: str = "reticent"

    @property
    def cookie(self) -> tuple[str, str]:
        return "cookie", f"{self.name}={self.made}"

    def form(self, **fields: str) -> bytes:
        return urlencode({"form": self.session.form, **fields}).encode()


@dataclass
class Console:
    """The application and all that a test may ask it with."""

    gateway: Gateway
    app: Any
    path: Path
    tokens: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    secure: bool = False

    def call(self, method: str, path: str, **others: Any) -> Told:
        return call(self.app, method, path, **others)

    def ask(self, key: str, subject: str = "ann", *, who: str = "club", **others: Any) -> Told:
        return call(self.app, **asking(self.tokens[who], key, subject, **others))

    def get(self, path: str, who: str = "club", **others: Any) -> Told:
        headers = [("authorization", f"Bearer {self.tokens[who]}")]
        return self.call("GET", path, headers=headers, **others)

    def enter(self, who: str) -> Visitor:
        made = self.gateway.enter(self.keys[who])
        assert made is not None
        session = self.gateway.session(made)
        assert session is not None
        return Visitor(made, session, "__Host-reticent" if self.secure else "reticent")

    def page(self, path: str, visitor: Visitor, **others: Any) -> Told:
        return self.call("GET", path, headers=[visitor.cookie], **others)

    def send(
        self,
        path: str,
        visitor: Visitor,
        *,
        form: bytes | None = None,
        headers: list[tuple[str, str]] | None = None,
        **fields: str,
    ) -> Told:
        """A form as one of our own pages sends it."""
        usual = [("origin", OWN), ("sec-fetch-site", "same-origin")]
        given = [
            visitor.cookie,
            ("content-type", "application/x-www-form-urlencoded"),
            *(usual if headers is None else headers),
        ]
        body = visitor.form(**fields) if form is None else form
        return self.call("POST", path, headers=given, body=body)


def filled(gateway: Gateway, path: Path) -> Console:
    both = wishes() + f'[providers."{ADS}"]\nepsilon = 1\ntotal = 50\n'
    people = {
        "ann": somebody(["Heat", "Brazil"], preferences=both),
        "bob": somebody(["Up", "Ran"], columns={"age": "old", "home": "land"}),
    }
    fill(gateway, people, asks=ASKS)
    made = Console(gateway, make_app(gateway, limits=PLENTY), path)
    made.tokens = {
        "club": token(gateway),
        "ads": token(gateway, ADS),
        "narrow": token(gateway, scopes=["profile"]),
        "expired": token(gateway, days=1),
        "revoked": token(gateway),
    }
    expired = credentials.digest(made.tokens["expired"])
    revoked = credentials.digest(made.tokens["revoked"])[:12]

    def end(connection: Any) -> None:
        connection.execute("UPDATE gateway_token SET expires = 1 WHERE hash = ?", (expired,))
        assert credentials.revoke(connection, revoked)

    gateway.write(end)
    for who in ("ann", "bob", "engineer"):
        made.keys[who] = credentials.secret()
        role, person = ("engineer", "") if who == "engineer" else ("person", who)

        def door(c: Any, key: str = made.keys[who], role: Any = role, person: str = person) -> None:
            credentials.add_door(c, key, role=role, person=person)

        gateway.write(door)
    return made


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Console:
    """The file of a gateway with everybody in it, and their keys: tests have copies of it."""
    path = tmp_path_factory.mktemp("template") / "gateway.db"
    with opened(path) as gateway:
        return filled(gateway, path)


@pytest.fixture
def make_console(tmp_path: Path, template: Console) -> Iterator[Callable[..., Console]]:
    """A console with other limits, over TLS, or with known coins."""
    held: list[Gateway] = []

    def make(*, seed: int | None = None, limits: Limits = PLENTY, secure: bool = False) -> Console:
        path = tmp_path / f"gateway{len(held)}.db"
        shutil.copy(template.path, path)
        held.append(opened(path, seed))
        app = make_app(held[-1], limits=limits, secure=secure)
        tokens, keys = dict(template.tokens), dict(template.keys)
        return Console(held[-1], app, path, tokens, keys, secure=secure)

    yield make
    for gateway in held:
        gateway.close()


@pytest.fixture
def console(make_console: Callable[..., Console]) -> Console:
    return make_console()
