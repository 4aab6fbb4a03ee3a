"""The runner: parts over all cores, everybody charged once, then the whole shown at once.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Not here  what one process does (drawing.py), begin, charge and show (making.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from reticent.data.labels import ordered
from reticent.errors import ParameterError, require
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.running import declaring, gathering, inputs
from reticent.running.arranging import arrange
from reticent.running.drawing import Told, charges_in, draw_piece, keep, people_in
from reticent.running.inputs import Piece
from reticent.running.making import Described, Making, Progress, Ran, Ready
from reticent.running.merging import Part, check_key
from reticent.running.people import comes_twice
from reticent.running.seals import Seal
from reticent.running.staging import Staging, StagingError, write_whole
from reticent.running.workers import Shared, Workers, processes_for
from reticent.tasks.batched import Batched, arrow
from reticent.tasks.charged import LIBRARY

Rows: TypeAlias = Literal["people", "items"]
"""What a row of the table is: a person, or one item of a person."""


def run(
    job: Batched,
    table: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    key: str,
    ledger: Ledger | None,
    source: Source | None = None,
    rows: Rows = "people",
    processes: int | None = None,
    principal: str = LIBRARY,
    progress: Progress | None = None,
    people: Iterable[Any] | None = None,
    limit: int | None = None,
    describe: Callable[[int], Described] = lambda people: Described(),
) -> Ran:
    """Release everybody of a table of any size, as a folder of Parquet files.

    ``table`` is one or more files or folders: Parquet, Arrow, CSV. ``people`` declares who there
    is: each of them has a row, with or without one in the table, and others are left out; without
    it, who is in the table is taken to be public. How many files there are depends on the number of
    people alone, and rows stand in canonical order of names in each.

    The same ``key`` takes up a run that was broken off, and repeats one that was finished, without
    another draw or charge. Nobody is charged beyond ``limit`` nano-epsilon in all. Without a ledger
    nobody is charged, and it is yours to count what everybody lost. All cores work unless
    ``processes`` says how many. ``describe`` is asked what to keep of a release of so many people,
    when all of them are charged.
    """
    arrow()
    check_key(key)
    source = Source.system() if source is None else source
    given = [table] if isinstance(table, (str, Path)) else list(table)
    return _Run(
        out=Path(out),
        key=key,
        ledger=ledger,
        source=source,
        principal=principal,
        limit=limit,
        describe=describe,
        progress=progress,
        job=job,
        files=inputs.files_of(given),
        rows=rows,
        processes=processes_for(processes),
        people=ordered(people, "people"),
    ).whole()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Run(Making):
    job: Batched
    files: Sequence[Path]
    rows: Rows
    processes: int
    people: list[str] | None

    @property
    def counted(self) -> Batched:
        return self.job

    def facts(self, seal: Seal) -> dict[str, Any]:
        people = declaring.fingerprint(self.people)
        return {
            "table": seal(inputs.fingerprint(self.files)),
            "rows": self.rows,
            "people": None if people is None else seal(people),
        }

    def check(self) -> None:
        """All files have the columns; what is missing is named, what is there is not."""
        for path in self.files:
            has = inputs.columns_in(path)
            for name in self.job.columns:
                if has.count(name) != 1:
                    raise ParameterError("table", f"with one column {name!r}", path.name)
        self._kind()

    def _kind(self) -> str:
        """What people are named by: a file of another kind could not be shown in one column."""
        kinds = {inputs.kind_of(path, self.job.person) for path in self.files}
        alike = len(kinds) == 1
        require(alike, "table", "both", "of files that all name people by numbers, or all by text")
        return kinds.pop()

    def drawn(self, staging: Staging) -> Ready:
        with Workers(self.processes) as workers:
            named = dict(self._pieces(staging, workers))
            _check_cut(staging, named)
            drawn = self._draw(staging, named, workers)
            self._check_people(staging, drawn)
            people = sum(one.people for one in drawn)
            arranged = arrange(staging, [one.name for one in drawn], people, workers)
        files = {f"part-{one.name}.parquet": one.digest for one in arranged if one.people}

        def parts() -> Iterator[Part]:
            for one in arranged:
                named, nano = people_in(staging.arranged(one.name))
                yield Part(one.name, named, nano, one.digest)

        return Ready(people, files, parts)

    def _pieces(self, staging: Staging, workers: Workers) -> Iterator[tuple[str, Piece]]:
        """All pieces by name."""
        if self.rows == "items":
            tasks = 4 * self.processes
            found = gathering.gathered(self.job, self.files, staging, workers, tasks, self.say)
        else:
            direct = [path for path in self.files if inputs.format_of(path) != "csv"]
            found = inputs.pieces_of(direct)
            for path in self.files:
                if inputs.format_of(path) == "csv":
                    found += gathering.set_aside(path, self.job, staging, len(found))
        for number, piece in enumerate(found):
            yield f"{number:05d}", piece

    def _draw(self, staging: Staging, named: dict[str, Piece], workers: Workers) -> list[Told]:
        """Draw all pieces, as many at a time as there are workers, so that memory does not grow.

        Then whoever is declared and has no row.
        """
        if self.people is None:
            return self._drawn(staging, named, None, workers)
        numbers = self._kind() == inputs.NUMBERS
        if numbers:
            declaring.check_numbers(self.people)
        declared = declaring.write_names(self.people, staging)
        drawn = self._drawn(staging, named, declared, workers)
        names = (people_in(staging.charges(one.name))[0] for one in drawn)
        more = declaring.without_rows(self.job, self.people, names, staging, numbers=numbers)
        if more is not None:
            drawn += self._drawn(staging, {f"{len(named):05d}": more}, None, workers)
        return drawn

    def _drawn(
        self,
        staging: Staging,
        named: dict[str, Piece],
        declared: Path | None,
        workers: Workers,
    ) -> list[Told]:
        total, people = sum(piece.rows for piece in named.values()), 0
        job = Shared(self.job)
        tasks = (
            (job, piece, staging, name, self.source, declared) for name, piece in named.items()
        )
        found: list[Told] = []
        for one in workers.each(draw_piece, tasks):
            keep(one, staging)
            found.append(one)
            people += one.people
            self.say("drawing", people, total)
        return sorted(found, key=lambda one: one.name)

    def _check_people(self, staging: Staging, drawn: Sequence[Told]) -> None:
        """Nobody may be released twice under one charge."""
        if self.rows == "items":
            return

        def columns() -> Iterable[Any]:
            for one in drawn:
                for column, _ in charges_in(staging.charges(one.name)):
                    yield column

        if comes_twice([one.numbers for one in drawn], columns):
            staging.clear()  # nothing was charged and nobody saw it
            raise ParameterError("table", "one row for each person", "somebody in two rows")


_FORM = 2  # of what lies in the folder: since 2 pieces are arranged into parts


def _check_cut(staging: Staging, named: Mapping[str, Piece]) -> None:
    """A name of a piece must stand for the same people as when the release was begun."""
    pieces = [[name, *piece.plain().values()] for name, piece in named.items()]
    cut = {"form": _FORM, "pieces": pieces}
    known = staging.home / "cut.json"
    if not known.exists():
        write_whole(known, json.dumps(cut).encode())
    elif json.loads(known.read_text()) != cut:
        raise StagingError("it was begun by a version that cuts tables otherwise: use that one")
