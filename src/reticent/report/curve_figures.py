"""Curves of several ways against a budget: bands over runs, what holds without noise dotted.

Not here  what is measured (tasks/, mechanisms/comparison.py), colours and file format (style.py).

Commands that sweep or compare print their results in the form drawn here, so a report draws any of
them alike.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reticent.errors import require
from reticent.report.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    figure,
    legend_below,
    plain_log,
    shortened,
    svg,
)

BASELINE = "degree"
"""What the other ways must beat: nodes of highest degree, which is as sensitive everywhere."""
LIGHT = "#DDDDDD"
_LOOKS = {
    "exponential": (ORANGE, "x"),
    "permute-and-flip": (PURPLE, "^"),
    "dampened": (SKY, "v"),
    "shifted": (GREEN, "s"),
    "adaptive": (BLUE, "o"),
    BASELINE: ("#000000", "D"),
}
_YELLOW, _BROWN = "#E69F00", "#806000"
_OTHERS = (
    *((BLUE, "o"), (ORANGE, "x"), (GREEN, "s"), (PURPLE, "^"), (_YELLOW, "P"), (SKY, "v")),
    *(("#000000", "D"), (_BROWN, "<"), (GREY, "*")),
)  # of ways that have no look of theirs
_FEW = 2.5  # decades up to which an axis has 1, 2, 5 in each
_FAR = 30.0  # times: values that differ by more are drawn on a logarithmic axis
Better = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True)
class Point:
    """One way at one place of the axis; ``low`` and ``high`` hold its value 95 times in 100."""

    way: str
    x: float
    value: float
    low: float | None = None
    high: float | None = None


def curve_figure(
    rows: Sequence[Point],
    *,
    what: str,
    y: str,
    x: str = "epsilon",
    better: Better = "lower",
    reference: float | None = None,
    reference_name: str = "without privacy",
    runs: int = 0,
    says: str | None = None,
) -> str:
    """The value of each way against ``x``, which is logarithmic if it is epsilon or spans far.

    ``reference`` is what is reached without privacy; ``runs`` 0 tells that values are computed.
    """
    check_points(rows, x)
    require(better in ("lower", "higher"), "better", better, "'lower' or 'higher'")
    require(reference is None or math.isfinite(reference), "reference", reference, "finite")
    made, axes = figure(5.6, 3.9)
    draw_curves(axes, rows)
    reference_name = reference_name or "without privacy"
    if reference is not None:
        told = f"{shortened(reference_name, 30)}: {reference:.4g}"
        axes.axhline(reference, color=GREY, linestyle=":", linewidth=1.5, label=told)
    _value_axis(axes, rows, reference, far=better == "lower")
    axes.set_ylabel(textwrap.fill(shortened(y, 90), 44))
    x_axis(axes, [row.x for row in rows], x)
    finish(made, axes, what, bands_note(rows, runs))
    return svg(made, says=says or curve_says(rows, what, y, x, better, reference, reference_name))


def check_points(rows: Sequence[Point], x: str = "epsilon") -> None:
    """Refuse what cannot be drawn."""
    require(len(rows) > 0, "rows", "none", "one or more")
    good = all(math.isfinite(side) for row in rows for side in (row.x, row.value))
    require(good, "rows", "other", "of finite figures")
    positive = x != "epsilon" or all(row.x > 0 for row in rows)
    require(positive, "rows", "other", "of positive and finite epsilon")
    ends = [row for row in rows if row.low is not None and row.high is not None]
    held = all(row.low <= row.value <= row.high for row in ends)  # type: ignore[operator]
    require(held, "rows", "other", "of values within their intervals")


def series(rows: Sequence[Any], along: str = "x") -> dict[str, list[Any]]:
    """Rows by way, in the order in which ways come, each by rising place on the axis."""
    found: dict[str, list[Any]] = {row.way: [] for row in rows}
    for row in sorted(rows, key=lambda row: getattr(row, along)):
        found[row.way].append(row)
    return found


def looks(ways: Sequence[str]) -> list[tuple[str, str]]:
    """A colour and a marker for each way: its own if it has one, else the next that is free."""
    taken = {_LOOKS[way] for way in ways if way in _LOOKS}
    free = [look for look in _OTHERS if look not in taken] or list(_OTHERS)
    others = (free[place % len(free)] for place in range(len(ways)))
    return [_LOOKS.get(way) or next(others) for way in ways]


def draw_curves(axes: Any, rows: Sequence[Point]) -> None:
    """A line with markers for each way, and a band where there are intervals."""
    grouped = series(rows)
    for (way, some), (colour, marker) in zip(grouped.items(), looks([*grouped]), strict=True):
        places = [row.x for row in some]
        lows = [row.value if row.low is None else row.low for row in some]
        highs = [row.value if row.high is None else row.high for row in some]
        if lows != highs:
            axes.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)
        draw_line(axes, places, [row.value for row in some], way, (colour, marker))


def draw_line(
    axes: Any, x: Sequence[float], y: Sequence[float], way: str, looks: tuple[str, str]
) -> None:
    """One way; the baseline is under the others, which it may cover."""
    colour, marker = looks
    look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.3}
    if way == BASELINE:
        look |= {"linestyle": "--", "fillstyle": "none", "markersize": 7.5, "zorder": 1.5}
    axes.plot(x, y, label=shortened(way, 34), **look)


def x_axis(axes: Any, places: Sequence[float], name: str) -> None:
    """The axis of budgets: decades, or 1, 2, 5 of each if there are few; plain if not far apart."""
    least, most = min(places), max(places)
    axes.set_xlabel(shortened(name, 60))
    if name != "epsilon" and (least <= 0 or most / least < 10):
        axes.xaxis.set_major_formatter("{x:,.6g}")
        return
    axes.set_xscale("log")
    _log_ticks(axes.xaxis, least, most)
    if least < most:
        wide = (most / least) ** 0.03
        axes.set_xlim(least / wide, most * wide)


def _log_ticks(axis: Any, least: float, most: float) -> None:
    """Decades in plain numbers, with 2 and 5 of each if there are few of them."""
    if math.log10(most / least) <= _FEW:
        plain_log(axis)
        return
    ends = math.floor(math.log10(least)), math.ceil(math.log10(most))
    apart = 1 + (ends[1] - ends[0]) // 8
    ticks = [10.0**power for power in range(ends[0], ends[1] + 1, apart)]
    inside = [tick for tick in ticks if least * 0.99 <= tick <= most * 1.01]
    axis.set_ticks(inside, labels=[f"{tick:,.6g}" for tick in inside])
    axis.set_ticks([], minor=True)


def _value_axis(axes: Any, rows: Sequence[Point], reference: float | None, *, far: bool) -> None:
    """From 0 if the values come near it; logarithmic if they are far apart and may be drawn so.

    Errors may: a tenth of an error is as good as it looks. Shares of what was found may not.
    """
    values = [row.value for row in rows]
    least, most = min(values), max(values)
    if far and least > 0 and most / least > _FAR:
        ends = [end for row in rows for end in (row.low, row.high) if end is not None and end > 0]
        shown = [*values, *ends, *([reference] if reference is not None and reference > 0 else [])]
        wide = max(min(shown), least / 2) / 1.2, min(max(shown), most * 2) * 1.2
        axes.set_yscale("log")
        axes.set_ylim(*wide)
        _log_ticks(axes.yaxis, *wide)
        return
    axes.yaxis.set_major_formatter("{x:,.6g}")
    with_reference = [*values, *([] if reference is None else [reference])]
    if 0 <= min(with_reference) < 0.5 * max(with_reference):
        axes.set_ylim(bottom=0)


def bands_note(rows: Sequence[Point], runs: int) -> str:
    """What the bands are, or that there are none because nothing was drawn."""
    if not runs:
        return "computed exactly"
    banded = any(row.low is not None for row in rows)
    return f"{'bands: 95 % of' if banded else 'means of'} {runs:,} runs"


def finish(made: Any, axes: Any, what: str, note: str | None) -> None:
    """Title, grid and legend."""
    axes.set_title(textwrap.fill(shortened(what, 110), 58), loc="left", fontsize=10)
    axes.grid(color=LIGHT)
    legend_below(made, axes, ncols=2 if _longest(axes) > 16 else 3, title=note)


def _longest(axes: Any) -> int:
    return max((len(name) for name in axes.get_legend_handles_labels()[1]), default=0)


def curve_says(
    rows: Sequence[Point],
    what: str,
    y: str,
    x: str,
    better: Better,
    reference: float | None,
    reference_name: str,
) -> str:
    """The finding, for who does not see the picture: the best way where ways differ most."""
    groups: dict[float, list[Point]] = {}
    for row in rows:
        groups.setdefault(row.x, []).append(row)
    last = "" if reference is None else f"; {reference_name}: {reference:.4g}"
    if len({row.way for row in rows}) == 1:
        ends = min(rows, key=lambda row: row.x), max(rows, key=lambda row: row.x)
        told = " and ".join(f"{row.value:.4g} at {x} {row.x:g}" for row in ends)
        return f"For {what}, {rows[0].way}, {y}: {told}{last}."
    at = max(groups, key=lambda place: _range(groups[place]))
    if not _range(groups[at]):
        return f"For {what}, all ways are alike. {y[:1].upper()}{y[1:]}: {rows[0].value:.4g}{last}."
    order = sorted(groups[at], key=lambda row: row.value, reverse=better == "higher")
    return (
        f"For {what}, ways differ most at {x} {at:g}. {y[:1].upper()}{y[1:]}: "
        f"{order[0].value:.4g} by {order[0].way}, the best, {order[-1].value:.4g} by "
        f"{order[-1].way}{last}."
    )


def _range(rows: Sequence[Point]) -> float:
    values = [row.value for row in rows]
    return max(values) - min(values)
