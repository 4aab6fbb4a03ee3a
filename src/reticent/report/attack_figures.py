"""Figures of what an attacker still gains: ROC curves under their ceiling, what columns tell.

Theory    docs/theory/mapping.md, Theorem 7 (no attacker beats Bayes)
Not here  attackers (tasks/inference.py), what a promise allows and when a curve is above it
          (roc.py), the mapping itself (mapping_figures.py), colours and file format (style.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.amounts import show_up
from reticent.errors import require
from reticent.report.roc import (
    Measured,
    check_rates,
    excess,
    found_between,
    promised_curve,
    thinned,
)
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
    shortened,
    svg,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.tasks.best_attack import Attack

    Reals: TypeAlias = NDArray[np.float64]

_LIGHT = "#DDDDDD"
_SURE = 2.5  # half widths of a 95 % interval: 4.9 standard errors
_STYLES = [("-", "o"), ("--", "s"), ("-.", "^"), (":", "D"), ("-", "v")]  # of attackers


def above_ceiling(attack: Attack, ceiling: tuple[Reals, Reals], *, slack: float = 0.0) -> bool:
    """Whether the area of an attack is above that of the ceiling, and by more than chance explains.

    The interval that is shown is one of 95 %, and one in forty would be above by chance alone;
    this asks for 4.9 standard errors, which chance reaches once in two million.
    """
    return attack.auc - _SURE * (attack.auc - attack.low) > _area(ceiling) + slack


def above_anywhere(attack: Attack, ceiling: tuple[Reals, Reals], truth: NDArray[Any]) -> bool:
    """Whether the curve of an attack on people, 1 with the secret, is surely above the ceiling."""
    have = int(np.count_nonzero(truth))
    told = Measured(
        name=attack.attacker,
        false_rates=attack.false_rates,
        true_rates=attack.true_rates,
        negatives=len(truth) - have,
        positives=have,
    )
    return excess(told, ceiling) > 0


def _area(curve: tuple[Reals, Reals]) -> float:
    return float(np.trapezoid(curve[1], curve[0]))


def _bound(curve: tuple[Reals, Reals]) -> str:
    """The area that no attack exceeds, rounded up, but for what computing itself rounds."""
    return f"{float(show_up(_area(curve) - 1e-9, 3)):.3f}"


def roc_figure(
    attacks: Sequence[Attack],
    *,
    ceiling: tuple[Reals, Reals] | None,
    before: Sequence[Attack] = (),
    slack: float = 0.0,
) -> str:
    """ROC curves of attacks on releases and, ``before``, on profiles as they are.

    ``ceiling`` holds false and true rates of the exact Bayes rule of what is released; only
    ``attacks`` are held to it. Colour tells what was attacked and learnt from, style the attacker.
    """
    require(len(attacks) > 0, "attacks", "none", "at least one attack")
    for attack in (*attacks, *before):
        check_rates("attacks", (attack.false_rates, attack.true_rates))
        ordered = 0 <= attack.low <= attack.high <= 1
        require(ordered, "attacks", "other", "of intervals within 0 and 1")
    made, axes = figure(4.6, 4.6)
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="a coin: 0.5")
    if ceiling is not None:
        check_rates("ceiling", ceiling)
        label = f"no attack on releases can be above: {_bound(ceiling)}"
        axes.plot(*ceiling, color="black", linewidth=2, label=label, gid="ceiling", zorder=1.5)
    headings = _draw_attacks(axes, attacks, before)
    _rates_axes(axes)
    axes.set_xlabel("false alarms among people without the secret")
    axes.set_ylabel("found among people with it")
    legend = legend_below(made, axes, fontsize=9, title="AUC with 95 % interval", handlelength=3.2)
    for words in legend.get_texts():
        if words.get_text() in headings:
            words.set_fontweight("bold")
    return svg(made, says=_roc_says(attacks, before, ceiling, slack))


def _draw_attacks(axes: Any, attacks: Sequence[Attack], before: Sequence[Attack]) -> set[str]:
    """One colour and one heading in the legend for each group, one style for each attacker."""
    who = list(dict.fromkeys(attack.attacker for attack in (*before, *attacks)))
    groups = [("before", list(before))] if before else []
    for learnt in dict.fromkeys(attack.trained_on for attack in attacks):
        own = [attack for attack in attacks if attack.trained_on == learnt]
        groups.append((f"after, learnt from: {shortened(learnt, 30)}", own))
    colours = [*([ORANGE] if before else []), BLUE, GREEN, PURPLE, SKY]
    for place, (heading, group) in enumerate(groups):
        axes.plot([], [], linestyle="none", label=heading)
        for attack in group:
            _draw_attack(axes, attack, who.index(attack.attacker), colours[place % len(colours)])
    return {heading for heading, _ in groups}


def _draw_attack(axes: Any, attack: Attack, place: int, colour: str) -> None:
    line, marker = _STYLES[place % len(_STYLES)]
    axes.plot(
        attack.false_rates,
        attack.true_rates,
        color=colour,
        linestyle=line,
        linewidth=1.2,
        marker=marker,
        markersize=4,
        markevery=(0.03 * (place % 5), 0.15),
        label=f"{shortened(attack.attacker, 24)}: {_interval(attack)}",
    )


def _interval(attack: Attack) -> str:
    return f"{attack.auc:.3f} ({attack.low:.3f} to {attack.high:.3f})"


def _roc_says(
    attacks: Sequence[Attack],
    before: Sequence[Attack],
    ceiling: tuple[Reals, Reals] | None,
    slack: float,
) -> str:
    best = max(attacks, key=lambda attack: attack.auc)
    says = f"The best attack on releases, {best.attacker}, has AUC {_interval(best)}"
    if before:
        was = max(before, key=lambda attack: attack.auc)
        says += f"; before, {was.attacker} had {_interval(was)}"
    if ceiling is None:
        return f"{says}."
    says += f". The exact Bayes rule has {_bound(ceiling)}"
    over = [attack for attack in attacks if above_ceiling(attack, ceiling, slack=slack)]
    if not over:
        return f"{says}; no attack is above it."
    names = ", ".join(f"{a.attacker} trained on {a.trained_on} {_interval(a)}" for a in over)
    return f"{says}. Above it, which must not be: {names}."


def promise_roc_figure(
    curves: Sequence[Measured],
    *,
    epsilon: float | Fraction,
    delta: float | Fraction = 0.0,
    before: Sequence[Measured] = (),
    best: tuple[Reals, Reals] | None = None,
) -> str:
    """ROC curves of attacks under the ceiling that (epsilon, delta) promises.

    ``before`` are attacks on what was not released so, which nothing binds; ``best`` the curve of
    the best possible test, if it is known. What is above the ceiling is shaded: nothing may be.
    """
    require(len(curves) > 0, "curves", "none", "at least one curve")
    ceiling = promised_curve(epsilon, delta)
    made, axes = figure(4.9, 4.6)
    axes.fill_between(*ceiling, 1.02, color=_LIGHT, alpha=0.6, linewidth=0, gid="forbidden")
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="a coin: area 0.500")
    told = f"epsilon {float(epsilon):g}" + (f", delta {float(delta):g}" if delta else "")
    label = f"promised at {told}, none above: {_bound(ceiling)}"
    axes.plot(*ceiling, color="black", linewidth=2, label=label, gid="ceiling", zorder=1.5)
    if best is not None:
        check_rates("best", best)
        label = f"best possible test: {_bound(best)}"
        axes.plot(*best, color=GREY, linewidth=1.5, linestyle="--", label=label)
    colours = [*([ORANGE] * len(before)), *[BLUE, GREEN, PURPLE, SKY] * len(curves)]
    for place, curve in enumerate((*before, *curves)):
        _draw_measured(axes, curve, place, colours[place])
    _rates_axes(axes)
    axes.set_xlabel("false alarms")
    axes.set_ylabel("found")
    legend_below(made, axes, fontsize=9, title=_trials((*before, *curves)), handlelength=3.2)
    return svg(made, says=_promise_says(curves, before, ceiling, told))


def _draw_measured(axes: Any, curve: Measured, place: int, colour: str) -> None:
    line, marker = _STYLES[place % len(_STYLES)]
    kept = thinned(*curve.rates)
    x, y = (side[kept] for side in curve.rates)
    low, high = (side[kept] for side in found_between(curve))
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(
        x,
        y,
        color=colour,
        linestyle=line,
        linewidth=1.3,
        marker=marker,
        markersize=4,
        markevery=(0.03 * (place % 5), 0.15),
        label=f"{shortened(curve.name, 34)}: {curve.area:.3f}",
    )


def _rates_axes(axes: Any) -> None:
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    axes.set_aspect("equal")
    axes.grid(color=_LIGHT)


def _trials(curves: Sequence[Measured]) -> str:
    counts = {curve.positives + curve.negatives for curve in curves}
    trials = " to ".join(f"{n:,}" for n in sorted({min(counts), max(counts)}))
    return f"area under the curve; bands: 95 % in {trials} trials"


def _promise_says(
    curves: Sequence[Measured], before: Sequence[Measured], ceiling: tuple[Reals, Reals], told: str
) -> str:
    best = max(curves, key=lambda curve: curve.area)
    says = f"The strongest attack, {best.name}, has area {best.area:.3f}"
    if before:
        was = max(before, key=lambda curve: curve.area)
        says += f"; before, {was.name} had {was.area:.3f}"
    says += f". The ceiling promised at {told} has {_bound(ceiling)}"
    over = [curve.name for curve in curves if excess(curve, ceiling) > 0]
    if not over:
        return f"{says}; no curve is above it."
    return f"{says}. Above it, which must not be: {', '.join(over)}."


def feature_figure(names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> str:
    """Bits that each public column tells about the secret, before and after, largest on top."""
    count = len(names)
    require(count > 0, "names", "none", "at least one column")
    same = len(before) == count == len(after)
    require(same, "before", (len(before), len(after)), f"{count} numbers, and as many after")
    not_negative("before", before)
    not_negative("after", after)
    order = sorted(range(count), key=lambda j: (before[j], -j))
    made, axes = figure(5.2, 0.9 + 0.3 * count)
    for place, j in enumerate(order):
        axes.plot([before[j], after[j]], [place, place], color=GREY, linewidth=1.5, zorder=1)
    rows = range(count)
    ends = ((before, ORANGE, "o", 8, "before"), (after, BLUE, "D", 5, "after"))
    for values, colour, marker, wide, label in ends:
        look = {"color": colour, "marker": marker, "markersize": wide, "linestyle": "none"}
        axes.plot([values[j] for j in order], rows, label=label, **look)
    axes.set_yticks(rows, [shortened(names[j], 24) for j in order])
    axes.set_ylim(-0.6, count - 0.4)
    axes.set_xlim(left=-0.02 * (max(*before, *after) or 1.0))
    axes.set_xlabel("bits that a column alone tells about the secret")
    axes.grid(axis="x", color=_LIGHT)
    legend_below(made, axes, ncols=2)
    return svg(made, says=_feature_says(names, before, after))


def _feature_says(names: Sequence[str], before: Sequence[float], after: Sequence[float]) -> str:
    first = max(range(len(names)), key=lambda j: before[j])
    last = max(range(len(names)), key=lambda j: after[j])
    more = sum(b < a for b, a in zip(before, after, strict=True))
    return (
        f"{names[first]} tells most about the secret before, {before[first]:.3g} bits, and "
        f"{after[first]:.3g} after; after, {names[last]} tells most, {after[last]:.3g} bits. "
        f"{more} of {len(names)} columns tell more than before."
    )
