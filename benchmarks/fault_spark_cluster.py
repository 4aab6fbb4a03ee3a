"""A small Spark cluster of our own: a master and two workers, each on an address of its own.

Not here  what runs on it (fault_spark.py).

Two addresses of one machine are two hosts to Spark, and only then does it run a speculative copy of
a task. Executors are processes of their own, which can be killed.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HOSTS = ("127.0.0.2", "127.0.0.3")
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where it listens, and the process groups of its workers."""

    address: str
    groups: tuple[int, ...]

    def executors(self) -> list[int]:
        """Executors that live now."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(path.name)) in self.groups:
                    said = (path / "cmdline").read_bytes()
                    found += [int(path.name)] if b"CoarseGrainedExecutorBackend" in said else []
            except (ProcessLookupError, FileNotFoundError):
                continue
        return found


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Started, and ended with all its executors."""
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        master = ("master.Master", "--host", "127.0.0.1", "--port", str(port))
        stack.enter_context(_daemon(folder, "127.0.0.1", *master))
        _wait_for(port)
        groups = []
        for host in HOSTS:
            worker = ("worker.Worker", "--host", host, "--cores", "1", "--memory", "1g")
            work = ("--work-dir", str(folder / host), address)
            groups.append(stack.enter_context(_daemon(folder, host, *worker, *work)))
        yield Cluster(address, tuple(groups))


@contextmanager
def _daemon(folder: Path, host: str, kind: str, *options: str) -> Iterator[int]:
    home = find_spec("pyspark")
    assert home is not None
    assert home.origin is not None
    place = Path(home.origin).parent
    program = [str(place / "bin/spark-class"), f"org.apache.spark.deploy.{kind}"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(place),
        "SPARK_LOCAL_IP": host,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
    }
    with (folder / f"{kind}-{host}.txt").open("w") as talk:
        process = subprocess.Popen(
            [*program, *options, "--webui-port", "0"],
            env=environment,
            start_new_session=True,
            stdout=talk,
            stderr=talk,
        )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return
