"""``reticent demo``: plan, release, be refused and attack, on bundled public data.

Not here  the steps (demo_steps.py).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reticent.cli.charging import opened
from reticent.cli.failures import ExitCode, Failure, reason
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json

if TYPE_CHECKING:
    from reticent.cli.demo_steps import Step


def demo(
    directory: Annotated[
        Path, typer.Option("--directory", help="Where the guarantee cards are written.")
    ] = Path("reticent-demo"),
    fast: Annotated[bool, typer.Option("--fast", help="Attack with fewer draws.")] = False,
    as_json: Json = False,
) -> None:
    """A tour on public sample data, in seconds."""
    from reticent.cli.demo_steps import LEDGER, STEPS, Tour

    _prepare(directory)
    ledger = str(directory / LEDGER)
    with opened(ledger) as held, progress(len(STEPS)) as advance:
        tour = Tour(draws=200_000 if fast else 2_000_000, ledger=held)
        steps: list[Step] = []
        for title, step in STEPS.items():
            advance(title)
            steps.append(step(tour))
    paths = _write(directory, tour.files())
    if as_json:
        fields = {name: value for step in steps for name, value in step.fields.items()}
        say_json("demo/1", data=tour.data, **fields, ledger=ledger, files=list(map(str, paths)))
    else:
        _say_steps(tour.data, list(STEPS), steps)
        _say_files(directory, paths, ledger)
    if not tour.promise_held:
        raise typer.Exit(ExitCode.FOUND)


def _prepare(directory: Path) -> None:
    """Make the directory; refuse one that holds anything but what an earlier demo wrote there."""
    from reticent.cli.demo_steps import OWN

    again = "reticent demo --directory another-name"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        others = {path.name for path in directory.iterdir()} - set(OWN)
    except OSError as error:
        what = f"{directory} cannot be made a directory"
        raise Failure(what, why=reason(error), next_command=again) from None
    if others:
        why = "the demo overwrites nothing but its own cards"  # and adds to its ledger
        raise Failure(f"{directory} holds other files", why=why, next_command=again)


def _write(directory: Path, files: dict[str, str]) -> list[Path]:
    paths = [directory / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        write_atomically(path, text)
    return paths


def _say_steps(data: str, titles: list[str], steps: list[Step]) -> None:
    say(data)
    for number, (title, step) in enumerate(zip(titles, steps, strict=True), start=1):
        say(f"\n{number}. {title}")
        for line in step.lines:
            say(f"   {line}".rstrip())


def _say_files(directory: Path, paths: list[Path], ledger: str) -> None:
    say("\nThe guarantee cards:")
    for path in paths:
        say(f"   {path}")
    say("What was spent:")
    say(f"   {ledger}")
    say(f"next: reticent card verify {shlex.quote(str(directory))}/*.json")
