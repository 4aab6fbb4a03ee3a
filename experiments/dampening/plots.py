"""The figures, as SVG that is the same byte for byte from run to run.

Okabe-Ito colours and a marker for each series. What does not use betweenness is dotted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import harness
from experiments.dampening import percentile as who
from experiments.dampening.datasets import LEVELS
from experiments.dampening.influence import (
    ADAPTIVE,
    DAMPENED,
    DEGREE,
    EXPONENTIAL,
    FLIP,
    FOCUS_K,
    SHIFTED,
    figure,
)
from experiments.dampening.results import Results
from experiments.dampening.scalability import BETWEENNESS, CANDIDATES, GRAPHS, RELEASE
from experiments.harness import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    RED,
    SKY,
    Figure,
    decades,
    finished,
)

GREY = "#777777"
LOOKS = {
    EXPONENTIAL: (BLACK, "s", "-"),
    FLIP: (ORANGE, "v", "-"),
    DAMPENED: (PINK, "x", "-"),
    SHIFTED: (RED, "^", "-"),
    ADAPTIVE: (BLUE, "o", "-"),
    DEGREE: (GREEN, "D", ":"),
}
NAMES = {SHIFTED: "shifted (paper's)", ADAPTIVE: "adaptive (ours)", DEGREE: "degree alone"}
PERCENTILES = {
    who.FLIP: (ORANGE, "v", "-"),
    who.DAMPENED: (PINK, "x", "-"),
    who.SHIFTED: (BLUE, "o", "-"),
    who.RIGHT: (SKY, "P", "--"),
}
WIDTH = 6.6  # inches: letters stay legible on a telephone


def draw_all(table: Results, folder: Path) -> dict[str, str]:
    """Write every figure whose rows are there; what each one shows, by file name."""
    return harness.draw_all(FIGURES, table, folder, table.has)


def _logarithmic(axes: Any, marks: Sequence[float]) -> None:
    """A log axis with few plain numbers, so that panels can be narrow."""
    axes.set_xscale("log")
    axes.set_xticks(marks, [f"{mark:,.10g}" for mark in marks])
    axes.minorticks_off()


def _panel(axes: Any, t: Results, k: int, data: str) -> None:
    for series, (colour, marker, dashes) in LOOKS.items():
        rows = t.rows(figure(k), data, series)
        x, y = [float(row.x) for row in rows], [row.value for row in rows]
        label = NAMES.get(series, series)
        axes.plot(x, y, color=colour, marker=marker, ms=3, lw=1.1, ls=dashes, label=label)
        low, high = [row.low for row in rows], [row.high for row in rows]
        axes.fill_between(x, low, high, color=colour, alpha=0.12, lw=0)
    _logarithmic(axes, (0.01, 1, 100, 10_000))
    axes.set_ylim(-0.03, 1.03)


def _influence(pyplot: Any, t: Results) -> Any:
    shape = len(t.networks), len(t.ks)
    drawn, grid = pyplot.subplots(
        *shape, figsize=(WIDTH, 1.1 + 1.75 * shape[0]), sharex=True, sharey=True, squeeze=False
    )
    for line, data in enumerate(t.networks):
        for column, k in enumerate(t.ks):
            axes = grid[line][column]
            _panel(axes, t, k, data)
            axes.set_title(f"{data}, k = {k}", fontsize=9)
            if line == shape[0] - 1:
                axes.set_xlabel("epsilon")
        grid[line][0].set_ylabel("share found")
    return finished(drawn, grid[0][0], 3)


def _found_influence(t: Results) -> str:
    name, k = t.networks[0], FOCUS_K
    shares = [
        t.get("focus", name, s, e) for s in (EXPONENTIAL, SHIFTED, ADAPTIVE) for e in (1.0, 1000.0)
    ]
    return (
        f"{name}, k = {k}: at epsilon 1 the exponential mechanism finds {shares[0]:.0%} of the "
        f"true nodes, shifted dampening {shares[2]:.0%} and ours {shares[4]:.0%}; at 1000 they "
        f"find {shares[1]:.0%}, {shares[3]:.0%} and {shares[5]:.0%}. Degree alone follows shifted "
        "dampening."
    )


def _bounds(pyplot: Any, t: Results) -> Any:
    names = t.bounds
    drawn, grid = pyplot.subplots(1, len(names), figsize=(WIDTH, 3.1), sharey=True)
    for axes, data in zip(grid, names, strict=True):
        _panel(axes, t, FOCUS_K, data)
        axes.set_title(data.replace(", ", ",\n") if ", " in data else f"{data},\nlargest degree")
        axes.title.set_fontsize(9)
        axes.set_xlabel("epsilon")
    grid[0].set_ylabel(f"share found, k = {FOCUS_K}")
    return finished(drawn, grid[0], 3)


def _found_bounds(t: Results) -> str:
    told = "; ".join(
        f"{data}: exponential {t.get(figure(FOCUS_K), data, EXPONENTIAL, 1000.0):.0%}, shifted "
        f"{t.get(figure(FOCUS_K), data, SHIFTED, 1000.0):.0%}, ours "
        f"{t.get(figure(FOCUS_K), data, ADAPTIVE, 1000.0):.0%}"
        for data in t.bounds
    )
    return f"Found at epsilon 1000 by the bound of degrees that is declared: {told}."


def _percentile(pyplot: Any, t: Results) -> Any:
    shape = len(t.people), len(LEVELS)
    drawn, grid = pyplot.subplots(
        *shape, figsize=(WIDTH, 1.2 + 1.75 * shape[0]), sharex=True, squeeze=False
    )
    for line, data in enumerate(t.people):
        for column, p in enumerate(LEVELS):
            axes = grid[line][column]
            for series, (colour, marker, dashes) in PERCENTILES.items():
                curve = t.curve(f"less value error, p = {p}", data, series)
                x, y = [at for at, _ in curve], [100 * value for _, value in curve]
                axes.plot(x, y, color=colour, marker=marker, ms=3, lw=1.1, ls=dashes, label=series)
            axes.axhline(0, color=GREY, lw=0.8)
            _logarithmic(axes, (0.1, 1, 10))
            axes.set_title(f"{data}, p = {p}", fontsize=9)
            if line == shape[0] - 1:
                axes.set_xlabel("epsilon")
        grid[line][0].set_ylabel("error less, %")
    return finished(drawn, grid[0][0], 2)


def _found_percentile(t: Results) -> str:
    def most(series: str) -> float:
        values = (
            value
            for data in t.people
            for p in LEVELS
            for _, value in t.curve(f"less value error, p = {p}", data, series)
        )
        return round(max(values), 2) + 0.0  # no minus before nothing

    return (
        "Expected value error below that of the exponential mechanism by at most "
        f"{most(who.FLIP):.0%} (permute-and-flip), {most(who.DAMPENED):.0%} (dampened), "
        f"{most(who.SHIFTED):.0%} (shifted left) and {most(who.RIGHT):.0%} (shifted right)."
    )


def _time(pyplot: Any, t: Results) -> Any:
    drawn, grid = pyplot.subplots(1, 2, figsize=(WIDTH, 2.9))
    cases = ((GRAPHS, BETWEENNESS, "edges"), (CANDIDATES, RELEASE, "candidates"))
    for axes, (data, series, unit) in zip(grid, cases, strict=True):
        curve = t.curve("time", data, series)
        x, y = zip(*curve, strict=True)
        axes.plot(x, y, color=BLUE, marker="o", ms=4, label="measured")
        for power, dashes in ((1, "--"), (2, ":")):
            line = [(size / x[0]) ** power for size in x]
            name = "linear" if power == 1 else "quadratic"
            axes.plot(x, line, color=GREY, ls=dashes, lw=1, label=name)
        decades(axes, "y")
        _logarithmic(axes, [round(size / 1000) * 1000 for size in x[:: max(1, len(x) // 2)]])
        axes.set_title(series)
        axes.set_xlabel(unit)
    grid[0].set_ylabel("time / smallest's")
    return finished(drawn, grid[0], 3)


def _found_time(t: Results) -> str:
    one, other = t.get("growth", GRAPHS, BETWEENNESS), t.get("growth", CANDIDATES, RELEASE)
    return (
        f"Time grows as the number of edges to the power {one:.2f} for betweenness of everybody, "
        f"and as the number of candidates to the power {other:.2f} for a release."
    )


FIGURES: tuple[Figure[Results], ...] = (
    Figure(
        "influence",
        "Figure 2: influential nodes",
        _found_influence,
        _influence,
        figure(FOCUS_K),
    ),
    Figure("bounds", "Other bounds of degrees", _found_bounds, _bounds, figure(FOCUS_K)),
    Figure(
        "percentile", "Percentiles", _found_percentile, _percentile, "less value error, p = 0.5"
    ),
    Figure("time", "Running time", _found_time, _time, "time"),
)
