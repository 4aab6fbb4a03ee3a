"""A number near a quantile of a column.

Theory    docs/theory/percentile.md, "A number instead of a person"
Not here  the mechanism (tasks/percentile.py).
"""

from __future__ import annotations

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
    POSITIVE,
    SHARE,
    exact_text,
    fine,
    option,
    perhaps,
)
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World
from reticent.rational import Number

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.base import Mechanism
    from reticent.noise import Source
    from reticent.queries.binding import Bound
    from reticent.tasks.comparing import Curves

POINTS = 1000
"""Of the grid, about, unless a step is given."""


@dataclass(frozen=True, kw_only=True)
class Quantile(WholeQuery):
    """A number near a quantile of a column.

    The median is one. Values are private; the range is public, and so is how many people there are.
    Values outside the range are clamped to it, what is no number counts as the least, and nothing
    reports either.
    """

    kind: ClassVar[str] = "quantile"
    counted: ClassVar[str] = "people"
    inputs: ClassVar[Mapping[str, Table]] = {
        "table": Table(
            "A line for each person.",
            {"value": Role(Cells.NUMBER, "What the quantile is of.", sole=True)},
        )
    }

    comparison: ClassVar[Comparison] = Comparison(
        compared="0.1,0.2,0.5,1,2,5,10", methods=("exponential", "permute-and-flip"), runs=None
    )

    epsilon: Number = option("Privacy budget of this release.", BUDGET)
    upper: Number = option(
        "Largest value that there can be. It is public: take what you knew before you saw the "
        "data.",
        EXACT,
    )
    lower: Number = option("Smallest value that there can be; public.", EXACT, default=0)
    q: Number = option("Rank, between 0 and 1; 0.5 is the median.", SHARE, default="0.5")
    step: Number | None = option(
        "What answers are whole multiples of, above lower.  [default: 1, 2 or 5 times a power of "
        "ten that makes some thousand points]",
        perhaps(POSITIVE),
        default=None,
    )

    def check(self) -> None:
        """The range must not be empty."""
        require(Fraction(self.upper) > Fraction(self.lower), "upper", self.upper, "above lower")

    @property
    def grid(self) -> Fraction:
        """The step that is used."""
        return (
            fine(Fraction(self.upper) - Fraction(self.lower), POINTS)
            if self.step is None
            else Fraction(self.step)
        )

    def terms(self, public: Public) -> QuantileTerms:
        """See ``Query``."""
        from reticent.tasks.percentile import quantile_mechanism

        limits = {"lower": Fraction(self.lower), "upper": Fraction(self.upper)}
        mechanism = quantile_mechanism(self.epsilon, **limits, step=self.grid)
        return QuantileTerms(self, public, mechanism)

    def curves(self, tables: Mapping[str, Bound], trial: Trial) -> Curves:
        """Expected errors in value, from the law of the choice."""
        from reticent.tasks.comparing_selection import quantile_curves

        self.facts(tables)
        return quantile_curves(
            tables["table"]["value"],
            Fraction(self.q),
            lower=self.lower,
            upper=self.upper,
            step=self.grid,
            epsilons=trial.values,
            ways=trial.methods,
            progress=trial.progress,
        )

    def worlds(self) -> tuple[World, ...]:
        """A person's value: the least or the largest."""
        low, high = float(Fraction(self.lower)), float(Fraction(self.upper))
        others = [low, (low + high) / 2, high]
        first, second = ({"table": {"value": [*others, value]}} for value in (low, high))
        return (World("a person's value", first, second),)

    def facts(self, tables: Mapping[str, Bound]) -> Public:
        """How many people there are; there must be some."""
        if "table" not in tables:
            return Public()
        require(len(tables["table"]) > 0, "table", "an empty one", "one with some people")
        return Public(len(tables["table"]))


@dataclass(frozen=True, slots=True)
class QuantileTerms(Terms):
    """A point of a public grid is released."""

    query: Quantile
    known: Public
    mechanism: Mechanism[int]
    columns: ClassVar[tuple[str, ...]] = ("value",)

    @property
    def what(self) -> str:
        """In words."""
        return f"a number near the {rank(self.query.q)}"

    @property
    def error(self) -> str:
        """In people."""
        told = self.mechanism.utility().sentence
        return f"{told}; a score is minus the number of people missed"

    @property
    def public(self) -> tuple[str, ...]:
        """The number of people, the range."""
        return about_values(
            self.known.count, Fraction(self.query.lower), Fraction(self.query.upper)
        )

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.quantile()

    def draw(self, tables: Mapping[str, Bound], source: Source, progress: Progress) -> int:
        """The number of a point of the grid."""
        from reticent.tasks.percentile import quantile

        asked = self.query
        return quantile(
            tables["table"]["value"],
            Fraction(asked.q),
            lower=asked.lower,
            upper=asked.upper,
            step=asked.grid,
            epsilon=asked.epsilon,
            source=source,
        ).value

    def show(self, kept: int) -> float:
        """The number itself."""
        return float(Fraction(self.query.lower) + kept * self.query.grid)

    def rows(self, value: float) -> list[tuple[Any, ...]]:
        """One."""
        return [(value,)]


def rank(q: Number) -> str:
    """A rank in words."""
    share = Fraction(q)
    return "median" if share == Fraction(1, 2) else f"{exact_text(share)} quantile"


def about_values(people: int | None, lower: Fraction, upper: Fraction) -> tuple[str, ...]:
    """What is public where people have one value each."""
    least, most = exact_text(lower), exact_text(upper)
    return (
        "the number of people and who they are" + ("" if people is None else f": {people:,}"),
        f"the range of values, {least} to {most}; others are clamped to it, and what is no number "
        f"counts as {least}",
    )
