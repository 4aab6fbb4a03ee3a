"""How curves over budgets are read, and intervals of shares."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from experiments.mappings.results import Curve, Pool, Row, Table, text

__all__ = ["Curve", "Pool", "Results", "Row", "Table", "reached", "share_ends"]

_Z = 1.959964  # of a 95 % interval


class Results(Table):
    """Rows, and which sets were run: the first graph is the one that is looked at closely."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(Row(**row) for row in result["rows"])
        self.networks: list[str] = result["networks"]
        self.people: list[str] = result["people"]
        self.ks: list[int] = result["ks"]
        self.bounds: list[str] = list(result["bounds"].values())  # of the first graph

    def known(self, figure: str, data: str, series: str, x: object = "") -> float | None:
        """A value, or None where there is none."""
        row = self.held.get((figure, data, series, text(x)))
        return None if row is None else row.value


def reached(curve: Curve, level: float) -> float:
    """The least budget at which a share reaches ``level``; straight lines over log budgets.

    NaN if it never does, or does at the first point already.

    >>> round(reached([(1, 0.0), (10, 0.5), (100, 1.0)], 0.75), 3)
    31.623
    """
    for (x, y), (after, above) in pairwise(sorted(curve)):
        if y < level <= above:
            part = (level - y) / (above - y)
            return math.exp(math.log(x) + part * (math.log(after) - math.log(x)))
    return math.nan


def share_ends(share: float, runs: int) -> tuple[float, float]:
    """Wilson's 95 % interval; no mean of shares varies more than that of coins."""
    width = _Z * _Z / runs
    middle = (share + width / 2) / (1 + width)
    half = math.sqrt(share * (1 - share) * width + width * width / 4) / (1 + width)
    return max(middle - half, 0.0), min(middle + half, 1.0)
