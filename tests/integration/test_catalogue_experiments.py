"""The catalogue, what is expected and the pages of the papers agree with what experiments give."""

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from .quick_runs import FOUND_BY, PAGES, ROOT, kept, quick_run

pytestmark = pytest.mark.experiments

MODULES = list(PAGES)
FIGURES = {
    "heterogeneous": {f"fig-{n}" for n in range(1, 6)},
    "multilevel": {"fig-1", "fig-2", "fig-3", "fig-4", "tab-1"},
    "mappings": {*(f"fig-{n}" for n in range(1, 8)), "tab-1"},
    "dampening": {"fig-1", "fig-2", "fig-3"},
}  # all that the papers have


@pytest.fixture(autouse=True)
def _experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # they are not installed


@pytest.fixture
def catalogue() -> Any:
    return import_module("experiments.catalogue")


def experiment(module: str) -> Any:
    return import_module(f"{module}.__main__").EXPERIMENT


def test_every_figure_and_table_has_an_entry(catalogue: Any) -> None:
    ids = [entry.id for entry in catalogue.ENTRIES]
    assert len(set(ids)) == len(ids)
    for paper, names in FIGURES.items():
        assert {f"{paper}/{name}" for name in names} <= set(ids)
        shown = {i for i in ids if i.startswith(f"{paper}/") and ("/fig-" in i or "/tab-" in i)}
        assert shown == {f"{paper}/{name}" for name in names}
    assert all(bool(entry.module) != bool(entry.not_reproduced) for entry in catalogue.ENTRIES)


def test_entries_name_data_and_experiments_that_exist(catalogue: Any) -> None:
    known = {data.name for data in catalogue.DATA}
    for entry in catalogue.ENTRIES:
        assert set(entry.data) <= known
        assert not entry.module or entry.data
    assert {entry.module for entry in catalogue.ENTRIES} - {""} == set(MODULES)
    assert {work.module: work.page for work in catalogue.EXPERIMENTS} == PAGES
    assert all(data.home for data in catalogue.DATA)


@pytest.mark.parametrize("module", MODULES)
def test_every_entry_is_made_of_something(catalogue: Any, module: str) -> None:
    result = quick_run(module)
    for entry in catalogue.entries_of(module):
        assert entry.rows or entry.parts
        assert result["counts"].get(entry.id, 0) > 0 or not entry.rows, entry.id
        assert all(result[part] for part in entry.parts), entry.id
        points = [point for point in result["checks"] if point["id"] == entry.id]
        assert bool(points) != bool(entry.not_compared), entry.id


@pytest.mark.parametrize("module", MODULES)
def test_every_row_point_and_claim_has_one_place(catalogue: Any, module: str) -> None:
    result = quick_run(module)
    expected = json.loads(experiment(module).expected.read_text())
    keys = {(row["figure"], row["data"]) for row in result["rows"]}
    keys |= {(row[0], row[1]) for size in ("quick", "full") for row in expected[size]}
    for figure, data in keys:
        places = [
            entry.id
            for entry in catalogue.entries_of(module)
            if catalogue.belongs(entry, figure, data)
        ]
        assert len(places) == 1, (figure, data, places)
    for claim in result["verdicts"]:
        assert catalogue.entry(claim["id"]).module == module


def test_a_claim_without_a_place_is_an_error(catalogue: Any) -> None:
    with pytest.raises(LookupError, match="no entry"):
        catalogue.claimed("experiments.mappings", "Nobody said this", "4.9")


def test_data_are_found_or_it_is_said_why(catalogue: Any, tmp_path: Path) -> None:
    entry = catalogue.entry("heterogeneous/fig-1")
    assert [lack.name for lack in catalogue.lacking(entry, None)] == ["movielens-100k", "lastfm-2k"]
    (tmp_path / "lastfm-2k").mkdir()
    (tmp_path / "lastfm-2k" / "user_artists.dat").touch()
    (lack,) = catalogue.lacking(entry, tmp_path)
    assert lack.name == "movielens-100k"
    assert "u.data" in lack.why
    assert catalogue.lacking(catalogue.entry("mappings/fig-3"), None) == []


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("module", MODULES)
def test_a_change_of_a_tenth_is_noticed_at_every_point(module: str, size: str) -> None:
    """The control: tolerances are never so wide that a real change passes."""
    made = experiment(module)
    expected = json.loads(made.expected.read_text())
    names = ("figure", "data", "series", "x", made.value)
    rows = [dict(zip(names, row, strict=True)) for row in expected[size]]
    assert rows
    assert not list(made.unexpected({"size": size, "rows": rows}))
    for factor in (0.9, 1.1):
        moved = [row | {made.value: factor * row[made.value]} for row in rows]
        off = {
            (point.figure, point.data, point.series, point.x)
            for point in made.points({"size": size, "rows": moved})
            if not point.within
        }
        large = {
            (row["figure"], row["data"], row["series"], row["x"])
            for row in rows
            if abs(row[made.value]) > 0.0101
        }
        assert large <= off


@pytest.mark.parametrize("module", MODULES)
def test_a_point_that_is_gone_is_noticed(module: str) -> None:
    made = experiment(module)
    expected = json.loads(made.expected.read_text())
    names = ("figure", "data", "series", "x", made.value)
    rows = [dict(zip(names, row, strict=True)) for row in expected["full"]]
    (gone,) = (p for p in made.points({"size": "full", "rows": rows[1:]}) if not p.within)
    assert gone.got is None
    assert list(gone.plain()) == [*names[:4], "expected", "got", "room", "within"]
    assert not list(made.points({"size": "full", "rows": []}))  # nothing was run


@pytest.mark.parametrize("module", MODULES)
def test_a_figure_that_is_gone_is_noticed(module: str) -> None:
    """Data that are there make the rows of all their figures."""
    made = experiment(module)
    names = ("figure", "data", "series", "x", made.value)
    expected = json.loads(made.expected.read_text())["quick"]
    rows = [dict(zip(names, row, strict=True)) for row in expected]
    figures = {(row["figure"], row["data"]) for row in rows}
    alone = {data for _, data in figures if sum(data == other for _, other in figures) == 1}
    gone = next(pair for pair in sorted(figures) if pair[1] not in alone)
    left = [row for row in rows if (row["figure"], row["data"]) != gone]
    off = [point for point in made.points({"size": "quick", "rows": left}) if not point.within]
    assert len(off) == len(rows) - len(left) > 0
    assert {(point.figure, point.data) for point in off} == {gone}


@pytest.mark.parametrize("module", MODULES)
def test_a_quick_run_has_every_point(module: str) -> None:
    """It needs no data set, so nothing of it can be missing."""
    expected = json.loads(experiment(module).expected.read_text())
    assert len(quick_run(module)["checks"]) == len(expected["quick"])


@pytest.mark.parametrize("module", MODULES)
def test_tolerances_are_tight(module: str) -> None:
    expected = json.loads(experiment(module).expected.read_text())
    assert expected["tolerance"]["others"] == 0.01
    assert max(expected["tolerance"].values()) <= 0.05
    figures = {row[0] for size in ("quick", "full") for row in expected[size]}
    assert set(expected["tolerance"]) - {"others"} <= figures


@pytest.mark.parametrize("module", MODULES)
def test_the_page_has_the_claims_of_the_recorded_run(module: str) -> None:
    harness, record = import_module("experiments.harness"), import_module("experiments.record")
    held = record.read()[module]
    page = (ROOT / "docs" / "papers" / f"{PAGES[module]}.md").read_text()
    assert harness.claims_table(held["verdicts"]) in page


def test_the_overview_is_that_of_the_record(catalogue: Any) -> None:
    overview, record = import_module("experiments.overview"), import_module("experiments.record")
    assert set(record.read()) == set(MODULES)
    assert overview.markdown(record.read()) in overview.INDEX.read_text()
    for module, held in record.read().items():
        for v in held["verdicts"]:
            assert v["id"] == catalogue.claimed(module, v["claim"], v["where"])


def reticent(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reticent", *words],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in FOUND_BY},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_check_tells_what_is_off(tmp_path: Path) -> None:
    quick_run("experiments.heterogeneous")
    good = reticent("reproduce", "check", "heterogeneous", "--quick", "--saved", str(kept()))
    assert good.returncode == 0, good.stderr
    assert good.stdout.count("points within tolerance") == 7
    shutil.copytree(kept() / "heterogeneous", tmp_path / "heterogeneous")
    path = tmp_path / "heterogeneous" / "heterogeneous.json"
    held = json.loads(path.read_text())
    row = next(r for r in held["rows"] if r["figure"] == "5")
    row["value"] *= 1.1
    path.write_text(json.dumps(held))
    off = reticent("reproduce", "check", "heterogeneous", "--quick", "--saved", str(tmp_path))
    assert off.returncode == 1, off.stderr
    assert f"off: 5 / {row['data']} / {row['series']}" in off.stdout
    one = reticent("reproduce", "check", "heterogeneous/fig-1", "--quick", "--saved", str(tmp_path))
    assert one.returncode == 0
    full = reticent("reproduce", "check", "heterogeneous", "--saved", str(tmp_path))
    assert full.returncode == 2
    assert "are of a quick run" in full.stderr


def test_list_is_of_the_whole_catalogue(catalogue: Any) -> None:
    told = json.loads(reticent("reproduce", "list", "--json").stdout)
    assert [entry["id"] for entry in told["entries"]] == [e.id for e in catalogue.ENTRIES]
    assert told["schema"] == "reproduce-list/1"
