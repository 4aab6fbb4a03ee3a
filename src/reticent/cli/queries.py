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

from reticent.amounts import nano_down
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
from reticent.cli.charging_words import is_noted, refusal, standing_words
from reticent.cli.failures import Failure, Refusal
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, say, say_json, shares, talk
from reticent.cli.plan import DryRun, Yes, agreement, published, say_plan, spelled
from reticent.cli.query_answers import show
from reticent.cli.query_failures import as_failures
from reticent.cli.release import (
    CARDS,
    CardFile,
    check_files,
    warn_unused_preferences,
)
from reticent.errors import BudgetExceeded
from reticent.queries.base import Pays, Shape
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
ProcessesOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--processes",
        help="How many work on a folder.  [default: one for each core]",
        metavar="N",
        min=1,
    ),
]


def _outputs(query: type[Query]) -> list[inspect.Parameter]:
    """Where the answer goes, and its card."""
    told = "Write the answer here: .csv, .json or .parquet"
    whole = query.shape is Shape.WHOLE
    folder = "" if whole else ", a folder of files that is there whole or not at all"
    out = typer.Option("--out", help=f"{told}{folder}.", metavar="FILE")
    return [
        query_options.parameter("out", Annotated[Path | None, out], None),
        *([] if whole else [query_options.parameter("processes", ProcessesOption, None)]),
        query_options.parameter("card", CardFile, None),
    ]


@plans.callback()
def plan() -> None:
    """What a release would cost, and how wrong it would be."""


def add_releases(app: typer.Typer) -> None:
    """A command for every kind that is a release."""
    for query in registered().values():
        if query.verb == "release":
            _add(app, query)


def add_derived(app: typer.Typer) -> None:
    """A command for every kind with a verb of its own."""
    for query in registered().values():
        if query.verb != "release":
            _add(app, query)


def add_plans(app: typer.Typer) -> None:
    """A command for every kind that can cost."""
    for kind, query in registered().items():
        if query.pays is not Pays.NOBODY:
            app.command(kind, help=f"What {kind} would cost and tell.")(_planning(query))


def _add(app: typer.Typer, query: type[Query]) -> None:
    made = _deriving(query) if query.pays is Pays.NOBODY else _releasing(query)
    app.command(query.kind, help=inspect.getdoc(query))(made)


def listing(as_json: Json = False) -> None:
    """List the kinds of query, and what can be done with each."""
    found = [cells(query) for query in registered().values()]
    if as_json:
        say_json("queries/1", queries=found)
        return
    for one in found:
        say(f"{one['query']}: {one['about']}")
        for where in ("verbs", "surfaces"):
            say(f"  {where}: {', '.join(n for n, cell in one[where].items() if cell is True)}")
        absent = {**one["verbs"], **one["surfaces"]}.items()
        for name, reason in absent:
            if reason is not True:
                say(f"  not {name}: {reason}")


def command_of(
    body: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """A function with the parameters that a command line is made from."""

    def command(**given: Any) -> None:
        context = given.pop("context")
        with as_failures(given):
            body(context, given)

    first = query_options.parameter("context", typer.Context)
    command.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in (first, *parameters)}
    return command


def _planning(query: type[Query]) -> Callable[..., None]:
    counted = typer.Option(
        "--count", help=f"How many {query.counted} there are, if that is public.", metavar="N"
    )
    shown = [name for name, one in query.inputs.items() if one.public]
    files = list(query_options.of_inputs(query, shown))
    named = [query_options.parameter("columns", ColumnsOption, None)] if files else []
    number = [query_options.parameter("count", Annotated[str | None, counted], None)]
    parameters = [
        *query_options.of_options(query.options()),
        *(number if query.counted else []),
        *files,
        *named,
        *query_options.of_figures(query),
        query_options.parameter("as_json", Json, False),
    ]

    def body(context: typer.Context, given: dict[str, Any]) -> None:
        _plan(query_options.asked(query, given), given)

    return command_of(body, parameters)


def _plan(asked: Query, given: dict[str, Any], purse: Purse | None = None) -> None:
    """Say what a release would cost, and what a ledger would say to it; nothing private is read."""
    from reticent.queries.options import count
    from reticent.queries.plans import plan_of, public_terms
    from reticent.queries.run import payers_of
    from reticent.rational import budget

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
    if purse is not None and asked.pays in (Pays.RECORDED, Pays.NOTED):
        seen = purse.noted()
    elif purse is not None:
        due = payers_of(asked, terms, files, given.get("data_set"), given["total"])
        payers = None if due is None else [payer for payer, _ in due]
        seen = purse.outlook(payers, made.loss.charge)
        limit = given["total"]
        most = None if limit is None else nano_down(budget(limit, "total"))
        if due is None and most is not None and made.loss.charge > most:
            line = f"{seen.line}\nwould be refused: epsilon {made.epsilon} is more than {limit}"
            seen = replace(seen, line=line, fields={**seen.fields, "allowed": False})
    say_plan(made, seen, given["as_json"], [path for path in figures.values() if path])


def _releasing(query: type[Query]) -> Callable[..., None]:
    data_set = query_options.parameter("data_set", DataSetOption, None)
    total = query_options.parameter("total", TotalOption, None)
    parameters = [
        *query_options.of_inputs(query),
        *query_options.of_options(query.options()),
        query_options.parameter("columns", ColumnsOption, None),
        *_outputs(query),
        query_options.parameter("ledger", LedgerOption, LEDGER),
        query_options.parameter("key", KeyOption, None),
        *([data_set] if query.pays in (Pays.DATA_SET, Pays.NOTED) else []),
        *([total] if query.pays not in (Pays.RECORDED, Pays.NOTED) else []),
        query_options.parameter("dry_run", DryRun, False),
        query_options.parameter("yes", Yes, False),
        query_options.parameter("as_json", Json, False),
    ]
    return command_of(lambda context, given: _release(context, query, given), parameters)


def _check_outputs(query: type[Query], given: dict[str, Any]) -> None:
    """Refuse files that could not be written, before anything is spent."""
    from reticent.queries import publish

    out, card = given["out"], given["card"]
    if not _folder(query, given):  # which may be there, of the same release
        check_files(out, suffixes=publish.FORMATS)
    check_files(card, suffixes=CARDS)
    if given.get("processes") is not None and not _folder(query, given):
        raise Failure("--processes is for a folder: --out NAME.parquet")
    if out is not None:
        publish.check(out.suffix)
    kept = {one.name: given[one.name] for one in query.options() if one.kind.written}
    files = {"out": out, "card": card, **kept}
    named = {name: Path(path).resolve() for name, path in files.items() if path is not None}
    paths = list(named.values())
    alike = [query_options.spelling(n) for n, path in named.items() if paths.count(path) > 1]
    if alike:
        what = f"{' and '.join(alike)} name the same file"
        raise Failure(what, why="one would overwrite the other")


def _folder(query: type[Query], given: dict[str, Any]) -> dict[str, Any]:
    """Where a folder is asked for, and by how many processes; nothing, if none is."""
    out: Path | None = given["out"]
    if out is None or query.shape is Shape.WHOLE or out.suffix != ".parquet":
        return {}
    return {"out": out, "processes": given["processes"]}


def _deriving(query: type[Query]) -> Callable[..., None]:
    parameters = [
        *query_options.of_inputs(query),
        *query_options.of_options(query.options()),
        query_options.parameter("columns", ColumnsOption, None),
        *_outputs(query),
        query_options.parameter("as_json", Json, False),
    ]
    return command_of(lambda context, given: _derive(context, query, given), parameters)


def _derive(context: typer.Context, query: type[Query], given: dict[str, Any]) -> None:
    asked = query_options.asked(query, given)
    _check_outputs(query, given)
    _derived(context, asked, query_options.tables(asked, given), given)


def _derived(
    context: typer.Context, asked: Query, data: dict[str, Path], given: dict[str, Any]
) -> None:
    """What costs nothing: neither asked for nor charged."""
    from reticent.queries import run

    columns = query_options.chosen(given["columns"])
    with shares(f"working on {asked.kind}") as progress:
        told = run.Told(progress=progress, command=published(context))
        folder = _folder(type(asked), given)
        answer = run.release(asked, data, columns=columns, told=told, **folder)
    show(answer, given, {})


def _release(context: typer.Context, query: type[Query], given: dict[str, Any]) -> None:
    from reticent.queries import run

    asked, columns = query_options.asked(query, given), query_options.chosen(given["columns"])
    _check_outputs(query, given)
    data = query_options.tables(asked, given)
    purse = Purse(given["ledger"], given["key"], given["as_json"])
    if "profiles" in data and "preferences" not in data:
        warn_unused_preferences(data["profiles"], columns.get("weight", "weight"))
    if asked.paid_by(data) is Pays.NOBODY:
        for name in ("key", "total"):
            if given[name] is not None:
                why = "this is computed from what was released before, and costs nothing"
                raise Failure(f"--{name} is for a release that is charged", why=why)
        if given["dry_run"]:
            talk("this would cost nothing; nothing was read or released")
            return
        _derived(context, asked, data, given)
        return
    if given["dry_run"]:
        _plan(asked, given, purse)
        return
    folder = _folder(query, given)
    teller = _Teller(context, purse, folder.get("out"))
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
            total=given.get("total"),
            key=purse.key,
            principal=PRINCIPAL,
            told=replace(told, progress=progress),
            **folder,
        )
    teller.streamed(answer)
    paid = Paid(answer.budget, answer.replayed, purse.where, answer.key or "")
    show(answer, given, paid.fields())


@dataclass(slots=True)
class _Teller:
    """What is said while a release is made."""

    context: typer.Context
    purse: Purse
    folder: Path | None = None
    ledger: Ledger | None = None
    payers: Sequence[Payer] = ()
    key: str | None = None

    def paying(self, ledger: Ledger, payers: Sequence[Payer]) -> None:
        self.ledger, self.payers = ledger, payers

    def charged(self, key: str) -> None:
        self.key = key
        self.say("", key)

    def say(self, what: str, key: str) -> None:
        if not self.purse.quiet and self.payers:
            words = standing_words(self.ledger, self.payers)
            talk(f"ledger: {self.purse.where}, key {key}: {what}{words}")

    def streamed(self, answer: Answer) -> None:
        """What a ledger says of many people, who are not listed here."""
        if self.payers or self.purse.quiet:
            return
        before = "answered before, repeated; " if answer.replayed else ""
        limit = "no limit" if answer.budget.limit == "none" else answer.budget.limit
        most = f"the most anybody has spent is epsilon {answer.budget.spent} of {limit}"
        talk(f"ledger: {self.purse.where}, key {answer.key}: {before}{most}")

    def refused(self, error: BudgetExceeded) -> Exception:
        if self.ledger is None:
            return Refusal(
                str(error),
                why="nothing can be seen; what was drawn waits for the same command",
                next_command=spelled(self.context, "--dry-run", without=("dry_run",)),
            )
        return refusal(error, self.context, self.ledger, self.payers)

    @contextmanager
    def broken_off(self) -> Iterator[None]:
        """How to go on after what came between charge and answer."""
        try:
            yield
        except BaseException:
            if self.key is not None and not is_noted(self.payers):
                again = spelled(self.context, "--key", self.key, without=("key",))
                talk(f"counted, not answered; to try again at no further charge: {again}")
            elif self.folder is not None and not self.payers and not self.purse.quiet:
                from reticent.running.staging import Staging

                if Staging(self.folder.absolute()).manifest() is not None:
                    talk("broken off; what was drawn is kept, and the same command goes on")
            raise
