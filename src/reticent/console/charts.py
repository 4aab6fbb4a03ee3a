"""Charts as SVG in the page: classes and no styles, so that a strict policy lets them be.

Not here  what is shown (pages_engineer_*.py), colours (static/engineer.css), figures for reports
          (report/).

Each chart says its finding in ``aria-label``; the page shows the same numbers as a table. Colour is
never alone: lines differ by dashes and marks, rows by words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

_ROW = 34
_LABELS, _PLOT, _WORDS = 150, 262, 108  # widths: names, axis, what a row says
_TOP = 8
_SIDE = 330  # of the square of a ROC curve
_LEFT, _ABOVE, _BELOW = 50, 10, 48
_LONGEST = 20
_MARKS = {
    "raw": Markup('<path class="spot" d="M{x:.1f} {low:.1f}l5 9h-10z"/>'),
    "best": Markup('<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'),
    "run": Markup('<rect class="spot" x="{left:.1f}" y="{low:.1f}" width="8" height="8"/>'),
}


@dataclass(frozen=True, slots=True)
class Dot:
    """One row: a mean, an end that is passed 5 times in 100, and words; None is not shown."""

    name: str
    mean: float | None
    end: float | None
    says: str


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of rates; ``kind`` is raw, coin, ceiling, best or run."""

    kind: str
    label: str
    x: Sequence[float]
    y: Sequence[float]


def dot_chart(rows: Sequence[Dot], *, says: str) -> Markup:
    """Errors on a log axis: dots are means, ends of lines what 95 of 100 stay below."""
    least, most = _decades(rows)
    width, height = _LABELS + _PLOT + _WORDS, _TOP + _ROW * len(rows) + 30

    def at(value: float) -> float:
        inside = min(max(math.log10(value), least), most)
        return _LABELS + 12 + (_PLOT - 24) * (inside - least) / (most - least)

    floor = height - 28
    parts = [
        Markup(
            '<line class="gridline" x1="{0:.1f}" y1="4" x2="{0:.1f}" y2="{1}"/>'
            '<text class="tick" x="{0:.1f}" y="{2}">{3}</text>'
        ).format(at(10.0**power), floor, floor + 20, _power(power))
        for power in range(least, most + 1)
    ]
    for place, row in enumerate(rows):
        y = _TOP + _ROW * place + _ROW // 2
        parts.append(_name(row.name, y))
        parts.append(_dot(row, y, at))
    return _svg("chart dots", width, height, says, parts)


def _name(name: str, y: int) -> Markup:
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return Markup('<text class="name" x="{}" y="{}">{}</text>').format(_LABELS - 6, y + 5, short)


def _dot(row: Dot, y: int, at: Callable[[float], float]) -> Markup:
    if row.mean is None or row.end is None:
        return Markup('<text class="none" x="{}" y="{}">{}</text>').format(
            _LABELS + 12, y + 5, row.says
        )
    start, end = at(max(row.mean, 1e-300)), at(max(row.end, 1e-300))
    return Markup(
        '<line class="reach" x1="{0:.1f}" y1="{2}" x2="{1:.1f}" y2="{2}"/>'
        '<line class="reach" x1="{1:.1f}" y1="{3}" x2="{1:.1f}" y2="{4}"/>'
        '<circle class="dot" cx="{0:.1f}" cy="{2}" r="6"/>'
        '<text class="says" x="{5:.1f}" y="{6}">{7}</text>'
    ).format(start, end, y, y - 6, y + 6, max(start, end) + 9, y + 5, row.says)


def _decades(rows: Sequence[Dot]) -> tuple[int, int]:
    """Whole powers of ten around all that is shown, at least two apart."""
    shown = [v for row in rows for v in (row.mean, row.end) if v is not None and v > 0]
    if not shown:
        return -1, 2
    least, most = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
    least = max(least, most - 8)  # nobody compares errors further apart
    return least, max(most, least + 2)


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -4 <= power <= 5 else f"1e{power}"


def roc_chart(lines: Sequence[Line], *, says: str) -> Markup:
    """Curves of false alarms against findings, in a square from 0 to 100 in 100."""
    right, bottom = _LEFT + _SIDE, _ABOVE + _SIDE
    parts = []
    for step in range(0, 101, 25):
        x, y = _LEFT + _SIDE * step / 100, bottom - _SIDE * step / 100
        parts.append(
            Markup(
                '<line class="gridline" x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}"/>'
                '<line class="gridline" x1="{3}" y1="{4:.1f}" x2="{5}" y2="{4:.1f}"/>'
                '<text class="tick" x="{0:.1f}" y="{6}">{7}</text>'
                '<text class="side" x="{8}" y="{9:.1f}">{7}</text>'
            ).format(x, _ABOVE, bottom, _LEFT, y, right, bottom + 18, step, _LEFT - 8, y + 5)
        )
    middle = _LEFT + _SIDE // 2
    parts.append(
        Markup('<text class="axis" x="{}" y="{}">false alarms in 100</text>').format(
            middle, bottom + 38
        )
    )
    up = _ABOVE + _SIDE // 2
    parts.append(
        Markup(
            '<text class="axis" x="12" y="{0}" transform="rotate(-90 12 {0})">{1}</text>'
        ).format(up, "found in 100")
    )
    parts.extend(_curve(line) for line in lines)
    return _svg("chart roc", right + 14, bottom + _BELOW, says, parts)


def _curve(line: Line) -> Markup:
    places = [
        (_LEFT + _SIDE * x, _ABOVE + _SIDE * (1 - y)) for x, y in zip(line.x, line.y, strict=True)
    ]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    drawn = Markup('<path class="curve {}" d="{}"/>').format(line.kind, path)
    if line.kind not in _MARKS:
        return drawn
    return Markup('<g class="{}">{}{}</g>').format(
        line.kind, drawn, Markup("").join(_mark(line.kind, *at) for at in _spots(line.kind, places))
    )


def _spots(kind: str, places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A few places along a curve, not the same for each kind."""
    shares = {"raw": (0.3, 0.6), "best": (0.12, 0.3, 0.5, 0.7), "run": (0.2, 0.4, 0.6, 0.8)}[kind]
    steps = [math.dist(a, b) for a, b in pairwise(places)]
    total, found = sum(steps) or 1.0, []
    for share in shares:
        gone = 0.0
        for ((x, y), (x2, y2)), step in zip(pairwise(places), steps, strict=True):
            if step and gone + step >= share * total:
                part = (share * total - gone) / step
                found.append((x + part * (x2 - x), y + part * (y2 - y)))
                break
            gone += step
    return found


def _mark(kind: str, x: float, y: float) -> Markup:
    low = y - (6 if kind == "raw" else 4)
    return _MARKS[kind].format(x=x, y=y, left=x - 4, low=low)


def legend_mark(kind: str) -> Markup:
    """The line and mark of a kind of curve, for a legend beside its name."""
    mark = _mark(kind, 18, 8) if kind in _MARKS else Markup("")
    return Markup(
        '<svg class="sample chart" viewBox="0 0 36 16" aria-hidden="true" focusable="false">'
        '<g class="{0}"><path class="curve {0}" d="M1 8H35"/>{1}</g></svg>'
    ).format(kind, mark)


def _svg(kind: str, width: int, height: int, says: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg class="{}" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        kind, escape(says), width, height, Markup("").join(parts)
    )
