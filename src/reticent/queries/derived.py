"""Derived queries: computed from an artefact, so that nothing is drawn and nobody pays.

Theory    docs/theory/guarantees.md, Definition 2 (what follows from an output is
          a set of outputs)
Not here  reading artefacts (artefacts.py).

The card of a derived answer is that of its parent, in what is promised and to whom; it names the
parent's card.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import ParameterError, require
from reticent.queries.base import Answer, Pays, Progress, Public, Query, Terms
from reticent.queries.folders import write_folder

if TYPE_CHECKING:
    from reticent.guarantees.card import Card
    from reticent.guarantees.loss_words import LossWords
    from reticent.noise import Source

_NOTHING = "it draws nothing"


class DerivedQuery(Query):
    """A query that reads artefacts, and tables that nothing here protects."""

    pays: ClassVar[Pays] = Pays.NOBODY
    absent: ClassVar[Mapping[str, str]] = {
        "plan": "it costs nothing",
        **dict.fromkeys(("compare", "sweep", "verify", "audit"), _NOTHING),
    }


class DerivedTerms(Terms):
    """What is public about a derived answer: its parent first."""

    __slots__ = ()

    @property
    @abstractmethod
    def parent(self) -> Answer:
        """What it is derived from."""

    def words(self) -> LossWords:
        """The odds of what it is derived from, at no cost."""
        from reticent.guarantees.loss_words import DerivedWords

        return DerivedWords(self.parent.terms.words())

    @property
    def covered(self) -> bool:
        """Whether nothing but what was released, and what is public, is read."""
        return True

    artefact: ClassVar[str] = ""
    """The input that is its parent, where each row of the answer follows from one row."""

    @property
    def types(self) -> tuple[type, ...]:
        """What the columns hold where it goes row by row: ``float``, ``int`` or ``str``."""
        return (str,) * len(self.columns)

    def derive_rows(self, table: Any, first: int) -> Any:
        """What follows from some rows of the private table, of which the first has this number."""
        raise ParameterError("query", "one that goes row by row", self.what)

    @abstractmethod
    def derive(self, tables: Mapping[str, Any], progress: Progress) -> Any:
        """The answer; no source of randomness comes here."""

    def derive_one(self, tables: Mapping[str, Any], person: str) -> Any:
        """The answer about one person, as JSON holds it, where each person has one."""
        return self.plain(self.show(self.derive(tables, lambda share: None)))[person]

    def named_in(self, value: Any) -> tuple[str, ...]:
        """Whom one person's answer names: it is deleted with them."""
        return ()

    def draw(self, tables: Mapping[str, Any], source: Source, progress: Progress) -> Any:
        """See ``derive``."""
        return self.derive(tables, progress)


def parent_of(public: Public, name: str) -> Answer:
    """The artefact of this name."""
    if name not in public.tables:
        raise ParameterError("data", f"with {name}", "others")
    held: Answer = public.tables[name]
    return held


def refuse_costs(**given: object) -> None:
    """Refuse arguments that only a release which costs may take."""
    for name, value in given.items():
        require(value is None, name, "one", "left out: nothing is drawn and nobody is charged")


def derive(
    query: Query,
    terms: Terms,
    tables: Mapping[str, Any],
    progress: Progress,
    command: str | None,
    out: str | Path | None = None,
) -> Answer:
    """An answer at no cost."""
    if not isinstance(terms, DerivedTerms):
        raise TypeError(f"the terms of {query.kind} are not derived")
    kept = terms.derive(tables, progress)
    card, notes = card_of_derived(terms, command), terms.notes(kept)
    place = None if out is None else Path(out)
    value = write_folder(query, terms, kept, card, place) if place else terms.show(kept)
    return Answer(query, value, card, "0", notes=notes, terms=terms)


def card_of_derived(terms: DerivedTerms, command: str | None) -> Card:
    """What the parent promises, for this answer: same event, same loss, what was spent then."""
    from reticent.guarantees.card import make_card

    parent = terms.parent.card
    event = parent.release_event()
    return make_card(
        terms.what[:1].upper() + terms.what[1:],
        event if terms.covered else replace(event, private=False),
        scope=terms.scope(),
        how=terms.how(),
        utility=terms.utility(),
        evidence=terms.evidence(),
        budget=parent.budget,
        command=command,
    )
