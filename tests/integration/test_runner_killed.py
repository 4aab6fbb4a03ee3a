"""Kill -9 of a release over many people; every stage is in ``benchmarks.faults --runner``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fault_runner import BROKEN, digests, judge, killed_at, make, moments

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("moment", ["half of the pieces drawn", "some charged"])
def test_a_release_that_is_killed_goes_on(tmp_path, moment) -> None:
    make(tmp_path / "in.parquet", 8_000, 1_000)
    ended = killed_at(tmp_path, moments(tmp_path)[moment])
    before = digests(tmp_path)
    assert ended or before, "it was killed too early to have drawn something"
    assert killed_at(tmp_path, lambda: False), "it did not end the second time"
    found = judge(tmp_path, 8_000)
    assert not any(found[name] for name in BROKEN if name in found), found
    after = digests(tmp_path)
    if moment == "some charged":
        parts = {name: held for name, held in before.items() if name.startswith("part-")}
        assert parts == after, "what somebody was charged for was drawn again"


def test_a_worker_that_is_killed_is_an_error_that_says_how_to_go_on(tmp_path) -> None:
    """The pool is broken, not the release."""
    make(tmp_path / "in.parquet", 8_000, 1_000)
    script = tmp_path / "own.py"
    script.write_text(
        "import os, signal, sys\n"
        "from benchmarks import fault_runner\n"
        "from reticent.running.staging import StagingError\n"
        "from reticent.running.workers import Workers\n"
        "send = Workers._send\n"
        "def hurt(self, connection, task):\n"
        "    sent = send(self, connection, task)\n"
        "    os.kill(self._all[connection].pid, signal.SIGKILL)\n"
        "    return sent\n"
        "if __name__ == '__main__':\n"
        "    Workers._send = hurt\n"
        "    try:\n"
        "        fault_runner.main()\n"
        "    except StagingError as error:\n"
        "        sys.exit(str(error))\n"
    )
    ended = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert ended.returncode == 1
    assert "run again with the same key" in ended.stderr
    assert killed_at(tmp_path, lambda: False)
    assert not any(judge(tmp_path, 8_000)[name] for name in BROKEN if name != "redrawn")
