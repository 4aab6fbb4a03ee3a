"""The command as a process: codes, streams, signals, start-up cost, and pages that stay current."""

import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

from reticent.cli import main
from reticent.queries.registry import queries
from tests.unit.cli.conftest import invoke

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command-line.md"
ALIKE = {"sweep": "tree", "verify": "histogram", "audit": "histogram"}
"""Verbs whose commands differ by the options of the query only, and the one that is shown."""
HEAVY = {"numpy", "scipy", "numba", "matplotlib", "fastapi", "pydantic", "cryptography", "rich"}
CANARY = "canary-6650"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "reticent", *map(str, arguments)]


def reticent(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        **options,
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[Path, Any]:
    """Where a demonstration left its files, and what it printed."""
    folder = tmp_path_factory.mktemp("tour")
    ended = reticent("demo", "--fast", "--json", cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    return folder, json.loads(ended.stdout)


@pytest.fixture(scope="module")
def cards(demo) -> Path:
    return demo[0] / "reticent-demo"


def test_help_imports_nothing_heavy() -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reticent", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.split("|")[-1].strip().split(".")[0] for line in ended.stderr.splitlines()}
    assert "typer" in imported
    assert not imported & HEAVY


def cpu_seconds(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.timing
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["card", "show", "--help"]])
def test_small_answers_are_quick(arguments) -> None:
    def work() -> None:
        assert reticent(*arguments).returncode == 0

    assert min(cpu_seconds(work) for _ in range(3)) < 0.6


def importing(code: str) -> float:
    command = [sys.executable, "-c", code]
    return min(cpu_seconds(lambda: subprocess.run(command, check=True)) for _ in range(10))


@pytest.mark.timing
def test_the_command_line_is_imported_quickly() -> None:
    assert importing("import reticent.cli.main") - importing("pass") < 0.15


def test_a_command_imports_its_own_module_and_no_other() -> None:
    code = (
        "import sys\nfrom reticent.cli.main import COMMANDS, run\n"
        "def loaded():\n    return {e.where.split('.')[0] for e in COMMANDS.entries.values()} "
        "& {n.removeprefix('reticent.cli.') for n in sys.modules}\n"
        "print(*loaded())\n"
        "try:\n    run(['ledger', 'show', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(*loaded())\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = ended.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("", "ledger")


@pytest.mark.processes
def test_the_script_is_installed() -> None:
    script = Path(sys.executable).with_name("reticent")
    ended = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout == reticent("--version").stdout


@pytest.mark.processes
@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["doctor", "--json"], "doctor/1"),
        (["card", "verify", "percentile.json", "tree.json", "--json"], "card-verify/1"),
        (["card", "show", "percentile.json", "--json"], "guarantee-card/1"),
        (["card", "show", "percentile.json", "--format", "json"], "guarantee-card/1"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
def test_json_is_one_object_on_stdout(cards, arguments, schema) -> None:
    ended = reticent(*arguments, cwd=cards)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["schema"] == schema


@pytest.mark.processes
def test_demo_as_json(demo) -> None:
    folder, printed = demo
    assert printed["schema"] == "demo/1"
    assert sorted(printed["files"]) == sorted(map(str, cards_in(folder)))


def cards_in(folder: Path) -> list[Path]:
    found = (f for f in (folder / "reticent-demo").rglob("*") if f.is_file())
    return [f.relative_to(folder) for f in found if not f.name.startswith("ledger.db")]


@pytest.mark.processes
def test_talk_stays_off_stdout(cards) -> None:
    ended = reticent("card", "verify", "percentile.json", cwd=cards)
    assert ended.stdout == "holds   percentile.json  The age that 90 in 100 are below\n"
    assert ended.stderr.startswith("recomputed: ")


@pytest.mark.processes
def test_a_changed_card_is_found(cards, tmp_path) -> None:
    text = (cards / "percentile.json").read_text(encoding="utf-8")
    changed = tmp_path / "changed.json"
    changed.write_text(text.replace("that 90 in 100", "that 10 in 100"), encoding="utf-8")
    assert reticent("card", "verify", changed).returncode == 1
    assert invoke("card", "show", changed).code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["dmeo"],
        ["card", "show"],
        ["card", "show", "none.json"],
        ["card", "show", "."],
        ["card", "show", "canary.json"],
        ["card", "verify", "canary.json"],
        ["card", "show", "canary.json", "--format", "xml"],
        ["doctor", "--nothing"],
        ["demo", "--directory", "canary.json"],
        ["demo", "--directory", "."],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_a_sentence(tmp_path, arguments, monkeypatch) -> None:
    (tmp_path / "canary.json").write_text(f'{{"title": "{CANARY}"}}')
    monkeypatch.chdir(tmp_path)
    ended = invoke(*arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert CANARY not in ended.out + ended.err
    if "verify" not in arguments:
        assert ended.out == ""
        assert ended.err.startswith("error: ")
        assert "\n  next: reticent" in ended.err


def next_commands(text: str) -> list[list[str]]:
    lines = (line.strip() for line in text.splitlines())
    return [line.split()[2:] for line in lines if line.startswith("next: reticent")]


@pytest.mark.parametrize("arguments", [["dmeo"], ["card", "shwo"], ["card", "show", "empty.json"]])
def test_the_next_command_works(tmp_path, arguments, monkeypatch) -> None:
    (tmp_path / "empty.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    (following,) = next_commands(invoke(*arguments).err)
    assert invoke(*following).code == 0


@pytest.mark.processes
def test_debug_shows_a_traceback_and_keeps_the_code() -> None:
    ended = reticent("--debug", "card", "show", "none.json")
    assert ended.returncode == 2
    assert "Traceback" in ended.stderr


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
def test_an_interrupt_is_one_line_and_130(tmp_path) -> None:
    pipe = tmp_path / "card.json"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        command("card", "show", pipe),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # whoever runs the tests in the background may have told their children to ignore it
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    with pipe.open("wb"):  # returns when the command has opened it too
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="pipes close differently")
@pytest.mark.parametrize("arguments", [["card", "schema"], ["--help"]], ids=" ".join)
def test_a_closed_pipe_is_quiet(arguments) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(command(*arguments), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.processes
def test_output_is_utf_8_whatever_the_locale(cards) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ended = reticent("card", "show", "percentile.json", cwd=cards, env=environment)
    assert ended.returncode == 0
    assert "ε = 0.1" in ended.stdout


def generator():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_files_are_current() -> None:
    generate = generator()
    stale = generate.stale()
    assert [path for path in stale if path != PAGE] == [], "run python docs/generate.py"
    reference = (ROOT / "docs/reference/mechanisms.md").read_text(encoding="utf-8")
    assert "class DiscreteLaplace(Mechanism" in reference
    if generate.typer_differs():
        pytest.skip("docs/command-line.md was laid out by another version of Typer")
    assert stale == [], "run python docs/generate.py"


def test_a_stale_page_would_be_found() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert generator().page(text.replace("--directory", "--folder")) != text.replace(
        "--directory", "--folder"
    )


def command_paths(command, path: str = "") -> Iterator[str]:
    yield path
    for name, part in getattr(command, "commands", {}).items():
        yield from command_paths(part, f"{path} {name}")


def test_every_command_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    paths = set(command_paths(typer.main.get_command(main.app)))
    assert {"", " release neighbours", " release similarity", " card show"} <= paths
    for path in paths:
        verb, _, kind = path.strip().partition(" ")
        if verb in ALIKE and kind in queries() and kind != ALIKE[verb]:
            continue  # made alike from the query's declaration: the page shows one of them
        assert f"<!-- help: reticent{path} -->" in text
