"""``python -m experiments.heterogeneous``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one thread, the same sums

from experiments.harness import Experiment, parser, progress, tell_skipped
from experiments.heterogeneous import claims, equal_loss, figures, report
from experiments.heterogeneous.datasets import FULL, QUICK, Scale, load
from experiments.heterogeneous.results import Pool, Row
from experiments.heterogeneous.statements import judged

HERE = Path(__file__).parent
EVERYBODY = 10**9
KEPT = ("1", "2", "3", "4", "5", "recall", "NDCG@20")


def _nothing(_rows: list[dict[str, Any]], _folder: Path) -> dict[str, str]:
    """Its page has tables only."""
    return {}


EXPERIMENT: Experiment[list[dict[str, Any]]] = Experiment(
    module="experiments.heterogeneous",
    page="heterogeneous",
    expected=HERE / "expected.json",
    value="value",
    kept=lambda _: KEPT,
    table=lambda result: result["rows"],
    draw=_nothing,
)


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    asked = parser(
        "experiments.heterogeneous",
        "Figures 1 to 5 of the paper on heterogeneous differential privacy.",
        data="movielens-100k/ and lastfm-2k/",
        out="heterogeneous.json",
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
    tell_skipped(skipped, quick=quick)
    pool, costs = Pool(), []
    most = scale.people if quick else EVERYBODY
    for data in sets:
        for figure in (figures.slices, figures.groups, figures.alphas):
            progress(f"{data.name}: {figure.__name__}")
            figure(pool, data, scale)
        progress(f"{data.name}: equal total loss")
        equal_loss.at_totals(pool, data, scale, most)
        progress(f"{data.name}: equal loss per comparison")
        costs += equal_loss.at_epsilons(pool, data, scale, most)
    rows = list(pool.rows())
    names = [data.name for data in sets]
    result: dict[str, Any] = {
        "size": "quick" if quick else "full",
        "private": False,  # seeded sources, public data
        "data": names,
        "people": {data.name: min(most, len(data.profiles)) for data in sets},
        "skipped": skipped,
        "rows": [row.plain() for row in rows],
        "costs": [asdict(cost) for cost in costs],
        "differences": list(_differences(pool, rows)),
        "statements": judged(rows, names),
        "findings": {},
    }
    return result | {"verdicts": claims.judged(result)}


def _differences(pool: Pool, rows: list[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row.figure in ("recall", "recall@20", "NDCG@20") and row.series.startswith("sketch"):
            mean = pool.differences((row.figure, row.data, row.series, row.x), "paper")
            at = row.x + row.series.removeprefix("sketch")
            yield {"data": row.data, "x": at, "measure": row.figure} | asdict(mean)


if __name__ == "__main__":
    sys.exit(main())
