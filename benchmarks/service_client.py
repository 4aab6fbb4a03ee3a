"""A client that costs little: raw sockets, connections kept, just as much HTTP as is needed.

Not here  how many of them ask for what (service_load.py, fault_http_work.py).
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import cast

import uvloop

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    head: bytes
    body: bytes


def request_bytes(kind: str, token: str, key: str, subject: str, other: str | None = None) -> bytes:
    """One request for a release."""
    body = json.dumps({"subject": subject} if other is None else _both(subject, other)).encode()
    return (
        f"POST /v1/{kind} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Idempotency-Key: {key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def get_bytes(path: str, token: str) -> bytes:
    """One request for something that is there."""
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
    return head.encode()


def _both(subject: str, other: str) -> dict[str, str]:
    return {"subject": subject, "other": other}


class Line(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self._held = b""
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Reply] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Now it can be asked."""
        self._transport = cast("asyncio.Transport", transport)  # of uvloop, which has its own

    def connection_lost(self, _: Exception | None) -> None:
        """Whoever waits will hear nothing more."""
        self._transport = None
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ConnectionResetError())

    def data_received(self, data: bytes) -> None:
        """A part of an answer."""
        self._held += data
        end = self._held.find(_END)
        if end < 0:
            return
        head = self._held[:end]
        at = head.lower().find(_LENGTH)
        length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        begin = end + len(_END)
        if len(self._held) < begin + length:
            return
        body, self._held = self._held[begin : begin + length], self._held[begin + length :]
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(Reply(int(head[9:12]), head, body))

    async def ask(self, request: bytes, patience: float = 30.0) -> Reply:
        """Send and wait; ``OSError`` if the connection ends, or takes too long."""
        if self._transport is None:
            raise ConnectionResetError
        self._waiting = loop_future()
        self._transport.write(request)
        timer = asyncio.get_running_loop().call_later(patience, self.close)
        try:
            return await self._waiting
        finally:
            timer.cancel()

    def drop(self, request: bytes) -> None:
        """Send and hang up without waiting."""
        if self._transport is not None:
            self._transport.write(request)
            self._transport.close()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def open(self) -> bool:
        """Whether it can be asked."""
        return self._transport is not None and not self._transport.is_closing()


def loop_future() -> asyncio.Future[Reply]:
    """A future of the running loop."""
    return asyncio.get_running_loop().create_future()


async def connected(port: int) -> Line:
    """A connection to a server of this machine."""
    _, line = await asyncio.get_running_loop().create_connection(Line, "127.0.0.1", port)
    return line


def quick_loop() -> asyncio.Runner:
    """A loop for many connections."""
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
