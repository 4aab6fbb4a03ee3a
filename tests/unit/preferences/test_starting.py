"""The files to start from are usable, say what comes of them, and are reached evenly."""

import itertools
from fractions import Fraction

import pytest

from reticent.amounts import nano_up
from reticent.errors import ParameterError
from reticent.guarantees.card import right_at_most
from reticent.preferences import Preferences
from reticent.preferences.starting import QUESTIONS, starting_profiles, suggest

PROVIDERS = ["filmclub.example", 'a "b"\n', "club", "club"]
ATTRIBUTES = ["Film\nNoir", "Drama"]
KEEP, BALANCED, OPEN = starting_profiles()


def read(starting) -> Preferences:
    return Preferences.parse(starting.text(PROVIDERS, ATTRIBUTES))


@pytest.mark.parametrize("starting", starting_profiles(), ids=lambda starting: starting.name)
def test_every_file_can_be_used_with_and_without_names(starting) -> None:
    Preferences.parse(starting.text())
    assert read(starting).wishes.attributes == {}
    assert starting.text().startswith(f"# {starting.name.capitalize()}. ")


def test_keeping_to_oneself_releases_nothing() -> None:
    prefs = read(KEEP)
    assert (prefs.providers, prefs.wishes.attribute_default) == ({}, None)


@pytest.mark.parametrize(
    ("starting", "weight", "budget", "epsilon", "total"),
    [(BALANCED, "1/2", "1/10", "1/5", 2), (OPEN, 1, "1/2", 1, 10)],
    ids=["balanced", "open"],
)
def test_the_others_name_all_providers(starting, weight, budget, epsilon, total) -> None:
    prefs = read(starting)
    assert set(prefs.providers) == set(PROVIDERS)
    assert prefs.weight("x") == Fraction(weight)
    for provider, granted in prefs.providers.items():
        assert prefs.grant(provider, attributes=["Drama"]).budgets == {"Drama": Fraction(budget)}
        assert (granted.epsilon, granted.total) == (Fraction(epsilon), total)
        assert granted.renews == "yearly"
    assert prefs.notes() == ()


def test_the_sentences_state_the_bounds() -> None:
    def odds(starting, epsilon) -> str:
        return right_at_most(nano_up(Fraction(starting.weight) * Fraction(epsilon)))

    assert f"at most {odds(BALANCED, BALANCED.epsilon)} times" in BALANCED.sentence
    assert f"and {odds(BALANCED, BALANCED.total)} after a year" in BALANCED.sentence
    assert f"at most {odds(OPEN, OPEN.epsilon)} times" in OPEN.sentence
    assert odds(OPEN, OPEN.total) == "100"
    assert "may be certain after a year" in OPEN.sentence


def test_the_most_careful_answer_counts() -> None:
    for answers in itertools.product((None, 0, 1, 2), repeat=3):
        careful = min(0 if answer is None else answer for answer in answers)
        assert suggest(answers) == starting_profiles()[careful]


def test_every_question_has_one_answer_of_each_kind() -> None:
    assert len(QUESTIONS) == 3
    for question in QUESTIONS:
        assert [answer.openness for answer in question.answers] == [0, 1, 2]
        assert question.text.endswith("?")


@pytest.mark.parametrize("answers", [(), (0, 1), (0, 1, 3), (0, 1, -1), (0, 1, "x")])
def test_other_answers_are_refused(answers) -> None:
    with pytest.raises(ParameterError):
        suggest(answers)
