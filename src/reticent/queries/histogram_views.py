"""A planned or released histogram as text and as JSON.

Not here  the query (histogram.py), pictures (report/histogram_figures.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reticent.amounts import nano_up, show_nano, show_up
from reticent.guarantees.card_facts import printable
from reticent.layout import table
from reticent.queries.plans import Details

if TYPE_CHECKING:
    from reticent.mechanisms.multilevel_plan import HistogramPlan


_SHARING = ("0.05", "0.1", "0.2", "0.4", "0.8", "1.6")  # epsilons of the picture


def details(made: HistogramPlan, withheld: Sequence[str], provider: str) -> Details:
    """Budget, loss and error of each attribute, and what the provider's budget is worth."""
    errors, alike = made.mechanism.within_95(), made.proportional.within_95()
    rows = [
        (
            printable(name),
            show_nano(nano_up(t)),
            show_nano(nano_up(spent)),
            f"± {show_up(float(error))}",
            f"± {show_up(float(other))}",
        )
        for name, t, spent, error, other in zip(
            made.attributes, made.budgets, made.spent, errors, alike, strict=True
        )
    ]
    rows += [(printable(name), "withheld", "", "", "") for name in withheld]
    heads = ("attribute", "budget ", "spent ", "95 times in 100 within ", "if scaled alike ")
    return Details(
        heads, tuple(rows), tuple(_worth(made)), {"provider": provider, **_fields(made, withheld)}
    )


def _worth(made: HistogramPlan) -> list[str]:
    """What the provider's budget costs in accuracy, and what sharing it well saves."""
    threshold = show_nano(nano_up(made.threshold))
    if made.nothing_lost:
        return [f"threshold  {threshold}: every attribute gets its whole budget"]
    worth = float(made.epsilon) * made.price / made.error  # per cent for per cent
    near = show_up(max(made.gap, 2.0**-50), 1)
    proved = [
        f"worth      1 % more epsilon would cut the {made.goal} by {worth:.2g} %",
        f"certified  within {near} of the least possible {made.goal}",
    ]
    less = show_up(100 * made.gap, 2)
    unproved = [f"unproved   the least possible {made.goal} may be {less} % less"]
    return [
        f"threshold  from epsilon {threshold} on, every attribute would get its whole budget",
        f"sharing    budgets scaled alike would give {made.advantage:.3g} times the {made.goal}",
        *(proved if made.certified else unproved),
    ]


def _fields(made: HistogramPlan, withheld: Sequence[str]) -> dict[str, Any]:
    mechanism = made.mechanism
    return {
        "goal": made.goal,
        "allowed_epsilon": show_nano(nano_up(made.epsilon)),
        "threshold": float(made.threshold),
        "mean_error": made.error,
        "proportional_error": made.proportional_error,
        "advantage": made.advantage,
        "price": made.price,
        "gap": made.gap,
        "attributes": {
            name: {
                "budget": show_nano(nano_up(t)),
                "spent": show_nano(nano_up(spent)),
                "scale": float(scale),
                "mean_absolute_error": float(mean),
                "within_95": float(within),
                "price": float(price),
            }
            for name, t, spent, scale, mean, within, price in zip(
                made.attributes,
                made.budgets,
                made.spent,
                mechanism.scales,
                mechanism.mean_absolute_errors(),
                mechanism.within_95(),
                made.cap_prices,
                strict=True,
            )
        },
        "withheld": list(withheld),
    }


def shared_plans(made: HistogramPlan) -> list[HistogramPlan]:
    """The plans of other epsilons, for the picture of the error against epsilon."""
    from reticent.mechanisms.multilevel_plan import plan_histogram

    exposure, catalogue = made.mechanism.exposure, made.mechanism.catalogue
    assert catalogue is not None  # noqa: S101, a query's plan has its catalogue
    return [
        plan_histogram(
            catalogue,
            budgets=dict(zip(made.attributes, made.budgets, strict=True)),
            epsilon=epsilon,
            goal=made.goal,  # type: ignore[arg-type]
            weighted=exposure.weighted,
            unit=exposure.unit,
        )
        for epsilon in sorted({*map(Fraction, _SHARING), made.threshold, made.epsilon})
    ]


def released_lines(made: HistogramPlan, values: Mapping[str, float]) -> list[str]:
    """One person's released numbers as a table."""
    errors = made.mechanism.within_95()
    rows = [
        (printable(name), f"{value:.6g}", f"± {show_up(float(error))}")
        for (name, value), error in zip(values.items(), errors, strict=True)
    ]
    moved = "before moving, " if made.mechanism.together else ""
    return table(("attribute", "released ", f"{moved}95 times in 100 within "), rows)
