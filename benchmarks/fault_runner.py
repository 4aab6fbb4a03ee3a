"""Kill -9 of a release over many people, again and again, at every stage of it.

Not here  the runner (reticent.running), the other faults (faults.py).

A process with two workers releases a table under one key. It is killed, with its workers, after a
chosen moment: some parts are drawn, all are, somebody is being charged, the output was just shown.
It is started again until it ends by itself. Then everybody must have one row and one charge. The
control forgets, as a naive script does: it begins anew each time, and must be caught.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.ledger import open_ledger
from reticent.ledger.verification import verify_ledger
from reticent.preferences import Preferences
from reticent.running import inputs
from reticent.running.staging import Staging
from reticent.tasks.charged import new_key

PROVIDER = "club.example"
LOSS = 400_000_000
WISHES = f"version = 1\nattributes.default = 0.2\nproviders.'{PROVIDER}' = {{epsilon = 0.4}}\n"
_WAIT = 120.0  # seconds for one start


def public() -> dict[str, Any]:
    """Two attributes, three items."""
    films = Catalogue.of(
        [[1, 1], [0, 1], [1, 0]], items=("Heat", "Up", "Ran"), attributes=("Crime", "Drama")
    )
    return {"catalogue": films, "preferences": Preferences.parse(WISHES)}


def make(path: Path, people: int, group: int) -> None:
    """A table of people with one or two items each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ("Heat", "Up", "Ran")
    items = [[names[n % 3], names[n % 2]] for n in range(people)]
    table = pa.table({"person": [f"p{n}" for n in range(people)], "items": items})
    pq.write_table(table, path, row_group_size=group)


def moments(folder: Path) -> dict[str, Callable[[], bool]]:
    """When to kill: conditions that are looked at from outside."""
    staging = Staging(folder / "out.parquet")

    def there(kind: str, count: int) -> bool:
        return len(list(staging.home.glob(f"{kind}-*.parquet"))) >= count

    return {
        "begun": (staging.home / "manifest.json").exists,
        "one piece drawn": lambda: there("charges", 1),
        "half of the pieces drawn": lambda: there("charges", 4),
        "all pieces drawn": lambda: there("charges", 8),
        "half of the parts arranged": lambda: there("arranged", 4),
        "all parts arranged": lambda: there("arranged", 8),
        "some charged": lambda: charged(folder) >= 1,
        "more charged": lambda: charged(folder) >= 4,
        "shown": staging.out.exists,
    }


def charged(folder: Path) -> int:
    """Parts that are in the ledger."""
    path = folder / "ledger.db"
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as connection:
            return int(connection.execute("SELECT count(*) FROM spend").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet, or busy
        return 0


def killed_at(folder: Path, reached: Callable[[], bool], *, naive: bool = False) -> bool:
    """Start the release and kill it when the moment has come; whether it ended by itself."""
    command = [sys.executable, "-m", "benchmarks.fault_runner", str(folder)]
    process = subprocess.Popen([*command, "naive"] if naive else command, start_new_session=True)
    end = time.monotonic() + _WAIT
    while process.poll() is None and time.monotonic() < end:
        if reached():
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False
        time.sleep(0.001)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        raise RuntimeError("the release did not end")
    return process.returncode == 0


def judge(folder: Path, people: int) -> dict[str, int]:
    """One row and one charge for everybody, in a ledger that holds."""
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "out.parquet", columns=["person"]).column(0).to_pylist()
    with open_ledger(folder / "ledger.db") as ledger, ledger.reading() as connection:
        spent = dict(connection.execute("SELECT subject, spent FROM account").fetchall())
        problems = verify_ledger(connection).problems
    wanted = {f"p{n}" for n in range(people)}
    return {
        "rows": len(rows),
        "missing": len(wanted - set(rows)),
        "twice": len(rows) - len(set(rows)),
        "not_charged_once": sum(spent.get(name) != LOSS for name in wanted),
        "others_charged": len(set(spent) - wanted),
        "problems": len(problems),
    }


def trial(folder: Path, *, people: int = 8_000) -> dict[str, int]:
    """A release that is killed at each moment in turn, then left alone."""
    make(folder / "in.parquet", people, people // 8)
    kills, redrawn, seen = 0, 0, dict[str, bytes]()
    for reached in (*moments(folder).values(), lambda: False):
        ended = killed_at(folder, reached)
        kills += not ended
        now = digests(folder)
        redrawn += sum(now[name] != held for name, held in seen.items() if name in now)
        seen |= now
    return {"kills": kills, "ended": int(ended), "redrawn": redrawn, **judge(folder, people)}


def control(folder: Path, *, people: int = 8_000) -> int:
    """How many people a release that begins anew charges wrongly after one kill."""
    make(folder / "in.parquet", people, people // 8)
    killed_at(folder, moments(folder)["some charged"], naive=True)
    killed_at(folder, lambda: False, naive=True)
    return judge(folder, people)["not_charged_once"]


BROKEN = ("redrawn", "missing", "twice", "not_charged_once", "others_charged", "problems")


def runner_kills() -> dict[str, int]:
    """The trial and its control."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        found = trial(Path(first))
        return {**found, "control_violations": control(Path(second))}


def digests(folder: Path) -> dict[str, bytes]:
    """What pieces and parts hold that are whole, wherever they are by now."""
    staging = Staging(folder / "out.parquet")
    if staging.out.exists():
        return {path.name: path.read_bytes() for path in staging.out.glob("part-?????.parquet")}
    names = {
        kind: [path.stem.split("-", 1)[1] for path in staging.home.glob(f"{kind}-*.parquet")]
        for kind in ("charges", "arranged")
    }
    pieces = [staging.piece(name) for name in names["charges"]]
    parts = [staging.part(name) for name in names["arranged"]]
    return {path.name: path.read_bytes() for path in (*pieces, *parts) if path.exists()}


def main() -> None:
    """The release itself, as it is started and killed."""
    inputs.pieces_of.__defaults__ = (1000,)  # small pieces, and parts
    inputs.ROWS = 1000
    folder, naive = Path(sys.argv[1]), "naive" in sys.argv
    key = "killed"
    if naive:
        key = new_key()
        shutil.rmtree(Staging(folder / "out.parquet").home, ignore_errors=True)
    with open_ledger(folder / "ledger.db") as ledger:
        data, out = {"profiles": folder / "in.parquet", **public()}, folder / "out.parquet"
        rt.Histogram(provider=PROVIDER).release(data, out=out, key=key, ledger=ledger, processes=2)


if __name__ == "__main__":
    main()
