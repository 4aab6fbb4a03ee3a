"""Compiled active-set method for bounded least squares, one person after the other.

Theory    docs/theory/reconstruction.md, Lemma 1 (gap), Lemma 2 (pivot), Lemma 3 (purify)
Notation  a_k = row k of R times sqrt(q), r = sqrt(q) (h - R'c), v_k = a_k'r (minus the gradient),
          F = free coefficients, nu = multiplier of the total
Not here  checks and shapes (bounded_least_squares.py), the algebra of F (free_columns.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from reticent.optim.free_columns import (
    BARRED,
    BOUND,
    FAST,
    FREE,
    NOBODY,
    Task,
    Work,
    advance,
    append,
    back_substitute,
    clear_factors,
    direction,
    leave,
    longest,
    remove,
)

SWEEPS = 5


@njit(cache=True, nogil=True, fastmath=FAST)
def solve_all(
    starts: Any,
    columns: Any,
    values: Any,
    upper: Any,
    targets: Any,
    weights: Any,
    totals: Any,
    tolerance: float,
    most: int,
    coefficients: Any,
    fitted: Any,
    objectives: Any,
    gaps: Any,
    iterations: Any,
) -> None:
    """Every row of ``targets``; ``totals`` is empty, or one for each."""
    count, m = upper.size, targets.shape[1]
    work = Work(
        np.empty(count),
        np.empty(count, dtype=np.uint8),
        np.empty(m + 2, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.empty((m, m)),
        np.empty((m, m)),
        np.empty(m),
        np.empty(m),
        np.empty(m + 2),
        np.empty(m),
        np.empty(m),
        np.empty(count),
        np.empty(m),
    )
    root, squares = np.empty(m), np.empty(count)
    for person in range(targets.shape[0]):
        for j in range(m):
            root[j] = math.sqrt(weights[person, j])
        for k in range(count):
            squares[k] = 0.0
            for e in range(starts[k], starts[k + 1]):
                squares[k] += values[e] * values[e] * weights[person, columns[e]]
        task = Task(starts, columns, values, upper, root, targets[person], squares)
        total = totals[person] if totals.size else -1.0
        start(task, work, total)
        iterations[person], gaps[person] = improve(task, work, total, tolerance, most)
        objectives[person] = half_square(work.r)
        for k in range(count):  # copies of whole rows take seconds to compile
            coefficients[person, k] = work.c[k]
        for j in range(m):
            fitted[person, j] = work.fitted[j]


@njit(cache=True, nogil=True, fastmath=FAST)
def half_square(r: Any) -> float:
    """Half the squared length."""
    total = 0.0
    for j in range(r.size):
        total += r[j] * r[j]
    return total / 2


@njit(cache=True, nogil=True, fastmath=FAST)
def gap_at(v: Any, upper: Any, c: Any, nu: float) -> float:
    """Lemma 1: no feasible point is better by more than this, whatever nu is."""
    total = 0.0
    for k in range(v.size):
        slope = v[k] - nu
        total += slope * (upper[k] - c[k]) if slope > 0.0 else -slope * c[k]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def least_gap(v: Any, upper: Any, c: Any, total: float) -> float:
    """Lemma 1 at the best nu: the slope at which a greedy knapsack of ``total`` is full."""
    if total < 0.0:
        return gap_at(v, upper, c, 0.0)
    left, nu = total, 0.0
    for k in np.argsort(-v):
        nu = v[k]
        left -= upper[k]
        if left < 0.0:
            break
    return gap_at(v, upper, c, nu)


@njit(cache=True, nogil=True, fastmath=FAST)
def scaled_gap(gap: float, objective: float) -> float:
    """Lemma 1: the dual point shortened to its best length; never above the objective."""
    if gap >= 2.0 * objective:
        return objective
    return gap - gap * (gap / (4.0 * objective))


@njit(cache=True, nogil=True, fastmath=FAST)
def fit(task: Task, work: Work) -> None:
    """Fitted values and residual of the coefficients, afresh."""
    fitted, c, columns = work.fitted, work.c, task.columns
    fitted[:] = 0.0
    for k in range(c.size):
        if c[k] != 0.0:
            for e in range(task.starts[k], task.starts[k + 1]):
                fitted[columns[e]] += task.values[e] * c[k]
    for j in range(fitted.size):
        work.r[j] = task.root[j] * (task.target[j] - fitted[j])


@njit(cache=True, nogil=True, fastmath=FAST)
def price(task: Task, work: Work) -> Any:
    """Slopes at the residual without its part in the span of F; half squares of part and rest.

    In exact arithmetic F is settled and the part is 0. Its rounding error would be most of the gap.
    """
    r, y, v, q = work.r, work.y, work.v, work.q
    for j in range(r.size):
        y[j] = r[j]
    part = 0.0
    for i in range(work.size[0]):
        along = 0.0
        for j in range(r.size):
            along += q[i, j] * y[j]
        part += along * along
        for j in range(r.size):
            y[j] -= along * q[i, j]
    rest = half_square(y)
    for j in range(r.size):
        y[j] *= task.root[j]
    for k in range(v.size):
        total = 0.0
        for e in range(task.starts[k], task.starts[k + 1]):
            total += task.values[e] * y[task.columns[e]]
        v[k] = total
    return part / 2, rest


@njit(cache=True, nogil=True, fastmath=FAST)
def start(task: Task, work: Work, total: float) -> None:
    """Coordinate descent from 0, the total approached by multipliers; then independent columns."""
    work.c[:] = 0.0
    work.reference[0] = NOBODY
    for j in range(work.r.size):
        work.r[j] = task.root[j] * task.target[j]
    if total < 0.0:
        for _ in range(SWEEPS):
            sweep(task, work, 0.0, 0.0, 0.0)
    else:
        cost, lift = np.mean(task.squares), 0.0
        for _ in range(SWEEPS):
            lift = lift + cost * sweep(task, work, lift, cost, total)
        meet_total(task, work, total)
    purify(task, work)


@njit(cache=True, nogil=True, fastmath=FAST)
def sweep(task: Task, work: Work, lift: float, cost: float, total: float) -> Any:
    """Each coefficient in turn goes to its best place; keeps r and returns what lacks to the total.

    A unit of any coefficient earns ``lift``, and a lack costs half its square times ``cost``.
    """
    c, r, upper = work.c, work.r, task.upper
    starts, columns, values, root = task.starts, task.columns, task.values, task.root
    lack = total - np.sum(c)
    for k in range(c.size):
        curvature = task.squares[k] + cost
        if curvature == 0.0:
            continue
        slope = lift + cost * lack
        for e in range(starts[k], starts[k + 1]):
            slope += values[e] * root[columns[e]] * r[columns[e]]
        to = min(max(c[k] + slope / curvature, 0.0), upper[k])
        move = to - c[k]
        if move != 0.0:
            c[k] = to
            lack -= move
            for e in range(starts[k], starts[k + 1]):
                r[columns[e]] -= values[e] * root[columns[e]] * move
    return lack


@njit(cache=True, nogil=True, fastmath=FAST)
def meet_total(task: Task, work: Work, total: float) -> None:
    """What lacks to the total goes where it gains most or costs least; the last is reference."""
    c = work.c
    clear_factors(work)
    fit(task, work)
    price(task, work)
    lack = total - np.sum(c)
    order = np.argsort(work.v if lack < 0.0 else -work.v)
    for k in order:
        work.reference[0] = k
        to = min(max(c[k] + lack, 0.0), task.upper[k])
        lack -= to - c[k]
        c[k] = to
        if lack == 0.0:
            break
    fit(task, work)


@njit(cache=True, nogil=True, fastmath=FAST)
def improve(task: Task, work: Work, total: float, tolerance: float, most: int) -> Any:
    """Pivot until the gap is within ``tolerance`` of max(objective, 1); how often, and the gap."""
    reference, best, idle = work.reference, np.inf, 0
    settle(task, work)
    for iteration in range(most + 1):
        if reference[0] >= 0:
            mend_total(task, work, total)
        fit(task, work)
        part, rest = price(task, work)
        objective = half_square(work.r)
        nu = work.v[reference[0]] if reference[0] >= 0 else 0.0
        gap = part + scaled_gap(gap_at(work.v, task.upper, work.c, nu), rest)
        idle = 0 if objective < best * (1.0 - 1e-15) else idle + 1
        best = min(best, objective)
        stuck = idle > 2 * work.r.size + 20  # nothing left to gain that doubles can hold
        if gap <= tolerance * max(objective, 1.0) or stuck or iteration == most:
            break
        k = steepest(task, work, nu)
        if k < 0:
            if idle > 0:
                break
        elif not enter(task, work, k, work.v[k] > nu):
            work.state[k] = BARRED
            continue
        for i in range(work.state.size):
            work.state[i] &= FREE
        settle(task, work)
    return iteration, part + scaled_gap(least_gap(work.v, task.upper, work.c, total), rest)


@njit(cache=True, nogil=True, fastmath=FAST)
def mend_total(task: Task, work: Work, total: float) -> None:
    """The reference takes up what rounding has left of the total."""
    k = work.reference[0]
    rest = 0.0
    for i in range(work.c.size):
        if i != k:
            rest += work.c[i]
    work.c[k] = min(max(total - rest, 0.0), task.upper[k])


@njit(cache=True, nogil=True, fastmath=FAST)
def steepest(task: Task, work: Work, nu: float) -> int:
    """The coefficient at a bound whose move alone would gain most, or nobody."""
    best, at = 0.0, NOBODY
    for k in range(work.v.size):
        if work.state[k] != BOUND:
            continue
        slope = work.v[k] - nu
        room = task.upper[k] - work.c[k] if slope > 0.0 else work.c[k]
        slope = abs(slope)
        if room > 0.0 and slope > 0.0:
            step = room if slope >= task.squares[k] * room else slope / task.squares[k]
            gain = step * (slope - task.squares[k] * step / 2)
            if gain > best:
                best, at = gain, k
    return at


@njit(cache=True, nogil=True, fastmath=FAST)
def enter(task: Task, work: Work, k: int, up: bool) -> bool:
    """Lemma 2: k becomes free, unless rounding alone made it look worth while."""
    f = work.size[0]
    if not append(task, work, k):
        return False
    direction(work)
    if (work.p[f] > 0.0) == up and work.p[f] != 0.0:
        return True
    remove(work, f)
    return False


@njit(cache=True, nogil=True, fastmath=FAST)
def settle(task: Task, work: Work) -> None:
    """Go to the best point of F; who meets a bound on the way leaves F."""
    f, r, w, q = work.size, work.r, work.w, work.q
    while f[0] > 0:
        direction(work)
        step, stopper = longest(task, work, f[0], 1.0)
        for i in range(f[0]):
            for j in range(r.size):
                r[j] -= step * w[i] * q[i, j]
        advance(task, work, f[0], step, stopper)
        if stopper < 0:
            break
        leave(work, stopper)


@njit(cache=True, nogil=True, fastmath=FAST)
def purify(task: Task, work: Work) -> None:
    """Lemma 3: the same fitted values with independent columns; sets F from the coefficients."""
    c, upper, state = work.c, task.upper, work.state
    clear_factors(work)
    state[:] = BOUND
    if work.reference[0] >= 0:
        state[work.reference[0]] = FREE
    for k in range(c.size):
        while state[k] == BOUND and 0.0 < c[k] < upper[k]:
            if append(task, work, k):
                break
            slide(task, work, k)


@njit(cache=True, nogil=True, fastmath=FAST)
def slide(task: Task, work: Work, k: int) -> None:
    """Move k and F along a dependence of their columns until somebody meets a bound."""
    f, p = work.size[0], work.p
    for i in range(f):
        p[i] = -work.w[i]
    back_substitute(f, work.t, p)
    p[f] = 1.0
    work.free[f] = k
    step, stopper = longest(task, work, f + 1, np.inf)
    for i in range(f + 1):
        p[i] = -p[i]
    shorter, other = longest(task, work, f + 1, step)
    if other >= 0:
        step, stopper = shorter, other
    else:
        for i in range(f + 1):
            p[i] = -p[i]
    advance(task, work, f + 1, step, stopper)
    if stopper == f + 1 and f == 0:
        work.state[work.reference[0]] = BOUND
        work.reference[0] = k
        work.state[k] = FREE
    elif stopper != f:
        leave(work, min(stopper, f))
