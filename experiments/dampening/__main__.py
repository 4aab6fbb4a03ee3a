"""``python -m experiments.dampening``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one thread, the same sums

from experiments.dampening import counterexamples, influence, percentile, plots, report, scalability
from experiments.dampening.datasets import FULL, QUICK, Scale, load
from experiments.dampening.results import Pool, Results
from experiments.dampening.statements import judged
from experiments.harness import Experiment, parser, progress, tell_skipped

HERE = Path(__file__).parent
KEPT = (
    "overlap, k = 10",
    "focus",
    "correlation",
    "without noise",
    "value error, p = 0.5",
    "rank error, p = 0.5",
    "one score moves",
    "loss",
    "chance of the best",
)

EXPERIMENT = Experiment(
    module="experiments.dampening",
    page="dampening",
    expected=HERE / "expected.json",
    value="value",
    kept=lambda _: KEPT,
    table=Results,
    draw=plots.draw_all,
)


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    asked = parser(
        "experiments.dampening",
        "Figure 2 of the paper on local dampening, percentiles and running time.",
        data="email-enron/, musae-github/, ca-GrQc/ and dpbench/",
        out="dampening.json and figures",
    ).parse_args(arguments)
    scale = QUICK if asked.quick else FULL
    return EXPERIMENT.run(
        asked,
        partial(run, asked.data, scale, quick=asked.quick),
        lambda result: report.markdown(result, scale),
    )


def run(folder: Path | None, scale: Scale, *, quick: bool) -> dict[str, Any]:
    """All figures, comparisons and verdicts as plain data."""
    networks, people, skipped = load(folder, quick=quick)
    tell_skipped(skipped, quick=quick)
    pool = Pool()
    progress("counterexamples")
    counterexamples.run(pool)
    bounds = influence.run(pool, networks, scale)
    progress("percentiles")
    percentile.run(pool, people, scale)
    scalability.run(pool, scale)
    result: dict[str, Any] = {
        "size": "quick" if quick else "full",
        "private": False,  # seeded sources, public data
        "networks": [network.name for network in networks],
        "sizes": {
            network.name: [network.graph.size, network.graph.n_edges, network.largest]
            for network in networks
        },
        "people": [some.name for some in people],
        "ks": list(scale.ks),
        "bounds": bounds,
        "skipped": skipped,
        "rows": [row.plain() for row in pool.rows],
        "findings": {},
    }
    return result | {"verdicts": judged(Results(result))}


if __name__ == "__main__":
    sys.exit(main())
