"""The whole service as one application: API, pages, guards.

Not here  starting it (cli/serve.py), what it does (gateway/).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from reticent._version import __version__
from reticent.errors import MissingExtra

try:
    from fastapi import APIRouter, FastAPI, Request, Response
    from fastapi.staticfiles import StaticFiles
    from starlette.exceptions import HTTPException
    from starlette.routing import Match, Mount
except ImportError:
    raise MissingExtra("the console", "console") from None

from reticent.console import api, pages_engineer, pages_people
from reticent.console.guards import Guard
from reticent.console.limits import Buckets, Limits
from reticent.console.pages_door import router as door
from reticent.console.problems import Problem, problem_response
from reticent.console.slots import Slots
from reticent.console.views import page
from reticent.console.visitors import SignIn, session_of
from reticent.queries.offered import offered

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from reticent.gateway import Gateway
    from reticent.queries.base import Query

ENTER = "/enter"
LOCAL = ("127.0.0.1", "localhost", "[::1]")
_DESCRIPTION = "Ask for releases of people's data, as far as each of them allows."


def make_app(
    gateway: Gateway,
    *,
    hosts: Collection[str] = LOCAL,
    secure: bool = False,
    limits: Limits | None = None,
) -> ASGIApp:
    """The application; ``secure`` where it is reached over TLS, by names in ``hosts``."""
    limits = Limits() if limits is None else limits
    app = FastAPI(
        title="Reticent gateway",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.state.gateway, app.state.secure, app.state.limits = gateway, secure, limits
    app.state.providers = Buckets(limits.provider_rate, limits.provider_burst)
    app.state.waiting = 0
    app.state.slots = Slots(limits.slot_seconds)
    app.router.routes.extend(_routes(tuple(offered().values())).routes)
    static = StaticFiles(directory=str(files("reticent.console") / "static"))
    app.mount("/static", static, name="static")
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(SignIn, _sign_in)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return Guard(app, hosts=hosts, secure=secure, limits=limits)


@cache
def _routes(kinds: tuple[type[Query], ...]) -> APIRouter:
    """What is asked and where, worked out once: it is the same for every gateway."""
    found = APIRouter()
    found.include_router(api.router(kinds))
    for pages in (door, pages_people.router, pages_engineer.router):
        _answer_head(pages.routes)
        found.include_router(pages, include_in_schema=False)
    return found


def _answer_head(routes: Iterable[Any]) -> None:
    """Let HEAD ask for what GET would give, as HTTP has it; but a link that lets in is not used up.

    The server sends no body after HEAD.
    """
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            _answer_head(inner.routes)
        elif "GET" in route.methods and route.path != ENTER:
            route.methods.add("HEAD")


def _problem(request: Request, error: Any) -> Response:
    if _api(request):
        return problem_response(error.status, error.detail, error.headers)
    if error.status < 500:  # then nothing more is asked of what may be broken
        with suppress(SignIn):
            session_of(request)  # for the way back
    told = page(request, "problem.html", status=error.status, detail=error.detail)
    told.headers.update(error.headers)
    return told


def _http(request: Request, error: Any) -> Response:
    """Starlette's own: no such route, no such method; it names methods of the first route only."""
    headers = dict(error.headers or {})
    done = _methods(request) if error.status_code == 405 else []
    if done:
        headers["Allow"] = ", ".join(done)
    return _problem(request, Problem(error.status_code, headers=headers))


def _methods(request: Request) -> list[str]:
    """What can be done at an address."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    return [
        method
        for method in ("GET", "HEAD", "POST")
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes
        )
    ]


def _unforeseen(request: Request, _: Any) -> Response:
    """Sent before the guard hears of it; it knows the number, and writes it down."""
    return _problem(request, Problem(500))


def _sign_in(request: Request, _: Any) -> Response:
    return page(request, "sign_in.html", status=401)


def _api(request: Request) -> bool:
    return bool(request.scope["path"].startswith("/v1/"))


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = FastAPI.openapi(app)
        bearer = {"type": "http", "scheme": "bearer", "description": "A provider's token"}
        made.setdefault("components", {})["securitySchemes"] = {"token": bearer}
        app.openapi_schema = made
    return app.openapi_schema
