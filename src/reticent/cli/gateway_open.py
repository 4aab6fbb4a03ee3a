"""Which database a command of the gateway means, and opening it.

Not here  the commands (gateway.py, gateway_keys.py, serve.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from reticent.cli.failures import Failure

if TYPE_CHECKING:
    from reticent.gateway import Gateway

USUAL = "reticent-gateway.db"
INIT = "reticent gateway init --help"

Database: TypeAlias = Annotated[
    str,
    typer.Option(
        "--database",
        help="The gateway: a file, by default in the folder you are in, or "
        "postgresql://USER@HOST/NAME.",
        envvar="RETICENT_DATABASE",
        metavar="ADDRESS",
    ),
]


@contextmanager
def gateway_at(address: str, *, create: bool = False) -> Iterator[Gateway]:
    """The gateway in a database; a file that is not there is an error unless it may be made."""
    from reticent.gateway import Gateway
    from reticent.ledger import open_ledger

    server = is_server(address)
    if not server and not create and not Path(address).is_file():
        raise Failure(f"there is no gateway at {address}", why=makes(address), next_command=INIT)
    with Gateway(open_ledger(address if server else Path(address), create=create)) as gateway:
        yield gateway


def makes(address: str) -> str:
    """What makes a gateway there."""
    return f"reticent gateway init --catalogue FILE{named(address)} makes one"


def is_server(address: str) -> bool:
    """Whether an address means PostgreSQL."""
    return address.startswith(("postgresql://", "postgres://"))


def check_ready(gateway: Gateway, address: str) -> None:
    """Refuse a database without a catalogue: nothing can be offered from it."""
    from reticent.gateway import directory

    if gateway.read(lambda c: directory.setting(c, "catalogue")) is None:
        what = f"{gateway.ledger.address} has no catalogue yet"
        raise Failure(what, why=makes(address), next_command=INIT)


def named(address: str) -> str:
    """The option to type for this database; an address of a server may hold a password."""
    usual = address == USUAL or is_server(address)
    return "" if usual else f" --database {shlex.quote(address)}"
