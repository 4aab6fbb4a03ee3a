"""The query that CONTRIBUTING.md builds, word for word: found, planned, released and checked."""

import csv
import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.queries import publish, registry
from reticent.queries.card_checks import recomputed
from reticent.queries.cells import NO_WORLDS, cells

PAGE = Path(__file__).parents[3] / "CONTRIBUTING.md"
SAID = ["yes"] * 90 + ["no"] * 9


def examples() -> list[doctest.Example]:
    section = PAGE.read_text(encoding="utf-8").split("## Add a query")[1].split("\n## ")[0]
    code = section.split("```python\n")[1].split("```")[0]
    return doctest.DocTestParser().get_examples(code)


@pytest.fixture
def favourite(monkeypatch):
    """The class, registered as the page does it."""
    monkeypatch.setattr(registry, "_added", {})
    registry.queries.cache_clear()
    names: dict = {"__name__": "a package of one's own"}
    for example in examples():
        mode = "single" if example.want else "exec"
        exec(compile(example.source, "CONTRIBUTING.md", mode), names)
    yield names["Favourite"]
    registry.queries.cache_clear()


@pytest.fixture
def files(tmp_path, monkeypatch) -> dict[str, Path]:
    monkeypatch.chdir(tmp_path)
    found = {}
    for name, head, told in (
        ("table", "answer", SAID),
        ("answers", "name", ["yes", "no", "perhaps"]),
    ):
        found[name] = tmp_path / f"{name}.csv"
        with found[name].open("w", newline="") as file:
            csv.writer(file).writerows([[head], *([cell] for cell in told)])
    return found


def test_it_is_one_of_the_kinds(favourite) -> None:
    assert registry.query_of("favourite") is favourite
    told = cells(favourite)
    assert told["about"] == "The answer that is given most often."
    assert told["verbs"]["release"] is told["surfaces"]["Python"] is True
    assert told["verbs"]["verify"] == NO_WORLDS


def test_it_is_planned_released_charged_and_verified(favourite, files) -> None:
    query = favourite(epsilon=9)
    assert query.plan({"answers": files["answers"]}).epsilon == "9"
    given = {"ledger": "l.db", "data_set": "x", "total": 12}
    first = query.release(files, key="1", **given)
    again = query.release(files, key="1", **given)
    assert (first.value, first.spent, again.replayed) == ("yes", "9", True)
    assert publish.as_json(first) == publish.as_json(again)
    assert recomputed(first.card) == []
    with pytest.raises(rt.BudgetExceeded):
        query.release(files, **given)


def test_a_kind_is_registered_once(favourite) -> None:
    for wrong in (favourite, rt.Quantile, int):
        with pytest.raises(ParameterError, match="a subclass of Query, of a new kind"):
            rt.register(wrong)


def test_what_is_registered_ends_with_the_process() -> None:
    assert "favourite" not in registry.queries()


@pytest.mark.processes
def test_a_package_of_its_own_makes_it_a_command(files, tmp_path) -> None:
    """Installed as any package is: a module, and an entry point that names the class."""
    own, said = tmp_path / "own", tmp_path / "own" / "favourites-1.0.dist-info"
    said.mkdir(parents=True)
    declared = [one.source for one in examples() if not one.want and "rt." not in one.source]
    (own / "favourites.py").write_text("".join(declared))
    (said / "METADATA").write_text("Metadata-Version: 2.1\nName: favourites\nVersion: 1.0\n")
    points = "[reticent.queries]\nfavourite = favourites:Favourite\n"
    (said / "entry_points.txt").write_text(points)
    environment = {**os.environ, "PYTHONPATH": str(own)}

    def ran(*words: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "reticent", *map(str, words)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    kinds = json.loads(ran("queries", "--json").stdout)["queries"]
    assert kinds[-1]["query"] == "favourite"
    assert kinds[-1]["surfaces"]["shell"] is True
    assert "The answer that is given most often." in ran("release", "favourite", "--help").stdout
    planned = ran("plan", "favourite", "--epsilon", "9", files["answers"], "--json")
    assert json.loads(planned.stdout)["epsilon"] == "9"
    words = ("release", "favourite", files["table"], files["answers"], "--epsilon", "9", "--yes")
    ended = ran(*words, "--total", "12", "--card", "card.json", "--json")
    assert json.loads(ended.stdout)["value"] == "yes", ended.stderr
    assert ran("card", "verify", "card.json").returncode == 0
    refused = ran(*words, "--total", "12")
    assert (refused.returncode, refused.stdout) == (3, "")
