"""Ways to choose nodes, a person or a number, by budget, on public or made-up data.

Theory    docs/theory/dampening.md, docs/theory/percentile.md, Theorem 1
Notation  as in mechanisms/comparison.py
Not here  the comparison of nodes itself (mechanisms/comparison.py), the expected error of a
          percentile (percentile.py).

Figures are computed from the data without noise: they are private if the data are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data.graphs import Graph
from reticent.mechanisms.comparison import Compared, at_random, compare
from reticent.mechanisms.comparison import ways as ways_of
from reticent.mechanisms.exponential import Exponential
from reticent.mechanisms.permute_and_flip import PermuteAndFlip
from reticent.mechanisms.top_dampened import TopDampened
from reticent.noise import Source
from reticent.rational import Number, budget, positive
from reticent.tasks.comparing import Curves, Point, Progress, chosen_ways, seeds
from reticent.tasks.influence import Influence
from reticent.tasks.percentile import (
    expected_error,
    expected_quantile_error,
    percentile_mechanism,
    percentile_scored,
    quantile_mechanism,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

QUANTILE_WAYS = (Exponential.name, PermuteAndFlip.name)
"""The first is what a release does."""
DEGREE = "degree"
"""What other ways must beat: nodes of highest degree, which is as sensitive everywhere."""


def influencer_ways(influence: Influence) -> tuple[str, ...]:
    """The ways in which these nodes can be looked for."""
    own = tuple(ways_of(influence.mechanism))
    return own if influence.centrality == "degree" else (*own, DEGREE)


def influencer_curves(
    graph: Graph,
    influence: Influence,
    *,
    what: str,
    epsilons: Sequence[Number],
    runs: int,
    source: Source,
    ways: Collection[str] | None = None,
    looking: Callable[[float], object] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """The share of the best nodes of the whole graph that each way finds.

    ``looking`` is told how much of the scoring is done, ``progress`` each way at each budget.
    """
    asked = chosen_ways(influencer_ways(influence), ways)
    sizes = sorted({budget(epsilon, "epsilon") for epsilon in epsilons})
    data = influence.scored(graph, looking)
    truth = data.utilities
    if influence.price != 1:  # links beyond the bound were dropped; the best are those of all
        truth = replace(influence, within=True).scored(graph, looking).utilities
    chance = at_random(np.nan_to_num(np.asarray(truth, dtype=np.float64)), influence.k)
    given: dict[str, Any] = {"epsilons": sizes, "runs": runs, "truth": truth}
    given["progress"] = progress
    (draw,) = seeds(source, 1)  # degrees get the same streams as the others
    found: list[Compared] = []
    own = [way for way in asked if way != DEGREE]
    if own:
        given["source"] = Source.seeded(draw)
        found += compare(data, influence.mechanism, only=own, **given)
    if DEGREE in asked:
        other, given["source"] = replace(influence, centrality="degree"), Source.seeded(draw)
        plain = compare(other.scored(graph), other.mechanism, only=["permute-and-flip"], **given)
        found += [replace(row, way=DEGREE) for row in plain]
    return Curves(
        what=what,
        x="epsilon",
        y="share of the best that is found",
        better="higher",
        rows=[_found(row) for row in found],
        runs=max(row.runs for row in found),
        reference=chance,
        reference_name="a choice at random",
        more={
            "nodes": graph.size,
            "k": influence.k,
            "centrality": influence.centrality,
            "bound": influence.bound,
            "within": influence.within,
            "chance": chance,
        },
        share=True,
    )


def _found(row: Compared) -> Point:
    ends = {"low": row.low, "high": row.high} if row.runs else {}
    more = {"epsilon": row.epsilon, "overlap": row.overlap, "loss": row.loss, "runs": row.runs}
    return Point(way=row.way, x=row.epsilon, value=row.overlap, more=more, **ends)


def percentile_ways() -> tuple[str, ...]:
    """The ways in which a person at a rank can be chosen."""
    return tuple(ways_of(TopDampened(whole=percentile_mechanism(1, 2, 1), k=1)))


def percentile_curves(
    values: ArrayLike,
    p: float,
    *,
    upper: Number,
    epsilons: Sequence[Number],
    ways: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """By how much the value of the chosen person is expected to be off, from the law of each way.

    >>> curves = percentile_curves([1, 2, 3, 4, 90], 0.5, upper=100, epsilons=[1, 1000])
    >>> [round(curves.at(way, 1000).value, 3) for way in ("exponential", "permute-and-flip")]
    [0.013, 0.007]
    """
    asked = chosen_ways(percentile_ways(), ways)
    held = np.asarray(values, dtype=np.float64)
    most = positive(upper, "upper")
    rows = []
    for epsilon in sorted({budget(epsilon, "epsilon") for epsilon in epsilons}):
        one = TopDampened(whole=percentile_mechanism(epsilon, len(held), most), k=1)
        made = ways_of(one)
        for way in asked:
            if progress is not None:
                progress(f"{way} at epsilon {float(epsilon):g}")
            error = expected_error(held, p, upper=float(most), mechanism=made[way].whole)
            more = {"epsilon": float(epsilon), "rank": error.rank}
            rows.append(Point(way=way, x=float(epsilon), value=error.value, more=more))
    return Curves(
        what=f"the person at {p:.12g} of {len(held):,}",
        x="epsilon",
        y="expected absolute error in value",
        better="lower",
        rows=rows,
        reference=_at_random(held, p, float(most)),
        reference_name="a person at random",
        more={"p": p, "people": len(held), "upper": float(most)},
    )


def quantile_curves(
    values: ArrayLike,
    q: Fraction,
    *,
    lower: Number,
    upper: Number,
    step: Number,
    epsilons: Sequence[Number],
    ways: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """By how much a number near a quantile is expected to be off, from the law of each choice.

    >>> given = {"lower": 0, "upper": 100, "step": 1, "epsilons": [4]}
    >>> curves = quantile_curves([10, 20, 30, 40, 90], Fraction(1, 2), **given)
    >>> [round(curves.at(way, 4).value, 1) for way in QUANTILE_WAYS]
    [10.8, 10.1]
    """
    asked = chosen_ways(QUANTILE_WAYS, ways)
    grid: dict[str, Any] = {"lower": lower, "upper": upper, "step": step}
    rows = []
    for epsilon in sorted({budget(epsilon, "epsilon") for epsilon in epsilons}):
        one = quantile_mechanism(epsilon, **grid)
        own = {name: getattr(one, name) for name in ("candidates", "sensitivity", "unit")}
        for way in asked:
            if progress is not None:
                progress(f"{way} at epsilon {float(epsilon):g}")
            law = one if way == one.name else PermuteAndFlip(epsilon=epsilon, **own)
            error = expected_quantile_error(values, q, **grid, mechanism=law)
            more = {"epsilon": float(epsilon), "rank": error.rank}
            rows.append(Point(way=way, x=float(epsilon), value=error.value, more=more))
    people = len(np.asarray(values))
    return Curves(
        what=f"a number near the {float(q):.12g} quantile of {people:,} values",
        x="epsilon",
        y="expected absolute error in value",
        better="lower",
        rows=rows,
        more={"q": float(q), "people": people, "step": float(Fraction(step))},
    )


def _at_random(values: Any, p: float, upper: float) -> float:
    """The expected error of a person chosen blindly."""
    utilities = np.asarray(percentile_scored(values, p, upper).utilities, dtype=np.float64)
    return float(-utilities.mean())
