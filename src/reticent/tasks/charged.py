"""A release through a ledger: charge, draw, keep the answer, then show it.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge)
Notation  amounts in nano-epsilon
Not here  the ledger (ledger/), how a value is kept (kept.py), options and words (cli/).

What a key was given for is remembered without any data: whose accounts, which event, and what
``about`` says. The same key so repeats its answer whatever has become of the data since, and after
a crash it draws again at no charge, for nobody has seen the first answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from reticent.amounts import show_nano
from reticent.errors import ParameterError
from reticent.guarantees import DPLoss, Event, canonical
from reticent.guarantees.card import Budget
from reticent.ledger import OVERALL, Charge, Ledger, Request, period_of
from reticent.ledger.accounts import LARGEST, Renewal
from reticent.ledger.reports import Balance, balances
from reticent.mechanisms.base import Mechanism, Release
from reticent.noise import Source
from reticent.tasks import kept

Value = TypeVar("Value")

ANYONE = "anyone"
"""With whom an account is when a release is for no provider in particular."""
LIBRARY = "library"
"""Whose keys they are unless a caller says otherwise."""
NO_LIMIT = "none"
"""What a card says of an account that nobody limits."""
_KEY_BITS = 64
_FEW = 8  # accounts that are looked up one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Whose budget is charged, with whom, and up to what; without a limit it is counted only."""

    subject: str
    provider: str = ANYONE
    what: str = OVERALL
    limit: int | None = None
    renews: Renewal = "never"

    def up_to(self, limit: int | None) -> Payer:
        """The same, and no more than ``limit`` nano-epsilon in all, if there is one."""
        limits = [most for most in (self.limit, limit) if most is not None]
        return replace(self, limit=min(limits, default=None))

    def charge(self, nano: int) -> Charge:
        """To be charged this amount."""
        return Charge(
            subject=self.subject,
            provider=self.provider,
            what=self.what,
            renews=self.renews,
            nano=nano,
            limit=LARGEST if self.limit is None else self.limit,
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """What an account has spent in this period, and may spend."""

    payer: Payer
    spent: int
    limit: int | None

    @property
    def left(self) -> int | None:
        """None where nothing limits it."""
        return None if self.limit is None else max(self.limit - self.spent, 0)

    def budget(self, people: int = 1) -> Budget:
        """For a card; of several people it is the one who has lost most."""
        of_all = f"; the most that any of {people:,} people has lost" if people > 1 else ""
        return Budget(
            spent=show_nano(self.spent),
            limit=NO_LIMIT if self.limit is None else show_nano(self.limit),
            renews=self.payer.renews,
            rule=f"losses add{of_all}",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Charged(Generic[Value]):
    """A value that a ledger has counted: its card takes ``budget``; ``key`` repeats it for free."""

    value: Value
    budget: Budget
    key: str
    replayed: bool


def release_once(
    mechanism: Mechanism[Value],
    data: Any,
    source: Source,
    *,
    ledger: Ledger,
    payers: Payer | Sequence[Payer],
    key: str | None = None,
    principal: str = LIBRARY,
) -> Charged[Release[Value]]:
    """A release that is charged before it is drawn; ``BudgetExceeded`` draws and charges nothing.

    >>> import tempfile, pathlib
    >>> from reticent.ledger import open_ledger
    >>> from reticent.mechanisms import DiscreteLaplace
    >>> ledger = open_ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.db")
    >>> survey = Payer(subject="data set survey", limit=10**9)
    >>> counts = DiscreteLaplace(epsilon="0.5", size=3)
    >>> first, again = (
    ...     release_once(counts, [5, 2, 9], Source.system(), ledger=ledger, payers=survey, key="1")
    ...     for _ in range(2)
    ... )
    >>> first.budget.spent, again.budget.spent, again.replayed
    ('0.5', '0.5', True)
    >>> bool((first.value.value == again.value.value).all())
    True
    >>> ledger.close()
    """
    event = mechanism.event(source)
    charged = answer_once(
        event,
        lambda: mechanism.release(data, source).value,
        ledger=ledger,
        payers=payers,
        key=key,
        principal=principal,
    )
    whole = Release(charged.value, event, mechanism)
    return Charged(whole, charged.budget, charged.key, charged.replayed)


def answer_once(
    event: Event,
    make: Callable[[], Value],
    *,
    ledger: Ledger,
    payers: Payer | Sequence[Payer],
    amounts: Sequence[int] | None = None,
    key: str | None = None,
    principal: str = LIBRARY,
    about: str = "",
    keep: Callable[[Value], bytes] = kept.keep,
    restore: Callable[[bytes], Value] = kept.restore,
) -> Charged[Value]:
    """What ``make`` draws, charged first and kept; or the answer that ``key`` got before.

    ``about`` is all that decides the answer besides the event and the data; it must not hold data.
    Every payer is charged the event's whole loss, or what ``amounts`` say, in nano-epsilon; an
    average in bits does not add, and is written down with amount 0.
    """
    everybody = (payers,) if isinstance(payers, Payer) else tuple(payers)
    key = new_key() if key is None else key
    each = [amount(event)] * len(everybody) if amounts is None else amounts
    named = [[one.subject, one.provider, one.what] for one in everybody]
    request = Request(
        principal=principal,
        key=key,
        body=canonical([about, named]).encode(),
        event=event,
        charges=tuple(one.charge(nano) for one, nano in zip(everybody, each, strict=True)),
    )
    drawn: list[Value] = []

    def made() -> bytes:
        drawn[:] = [make()]
        return keep(drawn[0])

    answer = ledger.once(request, made)
    value = restore(answer.value) if answer.replayed else drawn[0]
    return Charged(value, most_spent(ledger, everybody), key, answer.replayed)


def amount(event: Event) -> int:
    """What an event costs an account; what is no worst case does not add, and costs nothing."""
    return event.loss.overall if isinstance(event.loss, DPLoss) else 0


def new_key() -> str:
    """A key that nobody has used."""
    return f"{Source.system().bits(_KEY_BITS):0{_KEY_BITS // 4}x}"


def most_spent(ledger: Ledger, payers: Sequence[Payer]) -> Budget:
    """The budget that a card shows: of the account that has spent most."""
    found = max(standings(ledger, payers), key=lambda one: one.spent, default=None)
    if found is None:
        raise ParameterError("payers", "one or more", 0)
    return found.budget(len(payers))


def standings(ledger: Ledger, payers: Sequence[Payer]) -> list[Standing]:
    """What each account has spent in its period, in the order of ``payers``."""
    alone = len(payers) <= _FEW
    wanted = {(one.subject if alone else None, one.provider) for one in payers}
    held: dict[tuple[str, str, str], list[Balance]] = {}
    with ledger.reading() as connection:
        for subject, provider in wanted:
            for one in balances(connection, subject=subject, provider=provider):
                name = (one.account.subject, one.account.provider, one.account.what)
                held.setdefault(name, []).append(one)
    now = int(time.time())
    found = [held.get((one.subject, one.provider, one.what), []) for one in payers]
    return [_standing(payer, own, now) for payer, own in zip(payers, found, strict=True)]


def _standing(payer: Payer, held: Sequence[Balance], now: int) -> Standing:
    """By the account of this period, or of a later one that the ledger's clock has seen."""
    period = period_of(payer.renews, now)
    own = [
        one
        for one in held
        if len(one.account.period) == len(period) and one.account.period >= period
    ]
    limits = [] if payer.limit is None else [payer.limit]
    if not own:
        return Standing(payer, 0, payer.limit)
    last = max(own, key=lambda one: one.account.period)
    limits += [last.limit] if last.limit < LARGEST else []
    return Standing(payer, last.spent, min(limits) if limits else None)
