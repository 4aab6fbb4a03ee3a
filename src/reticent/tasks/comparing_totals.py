"""The error of counts and sums by category, released together or one by one, before any data.

Theory    docs/theory/discrete-laplace.md, Theorem 2 (error), Theorem 3 (a bound on records)
Notation  K = categories, E|Z| = mean absolute error of one total
Not here  the mechanism (mechanisms/totals.py).

A record is in one category, so all totals together lose what one of them does. Who overlooks that
shares the budget among them, and has K times the noise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from reticent.mechanisms.totals import Totals
from reticent.rational import Number, budget
from reticent.tasks.comparing import Curves, Point, chosen_ways

TOGETHER, ONE_BY_ONE = "together", "one-by-one"
WAYS = (TOGETHER, ONE_BY_ONE)
"""The first is what a release does."""


def totals_curves(
    totals: Totals, *, epsilons: Sequence[Number], ways: Collection[str] | None = None
) -> Curves:
    """The mean absolute error of a total, by how the budget is used.

    >>> curves = totals_curves(Totals(epsilon=1, size=4), epsilons=[1])
    >>> [round(row.value, 2) for row in curves.rows]
    [0.85, 3.96]
    """
    asked = chosen_ways(WAYS, ways)
    rows = []
    for epsilon in sorted({budget(epsilon, "epsilon") for epsilon in epsilons}):
        for way in asked:
            share = Fraction(1, totals.size) if way == ONE_BY_ONE else Fraction(1)
            error = replace(totals, epsilon=epsilon * share).utility().mean_absolute_error
            rows.append(Point(way=way, x=float(epsilon), value=error or 0.0))
    kind = "count" if totals.counts else "sum"
    return Curves(
        what=f"a {kind} in each of {totals.size:,} categories",
        x="epsilon",
        y=f"mean absolute error of a {kind}",
        better="lower",
        rows=rows,
        more={"categories": totals.size, "records": totals.records},
    )
