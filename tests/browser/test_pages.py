"""Every page, at two widths, light and dark: axe finds nothing, nothing sticks out, all has a name.

Pages that links lead to are listed, and a crawl checks that the list lacks none. Pages that only
a form leads to, mistakes above all, are reached as somebody would reach them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import pytest

from tests.browser.looking import axe, look, nameless, shape
from tests.browser.stage import (
    ADS,
    ASSISTANT,
    CLUB,
    PROVIDERS,
    SCHEMES,
    WIDTHS,
    Guest,
    Site,
    Watch,
)

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGES = {
    "overview": ("ann", "/me"),
    "overview-never-chosen": ("cleo", "/me"),
    "overview-used-up": ("finn", "/me"),
    "start": ("cleo", "/me/start"),
    "who": ("ann", "/me/who"),
    "who-never-chosen": ("cleo", "/me/who"),
    "who-open": ("bob", "/me/who"),
    "cell": ("ann", f"/me/who/{CLUB}/Drama"),
    "cell-withheld": ("eve", f"/me/who/{ADS}/Horror"),
    "cell-no-grant": ("ann", f"/me/who/{ADS}/Science%20fiction"),
    "cell-not-asked": ("ann", f"/me/who/{ASSISTANT}/Drama"),
    "provider": ("ann", f"/me/who/{CLUB}"),
    "provider-no-grant": ("cleo", f"/me/who/{CLUB}"),
    "provider-compares": ("ines", f"/me/who/{ASSISTANT}"),
    "terms-histogram": ("ann", f"/me/who/{CLUB}/terms/histogram"),
    "terms-similarity": ("ann", f"/me/who/{CLUB}/terms/similarity"),
    "terms-profile": ("ann", f"/me/who/{CLUB}/terms/profile"),
    "items": ("ann", "/me/items"),
    "items-of-one": ("eve", f"/me/items?provider={ADS}"),
    "items-no-grant": ("ann", f"/me/items?provider={ADS}"),
    "items-found": ("ann", "/me/items?q=the"),
    "items-not-found": ("ann", "/me/items?q=nowhere"),
    "hidden": ("ann", "/me/hidden"),
    "hidden-broken": ("jon", "/me/hidden"),
    "hidden-none": ("bob", "/me/hidden"),
    "left": ("ann", "/me/left"),
    "left-used-up": ("finn", "/me/left"),
    "left-profile": ("ines", "/me/left?days=all"),
    "left-nothing": ("hugo", "/me/left"),
    "file": ("ann", "/me/file"),
    "file-edit": ("ann", "/me/file/edit"),
    "stop": ("eve", f"/me/stop/{ADS}"),
    "stop-nothing": ("ann", f"/me/stop/{ADS}"),
    "leave": ("ann", "/me/leave-gateway"),
    "engineer": ("", "/engineer"),
    "plan": ("", "/engineer/plan"),
    "plan-counted": ("", f"/engineer/plan?provider={CLUB}&count=1"),
    "plan-first": ("", f"/engineer/plan?provider={ASSISTANT}"),
    "plan-changed": ("", f"/engineer/plan?provider={CLUB}&a0=0&a1=30&e=25"),
    "publish": ("", f"/engineer/plan/publish?provider={CLUB}&a0=0&a1=30&e=30"),
    "publish-first": ("", f"/engineer/plan/publish?provider={ASSISTANT}"),
    "publish-same": ("", f"/engineer/plan/publish?provider={CLUB}"),
    "attack": ("", "/engineer/attack"),
    "attack-many": ("", f"/engineer/attack?provider={CLUB}&releases=total&total=4&weight=half"),
    "attack-wrong": ("", "/engineer/attack?item=Nowhere&total=none"),
    "ledger": ("", "/engineer/ledger"),
}
ELSEWHERE = {"/me/file/preferences.toml"}  # no page


def guest_of(site: Site, name: str) -> Guest:
    return site.guest(name) if name else site.engineer


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, site: Site, enter: Callable[..., Page], pictures: Path) -> None:
    who, address = PAGES[name]
    page = enter(guest_of(site, who))
    told = page.goto(site.origin + address)
    assert told is not None
    assert told.status == 200
    look(page, name, pictures)


def test_a_release_and_its_card(site: Site, enter: Callable[..., Page], pictures: Path) -> None:
    page = enter(site.guest("ann"))
    page.goto(f"{site.origin}/me/left")
    page.get_by_role("link", name=re.compile("^Guarantee card")).first.click()
    page.get_by_text("About you.").wait_for()
    look(page, "card", pictures)


_UNDER = """one => {
    const box = one.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return !(top && (one.contains(top) || top.contains(one) || top.closest('label')));
}"""


@pytest.mark.parametrize("address", ["/me/items", "/me/left", "/me/who"])
def test_what_has_the_focus_can_be_seen(
    address: str, site: Site, enter: Callable[..., Page]
) -> None:
    """Nothing that sticks to an edge of a small window lies over it."""
    page = enter(site.guest("ann"))
    page.set_viewport_size({"width": 420, "height": 500})
    page.goto(site.origin + address)
    under = []
    for _ in range(30):
        page.keyboard.press("Tab")
        focus = page.locator(":focus")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
        if focus.count() and focus.evaluate(_UNDER):
            under.append(focus.evaluate("one => one.outerHTML.slice(0, 80)"))
    assert not under, f"something lies over {under}"


# Pages that only a form leads to.

Reach = Callable[["Page", Site, Guest], None]
REACHED: dict[str, tuple[str, int, Reach]] = {}


def reached(who: str = "ann", status: int = 200) -> Callable[[Reach], Reach]:
    def keep(reach: Reach) -> Reach:
        REACHED[reach.__name__.replace("_", "-")] = who, status, reach
        return reach

    return keep


def stale(site: Site, guest: Guest) -> None:
    """Somebody saves in another window."""
    site.change(guest, site.file(guest) + "\n# from another window\n")


def go(page: Page, site: Site, address: str) -> None:
    page.goto(site.origin + address)


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name, exact=isinstance(name, str)).click()


def answer_all(page: Page) -> None:
    for group in page.get_by_role("group").all():
        group.get_by_role("radio").nth(1).check()
    press(page, "Show what comes of it")
    page.get_by_role("heading", level=1, name=re.compile("What comes of it")).wait_for()


@reached("cleo")
def proposal(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/start")
    answer_all(page)


@reached("cleo", 409)
def proposal_stale(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/start")
    answer_all(page)
    stale(site, guest)
    press(page, "Use this file")


@reached("cleo", 422)
def start_unanswered(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/start")
    page.get_by_role("radio").first.check()
    press(page, "Show what comes of it")


@reached("cleo")
def saved(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/start")
    answer_all(page)
    press(page, "Use this file")


@reached(status=422)
def cell_wrong(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}/Drama")
    page.get_by_role("textbox").fill("much")
    press(page, "Save")


@reached()
def cell_tried(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}/Drama")
    page.get_by_role("slider").press("End")
    page.get_by_role("status").filter(has_text=re.compile("Drama")).wait_for()


@reached(status=409)
def cell_stale(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}/Drama")
    page.get_by_role("textbox").fill("0.01")
    stale(site, guest)
    press(page, "Save")


@reached(status=422)
def provider_wrong(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}")
    page.get_by_role("textbox", name=re.compile("In all")).fill("lots")
    press(page, "Save")


@reached(status=409)
def provider_stale(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}")
    page.get_by_role("slider").press("ArrowLeft")
    stale(site, guest)
    press(page, "Save")


@reached()
def provider_saved(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}")
    page.get_by_role("slider").press("ArrowLeft")
    press(page, "Save")
    page.get_by_text(re.compile("^Saved")).wait_for()


@reached()
def provider_to_nothing(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/who/{CLUB}")
    page.get_by_role("slider").press("Home")
    press(page, "Save")


@reached(status=409)
def stop_stale(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/stop/{CLUB}")
    stale(site, guest)
    press(page, re.compile("^Stop"))


@reached()
def stopped(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/stop/{CLUB}")
    press(page, re.compile("^Stop"))
    page.get_by_text(re.compile("^Stopped")).wait_for()


@reached(status=409)
def items_stale(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/items")
    page.get_by_role("combobox").first.select_option(value="0")
    stale(site, guest)
    press(page, "Save")


@reached()
def items_saved(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/me/items?provider={CLUB}")
    page.get_by_role("combobox").first.select_option(value="0")
    press(page, "Save")
    page.get_by_text(re.compile("^Saved")).wait_for()


@reached(status=422)
def hidden_wrong(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/hidden")
    page.get_by_role("textbox", name="What must not be inferred").fill("my illness")
    page.get_by_role("textbox", name=re.compile("bits")).last.fill("few")
    press(page, "Hide it")


@reached()
def hidden_more(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/hidden")
    page.get_by_role("textbox", name="What must not be inferred").fill("my illness")
    press(page, "Hide it")
    page.get_by_text(re.compile("^Saved")).wait_for()


@reached(status=422)
def file_wrong(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/file/edit")
    wrong = 'version = 1\n[items]\ndefault = 7\n[providers."x"]\nepsilon = -1\nmore = 2\n'
    page.get_by_role("textbox").fill(wrong)
    press(page, "Save")


@reached(status=422)
def file_no_toml(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/file/edit")
    page.get_by_role("textbox").fill("version = 1\n[items\n")
    press(page, "Save")


@reached(status=409)
def file_stale(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/file/edit")
    stale(site, guest)
    press(page, "Save")


@reached()
def file_with_notes(page: Page, site: Site, guest: Guest) -> None:
    site.change(guest, site.file(guest).replace("Drama = 0.02", "Dramma = 0.02"))
    go(page, site, "/me/file")


@reached(status=422)
def leave_wrong(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/leave-gateway")
    press(page, "Delete everything about me")


@reached()
def gone(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/leave-gateway")
    page.get_by_role("textbox").fill("delete")
    press(page, "Delete everything about me")
    page.get_by_role("heading", level=1, name="You are no longer here").wait_for()


@reached(status=401)
def signed_out(page: Page, site: Site, guest: Guest) -> None:
    press(page, "Sign out")
    page.get_by_role("heading", level=1, name="Open your own link").wait_for()


@reached(status=404)
def not_here(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/me/nothing")


@reached(status=403)
def old_form(page: Page, site: Site, guest: Guest) -> None:
    page.evaluate("() => { document.forms[0].elements.form.value = 'old' }")
    press(page, "Sign out")


@reached("")
def token_made(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/engineer/ledger")
    press(page, "Make a token")
    page.get_by_text("it is shown this once").wait_for()


@reached("", 422)
def token_wrong(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/engineer/ledger")
    page.get_by_role("textbox", name="Days").fill("0")
    press(page, "Make a token")


@reached("")
def ledger_checked(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/engineer/ledger")
    press(page, "Check the chain now")
    page.get_by_text("The chain is whole").wait_for()


@reached("", 422)
def ledger_wrong_head(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, "/engineer/ledger")
    page.get_by_role("textbox", name=re.compile("A head")).fill("nonsense")
    press(page, "Check the chain now")


@reached("")
def plan_nothing(page: Page, site: Site, guest: Guest) -> None:
    go(page, site, f"/engineer/plan?provider={CLUB}")
    for slider in page.get_by_role("slider").all()[:-1]:
        slider.press("Home")
    page.get_by_role("status").filter(has_text="Nothing is asked for").wait_for()


@pytest.mark.parametrize("name", REACHED)
def test_page_behind_a_form(
    name: str, site: Site, enter: Callable[..., Page], pictures: Path, watch: Watch
) -> None:
    who, status, reach = REACHED[name]
    guest = site.newcomer(who) if who else site.engineer
    page = enter(guest)
    if status != 200:
        watch.expect(status)
        with page.expect_response(lambda told: told.status == status):
            reach(page, site, guest)
        page.wait_for_load_state()
        if status in (409, 422):
            page.get_by_role("alert").or_(page.get_by_role("textbox")).first.wait_for()
    else:
        reach(page, site, guest)
    look(page, f"form-{name}", pictures)


def test_the_door(site: Site, opened: Callable[..., Page], pictures: Path) -> None:
    """The page that one sees for a moment only, or longer where nothing refreshes by itself."""
    page = opened()

    def stay(route: object) -> None:
        told = route.fetch()  # type: ignore[attr-defined]
        heads = {key: value for key, value in told.headers.items() if key != "refresh"}
        route.fulfill(response=told, headers=heads)  # type: ignore[attr-defined]

    page.route("**/enter*", stay)
    page.goto(site.guest("ann").link)
    look(page, "door", pictures)
    page.get_by_role("link", name="Go to your first page").click()
    page.wait_for_url("**/me")


# The crawl.


def kind_of(url: str, attributes: tuple[str, ...]) -> str:
    """The path of an address, with names and numbers taken out."""
    parts = [unquote(one) for one in urlsplit(url).path.split("/")]
    named = {**dict.fromkeys(PROVIDERS, "*"), **dict.fromkeys(attributes, "*")}
    return "/".join("*" if one.isdecimal() else named.get(one, one) for one in parts)


def crawl(page: Page, site: Site) -> Iterator[str]:
    """Follow all links of our own, each address once; leave the page open at each."""
    waiting, seen = [page.url], {page.url}
    while waiting:
        url = waiting.pop(0)
        if urlsplit(url).path in ELSEWHERE:
            told = page.request.get(url)
            assert told.status == 200, url
            continue
        shown = page.goto(url)
        assert shown is not None
        assert shown.status == 200, f"{shown.status} at {url}"
        yield url
        links = page.get_by_role("link", include_hidden=True)
        for found in links.evaluate_all("links => links.map(one => one.href.split('#')[0])"):
            assert found.startswith(f"{site.origin}/"), f"{url} links to {found}"
            if found not in seen:
                seen.add(found)
                waiting.append(found)


@pytest.mark.parametrize("who", ["ann", "cleo", ""], ids=["ann", "cleo", "engineer"])
def test_every_link(who: str, site: Site, enter: Callable[..., Page]) -> None:
    page = enter(guest_of(site, who))
    attributes = site.gateway.world().catalogue.attributes
    listed = {kind_of(address, attributes) for _, address in PAGES.values()}
    listed |= {"/me/left/*/card"}
    combinations = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]
    found: list[str] = []
    kinds: Counter[str] = Counter()
    count = 0
    for url in crawl(page, site):
        width, scheme = combinations[count % len(combinations)]
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        kind = kind_of(page.url, attributes)
        told = [*shape(page), *nameless(page)]
        if kinds[kind] < 2:  # many pages differ by a name alone
            told += axe(page)
        found += [f"{url} at {width} {scheme}: {one}" for one in told]
        kinds[kind] += 1
        count += 1
    print(f"{count} pages of {who or 'the engineer'}")
    assert not found, "\n".join(found)
    assert kinds.keys() <= listed, f"pages without a picture: {sorted(kinds.keys() - listed)}"
    assert count >= 12


def test_a_name_is_one_part_of_an_address() -> None:
    assert kind_of(f"/me/who/{CLUB}/{quote('Science fiction')}", ("Science fiction",)) == (
        "/me/who/*/*"
    )
