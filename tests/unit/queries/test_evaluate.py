"""Every kind that says it can be compared, swept, verified or audited can, in Python and shell."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.queries import registry
from reticent.queries.base import Query
from reticent.queries.cells import NO_SCORE, VERBS, cells
from reticent.queries.evaluate.distinguish import Audit, Game, play
from reticent.queries.evaluate.inference_audit import NoAttack
from reticent.queries.trials import methods_of
from reticent.queries.worlds import Sides
from tests.unit.queries.test_registry import FOLK, KINDS, SAMPLES, files, typed  # noqa: F401

SOURCE = Source.seeded(5)
CHEAP = ("counts",)
"""Drawn from quickly; the other kinds belong to the tier of audits."""


def working(verb: str) -> list[str]:
    return [k for k in KINDS if cells(registry.query_of(k))["verbs"][verb] is True]


def tiered(verb: str) -> list:
    """Kinds as parameters."""
    return [
        kind if kind in CHEAP else pytest.param(kind, marks=pytest.mark.audits)
        for kind in working(verb)
        if kind != "profile"
    ]


def asked(kind: str) -> Query:
    query = SAMPLES[kind][0]
    return replace(query, epsilon=1) if hasattr(query, "epsilon") and kind != "mapping" else query


def needed(kind: str, held: dict) -> dict:
    """Of the sample, the tables that a comparison reads."""
    wanted = registry.query_of(kind).comparison.reads
    return held if wanted is None else {name: held[name] for name in wanted if name in held}


def few(query: Query) -> dict:
    """Two values, and two runs where there are any."""
    values = ["0.1", "0.2"] if query.kind == "mapping" else [1, 4]
    return {"values": values, **({"runs": 2} if query.comparison.runs else {})}


def test_every_cell_of_these_verbs_is_decided() -> None:
    for query in registry.queries().values():
        told = cells(query)["verbs"]
        assert list(told) == list(VERBS)
        assert all(cell is True or (isinstance(cell, str) and cell) for cell in told.values())
    assert set(working("verify")) == set(working("audit")) - {"profile"}
    assert working("compare") == working("sweep")


@pytest.mark.parametrize("kind", working("compare"))
def test_python_and_shell_compare_and_sweep_the_same(cli, files, kind) -> None:  # noqa: F811
    query = asked(kind)
    tables = needed(kind, files(kind))
    given = few(query)
    compared = query.compare(tables or None, source=Source.seeded(1), **given)
    assert set(compared.ways) <= set(methods_of(type(query)))
    assert query.usual_method() in compared.ways
    flag = "--public-data" if kind == "mapping" else "--public"
    public = [flag] if any(not query.inputs[name].public for name in tables) else []
    varied = query.comparison.varies
    dropped = {varied, "method", *query.comparison.unused}
    options = [one.name for one in query.options() if one.name in dropped]
    values = ["--seed", "1", "--runs", "2"] if query.comparison.runs else []
    values += [f"--{varied}", ",".join(map(str, given["values"])), "--json"]
    words = [*typed(Typed(query, options), tables), *public, *values]
    ended = cli("compare", kind, *words)
    assert ended.code == 0, ended.err
    plain = compared.fields()
    assert {name: ended.json[name] for name in plain} == plain
    assert ended.json["schema"] == f"compare-{kind}/1"
    swept = query.sweep(tables or None, source=Source.seeded(1), **given)
    shown = cli("sweep", kind, *words, *usual(query))
    assert shown.code == 0, shown.err
    assert shown.json["rows"] == swept.fields()["rows"]
    lines = 1 if kind != "tree" else len(swept.ways)
    assert len(swept.ways) == lines


def usual(query: Query) -> list[str]:
    """The method of a query whose options say it, as a shell is told."""
    return ["--method", query.usual_method()] if query.kind == "sketches" else []


class Typed:
    """A query as it is typed where some options are not asked for."""

    def __init__(self, query: Query, dropped: list[str]) -> None:
        self.inputs, self._query, self._dropped = query.inputs, query, dropped

    def options(self):
        return [one for one in self._query.options() if one.name not in self._dropped]

    def to_plain(self):
        return self._query.to_plain()


@pytest.mark.parametrize("kind", tiered("verify"))
def test_python_and_shell_verify(cli, tmp_path, monkeypatch, kind) -> None:
    monkeypatch.chdir(tmp_path)
    query = asked(kind)
    found = query.verify(draws=200)
    assert found.refuted == ()
    ended = cli("verify", kind, *typed(query, {}), "--draws", "1000", "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["name"], ended.json["verdict"]) == (kind, "not refuted")
    assert {one["unit"] for one in ended.json["units"]} == set(map(str, found.units))


@pytest.mark.parametrize("kind", tiered("audit"))
def test_python_and_shell_audit(cli, tmp_path, monkeypatch, kind) -> None:
    monkeypatch.chdir(tmp_path)
    query = replace(asked(kind), epsilon="0.5")
    draws = 400 if kind in CHEAP else 1000
    found = query.audit(draws=draws)
    assert found.passed, str(found)
    ended = cli("audit", kind, *typed(query, {}), "--draws", draws, "--json")
    assert ended.code == 0, ended.out
    assert [game["differs"] for game in ended.json["games"]] == [g.differs for g in found.games]
    assert ended.json["control"]["noticed"] is True


@pytest.mark.parametrize("kind", tiered("audit"))
def test_too_little_noise_is_caught(kind) -> None:
    """The query with next to no noise, held to the promise of another: it must be broken."""
    query = asked(kind)
    loud = query.with_little_noise()
    world = max(query.worlds(), key=lambda one: one.weight)
    right, rounds = play(Sides.of(loud, world, SOURCE), 400, SOURCE)
    claim = Fraction(1, 10)
    assert Game(differs="x", claim=claim, right=right, rounds=rounds).above(1e-6)


def test_an_audit_says_what_it_saw() -> None:
    fair = Game(differs="a row", claim=Fraction(1), right=600, rounds=1000)
    assert 0.568 < fair.interval[0] < fair.accuracy == 0.6 < fair.interval[1] < 0.632
    assert fair.most == pytest.approx(1 / (1 + np.exp(-1)))
    caught = replace(fair, right=990)
    good, broken = Audit("x", (fair,), caught), Audit("x", (fair, caught), caught)
    blind = Audit("x", (fair,), fair)
    assert (good.passed, broken.passed, blind.passed) == (True, False, False)
    assert str(good).startswith("not refuted")
    assert str(broken).startswith("BROKEN: about a row an attacker is right 99.0 % of the time")
    assert str(blind).startswith("NOTHING SHOWN")
    assert [one["broken"] for one in broken.fields()["games"]] == [False, True]


@pytest.mark.audits
def test_the_best_possible_attack_on_a_histogram() -> None:
    """No attacker beats it, and one who learns from many answers comes near it."""
    found = rt.Histogram(epsilon=2).audit(draws=8_000, source=Source.seeded(1))
    for game in found.games:
        assert game.best <= game.most
        assert game.accuracy < game.best + 0.03
    assert found.games[0].accuracy > found.games[0].best - 0.04
    catalogue = {"item": ["Heat", "Heat", "Up"], "attribute": ["Crime", "Drama", "Drama"]}
    own = rt.Histogram(epsilon=1).audit({"catalogue": catalogue}, draws=400)
    assert [game.differs for game in own.games] == ["item Heat"]


def test_a_profile_is_attacked_as_people_are_released() -> None:
    heads = ("user", "age", "home", "income")
    people = {head: [row[place] for row in FOLK * 5] for place, head in enumerate(heads)}
    mapping = rt.Mapping(secret="income", delta="0.3", bins={"age": 10}).release(
        {"table": {**people, "user": [f"p{n}" for n in range(len(people["age"]))]}}
    )
    found = rt.Profile().audit({"mapping": mapping, "table": people}, value="high")
    assert found.passed
    assert found.fields()["best_possible"] < 1
    alike = {**people, "income": ["low"] * len(people["age"])}
    with pytest.raises(NoAttack, match="same income"):
        rt.Profile().audit({"mapping": mapping, "table": alike})
    with pytest.raises(ParameterError, match="data must be a mapping and a table"):
        rt.Profile().audit()


@pytest.mark.parametrize(
    ("kind", "verb", "says"),
    [
        ("predict", "compare", "it draws nothing"),
        ("profile", "sweep", "compare mapping"),
        ("mapping", "verify", "promises nothing"),
        ("mapping", "audit", "audit profile"),
    ],
)
def test_what_cannot_be_tried_says_why(kind, verb, says) -> None:
    with pytest.raises(ParameterError, match=says):
        getattr(SAMPLES[kind][0], verb)()


def test_wrong_arguments() -> None:
    query = rt.Counts(epsilon=1)
    for given, says in (
        ({"values": "2:1:log"}, "epsilon must be a range from less to more"),
        ({"methods": ["magic"]}, "method must be one of together"),
        ({"runs": 0}, "runs"),
        ({"colour": "red"}, "colour must be left out"),
    ):
        with pytest.raises(ParameterError, match=says):
            query.compare(**given)
    with pytest.raises(ParameterError, match="draws"):
        query.verify(draws=1)
    with pytest.raises(ParameterError, match="data must be left out"):
        query.audit({"table": {}})
    with pytest.raises(ParameterError, match="with table"):
        rt.Quantile(epsilon=1, upper=9).compare()


# A kind of one's own


@dataclass(frozen=True, kw_only=True)
class Middle(rt.Quantile):
    """A quantile that says how good it is, and nothing else."""

    kind = "middle"
    comparison = Query.comparison
    curves = Query.curves

    def score(self, value, tables) -> float:
        return abs(value - float(np.median(tables["table"]["value"])))


@dataclass(frozen=True, kw_only=True)
class Silent(Middle):
    """One that does not."""

    kind = "silent"
    score = Query.score


def test_a_score_alone_makes_a_comparison() -> None:
    pay = {"table": {"value": [float(n) for n in range(101)]}}
    found = Middle(epsilon=1, upper=100).compare(pay, values=["0.01", 10], runs=40, source=SOURCE)
    assert (found.ways, found.runs, found.x) == (("middle",), 40, "epsilon")
    blind, sharp = found.at("middle", 0.01), found.at("middle", 10.0)
    assert sharp.value < 2 < 10 < blind.value  # at random one is off by 25 on average
    assert sharp.low <= sharp.value <= sharp.high
    swept = Middle(epsilon=1, upper=100).sweep(pay, values=[1], runs=1)
    assert swept.rows[0].low is None
    assert cells(Silent)["verbs"]["compare"] == NO_SCORE
    with pytest.raises(ParameterError, match="how good an answer is"):
        Silent(epsilon=1, upper=100).compare(pay)


def test_methods_of_an_own_kind_are_those_of_its_option() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Chosen(rt.Percentile):
        """A person, scored by rank."""

        kind = "chosen"
        comparison = Query.comparison
        curves = Query.curves

        def score(self, value, tables) -> float:
            return float(value != "row 3")

    people = {"table": {"value": [1.0, 2.0, 3.0, 4.0, 5.0]}}
    found = Chosen(epsilon=1, upper=5).compare(people, values=[10_000], runs=3, source=SOURCE)
    assert set(found.ways) == {"shifted", "dampened", "permute-and-flip", "exponential"}
    assert all(row.value == 0 for row in found.rows)
