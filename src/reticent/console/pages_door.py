"""Coming in by a link with a key, and going out.

Not here  sessions (visitors.py), who gets a link (cli/gateway.py).
"""

from __future__ import annotations

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
_HOMES = {"person": "/me", "engineer": "/engineer"}


@router.get("/")
def home(request: Request) -> Response:
    """To the own first page."""
    return RedirectResponse(_HOMES[session_of(request).role], status_code=303)


@router.get("/enter")
def enter(request: Request, key: str = "") -> Response:
    """Open a session with the key of a link; the address without it is where one arrives."""
    gateway: Gateway = request.app.state.gateway
    made = gateway.enter(key) if len(key) == 64 else None
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
