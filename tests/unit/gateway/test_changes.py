"""What happens when somebody changes something between a draw and its charge."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reticent.gateway import Gateway, NoSuchPerson, directory
from reticent.gateway.catalogue_text import catalogue_to_text
from reticent.ledger import Account
from tests.unit.gateway.seeded import (
    CLUB,
    FILMS,
    ask,
    at_the_last_moment,
    file_bytes,
    fill,
    opened,
    somebody,
    spent,
)

ANN = Account("ann", CLUB)


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with opened(tmp_path / "gateway.db") as made:
        fill(made, {"ann": somebody(), "bob": somebody(["Up"])})
        yield made


def meanwhile(gateway: Gateway, what: Any) -> list[int]:
    """Let something happen after the first draw; how often was drawn."""
    draw, drawn = gateway._draw, list[int]()

    def first(*given: Any) -> Any:
        drawn.append(1)
        made = draw(*given)
        if len(drawn) == 1:
            what()
        return made

    gateway._draw = first  # type: ignore[method-assign]
    return drawn


def test_what_was_withdrawn_meanwhile_is_not_used(gateway: Gateway) -> None:
    seen = gateway.person("ann").version
    drawn = meanwhile(gateway, lambda: gateway.set_preferences("ann", "version = 1\n", seen=seen))
    ask(gateway, "key-00000001")
    assert len(drawn) == 2
    assert spent(gateway)[ANN][0] == 0


@pytest.mark.parametrize("kind", ["histogram", "profile"])
def test_nothing_is_kept_of_who_was_deleted_meanwhile(
    gateway: Gateway, tmp_path: Path, kind: str
) -> None:
    meanwhile(gateway, lambda: gateway.forget("ann"))
    with pytest.raises(NoSuchPerson):
        ask(gateway, "key-00000001", kind=kind)
    assert not any(account.subject == "ann" for account in spent(gateway))
    assert b"ann" not in file_bytes(tmp_path / "gateway.db")


def test_a_profile_is_not_drawn_for_who_was_deleted_before_it_is_kept(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reticent.ledger.sqlite._PATIENCE", 50)  # erasing waits for who reads: us
    known = gateway._memory.known

    def late(*given: Any) -> Any:
        found = known(*given)
        if given[1] == "ann":
            gateway._memory.known = known  # type: ignore[method-assign]
            gateway.forget("ann")
        return found

    gateway._memory.known = late  # type: ignore[method-assign]
    with pytest.raises(NoSuchPerson):
        ask(gateway, "key-00000001", kind="profile")
    assert not any(account.subject == "ann" for account in spent(gateway))


def test_another_process_withdraws_at_the_last_moment(gateway: Gateway, tmp_path: Path) -> None:
    """After all that a process can see by itself: the ledger finds it where it charges."""
    with opened(tmp_path / "gateway.db") as other:
        seen = other.person("ann").version
        change = "version = 1\n"
        sent = at_the_last_moment(gateway, lambda: other.set_preferences("ann", change, seen=seen))
        ask(gateway, "key-00000001")
        assert len(sent) == 2
        assert spent(gateway)[ANN][0] == 0


@pytest.mark.parametrize("kind", ["histogram", "profile", "similarity"])
def test_another_process_deletes_at_the_last_moment(
    gateway: Gateway, tmp_path: Path, kind: str
) -> None:
    other_person = "bob" if kind == "similarity" else None
    with opened(tmp_path / "gateway.db") as other:
        at_the_last_moment(gateway, lambda: other.forget("ann"))
        with pytest.raises(NoSuchPerson):
            ask(gateway, "key-00000001", kind=kind, other=other_person)
        assert not spent(gateway)
        assert b"ann" not in file_bytes(tmp_path / "gateway.db")


def test_a_guard_is_what_stops_it(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    monkeypatch.setattr("reticent.ledger.guards.Guard.check", lambda *_: None)
    with opened(tmp_path / "gateway.db") as other:
        at_the_last_moment(gateway, lambda: other.forget("ann"))
        ask(gateway, "key-00000001")
        assert ANN in spent(gateway)


def test_who_comes_back_at_the_last_moment_is_somebody_new(
    gateway: Gateway, tmp_path: Path
) -> None:
    """A name is not enough: their profile of one draw is not that of who left."""

    def replaced() -> None:
        gateway.forget("ann")
        fill(gateway, {"ann": somebody(preferences="version = 1\n")})

    sent = at_the_last_moment(gateway, replaced)
    ask(gateway, "key-00000001")
    assert len(sent) == 2
    assert spent(gateway)[ANN][0] == 0


def test_offer_and_person_are_of_one_catalogue(gateway: Gateway) -> None:
    """Another thread may load a later world at any moment."""
    load = gateway._memory._load
    other = FILMS.only(tuple(reversed(FILMS.attributes)))

    def change(connection: Any) -> None:
        directory.set_setting(connection, "catalogue", catalogue_to_text(other))
        gateway.changed(connection)

    gateway.write(change)

    def overtaken(connection: Any, revision: str) -> Any:
        made = load(connection, revision)
        gateway._memory._world = None
        return made

    gateway._memory._load = overtaken  # type: ignore[method-assign]
    with gateway.ledger.reading() as connection:
        world = gateway._memory.world(connection)
        known = gateway._memory.known(connection, "ann", world.catalogue)
    assert known.catalogue is world.catalogue
