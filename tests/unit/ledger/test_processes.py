"""One ledger, several processes: duplicates, last units, forks, a lock that dies with its owner."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reticent.ledger import LedgerError, SqliteLedger

ASK = """
import sys
from pathlib import Path
from reticent.errors import BudgetExceeded
from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import Charge, Request, SqliteLedger
path, name, keys = Path(sys.argv[1]), sys.argv[2], sys.argv[3].split(",")
sys.stdin.readline()
ledger = SqliteLedger.open(path)
event = Event("test", {"scale": 1}, PureDP(1, RECORD), private=True)
for key in keys:
    charge = Charge(subject="ann", provider="club", nano=4, limit=40)
    request = Request(principal="club", key=key, body=b"body", event=event, charges=(charge,))
    try:
        print(key, ledger.once(request, lambda: name.encode()).value.decode())
    except BudgetExceeded:
        print(key, "refused")
ledger.close()
"""


def together(path: Path, keys: list[str]) -> list[list[list[str]]]:
    """Processes that begin at the same time; what each printed, a line each."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ASK, path, f"process{n}", one],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n, one in enumerate(keys)
    ]
    time.sleep(1)
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    printed = [one.communicate(timeout=60)[0] for one in started]
    assert [one.returncode for one in started] == [0] * len(keys)
    return [[line.split() for line in text.splitlines()] for text in printed]


def test_one_file_made_by_six_processes_at_once_and_one_key(tmp_path) -> None:
    path = tmp_path / "ledger.db"
    printed = together(path, ["1,2,3"] * 6)
    assert len({str(lines) for lines in printed}) == 1
    with SqliteLedger.open(path) as ledger, ledger.reading() as connection:
        assert connection.execute("SELECT spent FROM account").fetchall() == [(12,)]


def test_the_last_units_go_to_as_many_as_there_are(tmp_path) -> None:
    keys = [",".join(f"{n}.{m}" for m in range(6)) for n in range(4)]
    printed = together(tmp_path / "ledger.db", keys)
    answered = [line for lines in printed for line in lines if line[1] != "refused"]
    assert len(answered) == 10


def forked(work) -> int:
    """The exit status of a child that does this."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def test_a_fork_must_open_its_own(tmp_path, ask) -> None:
    path = tmp_path / "ledger.db"
    with SqliteLedger.open(path) as ledger:
        ledger.once_with(ask(1, nano=1), b"x")

        def child() -> int:
            try:
                ledger.once_with(ask(2, nano=1), b"y")
            except LedgerError as error:
                if "fork" not in str(error):
                    return 2
            ledger.close()  # not its to close
            with SqliteLedger.open(path) as own:
                own.once_with(ask(3, nano=1), b"z")
            return 0

        assert forked(child) == 0
        ledger.once_with(ask(4, nano=1), b"x")
        assert ledger.once_with(ask(3, nano=1), b"n").value == b"z"


def test_a_child_that_outlives_a_writer_does_not_keep_its_lock(tmp_path, ask) -> None:
    """The lock belongs to an open file, which a fork shares: it would be held for ever."""
    path = tmp_path / "ledger.db"
    ready, told = multiprocessing.Pipe()

    def owner() -> int:
        ledger = SqliteLedger.open(path)

        def work(connection) -> None:  # in the writer's thread, with the lock held
            grandchild = os.fork()
            if grandchild == 0:
                time.sleep(60)
                os._exit(0)
            told.send(grandchild)
            os.kill(os.getpid(), signal.SIGKILL)

        ledger._writer.run(work)
        return 1

    assert forked(owner) == -signal.SIGKILL
    grandchild = ready.recv()
    try:
        script = "import sys; from reticent.ledger import SqliteLedger as L; L.open(sys.argv[1])"
        subprocess.run([sys.executable, "-c", script, path], timeout=20, check=True)
    finally:
        os.kill(grandchild, signal.SIGKILL)
