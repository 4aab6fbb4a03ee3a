"""A report opened from its file: handsome at two widths, light and dark, and asking for nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import COLOURS, axe, nameless, picture
from tests.browser.stage import SCHEMES, SLOW, WIDTHS

pytestmark = pytest.mark.browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_SHAPE = """() => ({
    wide: document.scrollingElement.scrollWidth - window.innerWidth,
    h1: document.querySelectorAll('h1').length,
    ids: [...document.querySelectorAll('[id]')].map(one => one.id),
})"""
_LETTERS = """() => [...document.querySelectorAll('svg.drawing text')]
    .filter(one => one.textContent.trim())
    .map(one => parseFloat(getComputedStyle(one).fontSize) * Math.abs(one.getScreenCTM().a
        || one.getScreenCTM().b))"""


def write_report(folder: Path) -> Path:
    """A page of every kind of part, with one failure."""
    from reticent.guarantees.card import Scope, make_card
    from reticent.mechanisms import DiscreteLaplace
    from reticent.noise import Source
    from reticent.report.attack_figures import promise_roc_figure
    from reticent.report.document import Grid, Picture, Report, Section
    from reticent.report.histogram_figures import noise_dots_figure
    from reticent.report.page import report_html
    from reticent.report.roc import Measured, failures, promised_curve
    from reticent.report.runs import read_run
    from reticent.tasks.item_attack import ItemAttack

    one = ItemAttack("Heat", Fraction(1), 1, (1,), (Fraction(2),))  # twice what is promised
    run = one.run(Source.seeded(1), runs=20_000)
    rates = {"false_rates": run.curve.false_rates, "true_rates": run.curve.true_rates}
    curve = Measured(name="the best test", positives=run.runs, negatives=run.runs, **rates)
    roc = Picture(promise_roc_figure([curve], epsilon=1), "A test, and what it may find at most.")
    mechanism = DiscreteLaplace(epsilon="0.5", size=2)
    card = make_card(
        "Counts of films",
        mechanism.event(Source.system()),
        scope=Scope(protected="a person", not_against=("a break-in",), model="central"),
        how=mechanism.how(),
        utility=mechanism.utility(),
        evidence=mechanism.evidence(),
    )
    errors = {"Drama": 13.0, "Crime and mystery, of every kind": 2.5}
    noise = Picture(noise_dots_figure(errors, errors, withheld=["War"]), "Noise.")
    heads = ("attribute", *(f"column of many words {n} " for n in range(8)))
    wide = Grid("A table wider than a telephone", heads, [["Drama", *"12345678"]] * 3)
    (folder / "run.json").write_text(json.dumps(_sweep()), encoding="utf-8")
    above = failures([curve], promised_curve(1))
    made = Report(
        title="A film club that keeps its secrets",
        summary=["What was released, and what an attacker gains.", "In short: too much."],
        sections=[
            Section(title="An attack", pictures=[roc], failures=above),
            Section(title="A file", listing=[f"{'default = 1':40}# what a film counts, for all"]),
            Section(title="Noise", words=["Words."], pictures=[noise], grids=[wide], cards=[card]),
            *read_run(folder / "run.json"),
        ],
        again=["reticent report run.json --title 'A film club that keeps its secrets' --out page"],
        versions={"reticent": "0.1", "numpy": "2"},
        notes=["Made up for a test."],
    )
    (folder / "report.html").write_text(report_html(made), encoding="utf-8")
    return folder / "report.html"


def _sweep() -> dict[str, object]:
    rows = [
        {"way": way, "x": x, "value": n / x, "low": 0.8 * n / x, "high": 1.3 * n / x}
        for n, way in enumerate(("adaptive", "exponential", "dampened"), 1)
        for x in (0.01, 0.1, 1.0, 10.0)
    ]
    told = {"what": "the median of pay", "x": "epsilon", "y": "error", "better": "lower"}
    return {"schema": "compare-percentile/1", "runs": 20, "rows": rows, "reference": 2.0, **told}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("report"))


@pytest.fixture
def page(browser: Browser, written: Path) -> Iterator[Page]:
    """The report; at the end nothing was asked for but the file, and nothing was complained of."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(SLOW)
    opened = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(written.as_uri())
    yield opened
    context.close()
    assert asked == [written.as_uri()]
    assert not said


def test_the_report_is_clean_at_every_width_and_in_every_scheme(page: Page, pictures: Path) -> None:
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            told = page.evaluate(_SHAPE)
            assert told["wide"] <= 0, f"{told['wide']} pixels too wide at {width}"
            assert told["h1"] == 1
            assert len(told["ids"]) == len(set(told["ids"]))
            rules = () if scheme == SCHEMES[0] else COLOURS
            found += [f"{width} {scheme}: {one}" for one in axe(page, rules)]
            picture(page, width, pictures / f"report-{width}-{scheme}.png")
    assert not found, "\n".join(found)
    assert not nameless(page)


def test_what_is_folded_is_clean_too(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(_SHAPE)["wide"] <= 0
        assert not axe(page)


def test_no_letter_of_a_figure_is_too_small_to_read(page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        sizes = page.evaluate(_LETTERS)
        assert sizes
        assert min(sizes) >= 8.9


def wait_for_scroll(page: Page) -> None:
    """By asking again: waiting inside the page would need a script, which it does not allow."""
    for _ in range(100):
        if page.evaluate("document.activeElement.scrollLeft") > 0:
            return
        page.wait_for_timeout(50)
    pytest.fail("nothing scrolled")


def test_listings_keep_their_columns_and_scroll_by_keyboard(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    region = page.get_by_role("region", name="Listing: A file")
    lines = region.locator("code").evaluate("one => one.getClientRects().length")
    assert lines == 1
    region.focus()
    page.keyboard.press("ArrowRight")
    wait_for_scroll(page)


def test_wide_tables_scroll_by_keyboard(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    region = page.get_by_role("region", name="Table 1: A table wider than a telephone")
    region.focus()
    page.keyboard.press("ArrowRight")
    wait_for_scroll(page)


def test_the_alarm_leads_to_its_part(page: Page) -> None:
    page.locator(".alarm a").first.click()
    assert page.url.endswith("#part-1")
    assert page.get_by_role("heading", name="An attack").is_visible()


def test_numbers_can_be_taken_along(page: Page) -> None:
    page.get_by_text("Table 1 as CSV").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save table-1.csv").click()
    assert saved.value.suggested_filename == "table-1.csv"
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert text.startswith("attribute,column of many words 0,")
