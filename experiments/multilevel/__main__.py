"""``python -m experiments.multilevel``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one thread, the same sums

from experiments.harness import Experiment, parser, progress, tell_skipped
from experiments.multilevel import beyond, case_study, plots, report, stars, timing, utility
from experiments.multilevel.datasets import FULL, QUICK, Dataset, Scale, load, load_check
from experiments.multilevel.results import Pool
from experiments.multilevel.statements import as_table, judged

HERE = Path(__file__).parent
KEPT = (
    "advantage, simplex",
    "advantage, shares",
    "excess MAE, simplex",
    "KL, simplex",
    "lattice",
    "post-processing gain",
    "recall@20",
    "NDCG@20",
    "stars",
)

EXPERIMENT = Experiment(
    module="experiments.multilevel",
    page="multilevel",
    expected=HERE / "expected.json",
    value="mean",
    kept=lambda _: KEPT,
    table=as_table,
    draw=plots.draw_all,
)


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    asked = parser(
        "experiments.multilevel",
        "Figures 2 to 4 and the case study of the paper on multi-level controls.",
        data="movielens-1m/",
        out="multilevel.json and figures",
    ).parse_args(arguments)
    scale = QUICK if asked.quick else FULL
    return EXPERIMENT.run(
        asked,
        partial(run, asked.data, scale, quick=asked.quick),
        lambda result: report.markdown(result, scale),
    )


def run(folder: Path | None, scale: Scale, *, quick: bool) -> dict[str, Any]:
    """All figures, comparisons and verdicts as plain data."""
    sets, skipped = load(folder, quick=quick)
    pool, costs = Pool(scale.draws), []
    for data in sets:
        progress(f"{data.name}: utility")
        utility.run(pool, data, scale)
        progress(f"{data.name}: running time")
        costs += timing.run(data, scale)
        progress(f"{data.name}: whole numbers")
        beyond.lattice(pool, data, scale)
    check, without = ([], []) if quick else load_check(folder)
    skipped += without
    for films in (sets[0], *check):
        skipped += _on_films(pool, films, scale)
    tell_skipped(skipped, quick=quick)
    result: dict[str, Any] = {
        "size": "quick" if quick else "full",
        "private": False,  # seeded sources, public data
        "data": [data.name for data in sets],
        "checked": [data.name for data in check],
        "skipped": skipped,
        "rows": [row.plain() for row in pool.rows],
        "costs": [asdict(cost) for cost in costs],
        "findings": {},
    }
    return result | {"verdicts": judged(as_table(result))}


def _on_films(pool: Pool, films: Dataset, scale: Scale) -> list[str]:
    """What needs profiles; a sentence for what is left out."""
    progress(f"{films.name}: post-processing")
    beyond.post_processing(pool, films, scale)
    if films.stars is not None:
        stars.run(pool, films, scale.tested)
    als = case_study.library()
    if als is None:
        missing = "implicit is not installed; pip install 'reticent[experiments]'"
        return [f"case study on {films.name}: {missing}"]
    progress(f"{films.name}: case study")
    case_study.run(pool, films, scale, als)
    return []


if __name__ == "__main__":
    sys.exit(main())
