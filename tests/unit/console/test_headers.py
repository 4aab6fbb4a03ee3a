"""Headers of every answer, whatever it is: errors, pages, files, redirects."""

import re
from typing import Any

import pytest

from reticent.console.guards import HEADERS, POLICY

PATHS = [
    ("GET", "/"),
    ("GET", "/enter"),
    ("GET", "/me"),
    ("GET", "/engineer"),
    ("GET", "/nothing"),
    ("GET", "/v1/terms"),
    ("GET", "/v1/nothing"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/static/htmx.min.js"),
    ("GET", "/static/nothing"),
    ("GET", "/enter/"),
    ("HEAD", "/static/htmx.min.js"),
    ("POST", "/v1/histogram"),
    ("POST", "/me"),
    ("POST", "/leave"),
    ("PUT", "/v1/terms"),
    ("DELETE", "/v1/releases/key-00001"),
    ("OPTIONS", "/v1/histogram"),
    ("OPTIONS", "/me"),
    ("TRACE", "/v1/terms"),
    ("BREW", "/"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize("who", ["nobody", "ann", "engineer", "club"])
def test_every_answer_has_every_header_once(console: Any, method: str, path: str, who: str) -> None:
    headers = []
    if who in ("ann", "engineer"):
        headers = [console.enter(who).cookie]
    elif who == "club":
        headers = [("authorization", f"Bearer {console.tokens['club']}")]
    told = console.call(method, path, headers=headers)
    for name, text in HEADERS.items():
        assert told[name] == text
    assert told["x-request-id"]
    assert told.get("server") is None
    assert told.get("x-powered-by") is None
    assert told.get("strict-transport-security") is None
    assert not [name for name, _ in told.headers if name.startswith("access-control-")]
    assert told.status < 500
    if told.status == 405:
        assert told["allow"]


def test_the_control_a_plain_app_has_none_of_them(console: Any) -> None:
    from tests.unit.gateway.seeded import call

    told = call(console.app._app, "GET", "/v1/terms")
    assert not {name for name, _ in told.headers} & set(HEADERS)


def test_the_policy_lets_nothing_else_in() -> None:
    assert "unsafe" not in POLICY
    assert "*" not in POLICY
    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert part in POLICY


def test_wrong_hosts_and_sizes_have_them_too(console: Any) -> None:
    wrong = console.call("GET", "/", host="evil.example")
    large = console.call("POST", "/v1/histogram", body=b"x" * 10**6)
    for told in (wrong, large):
        assert {name: told[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("path", ["/", "/v1/terms", "/static/htmx.min.js", "/nothing"])
def test_over_tls_it_says_so(make_console: Any, path: str) -> None:
    made = make_console(secure=True)
    assert made.call("GET", path)["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:8000"])
def test_no_other_site_may_read_answers(console: Any, origin: str) -> None:
    asked = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ]
    told = console.call("OPTIONS", "/v1/histogram", headers=asked)
    assert told.status == 405
    assert told["allow"] == "POST"
    assert not [name for name, _ in told.headers if name.startswith("access-control-")]


def allowed(console: Any, path: str) -> set[str]:
    """Methods that are not answered by 405."""
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
    return {method for method in methods if console.call(method, path).status != 405}


@pytest.mark.parametrize(
    "path",
    [
        "/v1/histogram",
        "/v1/terms",
        "/v1/releases/key-00001",
        "/v1/openapi.json",
        "/me/start",
        "/me/who/club.example/Drama",
        "/me/items",
        "/engineer/plan/publish",
        "/leave",
        "/static/htmx.min.js",
    ],
)
def test_what_is_allowed_is_what_is_done(console: Any, path: str) -> None:
    told = console.call("PATCH", path)
    assert told.status == 405
    assert {one.strip() for one in told["allow"].split(",")} == allowed(console, path)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/%2e%2e%2fapp.py",
        "/static/..%5capp.py",
        "/static/....//app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/%00",
        "/static/htmx.min.js%00.css",
        "/static/" + "a" * 300,
        "/static/",
        "/static",
        "/static/.",
        "/static/con.htmx\x00",
    ],
)
def test_nothing_but_its_files_is_under_static(console: Any, path: str) -> None:
    told = console.call("GET", path)
    assert told.status in (404, 405, 307, 400)
    assert b"import" not in told.body
    assert b"root:" not in told.body


def test_files_have_the_right_type(console: Any) -> None:
    told = console.call("GET", "/static/htmx.min.js")
    assert told.status == 200
    assert re.match("(text|application)/javascript", told["content-type"])
    head = console.call("HEAD", "/static/htmx.min.js")
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "//evil.example/..", "/\\evil.example/", "/%2f%2fevil.example/", "/enter/"],
)
@pytest.mark.parametrize("query", ["", "next=//evil.example", "url=https://evil.example/"])
def test_no_redirect_leaves_the_host(console: Any, path: str, query: str) -> None:
    ann = console.enter("ann")
    for method in ("GET", "POST"):
        told = console.call(method, path, headers=[ann.cookie], query=query)
        goes = told.get("location")
        assert goes is None or goes.startswith(("/", "http://localhost:8000/"))
        assert goes is None or not goes.startswith(("//", "/\\"))
