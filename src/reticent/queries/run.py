"""The one runner: terms, agree, charge, draw sealed, keep, open, card.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge)
Not here  what is drawn (each query), how an answer is shown (publish.py), the ledger (ledger/).

Nothing is shown before its charge and its answer are durable. The card is kept with the answer, so
that a key repeats both byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from reticent.amounts import nano_down, show_nano
from reticent.errors import BudgetExceeded, ParameterError, require
from reticent.guarantees import canonical
from reticent.guarantees.card import Audience, Card, make_card
from reticent.ledger import Ledger, open_ledger
from reticent.noise import Source
from reticent.queries.base import Answer, Pays, Query, Terms
from reticent.queries.binding import Given
from reticent.queries.derived import derive
from reticent.queries.plans import Plan, plan_of
from reticent.rational import Number, budget
from reticent.tasks.charged import LIBRARY, Payer, answer_once, most_spent, new_key

if TYPE_CHECKING:
    from reticent.guarantees import Event
    from reticent.guarantees.card import Budget, Preferences
    from reticent.queries.base import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a surface is told on the way; the library is told nothing.

    ``agree`` sees the plan before anything is spent and may raise; ``paying`` sees who pays before
    they are charged; ``charged`` is called when the charge is durable and nothing is drawn yet,
    ``repeated`` when this key was answered before; ``refused`` says how a budget that is too small
    is raised. The card has this ``title`` instead of its own, ``command`` is what it says was
    typed, and ``made`` when.
    """

    agree: Callable[[Plan], object] = lambda plan: None
    paying: Callable[[Ledger, Sequence[Payer]], object] = lambda ledger, payers: None
    charged: Callable[[str], object] = lambda key: None
    repeated: Callable[[str], object] = lambda key: None
    refused: Callable[[BudgetExceeded], Exception] = lambda error: error
    progress: Progress = lambda share: None
    title: str | None = None
    command: str | None = None
    made: date | None = None


QUIET = Told()
Opening: TypeAlias = Callable[[], AbstractContextManager[Ledger]]
"""How to open a ledger, for who must not make one before the data are read."""


def release(
    query: Query,
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    people: Any = None,
    preferences: Any = None,
    ledger: Ledger | str | Path | Opening | None = None,
    data_set: str | None = None,
    total: Number | None = None,
    key: str | None = None,
    source: Source | None = None,
    principal: str = LIBRARY,
    told: Told = QUIET,
) -> Answer:
    """An answer, charged first where there is a ledger; ``Query.release`` says what is what."""
    given = Given.of(query.reads({}), data, columns).and_also(
        people=people, preferences=preferences
    )
    query.check_given(given.held)
    terms, tables = _read(query, given)
    if query.paid_by(given.held) is Pays.NOBODY:
        kept: dict[str, object] = {"ledger": ledger, "data_set": data_set, "total": total}
        unused = {**kept, "key": key, "source": source}
        return derive(query, terms, tables, unused, told.progress, told.command)
    source = Source.system() if source is None else source
    told.agree(plan_of(query, terms))
    ready = _Ready(query, terms, tables, source, told)
    if ledger is None:
        for name, value in (("key", key), ("total", total)):
            require(value is None, name, "one", "left out where there is no ledger to keep it")
        return ready.answer(ready.draw(), None)
    with _opened(ledger) as book:
        due = payers_of(query, terms, given.held, data_set, total)
        if not due:  # nothing is released that nobody pays for
            raise ParameterError("data", "with people who can be charged", "others")
        own = new_key() if key is None else key
        return ready.charged(book, due, own, principal, columns)


def read_all(query: Query, data: Any) -> tuple[Terms, dict[str, Any]]:
    """Terms and tables of a release, without any."""
    return _read(query, Given.of(query.reads({}), data, None))


def _read(query: Query, given: Given) -> tuple[Terms, dict[str, Any]]:
    """What is public first: options that it cannot meet are found before anything private is read.

    What private tables say of who there is, if nobody declared it, is public by that.
    """
    public = given.public()
    terms = query.terms(query.facts(public))
    tables = public | given.private(public, query.reads(public))
    return terms.informed(query, query.facts(tables)), tables


def payers_of(
    query: Query,
    terms: Terms,
    held: Mapping[str, Any],
    data_set: str | None,
    total: Number | None = None,
) -> list[tuple[Payer, int]] | None:
    """Whose accounts are charged how much; None where it is not known yet who there is."""
    limit = None if total is None else nano_down(budget(total, "total"))
    if query.pays in (Pays.RECORDED, Pays.NOTED):
        require(total is None, "total", total, "left out: what is told does not add")
    if query.pays not in (Pays.DATA_SET, Pays.NOTED):
        require(data_set is None, "data_set", data_set, "left out: each person has an account")
        return terms.payers(limit)
    subject = f"data set {_name(query, held, data_set)}"
    if query.pays is Pays.NOTED:
        return [(Payer(subject=subject, what=query.kind), terms.words().charge)]
    return [(Payer(subject=subject, limit=limit), terms.words().charge)]


def _name(query: Query, held: Mapping[str, Any], data_set: str | None) -> str:
    """A file is a data set of its own name."""
    first = held.get(next(iter(query.inputs)))
    if data_set is None and isinstance(first, (str, Path)):
        data_set = str(Path(first).resolve())
    good = isinstance(data_set, str) and 0 < len(data_set) <= 480 and data_set.isprintable()
    rule = "the name under which the ledger counts these data, 1 to 480 letters"
    require(good, "data_set", data_set, rule)
    return str(data_set)


def _opened(ledger: Ledger | str | Path | Opening) -> AbstractContextManager[Ledger]:
    if isinstance(ledger, (str, Path)):
        return open_ledger(ledger)
    return ledger() if callable(ledger) else nullcontext(ledger)


def card_of(
    terms: Terms,
    event: Event,
    *,
    budget: Budget | None = None,
    audience: Audience = Audience.OPERATOR,
    title: str | None = None,
    preferences: Preferences | None = None,
    command: str | None = None,
    made: date | None = None,
) -> Card:
    """The card of a release on these terms; its ``title`` is what they release, in words.

    ``audience`` is whose copy it is: budgets are not for everybody.
    """
    return make_card(
        title or terms.what[:1].upper() + terms.what[1:],
        event,
        scope=terms.scope(),
        how=terms.how(),
        utility=terms.utility(),
        evidence=terms.evidence(),
        preferences=preferences or terms.preferences(),
        budget=audience.sees(budget),
        command=command,
        made=made,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Ready:
    """A release of which everything public is fixed."""

    query: Query
    terms: Terms
    tables: Mapping[str, Any]
    source: Source
    told: Told

    @property
    def event(self) -> Event:
        """Private if the noise is, and whatever was drawn into the data before."""
        made = self.terms.event(self.source)
        private = all(getattr(table, "private", True) for table in self.tables.values())
        return made if private else replace(made, private=False)

    def draw(self) -> Any:
        return self.terms.draw(self.tables, self.source, self.told.progress)

    def card(self, spent: Budget | None) -> Card:
        told = self.told
        return card_of(
            self.terms,
            self.event,
            budget=spent,
            title=told.title,
            command=told.command,
            made=told.made,
        )

    def answer(
        self, kept: Any, card: Card | None, key: str | None = None, *, replayed: bool = False
    ) -> Answer:
        made = self.card(None) if card is None else card
        spent = "0" if replayed else show_nano(self.terms.words().charge)
        value, notes = self.terms.show(kept), self.terms.notes(kept)
        return Answer(self.query, value, made, spent, key, replayed, notes, terms=self.terms)

    def charged(
        self,
        book: Ledger,
        due: Sequence[tuple[Payer, int]],
        key: str,
        principal: str,
        columns: Mapping[str, str] | None,
    ) -> Answer:
        """Charge, then draw and keep; or what this key got before."""
        payers = [payer for payer, _ in due]
        self.told.paying(book, payers)

        def make() -> tuple[Any, str]:
            self.told.charged(key)
            return self.draw(), self.card(most_spent(book, payers)).to_json()

        public = {
            name: one.decides(self.tables[name])
            for name, one in self.query.inputs.items()
            if name in self.tables
        }
        roles = dict(sorted((columns or {}).items()))
        asked = canonical([self.query.to_plain(), roles, public])
        try:
            found = answer_once(
                self.event,
                make,
                ledger=book,
                payers=payers,
                amounts=[nano for _, nano in due],
                key=key,
                principal=principal,
                about=asked,
            )
        except BudgetExceeded as error:
            raise self.told.refused(error) from None
        if found.replayed:
            self.told.repeated(key)
        kept, card = found.value
        return self.answer(kept, Card.from_json(card), key, replayed=found.replayed)
