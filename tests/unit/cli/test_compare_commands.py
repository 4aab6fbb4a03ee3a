"""``reticent compare``: what it shows, and that it asks whether the data are public."""

import csv
import shlex
from xml.etree import ElementTree

import pytest

GRAPH = ("compare", "influencers", "links.csv", "--bound", "9", "--within", "--k", "2")
TABLE = ("compare", "percentile", "pay.csv", "--upper", "100")
FEW = ("--epsilons", "1,1000,0.01", "--runs", "5")
SECRET = "73519"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    star = [("n0", f"n{i}") for i in range(1, 9)] + [("n1", f"n{i}") for i in range(9, 15)]
    rows = [("source", "target"), *star, ("n0", "n1"), ("n3", "n3"), ("n2", "n0")]
    for name, lines in (
        ("links.csv", rows),
        ("pay.csv", [("pay",), *((str(pay),) for pay in [*range(20), SECRET, "nan", ""])]),
    ):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    return tmp_path


@pytest.mark.parametrize("words", [GRAPH, TABLE], ids=lambda words: words[1])
def test_data_that_nobody_called_public_are_refused(cli, words) -> None:
    ended = cli(*words, "--epsilons", "1")
    assert (ended.code, ended.out) == (2, "")
    assert "needs --public" in ended.err
    assert "computed from the data without noise" in ended.err
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    following = shlex.split(line.partition("next: reticent ")[2])
    assert following[-1] == "--public"
    assert cli(*following).code == 0


def test_ways_by_budget(cli) -> None:
    ended = cli(*GRAPH, *FEW, "--public")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("Found of 100 that are among the 2 nodes of highest egocentric")
    ways = lines[2].split()
    assert ways[0] == "epsilon"
    assert {"exponential", "permute-and-flip", "dampened", "shifted", "adaptive"} < set(ways)
    assert ways[-1] == "degree"
    assert [line.split()[0] for line in lines[4:]] == ["0.01", "1", "1000"]
    assert "95 % intervals of 5 runs; a choice at random finds 13.3" in ended.err


def test_ways_as_json(cli) -> None:
    ended = cli(*GRAPH, *FEW, "--public", "--json")
    assert (ended.code, ended.err) == (0, "")
    told = ended.json
    assert (told["schema"], told["nodes"], told["runs"]) == ("compare-influencers/1", 15, 5)
    for row in told["rows"]:
        assert 0 <= row["low"] <= row["overlap"] <= row["high"] <= 1
    found = {(row["way"], row["epsilon"]): row["overlap"] for row in told["rows"]}
    assert found["degree", 1000] == found["adaptive", 1000] == 1
    assert len(found) == len(told["rows"])
    assert cli(*GRAPH, *FEW, "--public", "--json").out == ended.out  # the same, run again


def test_the_best_are_those_of_the_graph_as_given(cli) -> None:
    """With a bound of 1 nearly all links are dropped, and what is found is not what is best."""
    words = ("compare", "influencers", "links.csv", "--bound", "1", "--k", "1", "--public")
    rows = cli(*words, "--epsilons", "1000", "--json").json["rows"]
    assert all(row["overlap"] < 0.9 for row in rows if row["way"] == "permute-and-flip")


def test_degrees_are_no_baseline_of_themselves(cli) -> None:
    told = cli(*GRAPH, *FEW, "--public", "--centrality", "degree", "--json").json
    assert {row["way"] for row in told["rows"]} == {"exponential", "permute-and-flip"}


def test_one_node_is_computed_and_has_no_interval(cli) -> None:
    words = ("compare", "influencers", "links.csv", "--bound", "9", "--k", "1", "--public")
    rows = cli(*words, "--epsilons", "1000", "--json").json["rows"]
    assert {row["runs"] for row in rows if row["way"] == "shifted"} == {0}


def test_errors_by_budget(cli) -> None:
    ended = cli(*TABLE, "--public", "--epsilons", "0.1,100000", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = {(row["way"], row["epsilon"]): row["value"] for row in ended.json["rows"]}
    assert {way for way, _ in found} == {"exponential", "permute-and-flip", "dampened", "shifted"}
    for way in ("exponential", "permute-and-flip"):
        assert found[way, 0.1] > 1
        assert found[way, 100000] < 1e-6
    text = cli(*TABLE, "--public", "--p", "0.9", "--epsilons", "1").out.splitlines()
    assert text[0] == "Expected absolute error in value, looking for the person at 0.9 of 23"
    assert len(text) == 4 + 1


@pytest.mark.parametrize(
    "words", [(*GRAPH, *FEW), (*TABLE, "--epsilons", "1,2")], ids=lambda words: words[1]
)
def test_a_plot(cli, here, words) -> None:
    pytest.importorskip("matplotlib")
    ended = cli(*words, "--public", "--plot", "way.svg")
    assert ended.code == 0, ended.err
    assert "figure: way.svg" in ended.err
    root = ElementTree.fromstring((here / "way.svg").read_text(encoding="utf-8"))
    assert "differ most at epsilon" in str(root.get("aria-label"))
    again = cli(*words, "--public", "--plot", "way.svg")
    assert (again.code, again.out) == (2, "")
    assert "is there already" in again.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*GRAPH, "--epsilons", ","), "--epsilons needs one or more budgets"),
        ((*GRAPH, "--epsilons", "1,x"), "epsilons must be a finite number"),
        ((*GRAPH, "--epsilons", "0"), "epsilons must be positive"),
        ((*GRAPH, "--k", "16"), "--k must be at most the number of nodes, 15"),
        ((*GRAPH, "--plot", "way.png"), "must be named .svg"),
        ((*TABLE, "--column", "age"), "has no column called 'age'"),
        ((*TABLE, "--p", "0"), "--p must be between 0 and 1"),
        (("compare", "percentile", "none.csv", "--upper", "1"), "none.csv cannot be used"),
    ],
    ids=str,
)
def test_wrong_usage_is_a_sentence(cli, words, said) -> None:
    ended = cli(*words, "--public")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert SECRET not in ended.err


def test_all_nodes_are_always_found(cli) -> None:
    rows = cli(*GRAPH, "--k", "15", *FEW, "--public", "--json").json["rows"]
    assert {row["overlap"] for row in rows} == {1}
