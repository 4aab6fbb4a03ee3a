"""What keeps strangers out of a real browser: policy, cookie, others' forms, signing out."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import ARGUMENTS
from tests.browser.looking import look
from tests.browser.stage import CLUB, SLOW, Guest, Site, Watch
from tests.tiers import chromium

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVIL = '<script>window.hacked = 1</script>"\'><img src=x onerror="window.hacked = 2">{{ 7 * 7 }}'
HOSTILE = f"""version = 1
# <script>window.hacked = 3</script> & </textarea><script>window.hacked = 4</script>

[items]
{EVIL!r} = 0

[attributes]
default = 0.1  # "><svg onload="window.hacked = 5">

[providers."{CLUB}"]
epsilon = 0.4

[providers."<b onclick='x'>/evil.example"]
epsilon = 0.2

[hide]
"<i>illness</i>" = {{ leak_bits = 0.05 }}
""".replace(repr(EVIL), '"' + EVIL.replace('"', '\\"') + '"')
ADDRESSES = (
    "/me",
    "/me/who",
    "/me/items",
    f"/me/items?provider={CLUB}",
    "/me/items?q=%3Cscript%3Ewindow.hacked=6%3C/script%3E%22%27%3E",
    "/me/hidden",
    "/me/left?provider=%22%3E%3Cscript%3Ewindow.hacked=7%3C/script%3E",
    "/me/file",
    "/me/file/edit",
    "/me?done=%3Cscript%3Ewindow.hacked=8%3C/script%3E",
)


def test_nothing_that_somebody_wrote_runs(
    site: Site, enter: Callable[..., Page], pictures: Path
) -> None:
    guest = site.newcomer(preferences=HOSTILE, items=(EVIL,))
    page = enter(guest)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    for address in ADDRESSES:
        told = page.goto(site.origin + address)
        assert told is not None
        assert told.status == 200, address
        assert page.evaluate("typeof window.hacked") == "undefined", address
        assert page.get_by_role("img").filter(has_not=page.locator("*")).count() == 0
    page.goto(f"{site.origin}/me/items")
    assert page.get_by_role("combobox", name=EVIL).count() == 1  # it is shown as it was written
    look(page, "hostile-items", pictures)
    page.goto(f"{site.origin}/me/file/edit")
    assert page.get_by_role("textbox").input_value() == HOSTILE
    page.goto(f"{site.origin}/me")
    page.get_by_role("link", name=re.compile(r"have less.*evil\.example")).click()
    page.get_by_role("heading", level=1, name="<b onclick='x'>/evil.example").wait_for()
    look(page, "hostile-provider", pictures)


def test_the_policy_is_in_force(site: Site, enter: Callable[..., Page], watch: Watch) -> None:
    """Script in a page does not run even if it got there, and nothing is loaded from elsewhere."""
    # The browser tells of a picture that it then does not load.
    watch.expect(phrases=("Content Security Policy",), origin="https://elsewhere.example")
    page = enter(site.newcomer())
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(request.url))
    broken = page.evaluate(
        """async () => {
            const seen = [];
            const note = broken => seen.push(broken.effectiveDirective);
            document.addEventListener('securitypolicyviolation', note);
            const inline = document.createElement('script');
            inline.textContent = 'window.hacked = 1';
            document.body.append(inline);
            const handler = document.createElement('div');
            handler.setAttribute('onclick', 'window.hacked = 2');
            document.body.append(handler);
            handler.click();
            const style = document.createElement('style');
            style.textContent = 'body { background: url(https://elsewhere.example/x) }';
            document.body.append(style);
            const image = new Image();
            image.src = 'https://elsewhere.example/pixel';
            document.body.append(image);
            await fetch('https://elsewhere.example/send').catch(() => 0);
            const form = document.createElement('form');
            form.action = 'https://elsewhere.example/form';
            document.body.append(form);
            form.submit();
            await new Promise(done => setTimeout(done, 300));
            return [typeof window.hacked, seen];
        }"""
    )
    assert broken[0] == "undefined"
    expected = {"script-src-elem", "script-src-attr", "style-src-elem", "img-src", "connect-src"}
    assert expected | {"form-action"} <= set(broken[1]), broken[1]
    assert page.url.startswith(site.origin)
    assert not [url for url in sent if "elsewhere" in url]


def test_no_script_can_read_the_cookie(
    site: Site, enter: Callable[..., Page], watch: Watch
) -> None:
    page = enter(site.newcomer())
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert "key=" not in page.url
    page.goto(f"{site.origin}/me/items?q=clinic")
    stored = "[...Object.values(localStorage), ...Object.values(sessionStorage)]"
    assert page.evaluate(stored) in ([], ["/me/items?q=clinic"])  # htmx keeps where it is
    watch.expect(401)
    sign_out(page)
    page.wait_for_load_state("load")  # what comes next takes the place of what was kept
    assert page.evaluate(stored) in ([], ["/"])


def test_the_link_is_not_in_the_history(site: Site, enter: Callable[..., Page]) -> None:
    page = enter(site.newcomer())
    session = page.context.new_cdp_session(page)
    entries = session.send("Page.getNavigationHistory")["entries"]
    assert not [one["url"] for one in entries if "key=" in one["url"]]


@pytest.mark.parametrize("script", [True, False])
def test_what_is_another_persons_is_not_there(
    script: bool, site: Site, enter: Callable[..., Page], watch: Watch
) -> None:
    watch.expect(404)
    ann, guest = site.guest("ann"), site.newcomer("bob")
    (mine,) = site.gateway.left(ann.name, most=1)
    page = enter(guest, script=script)
    for address in (f"/me/left/{mine.spend}/card", "/engineer", "/engineer/ledger", "/me/who/x"):
        told = page.goto(site.origin + address)
        assert told is not None
        assert told.status == 404, address
        page.get_by_role("heading", level=1).wait_for()
        assert "ann" not in re.findall(r"\w+", page.get_by_role("main").inner_text())
    engineer = enter(site.engineer, script=script)
    told = engineer.goto(f"{site.origin}/me/left")
    assert told is not None
    assert told.status == 404


# Another site's pages.


@pytest.fixture
def elsewhere(watch: Watch) -> Iterator[Callable[[str, str], str]]:
    """Serve a page from another origin: ``127.0.0.1`` is the same site, ``localhost`` is not."""
    shown = {"page": ""}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = shown["page"].encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def serve(host: str, page: str) -> str:
        shown["page"] = page
        origin = f"http://{host}:{server.server_address[1]}"
        watch.expect(origin=origin)
        return origin

    yield serve
    server.shutdown()
    server.server_close()
    thread.join(10)


def sending(action: str, fields: dict[str, str]) -> str:
    inputs = "".join(
        f'<input name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in fields.items()
    )
    return (
        f'<!doctype html><title>x</title><form id="f" method="post" action="{action}">{inputs}'
        "</form><script>document.getElementById('f').submit()</script>"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_forms_of_other_sites_change_nothing(
    host: str,
    site: Site,
    enter: Callable[..., Page],
    elsewhere: Callable[[str, str], str],
    watch: Watch,
) -> None:
    """Even one that knows the token of our forms; from our own site, where cookies come along."""
    watch.expect(401, 403)
    guest = site.newcomer()
    before, page = site.file(guest), enter(guest)
    token = page.locator("input[name=form]").first.input_value()
    version = str(site.gateway.known(guest.name).person.version)
    fields = {"form": token, "version": version, "text": "version = 1\n"}
    for address in ("/me/file/edit", f"/me/stop/{CLUB}", "/leave", "/me/leave-gateway"):
        sent = sending(site.origin + address, {**fields, "word": "delete"})
        origin = elsewhere(host, sent)
        with page.expect_response(lambda told: told.request.method == "POST") as answer:
            page.goto(f"{origin}/")
        assert answer.value.status == (403 if host == "127.0.0.1" else 401), address
        page.wait_for_load_state()
        assert site.file(guest) == before
    page.goto(f"{site.origin}/me")
    page.get_by_role("button", name="Sign out").wait_for()  # still signed in


def test_no_other_page_can_hold_ours_in_a_frame(
    site: Site,
    enter: Callable[..., Page],
    elsewhere: Callable[[str, str], str],
    watch: Watch,
) -> None:
    watch.expect(401, phrases=("frame-ancestors", "X-Frame-Options", "Refused to display"))
    page = enter(site.newcomer())
    inner = f'<!doctype html><title>x</title><iframe src="{site.origin}/me" title="x"></iframe>'
    page.goto(elsewhere("127.0.0.1", inner) + "/")
    page.wait_for_timeout(500)
    for frame in page.frames[1:]:
        assert frame.get_by_role("heading").count() == 0


# Signing out.


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", level=1, name="Open your own link").wait_for()


@pytest.mark.parametrize("script", [True, False])
def test_signing_out_and_going_back(
    script: bool, site: Site, enter: Callable[..., Page], watch: Watch
) -> None:
    watch.expect(401)
    guest = site.newcomer()
    page = enter(guest, script=script)
    page.goto(f"{site.origin}/me/file")
    assert page.get_by_text("nobody's business").count() == 1
    sign_out(page)
    assert page.context.cookies() == []
    page.go_back()
    page.get_by_role("heading", level=1, name="Open your own link").wait_for()
    assert page.get_by_text("nobody's business").count() == 0
    page.goto(f"{site.origin}/me/file")
    page.get_by_role("heading", level=1, name="Open your own link").wait_for()


def test_going_back_where_the_browser_keeps_pages_alive(site: Site, playwright: Any) -> None:
    """With the cache for going back, which Playwright turns off unless told otherwise."""
    browser = playwright.chromium.launch(
        executable_path=chromium(),
        args=ARGUMENTS,
        ignore_default_args=["--disable-back-forward-cache"],
        timeout=SLOW,
    )
    try:
        page = browser.new_page()
        page.set_default_timeout(SLOW)
        page.goto(site.newcomer().link)
        page.wait_for_url("**/me")
        page.goto(f"{site.origin}/me/file")
        sign_out(page)
        page.go_back()
        page.wait_for_timeout(500)
        assert page.get_by_text("nobody's business").count() == 0
    finally:
        browser.close()


def test_who_signed_out_cannot_come_back_with_the_old_cookie(
    site: Site, enter: Callable[..., Page], watch: Watch
) -> None:
    watch.expect(401)
    guest: Guest = site.newcomer()
    page = enter(guest)
    kept = page.context.cookies()
    sign_out(page)
    page.context.add_cookies(kept)  # type: ignore[arg-type]
    told = page.goto(f"{site.origin}/me")
    assert told is not None
    assert told.status == 401


def test_a_wrong_key_opens_nothing(site: Site, opened: Callable[..., Page], watch: Watch) -> None:
    watch.expect(401)
    page = opened()
    for key in ("", "0" * 64, "x"):
        told = page.goto(f"{site.origin}/enter?key={key}")
        assert told is not None
        assert told.status == 401
    assert page.context.cookies() == []


def test_the_icon_that_every_browser_asks_for(site: Site, enter: Callable[..., Page]) -> None:
    """Without one, every first visit ends in an error in the console and a 404 in the log."""
    page = enter(site.newcomer())
    icon = page.locator("link[rel~=icon]").evaluate_all("links => links.map(one => one.href)")
    told = page.request.get(icon[0] if icon else f"{site.origin}/favicon.ico")
    assert told.status == 200
    assert told.headers["content-type"].startswith("image/")
