"""Small tables on which a bound of the paper, or of the code published with it, fails.

A bound delta(x, t) of local sensitivity must be no less for x at t + 1 than for a neighbour of x at
t. One neighbour and one t at which it is less are enough for a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from experiments.dampening.tree.datasets import Dataset
from experiments.dampening.tree.results import Pool
from experiments.harness import stream
from reticent.data.synthetic import below
from reticent.mechanisms.information_gain import GainSensitivity, gain_limit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

FACT = "fact"
REPLACED, CAPPED, WHOLE_FILE = "one row replaced", "rows capped", "whole file"
BOUND, NEIGHBOUR = "bound one row away", "neighbour's own"
TWICE, PLAIN = "tables violated, bound at 2t", "tables violated, bound at t"
TABLES, STEPS = 200, 6
LARGE = 100  # rows of a node that is looked at


def run(pool: Pool, everything: list[Dataset]) -> None:
    """All of them; the first data set is the one whose nodes are looked at."""
    _replaced(pool)
    _capped(pool)
    for data in everything:
        _whole_file(pool, data)


def deltas(table: Whole) -> NDArray[np.float64]:
    """The bound of the paper's formulas, one row added or removed at a time, without a cap."""
    return GainSensitivity([table], rows=64).deltas(table)


def neighbours(table: Whole) -> Iterator[Whole]:
    """Tables in which one row is another."""
    cells = list(np.ndindex(*table.shape))
    for gone in cells:
        for come in cells:
            if gone != come and table[gone] > 0:
                other = table.copy()
                other[gone] -= 1
                other[come] += 1
                yield other


def _replaced(pool: Pool) -> None:
    """Definition 1 replaces a row, the formulas add or remove one."""
    pool.add(FACT, REPLACED, BOUND, "", deltas(np.array([[8, 2]]))[1])
    pool.add(FACT, REPLACED, NEIGHBOUR, "", deltas(np.array([[9, 1]]))[0])
    violated = {PLAIN: 0, TWICE: 0}
    source = stream("tables")
    for _ in range(TABLES):
        table = below(8, (2, 2), source)
        own = deltas(table)
        seen = [deltas(other) for other in neighbours(table)]
        for name, per in ((PLAIN, 1), (TWICE, 2)):
            bad = (
                float(other[per * t]) > float(own[per * (t + 1)]) + 1e-9
                for other in seen
                for t in range(STEPS)
            )
            violated[name] += any(bad)
    for name, count in violated.items():
        pool.add(FACT, REPLACED, name, "", count / TABLES)


def _capped(pool: Pool) -> None:
    """No value may have more rows than the table at hand; a neighbour's may."""
    rows = 10
    step = [x * float(np.log2(x)) if x else 0.0 for x in range(rows + 3)]
    f = [step[x + 1] - step[x] for x in range(rows + 2)]
    pool.add(FACT, CAPPED, BOUND, "", f[rows])  # (10, 0): only a = 11 would be larger
    pool.add(FACT, CAPPED, NEIGHBOUR, "", deltas(np.array([[rows + 1, 0]]))[0])


def _whole_file(pool: Pool, data: Dataset) -> None:
    """The sensitivity of the whole file in place of a node's own, one split below the root."""
    coding = data.coding()
    codes, y = coding.codes, data.y
    root = _tables(codes, y, coding.sizes)
    file = [_at_once(table, data.rows) for table in root]
    above, pairs, most = 0, 0, 0.0
    for j, size in enumerate(coding.sizes):
        for code in range(size):
            inside = codes[:, j] == code
            if inside.sum() < LARGE:
                continue
            for i, table in enumerate(_tables(codes[inside], y[inside], coding.sizes)):
                if i != j:
                    own = _at_once(table, data.rows)
                    above += own > file[i] + 1e-9
                    most = max(most, own - file[i])
                    pairs += 1
    pool.add(
        FACT, f"{WHOLE_FILE}, {data.name}", "share of nodes and columns above it", "", above / pairs
    )
    pool.add(FACT, f"{WHOLE_FILE}, {data.name}", "by at most, bits", "", most)
    pool.add(FACT, f"{WHOLE_FILE}, {data.name}", "global, bits", "", float(gain_limit(data.rows)))


def _tables(codes: NDArray[np.uint16], y: Whole, sizes: tuple[int, ...]) -> list[Whole]:
    return [
        np.bincount(2 * codes[:, j].astype(np.int64) + y, minlength=2 * size).reshape(size, 2)
        for j, size in enumerate(sizes)
    ]


def _at_once(table: Whole, rows: int) -> float:
    """delta(0)."""
    return float(GainSensitivity([table], rows=rows).deltas(table)[0])
