"""P17: nothing private in logs, errors, engineers' pages or files that are left behind.

Strings that stand nowhere else are planted as names, items, columns, comments, keys and tokens;
then every success and every failure is gone through, over a real server too.
"""

import asyncio
import logging
import socket
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from reticent.console.app import make_app
from reticent.gateway import credentials
from reticent.gateway.directory import set_preferences
from tests.integration.service_routes import ENGINEER, OPERATIONS, PERSON, VERBS, address, pages
from tests.unit.console.conftest import PLENTY, Console, filled
from tests.unit.gateway.seeded import ADS, CLUB, Told, asking, call, fill, opened, somebody, wishes

NAME, OTHER = "qvjx1-ann", "qvjx2-bob"
ITEM, COLUMN, COMMENT, KEY = "qvjx3-item", "qvjx4-value", "qvjx5-comment", "qvjx6-key"
HALF = "qvjx-half"  # where somebody hangs up
PRIVATE = (NAME, OTHER, ITEM, COLUMN, COMMENT, KEY, "qvjx")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go, all of them."""
    made = tmp_path / "scratch"
    made.mkdir()
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(made))
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


@pytest.fixture
def console(tmp_path: Path, scratch: Path) -> Iterator[Console]:
    path = tmp_path / "data" / "gateway.db"
    path.parent.mkdir()
    with opened(path) as gateway:
        made = filled(gateway, path)
        text = (
            wishes() + f'[providers."{ADS}"]\nepsilon = 1\n# {COMMENT}\n[items]\n"{ITEM}" = 0.5\n'
        )
        columns = {"age": COLUMN, "home": "town", COLUMN: COLUMN}
        people = {
            NAME: somebody(["Heat", ITEM], columns=columns, preferences=text),
            OTHER: somebody(["Up", ITEM], columns=columns, preferences=text),
        }
        fill(gateway, people)
        for who, name in (("ann", NAME), ("bob", OTHER)):
            gateway.forget(who)
            made.keys[who] = credentials.secret()

            def door(c: Any, key: str = made.keys[who], name: str = name) -> None:
                credentials.add_door(c, key, role="person", person=name)

            gateway.write(door)
        yield made


def secrets(console: Console, *more: str) -> list[str]:
    return [*console.keys.values(), *console.tokens.values(), *more]


class Everything(logging.Handler):
    """Every record of every logger, as text, with what it carries along."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())
        self.told.append(repr(record.args))
        if record.exc_info and record.exc_info[1] is not None:
            self.told += traceback.format_exception(record.exc_info[1])

    @property
    def text(self) -> str:
        return "\n".join(self.told)


@pytest.fixture
def logs() -> Iterator[Everything]:
    held = Everything()
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(held)
    quiet = [
        logging.getLogger(name)
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio")
    ]
    kept = [(one, one.propagate, one.level) for one in quiet]
    for one in quiet:
        one.propagate, one.level = True, logging.DEBUG
    yield held
    root.removeHandler(held)
    root.setLevel(before)
    for one, propagate, level in kept:
        one.propagate, one.level = propagate, level


def hits(text: str | bytes, *words: str) -> list[str]:
    whole = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return [word for word in words if word.encode() in whole]


def provider_paths(console: Console) -> Iterator[Told]:
    """Every way that a provider's request can go, with canaries wherever they fit."""
    club = console.tokens["club"]
    for kind, other in (("histogram", {}), ("profile", {}), ("similarity", {"other": OTHER})):
        good = asking(club, f"{KEY}-{kind}", NAME, kind=kind, **other)
        yield call(console.app, **good)
        yield call(console.app, **good)  # again
        yield call(
            console.app,
            **asking(club, f"{KEY}-{kind}", OTHER, kind=kind, **({"other": NAME} if other else {})),
        )
        for who in console.tokens:
            yield call(
                console.app,
                **asking(console.tokens[who], f"{KEY}-{who}-{kind}", NAME, kind=kind, **other),
            )
        for body in (
            b"",
            b'{"subject": "qvjx1-ann"',
            b'{"subject": "qvjx1-ann", "qvjx": 1}',
            b"\xff qvjx",
            b"[" * 30_000,
        ):
            yield call(console.app, **{**good, "body": body})
        yield call(
            console.app,
            **{**good, "body": b'{"subject": "qvjx1-ann", "x": "' + b"q" * 40_000 + b'"}'},
        )
        yield call(console.app, **{**good, "headers": good["headers"][:-1]})
        yield call(console.app, **{**good, "headers": [*good["headers"], ("idempotency-key", KEY)]})
        yield call(console.app, **{**good, "host": "qvjx.example"})
        yield call(console.app, **asking(club, f"{KEY} odd!", NAME, kind=kind, **other))
        yield call(console.app, **asking(club, f"{KEY}-nobody", "qvjx-nobody", kind=kind, **other))
        yield call(console.app, **asking("rtc_qvjx", f"{KEY}-none", NAME, kind=kind, **other))
    for path in (
        f"/v1/releases/{KEY}-histogram",
        f"/v1/releases/{KEY}-none",
        f"/v1/{NAME}",
        f"/{NAME}",
    ):
        yield console.get(path)
        yield console.call("DELETE", path)


def fail(console: Console, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """The same with something broken at each step, whose message is full of canaries."""

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"{NAME} {ITEM} {COLUMN} {COMMENT} {list(console.keys.values())}")

    for owner, name in (
        (console.gateway, "read"),
        (console.gateway, "answered"),
        (console.gateway, "submit"),
        (console.gateway, "finish"),
        (console.gateway, "_draw"),
        (console.gateway._memory, "known"),
        (console.gateway, "caller"),
        (console.gateway.ledger, "submit"),
        (console.gateway.ledger, "reading"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, broken)
            yield console.ask(f"{KEY}-broken", NAME)
            yield console.get(f"/v1/releases/{KEY}-histogram")
            yield console.call("GET", "/me", headers=[("cookie", "reticent=x")])


def expose(told: Told) -> list[str]:
    """What is in an error, or in the headers of any answer."""
    if told.status < 400 and told["content-type"].startswith("application/json"):
        return hits(repr(told.headers), *PRIVATE)  # an answer repeats what was asked
    return hits(told.body + repr(told.headers).encode(), *PRIVATE)


def test_no_log_and_no_error_tells_anything(
    console: Console, logs: Everything, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [*provider_paths(console), *fail(console, monkeypatch)]
    statuses = {one.status for one in told}
    assert {200, 400, 401, 403, 404, 405, 409, 413, 415, 422, 500} <= statuses
    assert [expose(one) for one in told if expose(one)] == []
    assert [
        hits(one.body, *secrets(console)) for one in told if hits(one.body, *secrets(console))
    ] == []
    assert len(logs.told) > len(told)
    assert hits(logs.text, *PRIVATE, *secrets(console)) == []
    assert [one for one in scratch.rglob("*") if one.is_file()] == []


def test_no_page_of_an_engineer_tells_of_anybody(console: Console, logs: Everything) -> None:
    for kind, other in (("histogram", {}), ("profile", {}), ("similarity", {"other": OTHER})):
        assert console.ask(f"{KEY}-{kind}", NAME, kind=kind, **other).status == 200
    engineer = console.enter("engineer")
    found, shown = [], 0
    for role, path in pages():
        if role != ENGINEER:
            continue
        for query in ("", f"provider={CLUB}", f"provider={ADS}&epsilon=1", f"item={ITEM}"):
            told = console.page(path, engineer, query=query)
            assert told.status < 500, (path, query)
            shown += told.status == 200
            asked = {ITEM, "qvjx"} if ITEM in query else set()  # what was typed may be given back
            found += [(path, one) for one in hits(told.body, *PRIVATE) if one not in asked]
    for (method, path), (role, _) in OPERATIONS.items():
        if method == "POST" and role == ENGINEER:
            told = console.send(path, engineer, provider=CLUB, name="x")
            assert told.status < 500, path
            found += [(path, one) for one in hits(told.body, *PRIVATE)]
    assert shown > 5
    assert found == []
    assert hits(logs.text, *PRIVATE, *secrets(console)) == []


def test_pages_of_people_leave_nothing_in_the_log(
    console: Console, logs: Everything, scratch: Path
) -> None:
    ann = console.enter("ann")
    seen = b""
    for role, path in pages():
        visitor = ann if role == PERSON else console.enter("engineer")
        told = console.page(path, visitor, query=f"q={ITEM}&done={NAME}")
        assert told.status < 500, path
        seen += told.body
    for verb in VERBS:
        console.call(verb, f"/me/{NAME}", headers=[ann.cookie])
        console.call(verb, address("/me/who/{provider}/{attribute}", provider=NAME, attribute=ITEM))
    for path in sorted(
        {path for (verb, path), (role, _) in OPERATIONS.items() if (verb, role) == ("POST", PERSON)}
    ):
        told = console.send(
            address(path), ann, text=f"# {COMMENT}\nbroken", item=ITEM, version="x", q=ITEM
        )
        assert told.status < 500, path
    console.call("GET", "/enter", query=f"key={console.keys['ann']}")
    console.call("GET", "/enter", query=f"key={console.keys['ann']}x")
    assert hits(seen, ITEM, COMMENT)  # the control: her own pages do show them
    assert hits(logs.text, *PRIVATE, *secrets(console, ann.made, ann.session.form)) == []
    assert [one for one in scratch.rglob("*") if one.is_file()] == []


def test_what_cannot_be_read_any_more_is_not_told(console: Console, logs: Everything) -> None:
    """Preferences that a newer version has written, or that were damaged on the disk."""
    broken = f"version = 99\n# {COMMENT}\n{ITEM} = \n"
    console.gateway.write(lambda c: set_preferences(c, NAME, broken, seen=1))
    ann = console.enter("ann")
    assert hits(console.ask(f"{KEY}-1", NAME).body, *PRIVATE) == []
    told = [console.page("/me", ann), console.page("/me/file", ann)]
    others = [OTHER, ITEM, COLUMN, COMMENT, KEY]  # her own pages say who is signed in
    assert all(hits(one.body, *others) == [] for one in told)
    assert hits(logs.text, *PRIVATE) == []


def test_a_planted_leak_is_found(
    console: Console, logs: Everything, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: one line in a log, one in an error, one file, and all three are seen."""
    submit = console.gateway.submit

    def leaky(provider: str, asked: Any) -> Any:
        logging.getLogger("somewhere").debug("asked for %s", asked.subject)
        (scratch / "cache").write_text(asked.subject)
        return submit(provider, asked)

    monkeypatch.setattr(console.gateway, "submit", leaky)
    console.ask(f"{KEY}-1", NAME)
    assert NAME in hits(logs.text, *PRIVATE)
    assert [one.name for one in scratch.rglob("*") if one.is_file()] == ["cache"]
    assert expose(Told(404, (("content-type", "application/problem+json"),), NAME.encode()))


# A real server


@contextmanager
def running(server: Any) -> Iterator[Callable[[str], bytes]]:
    """A server in a thread, and a way to send it bytes."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()
    for _ in range(400):
        if server.started:
            break
        time.sleep(0.05)

    def speak(text: str) -> bytes:
        found = b""
        with socket.create_connection(("127.0.0.1", port), timeout=3) as wire:
            wire.sendall(text.encode())
            if text.endswith(HALF):
                return found
            with suppress(TimeoutError, ConnectionResetError):
                while part := wire.recv(65536):
                    found += part
        return found

    try:
        yield speak
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def test_a_server_with_a_log_of_its_own_is_caught(console: Console, logs: Everything) -> None:
    """The control: uvicorn's own log has the whole address, and so the key of a door."""
    app = make_app(console.gateway, limits=PLENTY)
    config = uvicorn.Config(app, access_log=True, log_config=None, lifespan="off", ws="none")
    key = console.keys["ann"]
    with running(uvicorn.Server(config)) as speak:
        speak(f"GET /enter?key={key} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    assert hits(logs.text, key) == [key]


def test_a_real_server_logs_nothing_private(console: Console, logs: Everything) -> None:
    """As ``reticent serve`` starts it."""
    from reticent.cli.serve import _server
    from reticent.cli.serve_place import Place

    with running(_server(console.gateway, Place("127.0.0.1", (), False), "127.0.0.1")) as speak:
        told = spoken(console, speak)
    first = {name: text.split(b"\r\n")[0] for name, text in told.items()}
    for name in ("door", "whole", "chunked"):
        assert b" 200 " in first[name], name
    for name in ("odd", "no host", "two hosts"):
        assert b" 200 " not in first[name], name
    assert b" 101 " not in first["websocket"]
    assert b" 431 " in first["long"]
    for name, text in told.items():
        if name not in ("whole", "chunked", "smuggled"):
            assert hits(text, *PRIVATE) == [], name
        assert b"server:" not in text.lower()
    assert "/enter 200" in logs.text
    assert " 500 " not in logs.text
    assert hits(logs.text, *PRIVATE, *secrets(console)) == []


def spoken(console: Console, speak: Callable[[str], bytes]) -> dict[str, bytes]:
    key, token = console.keys["ann"], console.tokens["club"]
    host = "host: localhost\r\nconnection: close\r\n"
    body = f'{{"subject": "{NAME}"}}'
    asked = (
        f"POST /v1/histogram HTTP/1.1\r\n{host}authorization: Bearer {token}\r\n"
        f"idempotency-key: {KEY}-server\r\ncontent-type: application/json\r\n"
    )
    whole = f"{asked}content-length: {len(body)}\r\n\r\n{body}"
    chunked = f"{asked}transfer-encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\n"
    return {
        "door": speak(f"GET /enter?key={key} HTTP/1.1\r\n{host}\r\n"),
        "whole": speak(whole),
        "chunked": speak(chunked),
        "cut": speak(whole.partition(NAME)[0] + HALF),
        "odd": speak(f"GET /{NAME} {ITEM} HTTP/9.9\r\n\x00{host}\r\n"),
        "smuggled": speak(
            f"{asked}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{NAME}"
        ),
        "no host": speak(f"GET /{NAME} HTTP/1.1\r\nconnection: close\r\n\r\n"),
        "long": speak(f"GET /{NAME} HTTP/1.1\r\n{host}x: {'x' * 20_000}"),
        "two hosts": speak(f"GET /{NAME} HTTP/1.1\r\nhost: evil.example\r\n{host}\r\n"),
        "no body": speak(f"GET /v1/releases/{KEY}-server HTTP/1.1\r\n{host}\r\n"),
        "websocket": speak(
            f"GET /{NAME} HTTP/1.1\r\nhost: localhost\r\n"
            "connection: upgrade, close\r\nupgrade: websocket\r\n"
            f"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
        ),
    }
