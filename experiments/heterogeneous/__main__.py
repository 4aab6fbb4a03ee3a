"""``python -m experiments.heterogeneous``: run, compare with what is expected, write the docs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.harness import parser, write_results
from experiments.heterogeneous import equal_loss, figures, report
from experiments.heterogeneous.datasets import FULL, QUICK, Scale, load
from experiments.heterogeneous.results import Pool, Row
from experiments.heterogeneous.statements import judged

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "papers" / "heterogeneous.md"
EXPECTED = HERE / "expected.json"
EVERYBODY = 10**9


def main(arguments: list[str] | None = None) -> int:
    """Run everything; 1 if a figure is not as expected."""
    asked = parser(
        "experiments.heterogeneous",
        "Figures 1 to 5 of the paper on heterogeneous differential privacy.",
        data="movielens-100k/ and lastfm-2k/",
        out="heterogeneous.json",
    ).parse_args(arguments)
    scale = QUICK if asked.quick else FULL
    started = time.process_time()
    result = run(asked.data, scale, quick=asked.quick)
    result["seconds"] = time.process_time() - started
    result["command"] = "python -m experiments.heterogeneous --data DIR"
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "heterogeneous.json").write_text(json.dumps(result, indent=1))
    text = report.markdown(result, scale)
    if not asked.quick and not asked.no_docs and not result["skipped"]:
        write_results(DOCS, "experiments.heterogeneous", text)
    sys.stdout.write(json.dumps(result) + "\n" if asked.json else text)
    if asked.quick:
        return 0
    if asked.accept:
        EXPECTED.write_text(_expectation(result))
    wrong = list(unexpected(result))
    sys.stderr.writelines(f"{sentence}\n" for sentence in wrong)
    return 1 if wrong else 0


def run(folder: Path | None, scale: Scale, *, quick: bool) -> dict[str, Any]:
    """All figures, comparisons and verdicts as plain data."""
    sets, skipped = load(folder, quick=quick)
    _tell(f"found: {', '.join(data.name for data in sets if data.real) or 'no data set'}")
    _tell(f"made here: {', '.join(data.name for data in sets if not data.real)}")
    for sentence in skipped:
        _tell(f"skipped: {sentence}")
    pool, costs = Pool(), []
    most = scale.people if quick else EVERYBODY
    for number, data in enumerate(sets, start=1):
        at = f"{data.name} ({number} of {len(sets)})"
        for figure in (figures.slices, figures.groups, figures.alphas):
            _progress(f"{at}: {figure.__name__}")
            figure(pool, data, scale)
        _progress(f"{at}: equal total loss")
        equal_loss.at_totals(pool, data, scale, most)
        _progress(f"{at}: equal loss per comparison")
        costs += equal_loss.at_epsilons(pool, data, scale, most)
    rows = list(pool.rows())
    names = [data.name for data in sets]
    return {
        "data": names,
        "people": {data.name: min(most, len(data.profiles)) for data in sets},
        "skipped": skipped,
        "rows": [row.plain() for row in rows],
        "costs": [asdict(cost) for cost in costs],
        "differences": list(_differences(pool, rows)),
        "verdicts": judged(rows, names),
    }


def _tell(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _progress(step: str) -> None:
    """Only for somebody who waits."""
    if sys.stderr.isatty():
        _tell(step)


def unexpected(result: dict[str, Any]) -> Iterator[str]:
    """What differs from expected.json by more than its tolerance; absent data is passed over."""
    expected = json.loads(EXPECTED.read_text())
    held = {(r["figure"], r["data"], r["series"], r["x"]): r["value"] for r in result["rows"]}
    for *key, value in expected["rows"]:
        if key[1] in result["data"] and not (
            abs(held.get(tuple(key), float("nan")) - value) <= expected["tolerance"]
        ):
            yield f"{' / '.join(key)}: expected {value}, got {held.get(tuple(key))}"


def _expectation(result: dict[str, Any]) -> str:
    """One row per line, so that changes can be read."""
    kept = [r for r in result["rows"] if r["figure"] in ("1", "recall", "NDCG@20")]
    rows = [[r["figure"], r["data"], r["series"], r["x"], round(r["value"], 3)] for r in kept]
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"tolerance": 0.03, "rows": [\n{lines}\n]}}\n'


def _differences(pool: Pool, rows: list[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row.figure in ("recall", "recall@20", "NDCG@20") and row.series.startswith("sketch"):
            mean = pool.differences((row.figure, row.data, row.series, row.x), "paper")
            at = row.x + row.series.removeprefix("sketch")
            yield {"data": row.data, "x": at, "measure": row.figure} | asdict(mean)


if __name__ == "__main__":
    sys.exit(main())
