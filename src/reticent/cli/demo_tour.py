"""What the steps of ``reticent demo`` share: the ledger, where randomness comes from, the cards.

Not here  the steps (one file for each kind of release), the command (demo.py), the report
          (demo_report.py).

True values stand beside released ones in the demo and nowhere else: its data are public.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from reticent.amounts import show_nano
from reticent.data import Table, load_adult
from reticent.guarantees.card import Card, right_at_most
from reticent.guarantees.losses import require_dp
from reticent.ledger import Ledger
from reticent.mechanisms import Mechanism
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.report.document import Section
from reticent.tasks.charged import new_key

COMMAND = "reticent demo"
PREFERENCES, LEDGER, REPORT, RUNS = "preferences.toml", "ledger.db", "report.html", "runs"
PUBLIC = "True values are shown because these data are public or made up."
NO_DAY = date(2000, 1, 1)
"""What cards of a seeded run are dated, so that equal seeds give equal bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step shows: lines for the terminal, the same as fields, and its part of the report.

    The part of the report takes the cards that are named.
    """

    lines: Sequence[str]
    fields: dict[str, Any]
    section: Section
    cards: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """What a release would tell, and how wrong it would be; without a look at data."""

    release: str
    right: str
    cost: str
    error: str

    @classmethod
    def of(cls, release: str, mechanism: Mechanism[Any], error: str = "") -> Planned:
        """Of a mechanism with a worst-case promise."""
        nano = require_dp(mechanism.guarantee()).overall
        told = error or mechanism.utility().sentence
        return cls(release, right_at_most(nano), f"ε {show_nano(nano)}", told)


@dataclass(slots=True, kw_only=True)
class Tour:
    """What the steps hand on to each other.

    The data are public, so every tour has a budget of its own: its name is part of each account's.
    """

    folder: Path
    ledger: Ledger
    fast: bool = False
    seed: int | None = None
    name: str = ""
    cards: dict[str, Card] = field(default_factory=dict)
    _seeded: Source | None = None
    _people: Table | None = None

    def __post_init__(self) -> None:
        self._seeded = None if self.seed is None else Source.seeded(self.seed)
        called = new_key() if self.seed is None else f"of seed {self.seed}"
        self.name = self.name or f"tour {called}"

    def source(self) -> Source:
        """For one release: a new one of the operating system, or the one that was seeded."""
        return Source.system() if self._seeded is None else self._seeded

    @property
    def made(self) -> date | None:
        """The date of cards; None is today."""
        return None if self.seed is None else NO_DAY

    @property
    def command(self) -> str:
        """What makes these cards anew."""
        return COMMAND + (" --fast" if self.fast else "") + self._with_seed()

    def _with_seed(self) -> str:
        return "" if self.seed is None else f" --seed {self.seed}"

    def preferences(self) -> Preferences:
        """Ann's, from her file."""
        return Preferences.read(self.folder / PREFERENCES)

    def subject(self, who: str) -> str:
        """Whose account it is in the ledger."""
        return f"{who}, {self.name}"

    def people(self) -> Table:
        """The census sample, read when it is first needed."""
        if self._people is None:
            self._people = load_adult()
        return self._people


Make = Callable[[Tour], Step]
