"""The ``reticent`` command: its options, its commands, and how every error ends.

Not here  what the commands do (one file each), what errors are called (failures.py).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from reticent._version import __version__
from reticent.cli.failures import ExitCode, explain
from reticent.cli.loading import Commands, Entry
from reticent.cli.output import prepare_streams, silence, talk
from reticent.cli.typed import ROOT, meant, typed

DERIVED = "queries.add_derived"  # also kinds that others have added
COMMANDS = Commands(
    {
        "demo": Entry("demo.demo", texts={"short_help": "A tour on public sample data."}),
        "init": Entry("init.init"),
        "doctor": Entry("doctor.doctor"),
        "data": Entry("data_sets.app", {"columns": "data_columns.columns"}),
        "prefs": Entry("prefs.app"),
        "queries": Entry("queries.listing"),
        "plan": Entry("queries.plans", adds="queries.add_plans"),
        "release": Entry(
            "release.app",
            adds="queries.add_releases",
            texts={"help": "Release something, with its guarantee card."},
        ),
        "predict": Entry(adds=DERIVED),
        "audit": Entry("audit.app", {"profile": "audit_profile.profile"}, "audit.add_queries"),
        "verify": Entry(
            "verify.app",
            adds="verify_queries.add_queries",
            texts={"short_help": "Find the worst case of a mechanism, or of a query."},
        ),
        "compare": Entry("compare.comparisons", adds="compare.add_comparisons"),
        "sweep": Entry("compare.sweeps", adds="compare.add_sweeps"),
        "card": Entry("card.app"),
        "ledger": Entry(
            "ledger.app",
            {"raise": "ledger_changes.raise_limit", "forget": "ledger_changes.forget"},
        ),
        "report": Entry(
            "report.report", texts={"short_help": "One page of pictures, tables and cards."}
        ),
        "reproduce": Entry("reproduce.app"),
        "gateway": Entry("gateway.app"),
        "serve": Entry("serve.serve"),
    },
    others=DERIVED,
)
"""In the order of the help: as one comes to need them."""


class Root(TyperGroup):
    """All commands; the module of one is imported when it is named or listed."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = cast(Any, COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return list(COMMANDS)


app = typer.Typer(
    name=ROOT,
    cls=Root,
    help="Release only as much as each person allows.",
    epilog="Start with: reticent demo. Then: reticent init, for files to change.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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
