"""The command line in this process: what it printed, what it said, how it ended."""

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from reticent.cli.main import run


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
