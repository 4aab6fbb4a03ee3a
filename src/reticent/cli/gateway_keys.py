"""``reticent gateway``: tokens of providers, and links by which people and engineers come in.

Not here  the other commands (gateway.py), how secrets are kept (gateway/credentials.py).

A secret is printed once, on stdout and alone, so that it can be piped to where it belongs. Only its
SHA-256 is kept.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from reticent.cli.failures import Failure
from reticent.cli.gateway_open import USUAL, Database, gateway_at, named
from reticent.cli.output import Json, say, say_json, talk
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.gateway.credentials import Role, Token


def enter_path(key: str) -> str:
    """Where the holder of a key comes in."""
    return f"/enter?key={key}"


def token(
    name: Annotated[str, typer.Argument(help="Whose token.", metavar="PROVIDER")],
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scopes",
            help="What it is good for, as reticent queries names it; all if left out.",
            metavar="KIND",
        ),
    ] = None,
    days: Annotated[int, typer.Option("--days", help="How long.", min=1, max=3660)] = 90,
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """Make a token for a provider and print it, this once.

    Earlier ones stay good until they expire or are revoked, so that a new one can be put in first.
    """
    from reticent.gateway import credentials, directory

    kinds = [kind for given in scopes or credentials.all_scopes() for kind in given.split(",")]
    made = credentials.new_token()
    with gateway_at(database) as gateway:
        if name not in dict(gateway.read(directory.providers)):
            why = "reticent gateway provider NAME --asks FILE declares one"
            declare = "reticent gateway provider --help"
            raise Failure(f"there is no provider called {name!r}", why=why, next_command=declare)
        kept = gateway.write(
            lambda c: credentials.add_token(c, made, provider=name, scopes=kinds, days=days)
        )
    if as_json:
        say_json("gateway-token/1", token=made, **_fields(kept))
        return
    say(made)
    talk(f"{kept.name}: for {', '.join(kept.scopes)}, until {_day(kept.expires)}")
    talk("it is shown this once; keep it where the provider's service reads its secrets")


def tokens(
    provider: Annotated[
        str | None, typer.Option("--provider", help="Only this one's.", metavar="NAME")
    ] = None,
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """All tokens by name: whose, for what, until when. The tokens themselves are not kept."""
    import time

    from reticent.gateway import credentials

    with gateway_at(database) as gateway:
        found = gateway.read(lambda c: credentials.tokens(c, provider))
    if as_json:
        rows = [_fields(one) for one in found]
        say_json("gateway-tokens/1", database=gateway.ledger.address, tokens=rows)
        return
    if not found:
        talk("there is no token")
        return
    now = int(time.time())
    heads = ("name", "provider", "good for", "made", "until", "state")
    lines = [
        (
            *(one.name, one.provider, " ".join(one.scopes), _day(one.made), _day(one.expires)),
            "revoked" if one.revoked else "expired" if one.expires <= now else "good",
        )
        for one in found
    ]
    for line in table(heads, lines):
        say(line)


def revoke(
    name: Annotated[str, typer.Argument(help="A token's name.", metavar="TOKENNAME")],
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """End a token at once."""
    from reticent.gateway import credentials

    with gateway_at(database) as gateway:
        done = gateway.write(lambda c: credentials.revoke(c, name))
    if not done:
        listed = f"reticent gateway tokens{named(database)}"
        why = "give the name of a token, not the token"
        raise Failure("there is no token of that name", why=why, next_command=listed)
    if as_json:
        say_json("gateway-revoke/1", name=name, revoked=True)
    else:
        say(f"{name} is revoked")


def door(
    person: Annotated[
        str | None, typer.Argument(help="Whose pages it opens.", metavar="PERSON")
    ] = None,
    engineer: Annotated[
        bool, typer.Option("--engineer", help="The engineers' pages instead.")
    ] = False,
    at: Annotated[
        str,
        typer.Option("--at", help="Where the gateway is, as https://NAME.", metavar="ADDRESS"),
    ] = "http://127.0.0.1:8400",
    database: Database = USUAL,
    as_json: Json = False,
) -> None:
    """Make a sign-in link and print it, this once.

    The one before it ends.
    """
    from reticent.gateway import NoSuchPerson, credentials, directory

    if (person is None) is not engineer:
        raise Failure("give a PERSON, or --engineer, and not both")
    if not at.startswith(("http://", "https://")):
        raise Failure("--at must start with https://, or http:// on this machine")
    key = credentials.secret()
    role: Role = "engineer" if engineer else "person"
    with gateway_at(database) as gateway:
        if person is not None and gateway.read(lambda c: directory.version_of(c, person)) is None:
            listed = f"reticent gateway people{named(database)}"
            raise Failure(str(NoSuchPerson()), next_command=listed)
        gateway.write(lambda c: credentials.add_door(c, key, role=role, person=person or ""))
    link = at.rstrip("/") + enter_path(key)
    if as_json:
        say_json("gateway-door/1", role=role, link=link)
        return
    say(link)
    talk("whoever has this link comes in; it is shown this once, and ends any one before it")


def _fields(one: Token) -> dict[str, object]:
    return {
        **{"name": one.name, "provider": one.provider, "scopes": list(one.scopes)},
        **{"made": one.made, "expires": one.expires, "revoked": one.revoked},
    }


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
