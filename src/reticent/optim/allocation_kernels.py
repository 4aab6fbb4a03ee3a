"""The primal-dual Newton method of allocation.py for one person after another, compiled.

Theory    docs/theory/multilevel.md, Theorem 4 (certificate), "Algorithm"
Notation  rows a_k z <= 1, 0 < z <= u; s = 1 - A z, q = u - z; lam, mu = multipliers of both
Not here  which problems are solved, what happens to those that fail (allocation.py).

Rows are sparse, so that the Newton matrix costs the square of a row's entries, not of its length.
Only a working set of rows takes part; every row bounds every step, and joins when it does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from reticent.optim.order_kernels import kth_smallest

_SHRINK = 0.8  # how much smaller a variable may become in one step
_CLOSE = 0.995  # how far to the boundary a step may go
_OUTSIDE = 0.97  # the same for rows that were not in the working set


@njit(cache=True, nogil=True, error_model="numpy")
def _shape(kind: Any, x: Any) -> Any:
    """Value, -slope and curvature / -slope of the error as a function of x. Lemma 2."""
    if kind == 1:
        return 1 / x, 1 / (x * x), 2 / x
    if kind == 2:
        return 1 / (x * x), 2 / (x * x * x), 3 / x
    if kind == 3:
        sh, ch = math.sinh(x), math.cosh(x)
        return 1 / sh, ch / (sh * sh), (ch * ch + 1) / (sh * ch)
    sh, ch = math.sinh(x / 2), math.cosh(x / 2)
    return 0.5 / (sh * sh), 0.5 * ch / (sh * sh * sh), (2 * ch * ch + 1) / (2 * sh * ch)


@njit(cache=True, nogil=True, error_model="numpy")
def _at_slope(kind: Any, slope: Any, x: Any) -> Any:
    """Near where -slope of the error is ``slope``: exact for powers, Newton from x otherwise."""
    if kind == 1:
        return 1 / math.sqrt(slope)
    if kind == 2:
        return (2 / slope) ** (1 / 3)
    for _ in range(3):
        _, steep, bend = _shape(kind, x)
        x *= math.exp(min(max(math.log(steep / slope) / (bend * x), -2.0), 2.0))
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def _factor(h: Any, unit: Any) -> bool:
    """Cholesky of h scaled to a unit diagonal, in place; false if h is not positive."""
    m = h.shape[0]
    for i in range(m):
        if not h[i, i] > 0:
            return False
        unit[i] = 1 / math.sqrt(h[i, i])
    for i in range(m):
        for j in range(i + 1):
            total = h[i, j] * unit[i] * unit[j]
            for k in range(j):
                total -= h[i, k] * h[j, k]
            if i == j:
                h[i, i] = math.sqrt(total) if total > 1e-14 else 1e-7
            else:
                h[i, j] = total / h[j, j]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(h: Any, unit: Any, right: Any) -> None:
    m = h.shape[0]
    for i in range(m):
        total = right[i] * unit[i]
        for k in range(i):
            total -= h[i, k] * right[k]
        right[i] = total / h[i, i]
    for i in range(m - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, m):
            total -= h[k, i] * right[k]
        right[i] = total / h[i, i]
    for i in range(m):
        right[i] *= unit[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _times(starts: Any, columns: Any, entries: Any, k: Any, x: Any) -> float:
    total = 0.0
    for e in range(starts[k], starts[k + 1]):
        total += entries[e] * x[columns[e]]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def allocate_each(
    starts: Any,
    columns: Any,
    entries: Any,
    caps: Any,
    weights: Any,
    stretch: Any,
    kind: Any,
    tolerance: Any,
    limit: Any,
    z_out: Any,
    lower_out: Any,
    price_out: Any,
    cap_price_out: Any,
    steps_out: Any,
) -> None:
    """Minimise sum_j weights_j error(stretch_j z_j) over A z <= 1, 0 < z <= caps, row by row.

    ``lower_out`` is a proved lower bound of the minimum, ``price_out`` the sum of the multipliers.
    """
    people, m = caps.shape
    rows = starts.size - 1
    h, unit = np.empty((m, m)), np.empty(m)
    z, q, mu, v = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    steep, bend, dz, mu_way = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    pull, inverse, ratio = np.empty(m), np.empty(rows), np.empty(rows)
    lam, s, ds, lam_way = np.zeros(rows), np.empty(rows), np.empty(rows), np.empty(rows)
    active, working = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    inside = np.zeros(rows, dtype=np.bool_)
    reach = np.empty(rows)
    longest = 0.0
    for k in range(rows):
        total = 0.0
        for e in range(starts[k], starts[k + 1]):
            total += entries[e]
        longest = max(longest, total)

    for person in range(people):
        u, w, c = caps[person], weights[person], stretch[person]
        n_active = 0
        for k in range(rows):
            lam[k] = 0.0
            inside[k] = False
            if _times(starts, columns, entries, k, u) > 1:
                active[n_active] = k
                n_active += 1
        value = 0.0
        for j in range(m):
            value += w[j] * _shape(kind, c[j] * u[j])[0]
            z_out[person, j] = u[j]
            cap_price_out[person, j] = w[j] * c[j] * _shape(kind, c[j] * u[j])[1]
        lower_out[person] = value
        price_out[person] = 0.0
        steps_out[person] = 0
        if n_active == 0:
            continue

        for j in range(m):
            z[j] = min(u[j], 1 / longest)
        n_working = 0
        for a in range(n_active):
            reach[a] = _times(starts, columns, entries, active[a], z)
        least = -1.0
        if n_active > 3 * m:
            least = kth_smallest(reach, n_active, n_active - 2 * m)
        for a in range(n_active):
            if reach[a] >= least and n_working < 3 * m:
                inside[active[a]] = True
                working[n_working] = active[a]
                n_working += 1
        value = 0.0
        for j in range(m):
            z[j] *= 0.9
            z_out[person, j] = z[j]
            q[j] = u[j] - z[j]
            value += w[j] * _shape(kind, c[j] * z[j])[0]
        scale = m / value  # the objective is m at the start
        for a in range(n_active):
            s[active[a]] = 1 - _times(starts, columns, entries, active[a], z)
        # multipliers that fit the slopes: one price for all rows, the rest by the caps
        flattest = np.inf
        for j in range(m):
            v[j] = 0.0
            steep[j] = scale * w[j] * c[j] * _shape(kind, c[j] * z[j])[1]
            flattest = min(flattest, steep[j])
        for a in range(n_working):
            for e in range(starts[working[a]], starts[working[a] + 1]):
                v[columns[e]] += entries[e]
        most = 1.0
        for j in range(m):
            most = max(most, v[j])
        for a in range(n_working):
            lam[working[a]] = flattest / most
        for j in range(m):
            mu[j] = max(steep[j] - v[j] * flattest / most, 0.1 * steep[j])

        best, before, margin = -np.inf, np.inf, -1.0
        for step in range(limit):
            # where we are: objective, mismatch of the slopes, complementarity, lower bound
            for j in range(m):
                v[j] = 0.0
            price = 0.0
            complementarity = 0.0
            for a in range(n_working):
                k = working[a]
                price += lam[k]
                complementarity += lam[k] * s[k]
                inverse[k] = 1 / s[k]  # divisions are most of the work on a sparse row
                ratio[k] = lam[k] * inverse[k]
                for e in range(starts[k], starts[k + 1]):
                    v[columns[e]] += entries[e] * lam[k]
            value, lower, mismatch = 0.0, -price, 0.0
            for j in range(m):
                level, steep[j], bend[j] = _shape(kind, c[j] * z[j])
                level *= scale * w[j]
                steep[j] *= scale * w[j] * c[j]
                bend[j] *= c[j]
                value += level
                # Theorem 4: a tangent at any y is below the error
                y = u[j]
                if v[j] > 0:
                    y = min(y, _at_slope(kind, v[j] / (scale * w[j] * c[j]), c[j] * z[j]) / c[j])
                there, slope, _ = _shape(kind, c[j] * y)
                slope *= scale * w[j] * c[j]
                lower += scale * w[j] * there + slope * y + min(0.0, v[j] - slope) * u[j]
                v[j] += mu[j]
                complementarity += mu[j] * q[j]
                pull[j] = math.log(steep[j] / v[j])
                mismatch = max(mismatch, abs(pull[j]))
            if lower > best:
                best = lower
                lower_out[person] = lower / scale
                price_out[person] = price / scale
                for j in range(m):
                    cap_price_out[person, j] = mu[j] / scale
            steps_out[person] = step
            if not value - best > tolerance * value:
                break

            stuck = step > 15 and complementarity > 0.5 * before  # it may turn in circles
            before = complementarity

            # the Newton matrix, lower half
            for i in range(m):
                for j in range(i):
                    h[i, j] = 0.0
                h[i, i] = mu[i] / q[i] + v[i] * bend[i]
            for a in range(n_working):
                k = working[a]
                for e in range(starts[k], starts[k + 1]):
                    part = ratio[k] * entries[e]
                    i = columns[e]
                    for f in range(starts[k], e + 1):
                        h[i, columns[f]] += part * entries[f]
            if not _factor(h, unit):
                break

            # predictor, then corrector
            count = n_working + m
            tau = 0.0
            reached = 0.0
            for corrector in range(2):
                for j in range(m):
                    push = tau - (mu_way[j] if corrector else 0.0)
                    dz[j] = v[j] * (1 + pull[j]) - push / q[j]
                for a in range(n_working):
                    k = working[a]
                    push = (tau - (lam_way[k] if corrector else 0.0)) * inverse[k]
                    if push == 0.0:  # the predictor aims at no complementarity at all
                        continue
                    for e in range(starts[k], starts[k + 1]):
                        dz[columns[e]] -= entries[e] * push
                _solve(h, unit, dz)
                primal, dual = 1.0, 1.0
                for j in range(m):
                    if dz[j] < 0:
                        primal = min(primal, -_SHRINK * z[j] / dz[j])
                    elif dz[j] > 0:
                        primal = min(primal, _CLOSE * q[j] / dz[j])
                    push = tau - (mu_way[j] if corrector else 0.0)
                    way = push / q[j] - mu[j] + mu[j] / q[j] * dz[j]
                    if way < 0:
                        dual = min(dual, -_CLOSE * mu[j] / way)
                    if corrector:
                        mu_way[j] = way
                    else:
                        mu_way[j] = -dz[j] * way  # ds dlam of the predictor
                for a in range(n_working):
                    k = working[a]
                    ds[k] = -_times(starts, columns, entries, k, dz)
                    if ds[k] < 0:
                        primal = min(primal, -_CLOSE * s[k] / ds[k])
                    push = tau - (lam_way[k] if corrector else 0.0)
                    way = push * inverse[k] - lam[k] - ratio[k] * ds[k]
                    if way < 0:
                        dual = min(dual, -_CLOSE * lam[k] / way)
                    if corrector:
                        lam_way[k] = way
                    else:
                        lam_way[k] = ds[k] * way
                if not corrector:
                    for j in range(m):
                        way = -mu[j] + mu[j] / q[j] * dz[j]
                        reached += (mu[j] + dual * way) * (q[j] - primal * dz[j])
                    for a in range(n_working):
                        k = working[a]
                        way = -lam[k] - ratio[k] * ds[k]
                        reached += (lam[k] + dual * way) * (s[k] + primal * ds[k])
                    centre = (max(reached, 0.0) / complementarity) ** 3
                    if mismatch > 0.5:
                        centre = max(centre, 0.1)
                    if stuck:
                        centre = max(centre, 0.5)
                        mu_way[:] = 0.0
                        lam_way[:] = 0.0
                    most = min(max(complementarity, value - best), 2 * complementarity)
                    tau = min(centre, 1.0) * most / count
            if mismatch > 0.1:
                primal = dual = min(primal, dual)

            # rows outside the working set bound the step too, and join it; none of them can move
            # by more than the largest step times the longest row, so most steps need not look
            limited = primal
            change = 0.0
            for j in range(m):
                change = max(change, abs(dz[j]))
            change *= primal * longest
            joining = 0
            if change >= margin:
                margin = np.inf
                for a in range(n_active):
                    k = active[a]
                    if not inside[k]:
                        s[k] = 1 - _times(starts, columns, entries, k, z)
                        ds[k] = -_times(starts, columns, entries, k, dz)
                        margin = min(margin, s[k])
                        if s[k] + primal * ds[k] <= 0.0:
                            limited = min(limited, -_OUTSIDE * s[k] / ds[k])
                            inside[k] = True
                            working[n_working + joining] = k
                            joining += 1
            margin -= change
            for j in range(m):
                z[j] += limited * dz[j]
                q[j] = u[j] - z[j]
                mu[j] += dual * mu_way[j]
            for a in range(n_working):
                lam[working[a]] += dual * lam_way[working[a]]
            good = True
            for a in range(n_working + joining):
                k = working[a]
                s[k] = 1 - _times(starts, columns, entries, k, z)
                if a >= n_working:
                    lam[k] = max(tau, 1e-3 * complementarity / count) / s[k]
                good = good and s[k] > 0
            n_working += joining
            for j in range(m):
                good = good and z[j] > 0 and q[j] > 0
            if not good:
                break
            for j in range(m):
                z_out[person, j] = z[j]
