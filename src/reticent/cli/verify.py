"""``reticent verify``: the worst case of a mechanism over a small domain, and who attains it.

Not here  enumeration, laws and audits (testing/), how a file is read (verify_cases.py), words
          (verify_views.py), files to start from (verify_examples.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import read_text
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.layout import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from reticent.testing.cases import Case

_TICKS = 100
_LONGEST = 1 << 20  # bytes of a file that says what to verify
_TOO_MANY = (
    "it needs more than {most:,} comparisons ({pairs:,} pairs or more, {outcomes:,} outcomes each)"
)


class Verifying(TyperGroup):
    """The kinds of query, and ``file``: what names no kind is a file or an option of it."""

    usual = "file"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See ``TyperGroup``."""
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        parsed: list[str] = super().parse_args(ctx, args if named else [self.usual, *args])
        return parsed


app = typer.Typer(
    cls=Verifying,
    help="Find the worst case of a mechanism, or try to refute the promise of a query.",
    rich_markup_mode=None,
)


@app.callback()
def verify() -> None:
    """Find the worst case of a mechanism, or try to refute the promise of a query."""


@app.command("file")
def verify_file(
    file: Annotated[
        Path | None, typer.Argument(help="What to verify, .toml; - for stdin.", metavar="FILE")
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Audit by drawing, even what could be enumerated.")
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option("--draws", help="Draws on each side of an audit.", metavar="N", min=1000),
    ] = None,
    run_code: Annotated[
        bool, typer.Option("--run-code", help="Allow a Python function that the file names.")
    ] = False,
    example: Annotated[
        str | None,
        typer.Option("--example", help="Print a file to start from, and stop.", metavar="NAME"),
    ] = None,
    examples: Annotated[
        bool, typer.Option("--examples", help="List what there are examples of, and stop.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the worst case of a mechanism on a small domain.

    The word file may be left out: reticent verify FILE.
    Laws that are known are enumerated in exact fractions, over all neighbours and outcomes. What
    cannot be enumerated is audited by drawing: that can refute a promise, and prove none.
    Exit code 1 if a promise is broken.
    """
    if examples or example is not None:
        _show_examples(example, as_json=as_json)
        return
    if file is None:
        raise Failure(
            "verify needs a file that says what to verify",
            why="there is one to start from for every mechanism",
            next_command="reticent verify --example discrete-laplace",
        )
    _refuse_kind(file)
    case = _case(file, run_code=run_code)
    sound = _figures_hold(case)
    if case.figures and not case.parts:
        _tell_figures(case, as_json=as_json)
    else:
        why, pairs = _why_not(case, audit=audit)
        if why:
            sound &= _audit(case, why, draws or case.draws, as_json=as_json)
        else:
            sound &= _enumerate(case, pairs, as_json=as_json)
    if not sound:
        raise typer.Exit(ExitCode.FOUND)


def _refuse_kind(file: Path) -> None:
    """Say why a kind of query cannot be verified, where no file has its name."""
    from reticent.queries.cells import cells
    from reticent.queries.registry import queries

    query = None if file.exists() else queries().get(str(file))
    reason = None if query is None else cells(query)["verbs"]["verify"]
    if isinstance(reason, str):
        raise Failure(f"{file} cannot be verified", why=reason, next_command="reticent queries")


def _show_examples(name: str | None, *, as_json: bool) -> None:
    from reticent.cli.verify_examples import EXAMPLES
    from reticent.preferences.problems import meant

    if name is None:
        if as_json:
            told = {one: about for one, (about, _) in EXAMPLES.items()}
            say_json("verify-examples/1", examples=told)
            return
        for line in table(
            ("example", "what it verifies"), [(n, a) for n, (a, _) in EXAMPLES.items()]
        ):
            say(line)
        talk("print one with: reticent verify --example NAME > mechanism.toml")
        return
    if name not in EXAMPLES:
        hint = meant(name, EXAMPLES, f"there are {', '.join(EXAMPLES)}")
        raise Failure(
            f"there is no example {name!r}", why=hint, next_command="reticent verify --examples"
        )
    if as_json:
        say_json("verify-example/1", name=name, text=EXAMPLES[name][1])
    else:
        say(EXAMPLES[name][1].rstrip("\n"))


def _case(file: Path, *, run_code: bool) -> Case:
    from reticent.cli.verify_cases import case_of
    from reticent.cli.verify_file import WrongFile, parsed, told
    from reticent.errors import ReticentError

    try:
        text = read_text(file)
    except Failure as error:
        raise Failure(
            error.what,
            why=error.why.replace("a card is a JSON file", "it is a TOML file"),
            next_command="reticent verify --example discrete-laplace",
        ) from None
    if len(text) > _LONGEST:
        raise Failure(f"{file} is longer than {_LONGEST:,} characters")
    name = "stdin" if str(file) == "-" else str(file)
    try:
        return case_of(parsed(text, name), file=file, run_code=run_code)
    except WrongFile as error:
        raise Failure(told(error, text, name), next_command=_start_from(text)) from None
    except ReticentError as error:
        raise Failure(str(error), next_command="reticent verify --examples") from None


def _start_from(text: str) -> str:
    """The command that prints an example of what the file is about, if that can be told."""
    from reticent.cli.verify_examples import EXAMPLES
    from reticent.cli.verify_file import parsed
    from reticent.preferences.problems import nearest

    held = parsed(text, "").held
    mechanism = held.get("mechanism")
    named = mechanism.get("name") if isinstance(mechanism, dict) else None
    close = nearest(named, EXAMPLES) if isinstance(named, str) else None
    if "law" in held:
        close = "randomised-response"
    return f"reticent verify --example {close}" if close else "reticent verify --examples"


def _why_not(case: Case, *, audit: bool) -> tuple[str, int]:
    """Why this is audited and not enumerated, nothing if it is; and how many pairs there are."""
    from reticent.testing.cases import MOST_COMPARISONS, work_of

    if case.draw is None and audit:
        raise Failure(
            "--audit needs something to draw from, and this is a table of chances",
            why="a table is enumerated, which says more than an audit",
            next_command="reticent verify --example discrete-laplace",
        )
    if audit:
        return "--audit was given", 0
    if not case.parts:
        return case.why, 0
    work = work_of(case)
    if not work.more:
        return "", work.pairs
    outcomes = sum(part.outcomes for part in case.parts)
    why = _TOO_MANY.format(most=MOST_COMPARISONS, pairs=work.pairs, outcomes=outcomes)
    if case.draw is None:
        raise Failure(
            f"this table is too large to enumerate: {why}",
            why="name the neighbours that matter in [domain], as neighbours = [[...], ...]",
            next_command="reticent verify --example randomised-response",
        )
    return why, work.pairs


def _enumerate(case: Case, pairs: int, *, as_json: bool) -> bool:
    from reticent.cli.verify_views import enumerated_lines, figure_json, figure_lines, unit_json
    from reticent.testing.cases import verify_case

    with progress(_TICKS) as advance:
        found = verify_case(case, tick=_ticks(pairs * len(case.parts), advance))
    if as_json:
        units = [unit_json(case, u, w, u in found.broken) for u, w in found.worst.items()]
        say_json(
            "verify/1",
            name=case.name,
            method="enumerated",
            verdict="holds" if found.holds and _figures_hold(case) else "broken",
            pairs=found.pairs,
            units=units,
            figures=[figure_json(figure) for figure in case.figures],
        )
        return found.holds
    blocks = [enumerated_lines(case, found)]
    if case.figures:  # what is broken comes first
        first = found.holds and not _figures_hold(case)
        blocks.insert(0 if first else 1, figure_lines(case.figures))
    say("\n\n".join("\n".join(block) for block in blocks))
    return found.holds


def _ticks(total: int, advance: Callable[[str], None]) -> Callable[[], None]:
    """Something to call after each of ``total`` steps, that shows a hundred of them."""
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if done * _TICKS // total > (done - 1) * _TICKS // total:
            advance(f"{done:,} of {total:,} pairs of neighbours")

    return tick


def _audit(case: Case, why: str, draws: int, *, as_json: bool) -> bool:
    from reticent.cli.verify_views import say_audited
    from reticent.queries.evaluate.verify import audited

    with progress(2 * len(case.claims)) as advance:
        found = audited(case, draws, advance)
    say_audited(case, found, why, draws, as_json=as_json)
    return not any(one.audit.violated for one in found.values())


def _figures_hold(case: Case) -> bool:
    return all(figure.holds for figure in case.figures)


def _tell_figures(case: Case, *, as_json: bool) -> None:
    from reticent.cli.verify_views import figure_json, figure_lines

    if as_json:
        say_json(
            "verify/1",
            name=case.name,
            method="enumerated",
            verdict="holds" if _figures_hold(case) else "broken",
            pairs=0,
            units=[],
            figures=[figure_json(figure) for figure in case.figures],
        )
        return
    for line in figure_lines(case.figures):
        say(line)
