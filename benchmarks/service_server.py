"""A server process from outside: start it, wait for it, kill it, read what it used.

Not here  what it serves (service_process.py).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[1]
OPEN: dict[str, float] = {  # limits that a single client does not reach
    "provider_rate": 1e6,
    "provider_burst": 10**6,
    "address_rate": 1e6,
    "address_burst": 10**6,
}
_PATIENCE = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """One that nobody listens on just now."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
    return port


class Service:
    """A server of one variant on a port that stays the same."""

    def __init__(
        self,
        database: str,
        *,
        variant: str = "ours",
        again: bool = False,
        limits: Mapping[str, float] = OPEN,
    ) -> None:
        self.port = free_port()
        self.pid = 0
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "benchmarks.service_process", database, str(self.port)),
                *("--variant", variant, "--limits", json.dumps(dict(limits))),
                *(["--again"] if again else []),
            ],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.next_pid()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self.stop()

    def next_pid(self) -> int:
        """Wait until the next server says its number."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not said.strip():
            raise RuntimeError("the server did not start")
        self.pid = int(said)
        return self.pid

    def wait(self, patience: float = _PATIENCE) -> Self:
        """Until it takes connections."""
        end = time.monotonic() + patience
        while not self.listens():
            if time.monotonic() > end or self._process.poll() is not None:
                raise RuntimeError("the server does not answer")
            time.sleep(0.01)
        return self

    def listens(self) -> bool:
        """Whether somebody takes connections on the port."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """At once, in the middle of whatever it does (SIGKILL)."""
        os.kill(self.pid, signal.SIGKILL)

    def cpu(self) -> float:
        """CPU seconds that the server has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> float:
        """Megabytes that it holds."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1000

    def stop(self) -> None:
        """End it, and whoever would start it again."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
