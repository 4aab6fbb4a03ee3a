"""People and providers in the database: versions, deletion, and names of all sorts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reticent.errors import ParameterError, ReticentError
from reticent.gateway import Changed, Gateway, NoSuchPerson, directory
from tests.unit.gateway.seeded import CLUB, FILMS, fill, opened, somebody, wishes


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with opened(tmp_path / "gateway.db") as made:
        fill(made, {"ann": somebody()})
        yield made


def test_a_person_is_found_as_they_were_added(gateway: Gateway) -> None:
    ann = gateway.person("ann")
    assert (ann.items, dict(ann.columns)) == (("Brazil", "Heat"), {"age": "young", "home": "town"})
    assert ann.version == 1
    assert len(ann.tag) == 32


def test_another_profile_keeps_preferences_and_tag(gateway: Gateway) -> None:
    before = gateway.person("ann")
    gateway.write(lambda c: directory.add_person(c, "ann", items=["Up", "Up"], columns={}))
    after = gateway.person("ann")
    assert (after.items, dict(after.columns), after.version) == (("Up",), {}, 2)
    assert (after.tag, after.preferences) == (before.tag, before.preferences)


def test_who_changed_it_first_wins(gateway: Gateway) -> None:
    gateway.set_preferences("ann", wishes(epsilon=1), seen=1)
    with pytest.raises(Changed):
        gateway.set_preferences("ann", wishes(epsilon=2), seen=1)
    assert gateway.person("ann").preferences.providers[CLUB].epsilon == 1
    with pytest.raises(NoSuchPerson):
        gateway.set_preferences("nobody", wishes(), seen=1)


def test_a_broken_file_changes_nothing(gateway: Gateway) -> None:
    with pytest.raises(ReticentError):
        gateway.set_preferences("ann", "version = 1\nepsilon = nan\n", seen=1)
    assert gateway.person("ann").version == 1


@pytest.mark.parametrize(
    "name", ["", "a\0b", "a\nb", "\ud800", "x" * 201, "\u202eann", "\x1b[31m", None, 7]
)
def test_names_that_cannot_be_shown_are_refused(gateway: Gateway, name: Any) -> None:
    with pytest.raises(ParameterError) as refusal:
        gateway.write(lambda c: directory.add_person(c, name))
    assert str(name) not in str(refusal.value) or not name
    assert gateway.read(directory.people) == ["ann"]


@pytest.mark.parametrize(
    "name", ["a'b", 'a"b', "<script>alert(1)</script>", "a/b?c#d%2F", "é中🎬", "."]
)
def test_odd_names_are_names(gateway: Gateway, name: str) -> None:
    gateway.write(lambda c: directory.add_person(c, name, items=["Heat"]))
    assert gateway.person(name).items == ("Heat",)
    assert gateway.forget(name)
    with pytest.raises(NoSuchPerson):
        gateway.person(name)


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "ann\n", "x" * 10**6, "' OR 1=1 --"])
def test_names_that_nobody_has_are_nobody(gateway: Gateway, name: str) -> None:
    with pytest.raises(NoSuchPerson):
        gateway.known(name)


def test_deletion_takes_doors_and_sessions_along(gateway: Gateway) -> None:
    from reticent.gateway import credentials

    key = credentials.secret()
    gateway.write(lambda c: credentials.add_door(c, key, role="person", person="ann"))
    made = gateway.enter(key)
    assert made is not None
    assert gateway.write(lambda c: directory.delete_person(c, "ann"))
    assert gateway.session(made) is None
    assert gateway.enter(key) is None
    assert not gateway.write(lambda c: directory.delete_person(c, "ann"))


def test_who_comes_back_elsewhere_is_somebody_else(gateway: Gateway, tmp_path: Path) -> None:
    """Another process deletes ann and adds another ann, whose version is 1 again."""
    old = gateway.known("ann")
    with opened(tmp_path / "gateway.db") as other:
        other.forget("ann")
        other.write(lambda c: directory.add_person(c, "ann", items=["Ran"]))
    new = gateway.known("ann")
    assert (old.person.version, new.person.version) == (1, 1)
    assert new.person.items == ("Ran",)
    assert new.held.tolist() == [0, 0, 0, 0, 0, 1]
    assert new.person.tag != old.person.tag


def test_what_is_known_is_of_the_catalogue_that_holds(gateway: Gateway) -> None:
    """A slower thread may put what it knew of an older catalogue back; it is not used."""
    stale = gateway.known("ann")
    from reticent.data.catalogue import Catalogue

    more = Catalogue.of([[1, 0], [0, 1], [1, 1]], attributes=("A", "B"), items=("Up", "Heat", "X"))
    asks = {
        CLUB: {"histogram": {"epsilon": "1", "attributes": {"default": "1"}}},
        "ads.example": {},
    }
    fill(gateway, {}, catalogue=more, asks=asks)
    gateway.world()
    gateway._memory._people["ann"] = stale
    assert gateway.known("ann").held.tolist() == [0, 1, 0]
    assert len(stale.held) == len(FILMS)  # the control: what the slower thread had


def test_items_that_the_catalogue_does_not_have_count_nothing() -> None:
    places = {"Heat": 0, "Up": 1}
    assert directory.items_of(["Up", "unknown", "NaN", "", "Heat"], places) == [1, 0]


def test_settings_and_providers_are_replaced(gateway: Gateway) -> None:
    gateway.write(lambda c: directory.set_setting(c, "x", "1"))
    gateway.write(lambda c: directory.set_setting(c, "x", "2"))
    assert gateway.read(lambda c: directory.setting(c, "x")) == "2"
    assert gateway.read(lambda c: directory.setting(c, "y")) is None
    gateway.write(lambda c: directory.set_provider(c, CLUB, {"profile": {}}))
    assert dict(gateway.read(directory.providers))[CLUB] == {"profile": {}}


def test_cards_of_old_terms_stay(gateway: Gateway) -> None:
    gateway.write(lambda c: directory.keep_card(c, "t", CLUB, "histogram", "first"))
    gateway.write(lambda c: directory.keep_card(c, "t", CLUB, "histogram", "second"))
    assert gateway.read(lambda c: directory.card_of(c, "t")) == "first"
    assert gateway.read(lambda c: directory.card_of(c, "unknown")) is None
