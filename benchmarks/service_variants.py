"""The service, and others like it that must be caught or compared with.

Not here  running them (service_process.py).

``naive`` remembers keys in memory and charges under names of its own, as a first draft would;
``slow`` takes a millisecond more for people who do not name the provider; ``constant`` is a plain
FastAPI endpoint that says the same thing to everybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request, Response

from reticent.console.app import make_app
from reticent.console.limits import Limits
from reticent.gateway import Asked, Gateway
from reticent.gateway.credentials import secret
from reticent.ledger import Answer, KeyReused

SIZE = 4800  # bytes of the constant answer: those of a histogram of 18 attributes with its card


class NaiveGateway(Gateway):
    """A control: what it has told is gone when it dies."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._told: dict[tuple[str, str], tuple[Asked, Future[Answer]]] = {}

    def submit(self, provider: str, asked: Asked) -> Future[Answer]:
        """Draw anew for whatever is not remembered."""
        found = self._told.get((provider, asked.key))
        if found is None:
            made = super().submit(provider, replace(asked, key=secret()[:32]))
            found = self._told[provider, asked.key] = (asked, made)
        elif found[0] != asked:
            raise KeyReused
        return found[1]


class SlowGateway(Gateway):
    """A control: preferences show in the time."""

    def submit(self, provider: str, asked: Asked) -> Future[Answer]:
        """Think a moment longer about those who do not allow it."""
        if provider not in self.person(asked.subject).preferences.providers:
            time.sleep(0.001)
        return super().submit(provider, asked)


def constant_app(_: str, __: Limits) -> Any:
    """A peer: the same framework, and nothing to do."""
    app = FastAPI(openapi_url=None)
    body = b'{"value":"' + b"x" * (SIZE - 12) + b'"}'

    @app.post("/v1/histogram")
    async def histogram(request: Request) -> Response:
        await request.json()
        return Response(body, media_type="application/json")

    return app


def _of(kind: type[Gateway]) -> Callable[[str, Limits], Any]:
    return lambda database, limits: make_app(kind.open(database), limits=limits)


VARIANTS: dict[str, Callable[[str, Limits], Any]] = {
    "ours": _of(Gateway),
    "naive": _of(NaiveGateway),
    "slow": _of(SlowGateway),
    "constant": constant_app,
}
