"""A real server on a seeded demonstration, and what watches the pages that a test opens."""

from __future__ import annotations

import itertools
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.console.limits import Limits
from reticent.gateway import Gateway, credentials, directory
from reticent.gateway.demo import DemoKeys, seed
from reticent.gateway.demo_films import FILMS
from reticent.gateway.demo_people import ADS, ASSISTANT, CLUB, MEMBERS

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page

WIDTHS = (420, 1280)
SCHEMES = ("light", "dark")
SLOW = 60_000  # milliseconds, of a busy machine
PLENTY = Limits(
    provider_rate=1e9,
    provider_burst=10**9,
    address_rate=1e9,
    address_burst=10**9,
    door_rate=1e9,
    door_burst=10**9,
)
PROVIDERS = (CLUB, ADS, ASSISTANT)
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Guest:
    """Somebody with a link of their own."""

    name: str
    link: str


@dataclass
class Site:
    """The service as it runs, and its inside for what a browser cannot see."""

    gateway: Gateway
    keys: DemoKeys
    origin: str

    def guest(self, name: str) -> Guest:
        """Somebody of the demonstration."""
        return Guest(name, self._link(self.keys.people[name]))

    @property
    def engineer(self) -> Guest:
        """Whoever runs it."""
        return Guest("", self._link(self.keys.engineer))

    def newcomer(
        self, like: str = "ann", *, preferences: str | None = None, items: tuple[str, ...] = ()
    ) -> Guest:
        """Somebody new with another's profile, whom no other test knows."""
        member = next(one for one in MEMBERS if one.name == like)
        name, key, titles = f"{like}-{next(_NUMBERS)}", credentials.secret(), tuple(FILMS)
        wishes = member.preferences if preferences is None else preferences

        def work(connection: Any) -> None:
            held = [*(titles[place] for place in member.seen), *items]
            columns = member.public()
            directory.add_person(connection, name, items=held, columns=columns, preferences=wishes)
            credentials.add_door(connection, key, role="person", person=name)

        self.gateway.write(work)
        return Guest(name, self._link(key))

    def file(self, guest: Guest) -> str:
        """The preferences file as it holds now."""
        return self.gateway.known(guest.name).person.preferences.text

    def change(self, guest: Guest, text: str) -> None:
        """As if it were saved in another window."""
        version = self.gateway.known(guest.name).person.version
        self.gateway.set_preferences(guest.name, text, seen=version)

    def ask(
        self, guest: Guest, provider: str = CLUB, *, kind: str = "histogram", token: str = ""
    ) -> tuple[int, dict[str, Any]]:
        """A release through the API: status and body."""
        request = urllib.request.Request(
            f"{self.origin}/v1/{kind}",
            data=json.dumps({"subject": guest.name}).encode(),
            headers={
                "authorization": f"Bearer {token or self.keys.tokens[provider]}",
                "content-type": "application/json",
                "idempotency-key": f"browser-{next(_NUMBERS):08d}",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def _link(self, key: str) -> str:
        return f"{self.origin}/enter?key={key}"


@contextmanager
def running(folder: Path) -> Iterator[Site]:
    """The whole service on a port of its own, as ``reticent serve --demo`` runs it."""
    import uvicorn

    from reticent.console.app import make_app

    with Gateway.open(folder / "gateway.db") as gateway:
        keys = seed(gateway)
        config = uvicorn.Config(
            make_app(gateway, limits=PLENTY),
            host="127.0.0.1",
            port=0,
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started:
            assert thread.is_alive(), "the server ended at once"
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Site(gateway, keys, f"http://127.0.0.1:{port}")
        server.should_exit = True
        thread.join(30)


@dataclass
class Watch:
    """All that the pages of one test asked for and complained about."""

    origins: set[str]
    statuses: set[int] = field(default_factory=set)
    phrases: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def expect(self, *statuses: int, phrases: tuple[str, ...] = (), origin: str = "") -> None:
        """Answers and complaints that are meant to come, and another origin that is the test's."""
        self.statuses |= set(statuses)
        self.phrases |= set(phrases)
        self.origins |= {origin} if origin else set()

    def over(self, context: BrowserContext) -> None:
        """Watch all pages of a context."""
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("weberror", lambda error: self.said.append(f"page error: {error.error}"))
        context.on("console", self._heard)

    def _heard(self, message: ConsoleMessage) -> None:
        by_itself = message.location.get("url", "").endswith("/favicon.ico")  # see test_security.py
        if message.type in ("error", "warning") and not by_itself:
            self.said.append(f"{message.text} at {message.location.get('url', '')}")

    def check(self) -> None:
        """No request beyond our own origin, nothing in the console."""
        beyond = [url for url in self.asked if not self._own(url)]
        assert not beyond, f"requests to elsewhere: {beyond}"
        complaints = [text for text in self.said if not self._meant(text)]
        assert not complaints, f"the console says: {complaints}"

    def _own(self, url: str) -> bool:
        return any(url.startswith(f"{origin}/") for origin in self.origins)

    def _meant(self, text: str) -> bool:
        told = (f"the server responded with a status of {status} " for status in self.statuses)
        return any(phrase in text for phrase in (*told, *self.phrases))


def tab_to(page: Page, role: Any, name: Any, *, most: int = 120) -> None:
    """Press Tab until a control of that role and name has the focus."""
    wanted = page.get_by_role(role, name=name).first
    wanted.wait_for(timeout=SLOW)
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"Tab does not reach the {role} {name!r}")


def comments(text: str) -> list[str]:
    """All comments of a file."""
    return [line[line.index("#") :] for line in text.splitlines() if "#" in line]


def added(before: str, after: str) -> list[str]:
    """Lines that came, if none went or changed."""
    old = before.splitlines()
    left = iter(after.splitlines())
    fresh = []
    for line in old:
        for other in left:
            if other == line:
                break
            fresh.append(other)
        else:
            raise AssertionError(f"this line went: {line!r}\nnow:\n{after}")
    return [line for line in (*fresh, *left) if line.strip()]
