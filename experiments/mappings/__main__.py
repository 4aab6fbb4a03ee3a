"""``python -m experiments.mappings``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one thread, the same sums
os.environ.setdefault("OMP_NUM_THREADS", "1")

from experiments.harness import Experiment, parser, progress, tell_skipped
from experiments.mappings import anatomy, attacks, curves, plots, priors, report, solvers
from experiments.mappings.datasets import (
    FULL,
    QUICK,
    Instance,
    Scale,
    adult,
    adult_sample,
    film_like,
    load_films,
    synthetic,
)
from experiments.mappings.results import Pool, Results
from experiments.mappings.statements import judged

HERE = Path(__file__).parent
KEPT = (
    "untouched",
    "times",
    "perfect privacy",
    "by length",
    "gradient",
    "sampled",
    "AUC",
    "halves",
    "shifted",
    "kept",
    "by rank",
    "support",
    "features",
)

EXPERIMENT = Experiment(
    module="experiments.mappings",
    page="mappings",
    expected=HERE / "expected.json",
    value="value",
    kept=lambda _: KEPT,
    table=Results,
    draw=plots.draw_all,
)


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    asked = parser(
        "experiments.mappings",
        "Figures 1 to 7 and Table 1 of the paper on sparse privacy-preserving mappings.",
        data="movielens-1m/",
        out="mappings.json and figures",
    ).parse_args(arguments)
    scale = QUICK if asked.quick else FULL
    return EXPERIMENT.run(
        asked,
        partial(run, asked.data, scale, quick=asked.quick),
        lambda result: report.markdown(result, scale),
    )


def run(folder: Path | None, scale: Scale, *, quick: bool) -> dict[str, Any]:
    """All figures, comparisons and verdicts as plain data."""
    films, skipped = load_films(folder, quick=quick)
    tell_skipped(skipped, quick=quick)
    census, sample = adult(), adult_sample()
    pool = Pool()
    pictures = _example(pool, census, scale)
    _trade_offs(pool, (census, sample, films), scale, quick=quick)
    _anatomy(pool, (census, sample, films), scale, quick=quick)
    progress("attackers")
    limits: dict[str, Any] = {
        "most": scale.people,
        "papers": not quick,
    }
    rocs = attacks.run(pool, census, scale.census_attacks, **limits)
    rocs += attacks.run(pool, films, scale.film_attacks, **limits)
    _laws(pool, (census, films), scale, quick=quick)
    result: dict[str, Any] = {
        "size": "quick" if quick else "full",
        "private": False,  # seeded sources, public data
        "data": {"census": census.name, "sample": sample.name, "films": films.name},
        "skipped": skipped,
        "rows": [row.plain() for row in pool.rows],
        "pictures": pictures,
        "rocs": rocs,
        "findings": {},
    }
    return result | {"verdicts": judged(Results(result))}


def _example(pool: Pool, census: Instance, scale: Scale) -> list[list[list[float]]]:
    """The paper's example and its algorithm."""
    progress("the example")
    solvers.gradients(pool)
    solvers.by_length(pool, scale.length, scale.shares, scale.steps)
    for bits in scale.excess:
        solvers.excess(pool, synthetic(bits), 4.0**bits / 64)
    for delta in scale.census_excess:
        solvers.excess(pool, census, delta)
    progress("running time")
    solvers.times(pool, scale.sizes, scale.papers, scale.general, scale.peers)
    solvers.cubes(pool, scale.cubes, scale.cube_peers)
    anatomy.by_rank(pool, 6)
    return anatomy.pictures(pool, 6)


def _trade_offs(
    pool: Pool, cases: tuple[Instance, Instance, Instance], scale: Scale, *, quick: bool
) -> None:
    census, sample, films = cases
    progress("trade-offs")
    ladder = curves.ladder(0.13, scale.points)
    curves.run(pool, census, ladder, perfect=not quick)
    curves.run(pool, sample, ladder, perfect=not quick)
    curves.run(pool, films, curves.ladder(0.14 if quick else 0.06, scale.points))
    for delta in (0.02, 0.05):
        solvers.peers(pool, census, delta, 1e-2)
    if not quick:
        progress("the whole census")
        curves.run(pool, adult(None), (0.02, 0.05), every=2)


def _anatomy(
    pool: Pool, cases: tuple[Instance, Instance, Instance], scale: Scale, *, quick: bool
) -> None:
    census, sample, films = cases
    progress("features and supports")
    anatomy.by_feature(pool, census, 0.05)
    anatomy.by_feature(pool, sample, 0.05)
    anatomy.by_feature(pool, films, 0.02)
    anatomy.sampled(pool, 300, scale.draws)
    anatomy.supports(pool, films, (0.01, 0.02, 0.03))
    if not quick:
        anatomy.supports(pool, film_like(), (0.01, 0.02, 0.03))
    anatomy.beyond_average(pool, census, 0.05, scale.releases)


def _laws(pool: Pool, cases: tuple[Instance, Instance], scale: Scale, *, quick: bool) -> None:
    census, films = cases
    progress("other people")
    priors.halves(pool, census, 0.05, scale.splits)
    priors.shifted(pool, census, 0.05, "sex")
    if not quick and films.counts is not None:
        priors.halves(pool, films, 0.02, scale.splits)
        priors.shifted(pool, films, 0.02, None)
    if not quick:
        priors.halves(pool, adult(None), 0.02, 1, gap=1e-2)


if __name__ == "__main__":
    sys.exit(main())
