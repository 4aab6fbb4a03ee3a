"""Power cuts: is every answer that was sent still in the ledger when the power comes back.

Not here  the disk (fault_disk.py), process kills (faults.py).

The ledger works on a disk that writes everything down. Then the power is cut at random moments of
that trace, half of the cuts torn, and the ledger opens what is left, with Python's own SQLite. The
control is the same ledger with ``synchronous=NORMAL``, which must lose answers.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any, cast

from benchmarks.fault_disk import Connection, Disk, Platter, Step
from benchmarks.fault_stores import uneven
from benchmarks.fault_work import ask as ask_ledger
from benchmarks.fault_work import request_of
from reticent.errors import BudgetExceeded
from reticent.ledger import LedgerError, SqliteLedger, verify_ledger
from reticent.ledger.sqlite import SETTINGS

THREADS = 4
REQUESTS = 60  # of each thread in one trace
CUTS = 50  # in one trace
CONTROL_CUTS = 100
_SMALL_LOG = "wal_autocheckpoint=60"  # pages: many checkpoints, so that cuts fall into them too


def power(cuts: int) -> dict[str, int]:
    """Cut so often with the ledger's own settings, then with a weaker one."""
    found = _cut(cuts, SETTINGS)
    weak = [setting.replace("=FULL", "=NORMAL") for setting in SETTINGS]
    control = _cut(min(cuts, CONTROL_CUTS), weak)
    return {
        **{key: found[key] for key in ("cuts", "torn", "acknowledged")},
        **{key: found[key] for key in ("overspent", "lost", "double", "problems")},
        "control_cuts": control["cuts"],
        "control_acknowledged": control["acknowledged"],
        "control_lost": control["lost"],
        "control_violations": control["lost"] + control["double"] + control["problems"],
    }


def _cut(cuts: int, settings: Any) -> Counter[str]:
    found: Counter[str] = Counter()
    while (left := cuts - found["cuts"]) > 0:
        with tempfile.TemporaryDirectory(prefix="power-") as made:
            begin, steps = _trace(Path(made), [*settings, _SMALL_LOG])
            found += _cuts(begin, steps, min(CUTS, left), Path(made))
    return found


def _trace(where: Path, settings: list[str]) -> tuple[dict[str, bytes], list[Step]]:
    """What a ledger's file held at first, and what happened while threads asked it."""
    path = where / "ledger.db"
    SqliteLedger.open(path).close()
    begin = {path.name: path.read_bytes()}
    disk = Disk(f"disk-{os.urandom(8).hex()}")
    connection = Connection.open(path, disk, settings)
    ledger = SqliteLedger(path, cast(Any, connection))
    first = random.randrange(10**6)

    def ask(seed: int) -> None:
        choice = random.Random(seed)
        for _ in range(REQUESTS):
            number = first + choice.randrange(THREADS * REQUESTS)
            drawn = f"{number} {os.urandom(8).hex()}".encode()
            request = request_of(number, b"body")
            try:
                value = ask_ledger(ledger, request, drawn, choice)
            except BudgetExceeded:
                continue
            disk.trace.add(Step("sent", str(number), data=value))

    threads = [threading.Thread(target=ask, args=(first + n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps = list(disk.trace.steps)
    ledger.close()
    disk.unregister()
    return begin, steps


def _cuts(begin: dict[str, bytes], steps: list[Step], cuts: int, where: Path) -> Counter[str]:
    choice = random.Random(os.urandom(16))
    moments = sorted(choice.randrange(len(steps) + 1) for _ in range(cuts))
    platter = Platter(begin)
    sent: dict[str, set[bytes]] = {}
    found: Counter[str] = Counter()
    done = 0
    for count, moment in enumerate(moments):
        for step in steps[done:moment]:
            if step.kind == "sent":
                sent.setdefault(step.name, set()).add(step.data)
            else:
                platter.apply(step)
        done = moment
        torn = choice if count % 2 else None
        folder = where / f"cut-{count}"
        folder.mkdir()
        for name, held in platter.after_cut(torn).items():
            (folder / name).write_bytes(held)
        found += _look(folder / "ledger.db", sent)
        found["cuts"] += 1
        found["torn"] += torn is not None
        for left in folder.iterdir():
            left.unlink()
    return found


def _look(path: Path, sent: dict[str, set[bytes]]) -> Counter[str]:
    """What is wrong with a ledger after a cut."""
    found: Counter[str] = Counter(acknowledged=len(sent))
    found["double"] = sum(len(values) > 1 for values in sent.values())
    try:
        with SqliteLedger.open(path) as ledger:
            with ledger.reading() as connection:
                problems = (*verify_ledger(connection).problems, *uneven(connection))
                kept = dict(connection.execute("SELECT key, answer FROM spend"))
                over = "SELECT count(*) FROM account WHERE spent > lim"
                found["overspent"] = connection.execute(over).fetchone()[0]
            if sent and not problems:  # and it goes on: the key that was sent last is replayed
                number, values = next(reversed(sent.items()))
                if kept.get(number) in values:
                    again = ledger.once_with(request_of(int(number), b"body"), b"drawn again")
                    found["double"] += again.value not in values
    except LedgerError as error:
        problems, kept = (str(error),), {}
    found["lost"] = sum(kept.get(number) not in values for number, values in sent.items())
    found["problems"] = len(problems)
    for problem in problems[:3]:
        print(problem, file=sys.stderr)
    return found
