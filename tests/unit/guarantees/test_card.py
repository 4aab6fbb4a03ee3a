"""The card says what follows from its event, rounds up, and notices every change."""

import contextlib
import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from importlib import resources
from typing import Any

import jsonschema
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import CardError, ParameterError
from reticent.guarantees import (
    EDGE,
    ITEM,
    ITEM_SUBSTITUTE,
    RECORD,
    RECORD_SUBSTITUTE,
    Event,
    Loss,
    MultiLevelDP,
    MutualInformation,
    PerItemDP,
    PureDP,
    Spread,
    Unit,
    canonical,
)
from reticent.guarantees.card import (
    Budget,
    Card,
    Evidence,
    How,
    Preferences,
    Scope,
    Utility,
    card_schema,
    make_card,
    right_at_most,
)
from reticent.mechanisms import (
    DiscreteLaplace,
    Exponential,
    PermuteAndFlip,
    SnappedLaplace,
    verify,
)
from reticent.noise import Source

DAY = date(2026, 11, 15)
SCOPE = Scope(protected="one person", not_against=("a break-in",), model="central")
UNITS = [EDGE, ITEM, ITEM_SUBSTITUTE, RECORD, RECORD_SUBSTITUTE, Unit("edge", "substitute")]
MECHANISMS = [
    DiscreteLaplace(epsilon="0.5", size=3),
    SnappedLaplace(epsilon="0.3", size=3, sensitivity=1, lower=0, upper=10),
    Exponential(epsilon="0.1", candidates=3, sensitivity="0.5"),
    PermuteAndFlip(epsilon=1, candidates=3, sensitivity=2, monotone=True),
]


def card_of(loss: Loss, *, private: bool = True, title: str = "A release", **more: Any) -> Card:
    return make_card(
        title,
        Event("example", {}, loss, private),
        scope=SCOPE,
        how=How(sensitivity="1", bounds="none", floating_point="integers"),
        utility=Utility(sentence="within 3, 95 times in 100"),
        evidence=Evidence(theorem="a theorem"),
        made=DAY,
        **more,
    )


def full_card(mechanism: Any = MECHANISMS[0]) -> Card:
    """A card on which every block and every optional field is filled."""
    released = mechanism.release([1, 2, 3], Source.system())
    return make_card(
        "Counts",
        released.event,
        scope=SCOPE,
        how=mechanism.how(),
        utility=mechanism.utility(),
        evidence=mechanism.evidence().model_copy(update={"audit": "measured 0.4"}),
        budget=Budget(spent="0.5", limit="1"),
        preferences=Preferences(
            rules_sha256="ab" * 32, withheld=3, public=True, others_change_your_risk=False
        ),
        command="reticent example",
        made=DAY,
    )


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [("0.1", "53"), ("0.5", "63"), ("1", "74"), ("2", "89"), ("3", "96"), ("5", "99.4")],
)
def test_the_published_bounds(epsilon: str, times: str) -> None:
    assert right_at_most(int(Decimal(epsilon) * 10**9)) == times


@given(st.integers(0, 40 * 10**9))
def test_bounds_round_up_and_by_less_than_one_step(nano: int) -> None:
    with mpmath.workdps(60):
        odds = mpmath.exp(mpmath.mpf(nano) / 10**9)
        exact = 100 * odds / (1 + odds)
        shown = mpmath.mpf(right_at_most(nano))
        assert exact <= shown
        assert shown - exact < 1


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_odds_sentence_fits_unit_and_relation(unit: Unit) -> None:
    words = card_of(PureDP.of("0.5", unit)).words
    assert unit.question in words.odds
    assert "(50 in 100)" in words.odds
    assert "at most 63 times in 100" in words.odds
    if unit.relation == "add-remove":  # a value is two steps away: twice the loss
        assert words.also == (f"About {unit.beyond}, at most 74 times in 100.",)
    else:
        assert words.also == ()


def test_questions_differ_by_unit_and_relation() -> None:
    assert len({unit.question for unit in UNITS}) == len(UNITS)


def test_a_large_loss_says_so() -> None:
    assert "This is little worst-case protection." in card_of(PureDP.of("5.1", RECORD)).words.also
    assert len(card_of(PureDP.of(5, RECORD)).words.also) == 1


def test_items_that_differ_are_bounded_one_and_all() -> None:
    also = card_of(PerItemDP.of(1, {"a": 0, "b": 1}, default="0.5")).words.also
    assert "Items differ by their weight: from at most 50 to at most 74 times in 100." in also


def test_a_seeded_release_promises_nothing() -> None:
    card = card_of(PureDP.of("0.5", RECORD), private=False)
    assert "protects nobody" in card.words.odds
    assert card.words.right_at_most == "100"
    assert card.provenance.seeded


def test_mutual_information_is_an_average_without_a_bound() -> None:
    card = card_of(MutualInformation(0.05, 0.1, "gender", "census"))
    assert card.words.odds.startswith("If people follow census")
    assert card.words.odds.endswith("on average.")
    assert card.words.right_at_most == "not bounded"
    assert not card.promise.worst_case
    assert card.promise.epsilon is None


def test_the_promise_names_unit_and_exact_loss() -> None:
    promise = card_of(PureDP.of("0.123456789", ITEM)).promise
    assert (promise.epsilon, promise.delta, promise.worst_case) == ("0.123456789", "0", True)
    assert promise.unit == str(ITEM)


def test_multi_level_losses_speak_of_the_most_exposed() -> None:
    loss = MultiLevelDP(Spread(10**9), Spread(0, {"Drama": 10**8}))
    assert card_of(loss).promise.epsilon == "1"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_cards_read_back_and_verify(mechanism: Any) -> None:
    card = full_card(mechanism)
    assert Card.from_json(card.to_json()) == card
    assert Card.from_json(card.to_json()).to_json() == card.to_json()
    assert verify(card) == []


def test_equal_cards_are_byte_equal() -> None:
    loss = PureDP.of("0.5", RECORD)
    assert card_of(loss).to_json() == card_of(loss).to_json()
    assert card_of(loss).id != card_of(loss, title="Another release").id


def test_the_shipped_schema_is_current() -> None:
    shipped = resources.files("reticent.guarantees") / "guarantee-card-1.schema.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == card_schema()


@pytest.mark.parametrize(
    "card",
    [
        full_card(),
        card_of(PureDP.of(1, RECORD), private=False),
        card_of(MutualInformation(0.05, 0.1, "gender", "census")),
        card_of(PerItemDP.of(1, {"a": 0}, default=1)),
    ],
    ids=["full", "seeded", "average", "items"],
)
def test_cards_validate_against_the_schema(card: Card) -> None:
    validator = jsonschema.Draft202012Validator(card_schema())
    validator.validate(json.loads(card.to_json()))


def test_the_schema_refuses_what_is_no_card() -> None:
    validator = jsonschema.Draft202012Validator(card_schema())
    data = json.loads(full_card().to_json())
    assert not validator.is_valid({**data, "more": 1})
    assert not validator.is_valid({**data, "schema": "guarantee-card/2"})
    assert not validator.is_valid({name: data[name] for name in data if name != "words"})


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in parts:
        if isinstance(value, (dict, list)) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed(value: Any) -> list[Any]:
    """Other values for a leaf, of its own type and of others."""
    if isinstance(value, bool):
        return [not value, None, "perhaps"]
    if isinstance(value, (int, float)):
        return [value + 1, -value - 1, value * 2 + 3, None, "x"]
    if isinstance(value, str):
        return [value + " ", value.upper() + "x", "", "0.001", None, 7]
    return ["x", 1, ["x"], {"x": 1}]


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def tampered(path: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    data = json.loads(full_card().to_json())
    for other in changed(at(data, path)):
        copied = copy.deepcopy(data)
        at(copied, path[:-1])[path[-1]] = other
        yield copied


def finds(data: dict[str, Any]) -> bool:
    try:
        return verify(Card.from_json(json.dumps(data))) != []
    except CardError:
        return True


LEAVES = list(leaves(json.loads(full_card().to_json())))


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_every_changed_leaf_is_found_or_refused(path: tuple[Any, ...]) -> None:
    for data in tampered(path):
        assert finds(data), f"{path} = {at(data, path)!r} went unnoticed"


def reidentified(data: dict[str, Any]) -> dict[str, Any]:
    """As a forger would leave it: with the fingerprint made anew."""
    digest = hashlib.sha256(canonical({**data, "id": ""}).encode()).hexdigest()[:32]
    return {**data, "id": digest}


RECOMPUTED = [
    path
    for path in LEAVES
    if path[0] in {"words", "promise", "how", "utility", "event"}
    or path[:2] in {("evidence", "theorem"), ("provenance", "seeded"), ("schema",)}
]


@pytest.mark.parametrize("path", RECOMPUTED, ids=lambda path: ".".join(map(str, path)))
def test_what_is_recomputed_is_found_even_with_a_new_id(path: tuple[Any, ...]) -> None:
    for data in tampered(path):
        assert finds(reidentified(data)), f"{path} = {at(data, path)!r} went unnoticed"


def test_removed_and_added_fields_are_refused() -> None:
    data = json.loads(full_card().to_json())
    for block in ("words", "promise", "scope", "provenance", "event", "id"):
        with pytest.raises(CardError):
            Card.from_json(json.dumps({k: v for k, v in data.items() if k != block}))
    with pytest.raises(CardError, match="more"):
        Card.from_json(json.dumps({**data, "words": {**data["words"], "more": 1}}))


def test_reading_errors_do_not_echo_the_file() -> None:
    with pytest.raises(CardError) as caught:
        Card.from_json('{"schema": "canary-7261"}')
    assert "canary" not in str(caught.value)


HUGE = {"default": 10**30, "named": {}}


@pytest.mark.parametrize("check", [Card.problems, verify], ids=["problems", "verify"])
@pytest.mark.parametrize(
    "changes",
    [
        {("loss", "items", "named"): "x"},
        {("loss", "items"): HUGE, ("loss", "attributes"): HUGE},
        {("parameters", "epsilon"): "1e400"},
        {("parameters", "more"): float("nan")},
    ],
    ids=["named", "huge loss", "huge epsilon", "nan"],
)
def test_hostile_events_are_problems_or_card_errors(
    check: Callable[[Card], list[str]], changes: dict[tuple[str, ...], Any]
) -> None:
    data = json.loads(full_card().to_json())
    for path, value in changes.items():
        at(data["event"], path[:-1])[path[-1]] = value
    with contextlib.suppress(CardError):
        assert check(Card.from_json(json.dumps(data))) != []


def test_a_card_needs_a_title() -> None:
    with pytest.raises(ParameterError, match="title must be"):
        card_of(PureDP.of(1, RECORD), title="  ")


def test_an_unknown_mechanism_cannot_be_verified() -> None:
    with pytest.raises(CardError, match="not known here"):
        verify(card_of(PureDP.of(1, RECORD)))
