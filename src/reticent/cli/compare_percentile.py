"""``reticent compare percentile``: how far off each way is, at each budget.

Not here  the expected error (tasks/percentile.py), releases (select_percentile.py).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from reticent.cli.compare import (
    EpsilonsOption,
    PlotFile,
    PublicFlag,
    budgets,
    by_budget,
    check_public,
)
from reticent.cli.files import write_atomically
from reticent.cli.output import Json, progress, say, say_json, talk
from reticent.cli.select_values import (
    ColumnOption,
    POption,
    UpperOption,
    Values,
    ValuesFile,
    check_rank,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from reticent.mechanisms.dampening import Dampened

FROM_TENTH_TO_TEN = "0.1,0.2,0.5,1,2,5,10"


def percentile(
    context: typer.Context,
    path: ValuesFile,
    upper: UpperOption,
    public: PublicFlag = False,
    p: POption = 0.5,
    column: ColumnOption = None,
    epsilons: EpsilonsOption = FROM_TENTH_TO_TEN,
    plot: PlotFile = None,
    as_json: Json = False,
) -> None:
    """How far off the value of the chosen person is expected to be, on a public table.

    Expected absolute errors, computed from the law of each way, so without runs and intervals.
    """
    from reticent.rational import positive
    from reticent.tasks.percentile import expected_error

    check_public(context, public, plot)
    check_rank(p)
    sizes, most = budgets(epsilons), positive(upper, "upper")
    values = Values.read(path, column, None)
    found, given = [], {"upper": float(most)}
    with progress(4 * len(sizes)) as advance:
        for size, way, mechanism in _ways(sizes, len(values), most):
            advance(f"{way} at epsilon {float(size):g}")
            error = expected_error(values.held, p, mechanism=mechanism, **given)
            found.append({"way": way, "epsilon": float(size), **asdict(error)})
    what = f"the person at {p:.12g} of {len(values):,}"
    if plot is not None:
        from reticent.report.selection_figures import ErrorAt, error_figure

        drawn = [ErrorAt(row["way"], row["epsilon"], row["value"]) for row in found]
        write_atomically(plot, error_figure(drawn, what=what))
    if as_json:
        facts = {"p": p, "people": len(values), "upper": float(most)}
        say_json("compare-percentile/1", **facts, rows=found)
        return
    say(f"Expected absolute error in value, looking for {what}")
    say()
    ways = list(dict.fromkeys(row["way"] for row in found))
    cells = {(row["way"], row["epsilon"]): f"{row['value']:.4g}" for row in found}
    for line in by_budget(cells, ways, [float(size) for size in sizes]):
        say(line)
    talk("computed from the law of each way: there is nothing to draw")
    if plot is not None:
        talk(f"figure: {plot}")


def _ways(
    epsilons: Sequence[Fraction], people: int, upper: Fraction
) -> Iterator[tuple[Fraction, str, Dampened]]:
    from reticent.mechanisms.comparison import ways
    from reticent.mechanisms.top_dampened import TopDampened
    from reticent.tasks.percentile import percentile_mechanism

    for epsilon in epsilons:
        one = TopDampened(whole=percentile_mechanism(epsilon, people, upper), k=1)
        for way, made in ways(one).items():
            yield epsilon, way, made.whole
