"""Every figure and table of the four papers: what reproduces it, from which data, or why nothing.

Not here  the entries themselves (entries.py), what was found when they were run (record.py).

``python -m experiments.catalogue [--data DIR]`` prints it as JSON, with what of the data is there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from experiments import record
from experiments.entries import ENTRIES
from experiments.sets import DATA, EXPERIMENTS, Data, Entry, Work

SCHEMA = "reproductions/1"


@dataclass(frozen=True, slots=True)
class Lack:
    """A data set that is not there, and where it is had."""

    name: str
    why: str
    home: str


def entry(name: str) -> Entry:
    """The entry of that id."""
    return next(e for e in ENTRIES if e.id == name)


def work(module: str) -> Work:
    """The experiment that is run by that module."""
    return next(w for w in EXPERIMENTS if w.module == module)


def entries_of(module: str) -> Iterator[Entry]:
    """What one run of that module reproduces."""
    return (e for e in ENTRIES if e.module == module)


def belongs(e: Entry, figure: str, data: str) -> bool:
    """Whether a row of results, or a point of expected.json, is part of the entry."""
    return any(fnmatchcase(f"{figure}::{data}" if "::" in p else figure, p) for p in e.rows)


def home(module: str, figure: str, data: str) -> str:
    """The id of the entry that such rows of the module belong to; empty if there is none."""
    return next((e.id for e in entries_of(module) if belongs(e, figure, data)), "")


def claimed(module: str, claim: str, where: str) -> str:
    """The id of the entry that shows what is claimed: named by its beginning, or by its figure."""
    ours = list(entries_of(module))
    for e in ours:
        if any(claim.startswith(beginning) for beginning in e.claims):
            return e.id
    named = re.search(r"(Fig|Tab)\. (\d+)", where)
    if named is not None:
        end = f"/{named[1].lower()}-{named[2]}"
        for e in ours:
            if e.id.endswith(end):
                return e.id
    raise LookupError(f"no entry of {module} shows the claim: {claim} ({where})")


def lacking(e: Entry, folder: Path | None) -> list[Lack]:
    """The sets of the entry that are not in the folder."""
    return [Lack(d.name, _why(d, folder), d.home) for d in map(_data, e.data) if _why(d, folder)]


def _data(name: str) -> Data:
    return next(d for d in DATA if d.name == name)


def _why(data: Data, folder: Path | None) -> str:
    if not data.files:
        return ""
    if folder is None:
        return "no --data DIR and RETICENT_DATA is not set"
    place = folder / data.folder
    for names in data.files:
        if not any((place / name).is_file() for name in names):
            return f"{data.folder}/ has none of {', '.join(names)}"
    return ""


def plain(folder: Path | None) -> dict[str, Any]:
    """All of it as data for JSON; ``missing`` is what a full run lacks."""
    return {
        "schema": SCHEMA,
        "experiments": [_work_plain(w) for w in EXPERIMENTS],
        "entries": [
            {k: v for k, v in asdict(e).items() if k != "claims"}
            | {"missing": [asdict(lack) for lack in lacking(e, folder)]}
            for e in ENTRIES
        ],
    }


def _work_plain(w: Work) -> dict[str, Any]:
    held = record.read().get(w.module, {})
    return asdict(w) | {key: held.get(key) for key in ("cpu_seconds", "wall_seconds", "date")}


def main(arguments: list[str] | None = None) -> int:
    """Print it."""
    home = os.environ.get("RETICENT_DATA")
    options = argparse.ArgumentParser(prog="python -m experiments.catalogue")
    options.add_argument("--data", type=Path, default=Path(home) if home else None, metavar="DIR")
    sys.stdout.write(json.dumps(plain(options.parse_args(arguments).data), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
