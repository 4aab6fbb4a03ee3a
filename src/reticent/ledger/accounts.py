"""What a ledger counts: accounts, charges to them, and the request that asks for all of them.

Notation  an account = one subject's budget with one provider, over everything or for one attribute
          or item, for one period; amounts in nano-epsilon
Not here  durability (sqlite.py, postgres.py), what an event loses (guarantees/).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from reticent.errors import ReticentError, require
from reticent.guarantees.events import Event
from reticent.guarantees.losses import require_dp
from reticent.ledger.guards import Guard

Renewal: TypeAlias = Literal["never", "yearly", "monthly", "weekly", "daily"]
OVERALL = "overall"
DELETED = "the answer to this key was deleted with its subject"
LARGEST = 1 << 60  # nano-epsilon of an account: a billion epsilon, far from the end of 63 bits
_RENEWALS = get_args(Renewal)
_DAY = 86_400  # seconds


class LedgerError(ReticentError):
    """A ledger that cannot be used, or a request that it must not answer."""


class Damaged(LedgerError):
    """What a store holds cannot be read any more."""


class KeyReused(LedgerError):
    """A key that was used before, for something else."""

    def __init__(self) -> None:
        super().__init__("this key was used before for another request; use a new key")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent, and whether it had been made before."""

    value: bytes
    replayed: bool


class TracesLeft(LedgerError):
    """Somebody was forgotten, but the log could not be emptied."""

    def __init__(self) -> None:
        super().__init__(
            "forgotten, but the log still holds traces while somebody reads: forget again later"
        )


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """Whose budget, with whom, for what, and in which period (empty where it never renews)."""

    subject: str
    provider: str
    what: str = OVERALL
    period: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """An amount for an account, and the limit that its owner sets now.

    A limit below the one on record takes its place; a higher one does not: see ``raise_limit``.
    """

    subject: str
    provider: str
    what: str = OVERALL
    renews: Renewal = "never"
    nano: int
    limit: int

    def __post_init__(self) -> None:
        nano, limit = self.nano, self.limit
        if not (  # millions are made for a large release: what is wrong is looked for if it is
            type(nano) is type(limit) is int
            and 0 <= nano <= LARGEST
            and 0 <= limit <= LARGEST
            and self.renews in _RENEWALS
            and _short(self.subject, 500)
            and _short(self.provider, 500)
            and _short(self.what, 500)
        ):
            self._explain()

    def _explain(self) -> None:
        for name in ("subject", "provider", "what"):
            require(_short(getattr(self, name), 500), name, "other", "a short text")
        for name in ("nano", "limit"):
            amount = getattr(self, name)
            good = isinstance(amount, int) and not isinstance(amount, bool)
            require(good and 0 <= amount <= LARGEST, name, amount, f"from 0 to {LARGEST}")
        require(self.renews in _RENEWALS, "renews", self.renews, "a known period")

    def account(self, at: int) -> Account:
        """The account that is charged at this time."""
        return Account(self.subject, self.provider, self.what, period_of(self.renews, at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One release that is asked for: by whom, under which key, what it costs and whom.

    The key belongs to the principal. ``body`` is all that decides the answer; the same key with
    another body or event, seen by its ``fingerprint``, is refused. Charges to one subject are made
    all or none. A ``guard`` is checked with the charge: ``Stale`` if what it names has changed.
    """

    principal: str
    key: str
    body: bytes
    event: Event
    charges: tuple[Charge, ...]
    guard: Guard | None = None
    told: str = field(init=False, repr=False)
    fingerprint: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("principal", "key"):
            require(_short(getattr(self, name), 200), name, "other", "a short text")
        require(len(self.charges) > 0, "charges", "none", "one or more: a release costs something")
        named = {(one.subject, one.provider, one.what) for one in self.charges}
        require(len(named) == len(self.charges), "charges", "repeated", "one for each account")
        object.__setattr__(self, "told", self.event.to_json())
        whole = len(self.body).to_bytes(8, "big") + self.body + self.told.encode()
        object.__setattr__(self, "fingerprint", hashlib.sha256(whole).hexdigest())


def charges_of(
    event: Event,
    *,
    subject: str,
    provider: str,
    limit: int,
    renews: Renewal = "never",
    attributes: Mapping[str, int] | None = None,
    items: Mapping[str, int] | None = None,
) -> tuple[Charge, ...]:
    """What an event costs a subject with a provider: overall, and where limits are finer."""
    loss = require_dp(event.loss)
    found = [
        Charge(subject=subject, provider=provider, renews=renews, nano=loss.overall, limit=limit)
    ]
    for kind, limits, spread in (
        ("attribute", attributes or {}, loss.attributes),
        ("item", items or {}, loss.items),
    ):
        for name, own in sorted(limits.items()):
            what = f"{kind}: {name}"
            charge = Charge(
                subject=subject,
                provider=provider,
                what=what,
                renews=renews,
                nano=spread[name],
                limit=own,
            )
            found.append(charge)
    return tuple(found)


def period_of(renews: Renewal, at: int) -> str:
    """The name of the period that holds this second.

    >>> [period_of(renews, 1_800_000_000) for renews in ("never", "yearly", "monthly", "weekly")]
    ['', '2027', '2027-01', '2027-W02']
    """
    return periods_of(at // _DAY)[renews]


@lru_cache(maxsize=8)
def periods_of(day: int) -> Mapping[Renewal, str]:
    """The names of the periods that hold this day since 1970.

    All of them: when a person's budget renews is theirs to know, also by the clock.
    """
    date = datetime.fromtimestamp(day * _DAY, UTC)
    year, week, _ = date.isocalendar()
    text = date.strftime("%Y-%m-%d")
    return MappingProxyType(
        {
            "never": "",
            "yearly": text[:4],
            "monthly": text[:7],
            "weekly": f"{year}-W{week:02d}",
            "daily": text,
        }
    )


def _short(text: object, most: int) -> bool:
    """Whether it is text that every store can hold: zero bytes and lone surrogates cannot be."""
    if not isinstance(text, str) or not 0 < len(text) <= most or "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
