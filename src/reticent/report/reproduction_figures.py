"""Figures of a reproduction: ours over the points that a paper prints, and what is between them.

Not here  the papers' figures and their tolerances (experiments/), colours (style.py).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reticent.errors import require
from reticent.report.curve_figures import LIGHT, looks, x_axis
from reticent.report.style import GREY, legend_below, panels, plain_log, shortened, svg


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """One series: where, what the paper prints there, and what we get, with an interval if any."""

    name: str
    x: Sequence[float]
    printed: Sequence[float]
    ours: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        sides = [self.x, self.printed, self.ours, *(s for s in (self.low, self.high) if s)]
        same = len({len(side) for side in sides}) == 1 and len(self.x) > 0
        require(same, "series", "other", "of as many figures of ours as of the paper's")
        finite = all(math.isfinite(value) for side in sides for value in side)
        require(finite, "series", "other", "of finite figures")

    def residuals(self, *, relative: bool) -> list[float]:
        """Ours minus printed; as a share of the printed value if ``relative``."""
        pairs = zip(self.ours, self.printed, strict=True)
        return [(own - paper) / (abs(paper) if relative else 1) for own, paper in pairs]


def reproduction_figure(
    series: Sequence[Reproduced],
    *,
    what: str,
    x: str,
    y: str,
    tolerance: float,
    relative: bool = False,
    runs: int = 0,
    log_y: bool = False,
    says: str | None = None,
) -> str:
    """Printed points hollow, ours joined; below, ours minus printed within its tolerance.

    ``relative`` measures both in shares of what is printed, which then must not be 0.
    """
    require(len(series) > 0, "series", "none", "one or more")
    require(math.isfinite(tolerance) and tolerance > 0, "tolerance", tolerance, "positive")
    nonzero = not relative or all(value for one in series for value in one.printed)
    require(nonzero, "series", "other", "of printed values other than 0 for relative tolerances")
    made, (above, below) = panels(5.6, 5.0, (2, 1))
    scale = 100.0 if relative else 1.0
    for one, look in zip(series, looks([one.name for one in series]), strict=True):
        _draw(above, below, one, look, relative, scale)
    below.axhspan(-scale * tolerance, scale * tolerance, color=LIGHT, alpha=0.7, linewidth=0)
    below.axhline(0, color=GREY, linestyle=":")
    far = [abs(left) for one in series for left in one.residuals(relative=relative)]
    reach = 1.25 * scale * max(tolerance, *far)
    below.set_ylim(-reach, reach)
    x_axis(below, [place for one in series for place in one.x], x)
    if log_y:
        above.set_yscale("log")
        plain_log(above.yaxis)
    above.set_ylabel(textwrap.fill(shortened(y, 80), 40))
    below.set_ylabel("ours minus\nprinted" + (", %" if relative else ""))
    _finish(made, above, below, what, tolerance, relative, runs)
    return svg(made, says=says or _says(series, what, x, tolerance, relative))


def _draw(
    above: Any, below: Any, one: Reproduced, look: tuple[str, str], relative: bool, scale: float
) -> None:
    colour, marker = look
    order = sorted(range(len(one.x)), key=lambda place: one.x[place])
    places = [one.x[place] for place in order]
    ours = [one.ours[place] for place in order]
    if one.low is not None and one.high is not None:
        ends = [[end[place] for place in order] for end in (one.low, one.high)]
        above.fill_between(places, *ends, color=colour, alpha=0.15, linewidth=0)
    name = shortened(one.name, 26)
    drawn = {"color": colour, "linewidth": 1.2, "marker": marker, "markersize": 3.5}
    above.plot(places, ours, label=f"{name}: ours", **drawn)
    hollow = {"marker": "o", "markersize": 8, "fillstyle": "none", "linestyle": "none"}
    printed = [one.printed[place] for place in order]
    above.plot(places, printed, color=colour, label=f"{name}: printed", **hollow)
    left = [scale * one.residuals(relative=relative)[place] for place in order]
    below.plot(places, left, color=colour, marker=marker, markersize=4.5, linestyle="none")


def _finish(
    made: Any, above: Any, below: Any, what: str, tolerance: float, relative: bool, runs: int
) -> None:
    above.set_title(textwrap.fill(shortened(what, 110), 58), loc="left", fontsize=10)
    for axes in (above, below):
        axes.grid(color=LIGHT, zorder=0)
        axes.set_axisbelow(True)
    shown = f"{100 * tolerance:g} %" if relative else f"{tolerance:g}"
    note = f"grey: tolerance of {shown}" + (f"; ours: {runs:,} runs" if runs else "")
    handles, labels = above.get_legend_handles_labels()
    legend_below(made, below, ncols=2, title=note, handles=handles, labels=labels)


def _says(series: Sequence[Reproduced], what: str, x: str, tolerance: float, relative: bool) -> str:
    """The finding: how many points agree, and where they differ most."""
    found = [
        (abs(left), one.name, place)
        for one in series
        for place, left in zip(one.x, one.residuals(relative=relative), strict=True)
    ]
    within = sum(left <= tolerance for left, _, _ in found)
    most, name, place = max(found)
    shown, limit = (
        f"{100 * size:.3g} %" if relative else f"{size:.3g}" for size in (most, tolerance)
    )
    return (
        f"For {what}, {within} of {len(found)} printed points are reproduced within {limit}; the "
        f"largest difference is {shown}, {name} at {x} {place:g}."
    )
