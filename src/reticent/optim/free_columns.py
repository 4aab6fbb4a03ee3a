"""The free coefficients of an active-set method: their factorised columns, and moves along them.

Theory    docs/theory/reconstruction.md, Lemma 2 (pivot), Lemma 3 (purify)
Notation  a_k = row k of R times sqrt(q), F = free coefficients, p = a direction on F
Not here  who becomes free and when to stop (bounded_least_squares_kernels.py).

The columns of F are kept linearly independent, as Q A_F = [T; 0] with Q orthogonal and T upper
triangular, changed by one reflection when a coefficient enters and by rotations when one leaves.
With a total one more free coefficient is the *reference*: the columns are a_k - a_ref, and the
reference takes what the others leave.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import njit

BOUND, FREE, BARRED = 0, 1, 2
NOBODY = -1
DEPENDENT = 1e-9  # of a column's length: what is left of it outside the span of the others
FAST = {"reassoc", "contract"}  # sums may be vectorised; no finite-only assumptions


class Task(NamedTuple):
    """R by rows without its zeros, bounds, and one person's sqrt(q), h and |a_k|^2."""

    starts: Any
    columns: Any
    values: Any
    upper: Any
    root: Any
    target: Any
    squares: Any


class Work(NamedTuple):
    """Where the method is: coefficients, F with its size and reference, factors, scratch."""

    c: Any
    state: Any
    free: Any
    size: Any  # of F
    reference: Any
    q: Any
    t: Any
    a: Any
    w: Any
    p: Any
    r: Any
    y: Any
    v: Any
    fitted: Any


@njit(cache=True, nogil=True, fastmath=FAST)
def direction(work: Work) -> None:
    """P = the step to the best point of F, and w = what it takes from the residual, in Q."""
    f, w = work.size[0], work.w
    for i in range(f):
        total = 0.0
        for j in range(work.r.size):
            total += work.q[i, j] * work.r[j]
        w[i] = total
        work.p[i] = total
    back_substitute(f, work.t, work.p)


@njit(cache=True, nogil=True, fastmath=FAST)
def back_substitute(f: int, t: Any, p: Any) -> None:
    """P := T^-1 p."""
    for i in range(f - 1, -1, -1):
        total = p[i]
        for j in range(i + 1, f):
            total -= t[i, j] * p[j]
        p[i] = total / t[i, i]


@njit(cache=True, nogil=True, fastmath=FAST)
def longest(task: Task, work: Work, f: int, most: float) -> Any:
    """How far along p one can go, at most ``most``, and who stops it: a place in F or nobody.

    The reference, which pays for the others, has place f.
    """
    step, stopper, back = most, NOBODY, 0.0
    for i in range(f):
        p, k = work.p[i], work.free[i]
        back -= p
        room = task.upper[k] - work.c[k] if p > 0.0 else work.c[k]
        if abs(p) * step > room:
            step, stopper = room / abs(p), i
    k = work.reference[0]
    if k >= 0:
        room = task.upper[k] - work.c[k] if back > 0.0 else work.c[k]
        if abs(back) * step > room:
            step, stopper = room / abs(back), f
    return step, stopper


@njit(cache=True, nogil=True, fastmath=FAST)
def advance(task: Task, work: Work, f: int, step: float, stopper: int) -> None:
    """C += step p on F, the stopper exactly to its bound."""
    back = 0.0
    for i in range(f):
        back -= work.p[i]
        shift(task, work, work.free[i], step * work.p[i], work.p[i] > 0.0, i == stopper)
    if work.reference[0] >= 0:
        shift(task, work, work.reference[0], step * back, back > 0.0, f == stopper)


@njit(cache=True, nogil=True, fastmath=FAST)
def shift(task: Task, work: Work, k: int, move: float, up: bool, to_bound: bool) -> None:
    """One coefficient moves, and never past a bound."""
    work.c[k] = min(max(work.c[k] + move, 0.0), task.upper[k])
    if to_bound:
        work.c[k] = task.upper[k] if up else 0.0


@njit(cache=True, nogil=True, fastmath=FAST)
def leave(work: Work, place: int) -> None:
    """Who reached a bound is free no more."""
    if place < work.size[0]:
        remove(work, place)
    else:
        change_reference(work)


@njit(cache=True, nogil=True, fastmath=FAST)
def change_reference(work: Work) -> None:
    """The reference leaves and the first of F takes its place.

    Its column (a_heir - a_ref) goes off every other one; in T it has but one entry, the first.
    """
    heir = work.free[0]
    for j in range(1, work.size[0]):
        work.t[0, j] -= work.t[0, 0]
    remove(work, 0)
    work.state[work.reference[0]] = BOUND
    work.reference[0] = heir
    work.state[heir] = FREE


@njit(cache=True, nogil=True, fastmath=FAST)
def clear_factors(work: Work) -> None:
    """F = empty, Q = identity."""
    work.size[0] = 0
    work.q[:] = 0.0
    for j in range(work.r.size):
        work.q[j, j] = 1.0


@njit(cache=True, nogil=True, fastmath=FAST)
def append(task: Task, work: Work, k: int) -> bool:
    """Column k joins F, if it is independent of the others; w starts with its part in their span.

    One reflection turns the rest of Q a_k onto the next axis.
    """
    f, m, q, w, a = work.size[0], work.r.size, work.q, work.w, work.a
    length = take_column(task, work, k)
    for i in range(m):
        total = 0.0
        for j in range(m):
            total += q[i, j] * a[j]
        w[i] = total
    rest = 0.0
    for i in range(f, m):
        rest += w[i] * w[i]
    rest = math.sqrt(rest)
    if f == m or rest <= DEPENDENT * length:
        return False
    onto = -rest if w[f] > 0.0 else rest
    w[f] -= onto
    factor = 1.0 / (rest * abs(w[f]))
    for j in range(m):
        a[j] = 0.0
    for i in range(f, m):
        for j in range(m):
            a[j] += w[i] * q[i, j]
    for i in range(f, m):
        share = w[i] * factor
        for j in range(m):
            q[i, j] -= share * a[j]
    for i in range(f):
        work.t[i, f] = w[i]
    work.t[f, f] = onto
    work.free[f] = k
    work.state[k] = FREE
    work.size[0] = f + 1
    return True


@njit(cache=True, nogil=True, fastmath=FAST)
def take_column(task: Task, work: Work, k: int) -> float:
    """Scratch a = a_k, or a_k - a_ref; returns the length that rounding is relative to."""
    a, root, columns, values = work.a, task.root, task.columns, task.values
    a[:] = 0.0
    length = task.squares[k]
    for e in range(task.starts[k], task.starts[k + 1]):
        a[columns[e]] += values[e] * root[columns[e]]
    other = work.reference[0]
    if other >= 0:
        length += task.squares[other]
        for e in range(task.starts[other], task.starts[other + 1]):
            a[columns[e]] -= values[e] * root[columns[e]]
    return math.sqrt(length)


@njit(cache=True, nogil=True, fastmath=FAST)
def remove(work: Work, place: int) -> None:
    """Column ``place`` leaves; rotations make T triangular again."""
    f, t, q = work.size[0] - 1, work.t, work.q
    work.state[work.free[place]] = BOUND
    for j in range(place, f):
        work.free[j] = work.free[j + 1]
        for i in range(j + 2):
            t[i, j] = t[i, j + 1]
    for i in range(place, f):
        length = math.hypot(t[i, i], t[i + 1, i])
        cosine, sine = t[i, i] / length, t[i + 1, i] / length
        for j in range(i, f):
            one, two = t[i, j], t[i + 1, j]
            t[i, j] = cosine * one + sine * two
            t[i + 1, j] = cosine * two - sine * one
        for j in range(q.shape[0]):
            one, two = q[i, j], q[i + 1, j]
            q[i, j] = cosine * one + sine * two
            q[i + 1, j] = cosine * two - sine * one
    work.size[0] = f
