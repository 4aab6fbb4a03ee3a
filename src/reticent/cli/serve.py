"""``reticent serve``: the gateway over HTTP, on this machine or behind a proxy that speaks TLS.

Not here  setting it up (gateway.py), pages and API (console/), the demonstration
          (gateway/demo.py).

One process, one writer. The socket is opened first, so that a port in use is told before anything
is made.
"""

from __future__ import annotations

import errno
import logging
import os
import shlex
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from reticent.cli.failures import Failure, reason
from reticent.cli.gateway_keys import enter_path
from reticent.cli.gateway_open import (
    USUAL,
    Database,
    check_ready,
    gateway_at,
    is_server,
    makes,
    named,
)
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.serve_place import LOST, Place, checked

if TYPE_CHECKING:
    from types import FrameType

    from reticent.gateway import Gateway

_SHOWN = ("ann", "finn")
_IDLE_SECONDS = 15
_ENDING_SECONDS = 10


class _Stopped(Exception):
    """Asked to end from outside."""


def serve(
    context: typer.Context,
    database: Database = USUAL,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="A film club of invented people, gone at the end without --database."
        ),
    ] = False,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen.", metavar="ADDRESS")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="0 takes any that is free.", min=0, max=65535)
    ] = 8400,
    behind: Annotated[
        list[str] | None,
        typer.Option(
            "--behind",
            help="Its name in public, where a proxy speaks TLS for it; may be given twice.",
            metavar="HOSTNAME",
        ),
    ] = None,
    proxy: Annotated[
        str,
        typer.Option(
            "--proxy", help="The proxy's address: it is believed who asks.", metavar="ADDRESS"
        ),
    ] = "127.0.0.1",
    plain_http: Annotated[
        bool,
        typer.Option("--plain-http", help=f"Listen beyond this machine all the same: {LOST}."),
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="One line per request on stderr, without names and keys.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the gateway until Ctrl-C.

    Its state is on the disk at every moment: it may be stopped, or break down, at any.
    """
    place = checked(Place(host, tuple(behind or ()), plain_http))
    _need_console()
    talk("starting", raw=True)
    _keep_logs(log)
    fleeting = demo and not _typed(context, "database")
    with (
        _ending(),
        _listening(host, port, _again(database, demo)) as listener,
        _database(database, demo, fleeting) as where,
        gateway_at(where, create=demo) as gateway,
    ):
        if not demo:
            check_ready(gateway, database)
        told = _keys(gateway, demo, place.secure)
        server = _server(gateway, place, proxy)
        port = listener.getsockname()[1]
        address = place.address(port)
        _say(address, told, as_json, port)
        if place.secure:
            talk(f"listens at {host}, port {port}, for the proxy that answers at {address}")
        if not told:
            talk(f"next: reticent gateway door --engineer --at {address}{named(database)}")
        server.run(sockets=[listener])


def _typed(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line, and not by the environment."""
    return getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"


def _need_console() -> None:
    from importlib.util import find_spec

    from reticent.errors import MissingExtra

    if not all(find_spec(name) for name in ("fastapi", "jinja2", "uvicorn")):
        raise MissingExtra("the console", "console")


@contextmanager
def _ending() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the service as it should end: everything is closed, exit code 0."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise _Stopped

    before = {one: signal.signal(one, stop) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except _Stopped:
        talk("stopped")
        raise typer.Exit from None
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _again(database: str, demo: bool) -> str:
    return f"reticent serve{' --demo' if demo else ''}{named(database)}"


@contextmanager
def _listening(host: str, port: int, again: str) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = "another program listens there, perhaps this one"
            free = f"{again} --port 0"
            raise Failure(f"port {port} is taken", why=why, next_command=free) from None
        why = os.strerror(error.errno) if error.errno else reason(error)
        raise Failure(
            f"cannot listen at {host}, port {port}", why=why, next_command=again
        ) from None
    with listener:
        yield listener


@contextmanager
def _database(address: str, demo: bool, fleeting: bool) -> Iterator[str]:
    """The database that was asked for, or one that is gone afterwards."""
    if not fleeting:
        if not (demo or is_server(address) or Path(address).is_file()):
            why = f"{makes(address)}; --demo makes one to look around in"
            again = "reticent serve --demo"
            raise Failure(f"there is no gateway at {address}", why=why, next_command=again)
        yield address
        return
    with tempfile.TemporaryDirectory(prefix="reticent-demo-") as folder:
        yield str(Path(folder) / USUAL)


def _keys(gateway: Gateway, demo: bool, secure: bool) -> dict[str, Any]:
    """Keys to print: none behind a proxy, where what a service prints is kept in logs."""
    from functools import partial

    from reticent.gateway import credentials

    if demo:
        from reticent.gateway.demo import seed

        keys = seed(gateway)
        people = {name: keys.people[name] for name in _SHOWN}
        return {"engineer": keys.engineer, "people": people, "tokens": dict(keys.tokens)}
    gateway.world()  # what is wrong with it is told now
    if secure:
        return {}
    key = credentials.secret()
    gateway.write(partial(credentials.add_door, key=key, role="engineer"))
    return {"engineer": key}


def _server(gateway: Gateway, place: Place, proxy: str) -> Any:
    import uvicorn

    from reticent.cli.serve_protocol import HEAD_BYTES, PatientProtocol
    from reticent.console.app import make_app

    app = make_app(gateway, hosts=place.hosts(), secure=place.secure)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_ENDING_SECONDS,
        proxy_headers=bool(place.behind),
        forwarded_allow_ips=proxy,
    )
    return uvicorn.Server(config)


def _say(address: str, told: Mapping[str, Any], as_json: bool, port: int) -> None:
    links = {name: address + enter_path(key) for name, key in told.get("people", {}).items()}
    engineer = told and address + enter_path(told["engineer"])
    example = _curl(address, told["tokens"]) if "tokens" in told else None
    if as_json:
        facts = {"engineer": engineer or None, "people": links, "tokens": told.get("tokens", {})}
        say_json("serve/1", address=address, port=port, **facts, example=example)
        return
    rows: Sequence[tuple[str, str]] = [("the gateway", address)]
    if engineer:
        rows = [("engineers", engineer), *((name, link) for name, link in links.items())]
    for who, link in rows:
        say(f"{who:<12}{link}")
    if example:
        say("a provider asks for a release:")
        say(f"  {example}")
    talk("Ctrl-C ends it")


def _curl(address: str, tokens: Mapping[str, str]) -> str:
    token = next(iter(tokens.values()))
    heads = (
        *("-H", f"Authorization: Bearer {token}"),
        *("-H", "Content-Type: application/json", "-H", "Idempotency-Key: my-first-key"),
    )
    return shlex.join(["curl", "-s", f"{address}/v1/histogram", *heads, "-d", '{"subject": "ann"}'])


class _NoTraces(logging.Formatter):
    """An error by its kind alone: its text and its lines could hold private values."""

    def formatException(self, ei: Any) -> str:  # noqa: N802, as logging calls it
        return f"({ei[0].__name__})" if ei and ei[0] else ""


def _keep_logs(each: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_NoTraces("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("reticent.gateway").setLevel(logging.INFO if each else logging.WARNING)
