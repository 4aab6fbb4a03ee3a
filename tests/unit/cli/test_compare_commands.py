"""``reticent compare``: what it shows, and that it asks whether the data are public."""

import re
import shlex
from xml.etree import ElementTree

import pytest

from reticent.errors import ParameterError
from reticent.queries.registry import query_of
from reticent.queries.trials import methods_of, points
from reticent.tasks import (
    comparing_histogram,
    comparing_mapping,
    comparing_neighbours,
    comparing_selection,
    comparing_totals,
    comparing_tree,
)
from reticent.tasks.comparing_histogram import SAID
from reticent.tasks.influence import Influence

from .compared_data import (
    CLUB,
    FEW,
    FILMS,
    GRAPH,
    PEOPLE,
    PUBLIC,
    QUICK,
    SECRET,
    TABLE,
    TREE,
    flag,
    set_out,
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    return set_out(tmp_path, monkeypatch)


SEED = ("--seed", "3")
DRAWN = ("top-nodes", "neighbours", "tree")


def flagged(name: str) -> tuple[str, ...]:
    return QUICK[name] + ((flag(name),) if name in PUBLIC else ())


def seeded(name: str) -> tuple[str, ...]:
    return flagged(name) + (SEED if name in DRAWN else ())


@pytest.mark.parametrize("name", PUBLIC)
def test_data_that_nobody_called_public_are_refused(cli, name) -> None:
    ended = cli(*QUICK[name])
    assert (ended.code, ended.out) == (2, "")
    assert f"a comparison needs {flag(name)}\n" in ended.err
    assert "computed from the data without noise" in ended.err
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    following = shlex.split(line.partition("next: reticent ")[2])
    assert following[-1] == flag(name)
    assert cli(*following).code == 0


@pytest.mark.parametrize("name", QUICK)
def test_the_one_form_as_json(cli, name) -> None:
    ended = cli(*flagged(name), "--json")
    assert (ended.code, ended.err) == (0, "")
    told = ended.json
    assert told["schema"] == f"compare-{name}/1"
    assert told["better"] in ("lower", "higher")
    assert told["x"] == ("distortion" if name == "mapping" else "epsilon")
    for field in ("what", "y", "reference_name"):
        assert isinstance(told[field], str)
    assert isinstance(told["runs"], int)
    assert told["reference"] is None or told["reference"] >= 0
    assert len({row["way"] for row in told["rows"]}) > 1
    for row in told["rows"]:
        assert row["value"] >= 0
        assert (row["low"] is None) is (row["high"] is None)
        if row["low"] is not None:
            assert told["runs"] > 1
            assert row["low"] <= row["value"] <= row["high"]


@pytest.mark.parametrize("name", QUICK)
def test_table_and_json_agree(cli, name) -> None:
    words = seeded(name)
    told, ended = cli(*words, "--json").json, cli(*words)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    heads = re.split(r" {2,}", lines[2].strip())
    assert heads[0] == told["x"]
    ways = list(dict.fromkeys(row["way"] for row in told["rows"]))
    assert heads[-len(ways) :] == ways
    scale = 100 if name in DRAWN else 1
    shown = [
        re.split(r" {2,}", line.strip()) for line in lines[4:] if not line.startswith("   " * 6)
    ]
    places = sorted({row["x"] for row in told["rows"]})
    found = {(row["way"], row["x"]): row["value"] for row in told["rows"]}
    by_place = {cells[0]: cells for cells in shown if re.match(r"[0-9]", cells[0])}
    assert len(by_place) == len(places)
    for x in places:
        cells = by_place[f"{x:.4g}"]
        numbers = [float(cell.split()[0].replace(",", "")) for cell in cells[-len(ways) :]]
        if all((way, x) in found for way in ways):
            expected = [scale * found[way, x] for way in ways]
            assert numbers == pytest.approx(expected, rel=1e-3, abs=0.51 if scale == 100 else 1e-3)


@pytest.mark.parametrize("name", DRAWN)
def test_draws_are_new_unless_a_seed_is_given(cli, name) -> None:
    words = (*flagged(name), "--json")
    assert cli(*words, *SEED).out == cli(*words, *SEED).out
    assert len({cli(*words).out for _ in range(3)}) > 1


@pytest.mark.parametrize("name", ["percentile", "mapping", "histogram"])
def test_what_is_computed_is_the_same_each_time(cli, name) -> None:
    words = (*flagged(name), "--json")
    assert cli(*words).out == cli(*words).out
    assert "--seed" not in cli("compare", name, "--help").out


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.figures) if one != "tree" else one for one in QUICK],
)
def test_a_plot(cli, here, name) -> None:
    ended = cli(*seeded(name), "--plot", "way.svg")
    assert ended.code == 0, ended.err
    assert "figure: way.svg" in ended.err
    root = ElementTree.fromstring((here / "way.svg").read_text(encoding="utf-8"))
    assert "differ most at" in str(root.get("aria-label"))
    again = cli(*flagged(name), "--plot", "way.svg")
    assert (again.code, again.out) == (2, "")
    assert "is there already" in again.err


def test_ways_by_budget(cli) -> None:
    ended = cli(*GRAPH, *FEW, "--public")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("Share of the best that is found, in %: the 2 nodes of highest ego")
    ways = lines[2].split()
    assert {"exponential", "permute-and-flip", "dampened", "shifted", "adaptive"} < set(ways)
    assert ways[-1] == "degree"
    assert [line.split()[0] for line in lines[4:]] == ["0.01", "1", "1000"]
    assert "95 % intervals of 5 runs" in ended.err
    assert "a choice at random: 13.3" in ended.err


def test_top_nodes_keep_what_they_told_before(cli) -> None:
    told = cli(*seeded("top-nodes"), "--json").json
    assert (told["nodes"], told["k"], told["runs"], told["bound"]) == (15, 2, 5, 9)
    assert told["chance"] == told["reference"] == pytest.approx(2 / 15)
    found = {(row["way"], row["epsilon"]): row["overlap"] for row in told["rows"]}
    assert found["degree", 1000] == found["adaptive", 1000] == 1
    assert all(row["overlap"] == row["value"] for row in told["rows"])


def test_the_best_are_those_of_the_graph_as_given(cli) -> None:
    """With a bound of 1 nearly all links are dropped, and what is found is not what is best."""
    words = ("compare", "top-nodes", "links.csv", "--bound", "1", "--k", "1", "--public")
    rows = cli(*words, "--epsilons", "1000", "--json").json["rows"]
    assert all(row["value"] < 0.9 for row in rows if row["way"] == "permute-and-flip")


def test_degrees_are_no_baseline_of_themselves(cli) -> None:
    told = cli(*GRAPH, *FEW, "--public", "--centrality", "degree", "--json").json
    assert {row["way"] for row in told["rows"]} == {"exponential", "permute-and-flip"}


def test_one_node_is_computed_and_has_no_interval(cli) -> None:
    words = ("compare", "top-nodes", "links.csv", "--bound", "9", "--k", "1", "--public")
    rows = cli(*words, "--epsilons", "1000", "--json").json["rows"]
    assert {row["low"] for row in rows if row["way"] == "shifted"} == {None}


def test_all_nodes_are_always_found(cli) -> None:
    rows = cli(*GRAPH, "--k", "15", *FEW, "--public", "--json").json["rows"]
    assert {row["value"] for row in rows} == {1}


def test_errors_by_budget(cli) -> None:
    ended = cli(*TABLE, "--public", "--epsilons", "0.1,100000", "--json")
    found = {(row["way"], row["epsilon"]): row["value"] for row in ended.json["rows"]}
    assert {way for way, _ in found} == {"exponential", "permute-and-flip", "dampened", "shifted"}
    for way in ("exponential", "permute-and-flip"):
        assert found[way, 0.1] > 1
        assert found[way, 100000] < 1e-6
    text = cli(*TABLE, "--public", "--q", "0.9", "--epsilons", "1").out.splitlines()
    assert text[0] == "Expected absolute error in value: the person at 0.9 of 23"
    assert len(text) == 4 + 1


def test_a_histogram_is_the_plan_at_the_granted_budget(cli) -> None:
    ended = cli(*FILMS)
    assert "no private data were read" in ended.err
    assert "the preferences grant epsilon 0.06" in ended.err
    told = cli(*FILMS, "--json").json
    planned = cli("plan", "histogram", "films.csv", "--provider", "club.example", "--json").json
    found = {row["way"]: row["value"] for row in told["rows"] if row["x"] == 0.06}
    assert found["shared-at-best"] == pytest.approx(planned["mean_error"], rel=1e-9)
    assert found["scaled-alike"] == pytest.approx(planned["proportional_error"], rel=1e-9)
    assert told["threshold"] == planned["threshold"]
    assert len({row["x"] for row in told["rows"]}) == 10
    few = cli(*FILMS, "--epsilon", "0.05", "--goal", "mae", "--json").json
    assert {row["x"] for row in few["rows"]} == {0.05}
    assert "absolute" in few["y"]


def test_every_way_to_share_is_said_in_words(cli) -> None:
    ended = cli(*QUICK["histogram"])
    for way, told in SAID.items():
        assert way in ended.out
        assert f"{way}: {told}\n" in ended.err
        one = cli("sweep", *QUICK["histogram"][1:], "--method", way).err
        assert [name for name in SAID if f"{name}: " in one] == [way]
    assert "mse" not in ended.out + ended.err


def test_a_histogram_for_nobody_is_refused(cli) -> None:
    ended = cli("compare", "histogram", "films.csv", "--provider", "other.example")
    assert (ended.code, ended.out) == (3, "")


def test_neighbours_by_group(cli) -> None:
    ended = cli(*QUICK["neighbours"], "--public", "--seed", "1")
    assert "everybody" in ended.out
    assert "some at less" in ended.out
    assert "without privacy: " in ended.err
    groups = cli(*QUICK["neighbours"], "--public", "--seed", "1", "--json").json["groups"]
    kinds = {row["group"]: row["people"] for row in groups}
    assert sum(kinds.values()) == 12
    assert len(kinds) > 1


def test_a_mapping_of_least_leak(cli) -> None:
    told = cli(*QUICK["mapping"], "--public-data", "--json").json
    found = {(row["way"], row["x"]): row["value"] for row in told["rows"]}
    assert found["least-leak", 0.1] < found["exponential", 0.1] < told["reference"]
    whole = cli(*PEOPLE, "--public", "age", "--public-data", "--json").json
    assert {"nothing-told", "least-leak"} < {row["way"] for row in whole["rows"]}
    assert whole["profiles"] == 7


def test_a_mapping_that_is_stopped_early_says_so(cli) -> None:
    ended = cli(*QUICK["mapping"], "--public-data", "--seconds", "0")
    assert ended.code == 0
    assert (
        "the search was stopped: the least leaks are those of the best mappings so far" in ended.err
    )
    rows = cli(*QUICK["mapping"], "--public-data", "--seconds", "0", "--json").json["rows"]
    assert all(row["bound"] <= row["value"] for row in rows if row["way"] == "least-leak")


def test_a_column_that_names_people_is_refused(cli, here) -> None:
    text = (here / "people.csv").read_text(encoding="utf-8").replace("user,", "number,", 1)
    (here / "people.csv").write_text("".join(text.splitlines(keepends=True)[:60]), encoding="utf-8")
    ended = cli(*QUICK["mapping"], "--public-data")
    assert (ended.code, ended.out) == (2, "")
    assert "different for every person, number" in ended.err
    named = cli(*QUICK["mapping"], "--public-data", "--columns", "person=number")
    assert "different profiles" not in named.err


def test_trees_at_large_budgets(cli) -> None:
    told = cli(*seeded("tree"), "--json").json
    found = {(row["way"], row["x"]): row["value"] for row in told["rows"]}
    assert found["permute-and-flip", 1000] == pytest.approx(told["reference"], abs=0.05)
    assert found["permute-and-flip", 1000] > told["majority"] + 0.1
    assert "always the commonest class" in cli(*QUICK["tree"], "--public").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*GRAPH, "--epsilons", ","), "--epsilon must be one number or more"),
        ((*GRAPH, "--epsilons", "1,x"), "--epsilon must be a finite number, as in"),
        ((*GRAPH, "--epsilons", "0"), "--epsilon must be positive"),
        ((*GRAPH, "--k", "16"), "--k must be at most the number of nodes, 15"),
        ((*GRAPH, "--plot", "way.png"), "must be named .svg"),
        ((*TABLE, "--columns", "value=age"), "has no column called 'age'"),
        ((*TABLE, "--q", "0"), "--q must be between 0 and 1"),
        ((*TABLE, "--methods", "shifted,magic"), "--method must be one of exponential"),
        (("compare", "percentile", "none.csv", "--upper", "1"), "none.csv"),
        ((*PEOPLE, "--delta", "3"), "--delta must be from 0 to 1"),
        ((*PEOPLE, "--public", "income"), "--public must be without the secret"),
        ((*CLUB, "--k", "0"), "--k"),
        ((*TREE, "--rows", "0"), "--rows"),
    ],
    ids=str,
)
def test_wrong_usage_is_a_sentence(cli, words, said) -> None:
    ended = cli(*words, flag(words[1]))
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert SECRET not in ended.err


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1, 0.1,1,", [0.1, 1]),
        ("0.01:10:log:4", [0.01, 0.1, 1, 10]),
        ("1:2:linear:5", [1, 1.25, 1.5, 1.75, 2]),
        ("0.01:10:log", [0.01, 0.0237, 0.0562, 0.133, 0.316, 0.75, 1.78, 4.22, 10]),
        ("1:1.0001:log:3", [1, 1.0001]),
        ("1/3", [1 / 3]),
    ],
)
def test_points(text, found) -> None:
    assert [float(x) for x in points(text, "epsilon")] == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1:10", "a range or a list"),
        ("1:10:cubic", "a range or a list"),
        ("1:10:log:4:5", "a range or a list"),
        ("10:1:log", "a range from less to more"),
        ("1:1:linear", "a range from less to more"),
        ("0:1:log", "must be positive"),
        ("0:1:linear", "must be positive"),
        ("1:10:log:1", "a range of 2 to 200 points, got '1'"),
        ("1:10:log:9999999999999", "a range of 2 to 200 points"),
        ("1:10:log:x", "a range of 2 to 200 points"),
        (",".join(map(str, range(1, 300))), "at most 200 numbers"),
        ("nan", "must be a finite number"),
        ("1e9", "at most 1000000"),
        ("", "one number or more"),
    ],
)
def test_wrong_points(text, said) -> None:
    with pytest.raises(ParameterError, match=said):
        points(text, "epsilon")


def test_names_of_methods_are_those_of_the_library() -> None:
    """They are declared without loading what compares them."""
    graph = Influence(k=2, epsilon=1, nodes=9, bound=3)
    for kind, names in (
        ("histogram", comparing_histogram.WAYS),
        ("mapping", comparing_mapping.WAYS),
        ("neighbours", comparing_neighbours.WAYS),
        ("counts", comparing_totals.WAYS),
        ("quantile", comparing_selection.QUANTILE_WAYS),
        ("tree", tuple(comparing_tree.WAYS)),
        ("top-nodes", comparing_selection.influencer_ways(graph)),
    ):
        assert methods_of(query_of(kind)) == names
    assert set(methods_of(query_of("percentile"))) == set(comparing_selection.percentile_ways())


def test_some_methods_alone(cli) -> None:
    told = cli(*FILMS, "--methods", "added-up, one-for-all", "--json").json
    assert {row["way"] for row in told["rows"]} == {"added-up", "one-for-all"}


def test_what_needs_no_data(cli) -> None:
    told = cli("compare", "counts", "--epsilon", "1", "--count", "4", "--json").json
    found = {row["way"]: row["value"] for row in told["rows"]}
    assert found["one-by-one"] > 4 * found["together"]
    both = cli("compare", "similarity", "--epsilon", "1")
    assert "sizes are exact and not protected" in both.err
    assert "no private data were read" in both.err
    long = cli("compare", "sketches", "--epsilon", "1", "--json").json["rows"]
    assert {row["way"] for row in long} == {"neighbours", "items"}


def test_permute_and_flip_is_never_worse(cli) -> None:
    words = ("compare", "quantile", "pay.csv", "--upper", "100", "--epsilon", "0.1,1", "--public")
    rows = cli(*words, "--json").json["rows"]
    found = {(row["way"], row["x"]): row["rank"] for row in rows}
    for x in (0.1, 1.0):
        assert found["permute-and-flip", x] <= found["exponential", x]


def test_a_histogram_without_preferences(cli, here) -> None:
    (here / "preferences.toml").unlink()
    told = cli("compare", "histogram", "films.csv", "--epsilon", "1,2", "--json").json
    assert {row["x"] for row in told["rows"]} == {1, 2}
    assert told["reference"] is None
