"""What every page must keep to, at each width and in each scheme, and a picture of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.stage import SCHEMES, WIDTHS

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMED = frozenset(
    [
        "button",
        "checkbox",
        "combobox",
        "link",
        "listbox",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "textbox",
    ]
)
HEIGHT = 900
COLOURS = ("color-contrast", "link-in-text-block")  # all that a scheme can change
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_SHAPE = """() => ({
    wide: document.scrollingElement.scrollWidth - window.innerWidth,
    h1: document.querySelectorAll('h1').length,
    status: document.querySelectorAll('[role=status]').length,
    title: document.title,
    ids: [...document.querySelectorAll('[id]')].map(one => one.id),
})"""


def look(page: Page, name: str, folder: Path) -> None:
    """Check the page as it stands, at all widths and in all schemes."""
    page.wait_for_load_state("load")  # styles too: a link that was followed may still be loading
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.evaluate(_DRAWN)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            rules = () if scheme == SCHEMES[0] else COLOURS
            found += [f"{width} {scheme}: {one}" for one in (*shape(page), *axe(page, rules))]
            picture(page, width, folder / f"{name}-{width}-{scheme}.png")
        found += [f"{width}: {one}" for one in nameless(page)]
    assert not found, f"{page.url}\n" + "\n".join(found)


def picture(page: Page, width: int, path: Path) -> None:
    """The whole page in a window as high as itself, so that what sticks to its end is there."""
    height = page.evaluate("document.scrollingElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": max(height, HEIGHT)})
    page.screenshot(path=path)
    page.set_viewport_size({"width": width, "height": HEIGHT})


def shape(page: Page) -> list[str]:
    """What is wrong with the page's frame."""
    told = page.evaluate(_SHAPE)
    twice = sorted({one for one in told["ids"] if told["ids"].count(one) > 1})
    rules = {
        f"{told['wide']} pixels too wide": told["wide"] > 0,
        f"{told['h1']} first headings": told["h1"] != 1,
        f"{told['status']} regions with role status": told["status"] != 1,
        f"the title is {told['title']!r}": len(told["title"]) <= len(" · Reticent"),
        f"ids that are there twice: {twice}": bool(twice),
    }
    return [rule for rule, broken in rules.items() if broken]


def axe(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """Findings of axe, whatever their impact; by all its rules, or by some."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())  # no tag of a script: the policy of our pages would refuse it
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    told = page.evaluate(
        "async chosen => (await axe.run(document, chosen)).violations",
        {"resultTypes": ["violations"], **only},
    )
    return [
        f"axe {one['id']} ({one['impact']}): {one['help']}: {[n['html'] for n in one['nodes'][:3]]}"
        for one in told
    ]


@cache
def _source() -> str:
    from axe_playwright_python.sync_playwright import Axe

    return str(Axe().axe_script)


def nameless(page: Page) -> list[str]:
    """Controls that have no name in the tree that readers of screens get."""
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        f"a {node['role']['value']} has no name"
        for node in tree
        if not node.get("ignored")
        and node.get("role", {}).get("value", "").casefold() in NAMED
        and not node.get("name", {}).get("value", "").strip()
    ]
