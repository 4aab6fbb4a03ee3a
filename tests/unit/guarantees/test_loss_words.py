"""What a plan says of a loss: what a card says of the same one, or what is known of an average."""

import pytest

from reticent.amounts import NANO
from reticent.guarantees import (
    ITEM,
    RECORD,
    MutualInformation,
    PerItemDP,
    PureDP,
    Spread,
    Unprotected,
)
from reticent.guarantees.card import Evidence, How, Scope, Utility, make_card
from reticent.guarantees.card_views import card_text
from reticent.guarantees.events import Event
from reticent.guarantees.loss_words import LITTLE, BitsWords, words_of
from reticent.guarantees.samples import HeldOut, Sample

SAMPLE = Sample(people=600, profiles=24)


def card_of(loss):
    return make_card(
        "x",
        Event("m", {}, loss, private=True),
        scope=Scope(protected="a", not_against=(), model="local"),
        how=How(sensitivity="1", bounds="b", floating_point="f"),
        utility=Utility(sentence="s"),
        evidence=Evidence(theorem="t"),
    )


@pytest.mark.parametrize(
    "loss",
    [PureDP(NANO // 2, RECORD), PerItemDP(Spread(NANO, {"a": 3 * NANO})), PureDP(6 * NANO, ITEM)],
)
def test_odds_are_those_of_the_card(loss) -> None:
    words, card = words_of(loss), card_of(loss)
    assert words.charge == loss.overall
    assert words.right_at_most == card.words.right_at_most
    assert words.gain() == card.words.odds.replace("this release", "the result")
    assert words.fields() == {"epsilon": card.promise.epsilon, "right_at_most": words.right_at_most}
    assert words.spent() == f"spent epsilon {card.promise.epsilon}"
    assert (LITTLE in words.cautions) is any("little worst-case" in s for s in card.words.also)


def test_an_average_costs_accounts_nothing_and_bounds_no_guess() -> None:
    loss = MutualInformation(0.03, 0.1, "income", "the counts", (0.427, 0.4461), 0.2, SAMPLE)
    words = words_of(loss)
    assert (words.charge, words.right_at_most, words.cautions) == (0, "not bounded", ())
    assert words.right_at_most == card_of(loss).words.right_at_most
    assert "is right for 44.7 of 100 who are released, and for 42.7" in words.gain()  # up
    assert words.cost().startswith("0.03 bits about income, on average over the people it was")
    assert words.cost().endswith("; of others it may tell more")
    assert words.spent() == f"told {words.cost()}"
    assert words.fields()["right_guesses"] == {"before": 0.427, "after": 0.4461}


def test_what_is_unprotected_promises_nothing() -> None:
    words, card = words_of(Unprotected("the crowd")), card_of(Unprotected("the crowd"))
    assert (words.charge, words.right_at_most) == (0, card.words.right_at_most)
    assert words.gain() == "Nothing bounds what whoever has the result can learn about the crowd."
    assert words.spent() == "spent no budget: the crowd are not protected"
    assert words.fields()["unprotected"] == "the crowd"
    assert card.words.odds.startswith("Not private: the crowd are not protected.")
    assert (card.promise.worst_case, card.promise.epsilon, card.promise.bits) == (False, None, None)
    shown = card_text(card)
    assert "no promise (not protected)" in shown
    assert "Nothing is promised" in shown
    assert "average" not in shown


def test_people_held_out_are_told_of_with_their_limit() -> None:
    held = HeldOut(people=100, bits=0.05, at_most=0.2, left_out=0)
    sample = Sample(people=600, profiles=24, held_out=held)
    loss = MutualInformation(0.03, 0.1, "income", "the counts", (0.4, 0.5), 0.2, sample)
    assert (
        words_of(loss)
        .cost()
        .endswith(
            "; 0.05 of 100 held out, and at most 0.2 with 95 % confidence for their population"
        )
    )


def test_each_secret_by_itself_and_a_declared_law() -> None:
    loss = MutualInformation(0.03, 0.1, "income, health", "a law")
    words = BitsWords(loss, {"income": 0.02, "health": 0.010001})
    assert words.cost().startswith("0.02 bits about income, 0.01001 bits about health, on average")
    assert "people who follow a law" in words.cost()
    assert "was not computed" in words.gain()
    assert words.fields() == {
        "bits": {"income": 0.02, "health": 0.010001},
        "right_guesses": None,
        "sample": None,
    }
