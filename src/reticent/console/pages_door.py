"""Coming in by a link with a key, and going out.

Not here  sessions (visitors.py), who gets a link (cli/gateway.py).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from reticent.console.views import page
from reticent.console.visitors import (
    SignIn,
    cookie_name,
    end_session,
    form_of,
    session_of,
    set_session,
)

if TYPE_CHECKING:
    from reticent.gateway import Gateway

router = APIRouter()
_KEY = 64  # letters of a door's key
_HOMES = {"person": "/me", "engineer": "/engineer"}


@router.get("/")
def home(request: Request) -> Response:
    """To the own first page."""
    return RedirectResponse(_HOMES[session_of(request).role], status_code=303)


@router.get("/enter")
def enter(request: Request, key: str = "") -> Response:
    """Open a session with the key of a link, unless another one is open: then ask first.

    A link may come from somebody who would like to read what is then written.
    """
    gateway: Gateway = request.app.state.gateway
    opens = gateway.door(key) if len(key) == _KEY else None
    if opens is None:
        raise SignIn
    with suppress(SignIn):
        now = session_of(request)
        if (now.role, now.person) != opens:
            return page(request, "switch.html", role_now=now.role, key=key, opens=opens)
    return _entered(request, key)


@router.post("/enter")
async def enter_instead(request: Request) -> Response:
    """Go on as somebody else, after being asked."""
    return _entered(request, (await form_of(request)).get("key", ""))


def _entered(request: Request, key: str) -> Response:
    gateway: Gateway = request.app.state.gateway
    made = gateway.enter(key) if len(key) == _KEY else None
    if made is None:
        raise SignIn
    # No redirect: a browser that came from another site would not send the new cookie along.
    answer = page(request, "entered.html")
    answer.headers["refresh"] = "0;url=/"
    set_session(answer, made, secure=request.app.state.secure)
    return answer


@router.post("/leave")
async def leave(request: Request) -> Response:
    """End the session."""
    await form_of(request)
    gateway: Gateway = request.app.state.gateway
    gateway.leave(request.cookies[cookie_name(request.app.state.secure)])
    answer = RedirectResponse("/", status_code=303)
    end_session(answer, secure=request.app.state.secure)
    return answer
