"""The figures, as SVG that is the same byte for byte from run to run.

Okabe-Ito colours and a marker for each series; what is not protected is black.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

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
from experiments.mappings import priors, solvers
from experiments.mappings.anatomy import BANDS, PICTURED, band
from experiments.mappings.attacks import BEST, FITTED, POINTS, RAW, RELEASED, UNTOUCHED
from experiments.mappings.curves import BOUND, CURVE, EXPONENTIAL, MAPPING, PERFECT, RESPONSE
from experiments.mappings.results import Results

GREY = "#777777"
TREATED = {
    MAPPING: (BLUE, "o", "-"),
    BOUND: (SKY, "", "--"),
    EXPONENTIAL: (RED, "^", "-"),
    RESPONSE: (ORANGE, "s", "-"),
}


def draw_all(table: Results, folder: Path) -> dict[str, str]:
    """Write every figure whose rows are there; what each one shows, by file name."""
    return harness.draw_all(FIGURES, table, folder, table.has)


def _trade_offs(pyplot: Any, t: Results) -> Any:
    drawn, grid = pyplot.subplots(1, 3, figsize=(9, 3.6))
    for axes, name in zip(grid, (t.census, t.sample, t.films), strict=True):
        for series, (colour, marker, dashes) in TREATED.items():
            x, y = zip(*t.curve(CURVE, name, series), strict=True)
            axes.plot(x, y, color=colour, marker=marker, ms=3.5, ls=dashes, lw=1.2, label=series)
        if t.has(PERFECT, name):
            end = t.get(PERFECT, name, MAPPING, "distortion")
            axes.axvline(end, color=GREY, ls=":", lw=1.2, label="nothing need leak from here on")
        axes.set_title(name)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("distortion (share of columns changed)")
    grid[0].set_ylabel("leak in bits")
    return finished(drawn, grid[0], 5)


def _found_trade_offs(t: Results) -> str:
    sets = (t.census, t.sample, t.films)
    times, replies = (
        [t.get("times", name, series, 0.14) for name in sets] for series in (EXPONENTIAL, RESPONSE)
    )
    return (
        "To leave 14 % of the leak the exponential mechanism needs "
        f"{times[0]:.1f} times the distortion of the mapping on the census (most probable tuples), "
        f"{times[1]:.1f} on 300 of its records and {times[2]:.1f} on films; randomised response "
        f"{', '.join(f'{value:.1f}' for value in replies)}."
    )


def _pictures(pyplot: Any, t: Results) -> Any:
    drawn, grid = pyplot.subplots(1, 3, figsize=(9, 3.4))
    for axes, share, table in zip(grid, PICTURED, t.pictures, strict=True):
        shown = axes.imshow(np.array(table), origin="lower", cmap="viridis", vmin=0, vmax=1)
        axes.set_title(f"Delta = n² / {1 / share:.0f}")
        axes.set_xlabel("own number")
        axes.grid(visible=False)
    grid[0].set_ylabel("released number")
    drawn.colorbar(shown, ax=list(grid), shrink=0.8, label="chance")
    return drawn


def _found_pictures(t: Results) -> str:
    name = t.data("kept")[0]
    stay = [t.get("kept", name, "stay for certain", share) for share in PICTURED]
    return (
        f"Of 64 numbers {stay[0]:.0%} are released as they are at the smallest distortion and "
        f"{stay[-1]:.0%} at the largest; those near the middle cross it first."
    )


def _lengths(pyplot: Any, t: Results) -> Any:
    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.8))
    name = t.data("by length")[0]
    looks = ((PINK, "v"), (ORANGE, "s"), (RED, "^"), (GREEN, "D"))
    for length, (colour, marker) in zip(solvers.LENGTHS, looks, strict=True):
        curve = t.curve("by length", name, solvers.PAPER.format(length))
        if curve:
            label = solvers.PAPER.format(length)
            left.plot(*zip(*curve, strict=True), color=colour, marker=marker, ms=4, label=label)
    ours = t.curve("by length", name, solvers.OURS)
    left.plot(*zip(*ours, strict=True), color=BLUE, marker="o", ms=4, label=solvers.OURS)
    left.set_xlabel("Delta / n²")
    left.set_ylabel("leak in bits")
    left.set_title(name)
    left.set_ylim(bottom=0)
    left.legend(fontsize=8)
    sizes, most = _excesses(t)
    right.plot(sizes, most, color=RED, marker="^", label="paper, L = 100, Delta = n²/64")
    decades(right, "x")
    right.set_xticks(sizes, [str(size) for size in sizes])
    right.minorticks_off()
    right.set_ylim(bottom=0)
    right.set_xlabel("numbers n (log)")
    right.set_ylabel("above the least leak, share of I(A; B)")
    right.legend(fontsize=8)
    drawn.tight_layout()
    return drawn


def _excesses(t: Results) -> tuple[list[int], list[float]]:
    names = [name for name in t.data("excess") if name.startswith("example")]
    rows = [t.rows("excess", name, "excess")[0].value for name in names]
    return [int(name.split()[1]) for name in names], rows


def _found_lengths(t: Results) -> str:
    sizes, most = _excesses(t)
    return (
        f"After 100 steps of the paper's algorithm {most[0]:.0%} of I(A; B) more than need be "
        f"leaks with {sizes[0]} numbers and {most[-1]:.0%} with {sizes[-1]}."
    )


def _rocs(which: str, attacker: str) -> Any:
    def draw(pyplot: Any, t: Results) -> Any:
        data = getattr(t, which)
        deltas = list(dict.fromkeys(r["x"] for r in t.rocs if r["data"] == data and r["x"] > 0))
        drawn, grid = pyplot.subplots(1, len(deltas), figsize=(9, 4.1), squeeze=False)
        held = {
            (r["series"], r["x"], r["attacker"]): r["true"] for r in t.rocs if r["data"] == data
        }
        for axes, delta in zip(grid[0], deltas, strict=True):
            lines = (
                (UNTOUCHED, 0.0, f"{attacker}, {RAW}", BLACK, "-", "untouched"),
                (EXPONENTIAL, delta, f"{attacker}, {RELEASED}", RED, "-", "exponential"),
                (MAPPING, delta, f"{attacker}, {RELEASED}", BLUE, "-", "mapping"),
                (
                    MAPPING,
                    delta,
                    f"{attacker}, {RAW}",
                    SKY,
                    ":",
                    "mapping, trained on raw",
                ),
                (MAPPING, delta, BEST, GREEN, "--", "mapping, any attacker"),
                (FITTED, delta, f"{attacker}, {RELEASED}", PINK, "-.", "mapping of other people"),
            )
            for series, x, who, colour, dashes, label in lines:
                axes.plot(POINTS, held[series, x, who], color=colour, ls=dashes, label=label)
            axes.plot([0, 1], [0, 1], color=GREY, lw=0.8, label="blind")
            axes.set_title(f"Delta = {delta:g}")
            axes.set_xlabel("others taken for them")
            axes.set_aspect("equal")
        grid[0][0].set_ylabel("people with the secret found")
        made = finished(drawn, grid[0][0], 4, f"{data}; {attacker}")
        made.subplots_adjust(bottom=0.27)
        return made

    return draw


def _found_rocs(which: str, attacker: str) -> Any:
    def finding(t: Results) -> str:
        data = getattr(t, which)
        told = []
        for x in t.xs("AUC", data, f"{MAPPING}: {BEST}"):
            mine, other = (
                t.get("AUC", data, f"{s}: {attacker}, trained on {RELEASED}", x)
                for s in (MAPPING, EXPONENTIAL)
            )
            told.append(f"{mine:.2f} against {other:.2f} at {x}")
        before = t.get("AUC", data, f"{UNTOUCHED}: {attacker}, trained on {RAW}", 0.0)
        return (
            f"Area under the curve of {attacker} {before:.2f} on untouched profiles; mapping "
            f"against exponential mechanism: {', '.join(told)}."
        )

    return finding


def _features(pyplot: Any, t: Results) -> Any:
    drawn, grid = pyplot.subplots(1, 3, figsize=(9, 4.2))
    for axes, name in zip(grid, (t.census, t.sample, t.films), strict=True):
        columns = _sorted_features(t, name)
        places = np.arange(len(columns))
        for when, colour, shift in (("before", BLACK, 0.2), ("after", BLUE, -0.2)):
            values = [t.get("features", name, c, when) for c in columns]
            axes.barh(places + shift, values, 0.38, color=colour, label=when)
        axes.set_yticks(places, columns, fontsize=7)
        axes.grid(axis="y", visible=False)
        delta = t.get("Delta of features", name, MAPPING)
        axes.set_title(f"{name}\nDelta {delta:g}", fontsize=9)
        axes.set_xlabel("bits about the secret")
    return finished(drawn, grid[0], 2)


def _sorted_features(t: Results, name: str) -> list[str]:
    """From the one that tells least."""
    before = {c: t.get("features", name, c, "before") for c in t.series("features", name)}
    return sorted(before, key=lambda c: before[c])


def _found_features(t: Results) -> str:
    top = _sorted_features(t, t.census)[:-4:-1]
    told = ", ".join(
        f"{c} from {t.get('features', t.census, c, 'before'):.3f} to "
        f"{t.get('features', t.census, c, 'after'):.3f}"
        for c in top
    )
    return f"On the census (most probable tuples) the features that tell most: {told} bits."


def _ranks(pyplot: Any, t: Results) -> Any:
    drawn, axes = pyplot.subplots(figsize=(6.4, 3.6))
    name = t.data("by rank")[0]
    for series, shift in ((MAPPING, -0.1), (EXPONENTIAL, 0.1)):
        rows = t.rows("by rank", name, series)
        x = [float(row.x) + shift for row in rows]
        spread = [(row.high or row.value) - row.value for row in rows]
        colour, marker, _ = TREATED[series]
        y = [row.value for row in rows]
        axes.errorbar(x, y, yerr=spread, color=colour, marker=marker, ms=4, lw=1, label=series)
    axes.set_xlabel("k-th closest number (0: itself)")
    axes.set_ylabel("chance: mean and standard deviation")
    axes.legend()
    axes.set_title(f"{name}, Delta = n² / 256")
    drawn.tight_layout()
    return drawn


def _found_ranks(t: Results) -> str:
    name = t.data("by rank")[0]
    mine, other = (t.get("by rank", name, s, 0) for s in (MAPPING, EXPONENTIAL))
    return (
        f"A number stays as it is with chance {mine:.2f} by the mapping and {other:.2f} by the "
        "exponential mechanism of equal distortion; the mapping's chances differ much from "
        "number to number and do not fall with distance."
    )


TIMED = {
    solvers.OURS: (BLUE, "o"),
    solvers.PAPER.format(3): (PINK, "v"),
    solvers.PAPER.format(10): (ORANGE, "s"),
    solvers.PAPER.format(100): (RED, "^"),
    solvers.FRANK_WOLFE: (SKY, "P"),
    solvers.EXPONENTIAL: (GREEN, "D"),
    solvers.GENERAL: (BLACK, "x"),
}


def _times(pyplot: Any, t: Results) -> Any:
    drawn, grid = pyplot.subplots(1, 2, figsize=(9, 4.2), sharey=True)
    for axes, name in zip(grid, t.data("time"), strict=True):
        for label in t.series("time", name):
            colour, marker = TIMED[label]
            curve = t.curve("time", name, label)
            axes.plot(*zip(*curve, strict=True), color=colour, marker=marker, ms=4, label=label)
        decades(axes, "x")
        sizes = [int(x) for x in t.xs("time", name, solvers.OURS)]
        axes.set_xticks(sizes[::2], [f"{size:,}" for size in sizes[::2]])
        axes.minorticks_off()
        axes.set_title(name)
        axes.set_xlabel("profiles (log)")
    decades(grid[0], "y")
    grid[0].set_ylabel("CPU seconds (log)")
    return finished(drawn, grid[0], 4)


def _found_times(t: Results) -> str:
    size, seconds = t.curve("time", "cube", solvers.OURS)[-1]
    last = t.xs("time", "example", solvers.PAPER.format(100))[-1]
    ratio = t.get("time", "example", solvers.PAPER.format(100), last) / t.get(
        "time", "example", solvers.OURS, last
    )
    return (
        f"With {last} numbers the paper's 100 steps take {ratio:.0f} times the CPU of our solver; "
        f"the {size:,.0f} profiles of a cube take it {seconds:.1f} s."
    )


def _supports(pyplot: Any, t: Results) -> Any:
    names = t.data("support")
    drawn, grid = pyplot.subplots(1, len(names), figsize=(9, 3.4), sharey=True, squeeze=False)
    labels = [band(*ends) for ends in BANDS]
    for axes, name in zip(grid[0], names, strict=True):
        xs = t.xs("support", name, "mean")
        for number, (x, colour) in enumerate(zip(xs, (SKY, BLUE, BLACK), strict=False)):
            heights = [t.get("support", name, label, x) for label in labels]
            places = np.arange(len(labels)) + 0.27 * (number - 1)
            axes.bar(places, heights, 0.26, color=colour, label=f"Delta = {x}")
        axes.set_xticks(range(len(labels)), labels)
        axes.grid(axis="x", visible=False)
        axes.set_title(name)
        axes.set_xlabel("outputs of a profile")
    grid[0][0].set_ylabel("share of profiles")
    return finished(drawn, grid[0][0], 3)


def _found_supports(t: Results) -> str:
    name = t.data("support")[0]
    xs = t.xs("support", name, "mean")
    means = [t.get("support", name, "mean", x) for x in xs]
    most = max(t.get("support", name, "largest", x) for x in xs)
    return (
        f"A profile of {name} has {min(means):.1f} to {max(means):.1f} outputs on average and at "
        f"most {most:.0f}."
    )


def _laws(pyplot: Any, t: Results) -> Any:
    names = t.data("halves")
    drawn, grid = pyplot.subplots(1, len(names), figsize=(9, 3.2), squeeze=False)
    labels = (priors.PROMISED, priors.HELD_OUT, priors.CORRECTED, priors.BELIEVED)
    for axes, name in zip(grid[0], names, strict=True):
        for series, colour, marker, shift in (
            (UNTOUCHED, BLACK, "s", 0.12),
            (MAPPING, BLUE, "o", -0.12),
        ):
            rows = [t.row("halves", name, series, label) for label in labels]
            places, values = np.arange(len(rows)) + shift, [row.value for row in rows]
            axes.plot(values, places, color=colour, marker=marker, ms=5, ls="none", label=series)
            for place, row in enumerate(rows):
                axes.plot([row.low, row.high], [place + shift] * 2, color=colour, lw=1)
        axes.set_yticks(range(len(labels)), labels if axes is grid[0][0] else [""] * len(labels))
        axes.invert_yaxis()
        axes.axvline(0, color=GREY, lw=0.8)
        axes.set_title(f"{name}\nDelta {t.get('halves', name, 'Delta'):g}", fontsize=9)
        axes.set_xlabel("leak in bits")
    return finished(drawn, grid[0][0], 2)


def _found_laws(t: Results) -> str:
    told = []
    for name in t.data("halves"):
        promised, met, less = (
            t.get("halves", name, MAPPING, x)
            for x in (priors.PROMISED, priors.HELD_OUT, priors.CORRECTED)
        )
        told.append(f"{name}: {promised:.3f} promised, {met:.3f} met, {less:.3f} less chance")
    return f"Bits that leak about people the mapping has not seen. {'; '.join(told)}."


FIGURES: tuple[Figure[Results], ...] = (
    Figure("mapping", "Figure 1: mappings of the example", _found_pictures, _pictures, "kept"),
    Figure("trade-off", "Figure 2: leak against distortion", _found_trade_offs, _trade_offs, CURVE),
    Figure("steps", "Figure 2, left: the number of steps", _found_lengths, _lengths, "by length"),
    Figure(
        "roc-census",
        "Figure 3: naive Bayes on the census",
        _found_rocs("census", "naive Bayes"),
        _rocs("census", "naive Bayes"),
        "AUC",
    ),
    Figure(
        "roc-films",
        "Figure 4: logistic regression on films",
        _found_rocs("films", "logistic regression"),
        _rocs("films", "logistic regression"),
        "AUC",
    ),
    Figure("ranks", "Figure 5: where points go", _found_ranks, _ranks, "by rank"),
    Figure("time", "Figure 6: running time", _found_times, _times, "time"),
    Figure("support", "Figure 7: outputs of a profile", _found_supports, _supports, "support"),
    Figure("features", "Table 1: single features", _found_features, _features, "features"),
    Figure("laws", "Other people than the law's", _found_laws, _laws, "halves"),
)
