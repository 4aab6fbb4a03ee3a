"""Which tests run: the default tier, or with ``--all`` every tier that can run here (tiers.py)."""

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.tiers import TIERS, tiers_of

for library in ("OMP", "OPENBLAS"):  # read when they are loaded, which is later
    # their threads wait for each other in loops, twenty times as long beside other work
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # bytes; tests need less than 1 GB of it
TEMPORARY = "PYTEST_DEBUG_TEMPROOT"  # where pytest makes the folders of tests
LEFT_OUT = pytest.StashKey[Counter[str]]()
SENT = "tests left out, by reason"  # from a worker of pytest-xdist


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--all", action="store_true", help="run every tier that can run here")
    group.addoption(
        "--require-all",
        action="store_true",
        help="run every tier, or fail where one lacks what can be installed",
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(100_000, 50, 50)  # by default a third of collecting looks for garbage
    config.stash[LEFT_OUT] = Counter()
    many = 100 if _everything(config) else 50
    settings.register_profile("reticent", max_examples=many, deadline=None)  # machines are busy
    settings.load_profile("reticent")  # where a test does not say how many
    if not _everything(config):
        _keep_files_in_memory()
    for tier in TIERS:
        config.addinivalue_line("markers", f"{tier.name}: {tier.what} (with --all)")
    if config.getoption("--require-all"):
        missing = {tier.name: tier.missing() for tier in TIERS if tier.installable}
        lacking = [f"{name} needs {what}" for name, what in missing.items() if what]
        if lacking:
            raise pytest.UsageError("\n".join(lacking))


def _everything(config: pytest.Config) -> bool:
    return bool(config.getoption("--all") or config.getoption("--require-all"))


def _keep_files_in_memory() -> None:
    """Disks make thousands of small ledgers durable for minutes; with ``--all`` they do."""
    chosen = TEMPORARY in os.environ or "TMPDIR" in os.environ
    if not chosen and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ[TEMPORARY] = str(MEMORY)


@pytest.fixture(scope="session", autouse=True)
def least_squares_as_python(pytestconfig: pytest.Config) -> Iterator[None]:
    """Bounded least squares compile for 17 s; with ``--all`` they do."""
    from tests.interpreted import interpret_least_squares

    with pytest.MonkeyPatch.context() as patch:
        if not _everything(pytestconfig):
            interpret_least_squares(patch)
        yield


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {
        tier.name: f"{tier.name} needs {missing}" if (missing := tier.missing()) else ""
        for tier in TIERS
    }
    left_out: list[pytest.Item] = []
    for item in list(items):
        tiers = tiers_of(mark.name for mark in item.iter_markers())
        why = [reasons[tier.name] for tier in tiers if reasons[tier.name]]
        if tiers and not _everything(config):
            why = [f"{tiers[0].name} runs with --all"]
        if why:
            config.stash[LEFT_OUT][why[0]] += 1
            left_out.append(item)
    if left_out:
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
        config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[SENT] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist ended; all of them collect the same tests."""
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get(SENT, {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = config.stash[LEFT_OUT]
    if not left_out:
        return
    terminalreporter.section("tiers left out")
    for reason, count in sorted(left_out.items()):
        terminalreporter.line(f"{count:>5} tests: {reason}")


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through it for garbage took a tenth of the time."""
    gc.collect()
    gc.freeze()
