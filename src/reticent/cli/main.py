"""The ``reticent`` command: its options, its commands, and how every error ends.

Not here  what the commands do (one file each), what errors are called (failures.py).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from reticent._version import __version__
from reticent.cli import (
    attack,
    audit,
    batch,
    card,
    compare,
    compare_histogram,
    compare_influencers,
    compare_mapping,
    compare_neighbours,
    compare_percentile,
    compare_tree,
    data_columns,
    data_sets,
    demo,
    doctor,
    gateway,
    init,
    ledger,
    ledger_changes,
    mapping,
    prefs,
    profile,
    queries,
    release,
    report,
    reproduce,
    serve,
    sweep,
    sweep_public,
    verify,
)
from reticent.cli.examples import add_examples
from reticent.cli.failures import ExitCode, explain
from reticent.cli.output import prepare_streams, silence, talk
from reticent.cli.typed import ROOT, meant, typed

ORDER = (
    *("demo", "init", "doctor", "data", "prefs", "queries", "plan", "release", "batch"),
    *("predict", "fit", "audit", "verify", "compare", "sweep", "card", "ledger"),
    *("report", "reproduce", "gateway", "serve"),
)  # of commands in the help: as one comes to need them


class InOrder(TyperGroup):
    """Commands in the order of ``ORDER``; others after them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        known = [name for name in ORDER if name in self.commands]
        return [*known, *(name for name in self.commands if name not in known)]


app = typer.Typer(
    name=ROOT,
    cls=InOrder,
    help="Release only as much as each person allows.",
    epilog="Start with: reticent demo. Then: reticent init, for files to change.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo", short_help="A tour on public sample data.")(demo.demo)
app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("queries")(queries.listing)
app.command("report", short_help="One page of pictures, tables and cards.")(report.report)
app.command("serve")(serve.serve)
app.command("verify", short_help="Find the worst case of a mechanism, exactly.")(verify.verify)
release.app.command("profile")(profile.profile)
queries.add_queries(app, release.app)
audit.app.command("attack")(attack.attack)
ledger.app.command("raise")(ledger_changes.raise_limit)
ledger.app.command("forget")(ledger_changes.forget)
data_sets.app.command("columns")(data_columns.columns)
compare.app.command("histogram")(compare_histogram.histogram)
compare.app.command("neighbours")(compare_neighbours.neighbours)
compare.app.command("mapping")(compare_mapping.mapping)
compare.app.command("influencers")(compare_influencers.influencers)
compare.app.command("percentile")(compare_percentile.percentile)
compare.app.command("tree")(compare_tree.tree)
sweep.app.command("mapping")(sweep_public.mapping)
sweep.app.command("influencers")(sweep_public.influencers)
sweep.app.command("percentile")(sweep_public.percentile)
sweep.app.command("tree")(sweep_public.tree)
app.add_typer(mapping.app, name="fit")
app.add_typer(release.app, name="release", help="Release something, with its guarantee card.")
app.add_typer(batch.app, name="batch", help="Release everybody of a table of any size.")
app.add_typer(queries.plans, name="plan")
app.add_typer(compare.app, name="compare")
app.add_typer(sweep.app, name="sweep")
app.add_typer(prefs.app, name="prefs")
app.add_typer(data_sets.app, name="data")
app.add_typer(card.app, name="card")
app.add_typer(ledger.app, name="ledger")
app.add_typer(audit.app, name="audit")
app.add_typer(gateway.app, name="gateway")
app.add_typer(reproduce.app, name="reproduce")

add_examples(app)  # after every command is registered


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reticent {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    """Release only as much as each person allows."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    prepare_streams()
    sys.exit(_outcome(words))


def _outcome(words: Sequence[str]) -> int:
    try:
        return _finish(words)
    except (BrokenPipeError, SystemExit):  # SystemExit: Typer's own answer to a closed pipe
        silence()
        return ExitCode.PIPE_CLOSED


def _finish(words: Sequence[str]) -> int:
    """Run the command; whatever stops it is told, as JSON too if that was asked for."""
    try:
        code = _execute(words)
        if sys.stdout is not None:  # closed by the caller: reticent ... >&-
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        if _debugging(words):
            traceback.print_exc()
        return _told(error, words)
    if code == ExitCode.INTERRUPTED:
        talk("interrupted")
    return int(code or ExitCode.DONE)


def _execute(words: Sequence[str]) -> Any:
    return _command()(args=list(words), prog_name=ROOT, standalone_mode=False)


@cache
def _command() -> Any:
    """The whole command tree, which takes longer to build than most commands take to run."""
    return typer.main.get_command(app)


def _told(error: Exception, words: Sequence[str]) -> ExitCode:
    whole = _command()
    found = typed(words, whole)
    return explain(
        error,
        found.name,
        meant=meant(found, whole),
        words=words,
        as_json=found.wants_json,
    )


def _debugging(words: Sequence[str]) -> bool:
    return "--debug" in takewhile(lambda word: word.startswith("-"), words)
