"""Counts and sums by public categories.

Theory    docs/theory/discrete-laplace.md, Theorem 1 (privacy), Theorem 3 (a bound on records)
Not here  adding up (tasks/totals.py), the mechanism (mechanisms/totals.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import require
from reticent.queries.base import Progress, Public, Terms, WholeQuery
from reticent.queries.inputs import Cells, Role, Table
from reticent.queries.options import (
    BUDGET,
    EXACT,
    Option,
    choice,
    count,
    exact_text,
    fine,
    option,
    perhaps,
)
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World
from reticent.rational import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reticent.guarantees.card import Scope
    from reticent.mechanisms.totals import Totals
    from reticent.noise import Source
    from reticent.queries.binding import Bound
    from reticent.tasks.comparing import Curves

POINTS = 1_000_000
"""Of the grid on which values are added up, about."""
_SHOWN = 20  # records of a person in a small world


@dataclass(frozen=True, kw_only=True)
class Counts(WholeQuery):
    """Counts of records, or sums of their values, by category.

    Categories are public: a table of them is declared, and records of others are left out. Without
    one there is a single total. With upper, values are added up instead of records: they are
    clamped to the range, and what is no number counts as the least. Of each person only so many
    records count, chosen by a public rule from their own.
    """

    kind: ClassVar[str] = "counts"
    counted: ClassVar[str] = "categories"
    inputs: ClassVar[Mapping[str, Table]] = {
        "table": Table(
            "A line for each record.",
            {
                "person": Role(Cells.NAME, "Whose record it is.", required=False),
                "category": Role(Cells.NAME, "What is counted by.", required=False),
                "value": Role(Cells.NUMBER, "What is added up.", required=False),
            },
            adds_up=True,
        ),
        "categories": Table(
            "The categories, which are public.  [default: none, one total]",
            {"category": Role(Cells.NAME, "Its name.", sole=True)},
            public=True,
            required=False,
            ordered=True,
        ),
    }

    comparison: ClassVar[Comparison] = Comparison(
        reads=("categories",),
        methods=("together", "one-by-one"),
        runs=None,
        options=(Option("count", "How many categories, where no table names them.", count(), 1),),
    )

    epsilon: Number = option("Privacy budget of this release.", BUDGET)
    unit: str = option(
        "Hide whether a person is in the table, which needs a column of people, or whether one "
        "record is.",
        choice("person", "record"),
        default="person",
    )
    records: int = option("Records of a person that count at most; public.", count(), default=1)
    upper: Number | None = option(
        "Largest value of a record: add values up instead of counting. It is public: take what you "
        "knew before you saw the data.",
        perhaps(EXACT),
        default=None,
    )
    lower: Number = option("Smallest value of a record; public.", EXACT, default=0)

    def check(self) -> None:
        """A record is one record; the range must not be empty."""
        single = self.unit == "person" or self.records == 1
        require(single, "records", self.records, "left out where the unit is a record")
        if self.upper is None:
            alone = Fraction(self.lower) == 0
            require(alone, "lower", self.lower, "left out unless upper is given")
        else:
            require(Fraction(self.upper) > Fraction(self.lower), "upper", self.upper, "above lower")

    @property
    def step(self) -> Fraction:
        """What totals are whole multiples of; 1 for counts."""
        if self.upper is None:
            return Fraction(1)
        return fine(max(abs(Fraction(self.upper)), abs(Fraction(self.lower))), POINTS)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The range of values in whole steps: the declared one, or a little wider."""
        step = self.step
        low, high = (Fraction(end) / step for end in (self.lower, self.upper or 1))
        return math.floor(low) * step, math.ceil(high) * step

    def terms(self, public: Public) -> CountsTerms:
        """See ``Query``."""
        from reticent.guarantees import PERSON, RECORD
        from reticent.mechanisms.totals import Totals

        ends = {} if self.upper is None else {"lower": self.ends[0], "upper": self.ends[1]}
        mechanism = Totals(
            epsilon=self.epsilon,
            size=public.count or 1,
            records=self.records,
            step=self.step,
            unit=PERSON if self.unit == "person" else RECORD,
            **ends,
        )
        return CountsTerms(self, public, mechanism)

    def curves(self, tables: Mapping[str, Bound], trial: Trial) -> Curves:
        """The error of a total, from the law of its noise."""
        from reticent.tasks.comparing_totals import totals_curves

        known = self.facts(tables) if tables else Public(trial.more["count"])
        totals = self.terms(known).mechanism
        return totals_curves(totals, epsilons=trial.values, ways=trial.methods)

    def worlds(self) -> tuple[World, ...]:
        """All records of a person that count, or one record."""
        mine = min(self.records, _SHOWN)
        low, high = (float(end) for end in self.ends)
        far = high if abs(high) >= abs(low) else low
        heads = ("person", "category", "value")
        theirs: list[tuple[Any, ...]] = [("she", "a", low), ("he", "b", high)]

        def table(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
            """Rows as columns."""
            return dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))

        both = table([("you", "a", far)] * mine + theirs)
        shown = {"categories": ["a", "b"]}
        differs = "all records of a person" if self.unit == "person" else "a record"
        return (World(differs, {"table": both, **shown}, {"table": table(theirs), **shown}),)

    def facts(self, tables: Mapping[str, Bound]) -> Public:
        """The categories; which columns there are is public, too."""
        for table, role, needed in (
            ("table", "person", self.unit == "person"),
            ("table", "category", "categories" in tables),
            ("table", "value", self.upper is not None),
        ):
            lacks = needed and table in tables and role not in tables[table]
            require(not lacks, "columns", "others", f"with one that plays {role}, as {role}=NAME")
        if "categories" not in tables:
            return Public(1)
        names = [name for name in tables["categories"]["category"].tolist() if name is not None]
        distinct = list(dict.fromkeys(names))
        require(bool(distinct), "categories", "an empty table", "a table that names some")
        return Public(len(distinct), distinct, declared=True)


@dataclass(frozen=True, slots=True)
class CountsTerms(Terms):
    """A whole number of steps for each category of a public list."""

    query: Counts
    known: Public
    mechanism: Totals

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Category and total."""
        total = "count" if self.query.upper is None else "sum"
        return (total,) if self.known.names is None else ("category", total)

    @property
    def what(self) -> str:
        """In words."""
        total = "how many records there are" if self.query.upper is None else "the sum of values"
        one = self.known.count in (None, 1) and self.known.names is None
        return total if one else f"{total} in each of {self.known.count:,} categories"

    @property
    def public(self) -> tuple[str, ...]:
        """Categories, the bound on records, the range."""
        asked, told = self.query, []
        if self.known.count is not None and self.known.names is not None:
            told.append(f"the {self.known.count:,} categories; records of others are left out")
        if asked.unit == "person":
            some = "record counts" if asked.records == 1 else f"{asked.records:,} records count"
            told.append(f"that {some} of each person at most, chosen by a public rule")
        if asked.upper is not None:
            low, high = exact_text(Fraction(asked.lower)), exact_text(Fraction(asked.upper))
            told.append(
                f"the range of values, {low} to {high}; others are clamped to it, and what is no "
                f"number counts as {low}"
            )
        return tuple(told)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.counts(self.mechanism.unit, records=self.query.records)

    def draw(self, tables: Mapping[str, Bound], source: Source, progress: Progress) -> list[int]:
        """Totals in steps."""
        found = tables["table"].added_up(self.totals)
        return [int(one) for one in self.mechanism.release(found, source).value]

    def totals(self, table: Bound) -> NDArray[np.int64]:
        """Exact totals, so private; those of tables that share no person add up."""
        import numpy as np

        from reticent.tasks.totals import counting, in_steps, places_in, totals

        asked, names = self.query, self.known.names
        places = np.zeros(len(table), dtype=np.int64)
        if names is not None:
            places = places_in(table["category"], names)
        steps = np.ones(len(table), dtype=np.int64)
        if asked.upper is not None:
            ends = Fraction(asked.lower), Fraction(asked.upper)
            steps = in_steps(table["value"], *ends, asked.step)
        if asked.unit == "person":
            kept = counting(table["person"], places, steps, asked.records)
            places = np.where(kept, places, -1)
        return totals(places, steps, self.mechanism.size)

    def show(self, kept: list[int]) -> Any:
        """Totals by category, or the one total."""
        step = self.query.step
        found = [one if step == 1 else float(one * step) for one in kept]
        names = self.known.names
        return found[0] if names is None else dict(zip(names, found, strict=True))

    def rows(self, value: Any) -> list[tuple[Any, ...]]:
        """One for each category, in the order of the public list."""
        return [(value,)] if self.known.names is None else list(value.items())
