"""A person whose value is near a percentile.

Theory    docs/theory/percentile.md, Theorem 1 (an admissible bound)
Not here  how a person is chosen (tasks/percentile.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import require
from reticent.queries.base import Progress, Public, Terms, WholeQuery
from reticent.queries.inputs import Cells, Role, Table
from reticent.queries.options import BUDGET, POSITIVE, SHARE, choice, option
from reticent.queries.quantile import about_values, rank
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World
from reticent.rational import Number

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.dampening import Dampened
    from reticent.noise import Source
    from reticent.queries.binding import Bound
    from reticent.tasks.comparing import Curves

UNKNOWN = "not known without the number of people, which count would tell"


@dataclass(frozen=True, kw_only=True)
class Percentile(WholeQuery):
    """A person whose value is near a percentile. A quantile is usually what one wants.

    The answer is a person's name, so that others can look at them; a quantile is nearer and points
    at nobody. Values are private; who there is and the range of values are public.
    """

    kind: ClassVar[str] = "percentile"
    counted: ClassVar[str] = "people"
    inputs: ClassVar[Mapping[str, Table]] = {
        "table": Table(
            "A line for each person.",
            {
                "person": Role(
                    Cells.NAME,
                    "Who it is, each person once, which is public; else the number of the line.",
                    required=False,
                ),
                "value": Role(Cells.NUMBER, "What the percentile is of, from 0.", sole=True),
            },
        )
    }

    comparison: ClassVar[Comparison] = Comparison(compared="0.1,0.2,0.5,1,2,5,10", runs=None)

    epsilon: Number = option("Privacy budget of this release.", BUDGET)
    upper: Number = option(
        "Largest value that there can be; the smallest is 0. It is public: take what you knew "
        "before you saw the data.",
        POSITIVE,
    )
    q: Number = option("Rank, between 0 and 1; 0.5 is the median.", SHARE, default="0.5")
    method: str = option(
        "How a person is chosen; all promise the same.",
        choice("shifted", "dampened", "permute-and-flip", "exponential"),
        default="shifted",
    )

    def terms(self, public: Public) -> PercentileTerms:
        """See ``Query``."""
        from reticent.mechanisms.comparison import ways
        from reticent.mechanisms.top_dampened import TopDampened
        from reticent.tasks.percentile import percentile_mechanism

        one = percentile_mechanism(self.epsilon, public.count or 1, Fraction(self.upper))
        return PercentileTerms(self, public, ways(TopDampened(whole=one, k=1))[self.method].whole)

    def curves(self, tables: Mapping[str, Bound], trial: Trial) -> Curves:
        """Expected errors in value, from the law of the choice."""
        from reticent.tasks.comparing_selection import percentile_curves

        self.facts(tables)
        return percentile_curves(
            tables["table"]["value"],
            float(Fraction(self.q)),
            upper=self.upper,
            epsilons=trial.values,
            ways=trial.methods,
            progress=trial.progress,
        )

    def worlds(self) -> tuple[World, ...]:
        """A person's value: the least or the largest."""
        low, high = 0.0, float(Fraction(self.upper))
        others, names = [low, (low + high) / 2, high], ["a", "b", "c", "you"]
        first, second = (
            {"table": {"person": names, "value": [*others, value]}} for value in (low, high)
        )
        return (World("a person's value", first, second),)

    def facts(self, tables: Mapping[str, Bound]) -> Public:
        """Who there is."""
        if "table" not in tables:
            return Public()
        table = tables["table"]
        require(len(table) > 0, "table", "an empty one", "one with some people")
        if "person" not in table:
            rule = "with one that plays person, as person=NAME: these rows have no numbers"
            require(table.numbered, "columns", "others", rule)
            return Public(len(table), [f"row {line}" for line in range(1, len(table) + 1)])
        names = table["person"].tolist()
        once = None not in names and len(set(names)) == len(names)
        require(once, "person", "others", "a column that names each person once: it is public")
        return Public(len(names), names)


@dataclass(frozen=True, slots=True)
class PercentileTerms(Terms):
    """A name of a public list is released."""

    query: Percentile
    known: Public
    mechanism: Dampened
    columns: ClassVar[tuple[str, ...]] = ("person",)

    @property
    def what(self) -> str:
        """In words."""
        return f"a person whose value is near the {rank(self.query.q)}"

    @property
    def error(self) -> str:
        """It depends on how many people there are."""
        return UNKNOWN if self.known.count is None else self.mechanism.utility().sentence

    @property
    def public(self) -> tuple[str, ...]:
        """Who there is, the range."""
        return about_values(self.known.count, Fraction(0), Fraction(self.query.upper))

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        return promises.percentile()

    def draw(self, tables: Mapping[str, Bound], source: Source, progress: Progress) -> str:
        """The name of a person."""
        from reticent.tasks.percentile import release_percentile

        values, names = tables["table"]["value"], self._names()
        given: dict[str, Any] = {"upper": float(Fraction(self.query.upper)), "source": source}
        found = release_percentile(
            values, Fraction(self.query.q), mechanism=self.mechanism, **given
        )
        return names[found.value]

    def _names(self) -> Sequence[str]:
        names = self.known.names
        require(names is not None, "names", None, "known where somebody is chosen")
        return names or ()

    def show(self, kept: str) -> str:
        """The name."""
        return kept

    def rows(self, value: str) -> list[tuple[Any, ...]]:
        """One."""
        return [(value,)]
