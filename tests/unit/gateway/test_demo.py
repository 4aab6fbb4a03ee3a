"""The demonstration: the same people everywhere, something already gone, one budget used up."""

import json
import time

import pytest

from reticent.errors import ParameterError
from reticent.gateway import Gateway, directory
from reticent.gateway.catalogue_text import catalogue_to_text
from reticent.gateway.demo import ASKS, FIRST, seed
from reticent.gateway.demo_films import FILMS, GENRES, films
from reticent.gateway.demo_people import MEMBERS, NEVER_CHOSEN
from reticent.gateway.demo_town import LEAK_BITS, learn, mapping, townspeople
from reticent.ledger import verify_ledger
from reticent.ledger.reports import balances
from reticent.preferences import Preferences, find_problems


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    with Gateway.open(path) as gateway:
        began = time.monotonic()
        keys = seed(gateway)
        yield gateway, keys, time.monotonic() - began


def test_films_have_genres_and_each_genre_films() -> None:
    assert len(FILMS) == 40
    assert len(GENRES) == 9
    assert {genre for kinds in FILMS.values() for genre in kinds} == set(GENRES)
    assert not films().empty


def test_data_is_the_same_everywhere() -> None:
    (public, secret), (again, same) = townspeople(), townspeople()
    assert public.tolist() == again.tolist()
    assert secret.tolist() == same.tolist()
    assert catalogue_to_text(films()) == catalogue_to_text(films())


def test_the_mapping_in_the_file_is_the_one_that_is_learnt() -> None:
    kept, learnt = mapping(), learn()
    assert kept.profiles.tolist() == learnt.profiles.tolist()
    assert kept.mechanism.cover == pytest.approx(learnt.mechanism.cover, abs=0.003)
    assert kept.mechanism.bits == pytest.approx(learnt.mechanism.bits, rel=0.02)
    stated, again = kept.mechanism.statement, learnt.mechanism.statement
    assert stated.distortion == pytest.approx(again.distortion, rel=0.02)
    assert stated.sample == again.sample


def test_the_mapping_keeps_its_limit() -> None:
    learnt = mapping()
    assert learnt.mechanism.bits <= LEAK_BITS
    known = {tuple(row) for row in learnt.profiles.tolist()}
    assert {member.columns for member in MEMBERS} <= known


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_everybody_is_somebody(member) -> None:
    assert not find_problems(member.preferences, attributes=GENRES, items=tuple(FILMS))
    assert set(Preferences.parse(member.preferences).providers) <= ASKS.keys()
    assert set(member.seen) <= set(range(len(FILMS)))
    assert len(set(member.seen)) == len(member.seen)


def test_tempers_differ() -> None:
    texts = [member.preferences for member in MEMBERS]
    assert len(set(texts)) == len(MEMBERS) == 12
    assert texts.count(NEVER_CHOSEN) == 1
    assert any(granted.attributes for text in texts for granted in _granted(text))
    assert any(granted.items for text in texts for granted in _granted(text))


def _granted(text):
    return Preferences.parse(text).providers.values()


def test_seeding_is_quick_and_fills(made) -> None:
    gateway, keys, seconds = made
    assert seconds < 4
    assert gateway.read(directory.people) == sorted(member.name for member in MEMBERS)
    assert set(keys.people) == {member.name for member in MEMBERS}
    assert set(keys.tokens) == set(ASKS)


def test_keys_open(made) -> None:
    gateway, keys, _ = made
    assert gateway.session(gateway.enter(keys.engineer)).role == "engineer"
    assert gateway.session(gateway.enter(keys.people["eve"])).person == "eve"
    for provider, token in keys.tokens.items():
        assert gateway.caller(token).provider == provider
        assert gateway.caller(token).scopes == {kind for kind, asked in ASKS[provider].items()}


def test_keys_do_not_show(made) -> None:
    _, keys, _ = made
    told = repr(keys)
    assert keys.engineer not in told
    assert not any(key in told for key in [*keys.people.values(), *keys.tokens.values()])


def test_something_left_already(made) -> None:
    gateway, _, _ = made
    kinds = {json.loads(one.answer)["kind"] for one in gateway.left("ann")}
    assert kinds == {"histogram", "profile", "similarity"}
    asked = sum(name in (person, other) for _, _, person, other in FIRST for name in ["bob"])
    assert len(gateway.left("bob")) == asked


def test_one_budget_is_used_up(made) -> None:
    gateway, _, _ = made
    found = gateway.read(lambda c: list(balances(c, subject="finn", provider="ads.example")))
    assert [one.limit - one.spent for one in found] == [0]
    assert [one.nano for one in gateway.left("finn")] == [0, 0, 500_000_000, 500_000_000]


def test_releases_are_private(made) -> None:
    gateway, _, _ = made
    events = [json.loads(one.event) for one in gateway.left("ann")]
    assert events
    assert all(event["private"] for event in events)


def test_the_ledger_holds(made) -> None:
    gateway, _, _ = made
    assert not gateway.read(verify_ledger).problems


def test_again_gives_new_keys_and_changes_nothing(tmp_path) -> None:
    with Gateway.open(tmp_path / "demo.db") as gateway:
        keys = seed(gateway)
        before = gateway.person("ann").version, len(gateway.left("ann"))
        again = seed(gateway)
        assert (gateway.person("ann").version, len(gateway.left("ann"))) == before
        assert again.engineer != keys.engineer
        assert gateway.enter(keys.people["dan"]) is None


def test_a_database_in_use_is_left_alone(tmp_path) -> None:
    with Gateway.open(tmp_path / "used.db") as gateway:
        gateway.write(lambda c: directory.add_person(c, "zoe"))
        with pytest.raises(ParameterError, match="empty"):
            seed(gateway)
        assert gateway.read(directory.people) == ["zoe"]


def test_who_was_deleted_gets_no_door(tmp_path) -> None:
    with Gateway.open(tmp_path / "demo.db") as gateway:
        seed(gateway)
        gateway.forget("bob")
        assert gateway.enter(seed(gateway).people["bob"]) is None
