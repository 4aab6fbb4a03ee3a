"""Who is looking at a page: sessions in a cookie, and forms that only our own pages can send.

Not here  providers and their tokens (api.py), sessions in the database (gateway/credentials.py).

Another person's page, and a page for another role, are not there (404) rather than forbidden.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from reticent.console.problems import Problem

if TYPE_CHECKING:
    from fastapi import Request, Response

    from reticent.gateway import Gateway
    from reticent.gateway.credentials import Session

FORM = "application/x-www-form-urlencoded"
_FIELDS = 2000


class SignIn(Exception):
    """Nobody is signed in."""


def cookie_name(secure: bool) -> str:
    """With ``__Host-`` a browser takes the cookie from this very host over TLS only."""
    return "__Host-reticent" if secure else "reticent"


def set_session(response: Response, made: str, *, secure: bool) -> None:
    """Give a session to a browser."""
    response.set_cookie(
        cookie_name(secure), made, httponly=True, secure=secure, samesite="strict", path="/"
    )


def end_session(response: Response, *, secure: bool) -> None:
    """Take it back, and have the browser drop what it kept of our pages."""
    response.headers["clear-site-data"] = '"cache", "storage"'
    response.delete_cookie(
        cookie_name(secure), httponly=True, secure=secure, samesite="strict", path="/"
    )


def session_of(request: Request) -> Session:
    """Whose session this is; ``SignIn`` if it is nobody's."""
    gateway: Gateway = request.app.state.gateway
    made = request.cookies.get(cookie_name(request.app.state.secure))
    found = None if made is None else gateway.session(made)
    if found is None:
        raise SignIn
    request.state.session = found
    return found


def person_of(request: Request) -> str:
    """The person whose page this is."""
    found = session_of(request)
    if found.role != "person":
        raise Problem(404)
    return found.person


def engineer_of(request: Request) -> None:
    """Only for engineers."""
    if session_of(request).role != "engineer":
        raise Problem(404)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that one of our own pages sent; of fields named twice the last."""
    found = session_of(request)
    check_origin(request)
    if request.headers.get("content-type", "").split(";")[0].strip().casefold() != FORM:
        raise Problem(415, "only forms are read here")
    try:
        text = (await request.body()).decode("utf-8")
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS))
    except ValueError:
        raise Problem(400) from None
    if not hmac.compare_digest(fields.pop("form", "").encode(), found.form.encode()):
        raise Problem(403, "this form is not ours, or too old: go back and load the page again")
    return fields


def check_origin(request: Request) -> None:
    """Refuse what another site's page makes a browser send."""
    own = f"{'https' if request.app.state.secure else 'http'}://{request.headers.get('host', '')}"
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "same-origin")
    if (origin is not None and origin != own) or site not in ("same-origin", "none"):
        raise Problem(403, "this came from another site")
