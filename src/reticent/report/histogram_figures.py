"""Figures of a planned histogram: the noise of each attribute, and what sharing well is worth.

Not here  the plan itself (mechanisms/multilevel_plan.py), colours and file format (style.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from reticent.errors import require
from reticent.mechanisms.multilevel_plan import HistogramPlan
from reticent.report.style import (
    BLUE,
    GREY,
    ORANGE,
    figure,
    not_negative,
    plain_log,
    shortened,
    svg,
)

_GOALS = {
    "mae": "mean absolute error",
    "mse": "mean squared error",
    "mael": "mean error relative to each budget alone",
}


def noise_figure(plan: HistogramPlan, *, withheld: Sequence[str] = ()) -> str:
    """A dot and a 95 % interval for each attribute, on a logarithmic axis; withheld ones listed."""
    mechanism = plan.mechanism
    named = [mechanism.mean_absolute_errors(), mechanism.within_95()]
    named.append(plan.proportional.mean_absolute_errors())
    mean, within, alike = (dict(zip(plan.attributes, map(float, m), strict=True)) for m in named)
    return noise_dots_figure(mean, within, alike=alike, withheld=withheld)


def noise_dots_figure(
    mean: Mapping[str, float],
    within: Mapping[str, float],
    *,
    alike: Mapping[str, float] | None = None,
    withheld: Sequence[str] = (),
    unit: str = "error",
) -> str:
    """The same from numbers: mean errors and where they are 95 times in 100, by attribute.

    ``alike`` are mean errors if all budgets were scaled alike; ``unit`` is what errors are in.
    """
    require(len(mean) > 0, "mean", "none", "one attribute or more")
    require(mean.keys() == within.keys(), "within", "other", "a number for each attribute")
    not_negative("mean", [*mean.values(), *within.values()])
    order = sorted(mean, key=lambda name: (mean[name], name))
    made, axes = figure(5.6, 1.6 + 0.28 * (len(mean) + len(withheld)))
    for place, name in enumerate(order):
        ends = [mean[name], max(within[name], mean[name])]
        axes.plot(ends, [place, place], color=BLUE, linewidth=2)
        if alike is not None:
            axes.plot([alike[name]], [place], color=ORANGE, marker="x", linestyle="none")
        axes.plot([mean[name]], [place], color=BLUE, marker="o", linestyle="none")
    axes.set_xscale("log")
    plain_log(axes.xaxis)
    for place in range(len(mean), len(mean) + len(withheld)):
        across = axes.get_yaxis_transform()
        axes.text(0.01, place, "withheld", transform=across, color=GREY, va="center")
    labels = [shortened(name, 28) for name in (*order, *withheld)]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)
    cross = "" if alike is None else ",\ncross = mean if all were scaled alike"
    axes.set_xlabel(f"{shortened(unit, 30)}: dot = mean, line = up to 95 in 100{cross}")
    axes.grid(axis="x", which="major", color="#DDDDDD")
    best, worst = order[0], order[-1]
    says = (
        f"Mean absolute error from {mean[best]:.3g} ({best}) to {mean[worst]:.3g} "
        f"({worst}); {len(withheld)} attributes withheld."
    )
    return svg(made, says=says)


def sharing_figure(plans: Sequence[HistogramPlan], *, chosen: Fraction | None = None) -> str:
    """The error against epsilon: budgets shared at best, and all scaled alike.

    ``chosen`` is the provider's own epsilon, which is marked.
    """
    epsilons = [float(plan.epsilon) for plan in plans]
    ours = [plan.error for plan in plans]
    alike = [plan.proportional_error for plan in plans]
    made, axes = figure(5.6, 3.8)
    axes.plot(epsilons, alike, color=ORANGE, marker="x", label="all budgets scaled alike")
    axes.plot(epsilons, ours, color=BLUE, marker="o", label="shared at best")
    threshold = float(plans[0].threshold)
    if epsilons[0] <= threshold <= epsilons[-1]:
        axes.axvline(threshold, color=GREY, linestyle=":")
        axes.annotate(
            "from here every attribute\ngets its whole budget",
            (threshold, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0),
            textcoords="offset points",
            color=GREY,
            va="top",
        )
    for plan in plans:
        if plan.epsilon == chosen:
            own = (float(plan.epsilon), plan.error)
            axes.plot(*own, color=BLUE, marker="o", markersize=12, fillstyle="none")
            axes.annotate("chosen", own, (0, -16), textcoords="offset points", ha="center")
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_log(axes.yaxis)
    plain_log(axes.xaxis)
    axes.set_xlabel("epsilon of the provider")
    axes.set_ylabel(_GOALS.get(plans[0].goal, "error"))
    axes.legend(frameon=False)
    best = max(plans, key=lambda plan: plan.advantage)
    says = (
        f"Scaling all budgets alike costs up to {best.advantage:.3g} times the error, at epsilon "
        f"{float(best.epsilon):g}; from {threshold:.3g} on nothing is lost."
    )
    return svg(made, says=says)
