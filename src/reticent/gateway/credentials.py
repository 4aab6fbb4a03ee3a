"""Who is asking: tokens of providers, doors and sessions of people and engineers.

Not here  what they may do with it (service.py), cookies and headers (console/).

A token is ``rtc_``, 256 random bits and a checksum; a door is a link that opens a session. Only
SHA-256 of either is stored. Unknown, expired and revoked look the same from outside.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from reticent.errors import require
from reticent.noise import Source
from reticent.queries.offered import offered

if TYPE_CHECKING:
    from reticent.ledger import Connection

Role: TypeAlias = Literal["person", "engineer"]
PREFIX = "rtc_"
DAY = 86_400
_BITS = 256


@dataclass(frozen=True, slots=True)
class Caller:
    """A provider whose token was accepted, and what the token is good for."""

    provider: str
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token after it was shown: not the token."""

    name: str
    provider: str
    scopes: tuple[str, ...]
    made: int
    expires: int
    revoked: bool


@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """Somebody who came through a door; ``form`` is what their forms must carry."""

    role: Role
    person: str
    form: str


def all_scopes() -> tuple[str, ...]:
    """What a token can be good for: every kind of release that is offered."""
    return tuple(sorted(offered()))


def secret() -> str:
    """256 random bits as text."""
    return f"{Source.system().bits(_BITS):064x}"


def digest(text: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def new_token() -> str:
    """A token, to be shown once."""
    body = PREFIX + secret()
    return f"{body}{zlib.crc32(body.encode()):08x}"


def well_formed(token: str) -> bool:
    """Whether a text can be a token: its checksum fits. Nothing is looked up otherwise."""
    body, check = token[:-8], token[-8:]
    shaped = len(token) == len(PREFIX) + _BITS // 4 + 8 and token.startswith(PREFIX)
    return shaped and token.isascii() and f"{zlib.crc32(body.encode()):08x}" == check


def add_token(
    connection: Connection,
    token: str,
    *,
    provider: str,
    scopes: Iterable[str] | None = None,
    days: int = 90,
) -> Token:
    """Keep a token's digest; it is good for so many days, and for all kinds if none is named."""
    known = all_scopes()
    given = known if scopes is None else tuple(sorted(set(scopes)))
    require(bool(given) and set(given) <= set(known), "scopes", given, ", ".join(known))
    whole = isinstance(days, int) and 1 <= days <= 3660
    require(whole, "days", days, "from 1 to 3660")
    made = int(time.time())
    kept = Token(digest(token)[:12], provider, given, made, made + days * DAY, False)
    connection.execute(
        "INSERT INTO gateway_token VALUES (?, ?, ?, ?, ?, ?, 0)",
        (digest(token), kept.name, provider, " ".join(given), made, kept.expires),
    )
    return kept


def caller(connection: Connection, token: str, now: int) -> Caller | None:
    """Whose token it is; None whatever is wrong with it."""
    row = connection.execute(
        "SELECT provider, scopes, expires, revoked FROM gateway_token WHERE hash = ?",
        (digest(token),),
    ).fetchone()
    if row is None or row[3] or row[2] <= now:
        return None
    return Caller(row[0], frozenset(row[1].split()))


def tokens(connection: Connection, provider: str | None = None) -> list[Token]:
    """All that were made, newest first."""
    rows = connection.execute(
        "SELECT name, provider, scopes, made, expires, revoked FROM gateway_token"
        " ORDER BY made DESC, name"
    ).fetchall()
    found = [Token(r[0], r[1], tuple(r[2].split()), r[3], r[4], bool(r[5])) for r in rows]
    return [one for one in found if provider is None or one.provider == provider]


def revoke(connection: Connection, name: str) -> bool:
    """End a token at once, by its name; whether there was one."""
    done = connection.execute("UPDATE gateway_token SET revoked = 1 WHERE name = ?", (name,))
    return bool(done.rowcount)


def add_door(connection: Connection, key: str, *, role: Role, person: str = "") -> None:
    """Let who has this key in, as an engineer or as one person; earlier keys and sessions end."""
    for table in ("gateway_door", "gateway_session"):
        connection.execute(
            f"DELETE FROM {table} WHERE role = ? AND person = ?",  # noqa: S608
            (role, person),
        )
    connection.execute("INSERT INTO gateway_door VALUES (?, ?, ?)", (digest(key), role, person))


def door_of(connection: Connection, key: str) -> tuple[Role, str] | None:
    """Whom a door's key lets in."""
    row = connection.execute(
        "SELECT role, person FROM gateway_door WHERE hash = ?", (digest(key),)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def enter(connection: Connection, key: str, *, seconds: int, now: int) -> str | None:
    """A session's secret for who has a door's key; None if no door fits."""
    row = door_of(connection, key)
    if row is None:
        return None
    made = secret()
    connection.execute("DELETE FROM gateway_session WHERE expires <= ?", (now,))
    connection.execute(
        "INSERT INTO gateway_session VALUES (?, ?, ?, ?, ?)",
        (digest(made), row[0], row[1], secret(), now + seconds),
    )
    return made


def session(connection: Connection, made: str, now: int) -> Session | None:
    """Who a session's secret belongs to."""
    row = connection.execute(
        "SELECT role, person, form, expires FROM gateway_session WHERE hash = ?", (digest(made),)
    ).fetchone()
    return None if row is None or row[3] <= now else Session(row[0], row[1], row[2])


def leave(connection: Connection, made: str) -> None:
    """End a session."""
    connection.execute("DELETE FROM gateway_session WHERE hash = ?", (digest(made),))
