"""How many people would count in full, partly or not at all on some terms; not for publishing.

Theory    docs/theory/terms.md, Theorem 1 (how far preferences stretch data)
Not here  profiles: none is read here, nor is anybody's name.

The numbers depend on what people allow, which is private. They are for who runs the gateway,
rounded down to tens, so that a single person who changes their mind hardly ever shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from reticent.preferences import Preferences
from reticent.tasks.terms import FULL, HistogramTerms

if TYPE_CHECKING:
    from reticent.gateway import Gateway
    from reticent.ledger import Connection

TENS = 10


@dataclass(frozen=True, slots=True)
class Counts:
    """People by how far they would count, as words."""

    full: str
    partly: str
    nothing: str


def count_people(gateway: Gateway, terms: HistogramTerms, provider: str) -> Counts:
    """Read everybody's preferences, and tell how many allow all, some or nothing of the terms."""
    found = {"full": 0, "partly": 0, "nothing": 0}
    for text, people in gateway.read(_files):
        found[_kind(_parsed(text), terms, provider)] += people
    return Counts(**{kind: rounded(number) for kind, number in found.items()})


def rounded(number: int) -> str:
    """A number of people, down to tens.

    >>> rounded(9), rounded(10), rounded(1239)
    ('fewer than 10', '10 or more', '1230 or more')
    """
    tens = number // TENS * TENS
    return f"{tens} or more" if tens else f"fewer than {TENS}"


def _kind(preferences: Preferences, terms: HistogramTerms, provider: str) -> str:
    allowed = terms.allowance(preferences, provider)
    if not allowed.nano or not allowed.weights.any():
        return "nothing"
    whole = bool((allowed.factors == FULL).all() and (allowed.weights == FULL).all())
    return "full" if whole else "partly"


@lru_cache(maxsize=5000)
def _parsed(text: str) -> Preferences:
    return Preferences.parse(text)


def _files(connection: Connection) -> list[tuple[str, int]]:
    rows = connection.execute(
        "SELECT preferences, count(*) FROM gateway_person GROUP BY preferences"
    ).fetchall()
    return [(row[0], int(row[1])) for row in rows]
