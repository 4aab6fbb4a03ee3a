"""The figures, as SVG that is the same byte for byte from run to run.

Okabe-Ito colours and a marker for each series; what needs no budget is a line without markers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments import harness
from experiments.dampening.tree import ablation
from experiments.dampening.tree.ablation import VARIANTS
from experiments.dampening.tree.methods import (
    CART,
    DEFAULT,
    GLOBAL,
    ID3,
    LOCAL,
    MAJORITY,
    SAME,
    SHIFTED,
)
from experiments.dampening.tree.results import Results
from experiments.dampening.tree.runs import BASE, PAPERS_THREE, exact, figure, over
from experiments.harness import BLACK, BLUE, GREEN, PINK, RED, SKY, Figure, finished

GREY = "#777777"
WIDTH = 6.6  # inches: letters stay legible on a telephone
LOOKS = {
    GLOBAL: (BLACK, "s", "-"),
    LOCAL: (PINK, "x", "-"),
    SHIFTED: (RED, "^", "-"),
    SAME: (SKY, "D", "-"),
    DEFAULT: (BLUE, "o", "-"),
}
NAMES = {
    GLOBAL: "Global",
    LOCAL: "Local",
    SHIFTED: "ShiftedLocal",
    SAME: "ours, same depth",
    DEFAULT: "ours, as it comes",
}
MARKS = (0.01, 0.1, 1)
NEAR = 0.02  # a line farther below the curves would flatten them


def draw_all(table: Results, folder: Path) -> dict[str, str]:
    """Write every figure whose rows are there; what each one shows, by file name."""
    return harness.draw_all(FIGURES, table, folder, table.has)


def _logarithmic(axes: Any) -> None:
    axes.set_xscale("log")
    axes.set_xticks(MARKS, [f"{mark:g}" for mark in MARKS])
    axes.minorticks_off()


def _panels(pyplot: Any, t: Results) -> tuple[Any, Any]:
    lines, columns = len(t.sets), len(t.depths)
    drawn, grid = pyplot.subplots(
        lines, columns, figsize=(WIDTH, 1.3 + 2.2 * lines), sharex=True, sharey="row", squeeze=False
    )
    for line, data in enumerate(t.sets):
        for column, depth in enumerate(t.depths):
            grid[line][column].set_title(f"{data}, depth {depth}", fontsize=10)
            _logarithmic(grid[line][column])
    for axes in grid[-1]:
        axes.set_xlabel("epsilon")
    return drawn, grid


def _accuracy(pyplot: Any, t: Results) -> Any:
    drawn, grid = _panels(pyplot, t)
    for line, data in enumerate(t.sets):
        for column, depth in enumerate(t.depths):
            axes = grid[line][column]
            for series, (colour, marker, dashes) in LOOKS.items():
                rows = t.rows(BASE if series == DEFAULT else figure(depth), data, series)
                x, y = [float(row.x) for row in rows], [row.value for row in rows]
                low, high = [row.low for row in rows], [row.high for row in rows]
                axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
                axes.plot(
                    x, y, color=colour, marker=marker, ms=4, lw=1.3, ls=dashes, label=NAMES[series]
                )
            axes.axhline(t.get(exact(depth), data, CART), color=GREEN, lw=1, ls="--", label=CART)
            axes.axhline(t.get(exact(depth), data, ID3), color=GREY, lw=1, ls="-.", label=ID3)
            most = t.get("accuracy", data, MAJORITY)
            if most > axes.get_ylim()[0] - NEAR:
                axes.axhline(most, color=GREY, lw=1, ls=":", label=MAJORITY)
        grid[line][0].set_ylabel("accuracy")
    return finished(drawn, grid[0][0], 3)


def _found_accuracy(t: Results) -> str:
    least = t.epsilons[0]
    parts = []
    for data in t.sets:
        held = {s: t.get(figure(t.depths[-1]), data, s, least) for s in PAPERS_THREE}
        told = ", ".join(f"{NAMES[s]} {value:.3f}" for s, value in held.items())
        parts.append(f"{data}: {told}, ours {t.get(BASE, data, DEFAULT, least):.3f}")
    return (
        "Accuracy rises with epsilon for all; ours is ahead of DiffPID3 with any of its laws at "
        f"small budgets. At epsilon {least:g} and depth {t.depths[-1]}, {'; '.join(parts)}."
    )


def _gain(pyplot: Any, t: Results) -> Any:
    drawn, grid = _panels(pyplot, t)
    for line, data in enumerate(t.sets):
        for column, depth in enumerate(t.depths):
            axes = grid[line][column]
            for series in (LOCAL, SHIFTED, SAME, DEFAULT):
                colour, marker, dashes = LOOKS[series]
                rows = t.rows(over(depth, GLOBAL), data, series)
                x = [float(row.x) for row in rows]
                y, low, high = (
                    [100 * value for value in values]
                    for values in (
                        [row.value for row in rows],
                        [row.low or 0.0 for row in rows],
                        [row.high or 0.0 for row in rows],
                    )
                )
                axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
                axes.plot(
                    x, y, color=colour, marker=marker, ms=4, lw=1.3, ls=dashes, label=NAMES[series]
                )
            axes.axhline(0, color=BLACK, lw=0.8)
        grid[line][0].set_ylabel("points over Global")
    return finished(drawn, grid[0][0], 2)


def _found_gain(t: Results) -> str:
    def ends(series: str) -> str:
        values = [
            row.value
            for data in t.sets
            for depth in t.depths
            for row in t.rows(over(depth, GLOBAL), data, series)
        ]
        return f"{100 * min(values):+.1f} to {100 * max(values):+.1f}"

    return (
        f"Points of accuracy over GlobalDiffPID3: Local {ends(LOCAL)}, ShiftedLocal "
        f"{ends(SHIFTED)}, ours at the same depth {ends(SAME)}, ours as it comes {ends(DEFAULT)}."
    )


def _ablation(pyplot: Any, t: Results) -> Any:
    """Differences from the default as bars, at the smallest and the largest budget."""
    shown = [v.label for v in VARIANTS if t.rows(ablation.DIFFERENCE, t.sets[0], v.label)]
    shown.reverse()
    drawn, grid = pyplot.subplots(
        1, len(t.sets), figsize=(WIDTH, 1.5 + 0.27 * len(shown)), sharey=True, squeeze=False
    )
    budgets = {t.tabled[0]: (RED, "^", 0.15), t.tabled[-1]: (BLUE, "o", -0.15)}
    for axes, data in zip(grid[0], t.sets, strict=True):
        for x, (colour, marker, shift) in budgets.items():
            for place, label in enumerate(shown):
                if not t.rows(ablation.DIFFERENCE, data, label):
                    continue
                row = t.row(ablation.DIFFERENCE, data, label, x)
                low, high = 100 * (row.low or 0.0), 100 * (row.high or 0.0)
                axes.plot([low, high], [place + shift] * 2, color=colour, lw=1.2)
                name = f"epsilon {x:g}" if place == 0 else None
                axes.plot(
                    100 * row.value, place + shift, color=colour, marker=marker, ms=4, label=name
                )
        axes.axvline(0, color=BLACK, lw=0.8)
        axes.set_xscale("symlog", linthresh=1)
        ticks = [-10, -3, -1, 0, 1]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_title(data, fontsize=10)
        axes.set_xlabel("points against default")
    grid[0][0].set_yticks(range(len(shown)), shown)
    grid[0][0].set_ylim(-0.7, len(shown) - 0.3)
    return _legend(drawn, grid[0][-1])


def _legend(drawn: Any, axes: Any) -> Any:
    """Names of both budgets, once, below; the first row may be missing on a set."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        handles, labels = drawn.axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="lower center", ncols=2)
    drawn.tight_layout(rect=(0, 0.045, 1, 1))
    return drawn


def _found_ablation(t: Results) -> str:
    rows = [
        (row.value, f"{label} on {data} at epsilon {row.x}")
        for data in t.sets
        for label in t.series(ablation.DIFFERENCE, data)
        for row in t.rows(ablation.DIFFERENCE, data, label)
    ]
    best, worst = max(rows), min(rows)
    return (
        f"One choice changed at a time: the best change gains {100 * best[0]:.1f} points "
        f"({best[1]}), the worst loses {-100 * worst[0]:.1f} ({worst[1]})."
    )


FIGURES: tuple[Figure[Results], ...] = (
    Figure("accuracy", "Figure 3: accuracy", _found_accuracy, _accuracy, BASE),
    Figure("gain", "Gain over GlobalDiffPID3", _found_gain, _gain, BASE),
    Figure(
        "ablation",
        "What ours gain by: one choice changed at a time",
        _found_ablation,
        _ablation,
        ablation.DIFFERENCE,
    ),
)
