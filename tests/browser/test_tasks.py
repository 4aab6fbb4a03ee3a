"""What people come for, from their own link on: by pointer, by keyboard alone, and without script.

Everything is found by its role and its name: what a test cannot find so, a person cannot either.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from reticent.console import pages_left
from reticent.gateway.credentials import DAY
from tests.browser.stage import CLUB, SLOW, Guest, Site, added, comments, tab_to

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

WAYS = ("pointer", "keyboard", "no script")


class Hand:
    """Somebody who uses the pages in one of the three ways."""

    def __init__(self, page: Page, way: str) -> None:
        self.page, self.way = page, way

    def press(self, role: str, name: str | re.Pattern[str]) -> None:
        """A link or a button."""
        if self.way == "keyboard":
            tab_to(self.page, role, name)
            self.page.keyboard.press("Enter")
        else:
            self.page.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]

    def choose(self, name: str | re.Pattern[str], begins: str) -> None:
        """One of a list."""
        if self.way == "keyboard":
            tab_to(self.page, "combobox", name)
            self.page.keyboard.type(begins)
            return
        box = self.page.get_by_role("combobox", name=name)
        texts = box.get_by_role("option").all_inner_texts()
        box.select_option(label=next(text for text in texts if text.startswith(begins)))

    def slide(self, name: str | re.Pattern[str], key: str, times: int) -> None:
        """A slider; by its keys in every way, as a pointer cannot hit a step for sure."""
        if self.way == "keyboard":
            tab_to(self.page, "slider", name)
        else:
            self.page.get_by_role("slider", name=name).focus()
        for _ in range(times):
            self.page.keyboard.press(key)

    def status(self, says: str | re.Pattern[str]) -> None:
        self.page.get_by_text(says).first.wait_for()

    def heading(self, says: str | re.Pattern[str]) -> None:
        self.page.get_by_role("heading", level=1, name=says).wait_for()


@pytest.fixture(params=WAYS)
def hand(request: pytest.FixtureRequest, enter: Callable[..., Page]) -> Callable[[Guest], Hand]:
    def come(guest: Guest) -> Hand:
        return Hand(enter(guest, script=request.param != "no script"), request.param)

    return come


def held_by(site: Site, guest: Guest) -> str:
    """An item that no line of the file names yet."""
    person = site.gateway.known(guest.name).person
    return next(item for item in person.items if item not in person.preferences.text)


def form_of(body: dict[str, object]) -> object:
    """What an answer looks like, whatever numbers are in it."""
    value = body["value"]
    assert isinstance(value, dict)
    return list(body), list(value), {type(one) for one in value.values()}


def test_hide_one_item_from_one_provider(site: Site, hand: Callable[[Guest], Hand]) -> None:
    guest = site.newcomer()
    before, item = site.file(guest), held_by(site, guest)
    status, first = site.ask(guest)
    assert status == 200
    does = hand(guest)
    does.press("link", re.compile(rf"Hide an item.*{re.escape(CLUB)}"))
    does.heading(re.compile(re.escape(CLUB)))
    does.choose(item, "0 ")
    does.press("button", "Save")
    does.status(re.compile("Saved"))
    after = site.file(guest)
    assert tomllib.loads(after)["providers"][CLUB]["items"] == {item: 0}
    assert added(before, after) == [f'[providers."{CLUB}".items]', f'"{item}" = 0']
    assert comments(after) == comments(before)
    status, second = site.ask(guest)
    assert status == 200
    assert form_of(second) == form_of(first)
    assert all(second[one] == first[one] for one in first if one not in ("key", "value"))


def test_find_what_left_last_week(site: Site, hand: Callable[[Guest], Hand]) -> None:
    guest = site.newcomer()
    _, told = site.ask(guest)
    does = hand(guest)
    does.press("link", "What they got")
    does.heading("What they got")
    does.choose("Time", "the last 7")
    does.press("button", "Show")
    does.page.wait_for_url("**days=7*")
    release = does.page.get_by_role("article", name=re.compile(f"^Histogram to {re.escape(CLUB)}"))
    assert release.count() == 1
    table = release.get_by_role("table")
    heads = table.get_by_role("columnheader").all_inner_texts()
    assert heads[1:3] == ["They got", "True now"]
    row = table.get_by_role("row", name=re.compile("^Drama"))
    released, true, _ = row.get_by_role("cell").all_inner_texts()
    assert (
        abs(
            float(released.replace("\N{MINUS SIGN}", "-").replace(",", "")) - told["value"]["Drama"]
        )
        < 0.006
    )
    held, catalogue = site.gateway.known(guest.name).held, site.gateway.world().catalogue
    place = catalogue.attributes.index("Drama")
    here = catalogue.columns == place
    assert float(true) == float((catalogue.units * held[catalogue.rows])[here].sum())
    does.press("link", f"Your rule for {CLUB}")
    does.heading(re.compile(re.escape(CLUB)))
    does.page.go_back()
    does.press("link", "Drama")
    does.heading(f"Drama for {CLUB}")
    does.press("link", re.compile(r"^Line \d+"))
    does.heading("Your file")
    number = int(does.page.url.rpartition("-")[2])
    assert "Drama = 0.02" in site.file(guest).splitlines()[number - 1]


def test_a_week_ends_after_seven_days(
    site: Site, enter: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = site.newcomer()
    site.ask(guest)
    page = enter(guest)
    now = pages_left.time.time()
    monkeypatch.setattr(pages_left, "time", SimpleNamespace(time=lambda: now + 7 * DAY + 60))
    page.goto(f"{site.origin}/me/left?days=7")
    page.get_by_text("Nothing about you was sent").wait_for()
    page.get_by_role("combobox", name="Time").select_option(label="the last 30 days")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("article").wait_for()


def test_let_a_provider_have_less(site: Site, hand: Callable[[Guest], Hand]) -> None:
    guest = site.newcomer()
    before = site.file(guest)
    does = hand(guest)
    does.press("link", re.compile(rf"have less.*{re.escape(CLUB)}"))
    does.heading(re.compile(re.escape(CLUB)))
    status = does.page.get_by_role("status")
    said = status.inner_text()
    assert re.search(r"at most \d+ times in 100", said)
    does.slide(re.compile("How much one release may tell"), "ArrowLeft", 3)
    if does.way == "no script":
        assert status.inner_text() == said
        does.press("button", "Show the effect")
        does.page.wait_for_load_state()
    else:
        assert does.page.get_by_role("button", name="Show the effect").count() == 0
    moved = does.page.get_by_role("status").filter(has_not_text=said)
    moved.wait_for()
    assert odds_in(moved.inner_text()) < odds_in(said)
    assert site.file(guest) == before  # nothing is saved by looking
    typed = does.page.get_by_role("textbox", name=re.compile("As a number"))
    assert typed.input_value() == "0.05"
    does.press("button", "Save")
    does.status(re.compile("Saved"))
    after = site.file(guest)
    assert tomllib.loads(after)["providers"][CLUB]["epsilon"] == 0.05
    assert comments(after) == comments(before)
    changed = [
        pair
        for pair in zip(before.splitlines(), after.splitlines(), strict=True)
        if pair[0] != pair[1]
    ]
    assert len(changed) == 1, changed


def odds_in(sentence: str) -> int:
    found = re.search(r"at most (\d+) times in 100", sentence)
    assert found, sentence
    return int(found[1])


def test_a_number_moves_the_slider_and_keeps_the_focus(
    site: Site, enter: Callable[..., Page]
) -> None:
    page = enter(site.newcomer())
    page.goto(f"{site.origin}/me/who/{CLUB}")
    typed = page.get_by_role("textbox", name=re.compile("As a number"))
    slider = page.get_by_role("slider")
    place = slider.input_value()
    typed.fill("2")
    page.wait_for_function(
        "place => document.querySelector('input[type=range]').value !== place", arg=place
    )
    assert int(slider.input_value()) > int(place)
    assert typed.evaluate("one => one === document.activeElement")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('input[type=text]').value === '1'")
    assert slider.evaluate("one => one === document.activeElement")


@pytest.mark.parametrize("address", [f"/me/who/{CLUB}", f"/me/who/{CLUB}/Drama"])
def test_on_a_phone_the_effect_stands_by_the_slider(
    address: str, site: Site, enter: Callable[..., Page]
) -> None:
    page = enter(site.guest("ann"), width=420)
    page.goto(site.origin + address)
    slider, effect = (page.get_by_role(role).bounding_box() for role in ("slider", "status"))  # type: ignore[arg-type]
    assert slider is not None
    assert effect is not None
    assert 0 <= effect["y"] - (slider["y"] + slider["height"]) < 60


def test_a_long_line_of_the_file_is_reached_by_keys(site: Site, enter: Callable[..., Page]) -> None:
    page = enter(site.guest("ann"), width=420)
    page.goto(f"{site.origin}/me/file")
    tab_to(page, "group", "Lines of the file")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")


def test_three_questions(site: Site, hand: Callable[[Guest], Hand]) -> None:
    guest = site.newcomer("cleo")
    does = hand(guest)
    does.press("link", "Answer three questions")
    does.heading("Three questions")
    groups = does.page.get_by_role("group").all()
    assert len(groups) == 3
    if does.way == "keyboard":
        for group in groups:
            first = group.get_by_role("radio").first
            for _ in range(40):
                does.page.keyboard.press("Tab")
                if first.evaluate("one => one === document.activeElement"):
                    break
            does.page.keyboard.press("Space")
            does.page.keyboard.press("ArrowDown")
    else:
        for group in groups:
            group.get_by_role("radio").nth(1).check()
    does.press("button", "Show what comes of it")
    does.heading(re.compile("What comes of it"))
    lines = does.page.get_by_role("listitem").filter(has_text=re.compile("^epsilon"))
    assert lines.count() >= 1
    assert site.file(guest) == "version = 1\n"
    does.press("button", "Use this file")
    does.status(re.compile("Your file is in place"))
    assert set(tomllib.loads(site.file(guest))["providers"]) == set(site.keys.tokens)


def test_stop_a_provider_that_just_got_something(site: Site, hand: Callable[[Guest], Hand]) -> None:
    guest = site.newcomer()
    _, first = site.ask(guest)
    does = hand(guest)
    does.press("link", "What they got")
    does.press("link", re.compile(r"^Stop this"))
    does.heading(re.compile(rf"{re.escape(CLUB)} have nothing"))
    does.press("button", re.compile("^Stop"))
    does.status(re.compile("^Stopped"))
    assert "providers" not in tomllib.loads(site.file(guest))
    status, second = site.ask(guest)
    assert status == 200
    assert form_of(second) == form_of(first)
    does.press("link", "What they got")
    does.page.get_by_text("Noise only: nothing of you").wait_for(timeout=SLOW)
