"""A table of a report as HTML, and the same numbers as CSV in a link that needs no network.

Not here  what stands in it (runs.py, the demo), the page around it (page.py).
"""

from __future__ import annotations

import csv
import io
import re
from html import escape
from urllib.parse import quote

from reticent.errors import require
from reticent.guarantees.card_facts import printable
from reticent.report.document import Grid

_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?\s*%?", re.IGNORECASE)
_LONG = 24  # letters that need a column of some width
_FORMULA = ("=", "+", "-", "@", "\t")


def grid_html(grid: Grid, *, number: int) -> str:
    """The table in a region that scrolls by keyboard, too, and its numbers to take along."""
    _check(grid)
    caption = f"<b>Table {number}.</b> {escape(printable(grid.caption))}"
    told = escape(f"Table {number}: {printable(grid.caption)}")
    right = [head.endswith(" ") for head in grid.heads]
    heads = "".join(
        f'<th scope="col"{_side(side)}>{escape(printable(head))}</th>'
        for head, side in zip(grid.heads, right, strict=True)
    )
    rows = [
        "".join(_cell(text, place, right[place]) for place, text in enumerate(row))
        for row in grid.rows
    ]
    lines = [
        f'<div class="grid" role="region" aria-label="{told}" tabindex="0">',
        f"<table><caption><span>{caption}</span></caption>",
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
        *(f"<tr>{row}</tr>" for row in rows),
        "</tbody></table>",
        "</div>",
        *_taken_along(grid, number),
    ]
    return "\n".join(lines)


def grid_csv(grid: Grid) -> str:
    """The table as CSV; a text that a spreadsheet would compute is quoted so that it does not."""
    _check(grid)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for row in (grid.heads, *grid.rows):
        writer.writerow([_inert(printable(cell)) for cell in row])
    return out.getvalue()


def _check(grid: Grid) -> None:
    wide = len(grid.heads)
    require(wide > 0, "heads", wide, "at least one")
    whole = all(len(row) == wide for row in grid.rows)
    require(whole, "rows", "other", f"of {wide} cells each, as many as there are heads")


def _side(right: bool) -> str:
    return ' class="number"' if right else ""


def _cell(text: str, place: int, right: bool) -> str:
    tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
    told = printable(text)
    long = ' class="long"' if len(told) > _LONG and not right else ""
    return f"<{tag}{scope}{long or _side(right)}>{escape(told)}</{tag}>"


def _taken_along(grid: Grid, number: int) -> list[str]:
    text = grid_csv(grid)
    link = f"data:text/csv;charset=utf-8,{quote(text)}"
    return [
        f'<details class="csv"><summary>Table {number} as CSV</summary>',
        f'<p><a download="table-{number}.csv" href="{link}">Save table-{number}.csv</a></p>',
        f"<pre>{escape(text.replace(chr(13), ''))}</pre>",
        "</details>",
    ]


def _inert(cell: str) -> str:
    if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
