"""``reticent reproduce``: the figures and tables of the four papers, from the experiments.

Not here  finding and running them (reproduce_runs.py), what is printed (reproduce_views.py).

Runs are seeded and on public data: what they print is not private, and need not be.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from reticent.cli.failures import ExitCode, Failure
from reticent.cli.output import Json, say, say_json, talk
from reticent.cli.reproduce_runs import (
    PEER,
    Asked,
    catalogue,
    chosen,
    data_folder,
    find_root,
    run,
)
from reticent.cli.reproduce_views import checked, listed, outcome, reported

app = typer.Typer(
    help="Reproduce the figures of the papers.", rich_markup_mode=None, no_args_is_help=True
)

Names: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(help="What to reproduce, by id or paper; all by default.", metavar="[ID]..."),
]
Root: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--root", help="A checkout; by default the one around here or installed.", metavar="DIR"
    ),
]
DataFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--data", help="Holds the data sets; by default RETICENT_DATA.", metavar="DIR"),
]
Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="A small size, on bundled and made data.")
]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("--out", help="Keep results and figures here.", metavar="DIR")
]
Saved: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--saved", help="Run nothing: take the results that --out kept here.", metavar="DIR"
    ),
]
Peer: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--diffprivlib",
        help="An interpreter that has diffprivlib; by default RETICENT_DIFFPRIVLIB.",
        metavar="PYTHON",
    ),
]


@app.callback()
def reproduce() -> None:
    """Reproduce the figures of the papers."""


@app.command("list")
def show(root: Root = None, data: DataFolder = None, as_json: Json = False) -> None:
    """List every figure and table, with what it needs and where it is shown."""
    held = catalogue(find_root(root), data_folder(data, quick=False))
    if as_json:
        say_json("reproduce-list/1", experiments=held["experiments"], entries=held["entries"])
        return
    for line in listed(held):
        say(line)


@app.command("run")
def run_entries(
    names: Names = None,
    quick: Quick = False,
    data: DataFolder = None,
    out: Out = None,
    saved: Saved = None,
    record: Annotated[
        bool, typer.Option("--record", help="Write docs/papers and the record of the run.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write what was found into expected.json.")
    ] = False,
    diffprivlib: Peer = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Run what is named, and show it beside what the papers claim.

    Exit code 1 if a record was asked for and could not be made.
    """
    asked = _asked(quick, data, out, saved, diffprivlib, root, record=record, accept=accept)
    found, unrecorded = _found(names, asked)
    if as_json:
        say_json("reproduce-run/1", quick=quick, private=False, entries=found)
    else:
        for line in reported(found):
            say(line)
    off = sum(len(entry["off"]) for entry in found)
    if off:
        talk(f"{off} points are not as expected; reticent reproduce check names them")
    for sentence in unrecorded:
        talk(f"not recorded: {sentence}")
    if unrecorded:
        raise typer.Exit(ExitCode.FOUND)


@app.command("check")
def check(
    names: Names = None,
    quick: Quick = False,
    data: DataFolder = None,
    out: Out = None,
    saved: Saved = None,
    diffprivlib: Peer = None,
    root: Root = None,
    as_json: Json = False,
) -> None:
    """Run what is named, and compare every point with the expected one.

    Exit code 1 if a point is further off than its tolerance.
    """
    asked = _asked(quick, data, out, saved, diffprivlib, root)
    found, _ = _found(names, asked)
    off = sum(len(entry["off"]) for entry in found)
    if as_json:
        say_json("reproduce-check/1", quick=quick, good=not off, entries=found)
    else:
        for line in checked(found):
            say(line)
        points = sum(entry["points"] for entry in found)
        say(f"{points - off} of {points} points within tolerance")
    if off:
        raise typer.Exit(ExitCode.FOUND)


def _asked(
    quick: bool,
    data: Path | None,
    out: Path | None,
    saved: Path | None,
    diffprivlib: str | None,
    root: Path | None,
    *,
    record: bool = False,
    accept: bool = False,
) -> Asked:
    if record and quick:
        raise Failure(
            "a quick run is not recorded",
            why="the pages of the papers show full runs",
            next_command="reticent reproduce run --quick",
        )
    if quick and data is not None:
        raise Failure(
            "a quick run reads no data set",
            why="its points are those of bundled and made data; --data goes with a full run",
            next_command="reticent reproduce check --quick",
        )
    if saved is not None and not saved.is_dir():
        raise Failure(f"{saved} is not a folder", why="--saved names one that --out has filled")
    return Asked(
        root=find_root(root),
        quick=quick,
        data=data_folder(data, quick=quick),
        out=out,
        saved=saved,
        diffprivlib=_interpreter(diffprivlib, quick=quick),
        record=record,
        accept=accept,
    )


def _interpreter(given: str | None, *, quick: bool) -> str | None:
    """As told, or for a full run that of the environment; a path is read from here."""
    name = given or (None if quick else os.environ.get(PEER))
    return os.path.abspath(name) if name and os.sep in name else name  # its links are its own


def _found(names: list[str] | None, asked: Asked) -> tuple[list[dict[str, Any]], list[str]]:
    """What each entry has, and why something could not be recorded."""
    held = catalogue(asked.root, asked.data)
    entries = chosen(held, names or [])
    if asked.record:
        _check_complete(held, entries, asked)
    for entry in entries:
        if names and entry["not_reproduced"]:
            talk(f"{entry['id']} is not reproduced: {entry['not_reproduced']}")
    found, unrecorded = [], []
    for work, result in run(held, entries, asked):
        ours = [entry for entry in entries if entry["module"] == work["module"]]
        found += [outcome(entry, work, result) for entry in ours]
        if asked.record:
            unrecorded += [f"{work['module']}: {reason}" for reason in result["skipped"]]
            if not result["skipped"]:
                talk(f"recorded in docs/papers/{work['page']}.md and docs/papers/index.md")
    return found, unrecorded


def _check_complete(held: dict[str, Any], entries: list[dict[str, Any]], asked: Asked) -> None:
    """Say before an hour has gone that a record could not be made."""
    if asked.saved is not None:
        return
    modules = {entry["module"] for entry in entries}
    lacks: dict[str, list[str]] = {}
    for entry in held["entries"]:
        for lack in entry["missing"] if entry["module"] in modules else ():
            names = lacks.setdefault(lack["why"], [])
            names += [lack["name"]] if lack["name"] not in names else []
    works = [work for work in held["experiments"] if work["module"] in modules]
    if not asked.diffprivlib and any("--diffprivlib" in work["options"] for work in works):
        lacks[f"no --diffprivlib PYTHON and {PEER} is not set"] = ["diffprivlib"]
    if lacks:
        raise Failure(
            "a record needs all data",
            why="; ".join(f"{', '.join(names)}: {why}" for why, names in lacks.items()),
            next_command="reticent reproduce list",
        )
