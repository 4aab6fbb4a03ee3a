"""``reticent data columns``: a form in which one writes what is public about a table.

Not here  reading what was filled in (tasks/declarations.py).

Only the header of the table is shown. What its cells hold is private, and what is declared must not
be taken from them.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from reticent.cli.files import write_atomically
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.release import check_files

RowsFile: TypeAlias = Annotated[
    Path,
    typer.Argument(help="A table with a header line: .csv, .csv.gz or .parquet.", metavar="TABLE"),
]
_HEAD = """\
# What is public about the table: write what you knew before you saw it, and take nothing from it.
# A column is a range of numbers (bounds, cut into bins; or all edges of the bins) or categories.
# Keep bounds and bins, or categories, without the #. Delete the columns that the tree must not use.
"""
_COLUMN = """
[columns.{name}]
# bounds = [LOWEST, HIGHEST]
# bins = 32
# categories = ["ONE", "ANOTHER"]
"""
_TARGET = """
[target]{note}
# classes = ["ONE", "ANOTHER"]
# weights = {{ "ONE" = 1, "ANOTHER" = 2 }}  # only if a row of one class counts more
"""


def columns(
    path: RowsFile,
    target: Annotated[
        str | None,
        typer.Option("--target", help="The column to be predicted.", metavar="COLUMN"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the form here, .toml.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """A form for what is public about a table, to be filled in.

    It holds the names in the header only. Fill it in by hand and give it to `reticent release tree
    --declare`. No value of the table is shown: what is declared must not depend on the data.
    """
    from reticent.data.people_tables import read_people

    check_files(out, suffixes=(".toml",))
    table = read_people(path, empty=True)
    aim = None if target is None else table.named(target)
    names = [name for name in table.columns if name != aim]
    form = _form(names, aim)
    if out is not None:
        write_atomically(out, form)
    if as_json:
        told = {"form": form} if out is None else {"out": str(out)}
        say_json("data-columns/1", columns=names, target=aim, **told)
        return
    say(form.removesuffix("\n") if out is None else str(out))
    talk("caution: the names are its first line; if that is a person, the file has no header")
    form_file = "FORM.toml" if out is None else str(out)
    words = ["--target", target or "COLUMN", "--declare", form_file, "--epsilon", "1"]
    talk("fill in what you knew before you saw the table")
    talk(f"  next: {shlex.join(['reticent', 'release', 'tree', str(path), *words])}")


def _form(names: list[str], target: str | None) -> str:
    parts = [_COLUMN.format(name=_key(name)) for name in names]
    note = "" if target is None else f"  # {_key(target)}"
    return "".join([_HEAD, *parts, _TARGET.format(note=note)])


def _key(name: str) -> str:
    """A name as TOML takes it, and a terminal; JSON's quotes are TOML's."""
    if name.isascii() and name.replace("-", "").replace("_", "").isalnum():
        return name
    quoted = json.dumps(name, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
