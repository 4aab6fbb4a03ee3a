"""From soft choices to a mapping: made sparse, polished, and within the distortion allowed.

Theory    docs/theory/mapping.md, Theorem 1 (the leak is convex), "Algorithm"
Notation  as in mapping_kernels.py
Not here  where the soft choices come from (mapping_newton.py), the polish itself
          (mapping_kernels.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.optim.mapping import Channel, Problem
from reticent.optim.pricing import Lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_DROP = 1e-5  # of a profile's largest chance: smaller ones are left out
_PRICES = 6  # tried until one gives too much distortion and one too little
_PASSES = 10  # of polish
_ROUNDING = 1 - 1e-12


def feasible_channel(
    problem: Problem, pi: Reals, prior: Reals, lists: Lists, x: Reals, lam: float
) -> Channel:
    """A channel with E[d] <= Delta near the choices ``x``; ``pi`` leaves impossible secrets out.

    The polish is at a fixed price of distortion. Two prices with distortions on either side of
    Delta give two channels, and the mixture that meets Delta leaks no more than their mixture.
    """
    top = np.maximum.reduceat(x, lists.starts[:-1])
    kept = x > _DROP * top[lists.inputs]
    sparse, x = lists.only(kept), x[kept]
    inputs, mass, delta = sparse.inputs, problem.profiles, problem.delta
    below: tuple[float, Reals] | None = None
    above: tuple[float, Reals] | None = None
    factor = 1.0
    for _ in range(_PRICES):
        x = _polished(problem, pi, prior, sparse, x, lam)
        far = float(mass[inputs] @ (x * sparse.dist))
        if far <= delta:
            below, factor = (far, x), 0.97 if factor >= 1 else factor**2
        else:
            above, factor = (far, x), 1.03 if factor <= 1 else factor**2
        both = below is not None and above is not None
        if both or abs(far - delta) <= 1e-6 * delta:
            break
        lam *= factor
    return _trimmed(_between(sparse, below, above, delta))


def _polished(
    problem: Problem, pi: Reals, prior: Reals, lists: Lists, x: Reals, lam: float
) -> Reals:
    from reticent.optim.mapping_kernels import polish

    n, inputs, mass = len(pi), lists.inputs, problem.profiles
    x = x / np.bincount(inputs, weights=x, minlength=n)[inputs]
    moved = mass[inputs] * x
    there = np.bincount(lists.outs, weights=moved, minlength=n).astype(np.float64)
    moments = [np.bincount(lists.outs, moved * pi[inputs, a], n) for a in range(pi.shape[1])]
    moment = np.ascontiguousarray(np.stack(moments, axis=1))
    entries = (lists.starts, lists.outs, lists.dist)
    polish(*entries, pi, mass, prior, lam, x, there, moment, _PASSES)
    return np.asarray(x / np.bincount(inputs, weights=x, minlength=n)[inputs])


def _between(
    lists: Lists,
    below: tuple[float, Reals] | None,
    above: tuple[float, Reals] | None,
    delta: float,
) -> Channel:
    """The mixture of distortion Delta; with the identity, where nothing was below it."""
    if above is None:
        assert below is not None  # noqa: S101, one price at least was tried
        return Channel(lists.starts, lists.outs, below[1])
    if below is None:
        whole = Channel(lists.starts, lists.outs, above[1])
        return _mixed(whole, delta / above[0] * _ROUNDING)
    share = (delta - below[0]) / (above[0] - below[0]) * _ROUNDING
    return Channel(lists.starts, lists.outs, share * above[1] + (1 - share) * below[1])


def _mixed(channel: Channel, share: float) -> Channel:
    """``share`` of the channel, the rest of every profile as it is: E[d] shrinks with it."""
    n = len(channel.starts) - 1
    inputs = np.concatenate([channel.inputs, np.arange(n)])
    outs = np.concatenate([channel.outs, np.arange(n)])
    chances = np.concatenate([share * channel.chances, np.full(n, 1 - share)])
    keys, places = np.unique(inputs * n + outs, return_inverse=True)
    inputs, outs = np.divmod(keys, n)
    sums: Reals = np.asarray(np.bincount(places.reshape(-1), weights=chances), np.float64)
    return Channel(np.searchsorted(inputs, np.arange(n + 1)), outs, sums)


def _trimmed(channel: Channel) -> Channel:
    kept = channel.chances > 0
    inputs = channel.inputs[kept]
    n = len(channel.starts) - 1
    return Channel(
        np.searchsorted(inputs, np.arange(n + 1)), channel.outs[kept], channel.chances[kept]
    )
