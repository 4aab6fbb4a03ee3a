"""The reproductions run from a shell, small, without any data but what they make themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if k != "RETICENT_DATA"}
    return subprocess.run(
        [sys.executable, "-m", "experiments.heterogeneous", *arguments],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("out")
    done = run("--quick", "--json", "--out", str(out))
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert json.loads((out / "heterogeneous.json").read_text()) == printed
    return printed


def test_what_is_not_there_is_skipped_with_a_reason(quick: dict) -> None:
    assert quick["data"] == ["made dense", "made sparse"]
    assert len(quick["skipped"]) == 2
    assert all("RETICENT_DATA is not set" in reason for reason in quick["skipped"])


def test_every_figure_is_there(quick: dict) -> None:
    assert {"1", "2", "3", "4", "5", "recall", "NDCG@20"} <= {r["figure"] for r in quick["rows"]}
    assert all(0 <= row["value"] <= 1 for row in quick["rows"])
    assert {v["protocol"] for v in quick["verdicts"]} == {"paper", "ours"}


def test_the_known_ends_are_in_order(quick: dict) -> None:
    held = {(r["figure"], r["data"], r["series"]): r["value"] for r in quick["rows"] if not r["x"]}
    for measure in ("recall@20", "NDCG@20"):
        exact = held[measure, "made dense", "no privacy: all pairs"]
        assert exact > held[measure, "made dense", "random"]


def test_a_total_is_what_the_paper_leaves_out(quick: dict) -> None:
    for cost in quick["costs"]:
        assert cost["promised"] == pytest.approx(cost["epsilon"] * cost["contacts"])
        assert cost["contacts"] > 60  # of 119: far more than the 1 to 3 per round of the paper
        assert cost["realised"] <= cost["promised"]


@pytest.fixture
def _experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # they are not installed


@pytest.mark.usefixtures("_experiments")
def test_a_folder_without_the_sets_is_explained(tmp_path: Path) -> None:
    from experiments.heterogeneous.datasets import load

    made, skipped = load(tmp_path, quick=True)
    assert [data.name for data in made] == ["made dense", "made sparse"]
    assert all("download" in reason for reason in skipped)


@pytest.mark.usefixtures("_experiments")
def test_a_changed_figure_is_noticed() -> None:
    from experiments.heterogeneous.__main__ import EXPECTED, unexpected

    expected = json.loads(EXPECTED.read_text())
    names = ("figure", "data", "series", "x", "value")
    rows = [dict(zip(names, row, strict=True)) for row in expected["rows"]]
    result = {"data": sorted({row["data"] for row in rows}), "rows": rows}
    assert not list(unexpected(result))
    rows[0]["value"] += 2 * expected["tolerance"]
    assert len(list(unexpected(result))) == 1
