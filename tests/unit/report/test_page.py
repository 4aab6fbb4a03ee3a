"""A report is one file that asks nothing of anyone, shows text as text, and failures first."""

import base64
import csv
import io
import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import unquote

import pytest

from reticent.errors import ParameterError
from reticent.guarantees.card import Card, make_card
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source
from reticent.report.curve_figures import Point, curve_figure
from reticent.report.document import Grid, Picture, Report, Section
from reticent.report.grids import grid_csv, grid_html
from reticent.report.inline import inlined
from reticent.report.page import report_html

HOSTILE = (
    "</title></style><script>alert('1')</script> \"&amp;\" onload=x javascript:y \x1b[31m\u202e"
)
ACTIVE = {"script", "iframe", "object", "embed", "link", "base", "form", "input", "img", "audio"}


@cache
def drawing(name: str = "adaptive") -> str:
    rows = [Point(name, 0.1, 3.0, 2.0, 4.0), Point(name, 1.0, 1.0, 0.5, 1.5)]
    return curve_figure(rows, what=f"the median of {name}", y="error", runs=10)


def card(title: str = "Counts") -> Card:
    mechanism = DiscreteLaplace(epsilon="0.5", size=2)
    return make_card(
        title,
        mechanism.event(Source.system()),
        scope={"protected": "a person", "not_against": ("a break-in",), "model": "central"},  # type: ignore[arg-type]
        how=mechanism.how(),
        utility=mechanism.utility(),
        evidence=mechanism.evidence(),
    )


def report(text: str = "plain", **changes) -> Report:
    grid = Grid(text, ("name", "error "), [(text, "1.5"), ("=1+1", "-2")])
    pictures = [Picture(drawing(text), text), Picture(drawing(text), text)]
    first = Section(title=text, words=[text, text], pictures=pictures, grids=[grid, grid])
    second = Section(title=f"{text} 2", pictures=pictures[:1], grids=[grid])
    fields = {
        "title": text,
        "summary": [text, "and more"],
        "sections": [first, second],
        "again": [f"reticent  demo '{text}'"],
        "versions": {"numpy": text, "matplotlib": "3"},
        "notes": [text],
    }
    return Report(**(fields | changes))


class Page(HTMLParser):
    """The elements of a page in order, with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.style = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        else:
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.mark.parametrize("text", ["plain", HOSTILE])
def test_the_page_loads_and_runs_nothing(text) -> None:
    written = report_html(report(text))
    page = Page(written)
    assert not page.open
    assert not ACTIVE & {tag for tag, _ in page.elements}
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"src", "xlink:href", "action", "srcdoc"} & set(attributes)
        target = attributes.get("href", "#")
        assert target.startswith(("#", "data:text/csv;")), (tag, target)
    assert "url(" not in page.style
    assert "@import" not in page.style
    assert "http" not in re.sub(r"<meta http-equiv", "", written).replace(HOSTILE, "")


def test_the_policy_is_the_strictest_that_figures_allow() -> None:
    (policy,) = [m["content"] for m in Page(report_html(report())).all("meta") if "http-equiv" in m]
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


@pytest.mark.parametrize("text", ["plain", HOSTILE])
def test_names_are_unique_and_every_reference_is_met(text) -> None:
    page = Page(report_html(report(text)))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = [
        found
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name != "aria-label"
        for found in re.findall(r"url\(#([^)]*)\)", value)
    ]
    named += [a["href"][1:] for _, a in page.elements if a.get("href", "").startswith("#")]
    named += [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    assert named
    assert set(named) <= set(ids)


@pytest.mark.parametrize("text", ["plain", HOSTILE])
def test_the_page_is_built_for_every_reader(text) -> None:
    page = Page(report_html(report(text)))
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("main")) == len(page.all("h1")) == 1
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(head["scope"] in ("row", "col") for head in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table")) == 3
    assert len(page.all("figcaption")) == len(page.all("figure")) == 3
    drawn = [svg for svg in page.all("svg") if svg.get("class") == "drawing"]
    assert len(drawn) == 3
    assert all(svg["role"] == "img" and svg["aria-label"] and svg["viewbox"] for svg in drawn)
    regions = [a for _, a in page.elements if a.get("role") == "region"]
    assert all(region["tabindex"] == "0" and region["aria-label"] for region in regions)
    labels = [region["aria-label"] for region in regions]
    assert len(labels) == len(set(labels))


def test_what_is_said_is_shown_as_it_was_said() -> None:
    page = Page(report_html(report(HOSTILE)))
    assert page.text.count("</title></style><script>alert('1')</script>") >= 8
    assert "\\x1b[31m\\u202e" in page.text
    assert "\x1b" not in page.text
    assert "\u202e" not in page.text
    assert "reticent  demo" in "".join(page.texts)  # spaces of a command are part of it


def test_equal_reports_give_equal_bytes() -> None:
    turned = report(versions={"matplotlib": "3", "numpy": "plain"})
    assert report_html(report()) == report_html(report()) == report_html(turned)


def test_the_summary_comes_before_the_contents_and_those_before_the_parts() -> None:
    text = report_html(report(summary=["In short."], notes=["The last word."]))
    places = [text.index(words) for words in ("In short.", "<nav", 'id="part-1"', 'id="again"')]
    assert places == sorted(places)
    assert text.index("The last word.") > places[-1]


def test_failures_come_first_and_again_where_they_arose() -> None:
    section = Section(title="Attack", failures=["A curve is above its ceiling."])
    made = report(sections=[Section(title="Fine"), section], summary=["In short."])
    text = report_html(made)
    assert made.failures == ["A curve is above its ceiling."]
    first = text.index("A curve is above")
    assert text.index('class="alarm"') < first < text.index("In short.")
    assert text.index("A curve is above", first + 1) > text.index('id="part-2"')
    assert 'class="alarm"' not in report_html(report())


def test_a_card_is_shown_words_first_with_its_facts_folded() -> None:
    text = report_html(report(sections=[Section(title="Counts", cards=[card(), card(HOSTILE)])]))
    page = Page(text)
    assert len([a for a in page.all("article") if a == {"class": "card"}]) == 2
    assert text.index("right at most 63") < text.index("The facts behind these words")
    assert page.text.count("Privacy loss of this release") == 2
    assert "<script" not in text


def test_a_report_of_nothing_but_words_has_no_empty_parts() -> None:
    page = Page(report_html(Report(title="x", summary=["y"], sections=[], again=[])))
    assert not {"nav", "section", "dl", "pre", "ul"} & {tag for tag, _ in page.elements}
    with pytest.raises(ParameterError):
        report_html(Report(title=" ", summary=[], sections=[], again=[]))


# Tables


def test_a_table_is_taken_along_as_csv_that_computes_nothing() -> None:
    grid = Grid("c", ("name", "x "), [("=1+1", "-2.5"), ("+a", "1e-3"), ('say "hi", <b>', "3 %")])
    told = Page(grid_html(grid, number=4))
    (link,) = told.all("a")
    kind, _, held = link["href"].partition(",")
    assert (kind, link["download"]) == ("data:text/csv;charset=utf-8", "table-4.csv")
    rows = list(csv.reader(io.StringIO(unquote(held))))
    assert rows == [["name", "x"], ["'=1+1", "-2.5"], ["'+a", "1e-3"], ['say "hi", <b>', "3 %"]]
    assert unquote(held) == grid_csv(grid)


def test_numbers_are_set_to_the_right() -> None:
    told = Page(grid_html(Grid("c", ("name", "x "), [("a", "1")]), number=1))
    assert [cell.get("class") for cell in told.all("td")] == ["number"]
    assert [cell.get("class") for cell in told.all("th")] == [None, "number", None]
    long = Page(
        grid_html(Grid("c", ("name", "x"), [("a", "many words in one cell only")]), number=1)
    )
    assert [cell.get("class") for cell in long.all("td")] == ["long"]


@pytest.mark.parametrize("grid", [Grid("c", (), []), Grid("c", ("a",), [("1", "2")])])
def test_a_table_of_uneven_rows_is_refused(grid) -> None:
    with pytest.raises(ParameterError):
        grid_html(grid, number=1)


# Figures


def svg(inside: str, box: str = "0 0 100 50") -> str:
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<?xml version="1.0"?>\n<svg {spaces} viewBox="{box}">{inside}</svg>'


def test_a_figure_becomes_an_element_with_names_of_its_own() -> None:
    text = svg(
        '<metadata><x/></metadata><defs><style>*{}</style><path id="m" d="M 0 0"/></defs>'
        '<g clip-path="url(#c)"><use xlink:href="#m" style="fill: url(#m)"/></g>'
        '<text style="font-size: 10px">a &lt; b</text>'
    )
    found = inlined(text, prefix="f1-")
    assert found.markup.startswith("<svg")
    for part in ('id="f1-m"', "url(#f1-c)", 'href="#f1-m"', "url(#f1-m)", "a &lt; b"):
        assert part in found.markup
    for part in ("metadata", "style>", "xmlns", "xlink", "<?xml"):
        assert part not in found.markup
    assert found.least == 90  # letters of 10 units are drawn at 9 pixels or more


def test_small_letters_make_a_figure_scroll_but_never_wider_than_it_is() -> None:
    assert inlined(svg('<text style="font-size: 7px">a</text>'), prefix="").least == 129
    assert inlined(svg('<text style="font: 2px x">a</text>'), prefix="").least == 133


@pytest.mark.parametrize(
    "inside",
    [
        "<script>1</script>",
        "<foreignObject/>",
        '<path onload="x"/>',
        '<use xlink:href="http://evil.example/#a"/>',
        '<path fill="url(http://evil.example/)"/>',
        '<path style="fill: URL(http://evil.example/)"/>',
        r'<path style="fill: u\72l(http:evil.example)"/>',
        '<path style="mask: image-set(&quot;http:evil.example&quot; 1x)"/>',
        '<a href="#x"/>',
        '<image href="data:text/html,x"/>',
        "<g>",
    ],
)
def test_what_acts_or_asks_is_refused(inside) -> None:
    with pytest.raises(ParameterError):
        inlined(svg(inside), prefix="f")


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE svg [<!ENTITY a "b">]>' + svg("<g/>").partition("\n")[2],
        "<p/>",
        svg("<g/>", box="1 0 5 5"),
        svg("<g/>", box="0 0 x 5"),
    ],
)
def test_what_is_no_figure_is_refused(text) -> None:
    with pytest.raises(ParameterError):
        inlined(text, prefix="f")


def test_a_raster_inside_a_figure_stays() -> None:
    data = "data:image/png;base64," + base64.b64encode(b"x").decode()
    assert data in inlined(svg(f'<image xlink:href="{data}"/>'), prefix="f").markup


def test_a_listing_keeps_its_columns_in_a_region_that_scrolls() -> None:
    lines = ["[items]    # weights", "default = 0.5"]
    made = report(sections=[Section(title=f"A file {HOSTILE}", listing=lines)], again=["reticent"])
    text = report_html(made)
    assert "[items]    # weights\ndefault = 0.5" in text
    (listing, again) = [held for tag, held in Page(text).elements if tag == "pre"]
    assert (listing["role"], listing["tabindex"]) == ("region", "0")
    assert listing["aria-label"].startswith("Listing: A file ")
    assert "role" not in again  # commands wrap
