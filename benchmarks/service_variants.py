"""The service, and others like it that must be caught or compared with.

Not here  running them (service_process.py).

``naive`` remembers keys in memory and charges under names of its own, as a first draft would;
``slow`` sends answers as soon as they are made, and takes a millisecond more for people who do not
name the provider; ``padded`` holds answers for 50 ms only where something had to be worked out
first; ``constant`` is a plain FastAPI endpoint that says the same thing to everybody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
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


class PaddedGateway(Gateway):
    """A control: it knows whether the last request found everything in memory."""

    worked = False

    def submit(self, provider: str, asked: Asked) -> Future[Answer]:
        """Look at what is in memory before and after."""
        before = self._in_memory(asked)
        made = super().submit(provider, asked)
        self.worked = self._in_memory(asked) != before
        return made

    def _in_memory(self, asked: Asked) -> list[tuple[int, int]]:
        found = [self._memory._people.get(name) for name in asked.subjects]
        return [(id(one), len(one._subjects)) if one else (0, 0) for one in found]


class Unheld:
    """A control in the place of slots: answers leave when they are made."""

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Whatever it takes."""
        yield


@dataclass
class PaddedWhereWorked:
    """A control in the place of slots: what was in memory leaves at once."""

    gateway: PaddedGateway
    seconds: float = 0.05

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Padded only where something had to be worked out."""
        began = time.monotonic()
        self.gateway.worked = False
        yield
        if self.gateway.worked:
            await asyncio.sleep(max(0.0, began + self.seconds - time.monotonic()))


def with_slots(app: Any, slots: Unheld | PaddedWhereWorked) -> Any:
    """The application with a control in the place of its slots."""
    app._app.state.slots = slots
    return app


def _slow(database: str, limits: Limits) -> Any:
    return with_slots(make_app(SlowGateway.open(database), limits=limits), Unheld())


def _padded(database: str, limits: Limits) -> Any:
    gateway = PaddedGateway.open(database)
    return with_slots(make_app(gateway, limits=limits), PaddedWhereWorked(gateway))


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
    "slow": _slow,
    "padded": _padded,
    "constant": constant_app,
}
