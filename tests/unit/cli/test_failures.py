"""The exit codes are the documented ones."""

import re
from pathlib import Path

from reticent.cli.failures import ExitCode

PAGE = Path(__file__).parents[3] / "docs" / "command-line.md"


def test_codes_are_fixed() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "DONE": 0,
        "FOUND": 1,
        "USAGE": 2,
        "REFUSED": 3,
        "EXTRA_MISSING": 4,
        "BUG": 70,
        "INTERRUPTED": 130,
        "PIPE_CLOSED": 141,
    }


def test_every_code_is_documented() -> None:
    documented = re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code in documented] == [int(code) for code in ExitCode]
