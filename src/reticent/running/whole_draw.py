"""An answer that is drawn as a whole, in one process: everybody charged by key, then shown at once.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Not here  answers that are drawn person by person (local.py), begin, charge and show (making.py).

What one person gets depends on others here, so there are no pieces: a run that was broken off
before all was drawn draws anew, as nobody was charged; after that it is never drawn again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from reticent.noise import Source
from reticent.running.arranging import parts_for
from reticent.running.inputs import ROWS
from reticent.running.making import Making, Ready
from reticent.running.merging import Counted, Part
from reticent.running.seals import Seal
from reticent.running.staging import Staging, digest_of, settle, sync, write_whole


class WholeDraw(Counted, Protocol):
    """A release that is drawn as a whole."""

    @property
    def charges(self) -> Sequence[tuple[str, int]]:
        """Everybody in canonical order, and what each loses in nano-epsilon."""

    def data(self) -> str:
        """A digest of the private data; it is sealed before anything keeps it."""

    def draw(self, source: Source) -> Iterable[Any]:
        """Arrow tables whose first column names people; nobody's rows are in two of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WholeRun(Making):
    """A release of ``job`` into a folder."""

    job: WholeDraw

    @property
    def counted(self) -> Counted:
        """The job."""
        return self.job

    def facts(self, seal: Seal) -> dict[str, Any]:
        """The data, and who there is."""
        people = hashlib.sha256("\0".join(name for name, _ in self.job.charges).encode())
        return {"table": seal(self.job.data()), "people": seal(people.hexdigest())}

    def drawn(self, staging: Staging) -> Ready:
        """All files; the note that they are whole is written last."""
        note = staging.home / "drawn.json"
        if not note.exists():
            for left in staging.shown.iterdir():
                left.unlink()
            files = {}
            for path in write_parts(staging, self.job.draw(self.source)):
                sync(path)
                files[path.name] = digest_of(path)
            settle(staging.shown)
            write_whole(note, json.dumps(files).encode())
        files = json.loads(note.read_text())
        self.say("drawing", 1, 1)
        return Ready(len(self.job.charges), files, lambda: self._parts(files))

    def _parts(self, files: dict[str, str]) -> Iterator[Part]:
        """Some people at a time; each part stands for the whole draw."""
        whole = hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
        for number, first in enumerate(range(0, len(self.job.charges), ROWS)):
            some = self.job.charges[first : first + ROWS]
            yield Part(f"{number:05d}", [name for name, _ in some], [n for _, n in some], whole)


def write_parts(staging: Staging, tables: Iterable[Any]) -> Iterator[Path]:
    """Tables in the order of their rows as files of the output; people are not divided."""
    parquet, count = import_module("pyarrow.parquet"), 0
    for table in tables:
        for first, last in _cut(table.column(0).to_pylist()):
            path = staging.part(f"{count:05d}")
            parquet.write_table(table.slice(first, last - first), path)
            count += 1
            yield path


def _cut(names: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Rows of a file, from the first to before the last, by the number of people alone."""
    starts = [at for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
    people, ends = len(starts), [*starts, len(names)]
    for number in range(parts_for(people)):
        yield tuple(ends[people * (number + end) // parts_for(people)] for end in (0, 1))  # type: ignore[misc]
