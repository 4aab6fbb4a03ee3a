"""A small gateway with people and providers, and a caller that speaks ASGI to the byte."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.gateway import Asked, Gateway, credentials, directory
from reticent.gateway.catalogue_text import catalogue_to_text
from reticent.ledger import Account, Checked, Stale, open_ledger, verify_ledger
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.tasks.learning import Limits, learn_mapping
from reticent.tasks.recoding import Alphabet, Recoding
from reticent.tasks.recoding_files import recoding_to_json

CLUB, ADS = "club.example", "ads.example"
FILMS = Catalogue.of(
    [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 0, 0]],
    attributes=("Crime", "Drama", "Comedy", "Horror"),
    items=("Heat", "Up", "Alien", "Big", "Brazil", "Ran"),
)
ASKS: Mapping[str, Mapping[str, Any]] = {
    CLUB: {
        "histogram": {"epsilon": "0.4", "attributes": {"default": "0.2"}},
        "similarity": {"epsilon": "0.5"},
        "profile": {},
    },
    ADS: {"histogram": {"epsilon": "1", "attributes": {"default": "0.5"}}, "profile": {}},
}
LIMIT_BITS = 0.05


def wishes(
    *,
    epsilon: object = 4,
    total: object = 1000,
    default: object = 4,
    renews: str = "never",
    provider: str = CLUB,
    more: str = "",
) -> str:
    """A preferences file; as it stands it allows the terms in full."""
    lines = ["version = 1"]
    if default is not None:
        lines.append(f"attributes.default = {default}")
    lines += [f'[providers."{provider}"]', f"epsilon = {epsilon}"]
    if total is not None:
        lines.append(f"total = {total}")
    return "\n".join([*lines, f'renews = "{renews}"', more, ""])


@cache
def recoding() -> Recoding:
    """Four profiles of two columns; two of them are mixed to hide incomes."""
    public = np.empty((8, 2), dtype=object)
    public[:] = [["young", "town"], ["young", "land"], ["old", "town"], ["old", "land"]] * 2
    incomes = np.array(["low", "high", "high", "low", "low", "low", "high", "high"])
    limits = Limits(leak_bits=LIMIT_BITS, relative_gap=0.01)
    alphabet = Alphabet.of(public, incomes)
    return learn_mapping(alphabet, limits, columns=("age", "home"), secret="income").recoding


@cache
def mapping_text() -> str:
    return recoding_to_json(recoding())


def fill(
    gateway: Gateway,
    people: Mapping[str, Mapping[str, Any]],
    *,
    asks: Mapping[str, Mapping[str, Any]] = ASKS,
    catalogue: Catalogue = FILMS,
) -> None:
    def work(connection: Any) -> None:
        directory.set_setting(connection, "catalogue", catalogue_to_text(catalogue))
        directory.set_setting(connection, "mapping", mapping_text())
        for name, asked in asks.items():
            directory.set_provider(connection, name, asked)
        for name, told in people.items():
            directory.add_person(connection, name, **told)
        gateway.changed(connection)

    gateway.write(work)


def opened(path: Path, seed: int | None = None) -> Gateway:
    """A gateway on this file; with a seed its coins are known."""
    return Gateway(open_ledger(path), source=None if seed is None else Source.seeded(seed))


def somebody(items: Iterable[str] = ("Heat", "Brazil"), **others: Any) -> dict[str, Any]:
    columns = {"age": "young", "home": "town"}
    return {"items": tuple(items), "columns": columns, "preferences": wishes()} | others


def ask(gateway: Gateway, key: str, subject: str = "ann", **others: Any) -> bytes:
    """What a provider is sent."""
    provider = others.pop("provider", CLUB)
    kind = others.pop("kind", "histogram")
    asked = Asked(kind, subject, key, others.pop("other", None))
    assert not others
    while True:  # as the API does
        with suppress(Stale):
            return gateway.finish(gateway.submit(provider, asked).result().value)


def at_the_last_moment(gateway: Gateway, what: Any) -> list[int]:
    """Let something happen once a draw is on its way to the ledger; how often that was."""
    submit, sent = gateway.ledger.submit, list[int]()

    def late(*given: Any) -> Any:
        sent.append(1)
        if len(sent) == 1:
            what()
        return submit(*given)

    gateway.ledger.submit = late  # type: ignore[method-assign]
    return sent


def value(answer: bytes) -> Any:
    return json.loads(answer)["value"]


def spent(gateway: Gateway, **where: str) -> dict[Account, tuple[int, int]]:
    """Spent and limit by account."""
    with gateway.ledger.reading() as connection:
        return {one.account: (one.spent, one.limit) for one in balances(connection, **where)}


def lines(gateway: Gateway, kind: str | None = None) -> list[tuple[str, str]]:
    """The lines of the ledger, by kind and body."""
    found = gateway.read(lambda c: c.execute("SELECT kind, body FROM line").fetchall())
    return [(row[0], row[1]) for row in found if kind in (None, row[0])]


def checked(gateway: Gateway) -> Checked:
    with gateway.ledger.reading() as connection:
        return verify_ledger(connection, None)


def file_bytes(path: Path) -> bytes:
    """All that is on the disk of a database, its log and lock too."""
    return b"".join(one.read_bytes() for one in sorted(path.parent.glob(f"{path.name}*")))


def token(gateway: Gateway, provider: str = CLUB, **others: Any) -> str:
    made = credentials.new_token()
    gateway.write(lambda c: credentials.add_token(c, made, provider=provider, **others))
    return made


@dataclass(frozen=True)
class Told:
    """An answer as it came over the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __getitem__(self, name: str) -> str:
        (found,) = [text for own, text in self.headers if own == name]
        return found

    def get(self, name: str) -> str | None:
        found = [text for own, text in self.headers if own == name]
        assert len(found) <= 1, f"{name} is there twice"
        return found[0] if found else None

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def visible(self) -> tuple[Any, ...]:
        """All that does not change from one request to the next."""
        rest = tuple(sorted(pair for pair in self.headers if pair[0] != "x-request-id"))
        return self.status, rest, self.body


HOST = "localhost:8000"


async def say(
    app: Any,
    method: str,
    path: str,
    *,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes | list[bytes] = b"",
    host: str | None = HOST,
    query: str = "",
    client: str = "127.0.0.1",
    stall: bool = False,
    hang_up: bool = False,
) -> Told:
    """One request; ``body`` in parts comes chunked, and with ``stall`` its end never comes."""
    from urllib.parse import unquote

    given = [] if host is None else [("host", host)]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii", "ignore"),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), text.encode("latin-1"))
            for name, text in [*given, *headers]
        ],
        "client": (client, 12345),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    parts = [body] if isinstance(body, bytes) else list(body)
    told: dict[str, Any] = {}
    sent: list[bytes] = []
    done = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if parts:
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts) or stall}
        if stall and not hang_up:
            await asyncio.sleep(3600)
        if not hang_up:
            await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert not told, "answered twice"
            told.update(message)
        else:
            assert told, "a body before its status"
            sent.append(message.get("body", b""))
            if not message.get("more_body", False):
                done.set()

    await app(scope, receive, send)
    headers_told = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in told["headers"])
    return Told(told["status"], headers_told, b"".join(sent))


def call(app: Any, method: str, path: str, **others: Any) -> Told:
    return asyncio.run(say(app, method, path, **others))


def together(app: Any, requests: Iterable[Mapping[str, Any]]) -> list[Told]:
    """All at once, in one loop."""

    async def all_of_them() -> list[Told]:
        return await asyncio.gather(*(say(app, **one) for one in requests))

    return asyncio.run(all_of_them())


def asking(
    token: str, key: str, subject: str = "ann", *, kind: str = "histogram", **body: Any
) -> dict[str, Any]:
    """A well-formed request of a provider, for ``call`` and ``together``."""
    return {
        "method": "POST",
        "path": f"/v1/{kind}",
        "headers": [
            ("authorization", f"Bearer {token}"),
            ("idempotency-key", key),
            ("content-type", "application/json"),
        ],
        "body": json.dumps({"subject": subject, **body}).encode(),
    }
