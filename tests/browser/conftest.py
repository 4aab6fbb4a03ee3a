"""A real server and a real browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.stage import SLOW, Guest, Site, Watch, running
from tests.tiers import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="package")
def playwright() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Any) -> Iterator[Browser]:
    started = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS, timeout=SLOW)
    yield started
    started.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running(tmp_path_factory.mktemp("site")) as started:
        yield started


@pytest.fixture(scope="package")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures of pages are put, for somebody to look at."""
    named = os.environ.get("RETICENT_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def watch(site: Site) -> Watch:
    return Watch({site.origin})


@pytest.fixture
def opened(browser: Browser, watch: Watch) -> Iterator[Callable[..., Page]]:
    """A page of a new context, with or without script; all of them are watched to their end."""
    contexts = []

    def new(*, script: bool = True, width: int = 1280) -> Page:
        context = browser.new_context(
            java_script_enabled=script,
            viewport={"width": width, "height": 900},
            reduced_motion="reduce",
        )
        context.set_default_timeout(SLOW)
        contexts.append(context)
        watch.over(context)
        return context.new_page()

    yield new
    for context in contexts:
        context.close()
    watch.check()


@pytest.fixture
def enter(opened: Callable[..., Page]) -> Callable[..., Page]:
    """Come in by one's own link, as far as the first page."""

    def come(guest: Guest, *, script: bool = True, width: int = 1280) -> Page:
        page = opened(script=script, width=width)
        page.goto(guest.link)
        page.wait_for_url("**/me" if guest.name else "**/engineer")
        return page

    return come
