"""Cards of every kind and surface: untouched they hold, with any sentence changed they do not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import reticent as rt
from reticent.gateway.offers import offers_of, read_asks
from reticent.guarantees import promises
from reticent.guarantees.card import Card, _identity
from reticent.noise import Source
from reticent.queries import registry
from reticent.queries.card_checks import UNPRINTED, recomputed
from reticent.queries.inputs import Artefact, MappingFile
from tests.unit.gateway.seeded import ASKS, CLUB, FILMS, recoding
from tests.unit.queries.test_registry import KINDS, MADE, MAPPING, SAMPLES

CHECKED = ("words", "promise", "scope", "how", "utility", "evidence")
"""Blocks of which every word is recomputed."""
UNKNOWN = ("how", "utility", "evidence")
"""Of these, of a mapping that is not at hand, nothing is."""
NAMED = ("provider", "card", "declared", "own_device", "unknown", "public", "bound", "model")
"""Facts that no event tells: they are as the maker of a card states them."""


def frames(kind: str) -> dict[str, Any]:
    """The sample tables of a kind, as columns by name."""
    found: dict[str, Any] = {}
    query = registry.query_of(kind)
    for name, one in query.inputs.items():
        if isinstance(one, MappingFile):
            found[name] = str(MAPPING)
        if isinstance(one, Artefact) and one.required:
            found[name] = MADE[one.kind].release(frames(one.kind))
    for name, (heads, rows) in SAMPLES[kind][1].items():
        found[name] = {head: [row[place] for row in rows] for place, head in enumerate(heads)}
    return found


def card_of(kind: str) -> Card:
    if kind.startswith("http "):
        given = {"catalogue": FILMS, "recoding": recoding()}
        return offers_of(CLUB, read_asks(ASKS[CLUB]), **given)[kind.removeprefix("http ")].card
    if kind in METHODS:
        return METHODS[kind].release(frames("neighbours")).card
    return SAMPLES[kind][0].release(frames(kind)).card


METHODS = {
    f"neighbours {method}": rt.Neighbours(epsilon=2, k=2, method=method, **given)
    for method, given in (
        ("direct", {"norms": "public"}),
        ("gossip", {"total_epsilon": 2, "max_contacts": 3}),
    )
}
HTTP = ["http histogram", "http similarity", "http profile"]
CARDS = {kind: card_of(kind) for kind in [*KINDS, *METHODS, *HTTP]}


def problems(told: dict[str, Any]) -> list[str]:
    """Of a card that somebody wrote, who took care of its fingerprint."""
    told["id"] = _identity(told)
    card = Card.from_json(json.dumps(told))
    return [one for one in [*card.problems(), *recomputed(card)] if one != UNPRINTED]


def plain(card: Card) -> dict[str, Any]:
    return json.loads(card.to_json())


def leaves(held: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where texts, numbers and flags stand."""
    if isinstance(held, dict):
        for name, inner in held.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(held, list):
        if held or path[0] != "evidence":  # more may be assumed, and nothing left out
            yield path
        for place, inner in enumerate(held):
            yield from leaves(inner, (*path, place))
    else:
        yield path


def changed(value: Any) -> Any:
    if isinstance(value, list):
        return value[1:] if value else ["nobody"]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return "local" if value == "central" else f"{value or ''} or less"


def put(told: dict[str, Any], path: tuple[Any, ...]) -> None:
    *inner, last = path
    held: Any = told
    for step in inner:
        held = held[step]
    held[last] = changed(held[last])


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_holds_and_none_of_its_sentences_can_be_changed(kind) -> None:
    card = CARDS[kind]
    assert problems(plain(card)) == []  # the control
    unprinted = UNPRINTED in recomputed(card)
    for block in CHECKED:
        for path in leaves(plain(card)[block], (block,)):
            if {"stated", "audit"} & {*path} or (unprinted and block in UNKNOWN):
                continue
            told = plain(card)
            put(told, path)
            try:
                assert problems(told), path
            except rt.ReticentError:  # it cannot even be read
                continue


@pytest.mark.parametrize("kind", CARDS)
def test_a_scope_cannot_be_that_of_another_release(kind) -> None:
    """Sentences and facts changed together, as by who can make cards."""
    card = CARDS[kind]
    for path in leaves(plain(card)["scope"]["stated"]["facts"]):
        if set(path) & set(NAMED) or not path:
            continue
        told = plain(card)
        put(told["scope"]["stated"]["facts"], path)
        try:
            stated = type(card.scope.stated)(**told["scope"]["stated"])
            told["scope"] = promises.restated(stated).model_dump(mode="json")
        except rt.ReticentError:  # there is no such promise
            continue
        assert problems(told), path
    other = promises.top_nodes(bound=9, inside=False, declared=True)
    if kind != "top-nodes":
        told = {**plain(card), "scope": other.model_dump(mode="json")}
        assert problems(told)


def test_a_promise_is_worded_again_from_its_facts() -> None:
    for card in CARDS.values():
        assert card.scope.stated is not None
        assert promises.restated(card.scope.stated) == card.scope


@pytest.mark.parametrize(
    ("promise", "facts"),
    [
        ("other", {}),
        ("quantile", {"provider": "x"}),
        ("counts", {"unit": ["planet", "add-remove"], "records": 1}),
        ("counts", {"unit": ["person", "add-remove"], "records": "1"}),
        ("similarity", {"norms": "private", "public": "nothing at all"}),
        ("histogram", {"provider": "x", "weighted": True, "model": "none", "public": []}),
        ("predictions", {"tree": {"promise": "quantile", "facts": {"x": 1}}, "card": "a"}),
    ],
)
def test_facts_that_fit_no_promise_are_refused(promise, facts) -> None:
    told = plain(CARDS["quantile"])
    told["scope"]["stated"] = {"promise": promise, "facts": facts}
    assert any(one.startswith("scope: ") for one in problems(told))


def test_a_seeded_card_is_checked_as_well() -> None:
    card = SAMPLES["counts"][0].release(frames("counts"), source=Source.seeded(1)).card
    assert recomputed(card) == []
    told = plain(card)
    told["scope"]["protected"] = "everybody on earth"
    assert problems(told)


@pytest.mark.parametrize("private", [True, False])
def test_a_card_cannot_name_other_randomness_than_its_event(private) -> None:
    source = Source.system() if private else Source.seeded(1)
    card = SAMPLES["counts"][0].release(frames("counts"), source=source).card
    told = plain(card)
    assert problems(told) == []  # the control
    told["provenance"]["randomness"] = "the best there is"
    assert set(problems(told)) == {"provenance: the randomness is not that of the event"}
