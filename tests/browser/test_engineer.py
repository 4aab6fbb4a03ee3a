"""The engineer's work in a real browser: plan, publish, attack, tokens, the chain."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from reticent.console import pages_engineer_plan
from tests.browser.stage import ADS, ASSISTANT, CLUB, Site, Watch, running, tab_to

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TOKEN = re.compile(r"rtc_[0-9a-f]{72}")


def chart(page: Page) -> str:
    """A chart as it is drawn."""
    return str(page.get_by_role("img").first.evaluate("one => one.outerHTML"))


def summary(page: Page) -> str:
    return page.get_by_role("status").filter(has_text=re.compile("suspicion")).inner_text()


def test_a_slider_changes_the_chart(site: Site, enter: Callable[..., Page]) -> None:
    page = enter(site.engineer)
    tab_to(page, "link", "Plan")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Plan a histogram").wait_for()
    before, said, address = chart(page), summary(page), page.url
    tab_to(page, "slider", "Comedy")
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    drawn = "before => document.querySelector('[role=img]').outerHTML !== before"
    page.wait_for_function(drawn, arg=before)
    slider = page.get_by_role("slider", name="Comedy")
    assert slider.evaluate("one => one === document.activeElement")
    tab_to(page, "slider", re.compile("All together"))
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("status").filter(has_text="suspicion").filter(has_not_text=said).wait_for()
    assert percent(summary(page)) < percent(said)
    assert page.url == address
    page.get_by_role("link", name=re.compile("^Publish")).wait_for()


def test_a_slow_answer_that_is_overtaken_is_no_error(
    site: Site, enter: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever moves a slider again before the answer sees the last one, and no complaint."""
    page = enter(site.engineer)
    page.goto(f"{site.origin}/engineer/plan?provider={CLUB}")
    quick = pages_engineer_plan._result

    def slow(*given: Any, **more: Any) -> Any:
        time.sleep(0.5)
        return quick(*given, **more)

    monkeypatch.setattr(pages_engineer_plan, "_result", slow)
    page.get_by_role("slider", name=re.compile("All together")).focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(250)
    place = page.get_by_role("slider", name=re.compile("All together")).input_value()
    page.get_by_role("link", name=re.compile("^Publish")).wait_for()
    page.wait_for_function(
        "wanted => [...document.links].some(one => new RegExp(wanted).test(one.href))",
        arg=rf"[?&]e={place}(&|$)",
    )


def percent(sentence: str) -> int:
    found = re.search(r"at most (\d+) %", sentence)
    assert found, sentence
    return int(found[1])


def test_planning_without_script(site: Site, enter: Callable[..., Page]) -> None:
    page = enter(site.engineer, script=False)
    page.goto(f"{site.origin}/engineer/plan?provider={CLUB}")
    before, said = chart(page), summary(page)
    page.get_by_role("slider", name=re.compile("All together")).focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**e=*")
    assert chart(page) != before
    assert percent(summary(page)) < percent(said)
    page.get_by_role("link", name="Back to the published terms").click()
    page.wait_for_url("**provider=*")
    assert summary(page) == said


def test_counting_people_is_asked_for(site: Site, enter: Callable[..., Page]) -> None:
    page = enter(site.engineer)
    page.goto(f"{site.origin}/engineer/plan?provider={CLUB}")
    assert page.get_by_text("Do not publish").count() == 0
    page.get_by_role("checkbox", name=re.compile("Count the people")).check()
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("Do not publish").wait_for()
    shown = page.get_by_role("main").inner_text()
    assert not set(site.keys.people) & set(re.findall(r"\w+", shown))


@pytest.fixture
def other_site(tmp_path_factory: pytest.TempPathFactory, watch: Watch) -> Iterator[Site]:
    """A demonstration of its own: what is published there changes no other test."""
    with running(tmp_path_factory.mktemp("other")) as started:
        watch.expect(origin=started.origin)
        yield started


@pytest.mark.parametrize("script", [True, False])
def test_publishing_asks_first(script: bool, other_site: Site, enter: Callable[..., Page]) -> None:
    site = other_site
    page = enter(site.engineer, script=script)
    page.goto(f"{site.origin}/engineer/plan?provider={ADS}&e=20")
    before = site.gateway.world().offers[ADS]["histogram"].id
    page.get_by_role("link", name=re.compile("^Publish these terms")).click()
    page.get_by_role("heading", name="What changes for people").wait_for()
    assert site.gateway.world().offers[ADS]["histogram"].id == before
    page.get_by_role("button", name="Publish these terms").click()
    page.get_by_text("The terms are published").wait_for()
    assert site.gateway.world().offers[ADS]["histogram"].id != before
    assert site.ask(site.guest("ann"), ADS)[0] == 200


def test_the_attack_stays_below_the_ceiling(site: Site, enter: Callable[..., Page]) -> None:
    page = enter(site.engineer)
    page.get_by_role("link", name="Attacker's view").click()
    page.get_by_role("combobox", name="Provider").select_option(label=CLUB)
    page.get_by_role("button", name="Attack", exact=True).click()
    page.wait_for_url(f"**provider={CLUB}*")
    assert page.get_by_role("alert").count() == 0
    page.get_by_text(re.compile("promised ceiling of one release")).first.wait_for()
    ceiling, best = area(page, "Promised ceiling"), area(page, "Best possible test")
    assert 0.5 < best <= ceiling < 1
    before = chart(page)
    page.get_by_role("radio", name="until the total is used up").check()
    page.get_by_role("button", name="Attack", exact=True).click()
    page.wait_for_url("**releases=total*")
    assert chart(page) != before
    assert area(page, "Promised ceiling") > ceiling
    page.get_by_role("radio", name="0", exact=True).check()
    page.get_by_role("button", name="Attack", exact=True).click()
    page.wait_for_url("**weight=0*")
    page.get_by_text("nobody can tell whether it is there").wait_for()


def area(page: Page, name: str) -> float:
    """The last number of a row."""
    return shown(page, name)[-1]


def shown(page: Page, name: str) -> list[float]:
    """The numbers of a row."""
    row = page.get_by_role("row", name=re.compile(f"^{name}"))
    return [float(text) for text in row.get_by_role("cell").all_inner_texts()]


@pytest.mark.parametrize("provider", [ADS, CLUB])
def test_no_number_that_is_shown_is_above_the_promise(
    provider: str, site: Site, enter: Callable[..., Page]
) -> None:
    """Rounding must not make it look so."""
    page = enter(site.engineer)
    page.goto(f"{site.origin}/engineer/attack?provider={provider}")
    pairs = zip(shown(page, "Best possible test"), shown(page, "Promised ceiling"), strict=True)
    assert not [pair for pair in pairs if pair[0] > pair[1]]


@pytest.mark.parametrize("script", [True, False])
def test_a_token_is_shown_once_and_ends_at_once(
    script: bool, site: Site, enter: Callable[..., Page]
) -> None:
    page = enter(site.engineer, script=script)
    page.get_by_role("link", name="Ledger and tokens", exact=True).click()
    page.get_by_role("combobox", name="Provider").select_option(label=ASSISTANT)
    page.get_by_role("checkbox", name="profile").uncheck()
    page.get_by_role("button", name="Make a token").click()
    page.get_by_text("it is shown this once").wait_for()
    (token,) = set(TOKEN.findall(page.get_by_role("main").inner_text()))
    name = page.get_by_role("definition").first.inner_text()
    assert site.ask(site.guest("bob"), kind="profile", token=token)[0] == 403  # not its scope
    assert site.ask(site.guest("bob"), kind="histogram", token=token)[0] == 403  # not asked for
    page.get_by_role("link", name="Done").click()
    page.get_by_role("heading", level=1, name="Ledger and tokens").wait_for()
    assert not TOKEN.search(page.content())
    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_text("The token is revoked").wait_for()
    began = time.monotonic()
    status, _ = site.ask(site.guest("bob"), kind="histogram", token=token)
    assert status == 401
    assert time.monotonic() - began < 1 + 5  # the machine may be busy; the token is not
    row = page.get_by_role("row", name=re.compile(name))
    assert "revoked" in row.inner_text()


def test_a_token_is_not_shown_again(site: Site, enter: Callable[..., Page]) -> None:
    """A reload sends the form again at most: another token. Going back shows nothing."""
    from playwright.sync_api import Error

    page = enter(site.engineer)
    page.goto(f"{site.origin}/engineer/ledger")
    page.get_by_role("button", name="Make a token").click()
    page.get_by_text("it is shown this once").wait_for()
    (token,) = set(TOKEN.findall(page.get_by_role("main").inner_text()))
    page.reload()
    assert token not in page.content()
    page.get_by_role("link", name="Done").click()
    page.get_by_role("heading", level=1, name="Ledger and tokens").wait_for()
    assert not TOKEN.search(page.content())
    with pytest.raises(Error, match="ERR_CACHE_MISS"):  # the browser has kept no copy
        page.go_back()


def test_on_a_phone_nothing_that_matters_is_out_of_sight(
    site: Site, enter: Callable[..., Page]
) -> None:
    page = enter(site.engineer, width=420)
    words = page.get_by_role("cell", name=re.compile("^Whoever sees this release"))
    assert all(one["width"] > 300 for one in map(boxed, words.all()))
    assert page.get_by_role("row").count() > len(words.all())  # it is a table still
    page.goto(f"{site.origin}/engineer/ledger")
    for button in page.get_by_role("button", name=re.compile("^Revoke")).all():
        assert reach(boxed(button)) < 420
    page.goto(f"{site.origin}/engineer/plan?provider={CLUB}")
    assert reach(boxed(page.get_by_role("columnheader", name="Suspicion up to"))) < 420


def boxed(one: Locator) -> Any:
    found = one.bounding_box()
    assert found is not None
    return found


def reach(box: Any) -> float:
    return float(box["x"] + box["width"])


def test_the_chain_is_checked(site: Site, enter: Callable[..., Page], watch: Watch) -> None:
    watch.expect(422)
    page = enter(site.engineer)
    page.goto(f"{site.origin}/engineer/ledger")
    head = page.get_by_role("group", name="Head now").inner_text().strip()
    page.get_by_role("textbox", name=re.compile("A head")).fill(head)
    page.get_by_role("button", name="Check the chain now").click()
    page.get_by_role("status").filter(has_text="passes through your head").wait_for()
    other = head[:-1] + ("0" if head[-1] != "0" else "1")
    page.get_by_role("textbox", name=re.compile("A head")).fill(other)
    page.get_by_role("button", name="Check the chain now").click()
    page.get_by_role("alert").wait_for()
    page.get_by_role("textbox", name=re.compile("A head")).fill("not a head")
    page.get_by_role("button", name="Check the chain now").click()
    page.get_by_text("A head is a name, a number and 64 letters").wait_for()
