"""What every request passes and every answer carries: host, size, speed, rate, headers, a log line.

Not here  who is asking (visitors.py, api.py), what a limit is (limits.py).

The log names the route and not the address that was asked for, which may hold names or keys.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from reticent.console.limits import Buckets, Limits
from reticent.console.problems import Problem, problem_response
from reticent.noise import Source

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("reticent.gateway")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer browsers send forms without an Origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_YEAR = 31_536_000
_PORT_DIGITS = 5
_HUNG_UP = 499
_LONGEST = 4000  # letters of an address; Python reads no numbers of more than 4300 digits


class Guard:
    """ASGI: everything that does not depend on who asks."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        secure: bool,
        limits: Limits,
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.casefold() for host in hosts)
        self._limits = limits
        self._addresses = Buckets(limits.address_rate, limits.address_burst)
        self._doors = Buckets(limits.door_rate, limits.door_burst)
        named = {**HEADERS, **_transport(secure)}
        self._headers = [(name.encode(), value.encode()) for name, value in named.items()]
        self._source = Source.system()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        number, began, told = f"{self._source.bits(64):016x}", time.perf_counter(), _Told()

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                told.status = message["status"]
                message["headers"] = self._completed(message.get("headers", []), number)
            await send(message)

        try:
            await self._admit(scope)
            limited = _Body(receive, self._most(scope), self._limits.body_seconds)
            await self._app(scope, limited, answer)
        except Problem as problem:
            await _refuse(scope, receive, answer, told, problem)
        except ClientDisconnect:
            told.status = _HUNG_UP  # nobody is there to hear of it
        except Exception as error:
            LOG.error("%s failed: %s", number, type(error).__name__)  # its text may be private
            await _refuse(scope, receive, answer, told, Problem(500, f"request {number}"))
        finally:
            route = getattr(scope.get("route"), "path", "-")
            spent = 1000 * (time.perf_counter() - began)
            LOG.info("%s %s %s %s %.0f ms", number, scope["method"], route, told.status, spent)

    async def _admit(self, scope: Scope) -> None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        host = hosts[0].decode("latin-1").casefold() if len(hosts) == 1 else ""
        name, _, port = host.rpartition(":")
        numbered = port.isdigit() and len(port) <= _PORT_DIGITS  # it becomes a part of addresses
        if host not in self._hosts and not (numbered and name in self._hosts):
            raise Problem(400, "this is another host")
        if len(scope["path"]) > _LONGEST:
            raise Problem(414)
        address = (scope.get("client") or ("", 0))[0]
        wait = self._addresses.wait(address)
        if not wait and scope["path"] == "/enter":
            wait = self._doors.wait(address)
        if wait:
            raise too_many(wait)

    def _most(self, scope: Scope) -> int:
        api = scope["path"].startswith("/v1/")
        return self._limits.body_bytes if api else self._limits.page_bytes

    def _completed(self, given: Any, number: str) -> list[tuple[bytes, bytes]]:
        there = {name for name, _ in given}
        more = [pair for pair in self._headers if pair[0] not in there]
        return [*given, *more, (b"x-request-id", number.encode())]


class _Told:
    """What was answered, if anything."""

    status = 0


class _Body:
    """Receives no more than so many bytes, and no slower than it must."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._most = receive, most
        self._end = time.monotonic() + seconds
        self._all = False

    async def __call__(self) -> Message:
        if self._all:  # what comes now is that the caller hangs up
            return await self._receive()
        try:
            left = max(self._end - time.monotonic(), 0.001)
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError:
            raise Problem(408, headers={"connection": "close"}) from None
        if message["type"] == "http.request":
            self._most -= len(message.get("body", b""))
            if self._most < 0:
                raise Problem(413, headers={"connection": "close"})
            self._all = not message.get("more_body", False)
        return message


def too_many(wait: float) -> Problem:
    """A caller who must wait."""
    return Problem(429, headers={"retry-after": str(max(1, math.ceil(wait)))})


async def _refuse(
    scope: Scope, receive: Receive, answer: Callable[..., Any], told: _Told, problem: Problem
) -> None:
    if told.status:  # the answer has begun: all that is left is to break it off
        return
    response = problem_response(problem.status, problem.detail, problem.headers)
    await response(scope, receive, answer)


def _transport(secure: bool) -> dict[str, str]:
    return {"strict-transport-security": f"max-age={_YEAR}"} if secure else {}
