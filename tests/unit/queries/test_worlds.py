"""Each query on inputs that differ in one unit: the form, what weight 0 may show, and its claim."""

from dataclasses import replace
from fractions import Fraction

import pytest

import reticent as rt
from reticent.cli.verify_file import Section
from reticent.cli.verify_queries import query_case
from reticent.noise import Source
from reticent.queries import registry
from reticent.queries.base import Query
from reticent.queries.cells import cells
from reticent.queries.run import card_of
from reticent.queries.worlds import Ready
from reticent.testing.searched import audit_world
from tests.unit.queries.test_registry import SAMPLES, toml

KINDS = [kind for kind, query in registry.queries().items() if query.worlds is not Query.worlds]
DRAWS, LOUD = 400, 400


def asked(kind: str, epsilon: object = 4) -> Query:
    return replace(SAMPLES[kind][0], epsilon=epsilon)


def sides(query: Query):
    for world in query.worlds():
        yield world, Ready.of(query, world.first), Ready.of(query, world.second)


def card(ready: Ready) -> str:
    event = ready.terms.event(Source.seeded(1))
    return card_of(ready.terms, event, budget=None).to_json()


def test_what_promises_a_worst_case_can_be_tried() -> None:
    assert [
        *("counts", "quantile", "percentile", "top-nodes", "histogram", "similarity"),
        *("sketches", "neighbours", "tree"),
    ] == KINDS
    for kind, query in registry.queries().items():
        assert (cells(query)["verbs"]["verify"] is True) is (kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_card_and_the_form_do_not_differ(kind) -> None:
    for _, first, second in sides(asked(kind)):
        assert card(first) == card(second)
        if kind != "tree":  # whose form is drawn, too
            shapes = [[len(r) for r in one.rows(Source.seeded(3))] for one in (first, second)]
            assert shapes[0] == shapes[1]


@pytest.mark.parametrize("kind", ["histogram", "similarity", "sketches", "neighbours"])
def test_what_has_weight_0_changes_no_byte(kind) -> None:
    found = [(first, second) for w, first, second in sides(asked(kind)) if w.weight == 0]
    assert found
    for first, second in found:
        for seed in range(5):
            assert first.rows(Source.seeded(seed)) == second.rows(Source.seeded(seed))
    heavy = [(first, second) for w, first, second in sides(asked(kind, LOUD)) if w.weight == 1]
    assert any(  # the control: what counts does show, with next to no noise
        first.rows(Source.seeded(1)) != second.rows(Source.seeded(1)) for first, second in heavy
    )


@pytest.mark.audits
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_loses_more_than_is_claimed(kind) -> None:
    case = query_case(Section(asked(kind).to_plain()))
    assert max(case.claims.values()) == 4
    found = audit_world(case.draw, case.world, case.claims, samples=DRAWS, confidence=0.9999)
    assert [unit for unit, one in found.items() if one.audit.violated] == []


@pytest.mark.audits
@pytest.mark.parametrize("kind", KINDS)
def test_too_little_noise_is_found(kind) -> None:
    """The control: next to no noise, at epsilon 400, held to the promise of epsilon 0.1."""
    case = query_case(Section(asked(kind, LOUD).to_plain()))
    claims = {unit: Fraction(claim, 10 * LOUD) for unit, claim in case.claims.items()}
    found = audit_world(case.draw, case.world, claims, samples=DRAWS, confidence=0.9999)
    assert any(one.audit.violated for one in found.values())


@pytest.mark.audits
@pytest.mark.parametrize("kind", KINDS)
def test_the_command_verifies_it(cli, tmp_path, monkeypatch, kind) -> None:
    monkeypatch.chdir(tmp_path)
    told = {name: value for name, value in asked(kind).to_plain().items() if value is not None}
    ended = cli("verify", toml("query", {"query": told}), "--draws", "1000", "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["name"], ended.json["verdict"]) == (kind, "not refuted")


def test_a_query_is_verified_from_a_file(cli, tmp_path) -> None:
    path = tmp_path / "query.toml"
    path.write_text('[query]\nkind = "counts"\nepsilon = 0.5\nunit = "record"\n')
    ended = cli("verify", path, "--draws", "1000")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("not refuted")
    assert "a record" in ended.out
    told = cli("verify", path, "--draws", "1000", "--json").json
    assert (told["name"], told["verdict"], told["method"]) == ("counts", "not refuted", "audited")
    assert told["units"][0]["claim"] == "1/2"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('kind = "mapping"\nsecret = "a"\ndelta = 0.1', "promises nothing to the people"),
        ('kind = "profile"', "its promise is an average"),
        ('kind = "predict"', "it draws nothing"),
        ('kind = "histogram"', "with these options it promises no worst case"),
        ('kind = "count"\nepsilon = 1', "count"),
        ('kind = "counts"', "epsilon"),
        ('kind = "counts"\nepsilon = 0', "epsilon must be"),
        ('kind = "counts"\nepsilon = 1\ncolour = "red"', "colour"),
    ],
)
def test_what_cannot_be_verified_says_why(cli, tmp_path, text, says) -> None:
    path = tmp_path / "query.toml"
    path.write_text(f"[query]\n{text}\n")
    ended = cli("verify", path)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err


def test_worlds_follow_the_options() -> None:
    exchanged = rt.Histogram(provider="shop", epsilon=1, replace=True).worlds()
    assert [one.differs for one in exchanged][:1] == ["one of two items of weight 1"]
    named = rt.Similarity(epsilon=1, pair=("ann", "bob")).worlds()
    assert named[0].first["people"][:2] == ["ann", "bob"]
    for you in ("she", "he", "they", "you"):  # nobody else's lines may hide what differs
        for world in rt.Histogram(provider="shop", epsilon=1, person=you).worlds():
            assert len(set(world.first["people"])) == 3
            lines = [one["profiles"]["person"].count(you) for one in (world.first, world.second)]
            assert lines == [2, 1]
    assert len(rt.Counts(epsilon=1, records=10**9).worlds()[0].first["table"]["person"]) < 50
