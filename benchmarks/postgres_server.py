"""A PostgreSQL server of one's own, on a socket in a directory that goes with it.

Not here  what is done to it (faults.py, ledger.py, tests of the ledger).

It listens to no network, syncs what it commits, and runs as the user ``postgres`` if started by
root, whom the server refuses.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

_PATIENCE = 60  # seconds for a start, which may have to recover


def programs() -> Path | None:
    """The directory of the newest server that is installed, if any."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: path.parts[-3].zfill(4)
    )
    on_path = shutil.which("postgres")
    if found:
        return found[-1].parent
    return Path(on_path).parent if on_path else None


class Server:
    """A server that can be crashed and started again."""

    def __init__(self, where: Path, settings: tuple[str, ...] = ()) -> None:
        binaries = programs()
        if binaries is None:
            raise RuntimeError("the programs of a PostgreSQL server are not installed")
        self.where, self._binaries, self._settings = where, binaries, settings
        self._owner: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._owner = {"user": "postgres", "group": "postgres", "extra_groups": []}
            shutil.chown(where, "postgres", "postgres")
        options = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--data-checksums")
        self._run("initdb", "-D", str(where / "data"), *options)
        self._process: subprocess.Popen[bytes] | None = None

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / name, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.where,
            **self._owner,
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.where / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(self._binaries / "postgres", "-D", self.where / "data", "-k", self.where),
                    *("-c", "listen_addresses=", "-c", "max_connections=100"),
                    *(part for setting in self._settings for part in ("-c", setting)),
                ],
                stdout=log,
                stderr=log,
                cwd=self.where,
                **self._owner,
            )
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self.address("postgres")).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((self.where / "log").read_text()[-2000:]) from None
                time.sleep(0.05)

    def address(self, database: str) -> str:
        """How to reach a database."""
        return f"postgresql://postgres@/{database}?host={self.where}"

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """As its owner, outside of transactions."""
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            found = connection.execute(sql)
            return found.fetchall() if found.description else []

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once and without a checkpoint (SIGQUIT), or after its clients (SIGINT)."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_PATIENCE)
            self._process = None

    def crash(self) -> None:
        """End at once, then recover."""
        self.stop()
        self.start()

    def kill_backend(self) -> None:
        """Kill one that serves a client (SIGKILL): the server ends all others, and recovers."""
        found = self.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"
        )
        for (pid,) in found:
            os.kill(pid, signal.SIGKILL)


@contextmanager
def running(*settings: str, under: str | None = None) -> Iterator[Server]:
    """A server for as long as it is needed; ``settings`` as ``name=value``."""
    where = Path(tempfile.mkdtemp(prefix="pg-", dir=under))
    try:
        server = Server(where, settings)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(where, ignore_errors=True)
