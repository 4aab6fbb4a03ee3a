"""``reticent plan`` and ``reticent release``, for every kind of query, and ``reticent queries``.

Not here  options (query_options.py), the runner and the publisher (queries/), kinds that still have
          a command of their own (release.py and others).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli import query_options
from reticent.cli.charging import (
    LEDGER,
    PRINCIPAL,
    DataSetOption,
    KeyOption,
    LedgerOption,
    Paid,
    Purse,
    TotalOption,
    opened,
)
from reticent.cli.charging_words import refusal, standing_words
from reticent.cli.failures import Failure
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, say, say_json, shares, talk
from reticent.cli.plan import DryRun, Yes, agreement, published, spelled
from reticent.cli.release import (
    CARDS,
    CardFile,
    card_fields,
    check_files,
    say_card,
    warn_unused_preferences,
    write_card,
)
from reticent.errors import BudgetExceeded, ParameterError, ReticentError
from reticent.queries.base import Pays
from reticent.queries.cells import cells
from reticent.queries.registry import queries as registered

if TYPE_CHECKING:
    from reticent.ledger import Ledger
    from reticent.queries.base import Answer, Query
    from reticent.tasks.charged import Payer

plans = typer.Typer(
    help="What a release would cost, and how wrong it would be.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
ColumnsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Which column plays which role, as value=pay; several with commas.  [default: the "
        "columns of these names]",
        metavar="ROLE=COLUMN",
    ),
]
OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", help="Write the answer here: .csv, .json or .parquet.", metavar="FILE"),
]


@plans.callback()
def plan() -> None:
    """What a release would cost, and how wrong it would be."""


def add_queries(release: typer.Typer) -> None:
    """A command of ``plan`` and one of ``release`` for every kind."""
    for kind, query in registered().items():
        release.command(kind, help=inspect.getdoc(query))(_releasing(query))
        plans.command(kind, help=f"What {kind} would cost and tell.")(_planning(query))


def listing(as_json: Json = False) -> None:
    """List the kinds of query, and what can be done with each."""
    found = [cells(query) for query in registered().values()]
    if as_json:
        say_json("queries/1", queries=found)
        return
    for one in found:
        say(f"{one['query']}: {one['about']}")
        for where in ("verbs", "surfaces"):
            told = (
                name if cell is True else f"{name} ({cell})" for name, cell in one[where].items()
            )
            say(f"  {where}: {', '.join(told)}")


def _made(body: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """A function with the parameters that a command line is made from."""

    def command(**given: Any) -> None:
        context = given.pop("context")
        try:
            body(context, given)
        except ParameterError as error:
            raise query_options.as_typed(error) from None
        except ReticentError as error:
            raise query_options.unusable_file(error, given) from None

    first = query_options.parameter("context", typer.Context)
    command.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in (first, *parameters)}
    return command


def _planning(query: type[Query]) -> Callable[..., None]:
    counted = typer.Option(
        "--count", help=f"How many {query.counted} there are, if that is public.", metavar="N"
    )
    files = list(query_options.of_inputs(query, public=True))
    named = [query_options.parameter("columns", ColumnsOption, None)] if files else []
    parameters = [
        *query_options.of_options(query),
        query_options.parameter("count", Annotated[str | None, counted], None),
        *files,
        *named,
        *query_options.of_figures(query),
        query_options.parameter("as_json", Json, False),
    ]

    def body(context: typer.Context, given: dict[str, Any]) -> None:
        _plan(query_options.asked(query, given), given)

    return _made(body, parameters)


def _plan(asked: Query, given: dict[str, Any], purse: Purse | None = None) -> None:
    """Say what a release would cost, and what a ledger would say to it; nothing private is read."""
    from reticent.queries.options import count
    from reticent.queries.plans import plan_of, public_terms
    from reticent.queries.run import payers_of

    figures = {name: given.get(f"figure_{name}") for name in asked.figures}
    for path in figures.values():
        check_files(path, suffixes=(".svg",))
    known, columns = given.get("count"), query_options.chosen(given.get("columns"))
    files = query_options.tables(asked, given)
    public = {name: path for name, path in files.items() if asked.inputs[name].public}
    terms = public_terms(
        asked,
        public,
        None if known is None else count().read(known, "count"),
        columns if public else None,
    )
    made = plan_of(asked, terms)
    for name, path in figures.items():
        if path is not None:
            write_atomically(path, terms.figure(name))
    seen = None
    if purse is not None:
        due = payers_of(asked, terms, files, given.get("data_set"), given["total"])
        seen = purse.outlook(None if due is None else [payer for payer, _ in due], made.charge)
    if given["as_json"]:
        told = {**made.fields(), **({} if seen is None else seen.fields)}
        say_json("plan/1", kind=made.kind, what=made.what, **told)
        return
    for line in made.lines():
        say(line)
    for line in (*made.warnings(), *(f"figure: {path}" for path in figures.values() if path)):
        talk(line)
    if seen is not None:
        talk(seen.line)
    talk("nothing private was read and nothing was released")


def _releasing(query: type[Query]) -> Callable[..., None]:
    data_set = query_options.parameter("data_set", DataSetOption, None)
    parameters = [
        *query_options.of_inputs(query),
        *query_options.of_options(query),
        query_options.parameter("columns", ColumnsOption, None),
        query_options.parameter("out", OutOption, None),
        query_options.parameter("card", CardFile, None),
        query_options.parameter("ledger", LedgerOption, LEDGER),
        query_options.parameter("key", KeyOption, None),
        *([data_set] if query.pays is Pays.DATA_SET else []),
        query_options.parameter("total", TotalOption, None),
        query_options.parameter("dry_run", DryRun, False),
        query_options.parameter("yes", Yes, False),
        query_options.parameter("as_json", Json, False),
    ]
    return _made(lambda context, given: _release(context, query, given), parameters)


def _release(context: typer.Context, query: type[Query], given: dict[str, Any]) -> None:
    from reticent.queries import publish, run

    asked, columns = query_options.asked(query, given), query_options.chosen(given["columns"])
    out, card, as_json = given["out"], given["card"], given["as_json"]
    check_files(out, suffixes=publish.FORMATS)
    check_files(card, suffixes=CARDS)
    if out is not None:
        publish.check(out.suffix)
        if card is not None and out.absolute() == card.absolute():
            raise Failure("--out and --card name the same file")
    data, purse = query_options.tables(asked, given), Purse(given["ledger"], given["key"], as_json)
    if "profiles" in data and "preferences" not in data:
        warn_unused_preferences(data["profiles"], columns.get("weight", "weight"))
    if given["dry_run"]:
        _plan(asked, given, purse)
        return
    teller = _Teller(context, purse)
    told = run.Told(
        agree=agreement(context, given["yes"]),
        paying=teller.paying,
        charged=teller.charged,
        repeated=lambda key: teller.say("answered before, repeated; ", key),
        refused=teller.refused,
        command=published(context),
    )
    with teller.broken_off(), shares(f"working on {asked.kind}") as progress:
        answer = run.release(
            asked,
            data,
            columns=columns,
            ledger=lambda: opened(purse.address),
            data_set=given.get("data_set"),
            total=given["total"],
            key=purse.key,
            principal=PRINCIPAL,
            told=replace(told, progress=progress),
        )
    if out is not None:
        write_atomically(out, publish.packed(answer, out.suffix))
    write_card(answer.card, card)
    _say(answer, purse, out, card, as_json=as_json)


@dataclass(slots=True)
class _Teller:
    """What is said while a release is made."""

    context: typer.Context
    purse: Purse
    ledger: Ledger | None = None
    payers: Sequence[Payer] = ()
    key: str | None = None

    def paying(self, ledger: Ledger, payers: Sequence[Payer]) -> None:
        self.ledger, self.payers = ledger, payers

    def charged(self, key: str) -> None:
        self.key = key
        self.say("", key)

    def say(self, what: str, key: str) -> None:
        if not self.purse.quiet:
            words = standing_words(self.ledger, self.payers)
            talk(f"ledger: {self.purse.where}, key {key}: {what}{words}")

    def refused(self, error: BudgetExceeded) -> Exception:
        if self.ledger is None:
            return error
        return refusal(error, self.context, self.ledger, self.payers)

    @contextmanager
    def broken_off(self) -> Iterator[None]:
        """How to go on after what came between charge and answer."""
        try:
            yield
        except BaseException:
            if self.key is not None:
                again = spelled(self.context, "--key", self.key, without=("key",))
                talk(f"counted, not answered; to try again at no further charge: {again}")
            raise


def _say(
    answer: Answer, purse: Purse, out: Path | None, card: Path | None, *, as_json: bool
) -> None:
    from reticent.queries import publish

    if as_json:
        told = publish.fields(answer)
        if out is not None:
            told = {"query": told["query"], "out": str(out)}
        paid = Paid(None, answer.budget, answer.replayed, purse.where, answer.key or "")
        say_json(publish.SCHEMA, **told, **paid.fields(), **card_fields(answer.card, card))
        return
    for line in [str(out)] if out is not None else publish.as_text(answer):
        say(line)
    talk("spent nothing more" if answer.replayed else f"spent epsilon {answer.spent}")
    say_card(answer.card, card)
