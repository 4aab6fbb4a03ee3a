"""The provider's API: what is sent, what is refused, and bodies that only look like JSON."""

import json
import sys
from typing import Any

import pytest

from reticent.gateway import directory
from reticent.ledger import Account
from reticent.queries.offered import offered
from tests.unit.gateway.seeded import (
    ADS,
    ASKS,
    CLUB,
    FILMS,
    asking,
    at_the_last_moment,
    call,
    fill,
    lines,
    spent,
)

KINDS = {"histogram": {}, "profile": {}, "similarity": {"other": "bob"}}


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_whole_and_repeated(console: Any, kind: str) -> None:
    first = console.ask("key-00001", kind=kind, **KINDS[kind])
    assert (first.status, first["content-type"]) == (200, "application/json")
    told = first.json
    assert told["kind"] == kind
    assert (told["subject"], told["key"]) == ("ann", "key-00001")
    assert set(told["value"]) == set(FILMS.attributes) if kind == "histogram" else True
    assert console.ask("key-00001", kind=kind, **KINDS[kind]).body == first.body
    assert console.get("/v1/releases/key-00001").body == first.body
    assert lines(console.gateway, "spend")


def test_terms_are_told_to_their_provider_only(console: Any) -> None:
    club, ads = console.get("/v1/terms").json, console.get("/v1/terms", "ads").json
    assert (club["provider"], ads["provider"]) == (CLUB, ADS)
    assert [one["kind"] for one in club["offers"]] == ["histogram", "profile", "similarity"]
    assert [one["kind"] for one in ads["offers"]] == ["histogram", "profile"]
    assert ADS not in json.dumps(club)


def test_another_providers_key_is_not_there(console: Any) -> None:
    console.ask("key-00001")
    theirs = console.get("/v1/releases/key-00001", "ads")
    unknown = console.get("/v1/releases/key-unknown", "ads")
    assert theirs.status == unknown.status == 404
    assert theirs.visible == unknown.visible
    assert console.ask("key-00001", who="ads").status == 200  # a key of its own


@pytest.mark.parametrize(
    "key", ["short", "x" * 101, "key%00001", "key-0001%0A", "..%2Fterms", "ключ-ключ"]
)
def test_odd_keys_in_addresses_are_not_there(console: Any, key: str) -> None:
    assert console.get(f"/v1/releases/{key}").status == 404


@pytest.mark.parametrize(
    "key",
    [
        "",
        "short",
        "x" * 101,
        "key 00001",
        "key-é0001",
        "key/00001",
        "'; DROP TABLE",
        "a" * 9 + "\t",
    ],
)
def test_odd_keys_are_refused_and_cost_nothing(console: Any, key: str) -> None:
    assert console.ask(key).status == 400
    assert not lines(console.gateway)


def test_one_key_for_one_request(console: Any) -> None:
    asked = asking(console.tokens["club"], "key-00001")
    asked["headers"].append(("idempotency-key", "key-00002"))
    assert call(console.app, **asked).status == 400
    asked["headers"] = [pair for pair in asked["headers"] if pair[0] != "idempotency-key"]
    assert call(console.app, **asked).status == 400
    assert not lines(console.gateway)


def test_a_key_for_another_request_is_a_conflict(console: Any) -> None:
    console.ask("key-00001")
    before = spent(console.gateway)
    for told in (
        console.ask("key-00001", "bob"),
        console.ask("key-00001", kind="profile"),
        console.ask("key-00001", kind="similarity", other="bob"),
    ):
        assert told.status == 409
    assert spent(console.gateway) == before


def test_a_key_whose_answer_was_deleted_is_a_conflict_for_ever(console: Any) -> None:
    console.ask("key-00001")
    console.gateway.forget("ann")
    assert console.ask("key-00001").status == 404
    assert console.ask("key-00001", "bob").status == 409
    assert console.get("/v1/releases/key-00001").status == 404


def test_scopes_and_terms_are_both_needed(console: Any) -> None:
    assert console.ask("key-00001", who="narrow").status == 403
    assert console.ask("key-00001", who="narrow", kind="profile").status == 200
    assert console.ask("key-00002", who="ads", kind="similarity", other="bob").status == 403
    assert not [one for one in spent(console.gateway).values() if one[0]]


def test_what_is_no_longer_asked_for_is_still_answered_to_its_key(console: Any) -> None:
    first = console.ask("key-00001")
    fill(console.gateway, {}, asks={**ASKS, CLUB: {}})
    assert console.ask("key-00001").body == first.body
    assert console.ask("key-00002").status == 403


def test_nobody_and_somebody_deleted_are_the_same(console: Any) -> None:
    console.gateway.forget("bob")
    told = [
        console.ask("key-00001", name) for name in ("bob", "nobody", "\0", "a\nb", "' OR 1=1 --")
    ]
    assert {one.status for one in told} == {404}
    assert len({one.visible for one in told}) == 1
    two = [console.ask("key-00001", kind="similarity", other=name) for name in ("bob", "nobody")]
    assert two[0].visible == two[1].visible == told[0].visible


@pytest.mark.parametrize("kind", KINDS)
def test_who_changes_at_the_last_moment_is_drawn_again(console: Any, kind: str) -> None:
    gateway = console.gateway
    seen = gateway.person("ann").version
    sent = at_the_last_moment(
        gateway, lambda: gateway.set_preferences("ann", "version = 1\n", seen=seen)
    )
    assert console.ask("key-00001", kind=kind, **KINDS[kind]).status == 200
    assert len(sent) == (5 if kind == "profile" else 2)  # two draws of a profile are kept first
    assert spent(gateway)[Account("ann", CLUB)][0] == 0


def test_who_leaves_at_the_last_moment_is_not_there(console: Any) -> None:
    at_the_last_moment(console.gateway, lambda: console.gateway.forget("ann"))
    told = console.ask("key-00001")
    assert told.status == 404
    assert told.visible == console.ask("key-00001", "nobody").visible


@pytest.mark.parametrize("who", ["expired", "revoked"])
def test_tokens_that_ended_look_like_none(console: Any, who: str) -> None:
    ended = console.get("/v1/terms", who)
    for odd in (
        "",
        "Bearer",
        "Bearer x",
        "Basic eDp5",
        f"bearer {'0' * 76}",
        "Bearer rtc_" + "0" * 72,
    ):
        told = console.call("GET", "/v1/terms", headers=[("authorization", odd)])
        assert told.visible == ended.visible
    assert ended.status == 401
    assert ended["www-authenticate"] == "Bearer"
    assert console.ask("key-00001", who=who).status == 401
    assert not lines(console.gateway)


def test_a_token_does_not_come_any_other_way(console: Any) -> None:
    token = console.tokens["club"]
    assert (
        console.call("GET", "/v1/terms", query=f"access_token={token}&token={token}").status == 401
    )
    assert console.call("GET", "/v1/terms", headers=[("cookie", f"reticent={token}")]).status == 401
    ann = console.enter("ann")
    assert console.page("/v1/terms", ann).status == 401
    headers = [("authorization", f"Bearer {ann.made}")]
    assert console.call("GET", "/v1/terms", headers=headers).status == 401
    headers = [("authorization", f"Bearer {console.keys['ann']}")]
    assert console.call("GET", "/v1/terms", headers=headers).status == 401


DEEP = 422 if sys.version_info >= (3, 13) else 400  # whose parser goes deeper before it gives up


def bodies() -> dict[str, tuple[bytes, int]]:
    deep = 10_000
    return {
        "nothing": (b"", 400),
        "no json": (b"subject=ann", 400),
        "cut": (b'{"subject": "ann"', 400),
        "more after it": (b'{"subject": "ann"} x', 400),
        "NaN": (b'{"subject": NaN}', 400),
        "infinity": (b'{"subject": -Infinity}', 400),
        "1e400": (b'{"subject": 1e400}', 422),
        "5000 digits": (b'{"subject": ' + b"9" * 5000 + b"}", 400),
        "deep lists": (b"[" * deep + b"]" * deep, 400),
        "deep objects": (b'{"a":' * 5000 + b"1" + b"}" * 5000, DEEP),
        "deep and cut": (b"[" * 30_000, 400),
        "twice the same": (b'{"subject": "ann", "subject": "bob"}', 400),
        "twice inside": (b'{"subject": "ann", "x": {"a": 1, "a": 2}}', 400),
        "no utf-8": (b'{"subject": "\xff\xfe"}', 400),
        "overlong utf-8": (b'{"subject": "\xc0\xae"}', 400),
        "utf-8 surrogates": (b'{"subject": "\xed\xa0\x80"}', 400),
        "utf-16": ('{"subject": "ann"}'.encode("utf-16"), 400),
        "a mark first": (b"\xef\xbb\xbf" + b'{"subject": "ann"}', 400),
        "a list": (b'["ann"]', 422),
        "null": (b"null", 422),
        "a text": (b'"ann"', 422),
        "a number": (b'{"subject": 7}', 422),
        "true": (b'{"subject": true}', 422),
        "more": (b'{"subject": "ann", "epsilon": 100}', 422),
        "seed": (b'{"subject": "ann", "seed": 1}', 422),
        "empty": (b'{"subject": ""}', 422),
        "long": (json.dumps({"subject": "x" * 201}).encode(), 422),
        "a lone surrogate": (b'{"subject": "\\ud800"}', 422),
        "missing": (b"{}", 422),
        "proto": (b'{"subject": "ann", "__proto__": {}}', 422),
        "too large": (json.dumps({"subject": "x" * 40_000}).encode(), 413),
    }


@pytest.mark.parametrize("name", bodies())
def test_bodies_that_are_not_what_they_should_be(console: Any, name: str) -> None:
    body, status = bodies()[name]
    asked = {**asking(console.tokens["club"], "key-00001"), "body": body}
    told = call(console.app, **asked)
    assert (told.status, told["content-type"]) == (status, "application/problem+json")
    assert told.json["status"] == status
    assert not lines(console.gateway)
    assert console.gateway.answered(CLUB, "key-00001") is None


@pytest.mark.parametrize(
    "media",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json, text/plain",
        "text/json",
        "application/xml",
    ],
)
def test_only_json_is_read(console: Any, media: str) -> None:
    asked = asking(console.tokens["club"], "key-00001")
    kept = [pair for pair in asked["headers"] if pair[0] != "content-type"]
    asked["headers"] = [*kept, *([("content-type", media)] if media else [])]
    assert call(console.app, **asked).status == 415
    assert not lines(console.gateway)


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_by_other_letters_is_json(console: Any, media: str) -> None:
    asked = asking(console.tokens["club"], "key-00001")
    asked["headers"][-1] = ("content-type", media)
    assert call(console.app, **asked).status == 200


@pytest.mark.parametrize("header", ["x-http-method-override", "x-method-override", "x-http-method"])
def test_a_method_cannot_be_overridden(console: Any, header: str) -> None:
    asked = asking(console.tokens["club"], "key-00001")
    asked["method"] = "GET"
    asked["headers"].append((header, "POST"))
    assert call(console.app, **asked).status == 405
    asked["query"] = "_method=POST"
    assert call(console.app, **asked).status == 405
    assert not lines(console.gateway)


def test_oneself_is_not_another(console: Any) -> None:
    assert console.ask("key-00001", kind="similarity", other="ann").status == 422
    assert not lines(console.gateway)


def test_odd_people_are_answered_as_they_are_named(console: Any) -> None:
    name = "<script>alert(1)</script> \"'& é中😀 a/b"
    console.gateway.write(lambda c: directory.add_person(c, name, items=["Heat"]))
    told = console.ask("key-00001", name)
    assert (told.status, told.json["subject"]) == (200, name)
    assert told["content-type"] == "application/json"


def test_a_ledger_that_fails_is_asked_again_under_the_same_key(
    console: Any, monkeypatch: Any
) -> None:
    from reticent.ledger import LedgerError

    def fails(*_: Any, **__: Any) -> None:
        raise LedgerError("disk full: ann, Heat")

    with monkeypatch.context() as patch:
        patch.setattr(console.gateway.ledger, "submit", fails)
        told = console.ask("key-00001")
    assert (told.status, told["retry-after"]) == (503, "1")
    assert b"ann" not in told.body
    assert b"disk" not in told.body
    assert console.ask("key-00001").status == 200


def test_the_description_is_public_and_names_every_operation(console: Any) -> None:
    told = console.call("GET", "/v1/openapi.json")
    assert told.status == 200
    paths = told.json["paths"]
    assert sorted(paths) == sorted(
        ["/v1/releases/{key}", "/v1/terms", *(f"/v1/{kind}" for kind in offered())]
    )
    assert all(one["security"] == [{"token": []}] for own in paths.values() for one in own.values())
