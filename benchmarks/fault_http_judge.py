"""What clients were told, beside what the database holds: one key, one answer, one charge.

Not here  who asked (fault_http_work.py).

What a release costs whom is worked out again from the files of the people and the public terms.
An answer that cost nothing is right where somebody does not allow anything, or where the budget of
somebody had no room for it: what is spent only rises, so there is no room in the end either.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchmarks.fault_http_work import Told, digest
from reticent.amounts import nano_down
from reticent.gateway import Gateway
from reticent.ledger import verify_ledger
from reticent.ledger.accounts import LARGEST


@dataclass(frozen=True)
class Findings:
    """What records and database say together."""

    keys: int
    overspent: int
    lost: int
    double: int
    miscounted: int
    unanswered: int
    problems: tuple[str, ...]

    @property
    def violations(self) -> int:
        """All that must not be."""
        wrong = self.overspent + self.lost + self.double + self.miscounted + self.unanswered
        return wrong + len(self.problems)


@dataclass(frozen=True)
class Held:
    """The tables, read at once."""

    spends: list[tuple[int, str, str, bytes | None]]
    charges: dict[int, dict[int, int]]  # by spend: account and amount
    accounts: dict[int, tuple[str, str, int, int]]  # subject, provider, limit, spent
    problems: tuple[str, ...]


def judge(gateway: Gateway, told: Told) -> Findings:
    """Compare."""
    held: Held = gateway.read(_held)
    count = Counter((principal, key) for _, principal, key, _ in held.spends)
    kept = {(principal, key): answer for _, principal, key, answer in held.spends}
    lost = sum(
        kept.get(place) is None or digest(gateway.finish(kept[place] or b"")) not in seen
        for place, seen in told.answers.items()
    )
    # in a sound run every key that was charged was told to somebody, as clients do not give up
    unheard = sum(place not in told.answers or kept[place] is None for place in kept)
    double = sum(len(seen) > 1 for seen in told.answers.values())
    return Findings(
        keys=len(told.answers),
        overspent=_overspent(gateway, held),
        lost=lost,
        double=double + sum(times > 1 for times in count.values()),
        miscounted=_miscounted(gateway, held),
        unanswered=unheard + told.given_up,
        problems=held.problems,
    )


def _held(connection: Any) -> Held:
    charges: dict[int, dict[int, int]] = defaultdict(dict)
    for spend, account, nano in connection.execute("SELECT spend, account, nano FROM charge"):
        charges[spend][account] = nano
    rows = connection.execute("SELECT id, principal, key, answer FROM spend").fetchall()
    accounts = connection.execute(
        "SELECT id, subject, provider, lim, spent FROM account"
    ).fetchall()
    return Held(
        [(row[0], row[1], row[2], None if row[3] is None else bytes(row[3])) for row in rows],
        dict(charges),
        {row[0]: (row[1], row[2], row[3], row[4]) for row in accounts},
        verify_ledger(connection).problems,
    )


def _total(gateway: Gateway, subject: str, provider: str) -> int:
    """What a person's own file lets a provider have."""
    granted = gateway.person(subject).preferences.providers.get(provider)
    if granted is None or granted.total is None:
        return LARGEST
    return nano_down(granted.total)


def _overspent(gateway: Gateway, held: Held) -> int:
    """Accounts above their limit or their owner's total, or not the sum of their charges."""
    sums: Counter[int] = Counter()
    for charges in held.charges.values():
        sums.update(charges)
    return sum(
        spent > min(limit, _total(gateway, subject, provider)) or spent != sums[number]
        for number, (subject, provider, limit, spent) in held.accounts.items()
    )


def _miscounted(gateway: Gateway, held: Held) -> int:
    """Answers that do not cost what they must."""
    offers, places = gateway.world().offers, gateway.world().catalogue.places
    room = {
        (subject, provider): min(limit, _total(gateway, subject, provider)) - spent
        for subject, provider, limit, spent in held.accounts.values()
    }

    @lru_cache(None)
    def cost(subject: str, provider: str, kind: str) -> int:
        terms, wishes = offers[provider][kind].terms, gateway.person(subject).preferences
        return terms.allowance(wishes, provider, places).nano

    wrong = 0
    for number, provider, key, answer in held.spends:
        told = json.loads(answer or b"{}")
        people = [told[name] for name in ("subject", "other") if name in told]
        due = {person: cost(person, provider, told["kind"]) for person in people}
        paid = {
            held.accounts[account][0]: nano
            for account, nano in held.charges.get(number, {}).items()
        }
        # who has nothing left pays nothing, and the other one of two pays all the same
        right = paid.keys() == due.keys() and all(
            paid[person] == nano or (paid[person] == 0 and nano > room.get((person, provider), 0))
            for person, nano in due.items()
        )
        wrong += not (right and told.get("key") == key)
    return wrong
