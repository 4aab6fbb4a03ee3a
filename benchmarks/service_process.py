"""One server over one database, to be asked, timed and killed.

    python -m benchmarks.service_process DATABASE PORT [--variant ours] [--again] [--limits JSON]

Not here  who starts it (service_server.py).

It says its process id on a line of its own. With ``--again`` it is started again whenever it dies,
as a supervisor would: everything is imported once and the servers are forked. Whoever is in charge
takes it along when it ends.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
from typing import Any

import uvicorn

from benchmarks.service_variants import VARIANTS
from benchmarks.service_world import warm
from reticent.console.limits import Limits

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service_process")
    parser.add_argument("database")
    parser.add_argument("port", type=int)
    parser.add_argument("--variant", choices=sorted(VARIANTS), default="ours")
    parser.add_argument("--again", action="store_true", help="start again whenever it dies")
    parser.add_argument("--limits", type=json.loads, default={}, help="of Limits, by name")
    given = parser.parse_args()
    _end_with_parent(signal.SIGTERM)
    if given.again:
        _supervise(given)
    print(os.getpid(), flush=True)
    serve(given.database, given.port, given.variant, given.limits)


def serve(database: str, port: int, variant: str, limits: dict[str, Any]) -> None:
    """The service, as a host would run it."""
    app = VARIANTS[variant](database, Limits(**limits))
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=4096,
    )


def _supervise(given: argparse.Namespace) -> None:
    """Fork servers, one after the death of the other, for ever; none of them outlives this."""
    warm()
    while True:
        child = os.fork()
        if child == 0:
            _end_with_parent(signal.SIGKILL)
            serve(given.database, given.port, given.variant, given.limits)
            os._exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            raise SystemExit(f"a server ended by itself: {status}")


def _end_with_parent(how: signal.Signals) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, int(how))


if __name__ == "__main__":
    main()
