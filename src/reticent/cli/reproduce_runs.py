"""Finding the experiments of a checkout, and running them in processes of their own.

Not here  the commands (reproduce.py), what they print (reproduce_views.py), the experiments
          themselves: they are part of the repository, not of the package.

An experiment prints its results as one JSON object on stdout and talks on stderr, which it shares
with the command; so its steps are seen at a terminal, and an interrupt reaches it too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.cli.failures import Failure
from reticent.cli.output import talk

CATALOGUE = Path("experiments") / "catalogue.py"
DATA, PEER = "RETICENT_DATA", "RETICENT_DIFFPRIVLIB"
_WHERE = (
    "experiments are part of the repository, not of the package: clone it or unpack its sources, "
    "then call this from there, or name that folder with --root DIR"
)
_HELP = "reticent reproduce list --help"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How experiments are to be run."""

    root: Path
    quick: bool
    data: Path | None
    out: Path | None = None
    saved: Path | None = None
    diffprivlib: str | None = None
    record: bool = False
    accept: bool = False


def find_root(given: Path | None) -> Path:
    """Where experiments are: as told, above the current folder, or beside an editable install."""
    if given is not None:
        if not (given / CATALOGUE).is_file():
            raise Failure(f"{given} has no {CATALOGUE}", why=_WHERE, next_command=_HELP)
        return given.resolve()
    here = Path.cwd()
    beside = Path(__file__).resolve().parents[3]
    for folder in (here, *here.parents, beside):
        if (folder / CATALOGUE).is_file():
            return folder
    raise Failure("the experiments are not here", why=_WHERE, next_command=_HELP)


def data_folder(given: Path | None, *, quick: bool) -> Path | None:
    """The folder of data sets: as told, or for a full run that of the environment."""
    if given is None and not quick and os.environ.get(DATA):
        given = Path(os.environ[DATA])
    if given is not None and not given.is_dir():
        raise Failure(f"{given} is not a folder", why="--data names the one that holds the sets")
    return None if given is None else given.resolve()


def catalogue(root: Path, data: Path | None) -> dict[str, Any]:
    """What can be reproduced, as the checkout says."""
    words = ["experiments.catalogue", *(("--data", str(data)) if data is not None else ())]
    return _spoken(words, _start(root, words))


def chosen(held: dict[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The entries that are named: by id, by paper, or by the end of an id if there is only one."""
    entries: list[dict[str, Any]] = held["entries"]
    if not names:
        return entries
    ids: dict[str, None] = {}
    for name in names:
        found = [e["id"] for e in entries if e["id"] == name or e["id"].startswith(f"{name}/")]
        ends = [e["id"] for e in entries if e["id"].endswith(f"/{name}")]
        if not found and len(ends) > 1:
            why = f"it could be {', '.join(ends)}"
            raise Failure(
                f"{name} is in more than one paper",
                why=why,
                next_command=f"reticent reproduce run {ends[0]} --quick",
            )
        if not found and not ends:
            raise Failure(f"nothing is called {name}", next_command="reticent reproduce list")
        ids |= dict.fromkeys(found or ends)
    return [e for e in entries if e["id"] in ids]


def run(
    held: dict[str, Any], entries: Sequence[dict[str, Any]], asked: Asked
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every experiment that the entries need, once, with its results."""
    modules = dict.fromkeys(e["module"] for e in entries if e["module"])
    works = [work for work in held["experiments"] if work["module"] in modules]
    for number, work in enumerate(works, start=1):
        talk(f"{number} of {len(works)}: {work['module']}{_about(work, asked)}")
        words = _words(work, asked)
        started = time.perf_counter()
        done = _start(asked.root, words)
        result = _spoken(words, done)
        yield work, result | {"wall": time.perf_counter() - started}


def _about(work: dict[str, Any], asked: Asked) -> str:
    if asked.quick or asked.saved is not None or work["cpu_seconds"] is None:
        return ""
    return f", about {work['cpu_seconds'] / 60:.0f} min of CPU time"


def _words(work: dict[str, Any], asked: Asked) -> list[str]:
    words = [work["module"], "--json"]
    flags = {"--quick": asked.quick, "--accept": asked.accept, "--no-docs": not asked.record}
    words += [flag for flag, wanted in flags.items() if wanted]
    if asked.data is not None:
        words += ["--data", str(asked.data)]
    for option, folder in (("--out", asked.out), ("--saved", asked.saved)):
        if folder is not None:
            words += [option, str(folder.resolve() / work["page"])]
    if "--diffprivlib" in work["options"] and asked.diffprivlib:
        words += ["--diffprivlib", asked.diffprivlib]
    return words


def _start(root: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in (DATA, PEER)}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=root,
        env=inherited,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )


def _spoken(words: Sequence[str], done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What was printed; 1 is the status of an experiment that found something."""
    if done.returncode in (0, 1) and done.stdout.lstrip().startswith("{"):
        return dict(json.loads(done.stdout))
    raise Failure(
        f"{words[0]} did not finish",
        why="what it said is above; if a package is missing, install those of the experiments",
        next_command="pip install 'reticent[experiments]'",
    )
