"""The primal-dual Newton method of allocation.py for one person after another, compiled.

Theory    docs/theory/multilevel.md, Theorem 3 (optimum), Theorem 4 (certificate), "Algorithm"
Notation  minimise sum_j weight_j error(stretch_j z_j) over a_k z <= 1 and 0 < z <= caps, with k a
          row and j a variable; rows, entries, variables = tables of allocation_tables.py;
          active = numbers of the rows that the caps exceed, working = those that take part
Not here  which problems are solved, what happens to those that fail (allocation.py).

Rows are sparse, so that the Newton matrix costs the square of a row's entries, not of its length.
Only a working set of rows takes part; every row bounds every step, and joins when it does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from reticent.optim.allocation_start_kernels import find_active, start
from reticent.optim.allocation_tables import (
    ENTRY,
    ROW,
    VARIABLE,
    copy,
    error,
    factorise,
    fill_rows,
    inlined,
    inner,
    largest,
    least_cost,
    solve,
    times,
)

if TYPE_CHECKING:
    from reticent.optim.allocation_tables import Reals, Table, Whole

_SHRINK = 0.8  # how much smaller a variable may become in one step
_CLOSE = 0.995  # how far to the boundary a step may go
_OUTSIDE = 0.97  # the same for rows that were not in the working set


@inner
def _measure(
    kind: int,
    rows: Table,
    entries: Table,
    working: Whole,
    variables: Table,
    caps: Reals,
    z: Reals,
) -> tuple[float, float, float, float, float]:
    """The error and a lower bound, the sums of the rows' prices and of all prices times room.

    Last, how far slopes and prices differ, in logarithms. Fills in what depends on room and price.
    """
    value, total, complementarity, mismatch = 0.0, 0.0, 0.0, 0.0
    for j in range(z.size):
        variables[j].price = 0.0
    for a in range(working.size):
        row = rows[working[a]]
        total += row.price
        complementarity += row.price * row.room
        row.inverse_room = 1 / row.room
        row.price_per_room = row.price * row.inverse_room
        for e in range(row.first, row.last):
            variables[entries[e].column].price += entries[e].value * row.price
    bound = -total
    for j in range(z.size):
        variable = variables[j]
        weight, stretch = variable.weight, variable.stretch
        level, steepness, bend = error(kind, stretch * z[j])
        value += weight * level
        bound += least_cost(kind, variable, caps[j], z[j])
        variable.price += variable.cap_price
        complementarity += variable.cap_price * variable.room
        variable.bend = bend * stretch
        variable.log_ratio = math.log(steepness * (weight * stretch) / variable.price)
        mismatch = max(mismatch, abs(variable.log_ratio))
    return value, bound, total, complementarity, mismatch


@inner
def _fill_matrix(
    rows: Table, entries: Table, working: Whole, variables: Table, matrix: Reals
) -> None:
    """The lower half of the Newton matrix."""
    for i in range(variables.size):
        variable = variables[i]
        for j in range(i):
            matrix[i, j] = 0.0
        matrix[i, i] = variable.cap_price / variable.room + variable.price * variable.bend
    for a in range(working.size):
        row = rows[working[a]]
        for e in range(row.first, row.last):
            i, part = entries[e].column, row.price_per_room * entries[e].value
            for f in range(row.first, e + 1):
                matrix[i, entries[f].column] += part * entries[f].value


@inner
def _fill_right(
    rows: Table, entries: Table, working: Whole, variables: Table, target: float, right: Reals
) -> None:
    """The right side whose solution leads to price times room = ``target`` for rows and caps."""
    for j in range(right.size):
        variable = variables[j]
        push = (target - variable.product) / variable.room
        right[j] = variable.price * (1 + variable.log_ratio) - push
    for a in range(working.size):
        row = rows[working[a]]
        push = (target - row.product) * row.inverse_room
        if push == 0.0:  # the predictor aims at no complementarity at all
            continue
        for e in range(row.first, row.last):
            right[entries[e].column] -= entries[e].value * push


@inner
def _fill_changes(
    rows: Table,
    entries: Table,
    working: Whole,
    variables: Table,
    z: Reals,
    change: Reals,
    target: float,
) -> tuple[float, float]:
    """What a change of z means for room and prices; how far both may go, at most all of it."""
    primal, dual = 1.0, 1.0
    for j in range(z.size):
        variable = variables[j]
        room, price = variable.room, variable.cap_price
        if change[j] < 0:
            primal = min(primal, -_SHRINK * z[j] / change[j])
        elif change[j] > 0:
            primal = min(primal, _CLOSE * room / change[j])
        price_change = (target - variable.product) / room - price + price / room * change[j]
        if price_change < 0:
            dual = min(dual, -_CLOSE * price / price_change)
        variable.price_change = price_change
    for a in range(working.size):
        row = rows[working[a]]
        row.room_change = -times(row, entries, change)
        if row.room_change < 0:
            primal = min(primal, -_CLOSE * row.room / row.room_change)
        push = (target - row.product) * row.inverse_room
        row.price_change = push - row.price - row.price_per_room * row.room_change
        if row.price_change < 0:
            dual = min(dual, -_CLOSE * row.price / row.price_change)
    return primal, dual


@inner
def _reached(
    rows: Table, working: Whole, variables: Table, change: Reals, primal: float, dual: float
) -> float:
    """The sum of prices times room after a step so long; keeps what the step neglects in each."""
    total = 0.0
    for j in range(change.size):
        variable = variables[j]
        variable.product = -change[j] * variable.price_change
        room = variable.room - primal * change[j]
        total += (variable.cap_price + dual * variable.price_change) * room
    for a in range(working.size):
        row = rows[working[a]]
        row.product = row.room_change * row.price_change
        total += (row.price + dual * row.price_change) * (row.room + primal * row.room_change)
    return total


@inner
def _forget_products(rows: Table, working: Whole, variables: Table) -> None:
    """A step without correction."""
    for j in range(variables.size):
        variables[j].product = 0.0
    for a in range(working.size):
        rows[working[a]].product = 0.0


@inlined
def _direction(
    rows: Table,
    entries: Table,
    working: Whole,
    variables: Table,
    z: Reals,
    matrix: Reals,
    unit: Reals,
    complementarity: float,
    gap: float,
    mismatch: float,
    stuck: bool,
    change: Reals,
) -> tuple[float, float, float]:
    """Predictor, then corrector: how far z and prices may go, and the price times room aimed at."""
    _forget_products(rows, working, variables)
    target = primal = dual = 0.0
    for corrector in range(2):
        _fill_right(rows, entries, working, variables, target, change)
        solve(matrix, unit, change)
        primal, dual = _fill_changes(rows, entries, working, variables, z, change, target)
        if not corrector:
            reached = _reached(rows, working, variables, change, primal, dual)
            centring = (max(reached, 0.0) / complementarity) ** 3
            if mismatch > 0.5:
                centring = max(centring, 0.1)
            if stuck:
                centring = max(centring, 0.5)
                _forget_products(rows, working, variables)
            most = min(max(complementarity, gap), 2 * complementarity)
            target = min(centring, 1.0) * most / (working.size + z.size)
    if mismatch > 0.1:
        primal = dual = min(primal, dual)
    return primal, dual, target


@inner
def _admit_rows(
    rows: Table,
    entries: Table,
    active: Whole,
    working: Whole,
    count: int,
    z: Reals,
    change: Reals,
    length: float,
) -> tuple[float, int, float]:
    """Rows outside the working set that a step would break shorten it, and join.

    The length then, how many rows work, and the least room of a row that was outside.
    """
    shortened, least = length, np.inf
    for a in range(active.size):
        row = rows[active[a]]
        if row.is_working:
            continue
        room, room_change = 1 - times(row, entries, z), -times(row, entries, change)
        least = min(least, room)
        if room + length * room_change <= 0.0:
            shortened = min(shortened, -_OUTSIDE * room / room_change)
            row.is_working = True
            working[count] = active[a]
            count += 1
    return shortened, count, least


@inner
def _advance(
    rows: Table,
    entries: Table,
    working: Whole,
    variables: Table,
    caps: Reals,
    z: Reals,
    change: Reals,
    primal: float,
    dual: float,
) -> bool:
    """Goes so far; false if that is not inside. Prices of rows that joined are set later."""
    inside = True
    for j in range(z.size):
        variable = variables[j]
        z[j] += primal * change[j]
        variable.room = caps[j] - z[j]
        variable.cap_price += dual * variable.price_change
        inside = inside and z[j] > 0 and variable.room > 0
    for a in range(working.size):
        row = rows[working[a]]
        row.room = 1 - times(row, entries, z)
        row.price += dual * row.price_change
        inside = inside and row.room > 0
    return inside


@inlined
def _minimise(
    kind: int,
    rows: Table,
    entries: Table,
    longest: float,
    active: Whole,
    variables: Table,
    caps: Reals,
    tolerance: float,
    limit: int,
    scratch: tuple[Whole, Reals, Reals, Reals, Reals, Reals],
    bound_at_caps: float,
    z_out: Reals,
    cap_prices_out: Reals,
) -> tuple[float, float, int]:
    """One person's iterates, until the error is within ``tolerance`` of a proved lower bound.

    That bound, the sum of the rows' prices, and how many steps were taken.
    """
    all_working, z, change, reach, unit, matrix = scratch
    count, scale = start(
        kind, rows, entries, longest, active, variables, caps, z, reach, all_working
    )
    working, m = all_working[:count], z.size
    copy(z, z_out)
    proved, row_price = bound_at_caps, 0.0
    best, before, spare, steps = -np.inf, np.inf, -1.0, 0
    for steps in range(limit):
        value, bound, price, complementarity, mismatch = _measure(
            kind, rows, entries, working, variables, caps, z
        )
        if bound > best:
            best, proved, row_price = bound, bound / scale, price / scale
            for j in range(m):
                cap_prices_out[j] = variables[j].cap_price / scale
        if not value - best > tolerance * value:
            break
        stuck = steps > 15 and complementarity > 0.5 * before  # it may turn in circles
        before, gap = complementarity, value - best
        _fill_matrix(rows, entries, working, variables, matrix)
        if not factorise(matrix, unit):
            break
        primal, dual, target = _direction(
            rows, entries, working, variables, z, matrix, unit,
            complementarity, gap, mismatch, stuck, change,
        )  # fmt: skip
        # no row moves by more than its sum times the largest change: most steps need not look
        reaches, count = largest(change) * (primal * longest), working.size
        if reaches >= spare:
            primal, count, spare = _admit_rows(
                rows, entries, active, all_working, count, z, change, primal
            )
        spare -= reaches
        inside = _advance(rows, entries, working, variables, caps, z, change, primal, dual)
        newcomer = max(target, 1e-3 * complementarity / (working.size + m))
        for a in range(working.size, count):
            row = rows[all_working[a]]
            row.room = 1 - times(row, entries, z)
            row.price = newcomer / row.room
            inside = inside and row.room > 0
        if not inside:
            break
        working = all_working[:count]
        copy(z, z_out)
    return proved, row_price, steps


@njit(cache=True, nogil=True, error_model="numpy")
def allocate_each(
    starts: Whole,
    columns: Whole,
    values: Reals,
    caps: Reals,
    weights: Reals,
    stretch: Reals,
    kind: int,
    tolerance: float,
    limit: int,
    z_out: Reals,
    bound_out: Reals,
    price_out: Reals,
    cap_prices_out: Reals,
    steps_out: Whole,
) -> None:
    """Minimise sum_j weights_j error(stretch_j z_j) over A z <= 1, 0 < z <= caps, row by row.

    Row k of A has ``values`` in ``columns`` from starts[k] to starts[k + 1]. ``bound_out`` is a
    proved lower bound of the minimum, ``price_out`` the sum of the rows' prices.
    """
    n, m = starts.size - 1, caps.shape[1]
    rows, entries = np.empty(n, dtype=ROW), np.empty(values.size, dtype=ENTRY)
    longest = fill_rows(starts, columns, values, rows, entries)
    variables = np.empty(m, dtype=VARIABLE)
    active, working = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    z, change, reach = np.empty(m), np.empty(m), np.empty(n)
    scratch = working, z, change, reach, np.empty(m), np.empty((m, m))
    for person in range(caps.shape[0]):
        value = 0.0  # where no row matters every variable is at its cap
        for j in range(m):
            variable, cap = variables[j], caps[person, j]
            variable.weight, variable.stretch = weights[person, j], stretch[person, j]
            level, steepness, _ = error(kind, variable.stretch * cap)
            value += variable.weight * level
            z_out[person, j] = cap
            cap_prices_out[person, j] = variable.weight * variable.stretch * steepness
        bound_out[person], price_out[person], steps_out[person] = value, 0.0, 0
        count = find_active(rows, entries, caps[person], active)
        if count:
            bound_out[person], price_out[person], steps_out[person] = _minimise(
                kind, rows, entries, longest, active[:count], variables, caps[person],
                tolerance, limit, scratch, value, z_out[person], cap_prices_out[person],
            )  # fmt: skip
