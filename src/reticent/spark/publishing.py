"""One answer and one charge for everybody, however often Spark tries a task again.

Theory    docs/theory/ledger.md, Theorem 2 (one key, one answer, one charge);
          docs/theory/parts.md, Theorem 1 (one answer and one charge)
Notation  nano = nano-epsilon that a person loses
Not here  what is drawn (tasks/), folders (folders.py), charging by key (running/merging.py).

An attempt of a task draws its people with a key of its own, and writes what they lose into the same
rows. Spark commits one attempt of each task, and a note says which draw counts: what others drew is
never read. Everybody is charged from those rows, by key, and only then are they copied, without the
charges, to where others may see them: in files and in an order that depend on names and on the
number of people alone. Whoever is killed on the way starts again with the same key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from reticent.errors import ParameterError
from reticent.guarantees import Event
from reticent.guarantees.card import Budget, Card
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.running.arranging import parts_for
from reticent.running.merging import Part, check_key, merge, most_spent, refuse_spent
from reticent.running.seals import Seal
from reticent.running.staging import StagingError
from reticent.spark.collecting import batches_of
from reticent.spark.folders import drop, pyspark, quoted, read_note, there, write_note
from reticent.tasks.batched import PERSON, Batched, arrow, compute, names_of
from reticent.tasks.charged import LIBRARY, Payer, new_key

ABOUT = "_reticent"
"""What a finished output says of itself, public facts only: a folder that readers pass over."""
CHARGE = "_nano"
"""The column of what each person loses, as long as nobody else sees the rows."""
PART = 1 << 16
"""People who are charged together; a release that is taken up keeps the size it began with."""


@dataclass(frozen=True, slots=True)
class Released:
    """A release that can be seen now, in ``out``."""

    out: str
    people: int
    key: str
    card: Card
    charged: int
    replayed: bool


class Job(Protocol):
    """What is known of a release before it is drawn; see ``Batched``."""

    @property
    def fingerprint(self) -> str:
        """Of everything that decides what is released, besides the data and the source."""

    def event(self, source: Source, people: int | None = None) -> Event:
        """The record of releasing so many people: nobody loses more than it says."""

    def payer(self, person: str) -> Payer:
        """Whose account is charged."""

    def card(self, event: Event, people: int, budget: Budget | None) -> Card:
        """What is promised."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Destination a release goes: what nobody may see yet stays in ``staging``, beside ``out``.

    ``by`` are the columns of names by which rows are dealt out to files and put in order, ``then``
    the columns that order rows of the same names.
    """

    out: str
    staging: str | None = None
    by: Sequence[str] = (PERSON,)
    then: Sequence[str] = ()


def publish(
    job: Job,
    spark: Any,
    drawn: Callable[[], Any],
    destination: Destination,
    *,
    key: str,
    ledger: Ledger | None,
    source: Source,
    charges: Callable[[Any], Any] | None = None,
    limit: int | None = None,
    principal: str = LIBRARY,
) -> Released:
    """Publish a frame that draws when it is read: it is read once, and what was read counts.

    The same ``key`` takes up a release that was broken off and repeats one that was finished,
    without another draw or charge. ``charges`` makes of what was drawn a frame of ``person`` and
    ``CHARGE``, what each loses; without it these are columns of what was drawn. ``CHARGE`` is left
    out of what is shown. Nobody may lose more than ``limit`` in all. The ledger is used on the
    driver only.
    """
    arrow()
    check_key(key)
    out = destination.out.rstrip("/")
    home = f"{out}.unreleased" if destination.staging is None else destination.staging.rstrip("/")
    draws, receipt = f"{home}/draws", f"{home}/receipt"
    placed = replace(destination, out=out)
    made = _Release(
        job, spark, placed, key, ledger, source, draws, receipt, principal, charges, limit
    )
    found = made.whole(drawn)
    if there(spark, draws):
        drop(spark, draws)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Release:
    job: Job
    spark: Any
    destination: Destination
    key: str
    ledger: Ledger | None
    source: Source
    home: str
    receipt: str  # what was released, for its owner: it stays
    principal: str
    charges: Callable[[Any], Any] | None
    limit: int | None

    @property
    def out(self) -> str:
        return self.destination.out

    def whole(self, drawn: Callable[[], Any]) -> Released:
        shown = read_note(self.spark, f"{self.out}/{ABOUT}")
        if shown is not None:
            receipt = read_note(self.spark, self.receipt)
            if receipt is None:
                raise StagingError(f"{self.out} is there already, its receipt is not: name another")
            self._same(receipt, "is there already and holds")
            card = Card.from_json(receipt["card"])
            return Released(self.out, shown["people"], self.key, card, charged=0, replayed=True)
        showing = read_note(self.spark, f"{self.home}/showing") is not None
        if not showing and there(self.spark, self.out):
            raise StagingError("out is there already and is no release on Spark: name another")
        chosen = read_note(self.spark, f"{self.home}/chosen") or self._draw(drawn)
        self._same(chosen, "was begun as")
        people, charged = self._charge(chosen)
        card = self._show(chosen, people, again=showing)
        return Released(self.out, people, self.key, card, charged, replayed=False)

    def _same(self, told: dict[str, Any], what: str) -> None:
        release = Seal.of(self.ledger, told)(self.job.fingerprint)
        if (told["key"], told["release"]) != (self.key, release):
            raise StagingError(f"{self.out} {what} another release, or another key: name another")

    def _draw(self, drawn: Callable[[], Any]) -> dict[str, Any]:
        """Draw everybody into a folder of this attempt's own, and note that this draw counts."""
        if self.ledger is not None:
            refuse_spent(self.ledger, self.key, self.principal)
        draw = new_key()
        drawn().write.parquet(f"{self.home}/{draw}")
        seal = Seal.of(self.ledger, None)
        people = self._charges(draw).count()
        if not people:
            drop(self.spark, self.home)  # nothing was drawn for anybody
            raise ParameterError("frame", "one with people in it", "a frame of nobody")
        told = {
            "key": self.key,
            "nonce": seal.nonce,
            "release": seal(self.job.fingerprint),
            "draw": draw,
            "part": PART,
            "private": self.source.private,
            "event": json.loads(self.job.event(self.source, people).to_json()),
        }
        if write_note(self.spark, f"{self.home}/chosen", told):
            return told
        faster = read_note(self.spark, f"{self.home}/chosen")  # another driver's
        if faster is None:
            raise StagingError("another run makes the same release: try again with the same key")
        return faster

    def _charges(self, draw: str) -> Any:
        """What everybody in a draw loses."""
        drawn = self.spark.read.parquet(f"{self.home}/{draw}")
        return drawn if self.charges is None else self.charges(drawn)

    def _charge(self, chosen: dict[str, Any]) -> tuple[int, int]:
        """Charge everybody who is not charged yet; how many people there are, and were charged."""
        charges = self._charges(chosen["draw"])
        if self.ledger is None:
            return charges.count(), 0
        merged = merge(
            cast("Batched", self.job),
            Event.from_json(json.dumps(chosen["event"])),
            lambda: _parts(charges, chosen["draw"], chosen["part"]),
            key=self.key,
            ledger=self.ledger,
            principal=self.principal,
            limit=self.limit,
        )
        return merged.charged + merged.before, merged.charged

    def _show(self, chosen: dict[str, Any], people: int, *, again: bool) -> Card:
        """Copy the rows without charges; a copy that was broken off is made anew of the same."""
        if not again:
            write_note(self.spark, f"{self.home}/showing", {"key": self.key})
        rows = self.spark.read.parquet(f"{self.home}/{chosen['draw']}").drop(CHARGE)
        rows = _arranged(rows, parts_for(people), self.destination)
        rows.write.mode("overwrite" if again else "error").parquet(self.out)
        if self.spark.read.parquet(self.out).count() != rows.count():
            raise StagingError("another run shows the same release: try again with the same key")
        receipt = {name: chosen[name] for name in ("key", "nonce", "release")}
        held = read_note(self.spark, self.receipt) or {}
        if {name: held.get(name) for name in receipt} != receipt:
            if there(self.spark, self.receipt):  # of a release that was made here before
                drop(self.spark, self.receipt)
            held = receipt | {"card": self._card(chosen, people).to_json()}
            write_note(self.spark, self.receipt, held)
        about = {name: chosen[name] for name in ("private", "event")}
        told = {**about, "people": people, "counted": self.ledger is not None}
        write_note(self.spark, f"{self.out}/{ABOUT}", told)
        return Card.from_json(held["card"])

    def _card(self, chosen: dict[str, Any], people: int) -> Card:
        event = Event.from_json(json.dumps(chosen["event"]))
        budget = None
        if self.ledger is not None:
            budget = most_spent(self.ledger, cast("Batched", self.job), people, self.limit)
        return self.job.card(event, people, budget)


def _arranged(rows: Any, parts: int, destination: Destination) -> Any:
    """Rows in files and in an order that depend on names alone, not on how the frame lay.

    The order is the canonical one (data/labels.py): whole numbers by size, then other names.
    """
    functions = pyspark()
    keys = []
    for name in destination.by:
        text = functions.col(quoted(name)).cast("string")
        digits = text.rlike(r"^[0-9]+\z")
        length = functions.when(digits, functions.length(text)).otherwise(0)
        keys += [functions.when(digits, 0).otherwise(1), length, text]
    keys += [functions.col(quoted(name)) for name in destination.then]
    return rows.repartition(parts, *map(quoted, destination.by)).sortWithinPartitions(*keys)


def _parts(charges: Any, digest: str, size: int) -> Iterator[Part]:
    """People in the order of their names and what they lose, some at a time.

    However the rows lie in files, a part has the same people.
    """
    rows = charges.select(PERSON, CHARGE).orderBy(PERSON)
    last = None
    for number, table in enumerate(_cut(batches_of(rows), size)):
        people = table.column(PERSON).combine_chunks()
        rising = compute().all(compute().less(people[:-1], people[1:])).as_py() is not False
        if not rising or (last is not None and not last < people[0].as_py()):
            raise ParameterError("frame", "one row for each person", "somebody in two rows")
        last = people[-1].as_py()
        nano = np.asarray(table.column(CHARGE)).tolist()
        yield Part(f"{number:06d}", names_of(people), nano, digest)


def _cut(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Tables of so many rows, and one of the rest."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        while sum(part.num_rows for part in held) >= size:
            table = arrow().Table.from_batches(held)
            yield table.slice(0, size)
            held = table.slice(size).to_batches()
    if any(part.num_rows for part in held):
        yield arrow().Table.from_batches(held)
