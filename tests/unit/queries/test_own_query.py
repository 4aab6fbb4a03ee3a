"""The query that CONTRIBUTING.md builds, word for word: found, planned, released and checked."""

import csv
import doctest
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.queries import publish, registry
from reticent.queries.base import Public
from reticent.queries.card_checks import recomputed
from reticent.queries.cells import cells
from reticent.queries.options import BUDGET, option

PAGE = Path(__file__).parents[3] / "CONTRIBUTING.md"
LINES = [("person", "item", "weight"), ("ann", "Heat", 1), ("ann", "Up", 0.5), ("bob", "Up", 1)]


def examples() -> list[doctest.Example]:
    section = PAGE.read_text(encoding="utf-8").split("## Add a query")[1].split("\n## ")[0]
    code = section.split("```python\n")[1].split("```")[0]
    return doctest.DocTestParser().get_examples(code)


@pytest.fixture
def coverage(monkeypatch):
    """The class, registered as the page does it."""
    monkeypatch.setattr(registry, "_added", {})
    registry.queries.cache_clear()
    names: dict = {"__name__": "a package of one's own"}
    for example in examples():
        mode = "single" if example.want else "exec"
        exec(compile(example.source, "CONTRIBUTING.md", mode), names)
    yield names["Coverage"]
    registry.queries.cache_clear()


@pytest.fixture
def club(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "club.csv").open("w", newline="") as file:
        csv.writer(file).writerows(LINES)
    return tmp_path / "club.csv"


def test_it_is_one_of_the_kinds(coverage) -> None:
    assert registry.query_of("coverage") is coverage
    told = cells(coverage)
    assert told["about"] == "How much of the catalogue each person has."
    assert told["verbs"]["release"] is told["surfaces"]["Python"] is True
    assert told["verbs"]["verify"] is True


def test_it_is_planned_released_charged_and_verified(coverage, club) -> None:
    query = coverage(epsilon=9, size=40)
    assert query.plan().epsilon == "9"
    given = {"ledger": "l.db", "total": 12}
    first = query.release(club, key="1", **given)
    again = query.release(club, key="1", **given)
    assert (list(first.value), first.spent, again.replayed) == (["ann", "bob"], "9", True)
    assert publish.as_json(first) == publish.as_json(again)
    assert recomputed(first.card) == []
    with pytest.raises(rt.BudgetExceeded):
        query.release(club, **given)


def test_a_folder_of_any_size_has_the_same_answer(coverage, club) -> None:
    query, source = coverage(epsilon=4, size=10), Source.seeded(3)
    alone = query.release(club, source=source)
    folder = query.release(club, source=source, out="shares.parquet", ledger="l.db", key="1")
    rows = parquet.read_table(folder.value.path).to_pylist()
    assert {one["person"]: one["share"] for one in rows} == alone.value
    assert (folder.spent, folder.card.promise) == ("4", alone.card.promise)


def test_it_is_tried_as_ours_are(coverage) -> None:
    query = coverage(epsilon=1, size=10)
    assert query.verify(draws=2000, source=Source.seeded(1)).refuted == ()
    assert query.audit(draws=2000, source=Source.seeded(1)).passed


def test_what_is_released_is_the_share_with_noise_of_its_scale(coverage, club) -> None:
    query = coverage(epsilon=4, size=10)
    drawn = [query.release(club, source=Source.seeded(seed)).value for seed in range(400)]
    for name, share in (("ann", 0.15), ("bob", 0.1)):
        values = np.array([one[name] for one in drawn])
        assert abs(values.mean() - share) < 5 * values.std() / 20
        assert np.abs(values - share).mean() == pytest.approx(1 / 40, rel=0.25)  # S / epsilon


def test_what_cannot_be_a_query_is_refused_with_what_it_lacks(coverage) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Plain(coverage):
        kind = "plain"
        letter: str = "H"

    @dataclass(frozen=True, kw_only=True)
    class Taken(coverage):
        kind = "taken"
        key: Any = option("One.", BUDGET)  # noqa: RUF009

    class Bare(coverage):
        kind = "bare"
        letter: Any = option("One.", BUDGET)

    wrong = {
        int: "a subclass of Query",
        rt.Quantile: "there is a query of this kind",
        type("Odd", (coverage,), {"kind": "No kind"}): "small letters",
        Plain: r"option\(\) makes",
        Taken: "no surface has taken",
        Bare: "made by @dataclass",
    }
    for made, rule in wrong.items():
        with pytest.raises(ParameterError, match=rule):
            rt.register(made)
    assert rt.register(coverage) is coverage  # a cell of a notebook may be run again


@pytest.mark.parametrize("loads", ["nosuch:X", "builtins:int"])
def test_a_broken_package_stops_nobody_else(loads, monkeypatch) -> None:
    point = EntryPoint("own", loads, registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    registry.queries.cache_clear()
    with pytest.warns(RuntimeWarning, match="a package adds no query 'own'"):
        assert list(registry.queries()) == list(registry.OWN)
    registry.queries.cache_clear()


@pytest.mark.parametrize("made", [[0.5], [0.5, 0.5, 0.5], [(1, 2), (1, 2)], iter([0.5, 0.5])])
def test_a_draw_of_another_form_is_refused_and_can_be_mended(coverage, club, made) -> None:
    """Charged once, and nothing kept that could not be shown: the same key draws again."""
    query, given = coverage(epsilon=1, size=4), {"ledger": "l.db", "key": "1", "total": 1}
    terms = type(query.terms(Public()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "release", lambda self, profiles, source: made)
        with pytest.raises(ParameterError, match="draw must be"):
            query.release(club, **given)
    assert list(query.release(club, **given).value) == ["ann", "bob"]


def test_cells_of_another_type_are_not_part_of_an_error(coverage, club) -> None:
    query = coverage(epsilon=1, size=4)
    terms = type(query.terms(Public()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "release", lambda self, profiles, source: ["canary"] * len(profiles))
        with pytest.raises(ParameterError, match="types") as refused:
            query.release(club, out="x.parquet")
    assert "canary" not in str(refused.value)


def test_worlds_in_which_nothing_differs_verify_nothing(coverage) -> None:
    """Without noise, and blind to what differs: it would pass whatever it does."""
    query = coverage(epsilon=1, size=4)
    terms = type(query.terms(Public()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "release", lambda self, profiles, source: [0.0] * len(profiles))
        with pytest.raises(ParameterError, match="worlds"):
            query.verify(draws=200)


def test_what_is_registered_ends_with_the_process() -> None:
    assert "coverage" not in registry.queries()


@pytest.mark.processes
def test_a_package_of_its_own_makes_it_a_command(club, tmp_path) -> None:
    """Installed as any package is: a module, and an entry point that names the class."""
    own, said = tmp_path / "own", tmp_path / "own" / "covering-1.0.dist-info"
    said.mkdir(parents=True)
    declared = [one.source for one in examples() if not one.want and "rt." not in one.source]
    declared = [one for one in declared if "Coverage(epsilon=2" not in one and "query." not in one]
    (own / "covering.py").write_text("".join(declared))
    (said / "METADATA").write_text("Metadata-Version: 2.1\nName: covering\nVersion: 1.0\n")
    points = "[reticent.queries]\ncoverage = covering:Coverage\n"
    (said / "entry_points.txt").write_text(points)
    environment = {**os.environ, "PYTHONPATH": str(own)}

    def ran(*words: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "reticent", *map(str, words)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    kinds = json.loads(ran("queries", "--json").stdout)["queries"]
    assert kinds[-1]["query"] == "coverage"
    assert kinds[-1]["surfaces"]["shell"] is True
    about = "How much of the catalogue each person has."
    assert about in ran("release", "coverage", "--help").stdout
    options = ("--epsilon", "9", "--size", "40")
    assert json.loads(ran("plan", "coverage", *options, "--json").stdout)["epsilon"] == "9"
    words = ("release", "coverage", club, *options, "--yes", "--total", "12")
    ended = ran(*words, "--card", "card.json", "--json")
    assert list(json.loads(ended.stdout)["value"]) == ["ann", "bob"], ended.stderr
    assert ran("card", "verify", "card.json").returncode == 0
    refused = ran(*words)
    assert (refused.returncode, refused.stdout) == (3, "")
