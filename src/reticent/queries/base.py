"""A query, its public terms, and its answer: the contract that every surface is made from.

Not here  the kinds (one file each), the runner (run.py), the publisher (publish.py).

A query holds options, no data. ``terms`` fixes everything public before private data are read; what
they ``read`` is drawn from once, sealed, and opened when its charge and its answer are durable.
Modules of this folder import NumPy when they work, not when they load.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from reticent.errors import ParameterError, require
from reticent.queries.evaluable import Evaluable
from reticent.queries.offering import Offerable
from reticent.queries.options import Option

if TYPE_CHECKING:
    from reticent.guarantees import Event, Loss
    from reticent.guarantees.card import (
        Budget,
        Card,
        Evidence,
        How,
        Preferences,
        Scope,
        Utility,
    )
    from reticent.guarantees.loss_words import LossWords
    from reticent.ledger import Ledger
    from reticent.mechanisms.base import Mechanism
    from reticent.noise import Source
    from reticent.queries.inputs import Input
    from reticent.queries.plans import Details, Plan
    from reticent.rational import Number
    from reticent.tasks.batched import Batched
    from reticent.tasks.charged import Payer
    from reticent.tasks.scattering import Scatter

Progress = Callable[[float], object]
"""Told the share of the work that is done, from 0 to 1."""


class Shape(StrEnum):
    """What one answer is about."""

    PER_PERSON = "each person"
    PER_PAIR = "each pair"
    WHOLE = "the whole"


class Pays(StrEnum):
    """Whose budget a release is charged to."""

    PERSON = "each person"
    DATA_SET = "the data set"
    RECORDED = "nobody; the release is recorded for each person"
    NOTED = "nobody; the release is recorded for the data set"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Public:
    """What terms may know besides the query: how many there are, what they are called.

    None where it is not known, as in a plan. ``declared``: the names were given, not found.
    ``tables``: what was read of the inputs; terms may look at those that are public.
    """

    count: int | None = None
    names: Sequence[str] | None = field(default=None, repr=False)
    declared: bool = False
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False)


class Terms(ABC):
    """Everything public about a release."""

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]]
    """Of the table that an answer is as CSV; the number of rows is public, too."""
    mechanism: Mechanism[Any]
    summarised: ClassVar[bool] = False
    """Its ``lines`` are a summary, to be read also where the answer itself goes to a file."""

    def informed(self, query: Query, found: Public) -> Terms:
        """The same, once private tables were read and said who there is, if nobody declared it."""
        return query.terms(found)

    @property
    @abstractmethod
    def what(self) -> str:
        """What is released, in words."""

    def loss(self) -> Loss:
        """The most that anybody loses."""
        return self.mechanism.guarantee()

    def words(self) -> LossWords:
        """What the loss costs and tells."""
        from reticent.guarantees.loss_words import words_of

        return words_of(self.loss())

    def event(self, source: Source) -> Event:
        """The record of the release, known before it is made."""
        return self.mechanism.event(source)

    def payers(self, limit: int | None) -> list[tuple[Payer, int]] | None:
        """Who pays how much, where each person pays; None where it is not known who there is.

        ``limit`` is what each may lose in all, in nano-epsilon.
        """
        return None

    @property
    def error(self) -> str:
        """How wrong the answer is, from public facts."""
        return self.utility().sentence

    def utility(self) -> Utility:
        """The error, for the card."""
        return self.mechanism.utility()

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure, for the card."""
        return self.mechanism.how()

    def evidence(self) -> Evidence:
        """Theorem and assumptions, for the card."""
        return self.mechanism.evidence()

    def preferences(self) -> Preferences | None:
        """What the card says of people's preferences, where they have a part in it."""
        return None

    def details(self) -> Details | None:
        """More of a plan, part by part."""
        return None

    def figure(self, name: str) -> str:
        """A picture of the plan, as SVG; ``name`` is one of the query's ``figures``."""
        raise ParameterError("figure", "one that the query has", name)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to say before anything is spent."""
        return ()

    @property
    @abstractmethod
    def public(self) -> tuple[str, ...]:
        """What the promise takes as public."""

    @abstractmethod
    def scope(self) -> Scope:
        """Whom it protects, against whom, and against whom not."""

    def scattered(self, scatter: Scatter) -> Terms:
        """The same, whose heavy work ``scatter`` shares out, if there is any that it could."""
        return self

    @abstractmethod
    def draw(self, tables: Mapping[str, Any], source: Source, progress: Progress) -> Any:
        """The answer, sealed: in a form that a ledger can keep; it is shown by ``show``."""

    def batches(self, columns: Mapping[str, str]) -> Batched:
        """The release as a function from Arrow batch to Arrow batch, where it is a map over people.

        ``columns`` has the column of each role of the private table that is read.
        """
        raise ParameterError("query", "a map over people", self.what)

    @abstractmethod
    def show(self, kept: Any) -> Any:
        """The answer in the user's terms."""

    @abstractmethod
    def rows(self, value: Any) -> list[tuple[Any, ...]]:
        """What was shown, as rows in canonical order."""

    def tables(self, kept: Any) -> Iterable[Any]:
        """The answer as Arrow tables, in the order of its rows; no person is in two of them."""
        from reticent.queries.publish import as_table

        yield as_table(self, self.show(kept))

    def plain(self, value: Any) -> Any:
        """What was shown, as JSON holds it."""
        return value

    def lines(self, value: Any) -> list[str] | None:
        """What was shown, for a terminal, where a table would not do."""
        return None

    def notes(self, kept: Any) -> tuple[str, ...]:
        """What follows from the answer alone, so that saying it costs nothing."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Query(Evaluable, Offerable, ABC):
    """What is asked, without any data. Equal options make equal queries."""

    kind: ClassVar[str]
    shape: ClassVar[Shape]
    pays: ClassVar[Pays]
    inputs: ClassVar[Mapping[str, Input]]
    verb: ClassVar[str] = "release"
    """The command that it is under; none for one that is a verb itself."""
    counted: ClassVar[str] = ""
    """What ``count`` of a plan counts; nothing, where a plan does not depend on a number."""
    absent: ClassVar[Mapping[str, str]] = {}
    """Surfaces and verbs that it is not on, and why."""
    figures: ClassVar[Mapping[str, str]] = {}
    """Pictures of a plan by name, and what they show."""

    def __post_init__(self) -> None:
        for one in self.options():
            read = one.kind.read(getattr(self, one.name), one.name)
            object.__setattr__(self, one.name, read)
        self.check()

    def check(self) -> None:
        """Refuse options that do not go together."""
        return

    def wants(self, name: str) -> bool:
        """Whether an input that has a usual file is asked for by these options."""
        return True

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """The options, as every surface shows them."""
        return tuple(
            Option(one.name, default=one.default, **one.metadata) for one in dataclasses.fields(cls)
        )

    @classmethod
    def about(cls) -> str:
        """The first line of its documentation."""
        return (cls.__doc__ or "").partition("\n")[0]

    def to_plain(self) -> dict[str, Any]:
        """As JSON holds it; ``of_plain`` makes an equal one."""
        return {"kind": self.kind} | {
            one.name: one.kind.write(getattr(self, one.name)) for one in self.options()
        }

    @classmethod
    def of_plain(cls, told: Mapping[str, Any]) -> Self:
        """From ``to_plain``; no file is read, whatever it names."""
        given = dict(told)
        if given.pop("kind", cls.kind) != cls.kind:
            raise ParameterError("kind", cls.kind, told["kind"])
        known = {one.name for one in cls.options()}
        if not given.keys() <= known:
            raise ParameterError("query", f"one with {', '.join(sorted(known))}", "other options")
        for one in cls.options():
            whole = not one.kind.form or isinstance(given.get(one.name), Mapping)
            require(whole, one.name, "another", "written out, as to_plain does")
        return cls(**given)

    @abstractmethod
    def terms(self, public: Public) -> Terms:
        """Everything public about a release of this query."""

    def reads(self, known: Mapping[str, Any]) -> Mapping[str, Input]:
        """The inputs, with the roles that options and ``known``, what is public, add."""
        return self.inputs

    def restore(self, value: Any) -> Any:
        """A value of ``Terms.plain`` as it was shown; what cannot be one is refused.

        Anybody may have written it. Only answers that others derive from are read again.
        """
        raise ParameterError("kind", "one whose answers are artefacts", self.kind)

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[Any]]) -> Any:
        """What ``restore`` takes, from the columns of a folder that was published."""
        raise ParameterError("kind", "one whose folders are artefacts", cls.kind)

    def told_by(self, value: Any) -> Public:
        """What an answer that was read again says is public: whom it is about."""
        return Public()

    def check_given(self, given: Collection[str]) -> None:
        """Refuse inputs that do not go together, before anything is read."""
        return

    def paid_by(self, given: Collection[str]) -> Pays:
        """Whose budget it is charged to, given these inputs."""
        return self.pays

    @abstractmethod
    def facts(self, tables: Mapping[str, Any]) -> Public:
        """What of the tables is public: their shape, declared names; as far as they were read."""

    def plan(
        self,
        public: Mapping[str, Any] | None = None,
        *,
        count: int | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> Plan:
        """What a release would cost and how wrong it would be; nothing private is read.

        ``public`` are tables that are public, by name. Without them ``count`` is how many there are
        of what is counted, if you know that without looking.
        """
        from reticent.queries.plans import plan

        reason = self.absent.get("plan")
        require(reason is None, "query", self.kind, f"one that can be planned: {reason}")
        return plan(self, public or {}, count, columns)

    def release(
        self,
        data: Any,
        *,
        columns: Mapping[str, str] | None = None,
        people: Any = None,
        preferences: Any = None,
        ledger: Ledger | str | Path | None = None,
        data_set: str | None = None,
        total: Number | None = None,
        key: str | None = None,
        source: Source | None = None,
        out: str | Path | None = None,
        processes: int | None = None,
    ) -> Answer:
        """Release an answer about ``data``: a file, a frame, columns by name, or several of these.

        An artefact is a stored answer: an ``Answer``, what the publisher wrote of one, or its file.
        ``columns`` says which column plays which role, ``people`` who there is, ``preferences``
        what they allow. With a ``ledger`` the release is charged before it is drawn, to
        ``data_set`` or to each person, up to ``total`` if you give one, and the same ``key``
        repeats its answer at no further charge. Without a ledger it is yours to count what was
        lost.

        With ``out``, named .parquet, an answer for each person or pair is a folder of Parquet files
        that is there whole or not at all. What is a map over people is then streamed, from files or
        folders of any size, by all cores or so many ``processes``; if it is broken off, the same
        call goes on where it stopped.
        """
        from reticent.queries.run import release

        return release(
            self,
            data,
            columns=columns,
            people=people,
            preferences=preferences,
            ledger=ledger,
            data_set=data_set,
            total=total,
            key=key,
            source=source,
            out=out,
            processes=processes,
        )


class WholeQuery(Query):
    """A query about a population: one answer, which the data set pays for."""

    shape: ClassVar[Shape] = Shape.WHOLE
    pays: ClassVar[Pays] = Pays.DATA_SET
    absent: ClassVar[Mapping[str, str]] = {"HTTP": "about a population, not about one person"}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What was released: the value, its guarantee card, and what it cost now."""

    query: Query
    value: Any
    card: Card = field(repr=False)
    spent: str
    """Epsilon that was charged by this call; "0" if the answer was repeated."""
    key: str | None = None
    replayed: bool = False
    notes: tuple[str, ...] = ()
    """What follows from the answer alone."""
    terms: Terms = field(kw_only=True, repr=False)

    @property
    def budget(self) -> Budget:
        """What the account had spent in all when this was released, and its limit."""
        if self.card.budget is None:
            raise ParameterError("answer", "one that a ledger has counted", "another")
        return self.card.budget
