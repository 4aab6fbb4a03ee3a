"""Sessions in cookies, and forms that only our own pages can send."""

from typing import Any
from urllib.parse import urlencode

import pytest

from reticent.gateway import credentials, directory

from .conftest import OWN

SCRIPT = "<script>alert('zwxq')</script>"


def test_a_key_opens_a_session_in_a_cookie(console: Any) -> None:
    told = console.call("GET", "/enter", query=f"key={console.keys['ann']}")
    assert told.status == 200
    parts = [part.strip() for part in told["set-cookie"].split(";")]
    name, _, made = parts[0].partition("=")
    assert name == "reticent"
    assert {part.lower() for part in parts[1:]} == {"httponly", "path=/", "samesite=strict"}
    assert console.gateway.session(made).person == "ann"
    assert console.keys["ann"].encode() not in told.body
    assert made.encode() not in told.body
    home = console.call("GET", "/", headers=[("cookie", f"reticent={made}")])
    assert (home.status, home["location"]) == (303, "/me")


def test_over_tls_the_cookie_is_of_this_host_only(make_console: Any) -> None:
    made = make_console(secure=True)
    told = made.call("GET", "/enter", query=f"key={made.keys['ann']}")
    parts = [part.strip().lower() for part in told["set-cookie"].split(";")]
    assert parts[0].startswith("__host-reticent=")
    assert set(parts[1:]) == {"httponly", "path=/", "samesite=strict", "secure"}
    session = parts[0].partition("=")[2]
    plain = made.call("GET", "/", headers=[("cookie", f"reticent={session}")])
    assert plain.status == 401  # a name that others could have set is not read


@pytest.mark.parametrize(
    "query", ["", "key=", "key=x", f"key={'0' * 64}", "key=%00", "k=1", "key=%FF" * 64]
)
def test_other_keys_open_nothing(console: Any, query: str) -> None:
    told = console.call("GET", "/enter", query=query)
    nothing = console.call("GET", "/enter")
    assert told.status == 401
    assert told.body == nothing.body
    assert told.get("set-cookie") is None


@pytest.mark.parametrize(
    "cookie", ["reticent=", "reticent=x", "reticent=\xff", "=", "reticent", "a=b; c"]
)
def test_odd_cookies_are_nobody(console: Any, cookie: str) -> None:
    assert console.call("GET", "/me", headers=[("cookie", cookie)]).status == 401


def test_leaving_ends_the_session_here_and_in_the_browser(console: Any) -> None:
    ann = console.enter("ann")
    told = console.send("/leave", ann)
    assert (told.status, told["location"]) == (303, "/")
    assert 'reticent=""' in told["set-cookie"]
    assert "max-age=0" in told["set-cookie"].lower()
    assert console.page("/me", ann).status == 401


def test_a_new_session_for_every_visit(console: Any) -> None:
    """A session that was planted before is not taken over."""
    planted = credentials.secret()
    query = f"key={console.keys['ann']}"
    told = console.call("GET", "/enter", query=query, headers=[("cookie", f"reticent={planted}")])
    assert planted not in told["set-cookie"]
    assert console.gateway.session(planted) is None


# Forms


def preferences(console: Any, name: str = "ann") -> str:
    text: str = console.gateway.person(name).preferences.text
    return text


CHANGE = {"text": "version = 1\n", "version": "1"}


def test_our_own_form_is_taken(console: Any) -> None:
    told = console.send("/me/file/edit", console.enter("ann"), **CHANGE)  # the control
    assert told.status == 303
    assert preferences(console) == "version = 1\n"


@pytest.mark.parametrize(
    "headers",
    [
        [("origin", "https://evil.example")],
        [("origin", "null")],
        [("origin", "")],
        [("origin", "http://localhost")],
        [("origin", "http://localhost:8001")],
        [("origin", "https://localhost:8000")],
        [("origin", "http://localhost:8000.evil.example")],
        [("origin", OWN), ("sec-fetch-site", "cross-site")],
        [("origin", OWN), ("sec-fetch-site", "same-site")],
        [("sec-fetch-site", "cross-site")],
        [("sec-fetch-site", "")],
        [("sec-fetch-site", "same-site")],
    ],
    ids=str,
)
def test_a_form_from_another_site_is_refused(console: Any, headers: list[tuple[str, str]]) -> None:
    """Even with the right token in it."""
    before = preferences(console)
    ann = console.enter("ann")
    assert console.send("/me/file/edit", ann, headers=headers, **CHANGE).status == 403
    assert console.send("/leave", ann, headers=headers).status == 403
    assert preferences(console) == before
    assert console.page("/me/file", ann).status == 200


@pytest.mark.parametrize("which", ["none", "empty", "wrong", "other", "bobs", "session", "twice"])
def test_a_form_without_its_token_is_refused(console: Any, which: str) -> None:
    """An old browser may send no Origin at all: the token alone must do."""
    ann, again, bob = console.enter("ann"), console.enter("ann"), console.enter("bob")
    fields = urlencode(CHANGE)
    form = {
        "none": fields,
        "empty": f"form=&{fields}",
        "wrong": f"form={'0' * 64}&{fields}",
        "other": f"form={again.session.form}&{fields}",
        "bobs": f"form={bob.session.form}&{fields}",
        "session": f"form={ann.made}&{fields}",
        "twice": f"form={ann.session.form}&form={bob.session.form}&{fields}",
    }[which]
    before = preferences(console)
    told = console.send("/me/file/edit", ann, headers=[], form=form.encode())
    assert told.status == 403
    assert preferences(console) == before


@pytest.mark.parametrize(
    "media", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""]
)
def test_only_forms_are_read(console: Any, media: str) -> None:
    ann = console.enter("ann")
    headers = [ann.cookie, ("origin", OWN), ("content-type", media)]
    told = console.call("POST", "/me/file/edit", headers=headers, body=ann.form(**CHANGE))
    assert told.status == 415
    assert preferences(console) != CHANGE["text"]


def test_a_session_that_ended_sends_nothing(console: Any) -> None:
    ann = console.enter("ann")
    console.gateway.leave(ann.made)
    assert console.send("/me/file/edit", ann, **CHANGE).status == 401
    assert preferences(console) != CHANGE["text"]


def test_pages_are_of_who_looks_and_not_of_who_is_named(console: Any) -> None:
    bob = console.enter("bob")
    for query in ("person=ann", "name=ann", "id=ann"):
        assert b"Heat" not in console.page("/me/left", bob, query=query).body
    told = console.send("/me/file/edit", bob, person="ann", name="ann", **CHANGE)
    assert told.status == 303
    assert preferences(console, "bob") == CHANGE["text"]
    assert preferences(console) != CHANGE["text"]


def test_what_was_changed_meanwhile_is_not_overwritten(console: Any) -> None:
    ann = console.enter("ann")
    assert console.send("/me/file/edit", ann, **CHANGE).status == 303
    told = console.send("/me/file/edit", ann, text="version = 1\n# again\n", version="1")
    assert told.status == 409
    assert preferences(console) == CHANGE["text"]


# Names


@pytest.mark.parametrize("name", [SCRIPT, "\"><img src=x onerror=alert('zwxq')>", "{{7*7}}zwxq"])
def test_names_are_shown_and_never_run(make_console: Any, name: str) -> None:
    """Of people, items, providers and columns, and in what a form gave back."""
    from reticent.data.catalogue import Catalogue
    from tests.unit.gateway.seeded import ASKS, fill, somebody, wishes

    made = make_console()
    films = Catalogue.of([[1, 0], [1, 1]], attributes=("Drama", name), items=("Heat", name))
    asks = {**ASKS, name: ASKS["ads.example"]}
    quoted = name.replace('"', '\\"')
    text = wishes() + f'[providers."{quoted}"]\nepsilon = 1\n# {name}\n[items]\n"{quoted}" = 0.5\n'
    person = somebody(["Heat", name], columns={"age": name, "home": name}, preferences=text)
    fill(made.gateway, {name: person}, asks=asks, catalogue=films)
    key = credentials.secret()
    made.gateway.write(lambda c: credentials.add_door(c, key, role="person", person=name))
    made.keys[name] = key
    who, engineer = made.enter(name), made.enter("engineer")
    assert made.ask("key-00001", name).status == 200
    assert made.ask("key-00002", name, kind="profile").status == 200
    token = made.tokens["club"]
    assert token
    shown = 0
    from tests.integration.service_routes import pages

    for role, path in pages(provider=name, attribute=name):
        visitor = who if role == "person" else engineer
        told = made.page(path, visitor)
        assert told.status < 500, path
        if told.status == 200 and told["content-type"].startswith("text/html"):
            assert "<" not in name or name.encode() not in told.body, path
            assert b"<img src=x" not in told.body, path
            assert b"49zwxq" not in told.body, path
            shown += b"zwxq" in told.body
    for path in ("/me/file/edit",):
        told = made.send(path, who, text=f"{name}\n", version="1")
        assert told.status == 422
        assert "<" not in name or name.encode() not in told.body
        shown += b"zwxq" in told.body
    assert shown > 3  # the control: the name does stand there


def test_a_person_who_was_deleted_is_signed_out(console: Any) -> None:
    ann = console.enter("ann")
    assert console.page("/me", ann).status == 200
    console.gateway.write(lambda c: directory.delete_person(c, "ann"))
    assert console.page("/me", ann).status == 401


def test_a_link_of_somebody_else_asks_first(console: Any) -> None:
    """Who made the link could read what is then written."""
    ann = console.enter("ann")
    told = console.page("/enter", ann, query=f"key={console.keys['bob']}")
    assert told.status == 200
    assert told.get("set-cookie") is None
    assert b"Go on as somebody else?" in told.body
    refused = console.call("POST", "/enter", headers=[ann.cookie])
    assert refused.status in (403, 415)
    gone_on = console.send("/enter", ann, key=console.keys["bob"])
    made = gone_on["set-cookie"].split(";")[0].partition("=")[2]
    assert console.gateway.session(made).person == "bob"


def test_the_own_link_does_not_ask(console: Any) -> None:
    ann = console.enter("ann")
    told = console.page("/enter", ann, query=f"key={console.keys['ann']}")
    assert told.get("set-cookie") is not None


def test_pages_say_who_is_signed_in(console: Any) -> None:
    ann = console.enter("ann")
    assert b'<p class="who">ann</p>' in console.page("/me", ann).body
