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
from reticent.queries.base import Answer, Pays, Query, Shape, Terms
from reticent.queries.binding import Given
from reticent.queries.derived import DerivedTerms, derive, refuse_costs
from reticent.queries.folders import check_free
from reticent.queries.people import PersonTerms
from reticent.queries.plans import Plan, plan_of
from reticent.rational import Number, budget
from reticent.tasks.charged import LIBRARY, Payer, answer_once, most_spent, new_key

if TYPE_CHECKING:
    from reticent.guarantees import Event
    from reticent.guarantees.card import Budget, Preferences
    from reticent.queries.base import Progress
    from reticent.tasks.scattering import Scatter


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a surface is told on the way; the library is told nothing.

    ``agree`` sees the plan before anything is spent and may raise; ``paying`` sees who pays before
    they are charged; ``charged`` is called when the charge is durable and nothing is drawn yet,
    ``repeated`` when this key was answered before; ``refused`` says how a budget that is too small
    is raised. The card has this ``title`` instead of its own, ``command`` is what it says was
    typed, and ``made`` when. ``scatter`` shares out heavy work of a draw.
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
    scatter: Scatter | None = None

    def card(self, terms: Terms, event: Event, spent: Budget | None) -> Card:
        """The card of a release on these terms, with what was typed."""
        about = {"title": self.title, "command": self.command, "made": self.made}
        return card_of(terms, event, budget=spent, **about)  # type: ignore[arg-type]


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
    out: str | Path | None = None,
    processes: int | None = None,
    principal: str = LIBRARY,
    told: Told = QUIET,
) -> Answer:
    """An answer, charged first where there is a ledger; ``Query.release`` says what is what."""
    given = Given.of(query.reads({}), data, columns).and_also(
        people=people, preferences=preferences
    )
    query.check_given(given.held)
    public = given.public()
    terms = query.terms(query.facts(public))
    if ledger is None and query.paid_by(given.held) is not Pays.NOBODY:
        for name, value in (("key", key), ("total", total)):
            require(value is None, name, "one", "left out where there is no ledger to keep it")
    if out is None:
        require(processes is None, "processes", processes, "left out without a folder to make")
    elif isinstance(terms, PersonTerms):
        from reticent.queries.streaming import Stream

        drawn = Source.system() if source is None else source
        stream = Stream(query, terms, given, public, Path(out), processes, drawn, told)
        limit = limit_of(query, data_set, total)
        with nullcontext() if ledger is None else opened(ledger) as book:
            return stream.released(book, key, principal, limit)
    elif isinstance(terms, DerivedTerms) and terms.artefact:
        from reticent.queries.row_batches import release_rows

        refuse_costs(ledger=ledger, data_set=data_set, total=total, key=key, source=source)
        return release_rows(query, terms, given, public, Path(out), processes, told)
    else:
        rule = "left out: there is one answer and no row for each person or pair"
        require(query.shape is not Shape.WHOLE, "out", str(out), rule)
        if query.paid_by(given.held) is Pays.NOBODY:
            check_free(Path(out))
    terms, tables = _informed(query, terms, given, public)
    if told.scatter is not None:
        terms = terms.scattered(told.scatter)
    if query.paid_by(given.held) is Pays.NOBODY:
        refuse_costs(ledger=ledger, data_set=data_set, total=total, key=key, source=source)
        return derive(query, terms, tables, told.progress, told.command, out)
    source = Source.system() if source is None else source
    told.agree(plan_of(query, terms))
    ready = _Ready(query, terms, tables, source, told)
    if out is not None:
        from reticent.queries.whole_folder import WholeJob, into_folder

        due = _due(query, terms, given.held, data_set, total)
        job = WholeJob(query, terms, tables, columns or {}, due, ready.event, told.progress)
        with nullcontext() if ledger is None else opened(ledger) as book:
            return into_folder(job, Path(out), source, book, key, principal, told)
    if ledger is None:
        return ready.answer(ready.draw(), None)
    with opened(ledger) as book:
        due = _due(query, terms, given.held, data_set, total)
        own = new_key() if key is None else key
        return ready.charged(book, due, own, principal, columns)


def read_all(query: Query, data: Any) -> tuple[Terms, dict[str, Any]]:
    """Terms and tables of a release, without any."""
    return read_given(query, Given.of(query.reads({}), data, None))


def read_given(query: Query, given: Given) -> tuple[Terms, dict[str, Any]]:
    """The same of what was given."""
    public = given.public()
    return _informed(query, query.terms(query.facts(public)), given, public)


def _informed(
    query: Query, terms: Terms, given: Given, public: dict[str, Any]
) -> tuple[Terms, dict[str, Any]]:
    """Terms and tables, once what is private was read: options were found good before.

    What private tables say of who there is, if nobody declared it, is public by that.
    """
    tables = public | given.private(public, query.reads(public))
    return terms.informed(query, query.facts(tables)), tables


def _due(
    query: Query,
    terms: Terms,
    held: Mapping[str, Any],
    data_set: str | None,
    total: Number | None,
) -> list[tuple[Payer, int]]:
    due = payers_of(query, terms, held, data_set, total)
    if not due:  # nothing is released that nobody pays for
        raise ParameterError("data", "with people who can be charged", "others")
    return due


def payers_of(
    query: Query,
    terms: Terms,
    held: Mapping[str, Any],
    data_set: str | None,
    total: Number | None = None,
) -> list[tuple[Payer, int]] | None:
    """Whose accounts are charged how much; None where it is not known yet who there is."""
    limit = limit_of(query, data_set, total)
    if query.pays not in (Pays.DATA_SET, Pays.NOTED):
        return terms.payers(limit)
    subject = f"data set {_name(query, held, data_set)}"
    if query.pays is Pays.NOTED:
        return [(Payer(subject=subject, what=query.kind), terms.words().charge)]
    return [(Payer(subject=subject, limit=limit), terms.words().charge)]


def limit_of(query: Query, data_set: str | None, total: Number | None) -> int | None:
    """What each account may lose in all, in nano-epsilon; refused where nothing adds up."""
    if query.pays in (Pays.RECORDED, Pays.NOTED):
        require(total is None, "total", total, "left out: what is told does not add")
    if query.pays not in (Pays.DATA_SET, Pays.NOTED):
        require(data_set is None, "data_set", data_set, "left out: each person has an account")
    return None if total is None else nano_down(budget(total, "total"))


def _name(query: Query, held: Mapping[str, Any], data_set: str | None) -> str:
    """A file is a data set of its own name."""
    first = held.get(next(iter(query.inputs)))
    if data_set is None and isinstance(first, (str, Path)):
        data_set = str(Path(first).resolve())
    good = isinstance(data_set, str) and 0 < len(data_set) <= 480 and data_set.isprintable()
    rule = "the name under which the ledger counts these data, 1 to 480 letters"
    require(good, "data_set", data_set, rule)
    return str(data_set)


def event_of(terms: Terms, tables: Mapping[str, Any], source: Source) -> Event:
    """The record of a release: private if the noise is, and what was drawn into the data before."""
    made = terms.event(source)
    private = all(getattr(table, "private", True) for table in tables.values())
    return made if private else replace(made, private=False)


def opened(ledger: Ledger | str | Path | Opening) -> AbstractContextManager[Ledger]:
    """A ledger that was given, or the one at an address, which is closed again."""
    if isinstance(ledger, (str, Path)):
        return open_ledger(ledger)
    return ledger() if callable(ledger) else nullcontext(ledger)


def asked_of(query: Query, columns: Mapping[str, str], tables: Mapping[str, Any]) -> str:
    """What is asked, with all that is public and decides the answer: a key is good for no other."""
    public = {n: one.decides(tables[n]) for n, one in query.inputs.items() if n in tables}
    return canonical([query.to_plain(), dict(sorted(columns.items())), public])


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
        return event_of(self.terms, self.tables, self.source)

    def draw(self) -> Any:
        return self.terms.draw(self.tables, self.source, self.told.progress)

    def card(self, spent: Budget | None) -> Card:
        return self.told.card(self.terms, self.event, spent)

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

        asked = asked_of(self.query, columns or {}, self.tables)
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
