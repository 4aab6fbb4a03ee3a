"""What providers ask for: read strictly, and terms that follow from what is public alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from reticent.errors import ParameterError
from reticent.gateway.offers import offers_of, read_asks, write_asks
from reticent.guarantees.promises.caveats import COMPARED, COUNTED, HISTOGRAM, HOLDER, PROFILE
from reticent.queries.public_terms import AttributeTerms
from tests.unit.gateway.seeded import (
    ADS,
    ASKS,
    CLUB,
    FILMS,
    ask,
    fill,
    opened,
    recoding,
    somebody,
)

GOOD = {"epsilon": "0.4", "attributes": {"default": "0.2"}}


def offers(asks: Any, provider: str = CLUB, **others: Any) -> Any:
    given = {"catalogue": FILMS, "recoding": recoding()} | others
    return offers_of(provider, read_asks(asks), **given)


def test_what_is_left_out_is_not_offered() -> None:
    assert sorted(offers(ASKS[CLUB])) == ["histogram", "profile", "similarity"]
    assert offers({}) == {}
    assert sorted(offers({"similarity": {"epsilon": "1"}})) == ["similarity"]


@pytest.mark.parametrize("amount", ["nan", "inf", "-1", "0", "", "x", None, True, [], {}, "1e999"])
def test_amounts_are_numbers_above_0(amount: Any) -> None:
    for asks in ({**GOOD, "epsilon": amount}, {**GOOD, "attributes": {"Drama": amount}}):
        if asks["epsilon"] is not None:
            with pytest.raises(ParameterError):
                read_asks({"histogram": asks})


def test_amounts_are_kept_in_one_form() -> None:
    alike = [read_asks({"histogram": {**GOOD, "epsilon": e}}) for e in ("0.4", 0.4, "2/5", "0.40")]
    assert all(write_asks(one) == {"histogram": GOOD} for one in alike)
    assert all(read_asks(write_asks(one)) == one for one in alike)


@pytest.mark.parametrize(
    "asks",
    [
        {"histogram": {**GOOD, "seed": "1"}},
        {"histogram": {"attributes": {"default": "1"}}},
        {"histogram": {**GOOD, "kind": "similarity"}},
        {"similarity": {"epsilon": "1", "measure": "__import__('os')"}},
        {"similarity": {}},
        {"unknown": {}},
        {"quantile": {"epsilon": "1", "upper": 9}},
        {"profile": "maybe"},
        {"profile": True},
    ],
)
def test_asks_are_read_strictly(asks: Any) -> None:
    with pytest.raises(ParameterError):
        read_asks(asks)


@pytest.mark.parametrize(
    "asks",
    [
        {"histogram": {**GOOD, "provider": ADS}},
        {"histogram": {**GOOD, "person": "ann"}},
        {"histogram": {**GOOD, "person": "ann", "own_device": True}},
        {"similarity": {"epsilon": "1", "pair": ["ann", "bob"]}},
        {"profile": {"once": "/etc/passwd.json"}},
        {"recommendations": {"trusted_gateway": True}},
    ],
)
def test_what_names_people_or_files_is_not_for_those_outside(asks: Any) -> None:
    with pytest.raises(ParameterError, match="left out of what is asked for"):
        read_asks(asks)


@pytest.mark.parametrize(
    "asks",
    [
        {"histogram": {"epsilon": "0", "attributes": {"default": "0.2"}}},
        {"histogram": {"epsilon": "1", "attributes": {}}},
        {"histogram": {"epsilon": "1", "attributes": {"Unknown": "0.2"}}},
        {"histogram": {**GOOD, "possible": True}},
        {"histogram": {**GOOD, "replace": True}},
        {"similarity": {"epsilon": "1", "norms": "public"}},
        {"neighbours": {}},
        {"sketches": {"epsilon": "1"}, "neighbours": {"epsilon": "1"}},
    ],
)
def test_terms_that_cannot_be_are_refused(asks: Any) -> None:
    with pytest.raises(ParameterError):
        offers(asks)


def test_a_profile_needs_a_mapping() -> None:
    with pytest.raises(ParameterError):
        offers({"profile": {}}, recoding=None)


def test_attributes_without_an_amount_are_not_asked_for() -> None:
    made = offers({"histogram": {"epsilon": "1", "attributes": {"Drama": "0.5"}}})["histogram"]
    assert isinstance(made.terms, AttributeTerms)
    assert made.terms.maths.plan.attributes == ("Drama",)


def test_terms_are_named_by_all_that_is_public() -> None:
    one = offers(ASKS[CLUB])
    assert {kind: offer.id for kind, offer in one.items()} == {
        kind: offer.id for kind, offer in offers(ASKS[CLUB]).items()
    }
    others = [
        offers({**ASKS[CLUB], "histogram": {**GOOD, "epsilon": "0.5"}})["histogram"],
        offers({**ASKS[CLUB], "histogram": {**GOOD, "attributes": {"default": "0.1"}}})[
            "histogram"
        ],
        offers(ASKS[CLUB], provider=ADS)["histogram"],
        one["similarity"],
        one["profile"],
        one["histogram"],
    ]
    assert len({offer.id for offer in others}) == len(others)


def test_cards_say_nothing_of_a_person_and_are_private() -> None:
    for offer in offers(ASKS[CLUB]).values():
        assert offer.event.private
        told = offer.card.to_json()
        assert CLUB in told
        assert offer.card.budget is not None
        assert offer.card.budget.spent == offer.card.budget.limit == "private"
        assert offer.id in told


def test_what_a_seeded_source_draws_is_marked(tmp_path: Path) -> None:
    """Experiments promise nothing: event, card and terms are others than those of the service."""
    with opened(tmp_path / "gateway.db", seed=1) as gateway:
        fill(gateway, {"ann": somebody()})
        for kind, offer in gateway.world().offers[CLUB].items():
            assert not offer.event.private
            assert offer.card.provenance.seeded
            assert offer.id != offers(ASKS[CLUB])[kind].id
        ask(gateway, "key-00000001", kind="profile")
        told = gateway.read(lambda c: c.execute("SELECT event FROM spend").fetchall())
        assert {json.loads(row[0])["private"] for row in told} == {False}


LISTS = "knowledge of the people and items that were declared: these lists are public"
KINDS = {
    "histogram": (COUNTED, LISTS, *HISTOGRAM),
    "similarity": (COUNTED, LISTS, *COMPARED),
    "profile": PROFILE,
}


def wrong_caveats(made: Any) -> list[str]:
    """Kinds whose card has other caveats than their own, in any way."""
    return [
        kind
        for kind, caveats in KINDS.items()
        if made[kind].card.scope.not_against != (HOLDER, *caveats)
    ]


def test_the_card_of_each_kind_has_its_own_caveats() -> None:
    assert wrong_caveats(offers(ASKS[CLUB])) == []


def test_caveats_of_histograms_on_every_card_are_found(monkeypatch: Any) -> None:
    """The control: one list for all kinds."""
    profiles = "reticent.guarantees.promises.profiles"
    monkeypatch.setattr(f"{profiles}.profile_caveats", lambda _: HISTOGRAM)
    monkeypatch.setattr(f"{profiles}.similarity_caveats", lambda *_: HISTOGRAM)
    assert wrong_caveats(offers(ASKS[CLUB])) == ["similarity", "profile"]


def test_other_words_are_other_terms(monkeypatch: Any) -> None:
    """Answers that were kept keep the card they were sent with."""
    before = offers(ASKS[CLUB])["profile"].id
    changed = (*PROFILE, "something else")
    monkeypatch.setattr("reticent.guarantees.promises.caveats.PROFILE", changed)
    assert offers(ASKS[CLUB])["profile"].id != before
