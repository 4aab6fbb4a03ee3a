"""Figures of ways to choose: how many of the best each finds, or how far off each is, by epsilon.

Not here  the comparison (mechanisms/comparison.py, tasks/percentile.py), how curves are drawn
          (curve_figures.py), colours (style.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require
from reticent.mechanisms.comparison import Compared
from reticent.report.curve_figures import (
    BASELINE,
    Point,
    check_points,
    curve_figure,
    draw_curves,
    finish,
    x_axis,
)
from reticent.report.style import GREY, figure, not_negative, svg

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "BASELINE",
    "Displaced",
    "ErrorAt",
    "displacement_figure",
    "error_figure",
    "error_says",
    "overlap_figure",
    "overlap_says",
    "rank_displacement",
]


@dataclass(frozen=True, slots=True)
class ErrorAt:
    """One way at one budget: how far the chosen value is from the true one, on average."""

    way: str
    epsilon: float
    error: float


@dataclass(frozen=True, slots=True)
class Displaced:
    """One way at one budget: its ``rank_displacement``, with the interval of so many runs."""

    way: str
    epsilon: float
    places: float
    low: float
    high: float
    runs: int


def overlap_figure(
    rows: Sequence[Compared], *, what: str, chance: float | None = None, says: str | None = None
) -> str:
    """The share of the best that each way finds, with its interval, against epsilon.

    ``what`` is what the best are; ``chance`` the share that a choice at random finds.
    """
    not_negative("rows", [x for row in rows for x in (row.overlap, row.low, row.high)])
    points = [
        Point(row.way, row.epsilon, 100 * row.overlap, 100 * row.low, 100 * row.high)
        for row in rows
    ]
    check_points(points)
    made, axes = figure(5.6, 3.9)
    draw_curves(axes, points)
    if chance is not None:
        axes.axhline(100 * chance, color=GREY, linestyle=":", label="a choice at random")
    axes.set_ylim(-3, 103)
    axes.set_ylabel("found of 100 that are best")
    x_axis(axes, [row.epsilon for row in rows], "epsilon")
    runs = {row.runs for row in rows} - {0}
    finish(made, axes, what, f"bands: 95 % intervals of {min(runs):,} runs" if runs else None)
    return svg(made, says=says or overlap_says(rows, what))


def error_figure(rows: Sequence[ErrorAt], *, what: str, says: str | None = None) -> str:
    """The expected absolute error of each way against epsilon; computed, so without intervals."""
    not_negative("rows", [row.error for row in rows])
    points = [Point(row.way, row.epsilon, row.error) for row in rows]
    check_points(points)
    made, axes = figure(5.6, 3.9)
    draw_curves(axes, points)
    axes.set_ylim(0, 1.05 * max(row.error for row in rows) or 1.0)
    axes.set_ylabel("expected absolute error")
    axes.yaxis.set_major_formatter("{x:,.6g}")
    x_axis(axes, [row.epsilon for row in rows], "epsilon")
    finish(made, axes, what, None)
    return svg(made, says=says or error_says(rows, what))


def rank_displacement(utilities: ArrayLike, chosen: ArrayLike) -> float:
    """By how many places the chosen are further down the true order than the best, on average.

    Candidates of equal utility share the best of their places, so that no tie counts as a mistake.

    >>> rank_displacement([9, 7, 7, 1], [0, 2]), rank_displacement([9, 7, 7, 1], [0, 3])
    (0.0, 1.0)
    """
    values, picked = np.asarray(utilities, np.float64), np.asarray(chosen, np.intp)
    whole = picked.ndim == 1 and 0 < picked.size <= values.size
    require(whole, "chosen", "other", "one or more candidates")
    falling = np.sort(-values)
    places = np.sort(np.searchsorted(falling, -values[picked], side="left"))
    best = np.searchsorted(falling, falling[: picked.size], side="left")
    return float((places - best).mean())


def displacement_figure(
    rows: Sequence[Displaced], *, what: str, chance: float | None = None, says: str | None = None
) -> str:
    """Places by which each way's choice is further down than the best, against epsilon.

    ``chance`` is the displacement of a choice at random.
    """
    not_negative("rows", [x for row in rows for x in (row.places, row.low, row.high)])
    points = [Point(row.way, row.epsilon, row.places, row.low, row.high) for row in rows]
    return curve_figure(
        points,
        what=what,
        y="places further down than the best, on average",
        reference=chance,
        reference_name="a choice at random",
        runs=min((row.runs for row in rows), default=0),
        says=says,
    )


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
