"""The command line in this process: what it printed, what it said, how it ended."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from reticent.cli import demo_tour
from reticent.cli.main import run
from reticent.data import Table, load_adult

LEDGER = "RETICENT_LEDGER"


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli: TypeAlias = Callable[..., Ended]


def invoke(*arguments: object) -> Ended:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def cli() -> Cli:
    return invoke


@pytest.fixture(scope="session", autouse=True)
def no_ledger_here(tmp_path_factory) -> Iterator[None]:
    """Fixtures that live longer than a test do not leave a ledger where tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LEDGER, str(tmp_path_factory.mktemp("ledgers") / "ledger.db"))
        yield


@pytest.fixture(scope="module")
def census() -> Iterator[Callable[[], Table]]:
    """The sample that tours speak of, read once for all of them."""
    held = cache(load_adult)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_tour, "load_adult", held)
        yield held


@pytest.fixture(autouse=True)
def ledger(tmp_path_factory, monkeypatch) -> Path:
    """Where the commands of this test are counted, if they do not say otherwise."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    monkeypatch.setenv(LEDGER, str(path))
    return path
