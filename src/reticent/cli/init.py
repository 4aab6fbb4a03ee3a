"""``reticent init``: a folder with something to change, and what to type there.

Not here  what is in the files (init_files.py), the commands that are listed (examples.py).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.examples import EXAMPLES, TRY
from reticent.cli.failures import Failure, reason
from reticent.cli.files import free_name, write_atomically
from reticent.cli.output import Json, say, say_json, talk

USUAL = Path("reticent-start")


def init(
    directory: Annotated[
        Path, typer.Argument(help="Where to put it; made if it is not there.", metavar="DIR")
    ] = USUAL,
    as_json: Json = False,
) -> None:
    """Write files to try things on, and what to type there.

    A commented preferences file and small tables, with the commands in START.txt. The people in the
    tables are invented. Nothing is overwritten: if a file of the same name is there, nothing is
    written at all.
    """
    from reticent.cli.init_files import files

    commands = [EXAMPLES[name] for name in TRY]
    held = files(commands)
    _prepare(directory, list(held))
    for name, text in held.items():
        write_atomically(directory / name, text)
    enter = shlex.join(["cd", str(directory)])
    if as_json:
        told = {"files": list(held), "next": [enter, *commands]}
        say_json("init/1", directory=str(directory), **told)
        return
    for name in held:
        say(str(directory / name))
    talk("type, in this order:")
    for command in (enter, *commands[:4]):
        talk(f"  {command}")
    talk(f"more of them are in {directory / 'START.txt'}")


def _prepare(directory: Path, names: list[str]) -> None:
    """Make the folder; refuse one in which something would be overwritten."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{directory} cannot be made a directory"
        raise Failure(what, why=reason(error), next_command=_elsewhere()) from None
    there = [name for name in names if (directory / name).exists()]
    if there:
        what = f"{directory / there[0]} is there already"
        why = "nothing is overwritten, and nothing was written"
        raise Failure(what, why=why, next_command=_elsewhere())


def _elsewhere() -> str:
    """The command with a folder that is not there yet."""
    return f"reticent init {free_name(USUAL)}"
