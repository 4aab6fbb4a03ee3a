"""Figures of ways to choose: how many of the best each finds, or how far off each is, by epsilon.

Not here  the comparison (mechanisms/comparison.py, tasks/percentile.py), colours (style.py).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.errors import require
from reticent.mechanisms.comparison import Compared
from reticent.report.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    figure,
    legend_below,
    not_negative,
    plain_log,
    shortened,
    svg,
)

BASELINE = "degree"
"""What the other ways must beat: nodes of highest degree, which is as sensitive everywhere."""
_LIGHT = "#DDDDDD"
_LOOKS = {
    "exponential": (ORANGE, "x"),
    "permute-and-flip": (PURPLE, "^"),
    "dampened": (SKY, "v"),
    "shifted": (GREEN, "s"),
    "adaptive": (BLUE, "o"),
    BASELINE: ("#000000", "D"),
}
_OTHERS = (("#E69F00", "P"), (GREY, "*"), ("#806000", "<"))  # of ways that have no look of theirs
_FEW = 2.5  # decades up to which an axis has 1, 2, 5 in each


@dataclass(frozen=True, slots=True)
class ErrorAt:
    """One way at one budget: how far the chosen value is from the true one, on average."""

    way: str
    epsilon: float
    error: float


def overlap_figure(
    rows: Sequence[Compared], *, what: str, chance: float | None = None, says: str | None = None
) -> str:
    """The share of the best that each way finds, with its interval, against epsilon.

    ``what`` is what the best are; ``chance`` the share that a choice at random finds.
    """
    series = _series(rows)
    not_negative("rows", [x for row in rows for x in (row.overlap, row.low, row.high)])
    made, axes = figure(5.6, 3.9)
    for place, (way, some) in enumerate(series.items()):
        colour, marker = _look(way, place)
        x = [row.epsilon for row in some]
        low, high = [100 * row.low for row in some], [100 * row.high for row in some]
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        _line(axes, x, [100 * row.overlap for row in some], way, colour, marker)
    if chance is not None:
        axes.axhline(100 * chance, color=GREY, linestyle=":", label="a choice at random")
    axes.set_ylim(-3, 103)
    axes.set_ylabel("found of 100 that are best")
    runs = {row.runs for row in rows} - {0}
    drawn = f"bands: 95 % intervals of {min(runs):,} runs" if runs else None
    _finish(made, axes, rows, what, drawn)
    return svg(made, says=says or overlap_says(rows, what))


def error_figure(rows: Sequence[ErrorAt], *, what: str, says: str | None = None) -> str:
    """The expected absolute error of each way against epsilon; computed, so without intervals."""
    series = _series(rows)
    not_negative("rows", [row.error for row in rows])
    made, axes = figure(5.6, 3.9)
    for place, (way, some) in enumerate(series.items()):
        colour, marker = _look(way, place)
        _line(axes, [row.epsilon for row in some], [row.error for row in some], way, colour, marker)
    axes.set_ylim(0, 1.05 * max(row.error for row in rows) or 1.0)
    axes.set_ylabel("expected absolute error")
    axes.yaxis.set_major_formatter("{x:,.6g}")
    _finish(made, axes, rows, what, None)
    return svg(made, says=says or error_says(rows, what))


def overlap_says(rows: Sequence[Compared], what: str) -> str:
    """The finding, for who does not see the picture: the best way where ways differ most."""
    at = _where(rows, lambda row: row.overlap)
    here = [row for row in rows if row.epsilon == at]
    best, worst = max(here, key=lambda r: r.overlap), min(here, key=lambda r: r.overlap)
    return (
        f"Of {what}, ways differ most at epsilon {at:g}: {best.way} finds "
        f"{100 * best.overlap:.0f} of 100, {worst.way} {100 * worst.overlap:.0f}."
    )


def error_says(rows: Sequence[ErrorAt], what: str) -> str:
    """The finding, for who does not see the picture."""
    at = _where(rows, lambda row: row.error)
    here = [row for row in rows if row.epsilon == at]
    best, worst = min(here, key=lambda r: r.error), max(here, key=lambda r: r.error)
    return (
        f"For {what}, ways differ most at epsilon {at:g}: {best.way} is off by {best.error:.3g} on "
        f"average, {worst.way} by {worst.error:.3g}."
    )


def _where(rows: Sequence[Any], figure_of: Any) -> float:
    """The epsilon at which ways differ most."""
    groups: dict[float, list[float]] = {}
    for row in rows:
        groups.setdefault(row.epsilon, []).append(figure_of(row))
    return max(groups, key=lambda epsilon: max(groups[epsilon]) - min(groups[epsilon]))


def _series(rows: Sequence[Any]) -> Mapping[str, list[Any]]:
    """Rows by way, by rising epsilon."""
    require(len(rows) > 0, "rows", "none", "one or more")
    good = all(math.isfinite(row.epsilon) and row.epsilon > 0 for row in rows)
    require(good, "rows", "other", "of positive and finite epsilon")
    found: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda row: row.epsilon):
        found.setdefault(row.way, []).append(row)
    order = {way: place for place, way in enumerate(dict.fromkeys(row.way for row in rows))}
    return dict(sorted(found.items(), key=lambda pair: order[pair[0]]))


def _look(way: str, place: int) -> tuple[str, str]:
    return _LOOKS.get(way) or _OTHERS[place % len(_OTHERS)]


def _line(axes: Any, x: list[float], y: list[float], way: str, colour: str, marker: str) -> None:
    look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.3}
    if way == BASELINE:  # under the others, which it may cover
        look |= {"linestyle": "--", "fillstyle": "none", "markersize": 7.5, "zorder": 1.5}
    axes.plot(x, y, label=shortened(way, 30), **look)


def _finish(made: Any, axes: Any, rows: Sequence[Any], what: str, note: str | None) -> None:
    least, most = (pick(row.epsilon for row in rows) for pick in (min, max))
    axes.set_xscale("log")
    if math.log10(most / least) <= _FEW:
        plain_log(axes.xaxis)
    else:  # decades
        ends = math.floor(math.log10(least)), math.ceil(math.log10(most))
        ticks = [10.0**power for power in range(ends[0], ends[1] + 1) if 10.0**power <= most * 1.01]
        axes.set_xticks(ticks, [f"{tick:,.6g}" for tick in ticks])
        axes.minorticks_off()
    if least < most:
        wide = (most / least) ** 0.03
        axes.set_xlim(least / wide, most * wide)
    axes.set_xlabel("epsilon")
    axes.set_title(textwrap.fill(shortened(what, 110), 58), loc="left", fontsize=10)
    axes.grid(color=_LIGHT)
    legend_below(made, axes, ncols=3, title=note)
