"""A disk that can be asked what it would hold had the power failed at any moment.

Not here  what is done to it (fault_power.py).

A VFS of SQLite's (by apsw) passes everything on to the file system and writes down each write, each
truncation and each sync, in order. A cut after any of them leaves what was synced before; a torn
one also some of the 512-byte sectors that were written since, at random: disks keep no order.
"""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import apsw

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened: to a file, or an answer that was sent."""

    kind: str  # "write", "truncate", "sync", "delete" or "sent"
    name: str
    offset: int = 0
    data: bytes = b""


@dataclass
class Trace:
    """All that happened, in order."""

    steps: list[Step] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, step: Step) -> None:
        """The next thing."""
        with self.lock:
            self.steps.append(step)


class _File(apsw.VFSFile):  # type: ignore[misc, unused-ignore]
    def __init__(self, trace: Trace, name: Any, flags: Any) -> None:
        super().__init__("", name, flags)
        self.trace = trace
        self.name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name).name

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self.trace.add(Step("write", self.name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self.trace.add(Step("truncate", self.name, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.trace.add(Step("sync", self.name))  # the file below need not be synced


class Disk(apsw.VFS):  # type: ignore[misc, unused-ignore]
    """A VFS that writes down what happens."""

    def __init__(self, name: str) -> None:
        self.trace = Trace()
        self.vfs_name = name
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: Any) -> Any:  # noqa: N802
        """A file that is watched."""
        return _File(self.trace, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """A file goes."""
        super().xDelete(filename, syncdir)
        self.trace.add(Step("delete", Path(filename).name))


class Rows:
    """The outcome of a statement, as ``sqlite3`` gives it."""

    def __init__(self, cursor: Any, rowcount: int, lastrowid: int) -> None:
        self.rowcount, self.lastrowid = rowcount, lastrowid
        self.fetchone, self.fetchall = cursor.fetchone, cursor.fetchall
        self._cursor = cursor

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)


class Connection:
    """A connection of apsw's that the ledger can use for one of ``sqlite3``."""

    def __init__(self, path: Path, disk: Disk, settings: Sequence[str]) -> None:
        self._held = apsw.Connection(str(path), vfs=disk.vfs_name)
        self._held.execute("PRAGMA locking_mode=EXCLUSIVE")  # a VFS of Python's shares no memory
        for setting in settings:
            self._held.execute(f"PRAGMA {setting}").fetchall()

    @classmethod
    def open(cls, path: Path, disk: Disk, settings: Sequence[str]) -> Self:
        """The same, by a name like the others'."""
        return cls(path, disk, settings)

    @property
    def in_transaction(self) -> bool:
        """Whether something is not committed."""
        return bool(self._held.in_transaction)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows:
        """One statement."""
        cursor = self._held.cursor()
        cursor.execute(sql, tuple(values))
        return Rows(cursor, self._held.changes(), self._held.last_insert_rowid())

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """One statement for many rows."""
        self._held.cursor().executemany(sql, [tuple(row) for row in rows])

    def close(self) -> None:
        """End it."""
        self._held.close()


class Platter:
    """What the files hold: surely, and perhaps."""

    def __init__(self, begin: Mapping[str, bytes]) -> None:
        self.sure: dict[str, bytearray] = {name: bytearray(held) for name, held in begin.items()}
        self.perhaps: dict[str, list[Step]] = defaultdict(list)

    def apply(self, step: Step) -> None:
        """The next step of a trace."""
        if step.kind in ("write", "truncate"):
            self.perhaps[step.name].append(step)
        elif step.kind == "sync":
            held = self.sure.setdefault(step.name, bytearray())
            for one in self.perhaps.pop(step.name, []):
                _change(held, one, 0, len(one.data))
        elif step.kind == "delete":
            self.sure.pop(step.name, None)
            self.perhaps.pop(step.name, None)

    def after_cut(self, torn: random.Random | None) -> dict[str, bytes]:
        """What is found when the power comes back."""
        found = {name: bytearray(held) for name, held in self.sure.items()}
        if torn is not None:
            for name, steps in self.perhaps.items():
                held = found.setdefault(name, bytearray())
                for one in steps:
                    for begin in range(0, max(len(one.data), 1), SECTOR):
                        if torn.random() < 0.5:
                            _change(held, one, begin, min(begin + SECTOR, len(one.data)))
        return {name: bytes(held) for name, held in found.items()}


def _change(held: bytearray, step: Step, begin: int, end: int) -> None:
    if step.kind == "truncate":
        del held[step.offset :]
        return
    first, last = step.offset + begin, step.offset + end
    if len(held) < last:
        held.extend(bytes(last - len(held)))
    held[first:last] = step.data[begin:end]
