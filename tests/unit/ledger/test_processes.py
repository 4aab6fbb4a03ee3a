"""One ledger, several processes: duplicates, last units, forks, a lock that dies with its owner."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from reticent.ledger import LedgerError, open_ledger

ASK = """
import sys
from reticent.errors import BudgetExceeded
from reticent.guarantees import RECORD, Event, PureDP
from reticent.ledger import Charge, Request, open_ledger
address, name, keys = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
sys.stdin.readline()
ledger = open_ledger(address)
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


def together(address: object, keys: list[str]) -> list[list[list[str]]]:
    """Processes that begin at the same time; what each printed, a line each."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ASK, str(address), f"process{n}", one],
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


def test_one_store_made_by_four_processes_at_once_and_one_key(store) -> None:
    printed = together(store.address, ["1,2,3"] * 4)
    assert len({str(lines) for lines in printed}) == 1
    assert len(printed[0]) == 3
    store.open()
    assert store.spent() == {("ann", "club", "overall", ""): (40, 12)}


def test_the_last_units_go_to_as_many_as_there_are(store) -> None:
    keys = [",".join(f"{n}.{m}" for m in range(6)) for n in range(3)]
    printed = together(store.address, keys)
    answered = [line for lines in printed for line in lines if line[1] != "refused"]
    assert len(answered) == 10
    store.open()
    assert store.checked().problems == ()


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


def test_a_fork_must_open_its_own(store, ask) -> None:
    ledger = store.open()
    ledger.once_with(ask(1, nano=1), b"x")
    store.spent()

    def child() -> int:
        try:
            ledger.once_with(ask(2, nano=1), b"y")
        except LedgerError as error:
            if "fork" not in str(error):
                return 2
        if len(store.spent()) != 1:
            return 3
        ledger.close()  # not its to close
        with open_ledger(store.address) as own:
            own.once_with(ask(3, nano=1), b"z")
        return 0

    assert forked(child) == 0
    ledger.once_with(ask(4, nano=1), b"x")
    assert ledger.once_with(ask(3, nano=1), b"n").value == b"z"
    assert store.spent() == {("ann", "club", "overall", ""): (10, 3)}


def test_a_child_that_outlives_a_writer_does_not_keep_its_lock(store) -> None:
    """The lock belongs to an open file or socket, which a fork shares: held for ever."""
    ready, told = multiprocessing.Pipe()

    def owner() -> int:
        ledger = open_ledger(store.address)

        def work(connection) -> None:  # in the writer's thread, with the lock held
            grandchild = os.fork()
            if grandchild == 0:
                time.sleep(60)
                os._exit(0)
            told.send(grandchild)
            os.kill(os.getpid(), signal.SIGKILL)

        ledger.write(work)
        return 1

    assert forked(owner) == -signal.SIGKILL
    grandchild = ready.recv()
    try:
        script = "import sys; from reticent.ledger import open_ledger as o; o(sys.argv[1]).close()"
        command = [sys.executable, "-c", script, str(store.address)]
        subprocess.run(command, timeout=20, check=True)
    finally:
        os.kill(grandchild, signal.SIGKILL)
    store.open()
