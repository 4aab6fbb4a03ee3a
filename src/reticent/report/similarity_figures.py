"""Figures of similarity and recommendations: recall of each privacy group, error of a similarity.

Not here  recall and its intervals (tasks/metrics.py), groups (tasks/groups.py), how curves are
          drawn (curve_figures.py), colours (style.py).

A mean over people hides those who asked for most privacy, so groups are drawn one by one, with
their sizes, and the worst off once more by itself.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reticent.errors import require
from reticent.report.curve_figures import (
    LIGHT,
    Point,
    bands_note,
    check_points,
    curve_figure,
    draw_curves,
    looks,
    x_axis,
)
from reticent.report.style import GREY, legend_below, panels, shortened, svg


@dataclass(frozen=True, slots=True)
class RecallAt:
    """The recall of one group at one epsilon, with its interval."""

    group: str
    epsilon: float
    recall: float
    low: float
    high: float


def recall_figure(
    rows: Sequence[RecallAt],
    *,
    what: str,
    sizes: Mapping[str, int],
    runs: int,
    reference: float | None = None,
    says: str | None = None,
) -> str:
    """Recall of each group against epsilon, and below it the worst group of each epsilon alone.

    ``sizes`` are the people of each group, ``reference`` the recall of all without privacy.
    """
    points = [Point(row.group, row.epsilon, row.recall, row.low, row.high) for row in rows]
    check_points(points)
    inside = all(row.low >= 0 and row.high <= 1 for row in rows)
    require(inside, "rows", "other", "of recalls from 0 to 1")
    groups = list(dict.fromkeys(row.group for row in rows))
    require(set(groups) <= set(sizes), "sizes", "other", "the size of each group")
    require(runs >= 1, "runs", runs, "at least 1")
    made, (above, below) = panels(5.6, 5.0, (2, 1))
    draw_curves(above, points)
    for handle, group in zip(above.get_lines(), groups, strict=True):
        handle.set_label(f"{shortened(group, 22)} ({sizes[group]:,} people)")
    if reference is not None:
        told = {"color": GREY, "linestyle": ":", "linewidth": 1.5}
        above.axhline(reference, label=f"all without privacy: {reference:.3f}", **told)
        below.axhline(reference, **told)
    _draw_worst(below, points, groups)
    top = 1.08 * max([row.high for row in rows] + ([] if reference is None else [reference]))
    above.set_ylim(0, min(top, 1.02))
    above.set_ylabel("recall")
    below.set_ylabel("recall of\nthe worst group")
    x_axis(below, [row.epsilon for row in rows], "epsilon")
    _below_both(made, above, below, what, bands_note(points, runs))
    return svg(made, says=says or _recall_says(rows, what, reference))


def _draw_worst(axes: Any, points: Sequence[Point], groups: Sequence[str]) -> None:
    """The group of least recall at each epsilon, in that group's own colour and marker."""
    worst = _worst(points)
    x = [row.x for row in worst]
    lows, highs = ([getattr(row, end) for row in worst] for end in ("low", "high"))
    axes.fill_between(x, lows, highs, color=GREY, alpha=0.15, linewidth=0)
    axes.plot(x, [row.value for row in worst], color=GREY, linewidth=1.0)
    look = dict(zip(groups, looks(groups), strict=True))
    for row in worst:
        colour, marker = look[row.way]
        axes.plot([row.x], [row.value], color=colour, marker=marker, markersize=5)


def _worst(points: Sequence[Point]) -> list[Point]:
    places = sorted({row.x for row in points})
    return [min((p for p in points if p.x == place), key=lambda row: row.value) for place in places]


def _below_both(made: Any, above: Any, below: Any, what: str, note: str) -> None:
    """One title over both, one legend under both."""
    above.set_title(textwrap.fill(shortened(what, 110), 58), loc="left", fontsize=10)
    for axes in (above, below):
        axes.grid(color=LIGHT)
    handles, labels = above.get_legend_handles_labels()
    legend_below(made, below, ncols=2, title=note, handles=handles, labels=labels)


def _recall_says(rows: Sequence[RecallAt], what: str, reference: float | None) -> str:
    most = max(row.epsilon for row in rows)
    here = sorted((row for row in rows if row.epsilon == most), key=lambda row: row.recall)
    says = (
        f"For {what}, at epsilon {most:g} the worst group, {here[0].group}, has recall "
        f"{here[0].recall:.3f}"
    )
    if len(here) > 1:
        says += f" and the best, {here[-1].group}, {here[-1].recall:.3f}"
    return says + ("." if reference is None else f"; without privacy it is {reference:.3f}.")


def similarity_error_figure(
    rows: Sequence[Point], *, what: str, runs: int = 0, says: str | None = None
) -> str:
    """The mean absolute error of a released similarity against epsilon, for each way."""
    return curve_figure(
        rows,
        what=what,
        y="mean absolute error of the similarity",
        runs=runs,
        says=says,
    )
