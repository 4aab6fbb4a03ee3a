"""What workers ask of a ledger while they are killed, and the record they keep for themselves.

Not here  the killing (faults.py), the ledgers (fault_stores.py).

Every worker writes what it was told to a file of its own, synced, after the ledger returned. These
records, not the ledger, decide what was lost: each says a key, a body and the answer. What a key
costs and whom follows from its number, so that whatever was answered can be added up again. Every
person has two accounts, of which one has a higher limit; they are charged alike, or neither is. An
answer that begins with ``COVER`` was kept where somebody could not pay.
"""

from __future__ import annotations

import os
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_longlong
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.fault_stores import Held, Ledger, Store
from reticent.errors import BudgetExceeded
from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import OVERALL, Charge, KeyReused, LedgerError, Request, Sealed

LIMIT = 120  # nano-epsilon of every account: a third or so of what is asked for
ACCOUNTS = 8  # people of a season, of whom a request charges three
SEASON = 160  # keys after which new people come
COVER = b"cover "
WHATS = {OVERALL: LIMIT, "item: one": 2 * LIMIT}  # limits of a person's accounts
EVENT = Event("fault run", {}, PureDP(1, RECORD), private=True)
THREADS = 4


def costs(number: int) -> dict[str, int]:
    """Whom a key charges how much."""
    choice = random.Random(number)
    season = number // SEASON
    people = choice.sample(range(ACCOUNTS), 3)
    return {f"person {season}.{one}": choice.randint(1, 9) for one in people}


def request_of(number: int, body: bytes) -> Request:
    """The request of a key."""
    charges = tuple(
        Charge(subject=person, provider="shop", what=what, nano=nano, limit=limit)
        for person, nano in costs(number).items()
        for what, limit in WHATS.items()
    )
    return Request(principal="shop", key=str(number), body=body, event=EVENT, charges=charges)


def work(store: Store, where: Path, name: str, counter: c_longlong) -> None:
    """A worker: ask until killed. A fifth of the keys were used before, 1 % have another body."""
    ledger = store.open(where)
    handle = os.open(where / f"record.{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with ThreadPoolExecutor(THREADS) as threads:
        for done in [threads.submit(_ask, ledger, handle, counter) for _ in range(THREADS)]:
            done.result()


def _ask(ledger: Ledger, handle: int, counter: c_longlong) -> None:
    choice = random.Random(os.urandom(16))
    while True:
        if choice.random() < 0.2:
            number = max(counter.value - choice.randint(0, 40), 0)
        else:
            counter.value += 1  # two workers may get one number: one more key used twice
            number = counter.value
        body = b"other" if choice.random() < 0.01 else b"body"
        drawn = f"{number} {os.urandom(8).hex()}".encode()
        request = request_of(number, body)
        try:
            value = ask(ledger, request, drawn, choice)
            said = f"answered {number} {body.decode()} {value.hex()}\n"
        except BudgetExceeded:
            said = f"refused {number}\n"
        except KeyReused:
            said = f"reused {number}\n"
        except LedgerError:  # the naive one, read while it was written; a server that is gone
            said = f"failed {number}\n"
            time.sleep(0.05)
        os.write(handle, said.encode())
        if said.startswith("answered"):
            os.fdatasync(handle)


def ask(ledger: Ledger, request: Request, drawn: bytes, choice: random.Random) -> bytes:
    """The answer, by one of the ways to get one."""
    way = choice.randrange(3)
    if way == 0:
        return ledger.once(request, partial(bytes, drawn)).value
    return ledger.once_with(request, drawn if way == 1 else Sealed(drawn, COVER + drawn)).value


@dataclass(frozen=True)
class Findings:
    """What the workers' records and the ledger say together."""

    requests: int
    keys: int
    overspent: int
    lost: int
    double: int
    unanswered: int
    problems: tuple[str, ...]

    @property
    def violations(self) -> int:
        """All that must not be."""
        return self.overspent + self.lost + self.double + len(self.problems)


def judge(where: Path, held: Held) -> Findings:
    """Overspent accounts, answers that the ledger does not know, keys with two answers."""
    told: dict[str, set[tuple[str, bytes]]] = defaultdict(set)
    requests = 0
    for kind, number, *rest in _records(where):
        requests += kind != "failed"
        if kind == "answered":
            told[number].add((rest[0], bytes.fromhex(rest[1])))
    sent: dict[str, int] = defaultdict(int)
    lost = 0
    for number, answers in told.items():
        for person, nano in _paid(number, next(iter(answers))[1]):
            sent[person] += nano
        lost += any(held.answers.get(number) != value for _, value in answers)
    charged: dict[str, int] = defaultdict(int)
    for number, answer in held.answers.items():
        for person, nano in _paid(number, answer):
            charged[person] += nano
    over = {person for person, nano in sent.items() if nano > LIMIT}
    over |= {person for person, (spent, limit) in held.spent.items() if spent > min(limit, LIMIT)}
    # what an account says it spent covers every answer that left, and every answer that is kept
    short = sum(
        held.spent.get(person, (0, 0))[0] < max(sent[person], charged[person])
        for person in sent.keys() | charged.keys()
    )
    return Findings(
        requests=requests,
        keys=len(told),
        overspent=len(over),
        lost=lost + short,
        double=sum(len(answers) > 1 for answers in told.values()),
        unanswered=held.unanswered,
        problems=held.problems,
    )


def _paid(number: str, answer: bytes) -> Iterable[tuple[str, int]]:
    """What every one of a key's people must have paid for its answer."""
    return () if answer.startswith(COVER) else costs(int(number)).items()


def _records(where: Path) -> Iterator[list[str]]:
    for path in sorted(where.glob("record.*")):
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):  # killed while it wrote: nobody was told
                yield line.split()
