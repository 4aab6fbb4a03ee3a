"""``reticent verify``: worst cases with their neighbours, honest about how they were found."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from reticent.cli.verify_examples import EXAMPLES
from reticent.guarantees.card import Scope
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source

AUDITED = {"tree", "python", "query"}
COIN = """\
[law.rows]
yes = { yes = "3/4", no = "1/4" }
no = { yes = "1/4", no = "3/4" }

[claim]
epsilon = "%s"
"""
COUNTS = """\
[mechanism]
name = "discrete-laplace"
epsilon = 1
size = 2

[domain]
records = ["a", "b"]
people = 3
relation = "%s"
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "mechanism.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_works(cli, written, name: str) -> None:
    printed = cli("verify", "--example", name)
    assert printed.code == 0
    more = ["--run-code", "--draws", 1000] if name in AUDITED else []
    ended = cli("verify", written(printed.out), "--json", *more)
    assert ended.code == 0, ended.err
    assert ended.json["schema"] == "verify/1"
    assert ended.json["method"] == ("audited" if name in AUDITED else "enumerated")
    assert ended.json["verdict"] == ("not refuted" if name in AUDITED else "holds")
    assert ended.json["units"] or ended.json["figures"]


def test_examples_are_listed(cli) -> None:
    assert set(cli("verify", "--examples", "--json").json["examples"]) == set(EXAMPLES)
    assert "randomised-response" in cli("verify", "--examples").out
    wrong = cli("verify", "--example", "discrete-laplase")
    assert wrong.code == 2
    assert "discrete-laplace" in wrong.err


def test_a_coin_attains_ln_3(cli, written) -> None:
    holds = cli("verify", written(COIN % "1.0986122886682"))
    assert holds.code == 0
    assert holds.out.startswith("holds: no outcome on any of 1 pair of neighbours")
    broken = cli("verify", written(COIN % "1.0986122886681"), "--json")
    assert broken.code == 1
    (unit,) = broken.json["units"]
    assert (unit["p"], unit["q"]) == ("3/4", "1/4")
    assert {unit["on"], unit["against"]} == {"yes", "no"}
    assert abs(float(unit["loss"]) - math.log(3)) < 1e-11


def test_a_wrong_relation_is_found_with_the_neighbours(cli, written) -> None:
    """One record replaced moves two counts: sensitivity 1 is not enough, and the loss is 2."""
    assert cli("verify", written(COUNTS % "add-remove")).code == 0
    broken = cli("verify", written(COUNTS % "substitute"), "--json")
    assert broken.code == 1
    (unit,) = broken.json["units"]
    assert abs(float(unit["loss"]) - 2) < 1e-9
    assert unit["on"] != unit["against"]
    words = cli("verify", written(COUNTS % "substitute"))
    assert words.out.startswith("BROKEN: record loses 2, claimed is 1:")


def test_brute_force_agrees(cli, written) -> None:
    """Two counts with Laplace noise, losses over a wide window of outputs in floats."""
    text = COUNTS.replace("epsilon = 1", "epsilon = 0.7") % "substitute"
    (unit,) = cli("verify", written(text), "--json").json["units"]
    rate = 0.7

    def log_chance(counts, outputs) -> float:
        return -rate * sum(abs(o - c) for o, c in zip(outputs, counts, strict=True))

    worst = max(
        log_chance((a, 3 - a), (x, y)) - log_chance((b, 3 - b), (x, y))
        for a in range(4)
        for b in (a - 1, a + 1)
        if 0 <= b <= 3
        for x in range(-5, 9)
        for y in range(-5, 9)
    )
    assert float(unit["loss"]) == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "claim", "unit"),
    [
        ("discrete-laplace", "epsilon = 0.49", "record"),
        ("snapped-laplace", "epsilon = 0.98", "record"),
        ("permute-and-flip", "epsilon = 0.98", "record"),
        ("dampened", "epsilon = 0.9", "record"),
        ("top-dampened", "epsilon = 1.3", "record"),
        ("stretching", "[claim.items]\nAlien = 0.245", "Alien"),
        ("multi-level", "[claim.items]\nHeat = 0.392", "Heat"),
        ("multi-level", "[claim.attributes]\nDrama = 0.294", "Drama alone"),
        ("blip", "[claim.items]\nAlien = 0.98", "Alien"),
    ],
)
def test_a_claim_2_percent_too_low_is_found(cli, written, name, claim: str, unit: str) -> None:
    head = "" if claim.startswith("[") else "[claim]\n"
    ended = cli("verify", written(f"{EXAMPLES[name][1]}\n{head}{claim}\n"), "--json")
    assert ended.code == 1
    assert [one["unit"] for one in ended.json["units"] if not one["holds"]] == [unit]


def test_a_mapping_that_claims_too_little_is_found(cli, written) -> None:
    text = EXAMPLES["profile-mapping"][1]
    for claim in ("bits = 0.095", "distortion = 0.29", "maximal_bits = 0.37", "guesses = 0.64"):
        ended = cli("verify", written(f"{text}\n[claim]\n{claim}\n"), "--json")
        assert ended.code == 1
        assert [f["name"] for f in ended.json["figures"] if not f["holds"]] == [claim.split()[0]]
    words = cli("verify", written(f"{text}\n[claim]\nbits = 0.095\n"))
    assert words.out.startswith("BROKEN: bits about the secret")
    # as a worst case it promises nothing: some profile never becomes some other
    worst = cli("verify", written(f"{text}\n[claim]\nepsilon = 9\n"), "--json")
    assert worst.json["units"][0]["loss"] == "infinite"


def test_a_sensitivity_told_too_small_is_found(cli, written) -> None:
    """Utilities move by 10: a table that says 10 keeps the promise, one that says 1 does not."""
    text = """\
[mechanism]
name = "dampened"
epsilon = 1
candidates = 2
limit = 100
steps = 3
shift = "none"

[domain]
neighbours = [["x", "y"]]

[domain.inputs]
x = {{ utilities = [0, 1], sensitivity = [[{0}, {0}], [{0}, {0}], [{0}, {0}]] }}
y = {{ utilities = [10, -9], sensitivity = [[{0}, {0}], [{0}, {0}], [{0}, {0}]] }}
"""
    assert cli("verify", written(text.format(10))).code == 0
    broken = cli("verify", written(text.format(1)), "--json")
    assert broken.code == 1
    (unit,) = broken.json["units"]
    assert {unit["on"], unit["against"]} == {"x", "y"}


def test_a_card_is_verified_as_it_stands(cli, written, tmp_path) -> None:
    release = DiscreteLaplace(epsilon="0.5", size=2).release([1, 2], Source.system())
    scope = Scope(protected="a table", not_against=("nobody",), model="central")
    card = release.card("Counts", scope=scope)
    (tmp_path / "card.json").write_text(card.to_json(), encoding="utf-8")
    text = '[mechanism]\nfrom_card = "card.json"\n\n[domain]\nrecords = ["a", "b"]\npeople = 2\n'
    ended = cli("verify", written(text), "--json")
    assert ended.code == 0, ended.err
    assert ended.json["units"][0]["claim"] == "1/2"
    lost = cli("verify", written(text.replace("card.json", "none.json")))
    assert lost.code == 2


def test_a_large_domain_is_audited_instead(cli, written) -> None:
    text = COUNTS % "add-remove"
    large = text.replace("size = 2", "size = 6").replace(
        'records = ["a", "b"]\npeople = 3', "values = [0, 1, 2, 3, 4, 5, 6]"
    )
    ended = cli("verify", written(large), "--draws", 2000)
    assert ended.code == 0, ended.err
    assert "audited, not enumerated: a lower bound, no proof" in ended.out
    assert "more than 2,000,000 comparisons" in ended.out
    assert "confidence 0.9999" in ended.out


def test_an_audit_finds_what_enumeration_finds(cli, written) -> None:
    path = written(COUNTS % "substitute")
    ended = cli("verify", path, "--audit", "--draws", 20000, "--json")
    assert ended.code == 1
    (unit,) = ended.json["units"]
    assert 1.5 < unit["loss_at_least"] <= 2
    assert unit["refuted"]
    assert cli("verify", written(COUNTS % "add-remove"), "--audit", "--draws", 5000).code == 0
    table = cli("verify", written(COIN % "1.1"), "--audit")
    assert table.code == 2
    assert "table of chances" in table.err


OWN = """\
[mechanism]
python = "own.py:biased"

[domain]
values = [0, 1]

[claim]
epsilon = 1
"""
BIASED = """\
from pathlib import Path
Path(__file__).with_name("ran").write_text("yes")
from reticent.noise import Source, bernoulli
import numpy as np
def biased(data, n):
    return bernoulli(np.full(n, 0.8 if data else 0.2), source=Source.system())
"""


def test_code_is_run_only_when_allowed(cli, written, tmp_path) -> None:
    written(BIASED, "own.py")
    path = written(OWN)
    refused = cli("verify", path)
    assert refused.code == 2
    assert "--run-code" in refused.err
    assert not (tmp_path / "ran").exists()
    ended = cli("verify", path, "--run-code", "--draws", 20000, "--json")
    assert ended.code == 1  # ln 4 = 1.386
    assert 1.2 < ended.json["units"][0]["loss_at_least"] < math.log(4)
    assert (tmp_path / "ran").exists()


def test_what_a_function_returns_is_checked(cli, written) -> None:
    written("def biased(data, n):\n    return [0]\n", "own.py")
    ended = cli("verify", written(OWN), "--run-code", "--draws", 1000)
    assert ended.code == 2
    assert "must return a list of n" in ended.err
    written("def biased(data, n):\n    return 1 / 0\n", "own.py")
    ended = cli("verify", written(OWN), "--run-code", "--draws", 1000)
    assert ended.code == 2
    assert "own.py:biased failed: ZeroDivisionError" in ended.err
    written("x = 1\n", "own.py")
    ended = cli("verify", written(OWN), "--run-code")
    assert "own.py has no function biased" in ended.err
    assert "line 2" in ended.err


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[mechanism]\nname = "discrete-laplase"\n', 2, "did you mean discrete-laplace?"),
        ('[mechanism]\nname = "exponential"\nepsilom = 1\n', 3, "did you mean epsilon?"),
        (COUNTS.replace("people", "poeple") % "add-remove", 8, "did you mean people?"),
        ((COUNTS % "add-remove").replace("people = 3", ""), 6, "[domain] needs people"),
        (COUNTS % "swap", 9, "relation"),
        ((COUNTS % "add-remove") + "colour = 1\n", 10, "colour is not known"),
        ((COUNTS % "add-remove").replace("= 1", "= -1"), 3, "epsilon must be positive"),
        ((COUNTS % "add-remove").replace("size = 2", "size = 2.5"), 4, "size must be a whole"),
        ((COUNTS % "add-remove").replace("size = 2", "size = 3"), 7, "3 different ones"),
        ((COIN % "1").replace('"1/4"', '"1/3"', 1), 2, "sum to 1, they sum to 13/12"),
        ((COIN % "1").replace("[claim]", "[clam]"), 5, "did you mean claim?"),
        ((COIN % "1").split("[claim]")[0], 1, "needs a table [claim]"),
        ((COIN % "x"), 6, "epsilon must be a finite number"),
        ("[law]\nname = 'x'\n", 1, "needs rows"),
        ("", None, "the file needs mechanism"),
        ("[mechanism\n", None, "this is not TOML"),
    ],
)
def test_mistakes_are_said_with_their_line(cli, written, text: str, line, says: str) -> None:
    path = written(text)
    ended = cli("verify", path)
    assert ended.code == 2
    assert ended.out == ""
    assert says in ended.err
    if line is not None:
        assert f"{path}, line {line}:" in ended.err
    command = ended.err.strip().splitlines()[-1].removeprefix("  next: reticent ").split()
    assert cli(*command).code == 0


def test_each_kind_of_domain_is_understood(cli, written) -> None:
    """The same counts as values, as records that add vectors, and listed one by one."""
    head = '[mechanism]\nname = "discrete-laplace"\nepsilon = 0.3\nsize = 2\n\n'
    domains = (
        "[domain]\nvalues = [0, 1, 2]\n",
        "[domain]\npeople = 2\n[domain.records]\na = [1, 0]\nb = [0, 1]\n",
        "[domain]\nneighbours = [['x', 'y']]\n[domain.inputs]\nx = [1, 0]\ny = [1, 1]\n",
    )
    for domain in domains:
        (unit,) = cli("verify", written(head + domain), "--json").json["units"]
        assert float(unit["loss"]) == pytest.approx(0.3, abs=1e-9)
    far = cli("verify", written(head + "[domain]\nvalues = [0, 2]\ndistance = 2\n"), "--json")
    assert float(far.json["units"][0]["loss"]) == pytest.approx(0.6, abs=1e-9)
    assert far.code == 1


def test_no_file_is_a_mistake_with_a_way_on(cli, tmp_path) -> None:
    ended = cli("verify")
    assert ended.code == 2
    assert "reticent verify --example discrete-laplace" in ended.err
    assert cli("verify", tmp_path / "missing.toml").code == 2


def test_numbers_are_exact(cli, written) -> None:
    """0.1 as written is one tenth: a claim of "1/10" is met, a hair less is not."""
    text = (COUNTS % "add-remove").replace("epsilon = 1", "epsilon = 0.1")
    assert cli("verify", written(text + '\n[claim]\nepsilon = "1/10"\n')).code == 0
    hair = json.dumps(str(Fraction(1, 10) - Fraction(1, 10**30)))
    assert cli("verify", written(f"{text}\n[claim]\nepsilon = {hair}\n")).code == 1


def test_counts_that_are_not_whole_are_enumerated_as_they_are_released(cli, written) -> None:
    """0.5 is read as 0 and 1.5 as 2: enumeration must not say of it what an audit refutes."""
    text = '[mechanism]\nname = "discrete-laplace"\nepsilon = 1\n\n[domain]\nvalues = %s\n'
    ended = cli("verify", written(text % [0, 0.5, 1, 1.5]), "--json")
    assert (ended.code, ended.json["verdict"]) == (1, "broken")
    assert cli("verify", written(text % [0, 1, 2])).code == 0


def test_figures_without_a_claim_are_not_said_to_hold(cli, written) -> None:
    joint = '\n[law.joint]\na = { yes = "1/2" }\nb = { no = "1/2" }\n'
    ended = cli("verify", written((COIN % "1.1") + joint))
    assert ended.code == 0
    assert "nothing is claimed of it" in ended.out
    assert "all 0 claims" not in ended.out
