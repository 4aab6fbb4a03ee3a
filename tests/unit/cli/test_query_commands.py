"""``reticent release`` of a quantile, a percentile and top nodes: what it says and refuses."""

import csv
import io
import json
import shlex
import sys

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from reticent.cli import plan
from reticent.guarantees import EDGE, RECORD_SUBSTITUTE, PureDP
from reticent.guarantees.card import Card
from reticent.mechanisms import verify

CANARY = "canary-9185"
SECRET = "73519"  # a value that no message may hold
HUB = ("release", "top-nodes", "links.csv", "--bound", "9", "--epsilon", "1")
MEDIAN = (
    *("release", "percentile", "pay.csv", "--upper", "100", "--epsilon", "1"),
    *("--columns", "person=who"),
)
NUMBER = (
    *("release", "quantile", "pay.csv", "--upper", "100", "--epsilon", "1"),
    *("--columns", "value=pay", "--step", "5"),
)
NODES = [f"n{i}" for i in range(12)]


def links() -> list[tuple[str, str]]:
    """A hub, a triangle, a loop, links given twice and the other way round, empty cells."""
    star = [("n0", name) for name in NODES[1:9]]
    return [*star, ("n1", "n2"), ("n2", "n1"), ("n1", "n2"), ("n3", "n3"), ("", "n4"), ("n5", "")]


def written(path, heads, rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *rows])


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "links.csv", ("source", "target"), links())
    (tmp_path / "nodes.txt").write_text("\n".join([*NODES, "", "n3 "]) + "\n", encoding="utf-8")
    pays = [*map(str, range(5, 60, 5)), SECRET, "-7", "nan", "", "much", "inf"]
    written(tmp_path / "pay.csv", ("who", "pay"), [(f"w{i}", pay) for i, pay in enumerate(pays)])
    return tmp_path


def nodes_of(ended) -> list[str]:
    heads, *rows = csv.reader(ended.out.splitlines())
    assert heads == ["node"]
    return [name for (name,) in rows]


def following(ended) -> list[str]:
    (line,) = [line for line in ended.err.splitlines() if "next: reticent" in line]
    return shlex.split(line.partition("next: reticent ")[2])


# Influential nodes


def test_names_of_nodes_as_a_set(cli) -> None:
    ended = cli(*HUB, "--k", "3", "--nodes", "nodes.txt", "--yes")
    assert ended.code == 0, ended.err
    found = nodes_of(ended)
    assert len(set(found)) == 3
    assert found == sorted(found, key=NODES.index)  # not in the order of their choice
    assert "spent epsilon 1\n" in ended.err
    assert "Guarantee card" in ended.err
    assert "caution" not in ended.err


@pytest.mark.parametrize("way", ["adaptive", "shifted", "exponential", "permute-and-flip"])
def test_much_epsilon_finds_the_hub(cli, way) -> None:
    words = ["--k", "1", "--epsilon", "90000", "--within", "--method", way, "--yes", "--json"]
    ended = cli(*HUB, *words)
    assert ended.code == 0, ended.err
    assert ended.json["value"] == ["n0"]
    assert ended.json["query"]["method"] == way


@pytest.mark.parametrize("centrality", ["ebc", "degree", "triangles"])
@pytest.mark.parametrize("within", [[], ["--within"]])
def test_cards_hold_and_state_the_loss_of_a_link(cli, here, centrality, within) -> None:
    words = ["--k", "2", "--centrality", centrality, *within, "--bound", "4", "--yes", "--json"]
    ended = cli(*HUB, *words, "--nodes", "nodes.txt")
    assert ended.code == 0, ended.err
    card = Card.from_json(json.dumps(ended.json["card"]))
    assert verify(card) == []
    assert card.release_event().loss == PureDP.of(1, EDGE)
    assert card.release_event().private
    stated = "if no node can have more than 4 links, as was stated"
    assert (stated in card.scope.protected) is bool(within)
    planned = cli("plan", "top-nodes", *HUB[3:], *words[:-2], "--count", "12", "--json")
    (three,) = [what for what in planned.json["public"] if "4 links" in what]
    assert ("counts 3 times" in three) is not bool(within)


def test_degrees_are_chosen_plainly_unless_asked_otherwise(cli) -> None:
    words = (*HUB, "--k", "2", "--centrality", "degree", "--yes", "--json")
    assert cli(*words).code == 0
    ended = cli(*words, "--method", "shifted")
    assert (ended.code, ended.json["schema"]) == (2, "error/1")
    assert "--method must be one of exponential, permute-and-flip" in ended.err


def test_nodes_taken_from_links_are_called_public(cli) -> None:
    ended = cli(*HUB, "--k", "2", "--yes")
    assert ended.code == 0
    assert "caution: the nodes are those that have a link" in ended.err
    assert "this set is public" in ended.err
    assert "first or last link: nodes" in " ".join(ended.err.split())  # on the card, too


def test_isolated_nodes_that_are_declared_can_be_chosen(cli, here) -> None:
    ended = cli(*HUB, "--k", "12", "--nodes", "nodes.txt", "--yes")
    assert (ended.code, nodes_of(ended)) == (0, NODES)  # k = n
    ended = cli(*HUB, "--k", "13", "--nodes", "nodes.txt", "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert "--k must be at most the number of nodes, 12, got 13" in ended.err
    assert cli(*HUB, "--k", "10", "--yes").code == 2  # n9 to n11 have no link


def test_nodes_from_a_column(cli, here) -> None:
    written(here / "all.csv", ("town", "node"), [(CANARY, name) for name in NODES])
    told = cli(*HUB, "--k", "12", "--nodes", "all.csv", "--yes", "--json").json
    assert told["value"] == NODES
    written(here / "all.csv", ("town", "who"), [(CANARY, name) for name in NODES])
    ended = cli(*HUB, "--nodes", "all.csv", "--yes")
    assert ended.code == 2
    assert "columns node=NAME" in ended.err
    words = [*HUB, "--k", "12", "--nodes", "all.csv", "--columns", "node=WHO", "--yes", "--json"]
    assert cli(*words).json["value"] == NODES


def test_a_bound_below_the_largest_degree_is_not_reported(cli) -> None:
    for within in ([], ["--within"]):
        low, high = (
            cli(*HUB, "--k", "2", *within, "--bound", bound, "--nodes", "nodes.txt", "--yes")
            for bound in ("2", "10")
        )
        assert (low.code, high.code) == (0, 0)
        told = [begins(ended.err) for ended in (low, high)]
        assert told[0] == told[1]


def begins(text: str) -> list[str]:
    """How the talk above the card begins, line by line."""
    above = text.partition("Guarantee card")[0]
    return [line.split()[0] for line in above.splitlines() if line]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_set_in_every_form(cli, here, form) -> None:
    out = here / f"set.{form}"
    ended = cli(*HUB, "--k", "2", "--yes", "--out", out, "--card", "card.html")
    assert (ended.code, ended.out) == (0, f"{out}\n")
    assert "card: card.html" in ended.err
    if form == "json":
        names = json.loads(out.read_text())["value"]
    elif form == "csv":
        names = out.read_text().split()[1:]
    else:
        from pyarrow import parquet

        names = parquet.read_table(out).column("node").to_pylist()
    assert len(names) == 2
    assert set(names) <= set(NODES)
    again = cli(*HUB, "--k", "2", "--yes", "--out", out)
    assert (again.code, again.out) == (2, "")
    assert "is there already" in again.err
    assert not [path for path in here.iterdir() if path.name.startswith(".")]


def test_links_in_parquet_with_other_columns(cli, here) -> None:
    one, other = zip(*links(), strict=True)
    parquet.write_table(arrow.table({"a": one, "b": other, "c": one}), here / "links.parquet")
    words = ["release", "top-nodes", "links.parquet", *HUB[3:], "--k", "2"]
    assert cli(*words, "--columns", "source=b,target=A", "--yes").code == 0
    ended = cli(*words, "--yes")
    assert ended.code == 2
    assert "has no column called 'source'" in ended.err


# Percentiles


def test_a_person(cli) -> None:
    ended = cli(*MEDIAN, "--yes")
    assert ended.code == 0, ended.err
    head, name = ended.out.split()
    assert head == "person"
    assert name in {f"w{i}" for i in range(17)}
    assert "A person whose value is near the median\nGuarantee card" in ended.err


def test_a_person_without_a_name_is_a_row(cli, here) -> None:
    written(here / "one.csv", ("pay",), [("3",)])
    ended = cli("release", "percentile", "one.csv", "--upper", "9", "--epsilon", "1", "--yes")
    assert (ended.code, ended.out) == (0, "person\nrow 1\n")


def test_much_epsilon_finds_the_person(cli) -> None:
    # as numbers from 0 to 100: -7, nan, '' and 'much' are 0, the secret and inf 100
    for way in ("shifted", "permute-and-flip", "exponential"):
        ended = cli(*MEDIAN, "--epsilon", "90000", "--method", way, "--yes", "--json")
        assert ended.json["value"] == "w4", way  # 25, the ninth of seventeen
        assert ended.json["query"]["method"] == way


def test_a_number(cli) -> None:
    told = cli(*NUMBER, "--epsilon", "900", "--yes", "--json").json
    assert told["value"] in (20, 25)  # eight are at most 20, nine at most 25
    assert cli(*NUMBER, "--epsilon", "900", "--yes").out in ("value\n20.0\n", "value\n25.0\n")


def test_a_number_above_a_lower_end(cli) -> None:
    words = [*NUMBER, "--lower", "-0.5", "--step", "0.1", "--q", "0.9", "--yes", "--json"]
    value = cli(*words).json["value"]
    assert -0.5 <= value <= 100
    assert np.isclose((value + 0.5) * 10, round((value + 0.5) * 10))


@pytest.mark.parametrize("words", [MEDIAN, NUMBER], ids=["person", "number"])
def test_cards_hold_and_state_the_loss_of_a_value(cli, words) -> None:
    told = cli(*words, "--yes", "--json").json
    card = Card.from_json(json.dumps(told["card"]))
    assert verify(card) == []
    assert card.release_event().loss == PureDP.of(1, RECORD_SUBSTITUTE)
    assert "how many" in " ".join(card.scope.not_against)


# Spending


@pytest.mark.parametrize("words", [(*HUB, "--k", "2"), MEDIAN, NUMBER], ids=lambda words: words[1])
def test_nothing_is_spent_without_yes_and_the_next_command_works(cli, words) -> None:
    ended = cli(*words)
    assert (ended.code, ended.out) == (2, "")
    assert following(ended)[-1] == "--yes"
    assert cli(*following(ended)).code == 0


def planned(words) -> list[str]:
    """The same options under ``plan``, which takes no files."""
    options = list(words[3:])
    if "--columns" in options:
        place = options.index("--columns")
        del options[place : place + 2]
    return ["plan", words[1], *options]


@pytest.mark.parametrize("words", [HUB, MEDIAN, NUMBER], ids=lambda words: words[1])
def test_a_plan_says_consequences_first(cli, words) -> None:
    ended = cli(*planned(words))
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert "can be right at most 74 times in 100" in lines[2]
    assert [line.partition(":")[0] for line in lines[3:6]] == ["cost", "error to expect", "public"]
    assert "nothing private was read and nothing was released" in ended.err
    dry = cli(*words, "--dry-run")
    assert (dry.code, dry.out) == (0, ended.out)
    assert "ledger: " in dry.err
    assert cli(*planned(words), "--json").json["epsilon"] == "1"


@pytest.mark.parametrize("words", [MEDIAN, NUMBER], ids=lambda words: words[1])
def test_a_dry_run_says_what_the_ledger_would_refuse(cli, words) -> None:
    assert cli(*words, "--data-set", "pay", "--total", "1.5", "--yes").code == 0
    told = cli(*words, "--data-set", "pay", "--dry-run", "--json").json
    assert (told["allowed"], told["missing"]) == (False, "0.5")
    ended = cli(*words, "--data-set", "pay", "--yes")
    assert (ended.code, ended.out) == (3, "")
    assert "asked for epsilon 1, 0.5 is left, 0.5 is missing" in ended.err
    less = [line for line in ended.err.splitlines() if "to spend less: reticent" in line]
    assert cli(*shlex.split(less[0].partition("reticent ")[2])).code == 0


def test_an_answer_is_asked_for_after_the_consequences(cli, monkeypatch) -> None:
    monkeypatch.setattr(plan, "somebody_to_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    ended = cli(*HUB, "--k", "2", "--epsilon", "6")
    assert (ended.code, ended.out) == (3, "")
    order = ["times in 100", "Taken as public", "caution", "little worst-case", "spends epsilon 6"]
    places = [ended.err.index(words) for words in order]
    assert places == sorted(places)
    assert "nothing was released" in ended.err


@pytest.mark.parametrize("words", [(*HUB, "--k", "2"), MEDIAN, NUMBER], ids=lambda words: words[1])
def test_a_key_repeats_value_and_card(cli, words) -> None:
    first = cli(*words, "--key", "a", "--yes", "--json").json
    again = cli(*words, "--key", "a", "--yes", "--json").json
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert first["spent"] == again["spent"] == "1"
    assert (first["value"], first["card"]) == (again["value"], again["card"])
    other = cli(*words, "--epsilon", "2", "--key", "a", "--yes")
    assert (other.code, other.out) == (2, "")


# Refusals


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*HUB, "--epsilon", "0"), "--epsilon must be positive"),
        ((*HUB, "--k", "two"), "--k must be a whole number of at least 1"),
        ((*HUB, "--columns", "a"), "--columns must be ROLE=COLUMN"),
        ((*HUB, "--columns", "source=a"), "links.csv has no column called 'a'"),
        ((*HUB, "--columns", "value=a"), "--columns must be roles of columns"),
        ((*HUB, "--nodes", "none.txt"), "none.txt cannot be used"),
        ((*HUB, "--nodes", "empty.txt"), "a table that names some"),
        ((*HUB, "--out", "set.txt"), "must be named .csv, .json, .parquet"),
        (("release", "top-nodes", "none.csv", *HUB[3:]), "none.csv cannot be used"),
        (("release", "top-nodes", "empty.csv", *HUB[3:]), "nodes must be two or more"),
        (("release", "top-nodes", "links.csv", "--epsilon", "1"), "Missing option '--bound'"),
        ((*MEDIAN, "--q", "1"), "--q must be between 0 and 1"),
        ((*MEDIAN, "--upper", "-1"), "--upper must be positive"),
        ((*MEDIAN, "--columns", "value=age"), "pay.csv has no column called 'age'"),
        ((*MEDIAN, "--columns", "person=pay,value=pay"), "has one column for two roles"),
        ((*MEDIAN, "--columns", "person=pay,value=who"), "names each person once"),
        ((*NUMBER, "--lower", "100"), "--upper must be above lower"),
        ((*NUMBER, "--lower", "x"), "--lower must be a finite number"),
        ((*NUMBER, "--step", "0.000001"), "--step must be one that gives 2 to"),
        ((*MEDIAN[:-2],), "has no column called 'value'"),
        (("release", "percentile", "none.csv", *MEDIAN[3:]), "none.csv cannot be used"),
    ],
    ids=str,
)
def test_wrong_usage_is_a_sentence_without_data(cli, here, words, said) -> None:
    (here / "empty.txt").write_text("\n\n")
    (here / "empty.csv").write_text(f"source,target\n{CANARY},{CANARY}\n")
    with (here / "pay.csv").open("a") as file:
        file.write("w17,5\n")  # a value that two have
    ended = cli(*words, "--yes")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "  next: reticent" in ended.err
    assert "spent" not in ended.err
    for private in (CANARY, SECRET, "much", "n0", "w3"):
        assert private not in ended.err


@pytest.mark.parametrize("cell", ["", "NaN", CANARY, "-1e999", SECRET])
def test_what_a_cell_holds_never_changes_what_is_said(cli, here, cell) -> None:
    written(here / "pay.csv", ("who", "pay"), [("a", cell), ("b", "1"), ("c", "2")])
    for words in (MEDIAN, NUMBER):
        ended = cli(*words, "--yes", "--card", here / f"card-{words is NUMBER}.json")
        assert ended.code == 0
        assert begins(ended.err) == ["ledger:", "spent", "card:"]
        card = (here / f"card-{words is NUMBER}.json").read_text()
        assert not cell or cell not in ended.out + ended.err + card


def test_a_name_that_is_a_terminal_command_is_not_carried_out(cli, here) -> None:
    written(here / "pay.csv", ("who", "pay"), [("\x1b[2J", "1")])
    assert "\x1b" not in cli(*MEDIAN, "--yes").out
