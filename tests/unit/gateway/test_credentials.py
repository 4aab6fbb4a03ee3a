"""Tokens, doors and sessions: only digests are kept, and what ends, ends at once."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reticent.errors import ParameterError
from reticent.gateway import Gateway, credentials
from tests.unit.gateway.seeded import CLUB, file_bytes, fill, opened, somebody


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gateway.db"


@pytest.fixture
def gateway(path: Path) -> Iterator[Gateway]:
    with opened(path) as made:
        fill(made, {"ann": somebody(), "bob": somebody()})
        yield made


def add(gateway: Gateway, token: str, **others: Any) -> credentials.Token:
    given = {"provider": CLUB} | others
    return gateway.write(lambda c: credentials.add_token(c, token, **given))


def test_a_token_names_its_provider_and_scopes(gateway: Gateway) -> None:
    token = credentials.new_token()
    add(gateway, token, scopes=["profile", "histogram"])
    assert gateway.caller(token) == credentials.Caller(CLUB, frozenset({"profile", "histogram"}))


def test_tokens_are_long_and_differ() -> None:
    made = {credentials.new_token() for _ in range(1000)}
    assert len(made) == 1000
    assert all(credentials.well_formed(token) and len(token) == 4 + 64 + 8 for token in made)


def test_every_other_letter_breaks_the_checksum() -> None:
    token = credentials.new_token()
    for place in range(len(token)):
        other = "0" if token[place] != "0" else "1"
        assert not credentials.well_formed(token[:place] + other + token[place + 1 :])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rtc_",
        "x" * 76,
        "rtc_" + "0" * 72,
        "\ud800" * 76,
        "rtc_" + "é" * 72,
        "\0",
        "rtc_" * 10**5,
    ],
)
def test_texts_that_are_no_tokens_are_nobodys(gateway: Gateway, text: str) -> None:
    assert not credentials.well_formed(text)
    assert gateway.caller(text) is None


def test_a_text_with_a_wrong_checksum_is_not_looked_up(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = credentials.new_token()
    add(gateway, token)

    def never(*_: object) -> None:
        raise AssertionError("looked up")

    monkeypatch.setattr(gateway, "read", never)
    assert gateway.caller(token[:-1] + ("0" if token[-1] != "0" else "1")) is None
    with pytest.raises(AssertionError, match="looked up"):
        gateway.caller(token)  # the control: a good one is


def test_secrets_are_not_in_the_file_but_their_digests_are(gateway: Gateway, path: Path) -> None:
    token, key = credentials.new_token(), credentials.secret()
    add(gateway, token)
    gateway.write(lambda c: credentials.add_door(c, key, role="person", person="ann"))
    made = gateway.enter(key)
    assert made is not None
    found = file_bytes(path)
    for kept in (token, key, made):
        assert kept.encode() not in found
        assert token[4:68].encode() not in found
        assert credentials.digest(kept).encode() in found  # the control: it would be seen


def test_a_token_ends_in_its_second(gateway: Gateway) -> None:
    token = credentials.new_token()
    kept = add(gateway, token, days=1)
    assert kept.expires - kept.made == 86_400

    def at(now: int) -> credentials.Caller | None:
        return gateway.read(lambda c: credentials.caller(c, token, now))

    assert at(kept.expires - 1) is not None
    assert at(kept.expires) is None


def test_an_expired_token_is_nobodys(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    token = credentials.new_token()
    add(gateway, token, days=1)
    assert gateway.caller(token) is not None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_401)
    assert gateway.caller(token) is None


def test_revocation_holds_at_once_also_in_another_process(gateway: Gateway, path: Path) -> None:
    token, other = credentials.new_token(), credentials.new_token()
    kept = add(gateway, token)
    add(gateway, other)
    with opened(path) as second:
        assert second.caller(token) is not None
        assert gateway.write(lambda c: credentials.revoke(c, kept.name))
        assert second.caller(token) is None
        assert gateway.caller(token) is None
        assert second.caller(other) is not None
    assert not gateway.write(lambda c: credentials.revoke(c, "0" * 12))
    told = {one.name: one.revoked for one in gateway.read(credentials.tokens)}
    assert told[kept.name] is True
    assert sorted(told.values()) == [False, True]


def test_two_tokens_of_a_provider_overlap(gateway: Gateway) -> None:
    old, new = credentials.new_token(), credentials.new_token()
    kept = add(gateway, old)
    add(gateway, new)
    assert gateway.caller(old) == gateway.caller(new)
    gateway.write(lambda c: credentials.revoke(c, kept.name))
    assert gateway.caller(old) is None
    assert gateway.caller(new) is not None


@pytest.mark.parametrize("days", [0, -1, 3661, 1.5, "1", None])
def test_days_are_bounded(gateway: Gateway, days: Any) -> None:
    with pytest.raises(ParameterError):
        add(gateway, credentials.new_token(), days=days)


@pytest.mark.parametrize("scopes", [[], ["everything"], ["histogram", ""], "histogram"])
def test_scopes_are_known(gateway: Gateway, scopes: Any) -> None:
    with pytest.raises(ParameterError):
        add(gateway, credentials.new_token(), scopes=scopes)


# Doors and sessions


def door(gateway: Gateway, role: Any = "person", person: str = "ann") -> str:
    key = credentials.secret()
    gateway.write(lambda c: credentials.add_door(c, key, role=role, person=person))
    return key


def test_a_door_opens_for_its_person_only(gateway: Gateway) -> None:
    ann, bob, engineer = door(gateway), door(gateway, person="bob"), door(gateway, "engineer", "")
    found = []
    for key in (ann, bob, engineer):
        made = gateway.enter(key)
        assert made is not None
        session = gateway.session(made)
        assert session is not None
        found.append((session.role, session.person))
    assert found == [("person", "ann"), ("person", "bob"), ("engineer", "")]
    assert gateway.enter(credentials.secret()) is None
    assert gateway.session(credentials.secret()) is None
    assert gateway.session(ann) is None  # a key is no session


def test_every_visit_has_its_own_session_and_form(gateway: Gateway) -> None:
    key = door(gateway)
    one, two = gateway.enter(key), gateway.enter(key)
    assert one is not None
    assert two is not None
    assert one != two
    first, second = gateway.session(one), gateway.session(two)
    assert first is not None
    assert second is not None
    assert first.form != second.form
    gateway.leave(one)
    assert gateway.session(one) is None
    assert gateway.session(two) is not None


def test_a_new_key_ends_the_old_one_and_its_sessions(gateway: Gateway) -> None:
    old, bob = door(gateway), door(gateway, person="bob")
    thief, other = gateway.enter(old), gateway.enter(bob)
    assert thief is not None
    assert other is not None
    new = door(gateway)
    assert gateway.enter(old) is None
    assert gateway.session(thief) is None
    assert gateway.session(other) is not None
    assert gateway.enter(new) is not None


def test_a_session_ends_in_time(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    made = gateway.enter(door(gateway))
    assert made is not None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 12 * 3600 + 1)
    assert gateway.session(made) is None
    again = gateway.enter(door(gateway, person="bob"))
    assert again is not None
    rows = gateway.read(lambda c: c.execute("SELECT count(*) FROM gateway_session").fetchone())
    assert rows[0] == 1  # what has ended is cleared away


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "é" * 64, "' OR 1=1 --", "x" * 10**6])
def test_odd_keys_open_nothing(gateway: Gateway, text: str) -> None:
    assert gateway.enter(text) is None
    assert gateway.session(text) is None
