"""Sketches are released once; what is read off them costs nothing."""

import copy
import json

import numpy as np
import pytest

import reticent as rt
from reticent.data.synthetic import Communities
from reticent.errors import ParameterError, ReticentError
from reticent.guarantees import promises
from reticent.ledger import open_ledger
from reticent.ledger.reports import balances
from reticent.noise import Source
from reticent.queries import publish
from reticent.queries.artefacts import ArtefactError, read_answer
from reticent.queries.card_checks import recomputed
from reticent.queries.sketches import SketchesTerms, published
from reticent.tasks.blip import Blip

QUERY = rt.Sketches(epsilon=8, profile_size=20, use="items")


@pytest.fixture(scope="module")
def world():
    """Four communities that have little in common, and their sketches."""
    people, groups = Communities(people=80, items=400, communities=4, size=20).draw(
        Source.seeded(7)
    )
    return people, groups, QUERY.release(people, source=Source.seeded(1))


def test_sketches_are_those_of_the_mechanism(world) -> None:
    people, _, answer = world
    blip, source = Blip(epsilon=8, bits=2048), Source.seeded(1)
    alone = [
        blip.publish(people.only([at]), source.child(name)).words[0]
        for at, name in enumerate(people.people)
    ]
    assert np.array_equal(published(answer).words, alone)
    assert list(answer.value) == list(people.people)
    near = rt.Sketches(epsilon=8, profile_size=20)
    assert near.terms(near.told_by({"a": ""})).mechanism == Blip.fitted(epsilon=8, profile_size=20)


def test_everybody_pays_once_and_what_is_read_off_costs_nothing(world, tmp_path) -> None:
    people, _, _ = world
    with open_ledger(tmp_path / "l.db") as ledger:
        answer = QUERY.release(people, ledger=ledger, key="1")
        again = QUERY.release(people, ledger=ledger, key="1")
        assert (again.value, again.replayed) == (answer.value, True)
        near = rt.Neighbours(k=3).release({"sketches": answer})
        found = rt.Recommendations().release({"sketches": answer, "items": people.items})
        assert (near.spent, found.spent) == ("0", "0")
        with ledger.reading() as connection:
            spent = {one.account.subject: one.spent for one in balances(connection)}
    assert spent == dict.fromkeys(people.people, 8 * 10**9)
    assert near.card.release_event() == found.card.release_event() == answer.card.release_event()


def test_neighbours_of_sketches_are_those_of_the_filters(world) -> None:
    people, groups, answer = world
    near = rt.Neighbours(k=3).release({"sketches": answer})
    own = published(answer).nearest(3)
    names = list(people.people)
    for at, entries in enumerate(near.value.values()):
        assert [one["peer"] for one in entries] == [names[place] for place in own.peers[at]]
    same = [
        groups[names.index(one["peer"])] == groups[at]
        for at, entries in enumerate(near.value.values())
        for one in entries
    ]
    assert np.mean(same) > 0.7  # by chance 1/4


def test_released_lists_and_lists_read_off_are_one_law(world, monkeypatch) -> None:
    """From profiles the sketches are drawn on the way: under the same noise the lists are equal."""
    people, _, _ = world
    monkeypatch.setattr(SketchesTerms, "drawn", SketchesTerms.each)  # one stream for all, as there
    query = rt.Neighbours(epsilon=8, profile_size=20, k=3)
    direct = query.release(people, source=Source.seeded(5)).value
    sketches = rt.Sketches(epsilon=8, profile_size=20).release(people, source=Source.seeded(5))
    assert rt.Neighbours(k=3).release({"sketches": sketches}).value == direct


def test_recommended_items_are_those_of_the_community(world) -> None:
    people, groups, answer = world
    found = rt.Recommendations(n_items=5).release({"sketches": answer, "items": people.items})
    have = people.to_csr().toarray() > 0
    place = {name: at for at, name in enumerate(people.items)}
    shares = []
    for at, entries in enumerate(found.value.values()):
        items = [place[one["item"]] for one in entries]
        assert len(items) == 5
        others = have[(groups == groups[at]) & (np.arange(len(have)) != at)]
        shares.append(others[:, items].mean())
    by_chance = have.mean()
    assert np.mean(shares) > 3 * by_chance


def test_only_the_sketches_and_the_public_list_are_read(world) -> None:
    """The same sketches give the same bytes, whatever has become of the profiles."""
    _, _, answer = world
    held = json.loads(publish.as_json(answer))
    items = [f"item {n}" for n in range(30)]
    first = rt.Recommendations().release({"sketches": held, "items": items})
    again = rt.Recommendations().release({"sketches": answer, "items": items[::-1]})
    assert first.value == again.value
    assert "nothing but the sketches" in first.card.scope.protected
    assert first.notes == ()


def test_raw_profiles_are_stamped_not_private(world) -> None:
    people, _, answer = world
    data = {"sketches": answer, "items": people.items, "profiles": people}
    with pytest.raises(ParameterError, match="trusted_gateway must be given with raw profiles"):
        rt.Recommendations().release(data)
    found = rt.Recommendations(trusted_gateway=True).release(data)
    assert found.card.title.startswith("Not private: ")
    assert not found.card.release_event().private
    assert "protects nobody" in found.card.words.odds
    assert recomputed(found.card) == []
    assert found.notes == (promises.UNPROTECTED_ITEMS,)
    assert found.card.scope.not_against[0].startswith("whoever sees the recommendations")
    owned = people.to_csr().toarray() > 0
    place = {name: at for at, name in enumerate(people.items)}
    for at, entries in enumerate(found.value.values()):
        assert not any(owned[at, place[one["item"]]] for one in entries)
    control = rt.Recommendations(trusted_gateway=True).release(
        {"sketches": answer, "items": people.items}
    )
    assert "Not private" not in control.card.title


def changed(**parts):
    def change(held: dict) -> None:
        held |= parts

    return change


def shorter(held: dict) -> None:
    name = next(iter(held["value"]))
    held["value"][name] = held["value"][name][:-2]


def no_digits(held: dict) -> None:
    name = next(iter(held["value"]))
    held["value"][name] = "zz" * (len(held["value"][name]) // 2)


def one_more(held: dict) -> None:
    held["value"]["mallory"] = next(iter(held["value"].values()))


def cheaper(held: dict) -> None:
    held["query"]["epsilon"] = "1"


@pytest.mark.parametrize(
    "change",
    [changed(value={}), changed(value=[]), shorter, no_digits, one_more, cheaper],
)
def test_what_is_no_sketch_is_refused(world, change) -> None:
    held = json.loads(publish.as_json(world[2]))
    assert read_answer(copy.deepcopy(held), "sketches", "s").value == held["value"]
    change(held)
    with pytest.raises(ArtefactError):
        read_answer(held, "sketches", "s")


@pytest.mark.parametrize(
    ("query", "data"),
    [
        (rt.Neighbours(k=2), lambda people, answer: {"profiles": people}),
        (rt.Neighbours(k=2, epsilon=1), lambda people, answer: {"sketches": answer}),
        (rt.Neighbours(k=2), lambda people, answer: {"sketches": answer, "profiles": people}),
        (rt.Neighbours(k=2), lambda people, answer: {"people": ["ann"]}),
        (rt.Neighbours(epsilon=1), lambda people, answer: {"people": ["ann", "bob"]}),
        (rt.Neighbours(epsilon=1), lambda people, answer: None),
        (rt.Neighbours(), lambda people, answer: {"sketches": answer, "people": ["ann"]}),
        (rt.Neighbours(method="direct"), lambda people, answer: answer),
        (rt.Recommendations(), lambda people, answer: {"items": ["a"]}),
        (rt.Recommendations(), lambda people, answer: {"sketches": answer}),
    ],
)
def test_what_does_not_go_together_is_refused(world, query, data) -> None:
    people, _, answer = world
    with pytest.raises(ReticentError):
        query.release(data(people, answer))


def test_cards_hold_and_a_changed_one_does_not(world) -> None:
    answer = world[2]
    near = rt.Neighbours(k=3).release({"sketches": answer})
    for one in (answer, near):
        assert recomputed(one.card) == []
    exact = near.card.utility.model_copy(update={"sentence": "exact"})
    assert recomputed(near.card.model_copy(update={"utility": exact}))


def test_an_answer_alone_is_the_artefact_of_its_kind(world) -> None:
    answer = world[2]
    near = rt.Neighbours(k=2).release(answer)
    assert near.value == rt.Neighbours(k=2).release({"sketches": answer}).value


def test_in_the_shell_a_dry_run_writes_nothing_and_limits_are_not_dropped(
    world, cli, tmp_path
) -> None:
    (tmp_path / "s.json").write_text(publish.as_json(world[2]))
    words = (
        "release",
        "neighbours",
        "--sketches",
        tmp_path / "s.json",
        "--out",
        tmp_path / "n.csv",
    )
    assert cli(*words, "--dry-run").code == 0
    for limit in (("--total", "1"), ("--key", "k")):
        assert cli(*words, *limit).code == 2
    assert not (tmp_path / "n.csv").exists()
    assert cli(*words).code == 0
    assert (tmp_path / "n.csv").exists()


def test_a_plan_of_what_is_read_off_costs_nothing(world) -> None:
    answer = world[2]
    free, paid = rt.Neighbours().plan({"sketches": answer}), rt.Neighbours(epsilon=8).plan()
    assert (free.epsilon, paid.epsilon) == ("0", "8")
    assert "cost: nothing" in str(free)
    assert free.right_at_most == paid.right_at_most  # of the sketches, which were released
