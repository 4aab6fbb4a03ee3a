"""Every operation of the service, derived from the application, and who may do it."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from reticent.queries.offered import offered

PROVIDER, PERSON, ENGINEER, ANYONE = "provider", "person", "engineer", "anyone"

# Whom an operation is for, and how it answers them if nothing was filled in.
OPERATIONS: dict[tuple[str, str], tuple[str, set[int]]] = {
    ("GET", "/v1/openapi.json"): (ANYONE, {200}),
    ("HEAD", "/v1/openapi.json"): (ANYONE, {200}),
    **{("POST", f"/v1/{kind}"): (PROVIDER, {200}) for kind in offered()},
    ("GET", "/v1/releases/{key}"): (PROVIDER, {200}),
    ("GET", "/v1/terms"): (PROVIDER, {200}),
    ("GET", "/"): ("signed in", {303}),
    ("GET", "/enter"): ("nobody", {401}),
    ("POST", "/enter"): ("signed in", {401}),
    ("POST", "/leave"): ("signed in", {303}),
    ("GET", "/me"): (PERSON, {200, 303}),
    ("GET", "/me/start"): (PERSON, {200, 303}),
    ("POST", "/me/start"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/who"): (PERSON, {200}),
    ("POST", "/me/who"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/who/{provider}/{attribute}"): (PERSON, {200}),
    ("POST", "/me/who/{provider}/{attribute}"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/who/{provider}"): (PERSON, {200}),
    ("POST", "/me/who/{provider}"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/stop/{provider}"): (PERSON, {200}),
    ("POST", "/me/stop/{provider}"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/who/{provider}/terms/{kind}"): (PERSON, {200}),
    ("GET", "/me/items"): (PERSON, {200}),
    ("POST", "/me/items"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/hidden"): (PERSON, {200}),
    ("POST", "/me/hidden"): (PERSON, {200, 303, 409, 422}),
    ("GET", "/me/left"): (PERSON, {200}),
    ("GET", "/me/left/{spend:int}/card"): (PERSON, {200}),
    ("GET", "/me/file"): (PERSON, {200}),
    ("GET", "/me/file/preferences.toml"): (PERSON, {200}),
    ("GET", "/me/file/edit"): (PERSON, {200}),
    ("POST", "/me/file/edit"): (PERSON, {409, 422}),
    ("GET", "/me/leave-gateway"): (PERSON, {200}),
    ("POST", "/me/leave-gateway"): (PERSON, {422}),
    ("GET", "/engineer"): (ENGINEER, {200}),
    ("GET", "/engineer/plan"): (ENGINEER, {200}),
    ("GET", "/engineer/plan/result"): (ENGINEER, {200, 404, 422}),
    ("GET", "/engineer/plan/publish"): (ENGINEER, {200, 303, 404, 422}),
    ("POST", "/engineer/plan/publish"): (ENGINEER, {200, 303, 404, 409, 422}),
    ("GET", "/engineer/attack"): (ENGINEER, {200}),
    ("GET", "/engineer/ledger"): (ENGINEER, {200}),
    ("POST", "/engineer/ledger/check"): (ENGINEER, {200, 303, 422}),
    ("POST", "/engineer/tokens"): (ENGINEER, {200, 422}),
    ("POST", "/engineer/tokens/revoke"): (ENGINEER, {200, 303, 404, 422}),
}
OPERATIONS |= {  # a page answers HEAD as GET; looking at a link does not use it up
    ("HEAD", path): answer
    for (method, path), answer in OPERATIONS.items()
    if method == "GET" and not path.startswith("/v1/") and path != "/enter"
}
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def operations(app: Any) -> set[tuple[str, str]]:
    """All that the application answers, by method and path, but for files under /static."""

    def walk(routes: Any) -> Iterator[tuple[str, str]]:
        for route in routes:
            if not hasattr(route, "path"):
                yield from walk(route.original_router.routes)
            elif getattr(route, "methods", None):
                yield from ((method, route.path) for method in route.methods)
            else:
                assert route.path == "/static", f"{route.path} is something else"

    return set(walk(app._app.routes))


def part(name: str) -> str:
    """As one part of an address: as views.part does it."""
    return quote(name.replace("%", "%25").replace("/", "%2F"), safe="")


def address(path: str, **names: object) -> str:
    """A path with its places filled in."""
    usual = {
        "provider": "club.example",
        "attribute": "Drama",
        "kind": "histogram",
        "key": "key-00001",
    }
    usual |= {"spend:int": "1"} | {name: str(text) for name, text in names.items()}
    for name, text in usual.items():
        path = path.replace("{" + name + "}", part(text))
    assert "{" not in path, path
    return path


def pages(**names: object) -> list[tuple[str, str]]:
    """Addresses of all pages to look at, with whom they are for."""
    return [
        (who, address(path, **names))
        for (method, path), (who, _) in OPERATIONS.items()
        if method == "GET" and who in (PERSON, ENGINEER)
    ]
