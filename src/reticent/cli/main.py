"""The ``reticent`` command: its options, its commands, and how every error ends.

Not here  what the commands do (one file each), what errors are called (failures.py).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from itertools import takewhile
from typing import Annotated

import typer

from reticent._version import __version__
from reticent.cli import (
    attack,
    audit,
    card,
    compare,
    compare_influencers,
    compare_percentile,
    demo,
    doctor,
    gateway,
    histogram,
    histogram_plan,
    ledger,
    ledger_changes,
    mapping,
    neighbours,
    predict,
    prefs,
    profile,
    recommend,
    release,
    select,
    select_influencers,
    select_percentile,
    serve,
    train,
    train_columns,
    train_tree,
)
from reticent.cli.failures import ExitCode, explain
from reticent.cli.output import prepare_streams, silence, talk

app = typer.Typer(
    name="reticent",
    help="Release only as much as each person allows.",
    epilog="Start with: reticent demo",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("neighbours")(neighbours.neighbours)
app.command("recommend")(recommend.recommend)
app.command("plan")(histogram_plan.plan)
app.command("predict")(predict.predict)
app.command("serve")(serve.serve)
release.app.command("histogram")(histogram.histogram)
release.app.command("profile")(profile.profile)
audit.app.command("attack")(attack.attack)
ledger.app.command("raise")(ledger_changes.raise_limit)
ledger.app.command("forget")(ledger_changes.forget)
select.app.command("influencers")(select_influencers.influencers)
select.app.command("percentile")(select_percentile.percentile)
compare.app.command("influencers")(compare_influencers.influencers)
compare.app.command("percentile")(compare_percentile.percentile)
train.app.command("tree")(train_tree.tree)
train.app.command("columns")(train_columns.columns)
app.add_typer(mapping.app, name="fit")
app.add_typer(release.app, name="release", help="Release something, with its guarantee card.")
app.add_typer(select.app, name="select")
app.add_typer(compare.app, name="compare")
app.add_typer(train.app, name="train")
app.add_typer(prefs.app, name="prefs")
app.add_typer(card.app, name="card")
app.add_typer(ledger.app, name="ledger")
app.add_typer(audit.app, name="audit")
app.add_typer(gateway.app, name="gateway")


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
        code = app(args=list(words), prog_name="reticent", standalone_mode=False)
        if sys.stdout is not None:  # closed by the caller: reticent ... >&-
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # SystemExit: Typer's own answer to a closed pipe
        silence()
        return ExitCode.PIPE_CLOSED
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except Exception as error:
        if _debugging(words):
            traceback.print_exc()
        return explain(error, _named(words))
    if code == ExitCode.INTERRUPTED:
        talk("interrupted")
    return int(code or ExitCode.DONE)


def _named(words: Sequence[str], whole: typer.Typer = app) -> str:
    """The command that the words name; no other word is repeated."""
    names, part = ["reticent"], typer.main.get_command(whole)
    for word in words:
        parts = getattr(part, "commands", {})
        if word in parts:
            names.append(word)
            part = parts[word]
        elif not (parts and word.startswith("-")):
            break
    return " ".join(names)


def _debugging(words: Sequence[str]) -> bool:
    return "--debug" in takewhile(lambda word: word.startswith("-"), words)
