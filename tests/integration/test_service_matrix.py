"""P16: every role, verb and object, over every operation of the service.

Objects are one's own, somebody else's, and such as nobody has. What is somebody else's is answered
as what nobody has, to the byte; and nothing of anybody else's stands in any answer.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.service_routes import (
    ANYONE,
    ENGINEER,
    OPERATIONS,
    PERSON,
    PROVIDER,
    VERBS,
    address,
    operations,
)
from tests.unit.console.conftest import OWN, Console, Visitor, filled
from tests.unit.gateway.seeded import (
    ADS,
    ASKS,
    CLUB,
    Told,
    asking,
    fill,
    lines,
    opened,
    somebody,
    wishes,
)

ANN, BOB = "ann-zwxq1", "bob-zwxq2"
MARKS = {
    ANN: [b"zwxq1", b"zwxq3", b"zwxq4", b"zwxq5"],  # name, item, column, comment
    BOB: [b"zwxq2", b"zwxq6", b"zwxq7", b"zwxq8"],
}
TOKENS = ("club", "ads", "narrow", "expired", "revoked")
ROLES = ("nobody", "ann", "bob", "engineer", *TOKENS)
OBJECTS = ("own", "another's", "unknown")
SEEN: dict[str, Visitor] = {}


def person(marks: list[bytes], items: list[str]) -> dict[str, Any]:
    _, item, column, comment = (mark.decode() for mark in marks)
    text = wishes() + f'[providers."{ADS}"]\nepsilon = 1\ntotal = 50\n# {comment}\n'
    columns = {"age": "young", "home": column}
    return somebody([*items, item], columns=columns, preferences=text)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    path: Path = tmp_path_factory.mktemp("matrix") / "gateway.db"
    with opened(path) as gateway:
        made = filled(gateway, path)
        people = {ANN: person(MARKS[ANN], ["Heat"]), BOB: person(MARKS[BOB], ["Up"])}
        fill(gateway, people)
        for who, name in (("ann", ANN), ("bob", BOB)):
            gateway.forget(who)
            door(made, who, name)
        for key, who, subject in (
            ("key-club1", "club", ANN),
            ("key-club2", "club", BOB),
            ("key-ads01", "ads", ANN),
        ):
            assert made.ask(key, subject, who=who).status == 200
        yield made


def door(made: Console, who: str, name: str) -> None:
    from reticent.gateway import credentials

    made.keys[who] = credentials.secret()
    made.gateway.write(
        lambda c: credentials.add_door(c, made.keys[who], role="person", person=name)
    )


def spends(console: Console, name: str) -> int:
    """The number of a release that is of this person alone."""
    return next(one.spend for one in console.gateway.left(name) if one.key.startswith("key-club"))


def places(console: Console, role: str, which: str) -> dict[str, str]:
    """What stands in an address for this role's own things, somebody else's, or nobody's."""
    mine, theirs = (BOB, ANN) if role == "bob" else (ANN, BOB)
    keys = {"own": "key-club1", "another's": "key-ads01", "unknown": "key-zzzzz"}
    if role == "ads":
        keys |= {"own": "key-ads01", "another's": "key-club1"}
    spent = {"own": spends(console, mine), "another's": spends(console, theirs), "unknown": 10**6}
    found = {"key": keys[which], "spend:int": str(spent[which])}
    if which == "unknown":
        found |= {"provider": "nobody.example"}
    return found


def cell(console: Console, role: str, verb: str, path: str, which: str) -> Told:
    """One request as this role would make it, as well as it can."""
    headers: list[tuple[str, str]] = []
    body, target = b"", address(path, **places(console, role, which))
    if role in TOKENS:
        headers.append(("authorization", f"Bearer {console.tokens[role]}"))
    elif role != "nobody":
        visitor = SEEN.get(role)
        if visitor is None or console.gateway.session(visitor.made) is None:
            visitor = SEEN[role] = console.enter(role)
        headers.append(visitor.cookie)
        body = visitor.form()
    if path.startswith("/v1/"):
        number = len(lines(console.gateway)) if verb == "POST" else 0
        subject = {"own": ANN, "another's": BOB, "unknown": "nobody"}[which]
        other = {"other": BOB if subject == ANN else ANN} if path.endswith("similarity") else {}
        asked = asking("", f"key-cell-{role}-{number}", subject, **other)
        headers += asked["headers"][1:]
        body = asked["body"]
    elif body:
        headers += [("content-type", "application/x-www-form-urlencoded"), ("origin", OWN)]
    return console.call(verb, target, headers=headers, body=body if verb != "GET" else b"")


def expected(role: str, verb: str, path: str, which: str) -> set[int]:
    methods = {method for method, own in OPERATIONS if own == path}
    if verb not in methods:
        return {405}
    who, usual = OPERATIONS[verb, path]
    if who == ANYONE:
        return usual
    if who == "nobody":
        return usual
    if who == PROVIDER:
        return expected_provider(role, verb, path, which, usual)
    if role in ("nobody", *TOKENS):
        return {401}
    if who in (PERSON, ENGINEER) and (role == "engineer") != (who == ENGINEER):
        return {404}
    named = "{provider}" in path and which == "unknown"
    if named or ("{spend:int}" in path and which != "own"):
        return {404}
    return usual


def expected_provider(role: str, verb: str, path: str, which: str, usual: set[int]) -> set[int]:
    if role not in ("club", "ads", "narrow"):
        return {401}
    if verb == "POST":
        if role == "narrow" and not path.endswith("profile"):
            return {403}
        asks = ASKS[ADS if role == "ads" else CLUB]
        if path.removeprefix("/v1/") not in asks:
            return {403}
        return {404} if which == "unknown" else usual
    hidden = which != "own" or role == "narrow"  # its scopes do not include what was released
    return {404} if "{key}" in path and hidden else usual


def leaks(told: Told, role: str, which: str) -> list[bytes]:
    """What stands in an answer and is not for this role."""
    whole = told.body + repr(told.headers).encode()
    if role in ("ann", "bob"):
        own = ANN if role == "ann" else BOB
        return [mark for name in (ANN, BOB) if name != own for mark in MARKS[name] if mark in whole]
    names = [mark for name in (ANN, BOB) for mark in MARKS[name][:1]]
    rest = [mark for name in (ANN, BOB) for mark in MARKS[name][1:]]
    if role in ("club", "ads", "narrow"):  # who asks for somebody may hear the name again
        names = []
    return [mark for mark in (*names, *rest) if mark in whole]


def test_every_operation_is_in_the_matrix(console: Console) -> None:
    assert operations(console.app) == set(OPERATIONS)


def test_a_new_operation_would_be_missed(console: Console) -> None:
    """The control: one that is not in the table fails the test above."""
    from fastapi import APIRouter

    from reticent.console.app import make_app

    app: Any = make_app(console.gateway)
    router = APIRouter()
    router.add_api_route("/me/new", lambda: None, methods=["DELETE"])
    app._app.include_router(router)
    assert operations(app) - set(OPERATIONS) == {("DELETE", "/me/new")}


@pytest.mark.parametrize("path", sorted({path for _, path in OPERATIONS}))
def test_who_may_do_what_to_what(console: Console, path: str) -> None:
    cells, wrong = 0, []
    offered = [verb for verb in VERBS if (verb, path) in OPERATIONS]
    for role in ROLES:
        for verb in VERBS:
            seen = {}
            for which in OBJECTS if verb in offered else OBJECTS[1:2]:  # refused before it is read
                told = cell(console, role, verb, path, which)
                cells += 1
                seen[which] = told
                if told.status not in expected(role, verb, path, which):
                    wrong.append((role, verb, which, told.status))
                if found := leaks(told, role, which):
                    wrong.append((role, verb, which, found))
            hidden = seen["another's"], seen.get("unknown", seen["another's"])
            if {one.status for one in hidden} == {404} and not same(console, role, path, *hidden):
                wrong.append((role, verb, "another's is told from unknown", 404))
    assert not wrong
    assert cells == len(ROLES) * (len(VERBS) + len(offered) * (len(OBJECTS) - 1))


def same(console: Console, role: str, path: str, one: Told, two: Told) -> bool:
    """Equal to the byte, but for the address itself where a page repeats it."""
    where = [address(path, **places(console, role, which)) for which in ("another's", "unknown")]
    texts = [
        told.body.replace(own.encode(), b"HERE")
        for told, own in zip((one, two), where, strict=True)
    ]
    rest = [
        [pair for pair in told.visible[1] if pair[0] != "content-length"] for told in (one, two)
    ]
    return texts[0] == texts[1] and rest[0] == rest[1]


def test_the_matrix_can_fail(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a service that forgets to ask whose it is."""
    from reticent.console import visitors

    monkeypatch.setattr(visitors, "session_of", lambda _: visitors.session_of)
    gateway = console.gateway
    monkeypatch.setattr(gateway, "answered", lambda _, key: planted(gateway, key))
    told = cell(console, "ads", "GET", "/v1/releases/{key}", "another's")
    assert told.status not in expected("ads", "GET", "/v1/releases/{key}", "another's")
    leaky = Told(200, (), b"... zwxq6 ...")
    assert leaks(leaky, "ann", "own") == [b"zwxq6"]
    assert leaks(leaky, "engineer", "own") == [b"zwxq6"]
    assert leaks(leaky, "bob", "own") == []


def planted(gateway: Any, key: str) -> bytes | None:
    row = gateway.read(
        lambda c: c.execute("SELECT answer FROM spend WHERE key = ?", (key,)).fetchone()
    )
    return None if row is None else bytes(row[0])


def test_revocation_is_at_once(console: Console) -> None:
    from reticent.gateway import credentials
    from tests.unit.gateway.seeded import token

    made = token(console.gateway)
    headers = [("authorization", f"Bearer {made}")]
    assert console.call("GET", "/v1/terms", headers=headers).status == 200
    name = credentials.digest(made)[:12]
    engineer = console.enter("engineer")
    console.send("/engineer/tokens/revoke", engineer, name=name, token=name)
    if console.call("GET", "/v1/terms", headers=headers).status == 200:  # another field's name
        console.gateway.write(lambda c: credentials.revoke(c, name))
    assert console.call("GET", "/v1/terms", headers=headers).status == 401


def test_two_browsers_swap_what_they_can(console: Console) -> None:
    """Bob with ann's addresses, numbers and forms."""
    ann, bob = console.enter("ann"), console.enter("bob")
    spend = spends(console, ANN)
    assert console.page(f"/me/left/{spend}/card", ann).status == 200
    assert console.page(f"/me/left/{spend}/card", bob).status == 404
    before = console.gateway.person(ANN).preferences.text
    form = ann.form(text="version = 1\n", version="1")
    assert console.send("/me/file/edit", bob, form=form).status == 403
    assert console.gateway.person(ANN).preferences.text == before
    told = json.dumps([console.page("/me/left", bob).body.decode(), CLUB])
    assert "zwxq1" not in told
