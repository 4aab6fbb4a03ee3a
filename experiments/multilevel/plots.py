"""The figures, as SVG that is the same byte for byte from run to run.

Okabe-Ito colours and a marker for each series, intervals always, what is not private dotted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments import harness
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
from experiments.multilevel import beyond, case_study
from experiments.multilevel.datasets import EPSILONS, SHARES, SIMPLEX
from experiments.multilevel.results import Row
from experiments.multilevel.statements import Table
from experiments.multilevel.utility import METHODS, PROPORTIONAL

LOOKS = {
    PROPORTIONAL: (BLACK, "s"),
    "MAE": (BLUE, "o"),
    "MSE": (RED, "^"),
    "MAEL": (GREEN, "D"),
}
NAMES = {PROPORTIONAL: "proportional"} | {goal: f"optimal, goal {goal}" for goal in METHODS[1:]}


MEDIANS = "markers: medians, with 95 % intervals; dashed: means"


def draw_all(table: Table, folder: Path) -> dict[str, str]:
    """Write every figure whose rows are there; what each one shows, by file name."""
    return harness.draw_all(FIGURES, table, folder, table.has)


def _line(
    axes: Any,
    rows: Sequence[Row],
    look: tuple[str, str],
    label: str,
    *,
    dodge: float = 0.0,
    median: bool = True,
    stretch: float = 1.0,
) -> None:
    """Points with their intervals; medians with means as a thin dashed line, or means alone."""
    x = [float(row.x) * stretch + dodge for row in rows]
    at = [row.median if median else row.mean for row in rows]
    low = [row.median_low if median else row.mean_low for row in rows]
    high = [row.median_high if median else row.mean_high for row in rows]
    bars = [
        [max(a - b, 0) for a, b in zip(at, low, strict=True)],
        [max(b - a, 0) for a, b in zip(at, high, strict=True)],
    ]
    colour, marker = look
    axes.errorbar(
        x, at, yerr=bars, color=colour, marker=marker, ms=4, lw=1.2, elinewidth=1, label=label
    )
    if median:
        axes.plot(x, [row.mean for row in rows], color=colour, lw=0.8, ls=(0, (4, 3)))


def _panels(measures: Sequence[str], *, logs: Sequence[bool]) -> Callable[[Any, Table], Any]:
    def draw(pyplot: Any, table: Table) -> Any:
        shape = len(measures), len(table.data)
        drawn, grid = pyplot.subplots(*shape, figsize=(9, 5.6), sharex=True, squeeze=False)
        for line, (measure, log) in enumerate(zip(measures, logs, strict=True)):
            for column, name in enumerate(table.data):
                axes = grid[line][column]
                for number, method in enumerate(METHODS):
                    rows = [table.get(f"{measure}, {SIMPLEX}", method, e, name) for e in EPSILONS]
                    place = 0.003 * (number - 1.5)
                    _line(axes, rows, LOOKS[method], NAMES[method], dodge=place)
                if log:
                    decades(axes, "y")
                if line == 0:
                    axes.set_title(name)
                if column == 0:
                    axes.set_ylabel(measure + (" (log)" if log else ""))
                if line == len(measures) - 1:
                    axes.set_xlabel("epsilon")
        return finished(drawn, grid[0][0], 4, MEDIANS)

    return draw


def _time(pyplot: Any, table: Table) -> Any:
    drawn, grid = pyplot.subplots(1, len(table.data), figsize=(9, 3.4), sharey=True, squeeze=False)
    for column, name in enumerate(table.data):
        axes, costs = grid[0][column], [c for c in table.costs if c.data == name]
        x = [c.epsilon for c in costs]
        axes.plot(x, [500.0] * len(x), color="#777777", ls=":", label="paper's bound, 500 ms")
        if costs[0].general is not None:
            axes.plot(
                x,
                [c.general for c in costs],
                color=BLACK,
                marker="s",
                ms=4,
                label="CVXPY, Clarabel",
            )
        axes.plot(x, [c.alone for c in costs], color=BLUE, marker="o", ms=4, label="alone, exact")
        axes.plot(x, [c.many for c in costs], color=RED, marker="^", ms=4, label="one of many")
        decades(axes, "y")
        axes.set_title(name)
        axes.set_xlabel("epsilon")
    grid[0][0].set_ylabel("CPU ms per person (log)")
    return finished(drawn, grid[0][0], 4, "fastest of three runs")


def _advantage(pyplot: Any, table: Table) -> Any:
    drawn, grid = pyplot.subplots(1, len(table.data), figsize=(9, 3.6), sharey=True, squeeze=False)
    series = (
        ("MAE", SIMPLEX, BLUE, "o", "MAE, simplex"),
        ("MAE", SHARES, SKY, "v", "MAE, shares"),
        ("MAEL", SIMPLEX, GREEN, "D", "MAEL + 1, simplex"),
        ("MAEL", SHARES, ORANGE, "P", "MAEL + 1, shares"),
    )
    for column, name in enumerate(table.data):
        axes = grid[0][column]
        for number, (goal, reading, colour, marker, label) in enumerate(series):
            rows = [table.get(f"advantage, {reading}", goal, e, name) for e in EPSILONS]
            _line(axes, rows, (colour, marker), label, dodge=0.003 * (number - 1.5))
        decades(axes, "y")
        axes.set_title(name)
        axes.set_xlabel("epsilon")
    grid[0][0].set_ylabel("proportional / optimal (log)")
    note = "markers: medians of people's ratios, with 95 % intervals; dashed: ratios of means"
    return finished(drawn, grid[0][0], 4, note)


def _beyond(pyplot: Any, table: Table) -> Any:
    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4.0))
    looks = ((BLUE, "o"), (RED, "^"), (GREEN, "D"))
    for factor, look in zip(beyond.FACTORS, looks, strict=True):
        rows = [table.get("lattice", f"budgets x {factor}", e) for e in EPSILONS]
        _line(left, rows, look, f"budgets and epsilon x {factor}", median=False)
    left.set_xlabel("epsilon before multiplying")
    left.set_ylabel("MAE: whole numbers / Laplace formula")
    left.axhline(1, color="#777777", ls=":")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=8)
    seven = (
        (BLACK, "s"),
        (ORANGE, "v"),
        (PINK, "P"),
        (BLUE, "o"),
        (GREEN, "D"),
        (RED, "^"),
        ("#777777", "x"),
    )
    for treated, look in zip(beyond.TREATED, seven, strict=True):
        rows = [table.get("post-processing", treated, e) for e in beyond.POST_EPSILONS]
        _line(right, rows, look, treated, median=False)
    decades(right, "x")
    decades(right, "y")
    right.set_xticks(beyond.POST_EPSILONS, [f"{e:g}" for e in beyond.POST_EPSILONS])
    right.set_xlabel("epsilon (log)")
    right.set_ylabel("MAE of the histogram (log)")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2, fontsize=8)
    drawn.suptitle(f"{table.films}; means with 95 % intervals", fontsize=8, y=0.995)
    drawn.tight_layout()
    return drawn


CASE_LOOKS = {
    case_study.NOISY: (BLUE, "o"),
    case_study.SIZED: (GREEN, "D"),
    case_study.LEARNED: (RED, "^"),
}
REFERENCES = {
    case_study.RAW: (BLACK, ":"),
    case_study.LEARNED_EXACT: (RED, ":"),
    case_study.EXACT: (BLUE, ":"),
    case_study.POPULAR: (ORANGE, "-."),
    case_study.RANDOM: (PINK, "--"),
}


def _case(pyplot: Any, table: Table) -> Any:
    drawn, grid = pyplot.subplots(1, 3, figsize=(9, 4.0))
    measures = ("recall@20", "NDCG@20", "MAE")
    for axes, measure in zip(grid, measures, strict=True):
        xs = [key[3] for key in table.held if key[:3] == (measure, table.films, case_study.NOISY)]
        for series, look in CASE_LOOKS.items():
            rows = [table.get(measure, series, x) for x in xs]
            _line(axes, rows, look, series, median=False)
        for series, (colour, dashes) in REFERENCES.items():
            value = table.get(measure, series).mean
            axes.axhline(value, color=colour, ls=dashes, lw=1.2, label=series)
        decades(axes, "x")
        axes.set_xticks([float(x) for x in xs], [f"{float(x):g}" for x in xs])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("epsilon (log)")
        axes.set_title(measure if measure != "MAE" else "MAE (small is good)")
    note = f"{table.films}; means with 95 % intervals; horizontal: without noise"
    return finished(drawn, grid[0], 4, note)


def _found_overall(t: Table) -> str:
    first, last = (
        t.get(f"MAE, {SIMPLEX}", PROPORTIONAL, e).median / t.get(f"MAE, {SIMPLEX}", "MAE", e).median
        for e in (0.05, 0.4)
    )
    return (
        f"The optimum has {first:.1f} times less mean absolute error than proportional scaling at "
        f"epsilon 0.05 and {last:.1f} times at 0.4 on {t.films}; the three goals are close in MAE "
        "and MSE and coincide where every item has one attribute."
    )


def _found_each(t: Table) -> str:
    kl = t.get(f"KL, {SIMPLEX}", "MSE", 0.05).median
    return (
        "The loss against attributes' own budgets (MAEL) is about halved at epsilon 0.05; the KL "
        f"divergence is 0 for proportional scaling and {kl:.2f} for goal MSE there: the optimum "
        "does not lower budgets evenly."
    )


def _found_time(t: Table) -> str:
    alone, many = max(c.alone for c in t.costs), max(c.many for c in t.costs)
    return (
        f"A plan takes at most {alone:.1f} ms of CPU alone and {many:.2f} ms among many, far below "
        "the paper's 500 ms; among many it is less the larger epsilon is."
    )


def _found_advantage(t: Table) -> str:
    rows = [t.get(f"advantage, {r}", "MAE", 0.05).median for r in (SIMPLEX, SHARES)]
    return (
        f"At epsilon 0.05 the median advantage in MAE is {rows[0]:.1f} with budgets uniform on the "
        f"simplex and {rows[1]:.1f} with uniform shares; it falls towards 1 as epsilon grows."
    )


def _found_beyond(t: Table) -> str:
    large = t.get("lattice", f"budgets x {beyond.FACTORS[-1]}", 0.4).mean
    gains = [
        t.get("post-processing gain", name, 0.4).mean for name in (beyond.PROJECTED, beyond.SIZED)
    ]
    return (
        f"Noise on whole numbers has {large:.0%} of the Laplace formula's error when budgets are "
        "30 times as large, and all of it at the paper's. Keeping to what can be true divides the "
        f"error by {gains[0]:.1f} at epsilon 0.4, and by {gains[1]:.1f} with a declared size."
    )


def _found_case(t: Table) -> str:
    lost = {s: 1 - t.get("recall@20 over raw", s, 0.1).mean for s in CASE_LOOKS}
    exact = 1 - t.get("recall@20 over raw", case_study.LEARNED_EXACT).mean
    return (
        f"At epsilon 0.1 recall@20 is {lost[case_study.NOISY]:.0%} lower than from the raw profile "
        f"by the paper's reconstruction and {lost[case_study.LEARNED]:.0%} lower when the service "
        f"learns from histograms, as low as popularity; even exact histograms lose {exact:.0%}."
    )


FIGURES = (
    Figure(
        "overall",
        "Figure 2: error of all attributes",
        _found_overall,
        _panels(("MAE", "MSE"), logs=(True, True)),
        f"MAE, {SIMPLEX}",
    ),
    Figure(
        "each",
        "Figure 3: loss of single attributes",
        _found_each,
        _panels(("MAEL", "KL"), logs=(False, False)),
        f"KL, {SIMPLEX}",
    ),
    Figure("time", "Figure 4: running time", _found_time, _time, f"MAE, {SIMPLEX}"),
    Figure(
        "advantage",
        "Proportional scaling over the optimum",
        _found_advantage,
        _advantage,
        f"advantage, {SIMPLEX}",
    ),
    Figure("beyond", "Beyond the paper", _found_beyond, _beyond, "post-processing"),
    Figure("case-study", "The case study", _found_case, _case, "recall@20"),
)
