"""Trees of diffprivlib on the same codes and folds, grown by an interpreter of their own.

diffprivlib needs an older scikit-learn than ours. What is passed on is a file of arrays; what comes
back is a list of accuracies. Nothing is run unless such an interpreter is named.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.dampening.tree.datasets import OURS, Dataset, Scale, folds
from experiments.dampening.tree.results import Pool, note
from experiments.harness import progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

VARIABLE = "RETICENT_DIFFPRIVLIB"
FIGURE = "peer"
TREE, FOREST = "diffprivlib tree", "diffprivlib forest of 10"
KINDS = {TREE: 1, FOREST: 10}
CODINGS = ("codes", "one-hot")
DEPTHS = (5, 10)  # what it does by default, and as deep as helps its forests
SCRIPT = Path(__file__).parent / "diffprivlib_peer.py"
HOURS = 3600 * 2


def series(kind: str, coding: str, depth: int) -> str:
    """The label of rows."""
    return f"{kind}, {coding}, depth {depth}"


def usual(kind: str) -> str:
    """As it comes, on codes."""
    return series(kind, CODINGS[0], DEPTHS[0])


def run(pool: Pool, everything: list[Dataset], scale: Scale, python: str | None) -> list[str]:
    """Accuracies at the budgets of the table; a sentence if they are left out."""
    if not python:
        return [f"diffprivlib: no --diffprivlib PYTHON and {VARIABLE} is not set"]
    for data in everything:
        for coding in CODINGS if any(size > 2 for size in data.coding(OURS).sizes) else CODINGS[:1]:
            progress(f"{data.name}: diffprivlib, {coding}")
            try:
                found = _asked(python, data, scale, coding)
            except (OSError, subprocess.SubprocessError) as failure:
                return [f"diffprivlib: {python} failed, {type(failure).__name__}"]
            for label, values in found.items():
                kind, depth, epsilon = label.split("/")
                row = FIGURE, data.name, series(kind, coding, int(depth)), float(epsilon)
                note(pool, row, np.array(values))
    return []


def _asked(python: str, data: Dataset, scale: Scale, coding: str) -> dict[str, Any]:
    codes, upper = _numbers(data, coding)
    fold = np.empty((scale.peer_runs, len(data.y)), dtype=np.int16)
    for run in range(scale.peer_runs):
        for place, tested in enumerate(folds(len(data.y), scale.folds, run)):
            fold[run, tested] = place
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(
            path,
            codes=codes,
            y=data.y,
            upper=upper,
            fold=fold,
            epsilons=np.array(scale.tabled),
            names=np.array(list(KINDS)),
            trees=np.array(list(KINDS.values())),
            depths=np.array(DEPTHS),
        )
        done = subprocess.run(
            [python, str(SCRIPT), str(path)],
            check=True,
            capture_output=True,
            text=True,
            timeout=HOURS,
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _numbers(data: Dataset, coding: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Codes as numbers with their largest values; one-hot: a column for each unordered code."""
    held = data.coding(OURS)
    parts, upper = [], []
    for j, (size, ordered) in enumerate(zip(held.sizes, held.ordered, strict=True)):
        own = held.codes[:, j]
        if coding == "codes" or ordered or size <= 2:
            parts.append(own[:, None].astype(np.float32))
            upper.append(max(size - 1, 1))
        else:
            parts.append((own[:, None] == np.arange(size)).astype(np.float32))
            upper += [1] * size
    return np.concatenate(parts, axis=1), np.array(upper, dtype=np.int64)
