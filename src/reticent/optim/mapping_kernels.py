"""Compiled loops of the mapping solver: pricing, the smoothed dual, its Hessian, and the polish.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), "Algorithm"
Notation  pi_j = p(a | b_j), p_j = p(b_j), t_i = posterior assumed at output i, g_i = ln(t_i / p),
          cost_ij = <pi_j, g_i> + lam d(j, i), x_ij ~ exp(-cost_ij / tau); lists: entries e of
          input j are starts[j] .. starts[j + 1], with output outs[e] at distance dist[e]
Not here  the order of steps (mapping_newton.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from reticent.optim.distance_kernels import fill_distances

_BLOCK = 256


@njit(cache=True, nogil=True, error_model="numpy")
def price(
    distance: Any,
    pi: Any,
    g: Any,  # by secret: g[a, i]
    lam: float,
    width: float,
    cap: int,
    first: int,
    last: int,
    least: Any,
    counts: Any,
    outs: Any,
    dist: Any,
) -> None:
    """For inputs first .. last: the least cost, and up to ``cap`` outputs near it."""
    n, secrets = pi.shape
    costs, near = np.empty(_BLOCK), np.empty(_BLOCK)
    found = np.empty(n, dtype=np.int64)
    found_cost, found_dist = np.empty(n), np.empty(n)
    for j in range(first, last):
        low = np.inf
        size = 0
        for at in range(0, n, _BLOCK):
            count = min(_BLOCK, n - at)
            fill_distances(distance, j, at, count, near)
            for b in range(count):
                costs[b] = lam * near[b]
            for a in range(secrets):
                share = pi[j, a]
                for b in range(count):
                    costs[b] += share * g[a, at + b]
            block = np.inf
            for b in range(count):
                block = min(block, costs[b])
            low = min(low, block)
            if cap and block <= low + width:
                for b in range(count):
                    if costs[b] <= low + width:
                        found[size], found_cost[size], found_dist[size] = at + b, costs[b], near[b]
                        size += 1
        least[j] = low
        if not cap:
            continue
        edge = low + width
        within = 0
        for e in range(size):
            within += found_cost[e] <= edge
        if within > cap:
            edge = np.partition(found_cost[:size], cap - 1)[cap - 1]
        kept = 0
        for ties in range(2):  # the own profile and cheaper ones first: ties may exceed the cap
            for e in range(size):
                tied = found_cost[e] == edge and found[e] != j
                if found_cost[e] <= edge and tied == (ties == 1) and kept < cap:
                    outs[j - first, kept], dist[j - first, kept] = found[e], found_dist[e]
                    kept += 1
        counts[j - first] = kept


@njit(cache=True, nogil=True, error_model="numpy")
def soften(
    starts: Any,
    outs: Any,
    dist: Any,
    pi: Any,
    p: Any,
    t: Any,
    g: Any,  # by output: g[i, a]
    lam: float,
    tau: float,
    x: Any,
    mass: Any,
    moment: Any,
) -> Any:
    """Choices x at temperature tau, the mass and secrets of each output; value and distortion.

    The value is sum_j p_j softmin_i cost_ij, without - lam Delta.
    """
    n, secrets = pi.shape
    mass[:] = 0.0
    moment[:] = 0.0
    value, distortion = 0.0, 0.0
    for j in range(n):
        low = np.inf
        for e in range(starts[j], starts[j + 1]):
            i = outs[e]
            cost = lam * dist[e]
            for a in range(secrets):
                cost += pi[j, a] * g[i, a]
            x[e] = cost
            low = min(low, cost)
        total = 0.0
        for e in range(starts[j], starts[j + 1]):
            x[e] = math.exp((low - x[e]) / tau)
            total += x[e]
        value += p[j] * (low - tau * math.log(total))
        for e in range(starts[j], starts[j + 1]):
            x[e] /= total
            i, moved = outs[e], p[j] * x[e]
            mass[i] += moved
            distortion += moved * dist[e]
            for a in range(secrets):
                moment[i, a] += moved * pi[j, a]
    return value, distortion


@njit(cache=True, nogil=True, error_model="numpy")
def curve(
    starts: Any,
    outs: Any,
    dist: Any,
    pi: Any,
    p: Any,
    t: Any,
    tau: float,
    x: Any,
    mass: Any,
    way: Any,
    way_lam: float,
    out: Any,
) -> float:
    """Minus the Hessian times (way, way_lam): ``out`` for z, and its entry for lam."""
    n, secrets = pi.shape
    for i in range(n):
        mean = 0.0
        for a in range(secrets):
            mean += t[i, a] * way[i, a]
        for a in range(secrets):
            out[i, a] = mass[i] * t[i, a] * (way[i, a] - mean)
    out_lam = 0.0
    for j in range(n):
        mean = 0.0
        for e in range(starts[j], starts[j + 1]):
            if x[e] < 1e-14:
                continue
            i = outs[e]
            turn = way_lam * dist[e]
            for a in range(secrets):
                turn += (pi[j, a] - t[i, a]) * way[i, a]
            mean += x[e] * turn
        for e in range(starts[j], starts[j + 1]):
            if x[e] < 1e-14:
                continue
            i = outs[e]
            turn = way_lam * dist[e]
            for a in range(secrets):
                turn += (pi[j, a] - t[i, a]) * way[i, a]
            push = p[j] * x[e] * (turn - mean) / tau
            out_lam += push * dist[e]
            for a in range(secrets):
                out[i, a] += push * (pi[j, a] - t[i, a])
    return out_lam


@njit(cache=True, nogil=True, error_model="numpy")
def diagonal(
    starts: Any,
    outs: Any,
    dist: Any,
    pi: Any,
    p: Any,
    t: Any,
    tau: float,
    x: Any,
    mass: Any,
    out: Any,
) -> float:
    """The diagonal of minus the Hessian."""
    n, secrets = pi.shape
    for i in range(n):
        for a in range(secrets):
            out[i, a] = mass[i] * t[i, a] * (1 - t[i, a])
    out_lam = 0.0
    for j in range(n):
        mean = 0.0
        for e in range(starts[j], starts[j + 1]):
            mean += x[e] * dist[e]
        for e in range(starts[j], starts[j + 1]):
            i = outs[e]
            push = p[j] * x[e] / tau
            out_lam += push * (dist[e] - mean) * dist[e]
            for a in range(secrets):
                out[i, a] += push * (1 - x[e]) * (pi[j, a] - t[i, a]) ** 2
    return out_lam


@njit(cache=True, nogil=True, error_model="numpy")
def leak(moment: Any, prior: Any) -> float:
    """sum_i sum_a q_i(a) ln(q_i(a) / (p(a) |q_i|)), in nats."""
    total = 0.0
    for i in range(moment.shape[0]):
        mass = 0.0
        for a in range(prior.size):
            mass += moment[i, a]
        if mass <= 0:
            continue
        for a in range(prior.size):
            if moment[i, a] > 0:
                total += moment[i, a] * math.log(moment[i, a] / (prior[a] * mass))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(moment: Any, mass: Any, i: Any, shares: Any, prior: Any) -> float:
    """Derivative of the leak when a unit of mass with ``shares`` comes to output i."""
    total = 0.0
    for a in range(prior.size):
        if shares[a] > 0:
            there = moment[i, a]
            if there <= 0:
                if mass[i] <= 0:
                    total += shares[a] * math.log(shares[a] / prior[a])
                else:
                    total -= shares[a] * 690.0  # minus infinity
            else:
                total += shares[a] * math.log(there / (prior[a] * mass[i]))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def polish(
    starts: Any,
    outs: Any,
    dist: Any,
    pi: Any,
    p: Any,
    prior: Any,
    lam: float,
    x: Any,
    mass: Any,
    moment: Any,
    passes: int,
) -> None:
    """Pairwise descent on leak + lam distortion: mass goes from the worst to the best output."""
    n, secrets = pi.shape
    for _ in range(passes):
        for j in range(n):
            if p[j] <= 0:
                continue
            worst, best = -1, -1
            high, low = -np.inf, np.inf
            for e in range(starts[j], starts[j + 1]):
                cost = _slope(moment, mass, outs[e], pi[j], prior) + lam * dist[e]
                if cost < low:
                    low, best = cost, e
                if x[e] > 0 and cost > high:
                    high, worst = cost, e
            if worst < 0 or best == worst or high - low < 1e-13:
                continue
            source, target = outs[worst], outs[best]
            extra = lam * (dist[best] - dist[worst])
            top = p[j] * x[worst]
            lower, upper = 0.0, top
            move = top
            for _step in range(40):  # bisection on the sign of the derivative
                slope = extra
                for a in range(secrets):
                    share = pi[j, a]
                    if share <= 0:
                        continue
                    there = moment[target, a] + move * share
                    here = moment[source, a] - move * share
                    slope += share * math.log(there / (mass[target] + move))
                    if here > 0 and mass[source] - move > 0:
                        slope -= share * math.log(here / (mass[source] - move))
                    elif _step == 0 and mass[source] - move <= 1e-15 * mass[source]:
                        slope -= share * math.log(share)  # the source would be empty
                    else:
                        slope += share * 690.0
                if _step == 0 and slope <= 0:
                    break
                if slope > 0:
                    upper = move
                else:
                    lower = move
                move = 0.5 * (lower + upper)
            if move <= 0:
                continue
            x[worst] = max(0.0, x[worst] - move / p[j])
            if move == top:
                x[worst] = 0.0
            x[best] += move / p[j]
            mass[source] -= move
            mass[target] += move
            for a in range(secrets):
                moment[source, a] = max(0.0, moment[source, a] - move * pi[j, a])
                moment[target, a] += move * pi[j, a]
            if mass[source] < 1e-18:
                mass[source] = 0.0
                moment[source, :] = 0.0
