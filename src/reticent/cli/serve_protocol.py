"""HTTP connections that must say soon, and in few bytes, what they want.

Not here  bodies and rates (console/guards.py), starting the server (serve.py).

uvicorn waits for ever for the head of a request, and with httptools reads one of any length. Here a
connection has some seconds and some thousand bytes for it, also before its first request.
"""

from __future__ import annotations

import asyncio
from typing import Any

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
except ImportError:  # without httptools, which is written in C
    from uvicorn.protocols.http.h11_impl import H11Protocol as Base  # type: ignore[assignment]

HEAD_BYTES = 16_384
HEAD_SECONDS = 10.0


class PatientProtocol(Base):
    """uvicorn's protocol, with an end to its patience."""

    _waiting: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: Any) -> None:
        """Somebody is there, and has not said anything."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes while no request is being answered."""
        super().data_received(data)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop()
            self._head = 0
            return
        self._head += len(data)
        if self._head > HEAD_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")
        elif self._waiting is None:
            self._wait()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.call_later(HEAD_SECONDS, self._refuse, b"408 Request Timeout")

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _refuse(self, status: bytes) -> None:
        self._stop()
        if not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            )
            self.transport.close()
