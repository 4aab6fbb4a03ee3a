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
    turns: Any,
    out: Any,
) -> float:
    """Minus the Hessian times (way, way_lam): ``out`` for z, and its entry for lam."""
    n, free = way.shape
    for i in range(n):
        mean = 0.0
        for a in range(free):
            mean += t[i, a] * way[i, a]
        for a in range(free):
            out[i, a] = mass[i] * t[i, a] * (way[i, a] - mean)
    out_lam = 0.0
    for j in range(n):
        mean = 0.0
        for e in range(starts[j], starts[j + 1]):
            i = outs[e]
            turn = way_lam * dist[e]
            for a in range(free):
                turn += (pi[j, a] - t[i, a]) * way[i, a]
            turns[e] = turn
            mean += x[e] * turn
        for e in range(starts[j], starts[j + 1]):
            i = outs[e]
            push = p[j] * x[e] * (turns[e] - mean) / tau
            out_lam += push * dist[e]
            for a in range(free):
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
    n, free = out.shape
    for i in range(n):
        for a in range(free):
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
            for a in range(free):
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
def _learn(moment: Any, mass: Any, i: Any, prior: Any, gain: Any) -> None:
    """gain[i, a] = ln(p(a | output i) / p(a)); minus infinity is -690."""
    for a in range(prior.size):
        there = moment[i, a]
        gain[i, a] = math.log(there / (prior[a] * mass[i])) if there > 0 else -690.0


@njit(cache=True, nogil=True, error_model="numpy")
def _cost(gain: Any, mass: Any, i: Any, shares: Any, prior: Any) -> float:
    """Derivative of the leak when a unit of mass with ``shares`` comes to output i."""
    total = 0.0
    for a in range(prior.size):
        if shares[a] > 0:
            total += shares[a] * (gain[i, a] if mass[i] > 0 else math.log(shares[a] / prior[a]))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _move(
    moment: Any, mass: Any, source: Any, target: Any, shares: Any, extra: Any, top: Any
) -> Any:
    """How much mass with ``shares`` goes from one output to another: a safe Newton search."""
    low, high, move = 0.0, top, top
    for turn in range(40):
        slope, bend = extra, 0.0
        empty = turn == 0 and mass[source] - move <= 1e-15 * mass[source]
        for a in range(shares.size):
            share = shares[a]
            if share <= 0:
                continue
            there = moment[target, a] + move * share
            here = moment[source, a] - move * share
            slope += share * math.log(there / (mass[target] + move))
            bend += share * share / there
            if empty:
                slope -= share * math.log(share)
            elif here > 0 and mass[source] - move > 0:
                slope -= share * math.log(here / (mass[source] - move))
                bend += share * share / here
            else:
                slope += share * 690.0
        if turn == 0 and slope <= 0:
            return top
        if slope > 0:
            high = move
        else:
            low = move
        bend -= 1 / (mass[target] + move) + (0.0 if empty else 1 / (mass[source] - move))
        step = move - slope / bend if bend > 0 else -1.0
        move = step if low < step < high else 0.5 * (low + high)
        if high - low <= 1e-12 * top or abs(slope) <= 1e-13:
            break
    return move


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
    gain = np.zeros((n, secrets))
    for i in range(n):
        if mass[i] > 0:
            _learn(moment, mass, i, prior, gain)
    for _ in range(passes):
        for j in range(n):
            if p[j] <= 0 or starts[j + 1] - starts[j] < 2:
                continue
            worst, best = -1, -1
            high, low = -np.inf, np.inf
            for e in range(starts[j], starts[j + 1]):
                cost = _cost(gain, mass, outs[e], pi[j], prior) + lam * dist[e]
                if cost < low:
                    low, best = cost, e
                if x[e] > 0 and cost > high:
                    high, worst = cost, e
            if worst < 0 or best == worst or high - low < 1e-9:
                continue
            source, target = outs[worst], outs[best]
            top = p[j] * x[worst]
            extra = lam * (dist[best] - dist[worst])
            move = _move(moment, mass, source, target, pi[j], extra, top)
            if move <= 0:
                continue
            x[worst] = 0.0 if move == top else max(0.0, x[worst] - move / p[j])
            x[best] += move / p[j]
            mass[source] -= move
            mass[target] += move
            for a in range(secrets):
                moment[source, a] = max(0.0, moment[source, a] - move * pi[j, a])
                moment[target, a] += move * pi[j, a]
            if mass[source] < 1e-18:
                mass[source] = 0.0
                moment[source, :] = 0.0
            else:
                _learn(moment, mass, source, prior, gain)
            _learn(moment, mass, target, prior, gain)
