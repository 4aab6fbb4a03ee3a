"""Figures are listed, run and checked from a checkout, here a tiny one that stands for it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reticent.cli import reproduce_runs
from reticent.cli.reproduce_runs import find_root

CATALOGUE = """\
import json, sys
from pathlib import Path

data = Path(sys.argv[sys.argv.index("--data") + 1]) if "--data" in sys.argv else None
why = "" if data is not None and (data / "set").is_dir() else "no --data DIR"
lack = [{"name": "set", "why": why, "home": "https://example.org/set"}] if why else []
none = {"rows": [], "parts": [], "data": [], "instead": "", "not_compared": "", "missing": []}


def entry(name, module, **others):
    about = {"id": name, "where": "Figure", "title": f"the {name}", "module": module}
    return none | {"not_reproduced": ""} | about | others


print(json.dumps({
    "schema": "reproductions/1",
    "experiments": [
        {"module": "experiments.one", "page": "one", "paper": "1", "command": "c", "options": [],
         "cpu_seconds": 240.0, "wall_seconds": 300.0, "date": "2026-01-01"},
        {"module": "experiments.two", "page": "two", "paper": "2", "command": "c",
         "options": ["--diffprivlib"], "cpu_seconds": None, "wall_seconds": None, "date": None},
    ],
    "entries": [
        entry("one/fig-1", "experiments.one", missing=lack, instead="another set stands in"),
        entry("one/fig-2", "experiments.one", missing=lack),
        entry("two/fig-1", "experiments.two", parts=["times"], not_compared="times differ"),
        entry("two/tab-1", "", not_reproduced="a drawing"),
    ],
}))
"""
EXPERIMENT = """\
import json, os, sys
from pathlib import Path

here = Path(__file__).parent
with (here / "log").open("a") as log:
    log.write(json.dumps([__spec__.name, *sys.argv[1:]]) + "\\n")
if (here / "broken").exists():
    sys.exit("ModuleNotFoundError: No module named 'sklearn'")
if (here / "slow").exists():
    import time
    (here / "started").touch()
    time.sleep(60)
page = __spec__.name.split(".")[1]
got = float((here / "value").read_text()) if (here / "value").exists() else 0.5


def point(name, x, value):
    within = abs(value - 0.5) <= 0.01
    return {"figure": "f", "data": "d", "series": "s", "x": x, "expected": 0.5, "got": value,
            "room": 0.01, "within": within, "id": name}


checks = [point("one/fig-1", "1", 0.5), point("one/fig-1", "2", got), point("one/fig-2", "1", 0.5)]
claims = [{"claim": "It is so", "where": "Fig. 1", "paper": "5", "ours": "4.9", "verdict": "holds",
           "id": f"{page}/fig-1"}]
result = {
    "checks": checks if page == "one" else [],
    "counts": {"one/fig-1": 2, "one/fig-2": 1} if page == "one" else {},
    "verdicts": claims,
    "run": {"cpu_seconds": 41.2},
    "skipped": ["set: gone"] if (here / "gone").exists() else [],
    "environment": [n for n in ("RETICENT_DATA", "RETICENT_DIFFPRIVLIB") if n in os.environ],
}
print(json.dumps(result))
sys.exit(0 if all(p["within"] for p in result["checks"]) else 1)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RETICENT_DATA", "RETICENT_DIFFPRIVLIB"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "checkout"
    (folder / "experiments").mkdir(parents=True)
    (folder / "experiments" / "__init__.py").touch()
    (folder / "experiments" / "catalogue.py").write_text(CATALOGUE)
    for name in ("one", "two"):
        (folder / "experiments" / f"{name}.py").write_text(EXPERIMENT)
    monkeypatch.chdir(folder)
    return folder


def runs(root: Path) -> list[list[str]]:
    """What was started, with its options."""
    log = root / "experiments" / "log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_everything_is_listed_with_what_is_missing(root, cli, tmp_path) -> None:
    told = cli("reproduce", "list")
    assert (told.code, told.err) == (0, "")
    for part in ("one/fig-1", "missing: set", "4 min", "docs/papers/two.md", "a drawing"):
        assert part in told.out
    assert "https://example.org/set" in told.out
    assert "another set stands in" in told.out
    (tmp_path / "data" / "set").mkdir(parents=True)
    found = cli("reproduce", "list", "--data", tmp_path / "data", "--json")
    assert found.json["schema"] == "reproduce-list/1"
    assert [entry["missing"] for entry in found.json["entries"]] == [[], [], [], []]
    assert runs(root) == []


def test_the_folder_of_the_environment_is_used_in_full_runs_only(
    root, cli, tmp_path, monkeypatch
) -> None:
    (tmp_path / "data" / "set").mkdir(parents=True)
    monkeypatch.setenv("RETICENT_DATA", str(tmp_path / "data"))
    cli("reproduce", "run", "one")
    cli("reproduce", "run", "one", "--quick")
    assert [("--data" in words, "--quick" in words) for words in runs(root)] == [
        (True, False),
        (False, True),
    ]


def test_entries_of_one_experiment_share_a_run(root, cli) -> None:
    told = cli("reproduce", "run", "one/fig-1", "one/fig-2", "--quick")
    assert told.code == 0
    assert len(runs(root)) == 1
    assert runs(root)[0][0] == "experiments.one"
    assert "paper: 5; here: 4.9" in told.out
    assert "claims: 1 holds" in told.out
    assert told.err == "1 of 1: experiments.one\n"


@pytest.mark.parametrize(
    ("names", "modules"),
    [
        ([], ["one", "two"]),
        (["two"], ["two"]),
        (["fig-2"], ["one"]),
        (["two/fig-1", "one/fig-2"], ["one", "two"]),
        (["tab-1"], []),
    ],
)
def test_only_what_is_needed_is_run(root, cli, names, modules) -> None:
    assert cli("reproduce", "check", *names, "--quick").code == 0
    assert [words[0].split(".")[1] for words in runs(root)] == modules


def test_what_is_not_reproduced_says_why(root, cli) -> None:
    told = cli("reproduce", "run", "two/tab-1")
    assert told.code == 0
    assert "two/tab-1 is not reproduced: a drawing" in told.err


def test_names_that_are_none_or_several_are_refused(root, cli) -> None:
    none = cli("reproduce", "check", "fig-9")
    assert none.code == 2
    assert "next: reticent reproduce list" in none.err
    several = cli("reproduce", "check", "fig-1")
    assert several.code == 2
    assert "it could be one/fig-1, two/fig-1" in several.err
    assert runs(root) == []


def test_a_check_counts_points(root, cli) -> None:
    told = cli("reproduce", "check", "--quick")
    assert told.code == 0
    first, second, third, last = told.out.splitlines()
    assert "2 of 2 points within tolerance" in first
    assert first.endswith("41 s")
    assert second.endswith("same run")
    assert "no point compared: times differ" in third
    assert last == "3 of 3 points within tolerance"


def test_a_point_that_is_off_is_named(root, cli) -> None:
    (root / "experiments" / "value").write_text("0.55")
    told = cli("reproduce", "check", "--quick")
    assert told.code == 1
    assert "1 of 2 points within tolerance  (largest gap 0.05 at f / d / s / 2)" in told.out
    assert "off: f / d / s / 2: expected 0.5, got 0.55" in told.out
    data = cli("reproduce", "check", "--quick", "--json")
    assert (data.code, data.json["good"]) == (1, False)
    assert [len(entry["off"]) for entry in data.json["entries"]] == [1, 0, 0]
    assert cli("reproduce", "check", "one/fig-2", "--quick").code == 0
    assert cli("reproduce", "run", "--quick").code == 0  # shows, does not judge


def test_results_are_kept_and_taken_by_experiment(root, cli, tmp_path) -> None:
    cli("reproduce", "run", "--quick", "--out", tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    cli("reproduce", "run", "--quick", "--saved", tmp_path / "kept")
    folders = [
        words[words.index(option) + 1]
        for words, option in zip(runs(root), ("--out", "--out", "--saved", "--saved"), strict=True)
    ]
    assert folders == [str(tmp_path / "kept" / page) for page in ("one", "two", "one", "two")]
    assert cli("reproduce", "run", "--saved", tmp_path / "nowhere").code == 2


def test_a_record_needs_a_full_run_and_all_data(root, cli, tmp_path) -> None:
    assert "a quick run is not recorded" in cli("reproduce", "run", "--quick", "--record").err
    lacking = cli("reproduce", "run", "--record")
    assert lacking.code == 2
    assert "set: no --data DIR" in lacking.err
    assert "diffprivlib: no --diffprivlib PYTHON" in lacking.err
    assert runs(root) == []
    (tmp_path / "data" / "set").mkdir(parents=True)
    data = ("--data", tmp_path / "data")
    made = cli("reproduce", "run", "--record", *data, "--diffprivlib", "/some/python")
    assert made.code == 0
    one, two = runs(root)
    assert "--no-docs" not in one
    assert "--diffprivlib" not in one
    assert two[-2:] == ["--diffprivlib", "/some/python"]
    assert "recorded in docs/papers/one.md" in made.err
    cli("reproduce", "run", "one", *data)
    assert "--no-docs" in runs(root)[-1]


def test_a_record_that_was_not_made_is_said(root, cli, tmp_path) -> None:
    (tmp_path / "data" / "set").mkdir(parents=True)
    (root / "experiments" / "gone").touch()
    told = cli("reproduce", "run", "one", "--record", "--data", tmp_path / "data")
    assert told.code == 1
    assert "not recorded: experiments.one: set: gone" in told.err


def test_an_experiment_that_does_not_finish_is_a_failure(root, cli) -> None:
    (root / "experiments" / "broken").touch()
    told = cli("reproduce", "check", "--quick")
    assert (told.code, told.out) == (2, "")
    assert "experiments.one did not finish" in told.err
    assert "pip install 'reticent[experiments]'" in told.err


def test_experiments_get_no_folder_but_by_option(root, cli, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RETICENT_DATA", str(tmp_path))
    monkeypatch.setenv("RETICENT_DIFFPRIVLIB", "/some/python")
    cli("reproduce", "run", "--quick")
    assert all("--data" not in words and "--diffprivlib" not in words for words in runs(root))


def test_the_checkout_is_found(root, monkeypatch, tmp_path) -> None:
    (root / "docs" / "papers").mkdir(parents=True)
    monkeypatch.chdir(root / "docs" / "papers")
    assert find_root(None) == root
    monkeypatch.chdir(tmp_path)
    assert find_root(root) == root
    checkout = Path(__file__).parents[3]
    if Path(reproduce_runs.__file__).is_relative_to(checkout / "src"):  # installed to be edited
        assert find_root(None) == checkout


def test_without_a_checkout_it_is_said_how_to_get_one(root, cli, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproduce_runs, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    told = cli("reproduce", "list")
    assert told.code == 2
    assert "part of the repository" in told.err
    assert "--root DIR" in told.err
    assert cli("reproduce", "list", "--root", tmp_path).code == 2
    assert cli("reproduce", "list", "--root", root).code == 0


def heed_interrupts() -> None:
    """Even where these tests run in the background of a shell, which ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_it_and_the_experiment(root) -> None:
    (root / "experiments" / "slow").touch()
    started = subprocess.Popen(
        [sys.executable, "-m", "reticent", "reproduce", "check", "--quick"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    ends = time.monotonic() + 60
    while not (root / "experiments" / "started").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)  # to the command alone: it ends the experiment
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    assert len(runs(root)) == 1
