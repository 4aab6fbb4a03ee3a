"""A report as one HTML file without script that asks nothing of the network.

Not here  what it says (document.py), figures and tables (inline.py, grids.py), cards
          (guarantees/card_views.py).

Everything given is shown as text: nothing in a title can become markup. Equal reports give equal
bytes, and there is no date on the page but one that its makers wrote.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from reticent.errors import require
from reticent.guarantees.card_facts import printable
from reticent.guarantees.card_views import card_article, card_style
from reticent.report.document import Picture, Report, Section
from reticent.report.grids import grid_html
from reticent.report.inline import inlined

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_NARROW = 280  # pixels: what is wider may have to scroll on a phone


def report_html(report: Report) -> str:
    """The whole report as a page."""
    require(bool(report.title.strip()), "title", report.title, "a title")
    figures, tables = itertools.count(1), itertools.count(1)
    style = card_style() + _style()
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(report.title)} · Reticent</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<main class="report">',
        f"<h1>{_text(report.title)}</h1>",
        *_alarm(report),
        '<div class="summary">',
        *_paragraphs(report.summary),
        "</div>",
        *_contents(report),
        *(
            line
            for place, section in enumerate(report.sections, 1)
            for line in _section(section, place, figures, tables)
        ),
        *_again(report),
        *_notes(report),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _style() -> str:
    return (resources.files("reticent.report") / "report.css").read_text(encoding="utf-8")


def _text(given: str) -> str:
    return escape(printable(given))


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return [f"<p>{_text(text)}</p>" for text in texts]


def _alarm(report: Report) -> list[str]:
    """What must not be, before anything else, with a way to where it is shown."""
    if not report.failures:
        return []
    items = [
        f'<li>{_text(failure)} <a href="#part-{place}">{_text(section.title)}</a></li>'
        for place, section in enumerate(report.sections, 1)
        for failure in section.failures
    ]
    head = "This must not be: a promise does not hold"
    return ['<div class="alarm">', f"<h2>{head}</h2>", "<ul>", *items, "</ul>", "</div>"]


def _contents(report: Report) -> list[str]:
    titles = [(f"part-{n}", part.title) for n, part in enumerate(report.sections, 1)]
    titles += [("again", "How to run this again")] if report.again or report.versions else []
    titles += [("notes", "Notes")] if report.notes else []
    items = [f'<li><a href="#{name}">{_text(title)}</a></li>' for name, title in titles]
    return ['<nav aria-label="Contents">', "<ol>", *items, "</ol>", "</nav>"] if items else []


def _section(
    section: Section, place: int, figures: Iterator[int], tables: Iterator[int]
) -> Iterator[str]:
    name = f"part-{place}"
    yield f'<section id="{name}" aria-labelledby="{name}-title">'
    yield f'<h2 id="{name}-title">{_text(section.title)}</h2>'
    for failure in section.failures:
        yield f'<p class="fault">{_text(failure)}</p>'
    yield from _paragraphs(section.words)
    yield from _listing(section.listing, name=f"Listing: {section.title}")
    for picture in section.pictures:
        yield from _figure(picture, next(figures))
    for grid in section.grids:
        yield grid_html(grid, number=next(tables))
    for card in section.cards:
        yield card_article(card)
    yield "</section>"


def _figure(picture: Picture, number: int) -> list[str]:
    """The drawing on a white sheet, whatever the scheme; it scrolls where it would be too small."""
    drawing = inlined(picture.svg, prefix=f"figure-{number}-")
    reach = f' role="region" aria-label="Figure {number}" tabindex="0"'
    return [
        "<figure>",
        f'<div class="sheet"{reach if drawing.least > _NARROW else ""}>{drawing.markup}</div>',
        f"<figcaption><b>Figure {number}.</b> {_text(picture.caption)}</figcaption>",
        "</figure>",
    ]


def _again(report: Report) -> list[str]:
    if not report.again and not report.versions:
        return []
    versions = [
        f"<div><dt>{_text(name)}</dt><dd>{_text(version)}</dd></div>"
        for name, version in sorted(report.versions.items())
    ]
    return [
        '<section id="again" aria-labelledby="again-title">',
        '<h2 id="again-title">How to run this again</h2>',
        *_listing(report.again),
        *(["<p>With these versions:</p>", "<dl>", *versions, "</dl>"] if versions else []),
        "</section>",
    ]


def _listing(lines: Sequence[str], name: str = "") -> list[str]:
    """Lines as they are; with a name they keep their columns and scroll, by keyboard too."""
    shown = "\n".join(escape(_exact(line)) for line in lines)
    reach = f' class="columns" role="region" aria-label="{_text(name)}" tabindex="0"'
    return [f"<pre{reach if name else ''}><code>{shown}</code></pre>"] if lines else []


def _exact(line: str) -> str:
    """A line with its spaces as they are, and nothing in it that could not be seen."""
    return re.sub("[^ ]+", lambda word: printable(word[0]), line)


def _notes(report: Report) -> list[str]:
    if not report.notes:
        return []
    return [
        '<section id="notes" class="notes" aria-labelledby="notes-title">',
        '<h2 id="notes-title">Notes</h2>',
        *_paragraphs(report.notes),
        "</section>",
    ]
