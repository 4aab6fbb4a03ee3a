"""``python -m experiments.dampening``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one thread, the same sums

from experiments import harness
from experiments.dampening import counterexamples, influence, percentile, plots, report, scalability
from experiments.dampening.datasets import FULL, QUICK, Scale, load
from experiments.dampening.results import Pool, Results
from experiments.dampening.statements import judged
from experiments.harness import parser, progress, tell, write_results

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "papers"
EXPECTED = HERE / "expected.json"
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


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    asked = parser(
        "experiments.dampening",
        "Figure 2 of the paper on local dampening, percentiles and running time.",
        data="email-enron/, musae-github/, ca-GrQc/ and dpbench/",
        out="dampening.json and figures",
    ).parse_args(arguments)
    scale = QUICK if asked.quick else FULL
    started = time.process_time()
    result = run(asked.data, scale, quick=asked.quick)
    result["seconds"] = time.process_time() - started
    result["command"] = "python -m experiments.dampening --data DIR"
    docs = not asked.quick and not asked.no_docs and not result["skipped"]
    for folder in (asked.out, DOCS / "dampening" if docs else None):
        if folder is not None:
            result["findings"] = plots.draw_all(Results(result), folder)
    if asked.out is not None:
        (asked.out / "dampening.json").write_text(json.dumps(result, indent=1))
    text = report.markdown(result, scale)
    if docs:
        write_results(DOCS / "dampening.md", "experiments.dampening", text)
    sys.stdout.write(json.dumps(result) + "\n" if asked.json else text)
    if asked.accept:
        harness.accept(EXPECTED, result, "value", KEPT)
    wrong = list(unexpected(result))
    sys.stderr.writelines(f"{sentence}\n" for sentence in wrong)
    return 1 if wrong else 0


def run(folder: Path | None, scale: Scale, *, quick: bool) -> dict[str, Any]:
    """All figures, comparisons and verdicts as plain data."""
    networks, people, skipped = load(folder, quick=quick)
    for sentence in skipped:
        tell(f"skipped: {sentence}")
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


def unexpected(result: dict[str, Any]) -> Iterator[str]:
    """What differs from expected.json by more than its tolerance."""
    return harness.unexpected(EXPECTED, result, "value")


if __name__ == "__main__":
    sys.exit(main())
