"""``reticent batch``: everybody of a table of any size, over all cores.

Not here  how it is done (running/), small tables and single people (queries.py).

A run that was broken off is taken up by the same command: its key is kept beside the output.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from reticent.cli.charging import LEDGER, PRINCIPAL, LedgerOption, Paid, Purse, opened, shown
from reticent.cli.declared import Declared, DeclaredPeople
from reticent.cli.failures import Failure, Refusal
from reticent.cli.histogram_options import (
    CatalogueFile,
    Goal,
    GoalOption,
    PreferencesFile,
    Provider,
    read_both,
)
from reticent.cli.mapping_files import IdColumn, MappingFile
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.plan import Agreeable, DryRun, Plan, Yes, agreement, published, say_plan, spelled
from reticent.cli.query_failures import as_failures
from reticent.cli.release import CARDS, CardFile, card_fields, check_files, say_card, write_card

if TYPE_CHECKING:
    from reticent.guarantees.card import Budget, Card
    from reticent.running import Ran
    from reticent.tasks.batched import Batched

app = typer.Typer(
    help="Release everybody of a table of any size, over all cores.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Tables: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="A file, or a folder of files: .parquet, .arrow, .csv or .csv.gz.", metavar="TABLE"
    ),
]
Out: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--out",
        help="The folder of Parquet files to make, named .parquet; it is there whole or not at "
        "all.",
        metavar="FOLDER",
    ),
]
Key: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="The name of this release in the ledger: nobody is drawn or charged twice under it. "
        "[default: the one this output was begun with, or a new one]",
        metavar="KEY",
    ),
]
Processes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--processes", help="How many to use.  [default: one for each core]", metavar="N", min=1
    ),
]
HidingFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--preferences",
        help="A preferences file whose [hide] limits must be kept.  [default: "
        "preferences.toml, if there is one]",
        metavar="FILE",
    ),
]


@app.callback()
def batch() -> None:
    """Release everybody of a table of any size, over all cores."""


@app.command("histogram")
def histogram(
    context: typer.Context,
    table: Tables,
    catalogue_path: CatalogueFile,
    provider: Provider,
    out: Out,
    preferences: PreferencesFile = Path("preferences.toml"),
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="Who and what: two columns, of which the second may hold lists.  [default: "
            "person,items where items are lists, else user,item]",
            metavar="NAMES",
        ),
    ] = None,
    goal: GoalOption = Goal.mse,
    own_weights: Annotated[
        bool,
        typer.Option(
            "--own-weights",
            help="A column weights, a list as long as items, holds what people allow themselves; "
            "it narrows what the preferences allow.",
        ),
    ] = False,
    people: DeclaredPeople = None,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: Key = None,
    processes: Processes = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Everybody's noisy histogram for a provider, from Parquet, Arrow or CSV to Parquet.

    A row is a person with a list of items, or one item of a person. How many files are made depends
    on the number of people alone, and the order of rows in them on names. Memory grows by 16 bytes
    for a person and no more. Everybody is charged once, before anything can be seen; if somebody
    has too little left nobody is. After a crash the same command goes on where it stopped.
    """
    from reticent.queries.base import Public
    from reticent.queries.histogram import Histogram
    from reticent.queries.run import card_of
    from reticent.tasks.histogram_arrow import HistogramBatches

    check_files(card, suffixes=CARDS)
    declared = Declared.read(people)
    catalogue, wishes = read_both(catalogue_path, preferences)
    public = {"catalogue": catalogue, "preferences": wishes}
    asked = Histogram(provider=provider, goal=goal.value)
    terms = asked.terms(Public(declared=people is not None, tables=public))
    own = ("weights",) if own_weights else ()
    job = HistogramBatches.of(catalogue, wishes, provider, goal=goal.value, own=own)
    made = job.plan
    agreed = Plan(
        "batch-histogram",
        terms.what,
        {"who sees all of it": made.mechanism.guarantee().overall},
        terms.error,
        "; ".join(terms.cautions),
    )
    if dry_run:
        agreed.say(as_json, Purse(ledger, key, quiet=as_json).outlook(None, agreed.charge))
        return
    agree = agreement(context, yes)
    who, what, rows = _form(table, columns)
    if own_weights and rows == "items":
        why = "this table has one for each item"
        raise Failure("--own-weights needs a row for each person", why=why)
    agree(agreed)
    job = replace(job, person=who, items=what)
    ran, budget = _run(
        context, job, table, out, key, ledger, rows, processes, as_json, declared.people
    )
    told = card_of(terms, ran.event, budget=budget, command=published(context))
    facts = {"provider": provider, "withheld": list(terms.grant.withheld)}
    _say("batch-histogram/1", ran, budget, agreed, told, card, ledger, as_json, facts)


@app.command("profile")
def profile(
    context: typer.Context,
    mapping: MappingFile,
    table: Tables,
    out: Out,
    id_column: IdColumn = None,
    preferences: HidingFile = None,
    provider: Annotated[
        str | None,
        typer.Option("--provider", help="Who gets the profiles.", metavar="PROVIDER"),
    ] = None,
    card: CardFile = None,
    ledger: LedgerOption = LEDGER,
    key: Key = None,
    processes: Processes = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Everybody's profile through a mapping, from Parquet, Arrow or CSV to Parquet.

    A row is a person. Only the columns of the mapping leave, and the column that names people.
    Everybody is noted in the ledger once; after a crash the same command goes on where it stopped.
    """
    from reticent.cli.query_options import tables
    from reticent.queries.plans import plan_of, public_terms
    from reticent.queries.profile import Profile
    from reticent.queries.run import card_of
    from reticent.tasks.charged import ANYONE
    from reticent.tasks.recoding_arrow import ProfileBatches

    check_files(card, suffixes=CARDS)
    files = {"table_mapping": mapping, "table_table": table, "table_preferences": preferences}
    with as_failures(files):
        asked = Profile(provider=provider)
        typed = tables(asked, files)
        public = {name: path for name, path in typed.items() if asked.inputs[name].public}
        terms: Any = public_terms(asked, public, None, None)
    agreed = replace(plan_of(asked, terms), cautions=terms.left_open)
    purse = Purse(ledger, key, quiet=as_json)
    if dry_run:
        say_plan(agreed, purse.noted(), as_json)
        return
    agree = agreement(context, yes)
    agree(agreed)
    job = ProfileBatches(terms.recoding, person=id_column or "user", provider=provider or ANYONE)
    ran, budget = _run(context, job, table, out, key, ledger, "people", processes, as_json)
    told = card_of(terms, ran.event, budget=budget, command=published(context))
    facts = {"provider": provider}
    _say("batch-profile/1", ran, budget, agreed, told, card, ledger, as_json, facts)


def _form(table: Path, columns: str | None) -> tuple[str, str, Any]:
    """Who, what, and whether a row is a person or one of their items."""
    from reticent.running.inputs import files_of, lists_in

    first = files_of([table])[0]
    listed = lists_in(first)
    if columns is None:
        return ("person", "items", "people") if "items" in listed else ("user", "item", "items")
    names = [name.strip() for name in columns.split(",")]
    if len(names) != 2 or not all(names):
        raise Failure("--columns must be two names, as user,item")
    return names[0], names[1], "people" if names[1] in listed else "items"


def _run(
    context: typer.Context,
    job: Batched,
    table: Path,
    out: Path,
    key: str | None,
    address: str,
    rows: Any,
    processes: int | None,
    quiet: bool,
    people: list[str] | None = None,
) -> tuple[Ran, Budget]:
    """Release, and what the ledger says of whoever has lost most."""
    from reticent.errors import BudgetExceeded
    from reticent.running import run
    from reticent.running.merging import most_spent
    from reticent.running.staging import Staging
    from reticent.tasks.charged import new_key

    staging = Staging(out.absolute())
    key = key or staging.key() or new_key()
    with opened(address) as ledger, _shown() as progress:
        try:
            ran = run(
                job,
                table,
                out,
                key=key,
                ledger=ledger,
                rows=rows,
                processes=processes,
                principal=PRINCIPAL,
                progress=progress,
                people=people,
            )
        except BudgetExceeded as error:
            raise Refusal(
                str(error),
                why="nothing can be seen; what was drawn waits for the same command",
                next_command=spelled(context, "--dry-run", without=("dry_run",)),
            ) from None
        except BaseException:
            if staging.manifest() is not None and not quiet:
                talk("broken off; what was drawn is kept, and the same command goes on")
            raise
        return ran, most_spent(ledger, job, ran.people)


@contextmanager
def _shown() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(
            task, description=what, completed=done, total=total or None
        )


def _say(
    schema: str,
    ran: Ran,
    budget: Budget,
    agreed: Agreeable,
    made: Card,
    card: Path | None,
    address: str,
    as_json: bool,
    facts: dict[str, Any],
) -> None:
    paid = Paid(budget, ran.replayed, shown(address), ran.key)
    write_card(made, card)
    if as_json:
        where = {"out": str(ran.out), "people": ran.people, "files": sorted(ran.files)}
        told = {**agreed.fields(), **paid.fields(), **card_fields(made, card)}
        say_json(schema, **where, **facts, **told)
        return
    say(f"{ran.people:,} people: {ran.out}")
    before = "answered before, repeated; " if ran.replayed else ""
    limit = "no limit" if budget.limit == "none" else budget.limit
    most = f"the most anybody has spent is epsilon {budget.spent} of {limit}"
    talk(f"ledger: {paid.ledger}, key {paid.key}: {before}{most}")
    talk(paid.cost(f"{agreed.cost()}, of each person"))
    say_card(made, card)
