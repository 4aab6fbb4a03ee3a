"""Where the compiled allocation begins: rows that matter, a point strictly inside, first prices.

Theory    docs/theory/multilevel.md, Theorem 3 (optimum), "Algorithm"
Notation  as in allocation_kernels.py
Not here  the steps from there on (allocation_kernels.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reticent.optim.allocation_tables import error, inlined, inner, times
from reticent.optim.order_kernels import kth_smallest

if TYPE_CHECKING:
    from reticent.optim.allocation_tables import Reals, Table, Whole


@inner
def find_active(rows: Table, entries: Table, caps: Reals, active: Whole) -> int:
    """Lists the rows that the caps exceed; how many they are. None is in the working set yet."""
    count = 0
    for k in range(rows.size):
        rows[k].is_working = False
        if times(rows[k], entries, caps) > 1:
            active[count] = k
            count += 1
    return count


@inner
def _choose_working(
    rows: Table, entries: Table, active: Whole, z: Reals, reach: Reals, working: Whole
) -> int:
    """All active rows, or if they are very many the 2 m or so that z fills most; how many.

    ``reach`` is space for one number a row.
    """
    m, least, count = z.size, -1.0, 0
    for a in range(active.size):
        reach[a] = times(rows[active[a]], entries, z)
    if active.size > 3 * m:
        least = kth_smallest(reach, active.size, active.size - 2 * m)
    for a in range(active.size):
        if reach[a] >= least and count < 3 * m:
            rows[active[a]].is_working = True
            working[count] = active[a]
            count += 1
    return count


@inner
def _scale_weights(kind: int, variables: Table, z: Reals) -> float:
    """Scales the weights so that the error at z is m; the factor."""
    value = 0.0
    for j in range(z.size):
        value += variables[j].weight * error(kind, variables[j].stretch * z[j])[0]
    scale = z.size / value
    for j in range(z.size):
        variables[j].weight *= scale
    return scale


@inner
def _first_prices(
    kind: int, rows: Table, entries: Table, working: Whole, variables: Table, z: Reals
) -> None:
    """Prices that fit the slopes: one for all rows, the rest by the caps."""
    flattest, most = np.inf, 1.0
    for j in range(z.size):
        variable = variables[j]
        steepness = error(kind, variable.stretch * z[j])[1]
        variable.cap_price = variable.weight * variable.stretch * steepness  # if rows cost nothing
        variable.price = 0.0
        flattest = min(flattest, variable.cap_price)
    for a in range(working.size):
        row = rows[working[a]]
        for e in range(row.first, row.last):
            variables[entries[e].column].price += entries[e].value
    for j in range(z.size):
        most = max(most, variables[j].price)
    for a in range(working.size):
        rows[working[a]].price = flattest / most
    for j in range(z.size):
        whole = variables[j].cap_price
        variables[j].cap_price = max(whole - variables[j].price * flattest / most, 0.1 * whole)


@inlined
def start(
    kind: int,
    rows: Table,
    entries: Table,
    longest: float,
    active: Whole,
    variables: Table,
    caps: Reals,
    z: Reals,
    reach: Reals,
    working: Whole,
) -> tuple[int, float]:
    """The first point, nine tenths of the way to a boundary, and its prices.

    How many rows work, and the factor of the weights.
    """
    for j in range(z.size):
        z[j] = min(caps[j], 1 / longest)
    count = _choose_working(rows, entries, active, z, reach, working)
    for j in range(z.size):
        z[j] *= 0.9
        variables[j].room = caps[j] - z[j]
    for a in range(count):
        rows[working[a]].room = 1 - times(rows[working[a]], entries, z)
    scale = _scale_weights(kind, variables, z)
    _first_prices(kind, rows, entries, working[:count], variables, z)
    return count, scale
