"""Where words go: results to stdout, talk to stderr, one JSON object when asked for.

Not here  files (files.py), what errors are called (failures.py).
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
"""The option that every command which prints has."""
_PARTS = 50  # of a bar of progress


def say(text: str = "") -> None:
    """A line of the result."""
    typer.echo(text)


def say_json(schema: str, **fields: Any) -> None:
    """The result as one JSON object that names its schema."""
    typer.echo(json.dumps({"schema": schema, **fields}, indent=2, ensure_ascii=False))


def talk(text: str, *, raw: bool = False) -> None:
    """A line for the person at the terminal; never part of the result."""
    typer.echo(text if raw else _printable(text), err=True)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A callback that names the step at work, shown on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(bar_width=20), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(step: str) -> None:
            bar.update(task, advance=1, description=step)

        yield advance


@contextmanager
def shares(doing: str) -> Iterator[Callable[[float], object]]:
    """A callback that takes the share of the work that is done, shown on a terminal."""
    shown = 0
    with progress(_PARTS) as advance:

        def step(done: float) -> None:
            nonlocal shown
            while shown < int(_PARTS * done):
                shown += 1
                advance(doing)

        yield step


def prepare_streams() -> None:
    """UTF-8 to files and pipes, and a character that cannot be shown never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def silence() -> None:
    """Nobody reads any more: drop what is left to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _printable(text: str) -> str:
    from reticent.guarantees.card_facts import printable

    lines = text.split("\n")
    return "\n".join(line[: len(line) - len(line.lstrip())] + printable(line) for line in lines)
