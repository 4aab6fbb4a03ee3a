"""What every release into a folder does: begin or take up, charge everybody, then show the whole.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)
Not here  what is drawn (local.py, whole_draw.py), the folder (staging.py), charging (merging.py).
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from reticent.errors import ParameterError, require
from reticent.guarantees import Event
from reticent.ledger import Ledger
from reticent.noise import Source
from reticent.running.merging import Counted, Part, identity, merge, refuse_spent
from reticent.running.seals import Seal
from reticent.running.staging import Staging, StagingError, digest_of, shown_before

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
    counted: bool = True

    @property
    def lost(self) -> bool:
        """Whether people lost something by this run, and not by one that was broken off."""
        return self.charged > 0 if self.counted else not self.replayed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Described:
    """What is kept of a release besides its rows: ``shown`` with them, ``owned`` in the receipt."""

    shown: Mapping[str, Any] = field(default_factory=dict)
    owned: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ready:
    """What was drawn: files, each with its SHA-256, and who is charged for them, in parts."""

    people: int
    files: Mapping[str, str]
    parts: Callable[[], Iterable[Part]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Making(ABC):
    """A release into the folder ``out`` under one key.

    Nobody is charged beyond ``limit`` nano-epsilon. ``describe`` is asked what to keep of a release
    of so many people, when all of them are charged.
    """

    out: Path
    key: str
    ledger: Ledger | None
    source: Source
    principal: str
    limit: int | None
    describe: Callable[[int], Described]
    progress: Progress | None = None

    @property
    @abstractmethod
    def counted(self) -> Counted:
        """What is released, and who pays."""

    @abstractmethod
    def facts(self, seal: Seal) -> dict[str, Any]:
        """What it is made of: a later run must find the same."""

    @abstractmethod
    def drawn(self, staging: Staging) -> Ready:
        """Draw into the folder what is not there yet."""

    def check(self) -> None:
        """Refuse, before anything is drawn, what cannot be."""
        return

    def whole(self) -> Ran:
        """Make it, go on with it, or find it there."""
        self._check_out()
        staging = Staging(self.out.absolute())
        about = shown_before(staging.out)
        if about is not None:
            ran = self._again(staging, about)
            _clear_up(staging, self.key)
            return ran
        self.check()
        try:
            with staging.alone():
                about = shown_before(staging.out)  # somebody may have finished it meanwhile
                if about is not None:
                    ran = self._again(staging, about)
                    staging.clear()
                    return ran
                return self._make(staging)
        except OSError as error:  # whose text may name files of the table
            why = os.strerror(error.errno) if error.errno else "input or output failed"
            told = f"{self.out.name} was broken off: {why}. Run again with the same key"
            raise StagingError(told) from None

    def _check_out(self) -> None:
        good = self.out.suffix == ".parquet"
        require(good, "out", self.out.name, "named .parquet: a folder of Parquet files")
        if not os.access(self.out.absolute().parent, os.W_OK | os.X_OK):
            raise StagingError(f"{self.out} cannot be made: its folder is missing or closed")

    def _told(self, held: Mapping[str, Any] | None) -> dict[str, Any]:
        """What is released, and how it is counted; ``held`` is what an earlier run said of it."""
        seal = Seal.of(self.ledger, held)
        return {
            "key": self.key,
            "nonce": seal.nonce,
            "release": seal(self.counted.fingerprint),
            **self.facts(seal),
            "seed": None if self.source.private else self.source.child("identity").bits(64),
            "principal": self.principal,
            "ledger": None if self.ledger is None else identity(self.ledger),
        }

    def _make(self, staging: Staging) -> Ran:
        held = staging.manifest()
        told = self._told(held)
        if held is None:
            if self.ledger is not None:
                refuse_spent(self.ledger, self.key, self.principal)
            staging.begin(told)
        elif other := _other(told, held):
            raise StagingError(
                f"{self.out.name} was begun with another {' and another '.join(other)}: give the "
                f"same again to go on, or remove {staging.home.name} to drop what nobody has seen"
            )
        ready = self.drawn(staging)
        if not ready.people:
            staging.clear()  # nothing was drawn for anybody
            raise ParameterError("table", "one with people in it", "a table of nobody")
        if self._told(told) != told:
            raise StagingError("the table was changed while it was read: nobody was charged now")
        event = self.counted.event(self.source, ready.people)
        charged, counted = self._charge(event, ready), self.ledger is not None
        kept = self.describe(ready.people)
        about = {
            "people": ready.people,
            "private": event.private,
            "counted": counted,
            "event": json.loads(event.to_json()),
            **kept.shown,
        }
        digests, owned = dict(ready.files), dict(kept.owned)
        staging.show(about, {**told, "sha256": digests, "owned": owned})
        ran = Ran(self.out, ready.people, digests, self.key, event, charged, False, owned)
        return replace(ran, counted=counted)

    def _again(self, staging: Staging, about: dict[str, Any]) -> Ran:
        """What is there already, if it is this release and still what was drawn."""
        receipt = staging.received()
        if receipt is None:
            raise StagingError(
                f"{self.out.name} is there already, and {staging.receipt.name}, which says what it "
                "was made of, is not: choose another name"
            )
        told, digests = self._told(receipt), receipt["sha256"]
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

    def _charge(self, event: Event, ready: Ready) -> int:
        if self.ledger is None:
            return 0
        merged = merge(
            self.counted,
            event,
            ready.parts,
            key=self.key,
            ledger=self.ledger,
            principal=self.principal,
            limit=self.limit,
            progress=lambda done: self.say("charging", done, ready.people),
        )
        return merged.charged

    def say(self, what: str, done: int, total: int) -> None:
        """Tell whoever wants to know."""
        if self.progress is not None:
            self.progress(what, done, total)


def _other(told: Mapping[str, Any], held: Mapping[str, Any]) -> list[str]:
    """What differs from an earlier run; under another ledger's secret everything would."""
    differs = [name for name, value in told.items() if held.get(name) != value]
    return ["ledger"] if "ledger" in differs else differs


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
