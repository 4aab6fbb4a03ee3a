"""``reticent select percentile``: who is at a rank, or a number that is near it.

Theory    docs/theory/percentile.md, Theorem 1 (an admissible bound)
Not here  options and files of values (select_values.py), how it is chosen (tasks/percentile.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.charging import (
    LEDGER,
    DataSetOption,
    KeyOption,
    LedgerOption,
    Purse,
    TotalOption,
    of_data_set,
)
from reticent.cli.failures import Failure
from reticent.cli.neighbours import PopulationOption, check_population
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import DryRun, Yes, agreement, published
from reticent.cli.release import (
    CARDS,
    CardFile,
    card_fields,
    check_files,
    say_card,
    write_card,
)
from reticent.cli.select import EpsilonOption, SelectPlan, Way, cautions, way_of
from reticent.cli.select_values import (
    ColumnOption,
    POption,
    UpperOption,
    Values,
    ValuesFile,
    check_rank,
)

if TYPE_CHECKING:
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.base import Mechanism, Release
    from reticent.mechanisms.dampening import Dampened
    from reticent.noise import Source

SCHEMA = "select-percentile/1"
USUAL = Way.shifted
UNKNOWN = "not known without the number of people, which --population would tell"


def percentile(
    context: typer.Context,
    path: ValuesFile,
    epsilon: EpsilonOption,
    upper: UpperOption,
    p: POption = 0.5,
    column: ColumnOption = None,
    ids: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="The column that names people, whose names are public.  [default: the number of "
            "the line]",
            metavar="COLUMN",
        ),
    ] = None,
    way: Annotated[
        Way | None,
        typer.Option(
            "--way",
            help="How a person is chosen, all with the same promise: shifted, dampened, "
            "permute-and-flip or exponential.  [default: shifted]",
        ),
    ] = None,
    number: Annotated[
        bool,
        typer.Option("--number", help="Release a number instead of a person; needs --step."),
    ] = False,
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            help="For --number: what released numbers are whole multiples of, above --lower.",
            metavar="S",
        ),
    ] = None,
    lower: Annotated[
        str | None,
        typer.Option(
            "--lower",
            help="For --number: the least value that there can be.  [default: 0]",
            metavar="LEAST",
        ),
    ] = None,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: KeyOption = None,
    data_set: DataSetOption = None,
    total: TotalOption = None,
    population: PopulationOption = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Who is near a percentile of values, or what number is.

    With --number a number is released, without it the name of a person. A number is usually what
    one wants: it is nearer, and points at nobody. Values are private; how many people there are,
    who they are, and the range of values are public. Values outside the range are clamped, what is
    no number counts as the least, and nothing reports either.
    """
    from reticent.mechanisms.base import Release
    from reticent.noise import Source

    check_rank(p)
    check_population(population, dry_run)
    check_files(card, suffixes=CARDS)
    asked = _asked(p, epsilon, upper, way, number, step, lower, ids)
    purse, payers = Purse(ledger, key, quiet=as_json), of_data_set(path, data_set, total)
    if dry_run:
        planned = asked.plan(population)
        planned.say(as_json, purse.outlook(payers, planned.charge))
        return
    asked.plan(None)  # wrong options are found before the table is read
    agree = agreement(context, yes)
    values = Values.read(path, column, ids)
    plan = asked.plan(len(values))
    agree(plan)
    source, mechanism = Source.system(), asked.mechanism(len(values))
    event = mechanism.event(source)
    paid = purse.pay(context, event, payers, lambda: asked.release(values, source).value)
    whole: Release[Any] = Release(paid.value, event, mechanism)
    made = whole.card(
        plan.title, scope=_scope(asked), budget=paid.budget, command=published(context)
    )
    write_card(made, card)
    if as_json:
        facts = {"p": p, "people": len(values), **asked.fields(paid.value)}
        say_json(SCHEMA, **facts, **plan.fields(), **paid.fields(), **card_fields(made, card))
        return
    say(asked.told(paid.value))
    talk(paid.cost(plan.cost()))
    say_card(made, card)


@dataclass(frozen=True, slots=True)
class Person:
    """A person near a rank is asked for."""

    p: float
    epsilon: str
    upper: Fraction
    way: Way
    lower: Fraction = Fraction(0)

    @property
    def what(self) -> str:
        """What is released, in words."""
        return f"a person whose value is near the {_rank(self.p)}"

    def mechanism(self, people: int) -> Dampened:
        """How it is chosen among so many people."""
        from reticent.mechanisms.top_dampened import TopDampened
        from reticent.tasks.percentile import percentile_mechanism

        one = percentile_mechanism(self.epsilon, people, self.upper)
        return way_of(TopDampened(whole=one, k=1), self.way.value).whole

    def plan(self, people: int | None) -> SelectPlan:
        """What it would cost; the error depends on how many people there are."""
        mechanism = self.mechanism(people or 1)
        return _plan(self, mechanism, people, UNKNOWN if people is None else None)

    def release(self, values: Values, source: Source) -> Release[Any]:
        """The name of a person."""
        from reticent.mechanisms.base import Release
        from reticent.tasks.percentile import release_percentile

        mechanism = self.mechanism(len(values))
        given: dict[str, Any] = {"upper": float(self.upper), "mechanism": mechanism}
        found = release_percentile(values.held, self.p, source=source, **given)
        return Release(values.names[found.value], found.event, found.mechanism)

    def fields(self, value: str) -> dict[str, Any]:
        """For JSON."""
        return {"way": self.way.value, "person": value}

    def told(self, value: str) -> str:
        """As a line."""
        from reticent.guarantees.card_facts import printable

        return f"{printable(value)}  {self.what}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number near a rank is asked for, on a grid."""

    p: float
    epsilon: str
    lower: Fraction
    upper: Fraction
    step: Fraction

    @property
    def what(self) -> str:
        """What is released, in words."""
        return f"a number near the {_rank(self.p)}"

    def mechanism(self, people: int) -> Mechanism[int]:
        """How it is chosen; how many people there are changes nothing."""
        from reticent.tasks.percentile import quantile_mechanism

        return quantile_mechanism(self.epsilon, lower=self.lower, upper=self.upper, step=self.step)

    def plan(self, people: int | None) -> SelectPlan:
        """What it would cost."""
        mechanism = self.mechanism(1)
        ranks = f"{mechanism.utility().sentence}; a score is minus the number of people missed"
        return _plan(self, mechanism, people, ranks)

    def release(self, values: Values, source: Source) -> Release[Any]:
        """The number of a point of the grid."""
        from reticent.tasks.percentile import quantile

        return quantile(
            values.held,
            self.p,
            lower=self.lower,
            upper=self.upper,
            step=self.step,
            epsilon=self.epsilon,
            source=source,
        )

    def fields(self, value: int) -> dict[str, Any]:
        """For JSON."""
        return {"value": float(self.lower + value * self.step)}

    def told(self, value: int) -> str:
        """As a line."""
        return f"{float(self.lower + value * self.step):.12g}  {self.what}"


def _asked(
    p: float,
    epsilon: str,
    upper: str,
    way: Way | None,
    number: bool,
    step: str | None,
    lower: str | None,
    ids: str | None,
) -> Person | Number:
    """What the options ask for."""
    from reticent.rational import positive, rational

    if not number:
        for value, option in ((step, "--step"), (lower, "--lower")):
            if value is not None:
                raise Failure(f"{option} is for --number only", why="a person is released")
        return Person(p, epsilon, positive(upper, "upper"), way or USUAL)
    for other, option in ((way, "--way"), (ids, "--id")):
        if other is not None:
            raise Failure(f"{option} is not for --number", why="no person is chosen")
    if step is None:
        why = "released numbers are whole multiples of it above --lower; it is public"
        raise Failure("--number needs --step", why=why)
    low, high = rational(lower or "0", "lower"), rational(upper, "upper")
    if low >= high:
        raise Failure("--upper must be above --lower")
    return Number(p, epsilon, low, high, positive(step, "step"))


def _plan(
    asked: Person | Number, mechanism: Mechanism[Any], people: int | None, error: str | None
) -> SelectPlan:
    loss: Any = mechanism.guarantee()
    least, most = float(asked.lower), float(asked.upper)
    return SelectPlan(
        "select-percentile",
        asked.what,
        {"anyone": loss.overall},
        error or mechanism.utility().sentence,
        cautions(loss.overall),
        loss.unit.question,
        (
            "the number of people and who they are" + ("" if people is None else f": {people:,}"),
            f"the range of values, {least:.12g} to {most:.12g}; others are clamped to it, and what "
            f"is no number counts as {least:.12g}",
        ),
        "no value",
    )


def _rank(p: float) -> str:
    return "median" if p == 0.5 else f"{p:.12g} quantile"


def _scope(asked: Person | Number) -> Scope:
    from reticent.guarantees import promises

    return promises.percentile() if isinstance(asked, Person) else promises.quantile()
