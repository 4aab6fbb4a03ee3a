"""What an interpreter with diffprivlib runs: trees and forests on arrays that it is given.

Called as a file, with the path of the arrays; prints accuracies as JSON. Imports nothing of ours.
Everything but the depth is as diffprivlib has it by default; bounds and classes are declared.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np


def main(path: str) -> None:
    """Accuracies [runs][folds] by kind of model, depth and epsilon."""
    warnings.simplefilter("ignore")
    models: Any = import_module("diffprivlib.models")
    held = dict(np.load(path))
    kinds = list(zip(held["names"].tolist(), held["trees"].tolist(), strict=True))
    depths, epsilons = held["depths"].tolist(), held["epsilons"].tolist()
    found = {}
    for number, ((name, trees), depth, epsilon) in enumerate(product(kinds, depths, epsilons)):
        make = models.DecisionTreeClassifier
        if trees > 1:
            make = partial(models.RandomForestClassifier, n_estimators=trees)
        make = partial(make, epsilon=epsilon, max_depth=depth, classes=[0, 1])
        found[f"{name}/{depth}/{epsilon:g}"] = [
            [_accuracy(make, held, run, place, number) for place in range(int(fold.max()) + 1)]
            for run, fold in enumerate(held["fold"])
        ]
    sys.stdout.write(json.dumps(found))


def _accuracy(make: Any, held: dict[str, Any], run: int, place: int, number: int) -> float:
    upper, y = held["upper"], held["y"]
    tested = held["fold"][run] == place
    bounds = np.zeros(len(upper)), upper.astype(float)
    model = make(bounds=bounds, random_state=(100 * number + run) * 100 + place)
    model.fit(held["codes"][~tested], y[~tested])
    return float((model.predict(held["codes"][tested]) == y[tested]).mean())


if __name__ == "__main__":
    main(sys.argv[1])
