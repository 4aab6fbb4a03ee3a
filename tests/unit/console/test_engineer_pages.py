"""The engineer's pages: what they show, what they never show, and what they change."""

import asyncio
import logging
import re
from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Response

from reticent.console import pages_engineer, pages_engineer_attack
from reticent.console.charts import Dot, Line, dot_chart, roc_chart
from reticent.console.pages_engineer_amounts import STEPS, place_of, read_sliders
from reticent.console.pages_engineer_counts import count_people, rounded
from reticent.console.problems import Problem
from reticent.console.visitors import SignIn, cookie_name
from reticent.data.catalogue import Catalogue
from reticent.gateway import Asked, Gateway, credentials, directory
from reticent.gateway.catalogue_text import catalogue_to_text
from reticent.ledger import Connection
from reticent.noise import Source, discrete_laplace
from reticent.queries.histogram import Histogram
from reticent.tasks import item_attack

HOST = "http://testserver"
CLUB = "filmclub.example"
SECRET = "Ann-who-must-not-appear"
FILMS = Catalogue.of(
    [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0]],
    attributes=("Crime", "Drama <b>", "Comedy", "Nobody's"),
    items=("Heat", "Up", "Airplane", 'Fargo "1996"'),
)
OPEN = """version = 1
attributes = {default = 2}
[providers."filmclub.example"]
epsilon = 2
total = 1000
"""
CAREFUL = OPEN.replace("epsilon = 2", "epsilon = 0.1")
PEOPLE = {OPEN: 23, CAREFUL: 12, "version = 1\n": 4}


class Client:
    """A browser without scripts: one application, one cookie, no redirects followed."""

    def __init__(self, app: FastAPI) -> None:
        self.app, self.session = app, ""

    def get(self, address: str) -> Any:
        return self._ask("GET", address)

    def post(self, address: str, data: dict[str, str], **headers: str) -> Any:
        return self._ask("POST", address, data=data, headers=headers)

    def _ask(self, method: str, address: str, **more: Any) -> Any:
        async def ask() -> Any:
            carrier = httpx.ASGITransport(app=self.app)
            cookies = {cookie_name(False): self.session} if self.session else {}
            async with httpx.AsyncClient(
                transport=carrier, base_url=HOST, cookies=cookies
            ) as client:
                return await client.request(method, address, **more)

        return asyncio.run(ask())


class Page(HTMLParser):
    """What a strict policy forbids, and what a reader needs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.fields: list[dict[str, str | None]] = []
        self.charts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.wrong += [f"{tag} {name}" for name in given if name == "style" or name[:2] == "on"]
        if tag == "style" or (tag == "script" and not (given.get("src") or "").startswith("/")):
            self.wrong.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "label" and given.get("for"):
            self.labels.add(str(given["for"]))
        if tag in ("input", "select"):
            self.fields.append({"tag": tag, **given})
        if tag == "svg" and given.get("role") == "img":
            self.charts.append(given.get("aria-label") or "")


def seed(gateway: Gateway) -> str:
    """People, two providers and an engineer's door; the door's key."""

    def work(connection: Connection) -> str:
        directory.set_setting(connection, "catalogue", catalogue_to_text(FILMS))
        number = 0
        for text, count in PEOPLE.items():
            for _ in range(count):
                number += 1
                name = f"{SECRET}-{number}"
                directory.add_person(connection, name, items=["Heat", "Up"], preferences=text)
        amounts = {"Crime": "0.3", "Drama <b>": "0.123", "Comedy": "1"}
        asks = {
            "histogram": {"epsilon": "0.4", "attributes": amounts},
            "similarity": {"epsilon": "1"},
        }
        directory.set_provider(connection, CLUB, asks)
        directory.set_provider(connection, "quiet.example", {})
        gateway.changed(connection)
        key = credentials.secret()
        credentials.add_door(connection, key, role="engineer")
        return key

    return gateway.write(work)


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with Gateway.open(tmp_path / "gateway.db") as made:
        yield made


def make_client(gateway: Gateway, key: str) -> Client:
    app = FastAPI()
    app.state.gateway, app.state.secure = gateway, False
    app.include_router(pages_engineer.router)
    app.add_exception_handler(SignIn, lambda *_: Response(status_code=401))
    app.add_exception_handler(Problem, lambda _, error: Response(status_code=error.status))
    made = Client(app)
    made.session = gateway.enter(key) or ""
    assert made.session
    return made


@pytest.fixture
def client(gateway: Gateway) -> Client:
    return make_client(gateway, seed(gateway))


def token_of(text: str) -> str:
    found = re.search(r'name="form" value="([0-9a-f]{64})"', text)
    assert found is not None
    return found[1]


def post(client: Client, address: str, page: str, **fields: str) -> Any:
    form = token_of(client.get(page).text)
    return client.post(address, data={"form": form, **fields})


GETS = [
    "/engineer",
    "/engineer/plan",
    f"/engineer/plan?provider={CLUB}&a0=0&a1=40&e=33&count=1",
    f"/engineer/plan/result?provider={CLUB}&a0=20&count=1",
    f"/engineer/plan/publish?provider={CLUB}&a0=20&e=35",
    "/engineer/attack",
    f"/engineer/attack?provider={CLUB}&item=up&weight=half&releases=total&total=5",
    "/engineer/ledger",
]


@pytest.mark.parametrize("address", GETS)
def test_pages_are_strict_and_name_nobody(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 200
    read = Page(answer.text)
    assert read.wrong == []
    assert len(read.ids) == len(set(read.ids))
    assert SECRET not in answer.text
    assert '<b>"' not in answer.text
    assert "Drama <b>" not in answer.text
    for one in read.fields:
        hidden = one.get("type") in ("hidden", "radio", "checkbox")
        assert hidden or one.get("id") in read.labels, one
    assert all(label.endswith(".") for label in read.charts)


@pytest.mark.parametrize("address", GETS)
def test_pages_are_for_engineers(client: Client, gateway: Gateway, address: str) -> None:
    client.session = ""
    assert client.get(address).status_code == 401
    key = credentials.secret()
    name = f"{SECRET}-1"
    gateway.write(lambda c: credentials.add_door(c, key, role="person", person=name))
    client.session = gateway.enter(key) or ""
    assert client.get(address).status_code == 404


POSTS = ["plan/publish", "ledger/check", "tokens", "tokens/revoke"]


@pytest.mark.parametrize("path", POSTS)
def test_forms_need_their_token(client: Client, path: str) -> None:
    data = {"provider": CLUB, "scope_profile": "1", "days": "9", "e": "40", "form": "0" * 64}
    assert client.post(f"/engineer/{path}", data=data).status_code == 403
    form = token_of(client.get("/engineer/ledger").text)
    data["form"] = form
    answer = client.post(f"/engineer/{path}", data=data, origin="https://evil.example")
    assert answer.status_code == 403


def test_overview_tells_public_terms(client: Client) -> None:
    text = client.get("/engineer").text
    assert "ε 0.4" in text
    assert "It asks for nothing" in text
    assert "<dd>39</dd>" in text


def test_overview_adds_up(client: Client) -> None:
    text = client.get("/engineer").text
    (told,) = re.findall(r"<dt>Releases</dt><dd>(\d+)</dd>", text)
    assert int(told) == sum(map(int, re.findall(r"(\d+) releases? so far", text)))


def test_nobody_to_plan_for(gateway: Gateway) -> None:
    key = credentials.secret()

    def work(connection: Connection) -> None:
        directory.set_setting(connection, "catalogue", catalogue_to_text(FILMS))
        credentials.add_door(connection, key, role="engineer")

    gateway.write(work)
    client = make_client(gateway, key)
    for page in ("", "/plan", "/attack", "/ledger"):
        assert client.get(f"/engineer{page}").status_code == 200


# Planning


def test_untouched_sliders_mean_the_provider_s_own_amounts() -> None:
    own = Histogram(epsilon="0.4", attributes={"A": "0.123", "default": "0.7"})
    still = read_sliders(CLUB, own, ("A", "B"), {})
    again = read_sliders(CLUB, own, ("A", "B"), dict(re.findall(r"(\w+)=(\d+)", still.query)))
    assert still == again
    assert still.ask == Histogram(epsilon="0.4", attributes={"A": "0.123", "B": "0.7"})
    moved = read_sliders(CLUB, own, ("A", "B"), {"a0": "0", "a1": "31", "e": "0"})
    assert moved.ask == Histogram(epsilon=STEPS[0], attributes={"B": "1.3"})
    for wrong in ("-1", "x", "1e9", "²", "99999999"):
        assert read_sliders(CLUB, own, ("A",), {"a0": wrong}).attributes[0].place <= len(STEPS)
    assert all(place_of(amount) == place for place, amount in enumerate(STEPS, 1))


def test_a_plan_shows_errors_and_odds(client: Client) -> None:
    text = client.get(f"/engineer/plan?provider={CLUB}").text
    assert "a suspicion of 50 % about one item can grow to at most 60 %" in text
    assert "These are the published terms." in text
    assert "not asked" not in Page(text).charts[0] or "0 attributes not asked" in text
    assert "Do not publish" not in text
    off = client.get(f"/engineer/plan?provider={CLUB}&a0=0&a1=0&a2=0").text
    assert "Nothing is asked for." in off
    assert client.get("/engineer/plan?provider=nobody").status_code == 404


def test_people_are_counted_in_tens(client: Client, gateway: Gateway) -> None:
    text = client.get(f"/engineer/plan?provider={CLUB}&count=1").text
    assert "Do not publish" in text
    found = re.findall(r'row">(in full|partly|not at all)</th><td class="right">([^<]+)<', text)
    told = [("in full", "20 or more"), ("partly", "10 or more"), ("not at all", "fewer than 10")]
    assert found == told
    assert [rounded(n) for n in (0, 9, 10, 99)] == [
        "fewer than 10",
        "fewer than 10",
        "10 or more",
        "90 or more",
    ]
    terms = gateway.world().offers[CLUB]["histogram"].terms.maths  # type: ignore[attr-defined]
    assert count_people(gateway, terms, "stranger.example").nothing == "30 or more"


def test_no_profile_is_read(client: Client, gateway: Gateway) -> None:
    """With the table of items gone, planning, counting and attacking still work."""
    gateway.world()
    gateway.write(lambda c: c.execute("DROP TABLE gateway_item"))
    for address in GETS:
        assert client.get(address).status_code == 200


def test_publishing_asks_first(client: Client, gateway: Gateway) -> None:
    before = gateway.world().offers[CLUB]["histogram"].id
    query = f"provider={CLUB}&a0=0&a1=28&e=33"
    page = f"/engineer/plan/publish?{query}"
    text = client.get(page).text
    assert "What changes for people" in text
    assert "may lose <b>more</b>: at most ε" in text
    assert gateway.world().offers[CLUB]["histogram"].id == before
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text))
    stale = client.post("/engineer/plan/publish", data={**fields, "seen": "{}"})
    assert "Somebody published other terms" in stale.text
    assert gateway.world().offers[CLUB]["histogram"].id == before
    done = client.post("/engineer/plan/publish", data=fields)
    assert done.status_code == 303
    assert "The terms are published." in client.get(done.headers["location"]).text
    asks = dict(gateway.read(directory.providers))[CLUB]
    assert asks["histogram"] == {
        "epsilon": "2",
        "attributes": {"Drama <b>": "0.63", "Comedy": "1"},
    }
    assert asks["similarity"] == {"epsilon": "1"}
    assert gateway.world().offers[CLUB]["histogram"].id != before
    assert "nothing would change" in client.get(page).text


def test_nothing_at_all_cannot_be_published(client: Client) -> None:
    nothing = f"provider={CLUB}&a0=0&a1=0&a2=0"
    assert client.get(f"/engineer/plan/publish?{nothing}").status_code == 422
    fields = dict(pair.split("=") for pair in nothing.split("&"))
    answer = post(client, "/engineer/plan/publish", "/engineer/ledger", **fields)
    assert answer.status_code == 422


# Attacks


def test_the_most_exposed_item_is_attacked_first(client: Client) -> None:
    text = client.get("/engineer/attack").text
    assert "Fargo &#34;1996&#34;</b> is found for certain" in text
    assert "Alarm" not in text
    assert "right at most 60 times in 100" in text
    assert "below the promised ceiling." in Page(text).charts[0]


def test_attacks_on_lighter_items_and_unknown_ones(client: Client) -> None:
    nothing = client.get("/engineer/attack?weight=0").text
    assert "moves no released number" in nothing
    unknown = client.get("/engineer/attack?item=%3Cscript%3E&total=-3&weight=7&releases=x").text
    assert "“&lt;script&gt;” is not in the catalogue" in unknown
    assert "A total is a positive number." in unknown
    tiny = client.get("/engineer/attack?releases=total&total=0.1").text
    assert "nothing is ever released" in tiny
    long = client.get("/engineer/attack?releases=total&total=4000").text
    assert "200 are shown" in long


def test_too_little_noise_is_an_alarm(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The planted control, as far as the page and the log."""

    def small(scales: list[Fraction], shape: tuple[int, ...], source: Source) -> object:
        fewer = [scale * Fraction(4, 5) for scale in scales]
        return discrete_laplace(scale=fewer, size=shape, source=source)

    monkeypatch.setattr(item_attack, "_drawn", small)
    pages_engineer_attack._attacked.cache_clear()
    with caplog.at_level(logging.ERROR):
        text = client.get("/engineer/attack").text
    pages_engineer_attack._attacked.cache_clear()
    assert "Alarm: do not release on these terms" in text
    assert "ALARM: above what is possible." in text
    assert "the attacker's view failed" in caplog.text


# Ledger and tokens


def test_the_chain_is_checked(client: Client, gateway: Gateway) -> None:
    for number in range(3):
        asked = Asked("histogram", f"{SECRET}-{number + 1}", f"key-{number}-of-mine")
        gateway.submit(CLUB, asked).result()
    page = "/engineer/ledger"
    text = client.get(page).text
    assert re.search(r'filmclub.example</th><td class="right">less than 10<', text)
    head = re.search(r"<code>(\w+ \d+ [0-9a-f]{64})</code>", text)
    assert head is not None
    kept = post(client, f"{page}/check", page, head=head[1])
    assert "The chain is whole, and passes through your head." in kept.text
    other = re.sub("[0-9a-f]{64}", "0" * 64, head[1])
    assert "does not pass through the head" in post(client, f"{page}/check", page, head=other).text
    assert post(client, f"{page}/check", page, head="x").status_code == 422
    gateway.write(lambda c: c.execute("UPDATE account SET spent = spent + 1 WHERE id = 1"))
    found = post(client, f"{page}/check", page, head="").text
    assert "does not hold together" in found
    assert SECRET not in found


def test_tokens_are_shown_once_and_end_at_once(client: Client, gateway: Gateway) -> None:
    page = "/engineer/ledger"
    fields = {"provider": CLUB, "scope_histogram": "1", "days": "30"}
    text = post(client, "/engineer/tokens", page, **fields).text
    token = re.search(r"rtc_[0-9a-f]+", text)
    assert token is not None
    caller = gateway.caller(token[0])
    assert caller is not None
    assert (caller.provider, caller.scopes) == (CLUB, {"histogram"})
    text = client.get(page).text
    assert token[0] not in text
    name = credentials.digest(token[0])[:12]
    assert name in text
    answer = post(client, "/engineer/tokens/revoke", page, name=name)
    assert answer.status_code == 303
    assert gateway.caller(token[0]) is None
    assert "revoked" in client.get(page).text


@pytest.mark.parametrize(
    "fields",
    [
        {"provider": "nobody", "scope_profile": "1", "days": "9"},
        {"provider": CLUB, "days": "9"},
        {"provider": CLUB, "scope_profile": "1", "days": "0"},
        {"provider": CLUB, "scope_profile": "1", "days": "many"},
    ],
)
def test_wrong_tokens_are_not_made(
    client: Client, gateway: Gateway, fields: dict[str, str]
) -> None:
    answer = post(client, "/engineer/tokens", "/engineer/ledger", **fields)
    assert answer.status_code == 422
    assert gateway.read(credentials.tokens) == []
    kept = {str(one.get("name")): one for one in Page(answer.text).fields}
    assert kept["days"]["value"] == fields["days"]
    assert ("checked" in kept["scope_profile"]) == ("scope_profile" in fields)
    assert "checked" not in kept["scope_histogram"]
    assert ("<option selected>" in answer.text) == (fields["provider"] == CLUB)


# Charts


def test_charts_escape_and_keep_inside() -> None:
    blank = Dot("b", None, None, "not asked for")
    rows = [Dot("<i>", 1e-9, 1e9, "±1"), blank, Dot("z", 0, 0, "±0")]
    made = dot_chart(rows, says='a "finding".')
    assert "<i>" not in made
    assert 'aria-label="a &#34;finding&#34;."' in made
    assert Page(str(made)).wrong == []
    places = [float(x) for x in re.findall(r'c?x[12]?="([\d.]+)"', made)]
    assert all(0 <= x <= 520 for x in places)
    nothing = dot_chart([blank], says="x.")
    assert "not asked for" in nothing
    lines = [Line(kind, kind, [0, 0.2, 1], [0, 0.6, 1]) for kind in ("coin", "raw", "best", "run")]
    assert roc_chart(lines, says="y.").count('class="spot"') == 10
