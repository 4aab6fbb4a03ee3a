"""One learner of trees in a process of its own: it fits when it is told to, and says what it took.

Not here  the data, whose turn it is, what is compared with what (tree.py).

``python tree_peer.py NAME DATA`` needs NumPy and the one library that NAME belongs to, so it runs
in an environment without Reticent too. It reads "fit" or "end" line by line and answers each with a
line of JSON. Everybody gets the same array of floats, the depth, epsilon and public bounds.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

Given = dict[str, Any]
"""Arrays: x, y, held_x, held_y, low, high, categories (0: a number), and depth and epsilon."""


def reticent(given: Given) -> Any:
    """Ours; codes beyond a column's categories are missing values."""
    many = given["categories"].tolist()
    ends = list(zip(given["low"].tolist(), given["high"].tolist(), strict=True))
    return import_module("reticent.queries.tree_classifier").PrivateTreeClassifier(
        epsilon=float(given["epsilon"]),
        max_depth=int(given["depth"]),
        categories={j: range(size) for j, size in enumerate(many) if size},
        bounds={j: ends[j] for j, size in enumerate(many) if not size},
        classes=[0, 1],
    )


def sklearn(given: Given) -> Any:
    """Not private."""
    tree = import_module("sklearn.tree")
    return tree.DecisionTreeClassifier(max_depth=int(given["depth"]), random_state=0)


def diffprivlib_tree(given: Given) -> Any:
    """One tree of random splits."""
    return import_module("diffprivlib.models").DecisionTreeClassifier(**_settings(given))


def diffprivlib_forest(given: Given) -> Any:
    """Ten trees of random splits, each on a tenth of the rows."""
    models = import_module("diffprivlib.models")
    return models.RandomForestClassifier(n_estimators=10, **_settings(given))


def _settings(given: Given) -> dict[str, Any]:
    return {
        "epsilon": float(given["epsilon"]),
        "max_depth": int(given["depth"]),
        "bounds": (given["low"], given["high"]),
        "classes": [0, 1],
    }


LEARNERS: dict[str, Callable[[Given], Any]] = {
    "reticent": reticent,
    "sklearn": sklearn,
    "diffprivlib_tree": diffprivlib_tree,
    "diffprivlib_forest": diffprivlib_forest,
}


def main() -> None:
    """Load, warm up on a few rows, then do as told."""
    warnings.simplefilter("ignore")
    name, path = sys.argv[1:]
    with np.load(path) as held:
        given = {key: held[key] for key in held.files}
    few = slice(0, 500)
    begin = time.process_time()
    model = LEARNERS[name](given)
    imported = time.process_time() - begin
    first = _took(lambda: model.fit(given["x"][few], given["y"][few]))
    model.predict(given["held_x"][few])
    _say({"import": imported, "first": first["cpu"], "before": _memory()})
    for line in sys.stdin:
        if line.strip() != "fit":
            break
        fit = _took(lambda: model.fit(given["x"], given["y"]))
        right: list[float] = []
        hits = _took(
            lambda found=right: found.append(  # type: ignore[misc]
                float(np.mean(model.predict(given["held_x"]) == given["held_y"]))
            )
        )
        _say({"fit": fit, "predict": hits, "accuracy": right[0], "peak": _memory()})


def _took(work: Callable[[], object]) -> dict[str, float]:
    begin, clock = time.process_time(), time.perf_counter()
    work()
    return {"cpu": time.process_time() - begin, "wall": time.perf_counter() - clock}


def _memory() -> float:
    """The largest resident size so far, in megabytes; on macOS it is told in bytes."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
