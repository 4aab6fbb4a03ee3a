"""``reticent data``: which public data sets are known, and where they have to be.

Not here  the facts (data_known.py), reading them (data/).
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from reticent.cli.data_known import KNOWN, DataSet
from reticent.cli.failures import Failure
from reticent.cli.output import Json, say, say_json, talk
from reticent.layout import table

app = typer.Typer(
    help="Public data sets, and a form for what is public about yours.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

DataFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="The folder with one folder per data set.",
        envvar="RETICENT_DATA",
        metavar="DIR",
    ),
]


@app.callback()
def data() -> None:
    """Public data sets, and a form for what is public about yours."""


@app.command("list")
def list_known(folder: DataFolder = None, as_json: Json = False) -> None:
    """All data sets that come with this package or can be read."""
    if as_json:
        sets = [_fields(one, folder) for one in KNOWN]
        say_json("data-list/1", data=None if folder is None else str(folder), sets=sets)
        return
    heads = ("name", "here", "what", "counts", "licence")
    rows = [(one.name, _here(one, folder), one.what, one.counts, one.licence) for one in KNOWN]
    for line in table(heads, rows):
        say(line)
    if folder is None:
        talk("those that are not bundled are looked for in --data DIR, or RETICENT_DATA")


@app.command("describe")
def describe(
    name: Annotated[str, typer.Argument(help="As reticent data list names it.", metavar="NAME")],
    folder: DataFolder = None,
    as_json: Json = False,
) -> None:
    """What is in a data set, its licence, and where its files go.

    Nothing is downloaded.
    """
    one = _named(name)
    if as_json:
        say_json("data-describe/1", **_fields(one, folder))
        return
    say(f"{one.name}: {one.what}")
    facts = {
        "counts": one.counts,
        "licence": one.licence,
        "from": one.home,
        "read by": one.reads,
        "here": _here(one, folder),
    }
    for head, text in facts.items():
        say(f"  {head:<8}{text}")
    if not one.bundled:
        where = Path("DIR") if folder is None else folder
        for names in one.files:
            say(f"  {'file':<8}{where / one.name / names[0]}{_or(names[1:])}")


def _named(name: str) -> DataSet:
    found = {one.name.casefold(): one for one in KNOWN}
    if name.casefold() in found:
        return found[name.casefold()]
    near = get_close_matches(name.casefold(), found, n=1)
    why = f"did you mean {found[near[0]].name}?" if near else ""
    listed = "reticent data list"
    raise Failure(f"no data set is called {name!r}", why=why, next_command=listed)


def _here(one: DataSet, folder: Path | None) -> str:
    if one.bundled:
        return "bundled"
    return "no" if one.lacking(folder) else "yes"


def _or(names: tuple[str, ...]) -> str:
    return f" (or {', '.join(names)})" if names else ""


def _fields(one: DataSet, folder: Path | None) -> dict[str, Any]:
    named = {key: getattr(one, key) for key in ("name", "what", "counts", "licence", "home")}
    return {
        **named,
        "reads": one.reads,
        "bundled": one.bundled,
        "files": [list(names) for names in one.files],
        "missing": one.lacking(folder),
    }
