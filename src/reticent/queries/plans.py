"""What a release would cost and tell, in words, before anything is read.

Not here  the words of a loss (guarantees/loss_words.py), asking for agreement (cli/plan.py), what a
          budget has left (cli/charging.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reticent.amounts import show_nano
from reticent.errors import require
from reticent.layout import table

if TYPE_CHECKING:
    from reticent.guarantees.loss_words import LossWords
    from reticent.queries.base import Query, Terms


@dataclass(frozen=True, slots=True)
class Details:
    """More of a plan: a table, what it means in a few lines, and the same for JSON."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a release would cost and how wrong it would be; printed, it is a few sentences."""

    kind: str
    what: str
    loss: LossWords
    error: str
    public: tuple[str, ...]
    cautions: tuple[str, ...] = ()
    details: Details | None = None

    @property
    def title(self) -> str:
        """What would be released, as a sentence starts."""
        return self.what[:1].upper() + self.what[1:]

    @property
    def epsilon(self) -> str:
        """What accounts are charged, as exact text; "0" for what does not add."""
        return show_nano(self.loss.charge)

    @property
    def right_at_most(self) -> str:
        """Times in 100 that somebody who was undecided can be right, rounded up."""
        return self.loss.right_at_most

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *self.warnings()])

    def lines(self) -> list[str]:
        """As sentences, what follows from the release before what it is made of."""
        return [
            self.title,
            "",
            self.loss.gain(),
            f"cost: {self.cost()}",
            f"error to expect: {self.error}",
            *(f"public: {what}" for what in self.public),
            *self._more(),
        ]

    def _more(self) -> list[str]:
        if self.details is None:
            return []
        after = ["", *self.details.lines] if self.details.lines else []
        return ["", *table(self.details.heads, self.details.rows), *after]

    def warnings(self) -> list[str]:
        """The cautions."""
        return [f"caution: {'; '.join(self.cautions)}"] if self.cautions else []

    def consequence(self) -> str:
        """What who looks can gain, and what they may know anyway."""
        return f"{self.loss.gain()} Taken as public: {'; '.join(self.public)}."

    def cost(self) -> str:
        """In one line."""
        return self.loss.cost()

    def fields(self) -> dict[str, Any]:
        """For JSON; amounts are text, so that nothing is rounded."""
        return {
            **self.loss.fields(),
            "error": self.error,
            "public": list(self.public),
            "cautions": list(self.cautions),
            **({} if self.details is None else self.details.fields),
        }


def plan(
    query: Query,
    public: Mapping[str, Any],
    count: int | None,
    columns: Mapping[str, str] | None,
) -> Plan:
    """From public facts alone: tables that are declared to be public, or a number."""
    return plan_of(query, public_terms(query, public, count, columns))


def public_terms(
    query: Query,
    public: Mapping[str, Any],
    count: int | None,
    columns: Mapping[str, str] | None,
) -> Terms:
    """What is known of a release before private data are read."""
    from reticent.queries.base import Public
    from reticent.queries.binding import Given

    inputs = query.reads({})
    shown = {name for name, one in inputs.items() if one.public}
    require(public.keys() <= shown, "public", "others", "public tables of this query")
    known = query.facts(Given.of(inputs, dict(public), columns).public()) if public else Public()
    return query.terms(known if known.count is not None else replace(known, count=count))


def plan_of(query: Query, terms: Terms) -> Plan:
    """What terms say."""
    loss = terms.words()
    return Plan(
        query.kind,
        terms.what,
        loss,
        terms.error,
        terms.public,
        (*terms.cautions, *loss.cautions),
        terms.details(),
    )
