"""``reticent report``: one page from what commands printed with ``--json``, and from cards.

Not here  the sections (report/runs.py), the page (report/page.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.errors import CardError

if TYPE_CHECKING:
    from reticent.guarantees.card import Card
    from reticent.report.document import Report, Section

OUT = Path("report.html")
_MAKE_ONE = "reticent demo"
_NAMED = 20  # files that are left out, one line each


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="What a command printed with --json, a guarantee card, or a folder of them.",
            metavar="RUN",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="The page, .html; replaced if it is there.", metavar="FILE"),
    ] = OUT,
    title: Annotated[
        str | None, typer.Option("--title", help="The page's title.", metavar="TEXT")
    ] = None,
    as_json: Json = False,
) -> None:
    """One page of pictures, tables and cards that opens anywhere and asks nothing of the network.

    Every card is recomputed, and every attack is held to its ceiling. Exit code 1 if one of them
    fails; the page is written all the same, and says so first.
    """
    _check(runs, out)
    from reticent.report.page import report_html

    made = _made(runs, out, title)
    write_atomically(out, report_html(made))
    counts = {
        "sections": len(made.sections),
        "figures": sum(len(section.pictures) for section in made.sections),
    }
    if as_json:
        say_json("report/1", file=str(out), **counts, failures=made.failures)
    else:
        say(str(out))
        talk(" and ".join(_count(number, name[:-1]) for name, number in counts.items()))
    if made.failures:
        for failure in made.failures:
            talk(f"error: {failure}")
        raise typer.Exit(ExitCode.FOUND)


def _check(runs: Sequence[Path], out: Path) -> None:
    if out.suffix != ".html":
        raise Failure(f"--out {out} must end in .html")
    if not out.parent.is_dir():
        raise Failure(f"there is no folder {out.parent}", why="--out writes into one that is there")
    for run in runs:
        if not run.exists():
            why = "a run is what a command printed with --json, or a folder of such files"
            raise Failure(f"there is no {run}", why=why, next_command=_MAKE_ONE)


def _made(runs: Sequence[Path], out: Path, title: str | None) -> Report:
    from reticent.report.document import Report

    sections: list[Section] = []
    others: list[Path] = []
    with progress(len(runs)) as advance:
        for run in runs:
            advance(f"reading {run}")
            sections += _read(run, others)
    for path in others[:_NAMED]:
        talk(f"left out: {path}")
    if len(others) > _NAMED:
        talk(f"left out: {_count(len(others) - _NAMED, 'file')} more")
    words = ["reticent", "report", *map(str, runs)]
    words += ["--out", str(out)] if out != OUT else []
    words += ["--title", title] if title is not None else []
    return Report(
        title=title or "What was planned, released and measured",
        summary=_summary(sections),
        sections=sections,
        again=[*_commands(sections), shlex.join(words)],
        versions=_versions(),
    )


def _read(run: Path, others: list[Path]) -> list[Section]:
    """The sections of a run; files of a folder that are none are added to ``others``."""
    from reticent.report.runs import RunError, read_run

    try:
        return read_run(run, check=card_problems, skipped=others.append)
    except RunError as error:
        raise Failure(error.what, why=error.why, next_command=_MAKE_ONE) from None


def card_problems(card: Card) -> list[str]:
    """What on a card does not hold, of whatever it is the card."""
    from reticent.queries.card_checks import recomputed

    try:
        return recomputed(card)
    except CardError as error:
        return [*card.problems(), str(error)]


def _summary(sections: Sequence[Section]) -> list[str]:
    cards = [card for section in sections for card in section.cards]
    figures = sum(len(section.pictures) for section in sections)
    parts = [
        _count(len(sections), "section"),
        _count(figures, "figure"),
        _count(len(cards), "card"),
    ]
    told = [f"This page holds {parts[0]}, {parts[1]} and {parts[2]}."]
    if cards and not any(section.failures for section in sections):
        told.append("Every card was checked when the page was made, and nothing differs.")
    return told


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _commands(sections: Sequence[Section]) -> list[str]:
    """The commands that cards name, each once."""
    named: list[Any] = [card.provenance.command for section in sections for card in section.cards]
    return [command for command in dict.fromkeys(named) if command]


def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    names = ("matplotlib", "numpy", "reticent", "scipy")
    return {"Python": platform.python_version(), **{name: version(name) for name in names}}
