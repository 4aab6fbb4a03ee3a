"""Where the gateway listens, what it is called from outside, and what may not be.

Not here  the server (serve.py).
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from reticent.cli.failures import Failure
from reticent.cli.output import talk

LOST = "without TLS everybody on the way can read and change tokens, links, data and answers"


@dataclass(frozen=True, slots=True)
class Place:
    """Where it listens, what it is called from outside, and whether that is over TLS."""

    host: str
    behind: tuple[str, ...]
    plain: bool

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by TLS."""
        return bool(self.behind)

    def hosts(self) -> tuple[str, ...]:
        """Names that requests may ask for."""
        from reticent.console.app import LOCAL

        if self.behind:
            return self.behind
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return (*LOCAL, shown, *((socket.gethostname(),) if self.plain else ()))

    def address(self, port: int) -> str:
        """What to type into a browser."""
        if self.behind:
            return f"https://{self.behind[0]}"
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def checked(place: Place) -> Place:
    """Refuse to be reached from other machines without TLS, unless that is asked for."""
    for name in place.behind:
        if not name or "/" in name or ":" in name or " " in name:
            raise Failure(f"--behind must be a host name alone, as gateway.example, got {name!r}")
    if not (_is_local(place.host) or place.behind or place.plain):
        raise Failure(
            f"{place.host} can be reached from other machines, and this server has no TLS",
            why=f"{LOST}; put a proxy in front and name it by --behind, or accept that by "
            "--plain-http",
        )
    if place.plain and not place.behind:
        talk(f"caution: {LOST}")
    return place


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
