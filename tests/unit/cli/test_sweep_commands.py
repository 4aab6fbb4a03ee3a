"""``reticent sweep``: one way over budgets, the same figures as in comparisons and plans."""

import math
import re
import shlex
from xml.etree import ElementTree

import pytest

from reticent.tasks.comparing_histogram import WAYS

from .compared_data import QUICK, SECRET, flag, set_out

DRAWN = ("--seed", "3")
SWEEPS = {
    "histogram": ("sweep", *QUICK["histogram"][1:]),
    "similarity": ("sweep", "similarity"),
    "mapping": ("sweep", *QUICK["mapping"][1:], "--public-data"),
    "top-nodes": ("sweep", *QUICK["top-nodes"][1:], "--public", *DRAWN),
    "percentile": ("sweep", *QUICK["percentile"][1:], "--public"),
    "tree": ("sweep", *QUICK["tree"][1:], "--depths", "1,2", "--public", *DRAWN),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    return set_out(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", SWEEPS)
def test_the_one_form_as_json(cli, name) -> None:
    ended = cli(*SWEEPS[name], "--json")
    assert (ended.code, ended.err) == (0, "")
    told = ended.json
    assert told["schema"] == f"sweep-{name}/1"
    ways = {row["way"] for row in told["rows"]}
    assert len(ways) == (3 if name == "tree" else 1)
    assert cli(*SWEEPS[name], "--json").out == ended.out
    for row in told["rows"]:
        assert {"way", "x", "value", "low", "high"} <= set(row)


@pytest.mark.parametrize("name", SWEEPS)
def test_the_table(cli, name) -> None:
    told, ended = cli(*SWEEPS[name], "--json").json, cli(*SWEEPS[name])
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[2].split()[0] == told["x"]
    shown = [line.split()[0] for line in lines[4:]]
    assert shown == [f"{x:.4g}" for x in sorted({row["x"] for row in told["rows"]})]
    first = re.split(r" {2,}", lines[4].strip())[1].split()[0]
    scale = 100 if name in ("top-nodes", "tree") else 1
    at = min(row["x"] for row in told["rows"])
    value = next(row["value"] for row in told["rows"] if row["x"] == at)
    assert float(first.replace(",", "")) == pytest.approx(scale * value, rel=1e-3, abs=0.5)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("histogram", "shared-at-best"),
        ("mapping", "least-leak"),
        ("top-nodes", "adaptive"),
        ("percentile", "shifted"),
    ],
)
def test_a_sweep_is_one_way_of_the_comparison(cli, name, way) -> None:
    swept = cli(*SWEEPS[name], "--json").json
    compared = cli("compare", *SWEEPS[name][1:], "--json").json
    assert swept["rows"] == [row for row in compared["rows"] if row["way"] == way]
    for field in ("what", "x", "y", "better", "reference", "runs"):
        assert swept[field] == compared[field]


@pytest.mark.parametrize("epsilon", ["0.01", "0.06", "0.3"])
def test_a_histogram_is_the_plan_at_each_budget(cli, here, epsilon) -> None:
    swept = cli(*SWEEPS["histogram"], "--epsilon", epsilon, "--json").json
    text = (here / "preferences.toml").read_text(encoding="utf-8")
    (here / "preferences.toml").write_text(text.replace("0.06", epsilon), encoding="utf-8")
    planned = cli("plan", "histogram", "films.csv", "--provider", "club.example", "--json").json
    assert swept["rows"][0]["value"] == pytest.approx(planned["mean_error"], rel=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_other_ways_to_share(cli, way) -> None:
    swept = cli(*SWEEPS["histogram"], "--method", way, "--json").json
    assert {row["way"] for row in swept["rows"]} == {way}


def test_similarity_reads_nothing(cli) -> None:
    ended = cli("sweep", "similarity", "--epsilon", "1,2", "--measure", "overlap")
    assert "no private data were read" in ended.err
    rows = cli("sweep", "similarity", "--epsilon", "1,2", "--measure", "overlap", "--json").json
    assert [row["value"] for row in rows["rows"]] == pytest.approx([1, 0.5])
    usual = cli("sweep", "similarity", "--json").json["rows"]
    assert len(usual) == 9
    assert usual[0]["value"] == pytest.approx(4 / 3 / 0.01)  # sizes take a quarter
    assert all(math.isclose(row["value"] * row["x"], 4 / 3, rel_tol=1e-6) for row in usual)


def test_errors_fall_with_the_budget(cli) -> None:
    for name in ("histogram", "similarity", "percentile"):
        values = [row["value"] for row in cli(*SWEEPS[name], "--json").json["rows"]]
        assert values == sorted(values, reverse=True)


def test_depths_of_a_tree(cli) -> None:
    told = cli(*SWEEPS["tree"], "--json").json
    assert {row["way"] for row in told["rows"]} == {"depth 1", "depth 2", "depth by budget"}
    found = {(row["way"], row["x"]): row["value"] for row in told["rows"]}
    assert found["depth 2", 1000] > told["majority"]
    other = cli(*SWEEPS["tree"], "--method", "multiway-shifted", "--json")
    assert other.code == 0, other.err


@pytest.mark.parametrize("name", ["mapping", "top-nodes", "percentile", "tree"])
def test_data_that_nobody_called_public_are_refused(cli, name) -> None:
    words = [word for word in SWEEPS[name] if word != flag(name)]
    ended = cli(*words)
    assert (ended.code, ended.out) == (2, "")
    assert f"a sweep needs {flag(name)}\n" in ended.err
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    assert cli(*shlex.split(line.partition("next: reticent ")[2])).code == 0


@pytest.mark.figures
@pytest.mark.parametrize("name", SWEEPS)
def test_a_plot(cli, here, name) -> None:
    ended = cli(*SWEEPS[name], "--plot", "curve.svg")
    assert ended.code == 0, ended.err
    root = ElementTree.fromstring((here / "curve.svg").read_text(encoding="utf-8"))
    assert root.get("role") == "img"
    assert root.get("aria-label")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*SWEEPS["histogram"], "--epsilon", "1:10"), "--epsilon must be a range or a list"),
        ((*SWEEPS["histogram"], "--epsilon", "10:1:log"), "from less to more"),
        (("sweep", "similarity", "--epsilon", "0.000000001"), "epsilon must be at least"),
        (("sweep", "similarity", "--method", "no-sizes"), "--method must be one of sizes-"),
        ((*SWEEPS["percentile"], "--method", "adaptive"), "adaptive"),
        (
            (*SWEEPS["top-nodes"], "--centrality", "degree", "--method", "shifted"),
            "--method must be",
        ),
        ((*SWEEPS["tree"], "--depths", "1,x"), "--depths must be whole numbers"),
        ((*SWEEPS["tree"], "--depths", "65"), "--depths must be whole numbers up to 64"),
        ((*SWEEPS["mapping"], "--delta", "0:2:linear"), "--delta must be from 0 to 1"),
        ((*SWEEPS["mapping"], "--secret", "wealth"), "wealth"),
    ],
    ids=str,
)
def test_wrong_usage_is_a_sentence(cli, words, said) -> None:
    ended = cli(*words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert SECRET not in ended.err
