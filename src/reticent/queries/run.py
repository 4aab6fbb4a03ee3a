"""The one runner: terms, agree, charge, draw sealed, keep, open, card.

Theory    docs/theory/ledger.md, Theorem 1 (never more than the limit), Theorem 2 (one key, one
          answer, one charge)
Not here  what is drawn (each query), how an answer is shown (publish.py), the ledger (ledger/).

Nothing is shown before its charge and its answer are durable. The card is kept with the answer, so
that a key repeats both byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.amounts import nano_down
from reticent.errors import ParameterError, require
from reticent.guarantees import canonical
from reticent.guarantees.card import Card, make_card
from reticent.ledger import Ledger, open_ledger
from reticent.noise import Source
from reticent.queries.base import Answer, Pays, Public, Query, Terms
from reticent.queries.binding import Bound, bind
from reticent.queries.plans import Plan, plan_of
from reticent.rational import Number, budget
from reticent.tasks.charged import LIBRARY, Payer, answer_once, most_spent, new_key

if TYPE_CHECKING:
    from reticent.guarantees.card import Budget
    from reticent.queries.base import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a surface is told on the way; the library is told nothing.

    ``agree`` sees the plan before anything is spent and may raise; ``charged`` is called when the
    charge is durable and nothing is drawn yet; ``command`` is what a card says was typed.
    """

    agree: Callable[[Plan], object] = lambda plan: None
    charged: Callable[[str], object] = lambda key: None
    progress: Progress = lambda share: None
    command: str | None = None


QUIET = Told()


def release(
    query: Query,
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    ledger: Ledger | str | Path | None = None,
    data_set: str | None = None,
    total: Number | None = None,
    key: str | None = None,
    source: Source | None = None,
    principal: str = LIBRARY,
    told: Told = QUIET,
) -> Answer:
    """An answer, charged first where there is a ledger; ``Query.release`` says what is what."""
    query.terms(Public())  # options that cannot be met are found before anything is read
    source = Source.system() if source is None else source
    tables = bind(query.inputs, data, columns)
    terms = query.terms(query.facts(tables))
    told.agree(plan_of(query, terms))
    ready = _Ready(query, terms, tables, source, told)
    if ledger is None:
        require(key is None, "key", "one", "left out where there is no ledger to keep an answer")
        return ready.answer(ready.draw(), None)
    with _opened(ledger) as book:
        payer = payer_of(query, data, data_set, total)
        return ready.charged(book, payer, new_key() if key is None else key, principal, columns)


def payer_of(query: Query, data: Any, data_set: str | None, total: Number | None = None) -> Payer:
    """The account that a release is charged to; a file is a data set of its own name."""
    if query.pays is not Pays.DATA_SET:
        raise ParameterError("query", "one that a data set pays for", query.kind)
    limit = None if total is None else nano_down(budget(total, "total"))
    return Payer(subject=f"data set {_name(query, data, data_set)}", limit=limit)


def _name(query: Query, data: Any, data_set: str | None) -> str:
    first = data.get(next(iter(query.inputs))) if isinstance(data, Mapping) else data
    if data_set is None and isinstance(first, (str, Path)):
        data_set = str(Path(first).resolve())
    good = isinstance(data_set, str) and 0 < len(data_set) <= 480 and data_set.isprintable()
    rule = "the name under which the ledger counts these data, 1 to 480 letters"
    require(good, "data_set", data_set, rule)
    return str(data_set)


def _opened(ledger: Ledger | str | Path) -> AbstractContextManager[Ledger]:
    return open_ledger(ledger) if isinstance(ledger, (str, Path)) else nullcontext(ledger)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Ready:
    """A release of which everything public is fixed."""

    query: Query
    terms: Terms
    tables: Mapping[str, Bound]
    source: Source
    told: Told

    def draw(self) -> Any:
        return self.terms.draw(self.tables, self.source, self.told.progress)

    def card(self, spent: Budget | None) -> Card:
        mechanism = self.terms.mechanism
        return make_card(
            self.terms.what[:1].upper() + self.terms.what[1:],
            mechanism.event(self.source),
            scope=self.terms.scope(),
            how=mechanism.how(),
            utility=mechanism.utility(),
            evidence=mechanism.evidence(),
            budget=spent,
            command=self.told.command,
        )

    def answer(
        self, kept: Any, card: Card | None, key: str | None = None, *, replayed: bool = False
    ) -> Answer:
        made = self.card(None) if card is None else card
        spent = "0" if replayed else plan_of(self.query, self.terms).epsilon
        value = self.terms.show(kept)
        return Answer(self.query, value, made, spent, key, replayed, terms=self.terms)

    def charged(
        self,
        book: Ledger,
        payer: Payer,
        key: str,
        principal: str,
        columns: Mapping[str, str] | None,
    ) -> Answer:
        """Charge, then draw and keep; or what this key got before."""

        def make() -> tuple[Any, str]:
            self.told.charged(key)
            return self.draw(), self.card(most_spent(book, [payer])).to_json()

        asked = canonical([self.query.to_plain(), dict(sorted((columns or {}).items()))])
        event = self.terms.mechanism.event(self.source)
        found = answer_once(
            event, make, ledger=book, payers=payer, key=key, principal=principal, about=asked
        )
        kept, card = found.value
        return self.answer(kept, Card.from_json(card), key, replayed=found.replayed)
