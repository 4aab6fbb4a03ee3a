"""Private trees: time to fit beside diffprivlib and scikit-learn, and local sensitivities.

Everybody gets the same floats, depth and epsilon, in a process of its own that stays
(tree_peer.py); they fit in turns. diffprivlib needs an older scikit-learn than ours, so it has an
environment of its own: RETICENT_DIFFPRIVLIB names its interpreter, or --peers makes one in a
temporary folder. Without either it is left out. Held-out accuracy is told beside each time: nobody
is quick by doing nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness import (
    Goal,
    Options,
    Row,
    cpu_seconds,
    explain_keys,
    medians,
    report,
    require_module,
)
from reticent.data.adult import ADULT_CATEGORIES, ADULT_COLUMNS, load_adult
from reticent.mechanisms.information_gain import GainSensitivity, steps_of_entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

GOALS = (
    Goal("speedup_diffprivlib_tree", 1.5),
    Goal("speedup_diffprivlib_forest", 10),
    Goal("ratio_sklearn", 0.2),
    Goal("speedup_sensitivity", 1000),
)
DEPTH, EPSILON, STEPS, AGREED = 5, 1.0, 2000, 1e-9
KEYS = {
    "sklearn": "ratio_sklearn",
    "diffprivlib_tree": "speedup_diffprivlib_tree",
    "diffprivlib_forest": "speedup_diffprivlib_forest",
}
LABELS = {
    "reticent": "Reticent, a tree",
    "sklearn": "scikit-learn, a tree, not private",
    "diffprivlib_tree": "diffprivlib, a tree",
    "diffprivlib_forest": "diffprivlib, a forest of 10",
}
NEEDED = ("diffprivlib==0.6.6", "scikit-learn==1.5.2")
NAMED = "RETICENT_DIFFPRIVLIB"
BOUNDS = {  # of Adult's numbers, as one would declare them without a look
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 99),
}
HERE = Path(__file__).parent


@dataclass(slots=True)
class Found:
    """What was measured, for the table and for programs."""

    sections: dict[str, list[Row]] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)

    def least(self, key: str, value: float) -> None:
        """Keep the smallest of several."""
        self.results[key] = min(value, self.results.get(key, np.inf))


def main() -> None:
    """Measure and report."""
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--peers", action="store_true")
    asked, others = own.parse_known_args()
    sys.argv[1:] = others
    options = Options.parse(
        "benchmarks.tree",
        "Private trees beside diffprivlib and scikit-learn. With --peers, diffprivlib is installed "
        f"in a temporary environment; else {NAMED} may name a Python that has it.",
    )
    require_module("sklearn", "experiments")
    found = Found()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pythons = {"reticent": sys.executable, "sklearn": sys.executable}
        peer = diffprivlib_python(folder, install=asked.peers)
        if peer is not None:
            pythons |= {"diffprivlib_tree": peer, "diffprivlib_forest": peer}
        rows = 100_000 if options.quick else 1_000_000
        beside_others(
            "adult", "Adult", adult(), pythons, folder, found, rounds=3 if options.quick else 5
        )
        title = f"Made, {rows:,} x 20"
        beside_others(
            "million", title, made(rows), pythons, folder, found, rounds=2 if options.quick else 3
        )
    sensitivities(found)
    goals = [goal for goal in GOALS if goal.key in found.results]
    report("tree", found.sections, found.results, goals, options)
    if not options.json:
        explain_keys("More", found.results, MEANINGS)


def diffprivlib_python(folder: Path, *, install: bool) -> str | None:
    """An interpreter in which diffprivlib works, or None and a sentence."""
    python = os.environ.get(NAMED, sys.executable)
    if install and NAMED not in os.environ:
        python = str(folder / "peer" / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run([sys.executable, "-m", "venv", str(folder / "peer")], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *NEEDED], check=False, stdout=sys.stderr
        )
    try:
        works = subprocess.run(
            [python, "-c", "import diffprivlib.models"], check=False, capture_output=True
        )
    except OSError:
        works = None
    if works is not None and works.returncode == 0:
        return python
    print(
        "diffprivlib does not work in this environment and is left out. Ask for --peers, or name "
        f"by {NAMED} a Python that has {' and '.join(NEEDED)}.",
        file=sys.stderr,
    )
    return None


def adult() -> dict[str, Any]:
    """All records of Adult, categories as numbers; a fifth held out."""
    table = load_adult()
    columns, low, high, sizes = [], [], [], []
    for name in ADULT_COLUMNS[:-1]:
        values, known = table[name], ADULT_CATEGORIES.get(name, ())
        number: dict[Any, int] = {value: code for code, value in enumerate(known)}
        columns.append([number.get(value, len(known)) for value in values] if known else values)
        ends = (0, len(known)) if known else BOUNDS[name]
        low.append(ends[0])
        high.append(ends[1])
        sizes.append(len(known))
    x = np.array(columns, dtype=np.float64).T
    y = np.array([income == ">50K" for income in table["income"]], dtype=np.int64)
    return _parted(x, y, len(y) // 5, low, high, sizes)


def made(rows: int) -> dict[str, Any]:
    """Twenty numbers of a normal law; the class goes by some of them, with noise."""
    rng = np.random.default_rng(0)
    held = rows // 10
    x = rng.normal(size=(rows + held, 20))
    signal = 2 * x[:, 0] + np.where(x[:, 1] > 0.5, 2.0, -1.0) * (x[:, 2] > 0) + x[:, 3] * 0.5
    y = (signal + rng.normal(size=len(x)) > 0).astype(np.int64)
    return _parted(x, y, held, [-4.0] * 20, [4.0] * 20, [0] * 20)


def _parted(
    x: Any, y: Any, held: int, low: list[Any], high: list[Any], sizes: list[int]
) -> dict[str, Any]:
    order = np.random.default_rng(1).permutation(len(y))
    out, kept = order[:held], order[held:]
    return {
        "x": np.ascontiguousarray(x[kept]),
        "y": y[kept],
        "held_x": np.ascontiguousarray(x[out]),
        "held_y": y[out],
        "low": np.array(low, dtype=np.float64),
        "high": np.array(high, dtype=np.float64),
        "categories": np.array(sizes),
        "depth": np.array(DEPTH),
        "epsilon": np.array(EPSILON),
    }


class Learner:
    """A process that fits when it is told to."""

    def __init__(self, name: str, python: str, data: Path) -> None:
        threads = {f"{who}_NUM_THREADS": "1" for who in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        self._process = subprocess.Popen(
            [python, str(HERE / "tree_peer.py"), name, str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | threads,
        )
        self.start = self._answer()
        self.turns: list[dict[str, Any]] = []

    def turn(self) -> None:
        """Fit and predict once."""
        assert self._process.stdin is not None
        self._process.stdin.write("fit\n")
        self._process.stdin.flush()
        self.turns.append(self._answer())

    def end(self) -> None:
        """Let it go."""
        self._process.communicate("end\n")

    def median(self, *path: str) -> float:
        """Of all turns."""
        return statistics.median(_inside(turn, *path) for turn in self.turns)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def _inside(held: Any, *path: str) -> float:
    for key in path:
        held = held[key]
    return float(held)


def beside_others(
    key: str,
    title: str,
    given: dict[str, Any],
    pythons: Mapping[str, str],
    folder: Path,
    found: Found,
    *,
    rounds: int,
) -> None:
    """Everybody in turns on one table."""
    path = folder / f"{key}.npz"
    np.savez(path, **given)
    learners = {name: Learner(name, python, path) for name, python in pythons.items()}
    for _ in range(rounds):
        for learner in learners.values():
            learner.turn()
    rows, held = len(given["y"]), len(given["held_y"])
    fits, predictions = [], []
    for name, learner in learners.items():
        learner.end()
        seconds, label = learner.median("fit", "cpu"), LABELS[name]
        fits.append(Row(name, label, rows, seconds))
        predictions.append(Row(name, label, held, learner.median("predict", "cpu")))
        found.results |= {
            f"seconds_{name}_{key}": seconds,
            f"wall_seconds_{name}_{key}": learner.median("fit", "wall"),
            f"predict_seconds_{name}_{key}": learner.median("predict", "cpu"),
            f"accuracy_{name}_{key}": learner.median("accuracy"),
            f"first_seconds_{name}_{key}": float(learner.start["first"]),
            f"peak_mb_{name}_{key}": float(learner.turns[-1]["peak"]),
            f"before_mb_{name}_{key}": float(learner.start["before"]),
        }
    found.sections |= {f"{title}, rows to fit": fits, f"{title}, rows to predict": predictions}
    ours = found.results[f"seconds_reticent_{key}"]
    ours_wall = found.results[f"wall_seconds_reticent_{key}"]
    for name, ratio in KEYS.items():
        if name in learners:
            found.results[f"{ratio}_{key}"] = found.results[f"seconds_{name}_{key}"] / ours
            wall = found.results[f"wall_seconds_{name}_{key}"]
            found.results[f"wall_{ratio}_{key}"] = wall / ours_wall
            found.least(ratio, found.results[f"{ratio}_{key}"])


def sensitivities(found: Found) -> None:
    """Lemma 2's closed form beside all ways to remove r rows and add the others."""
    table = np.random.default_rng(2).integers(0, 4_000, size=(8, 2))
    table[0] = 1_500, 30  # the class is gone before all steps are made
    sensitivity = GainSensitivity([table], STEPS)
    closed = sensitivity.deltas(table)  # loads the code
    seconds = medians({"closed": lambda: sensitivity.deltas(table)}, rounds=21)["closed"]
    listed: list[NDArray[np.float64]] = []
    exhaustive = cpu_seconds(lambda: listed.append(exhaustive_deltas(table)))
    difference = float(np.abs(closed - listed[0]).max())
    title = f"Sensitivities of information gain, {STEPS:,} steps, {table.size} cells"
    found.sections[title] = [
        Row("closed", "Reticent, closed form", STEPS, seconds),
        Row("listed", "all ways, in NumPy", STEPS, exhaustive),
    ]
    found.results["difference_sensitivity"] = difference
    found.results["speedup_sensitivity"] = exhaustive / seconds if difference <= AGREED else 0.0


def exhaustive_deltas(table: Whole) -> NDArray[np.float64]:
    """delta(t): the largest h over cells, and over how many of t rows are removed from the cell."""
    f = steps_of_entropy(int(table.sum()) + STEPS + 1)
    found = np.zeros(STEPS)
    for t in range(STEPS):
        for row in table.tolist():
            a = sum(row)
            for b in row:
                removed = np.arange(min(t, b) + 1)
                rows, own = a + t - 2 * removed, b - removed
                h = np.where(own == 0, f[rows], f[rows - 1] - f[own - 1])
                found[t] = max(found[t], h.max())
    return found


MEANINGS = {
    "speedup_diffprivlib.*": "its CPU time to fit over ours",
    "ratio_sklearn.*": "its CPU time to fit over ours",
    "wall_.*": "on the clock: seconds to fit, and their ratio to ours",
    "accuracy_.*": "of held-out rows, median",
    "first_seconds_.*": "first fit of a process, 500 rows: code loaded, or compiled if new",
    "before_mb_.*": "largest resident size with the data, before the first full fit",
    "peak_mb_.*": "largest resident size at the end",
    "difference_.*": "from the exhaustive search, worst",
}


if __name__ == "__main__":
    main()
