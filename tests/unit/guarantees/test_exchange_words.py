"""What a card says of exchanges is the worst case over every exchange of a small world."""

import json
from fractions import Fraction
from itertools import permutations, product
from math import exp

import pytest

from reticent.data.catalogue import Catalogue
from reticent.data.profiles import Profiles
from reticent.guarantees import ITEM_SUBSTITUTE, PerItemDP, Spread
from reticent.guarantees.card import Card, Scope, right_at_most
from reticent.mechanisms import verify
from reticent.mechanisms.multilevel_plan import plan_histogram
from reticent.noise import Source
from reticent.tasks.similarity import Similarity

NANO = 10**9
WEIGHTS = (Fraction(0), Fraction(1, 2), Fraction(1))
SCOPE = Scope(protected="x", not_against=("y",), model="central")
OLD = (
    "That is for an item of weight 1. For weight 1/2 it is at most 63 times in 100; with weight 0 "
    "it stays at 50."
)


def card_of_exchanges() -> Card:
    pair = Profiles.of(["ann", "bob"], ["A", "B"]).in_catalogue(["ann", "bob"], ["A", "B"])
    similarity = Similarity(epsilon=1, norms="public")
    return similarity.release(pair, Source.system()).card("t", scope=SCOPE)


def worst_right(own: Fraction, other: Fraction) -> float:
    """How often, of 100, the best guesser is right which of two items of these weights one has.

    Computed from the overlaps with every profile of the peer, at noise of scale 1.
    """
    moved = Fraction(0)
    for first, second in product((0, Fraction(1, 2), 1), repeat=2):  # the peer's weights
        moved = max(moved, abs(min(own, first) - min(other, second)))
    return 100 * exp(moved) / (exp(moved) + 1)


@pytest.mark.parametrize(("own", "other"), list(product(WEIGHTS, repeat=2)))
def test_the_larger_of_two_weights_decides(own: Fraction, other: Fraction) -> None:
    said = float(right_at_most(int(max(own, other) * NANO)))
    assert worst_right(own, other) <= said < worst_right(own, other) + 1


def test_the_sentence_states_these_worst_cases() -> None:
    (line,) = card_of_exchanges().words.also
    assert "larger weight counts" in line
    half = max(worst_right(Fraction(1, 2), other) for other in (Fraction(0), Fraction(1, 2)))
    assert f"at most {right_at_most(NANO // 2)} times" in line
    assert half <= float(right_at_most(NANO // 2))
    assert "only if both have weight 0 does it stay at 50" in line
    assert worst_right(Fraction(0), Fraction(0)) == 50
    # the sentence that was there says 50 of an item of weight 0, whatever it is exchanged for
    assert max(worst_right(Fraction(0), other) for other in WEIGHTS) > 73


def test_a_card_with_the_old_sentence_does_not_hold() -> None:
    held = json.loads(card_of_exchanges().to_json())
    held["words"]["also"] = [OLD]
    found = Card.from_json(json.dumps(held)).problems()
    assert "words: the sentences do not follow from the loss" in found


def test_named_weights_of_exchanges_say_which_of_two_counts() -> None:
    from reticent.guarantees import Event
    from reticent.guarantees.card import Utility, _words

    loss = PerItemDP(Spread(NANO, {"A": 0, "B": NANO // 2}), ITEM_SUBSTITUTE)
    words = _words(Event("similarity", {}, loss, True), Utility(sentence="none"))
    assert "of two items the larger weight counts" in words.also[0]


BOOKS = Catalogue.of([[5], [6], [9]], attributes=("Pages",), items=("five", "six", "nine"))


def test_a_replacement_is_covered_between_items_of_the_catalogue_and_the_card_says_so() -> None:
    plan = plan_histogram(BOOKS, budgets={"Pages": 1}, epsilon=1, unit=ITEM_SUBSTITUTE)
    (rate,) = (Fraction(rate) for rate in plan.mechanism.rates)
    pages = [int(plan.mechanism.histogram(p)[0]) for p in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
    inside = max(abs(a - b) * rate for a, b in permutations(pages, 2))
    outside = max(abs(a) * rate for a in pages)  # nothing of the catalogue is left
    assert inside == 1
    assert outside > 2, "the control: an item from outside loses more than was promised"
    card = plan.mechanism.release([1, 0, 0], Source.system()).card("t", scope=SCOPE)
    assert "which of two given items of the catalogue" in card.words.odds
    assert any("both items of a replacement" in line for line in card.evidence.assumptions)
    assert verify(card) == []
    silent = card.evidence.model_copy(update={"assumptions": card.evidence.assumptions[1:]})
    found = verify(card.model_copy(update={"evidence": silent}))
    assert "evidence: it leaves out what the mechanism assumes" in found
