"""A planned or released histogram as text, as JSON and as a table in a file.

Not here  the commands (histogram.py), pictures (report/histogram_figures.py).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.amounts import nano_up, show_nano, show_up
from reticent.cli.output import table
from reticent.guarantees.card_facts import printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reticent.data.profiles import Profiles
    from reticent.mechanisms.multilevel_plan import HistogramPlan


def plan_lines(made: HistogramPlan, withheld: Sequence[str], provider: str) -> list[str]:
    """A plan in words, as a table, and what the budget is worth."""
    from reticent.guarantees.card import right_at_most

    loss = made.mechanism.guarantee()
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
    odds = right_at_most(loss.overall)
    full = ", for an item of weight 1" if made.mechanism.exposure.weighted else ""
    return [
        f"Histogram for {provider}: {len(made.attributes)} of "
        f"{len(made.attributes) + len(withheld)} attributes",
        f"Who sees all of it and was undecided about {loss.unit.question} can be right at most "
        f"{odds} times in 100{full}.",
        "",
        *table(heads, rows),
        "",
        f"cost       epsilon {show_nano(loss.overall)} of {show_nano(nano_up(made.epsilon))}",
        *_worth(made),
    ]


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


def plan_fields(made: HistogramPlan, withheld: Sequence[str]) -> dict[str, Any]:
    """A plan for JSON."""
    mechanism = made.mechanism
    return {
        "goal": made.goal,
        "epsilon": show_nano(nano_up(made.epsilon)),
        "loss": show_nano(mechanism.guarantee().overall),
        "threshold": float(made.threshold),
        "error": made.error,
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


def named(made: HistogramPlan, values: Any) -> dict[str, float]:
    """Released numbers by attribute."""
    return dict(zip(made.attributes, map(float, values), strict=True))


def released_lines(made: HistogramPlan, values: Any) -> list[str]:
    """One person's released numbers as a table."""
    errors = made.mechanism.within_95()
    rows = [
        (printable(name), f"{float(value):.6g}", f"± {show_up(float(error))}")
        for name, value, error in zip(made.attributes, values, errors, strict=True)
    ]
    moved = "before moving, " if made.mechanism.together else ""
    return table(("attribute", "released ", f"{moved}95 times in 100 within "), rows)


def table_file(
    attributes: Sequence[str], values: NDArray[np.float64], profiles: Profiles, out: Path
) -> str | bytes:
    """Everybody's histogram as a file: a column for the person and one per attribute."""
    if out.suffix == ".csv":
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(("person", *attributes))
        for name, row in zip(profiles.people, values.tolist(), strict=True):
            lines.writerow((name, *row))
        return text.getvalue()
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = [arrow.array(profiles.people, arrow.string())]
    columns += [arrow.array(column) for column in values.T]
    held = io.BytesIO()
    parquet.write_table(arrow.table(columns, names=["person", *attributes]), held)
    return held.getvalue()
