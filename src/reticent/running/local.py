"""The runner: parts over all cores, everybody charged once, then the whole shown at once.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Not here  what one process does (drawing.py), the folder (staging.py), charging (merging.py).
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from reticent.data.labels import ordered
from reticent.errors import ParameterError, require
from reticent.guarantees import Event
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.running import declaring, gathering, inputs
from reticent.running.arranging import Arranged, arrange
from reticent.running.drawing import Told, charges_in, draw_piece, keep, people_in
from reticent.running.inputs import Piece
from reticent.running.merging import Part, check_key, identity, merge, refuse_spent
from reticent.running.people import comes_twice
from reticent.running.seals import Seal
from reticent.running.staging import (
    Staging,
    StagingError,
    digest_of,
    shown_before,
    write_whole,
)
from reticent.running.workers import Workers, processes_for
from reticent.tasks.batched import Batched, arrow
from reticent.tasks.charged import LIBRARY

Rows: TypeAlias = Literal["people", "items"]
"""What a row of the table is: a person, or one item of a person."""
Progress: TypeAlias = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done and how much there is; 0 where nobody knows."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A release that can be seen now; ``files`` are its files, each with its SHA-256."""

    out: Path
    people: int
    files: Mapping[str, str]
    key: str
    event: Event
    charged: int
    replayed: bool
    owned: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Described:
    """What is kept of a release besides its rows: ``shown`` with them, ``owned`` in the receipt."""

    shown: Mapping[str, Any] = field(default_factory=dict)
    owned: Mapping[str, Any] = field(default_factory=dict)


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
    run_ = _Run(
        job,
        Path(out),
        key,
        ledger,
        source,
        rows,
        processes_for(processes),
        principal,
        progress,
        ordered(people, "people"),
        limit,
        describe,
    )
    return run_.whole(given)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Run:
    job: Batched
    out: Path
    key: str
    ledger: Ledger | None
    source: Source
    rows: Rows
    processes: int
    principal: str
    progress: Progress | None
    people: list[str] | None
    limit: int | None
    describe: Callable[[int], Described]

    def whole(self, given: Sequence[str | Path]) -> Ran:
        self._check_out()
        staging = Staging(self.out.absolute())
        files = inputs.files_of(given)
        about = shown_before(staging.out)
        if about is not None:
            ran = self._again(staging, files, about)
            _clear_up(staging, self.key)
            return ran
        self._check_columns(files)
        try:
            with staging.alone():
                about = shown_before(staging.out)  # somebody may have finished it meanwhile
                if about is not None:
                    ran = self._again(staging, files, about)
                    staging.clear()
                    return ran
                return self._make(staging, files)
        except OSError as error:  # whose text may name files of the table
            why = os.strerror(error.errno) if error.errno else "input or output failed"
            told = f"{self.out.name} was broken off: {why}. Run again with the same key"
            raise StagingError(told) from None

    def _check_out(self) -> None:
        good = self.out.suffix == ".parquet"
        require(good, "out", self.out.name, "named .parquet: a folder of Parquet files")
        if not os.access(self.out.absolute().parent, os.W_OK | os.X_OK):
            raise StagingError(f"{self.out} cannot be made: its folder is missing or closed")

    def _check_columns(self, files: Sequence[Path]) -> None:
        """Before anything is drawn; what is missing is named, what is there is not."""
        for path in files:
            has = inputs.columns_in(path)
            for name in self.job.columns:
                if has.count(name) != 1:
                    raise ParameterError("table", f"with one column {name!r}", path.name)
        self._kind(files)

    def _kind(self, files: Sequence[Path]) -> str:
        """What people are named by: a file of another kind could not be shown in one column."""
        kinds = {inputs.kind_of(path, self.job.person) for path in files}
        alike = len(kinds) == 1
        require(alike, "table", "both", "of files that all name people by numbers, or all by text")
        return kinds.pop()

    def _told(self, files: Sequence[Path], held: Mapping[str, Any] | None) -> dict[str, Any]:
        """What is released; ``held`` is what an earlier run said of it."""
        seal, people = Seal.of(self.ledger, held), declaring.fingerprint(self.people)
        return {
            "key": self.key,
            "nonce": seal.nonce,
            "release": seal(self.job.fingerprint),
            "table": seal(inputs.fingerprint(files)),
            "rows": self.rows,
            "people": None if people is None else seal(people),
            **self._terms(),
        }

    def _terms(self) -> dict[str, Any]:
        """How it is drawn and counted."""
        seed = None if self.source.private else self.source.child("identity").bits(64)
        return {
            "seed": seed,
            "principal": self.principal,
            "ledger": None if self.ledger is None else identity(self.ledger),
        }

    def _make(self, staging: Staging, files: Sequence[Path]) -> Ran:
        held = staging.manifest()
        told = self._told(files, held)
        if held is None:
            if self.ledger is not None:
                refuse_spent(self.ledger, self.key, self.principal)
            staging.begin(told)
        elif other := _other(told, held):
            raise StagingError(
                f"{self.out.name} was begun with another {' and another '.join(other)}: give the "
                f"same again to go on, or remove {staging.home.name} to drop what nobody has seen"
            )
        with Workers(self.processes) as workers:
            named = dict(self._pieces(staging, files, workers))
            _check_cut(staging, named)
            drawn = self._draw(staging, named, files, workers)
            if self._told(files, told) != told:
                raise StagingError(
                    "the table was changed while it was read: nobody was charged now"
                )
            self._check_people(staging, drawn)
            people = sum(one.people for one in drawn)
            parts = arrange(staging, [one.name for one in drawn], people, workers)
        event = self.job.event(self.source, people)
        charged = self._charge(staging, event, parts, people)
        digests = {f"part-{one.name}.parquet": one.digest for one in parts if one.people}
        kept = self.describe(people)
        about = {
            "people": people,
            "private": self.source.private,
            "counted": self.ledger is not None,
            "event": json.loads(event.to_json()),
            **kept.shown,
        }
        owned = dict(kept.owned)
        staging.show(about, {**told, "sha256": digests, "owned": owned})
        return Ran(self.out, people, digests, self.key, event, charged, False, owned)

    def _again(self, staging: Staging, files: Sequence[Path], about: dict[str, Any]) -> Ran:
        """What is there already, if it is this release and still what was drawn."""
        receipt = staging.received()
        if receipt is None:
            raise StagingError(
                f"{self.out.name} is there already, and {staging.receipt.name}, which says what it "
                "was made of, is not: choose another name"
            )
        told, digests = self._told(files, receipt), receipt["sha256"]
        if other := _other(told, receipt):
            raise StagingError(
                f"{self.out.name} is there already, with another {' and another '.join(other)}: "
                "choose another name"
            )
        for name, digest in digests.items():
            path = staging.out / name
            if not path.is_file() or digest_of(path) != digest:
                raise StagingError(f"{self.out.name} was changed after it was released")
        event = Event.from_json(json.dumps(about["event"]))
        count, owned = about["people"], receipt["owned"]
        return Ran(self.out, count, digests, self.key, event, 0, True, owned)

    def _pieces(
        self, staging: Staging, files: Sequence[Path], workers: Workers
    ) -> Iterator[tuple[str, Piece]]:
        """All pieces by name."""
        if self.rows == "items":
            found = self._gathered(staging, files, workers)
        else:
            direct = [path for path in files if inputs.format_of(path) != "csv"]
            found = inputs.pieces_of(direct)
            for path in files:
                if inputs.format_of(path) == "csv":
                    found += gathering.set_aside(path, self.job, staging, len(found))
        for number, piece in enumerate(found):
            yield f"{number:05d}", piece

    def _gathered(self, staging: Staging, files: Sequence[Path], workers: Workers) -> list[Piece]:
        tasks = 4 * self.processes
        return gathering.gathered(self.job, files, staging, workers, tasks, self._say)

    def _draw(
        self, staging: Staging, named: dict[str, Piece], files: Sequence[Path], workers: Workers
    ) -> list[Told]:
        """Draw all pieces, as many at a time as there are workers, so that memory does not grow.

        Then whoever is declared and has no row.
        """
        if self.people is None:
            return self._drawn(staging, named, None, workers)
        numbers = self._kind(files) == inputs.NUMBERS
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
        packed = pickle.dumps(self.job)
        tasks = (
            (packed, piece, staging, name, self.source, declared) for name, piece in named.items()
        )
        found: list[Told] = []
        for one in workers.each(draw_piece, tasks):
            keep(one, staging)
            found.append(one)
            people += one.people
            self._say("drawing", people, total)
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

    def _charge(
        self, staging: Staging, event: Event, arranged: Sequence[Arranged], people: int
    ) -> int:
        if self.ledger is None:
            return 0

        def parts() -> Iterator[Part]:
            for one in arranged:
                named, nano = people_in(staging.arranged(one.name))
                yield Part(one.name, named, nano, one.digest)

        merged = merge(
            self.job,
            event,
            parts,
            key=self.key,
            ledger=self.ledger,
            principal=self.principal,
            limit=self.limit,
            progress=lambda done: self._say("charging", done, people),
        )
        return merged.charged

    def _say(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(what, done, total)


_FORM = 2  # of what lies in the folder: since 2 pieces are arranged into parts


def _other(told: Mapping[str, Any], held: Mapping[str, Any]) -> list[str]:
    """What differs from an earlier run; under another ledger's secret everything would."""
    differs = [name for name, value in told.items() if held.get(name) != value]
    return ["ledger"] if "ledger" in differs else differs


def _check_cut(staging: Staging, named: Mapping[str, Piece]) -> None:
    """A name of a piece must stand for the same people as when the release was begun."""
    pieces = [[name, *piece.plain().values()] for name, piece in named.items()]
    cut = {"form": _FORM, "pieces": pieces}
    known = staging.home / "cut.json"
    if not known.exists():
        write_whole(known, json.dumps(cut).encode())
    elif json.loads(known.read_text()) != cut:
        raise StagingError("it was begun by a version that cuts tables otherwise: use that one")


def _clear_up(staging: Staging, key: str) -> None:
    """What a run left that was broken off after it had shown everything."""
    left = staging.manifest()
    if left is None or left["key"] != key:
        return
    try:
        with staging.alone():
            staging.clear()
    except StagingError:  # that run is about to do so itself
        return
