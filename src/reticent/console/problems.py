"""Errors as the API tells them: problem+json with fixed sentences, and nothing of what was sent.

Not here  errors on pages (visitors.py), which errors there are (gateway/).

Nothing here depends on a person's data or preferences, and nothing repeats what a caller sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from fastapi import Response

TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "This is not allowed",
    404: "There is no such thing here",
    405: "This is not done that way",
    408: "The request came too slowly",
    409: "The key was used for something else",
    413: "The request is too large",
    414: "The address is too long",
    415: "Only JSON is read here",
    422: "The request does not have the right form",
    429: "Too many requests",
    500: "Something went wrong here",
    503: "Too much is waiting",
}


class Problem(Exception):
    """A request that is answered by an error; ``detail`` is a fixed sentence."""

    def __init__(
        self, status: int, detail: str = "", *, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status, self.detail, self.headers = status, detail, dict(headers or {})
        super().__init__(detail)


def problem_body(status: int, detail: str = "") -> bytes:
    """The body of an error."""
    told = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status}
    return json.dumps({**told, **({"detail": detail} if detail else {})}).encode()


def problem_response(
    status: int, detail: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """An error as an answer."""
    return Response(
        problem_body(status, detail),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/problem+json",
    )
