"""What people's pages say about all releases together, and about profiles sent as they are."""

import re
from typing import Any

import pytest

from reticent.console import pages_start
from reticent.console import people_words as words
from reticent.guarantees.card import right_at_most
from reticent.noise import Source
from reticent.tasks.terms import ProfileTerms
from tests.unit.console.conftest import Console
from tests.unit.gateway.seeded import CLUB, ask, fill, recoding, somebody, wishes

NANO = 10**9


def shown(console: Console, path: str, who: str = "ann") -> str:
    told = console.page(path, console.enter(who))
    assert told.status == 200
    return " ".join(re.sub(r"<[^>]+>", " ", told.body.decode()).split())


def with_total(console: Console, total: object, **others: Any) -> None:
    text = wishes(total=total, epsilon=0.4, default=0.2, **others)
    person = console.gateway.person("ann")
    console.gateway.set_preferences("ann", text, seen=person.version)


@pytest.mark.parametrize("path", ["/me", f"/me/who/{CLUB}"])
def test_without_a_total_pages_warn_and_add_up(console: Console, path: str) -> None:
    with_total(console, None)
    assert words.NO_TOTAL in shown(console, path)
    for number in range(20):
        ask(console.gateway, f"key-{number:05}")
    spent = sum(one.nano for one in console.gateway.left("ann"))
    assert spent > 2 * NANO
    said = shown(console, path)
    assert f"Warning. {words.NO_TOTAL}" in said
    assert said.count(f"right at most {right_at_most(spent)} times in 100") == 1
    assert int(right_at_most(spent).split(".")[0]) > 90  # one release alone says 60


@pytest.mark.parametrize("path", ["/me", f"/me/who/{CLUB}"])
def test_with_a_total_pages_say_what_it_allows(console: Console, path: str) -> None:
    with_total(console, 2)
    said = shown(console, path)
    assert "all its releases together (epsilon 2)" in said
    assert "right at most 89 times in 100" in said
    assert words.NO_TOTAL not in said
    with_total(console, 3, renews="yearly")
    said = shown(console, path)
    assert "that one period allows (epsilon 3)" in said
    assert "what several periods tell adds up" in said


def test_who_allows_nothing_is_not_warned(console: Console) -> None:
    console.gateway.set_preferences("ann", "version = 1\n", seen=1)
    assert words.NO_TOTAL not in shown(console, "/me")


def test_answers_beyond_what_is_counted_are_said_to_be_more(
    console: Console, monkeypatch: Any
) -> None:
    monkeypatch.setattr(pages_start, "COUNTED", 4)
    for number in range(4):
        ask(console.gateway, f"key-{number:05}", kind="profile" if number % 2 else "histogram")
    assert "4 answers about you were sent" in shown(console, "/me")
    assert "More than" not in shown(console, "/me")
    ask(console.gateway, "key-00009")
    assert "More than 4 answers about you were sent" in shown(console, "/me")


PROFILES = [["young", "town"], ["young", "land"], ["old", "town"], ["old", "land"]]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_page_tells_how_often_this_persons_profile_is_sent_as_it_is(
    console: Console, profile: list[str]
) -> None:
    terms = ProfileTerms(recoding())
    source, draws = Source.seeded(3), 3000
    same = sum(terms.draw(profile, source)[0] == tuple(profile) for _ in range(draws))
    chance = terms.unchanged(profile)
    assert abs(same / draws - chance) < 0.05
    assert chance > 0  # the control: "never sent as it is" is false of everybody here
    columns = dict(zip(("age", "home"), profile, strict=True))
    fill(console.gateway, {"bob": somebody(columns=columns)})
    said = shown(console, "/me/hidden", "bob")
    assert "never sent as it is" not in said
    whole = "Yours is sent as it is"
    assert (whole in said) == (chance >= 1)
    if chance < 1:
        (told,) = re.findall(r"With a chance of ([0-9.]+) in 100", said)
        assert 100 * chance <= float(told) <= 100 * chance + 1


def test_a_profile_that_the_mapping_does_not_know_is_never_sent_as_it_is(console: Console) -> None:
    assert ProfileTerms(recoding()).unchanged(["young", "moon"]) == 0
    fill(console.gateway, {"bob": somebody(columns={"age": "young", "home": "moon"})})
    assert "Yours is never sent as it is" in shown(console, "/me/hidden", "bob")
