"""What every request passes: host, size, time; and what fails without telling why."""

import asyncio
import logging
import time
from typing import Any

import pytest

from reticent.console.app import make_app
from reticent.console.guards import Guard
from reticent.console.limits import Limits
from tests.unit.gateway.seeded import asking, call, lines

from .conftest import PLENTY

GOOD = [
    "localhost",
    "localhost:8000",
    "127.0.0.1",
    "127.0.0.1:1",
    "[::1]",
    "[::1]:65535",
    "LOCALHOST",
]
BAD = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "evil.example/localhost",
    "localhost:80@evil.example",
    "localhost:evil",
    "localhost:",
    "localhost:8000:8000",
    "localhost:123456",
    "localhost:-1",
    "localhost:[",
    "localhost:/../x",
    "localhost:#",
    "localhost:٣",
    "user@localhost",
    " localhost",
    "localhost ",
    "localhost.",
    "localhost\t",
    "::1",
    "[::1",
    "[::1]x",
    "127.0.0.1.nip.io",
    "127.1",
    "0.0.0.0",
    "",
]


@pytest.mark.parametrize("host", GOOD)
def test_its_own_names_are_taken(console: Any, host: str) -> None:
    assert console.call("GET", "/v1/terms", host=host).status == 401


@pytest.mark.parametrize("host", BAD)
@pytest.mark.parametrize("path", ["/v1/terms", "/", "/nothing", "/static/htmx.min.js", "/enter/"])
def test_other_hosts_are_refused(console: Any, host: str, path: str) -> None:
    """Also a name that an attacker points at this machine: DNS rebinding."""
    try:
        host.encode("latin-1")
    except UnicodeEncodeError:
        host = host.encode().decode("latin-1")
    told = console.call("GET", path, host=host)
    assert told.status == 400
    assert host.strip() == "" or host.encode() not in told.body
    assert told.get("location") is None


def test_no_host_and_two_hosts_are_refused(console: Any) -> None:
    assert console.call("GET", "/v1/terms", host=None).status == 400
    for more in ("localhost", "evil.example"):
        assert console.call("GET", "/v1/terms", headers=[("host", more)]).status == 400


@pytest.mark.parametrize("header", ["x-forwarded-host", "forwarded", "x-host", "x-original-url"])
def test_headers_of_proxies_do_not_name_the_host(console: Any, header: str) -> None:
    forged = [(header, "evil.example")]
    told = console.call("GET", "/enter/", headers=forged)
    assert "evil" not in str(told)
    assert console.call("GET", "/v1/terms", headers=forged, host="evil.example").status == 400


def test_a_name_given_with_its_port_is_taken_with_it_only(make_console: Any) -> None:
    app = make_app(
        make_console().gateway, hosts=["box.example:8443", "Other.Example"], limits=PLENTY
    )
    for host, status in (
        ("box.example:8443", 401),
        ("box.example", 400),
        ("box.example:80", 400),
        ("other.example:80", 401),
        ("localhost", 400),
    ):
        assert call(app, "GET", "/v1/terms", host=host).status == status


# Sizes and times


@pytest.mark.parametrize("declared", [None, "1", "40000", "99999999999999999999", "-1", "x"])
def test_bytes_are_counted_and_not_believed(console: Any, declared: str | None) -> None:
    asked = {**asking(console.tokens["club"], "key-00001"), "body": [b" " * 1000] * 40}
    if declared is not None:
        asked["headers"].append(("content-length", declared))
    told = call(console.app, **asked)
    assert told.status == 413
    assert told["connection"] == "close"
    assert not lines(console.gateway)


def test_what_just_fits_is_read(console: Any) -> None:
    asked = asking(console.tokens["club"], "key-00001")
    body = asked["body"]
    asked["body"] = [body, *([b" " * 1000] * 32), b" " * (768 - len(body))]
    assert call(console.app, **asked).status == 200
    asked["body"] = [*asked["body"], b" "]
    assert call(console.app, **asked).status == 413


def test_a_body_byte_by_byte(console: Any) -> None:
    asked = asking(console.tokens["club"], "key-00001")
    asked["body"] = [bytes([one]) for one in asked["body"]] + [b""] * 100
    assert call(console.app, **asked).status == 200


def test_forms_have_their_own_limit(console: Any) -> None:
    ann = console.enter("ann")
    assert console.send("/leave", ann, form=b"x" * 262_145).status == 413
    assert console.send("/leave", ann, form=b"&".join([b"a=1"] * 3000)).status == 400
    assert console.send("/leave", ann, form=b"form=\xff\xfe").status == 400
    assert console.send("/leave", ann).status == 303


@pytest.mark.parametrize("path", ["/v1/histogram", "/leave"])
def test_a_slow_body_is_given_up(make_console: Any, path: str) -> None:
    made = make_console(limits=Limits(body_seconds=0.2))
    ann = made.enter("ann")
    asked = asking(made.tokens["club"], "key-00001")
    asked["path"], asked["body"], asked["stall"] = path, [b'{"subject"'], True
    if path == "/leave":
        asked["headers"] = [ann.cookie, ("content-type", "application/x-www-form-urlencoded")]
    began = time.monotonic()
    told = call(made.app, **asked)
    assert (told.status, told["connection"]) == (408, "close")
    assert time.monotonic() - began < 5
    assert not lines(made.gateway)


def test_time_is_counted_over_the_whole_body(make_console: Any) -> None:
    """A byte now and then does not start it anew."""
    made = make_console(limits=Limits(body_seconds=0.3))
    asked = asking(made.tokens["club"], "key-00001")
    headers = [
        (name.encode(), text.encode()) for name, text in [("host", "localhost"), *asked["headers"]]
    ]
    scope = {"type": "http", "method": "POST", "path": "/v1/histogram", "headers": headers}
    scope |= {"query_string": b"", "client": ("127.0.0.1", 1), "root_path": "", "scheme": "http"}
    scope |= {"http_version": "1.1", "server": ("127.0.0.1", 80), "asgi": {"version": "3.0"}}
    sent: list[Any] = []

    async def drip() -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(asyncio.wait_for(made.app(scope, drip, send), 10))
    assert sent[0]["status"] == 408


def test_who_hangs_up_leaves_nothing_behind(console: Any) -> None:
    asked = {**asking(console.tokens["club"], "key-00001"), "stall": True, "hang_up": True}
    asked["body"] = [b'{"subj']
    call(console.app, **asked)
    assert not lines(console.gateway)
    assert console.ask("key-00001").status == 200


def test_a_websocket_is_refused(console: Any) -> None:
    for path in ("/v1/histogram", "/", "/me"):
        sent: list[Any] = []

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        scope = {"type": "websocket", "path": path, "headers": [(b"host", b"localhost")]}
        asyncio.run(console.app(scope, receive, send))
        assert sent == [{"type": "websocket.close", "code": 1003}]


# What goes wrong here


@pytest.mark.parametrize("path", ["/v1/releases/key-00001", "/v1/terms", "/me", "/engineer", "/"])
def test_what_fails_tells_a_number_only(
    console: Any, path: str, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("ann likes Heat")

    who = console.enter("engineer" if path == "/engineer" else "ann")
    headers = [("authorization", f"Bearer {console.tokens['club']}"), who.cookie]
    monkeypatch.setattr(console.gateway, "read", fails)
    with caplog.at_level(logging.DEBUG):
        told = console.call("GET", path, headers=headers)
    assert told.status == 500
    assert b"ann" not in told.body
    assert b"Heat" not in told.body
    assert b"Runtime" not in told.body
    assert b"Traceback" not in told.body
    assert "Heat" not in caplog.text
    number = told["x-request-id"]
    assert f"{number} failed: RuntimeError" in caplog.text
    media = "application/problem+json" if path.startswith("/v1/") else "text/html; charset=utf-8"
    assert told["content-type"] == media


def test_a_guard_that_fails_itself_is_closed() -> None:
    """Also when what is behind it breaks before it has said anything."""

    async def broken(*_: Any) -> None:
        raise RuntimeError("secret")

    guard = Guard(broken, hosts=["localhost"], secure=False, limits=PLENTY)
    told = call(guard, "GET", "/v1/terms")
    assert (told.status, told.json["detail"]) == (500, f"request {told['x-request-id']}")


def test_the_log_has_the_route_and_not_the_address(
    console: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        console.call("GET", "/enter", query=f"key={console.keys['ann']}")
        console.get("/v1/releases/key-canary")
        console.call("GET", "/no/such/canary")
    told = caplog.text
    assert "/enter 200" in told
    assert "/releases/{key} 404" in told
    assert "canary" not in told
    assert console.keys["ann"] not in told


def test_numbers_of_requests_differ(console: Any) -> None:
    assert len({console.call("GET", "/")["x-request-id"] for _ in range(50)}) == 50


@pytest.mark.parametrize("digits", [19, 400, 5000, 60_000])
def test_numbers_in_addresses_may_be_long(console: Any, digits: int) -> None:
    ann = console.enter("ann")
    for path in (f"/me/left/{'9' * digits}/card", f"/v1/releases/{'9' * digits}"):
        told = console.call("GET", path, headers=[ann.cookie])
        assert told.status in ((404, 401) if digits < 4000 else (414,))
