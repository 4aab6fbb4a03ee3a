"""A working example of every command, for tests that walk the whole tree.

Most are the examples of the help (cli/examples.py), which work in a folder that ``reticent init``
made. A new command needs an example there, or a line in ``OTHERS`` here; ``BEFORE`` names the
commands that must have run, ``INPUTS`` what may be wrong with a file and is no error.
"""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import typer

from reticent.cli import main
from reticent.cli.examples import EXAMPLES
from reticent.queries.registry import queries

Path_: TypeAlias = tuple[str, ...]
HOME = Path(__file__).parents[2]

CHECKOUT = Path(__file__).parents[2]
OTHERS = {"reproduce list": f"reticent reproduce list --root {shlex.quote(str(CHECKOUT))}"}
"""Examples of commands that have none in their help, or one that needs another folder."""

GATEWAY = ("gateway init", "gateway import", "gateway provider", "gateway token")
BEFORE: dict[str, tuple[str, ...]] = {
    "plan profile": ("release mapping",),
    "release profile": ("release mapping",),
    "audit profile": ("release mapping",),
    "predict": ("release tree",),
    "release recommendations": ("release sketches",),
    "report": ("release histogram",),
    **{f"card {verb}": ("release histogram",) for verb in ("show", "verify", "export")},
    **{
        f"ledger {verb}": ("release histogram",)
        for verb in ("show", "log", "verify", "export", "raise", "forget")
    },
    "gateway import": GATEWAY[:1],
    "gateway provider": GATEWAY[:2],
    "gateway token": GATEWAY[:3],
    **{f"gateway {verb}": GATEWAY for verb in ("tokens", "revoke", "door", "people", "forget")},
}
NOT_HERE = {
    "serve": "runs until it is stopped; in a process of its own below",
    "reproduce run": "takes long; tests/unit/cli/test_reproduce.py runs it",
    "reproduce check": "takes long; tests/unit/cli/test_reproduce.py runs it",
}
SLOW = {"demo": "tests/unit/cli/test_demo.py runs it, and --all as JSON"}
ELSEWHERE = {
    "audit noise": "tests/unit/cli/test_audit.py runs it, as JSON",
    **{
        f"{verb} {kind}": "tests/unit/queries/test_evaluate.py runs it"
        for verb in ("compare", "sweep", "verify", "audit")
        for kind in queries()
    },
}
AS_JSON = {"doctor": "is run as JSON; its own tests in tests/unit/cli run it otherwise"}
JSON_SCHEMAS = {"card schema", "prefs schema"}
"""Commands whose result is a JSON Schema, which names itself otherwise."""

MAY_BE: dict[str, dict[str, set[int]]] = {
    # a check of a file ends with 1 if something is wrong with it
    "prefs check": {"empty": {1, 2}},
    "ledger verify": {"missing": {0}},  # the head is written there
    "gateway import": {"directory": {0, 2}},  # of preferences, one file each
}
"""Ends of a command given a file that is missing, empty, garbage or a directory, if not 2."""


@dataclass(frozen=True)
class Sample:
    """Words to type, and what must have been typed before."""

    name: str
    words: tuple[str, ...]
    before: tuple[str, ...] = ()
    ends: dict[str, set[int]] = field(default_factory=dict)

    @property
    def path(self) -> Path_:
        return tuple(self.name.split())

    def inputs(self, folder: Path) -> list[str]:
        """The words that name files which are there."""
        return [word for word in self.words if (folder / word).is_file()]

    def outputs(self) -> list[str]:
        """The words that name files which are written."""
        pairs = zip(self.words, self.words[1:], strict=False)
        return [word for option, word in pairs if option in ("--out", "--card", "--head")]


def commands(command: Any = None, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every command of the tree with its path."""
    command = command or typer.main.get_command(main.app)
    parts = getattr(command, "commands", None)
    if parts is None:
        yield path, command
        return
    for name, part in parts.items():
        yield from commands(part, (*path, name))


def names() -> list[str]:
    """Every command as one types it after ``reticent``."""
    return [" ".join(path) for path, _ in commands()]


def sample(name: str) -> Sample | None:
    """The sample of a command, if there is one."""
    text = OTHERS.get(name) or EXAMPLES.get(name)
    if text is None:
        return None
    words = tuple(shlex.split(text)[1:])
    if words[0] in ("verify", "audit") and words[1] in queries() and name != "audit profile":
        words += ("--draws", "1000")
    return Sample(name, words, BEFORE.get(name, ()), MAY_BE.get(name, {}))


def prepared(folder: Path, needed: Sample, invoke: Callable[..., Any]) -> Sample:
    """Run what must have run; what only the reader knows is filled in."""
    for name in needed.before:
        made = sample(name)
        assert made is not None, name
        if name == "gateway token":
            (folder / "token.json").write_text(invoke(*made.words, "--json").out, encoding="utf-8")
        else:
            assert invoke(*made.words).code == 0, made.words
    if "NAME" in needed.words:
        told = invoke("gateway", "tokens", "--json").json["tokens"][0]["name"]
        words = tuple(told if word == "NAME" else word for word in needed.words)
        return Sample(needed.name, words, needed.before, needed.ends)
    return needed
