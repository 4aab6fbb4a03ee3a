"""``python -m experiments.dampening.tree``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one thread, the same sums

from experiments.dampening.tree import ablation, facts, peer, plots, report, runs
from experiments.dampening.tree.datasets import FULL, QUICK, Scale, load
from experiments.dampening.tree.results import Pool, Results
from experiments.dampening.tree.statements import judged
from experiments.harness import Experiment, parser, progress, tell_skipped

HERE = Path(__file__).parent
NAME = "experiments.dampening.tree"


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    options = parser(
        NAME,
        "Figure 3 of the paper on local dampening: decision trees.",
        data="nltcs/",
        out="trees.json and figures",
    )
    options.add_argument(
        "--diffprivlib",
        metavar="PYTHON",
        default=os.environ.get(peer.VARIABLE),
        help=f"an interpreter that has diffprivlib (default: {peer.VARIABLE})",
    )
    asked = options.parse_args(arguments)
    scale = QUICK if asked.quick else FULL
    return EXPERIMENT.run(
        asked,
        partial(run, asked.data, scale, quick=asked.quick, python=asked.diffprivlib),
        lambda result: report.markdown(result, scale),
    )


def run(folder: Path | None, scale: Scale, *, quick: bool, python: str | None) -> dict[str, Any]:
    """All figures, comparisons and verdicts as plain data."""
    everything, skipped = load(folder, scale)
    pool = Pool()
    progress("facts")
    facts.run(pool, everything)
    for data in everything:
        runs.run(pool, data, scale)
    for data in everything:
        ablation.run(pool, data, scale, quick=quick)
    skipped += peer.run(pool, everything, scale, python)
    tell_skipped(skipped, quick=quick)
    result: dict[str, Any] = {
        "size": "quick" if quick else "full",
        "private": False,  # seeded sources, public data
        "data": [data.name for data in everything],
        "sizes": {data.name: [len(data.y), data.rows, data.target] for data in everything},
        "depths": list(scale.depths),
        "epsilons": list(scale.epsilons),
        "tabled": list(scale.tabled),
        "skipped": skipped,
        "rows": [row.plain() for row in pool.rows],
        "findings": {},
    }
    return result | {"verdicts": judged(Results(result))}


def kept(result: dict[str, Any]) -> set[str]:
    """What is compared with expected.json: accuracies and facts, not differences of accuracies."""
    named = {row["figure"] for row in result["rows"]}
    first = ("accuracy", "no noise", ablation.ACCURACY, facts.FACT)
    return {name for name in named if name.startswith(first)}


EXPERIMENT = Experiment(
    module=NAME,
    page="trees",
    expected=HERE / "expected.json",
    value="value",
    kept=kept,
    table=Results,
    draw=plots.draw_all,
)

if __name__ == "__main__":
    sys.exit(main())
