"""Mappings to compare with: the exponential mechanism, randomised response, perfect privacy.

Theory    docs/theory/mapping.md, Definition 1 (leak), Definition 2 (distortion), "Baselines"
Notation  d(j, i) = distance, x_ij = chance that profile j is released as i, beta = how fast chances
          fall with the distance, in inverse units of it
Not here  mappings of least leak (mapping_newton.py and its like).

The first two do not look at the joint law, so that what they promise does not depend on it:
``epsilon`` is the largest log-ratio of two chances of one output, over all pairs of profiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import ParameterError, require
from reticent.optim.mapping import Channel, Problem, information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

MOST_PERFECT = 600  # profiles in the linear program of perfect privacy
_BLOCK = 1 << 21  # pairs held at a time
_STEPS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """A mapping, its leak in nats, its distortion, and its worst case: local DP of ``epsilon``.

    ``parameter`` is beta of the exponential mechanism, the chance to keep a profile of randomised
    response. The channel is made when it is asked for: it has n^2 entries.
    """

    leak: float
    distortion: float
    epsilon: float
    parameter: float
    make: Callable[[], Channel] = field(repr=False)

    @property
    def channel(self) -> Channel:
        """The mapping itself."""
        return self.make()


def channel_epsilon(channel: Channel) -> float:
    """The largest ln(x_ij / x_il) over outputs i and profiles j, l; infinite if supports differ."""
    used = channel.chances > 0
    outs, chances = channel.outs[used], channel.chances[used]
    size = len(channel.starts) - 1
    counts = np.bincount(outs, minlength=size)
    if bool(((counts > 0) & (counts < size)).any()):
        return math.inf
    high, low = np.zeros(size), np.full(size, np.inf)
    np.maximum.at(high, outs, chances)
    np.minimum.at(low, outs, chances)
    return float(np.log(high[counts > 0] / low[counts > 0]).max())


def exponential_channel(problem: Problem, beta: float) -> Baseline:
    """Chances ~ exp(-beta d): the exponential mechanism with minus the distance as score.

    >>> from reticent.optim.distances import hamming
    >>> line = Problem.of([[0.5, 0], [0, 0.5]], hamming([["a"], ["b"]]), 0.1)
    >>> round(exponential_channel(line, math.log(3)).distortion, 9)
    0.25
    """
    require(0 <= beta < math.inf, "beta", beta, "at least 0 and finite")
    size, mass = problem.distance.size, problem.profiles
    moments, distortion = np.zeros((size, len(problem.joint))), 0.0
    high, low = np.full(size, -np.inf), np.full(size, np.inf)
    for part, far in _blocks(problem):
        logs = _log_chances(far, beta)
        chances = np.exp(logs)
        moments += chances.T @ problem.joint[:, part].T
        distortion += float(mass[part] @ (chances * far).sum(axis=1))
        high, low = np.maximum(high, logs.max(axis=0)), np.minimum(low, logs.min(axis=0))
    leak = information(moments, problem.prior)
    epsilon = float((high - low).max())
    return Baseline(leak, distortion, epsilon, beta, lambda: _exponential(problem, beta))


def exponential_at(
    problem: Problem, *, distortion: float | None = None, leak: float | None = None
) -> Baseline:
    """The exponential mechanism of at most a given distortion, or of at most a given leak.

    The distortion falls in beta; at beta = 0, a uniform draw, nothing leaks. The leak need not rise
    everywhere: bisection finds a beta at which it crosses the limit.
    """
    if (distortion is None) == (leak is None):
        raise ParameterError("distortion or leak", "given, one of them", (distortion, leak))
    if distortion is not None:
        return _least_beta(problem, distortion)
    assert leak is not None  # noqa: S101, for the type checker
    return _largest_beta(problem, leak)


def randomised_response(problem: Problem, keep: float) -> Baseline:
    """A profile as it is with chance ``keep``, else one of the others, all alike."""
    size = problem.distance.size
    require(0 <= keep <= 1, "keep", keep, "between 0 and 1")
    require(size > 1 or keep == 1, "keep", keep, "1 where there is one profile")
    other = (1 - keep) / max(size - 1, 1)
    moments = other * problem.prior + (keep - other) * problem.joint.T
    mass = problem.profiles
    sums = ((part, far.sum(axis=1)) for part, far in _blocks(problem))
    distortion = other * sum(float(mass[part] @ far) for part, far in sums)
    epsilon = 0.0 if size == 1 else _log_ratio(keep, other)

    def make() -> Channel:
        table = np.full((size, size), other)
        np.fill_diagonal(table, keep)
        return _full(table)

    leak = information(np.maximum(moments, 0.0), problem.prior)
    return Baseline(leak, distortion, epsilon, keep, make)


def perfect_privacy(problem: Problem) -> Baseline:
    """The least distortion at which secret and release are independent, by a linear program.

    Delta of the problem plays no part. HiGHS solves it to 1e-7, so the leak is not exactly 0.
    """
    size = problem.distance.size
    if size > MOST_PERFECT:
        rule = f"of at most {MOST_PERFECT} profiles, since the linear program has n^2 variables"
        raise ParameterError("problem", rule, size)
    columns = np.flatnonzero(problem.profiles > 0)
    mass = problem.profiles[columns]
    x = _independent(problem, columns) if len(columns) > 1 else None
    table = np.eye(size)
    if x is not None:
        table[columns] = x / x.sum(axis=1, keepdims=True)
    channel = _full(table)
    leak = information(channel.moments(problem.joint), problem.prior)
    far = np.array([problem.distance.row(j) for j in columns.tolist()])
    distortion = float(mass @ (table[columns] * far).sum(axis=1))
    return Baseline(leak, distortion, channel_epsilon(channel), math.nan, lambda: channel)


def _independent(problem: Problem, columns: NDArray[np.int64]) -> Reals:
    """The least sum of p_j d x with sum_j (p(b_j | a) - p(b_j)) x_ij = 0 for all i and a."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, kron, vstack

    secrets = np.flatnonzero(problem.prior > 0)[1:]  # the first follows from the others
    mass, size = problem.profiles[columns], problem.distance.size
    given = problem.joint[np.ix_(secrets, columns)] / problem.prior[secrets, None]
    ones = csr_array(np.ones((1, size)))
    rows: list[Any] = [kron(eye_array(len(columns)), ones)]
    rows += [kron(csr_array((law - mass)[None]), eye_array(size)) for law in given]
    right = np.concatenate([np.ones(len(columns)), np.zeros(size * len(secrets))])
    far = np.array([problem.distance.row(j) for j in columns.tolist()])
    costs = (mass[:, None] * far).ravel()
    table: Any = vstack(rows).tocsr()  # the types of linprog know no sparse matrices
    found = linprog(costs, A_eq=table, b_eq=right, method="highs")
    if found.x is None:
        raise ParameterError("problem", "one that HiGHS can solve", found.message)
    return np.maximum(found.x, 0.0).reshape(len(columns), size)


def _blocks(problem: Problem) -> Iterator[tuple[slice, Reals]]:
    """Distances from a few profiles at a time to all."""
    size = problem.distance.size
    most = max(1, _BLOCK // size)
    for at in range(0, size, most):
        part = slice(at, min(at + most, size))
        yield part, np.array([problem.distance.row(j) for j in range(part.start, part.stop)])


def _log_chances(far: Reals, beta: float) -> Reals:
    scores = -beta * far
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def _exponential(problem: Problem, beta: float) -> Channel:
    return _full(np.concatenate([np.exp(_log_chances(far, beta)) for _, far in _blocks(problem)]))


def _full(table: Reals) -> Channel:
    """From a table [input, output], without its zeros."""
    inputs, outs = np.nonzero(table)
    return Channel(np.searchsorted(inputs, np.arange(len(table) + 1)), outs, table[inputs, outs])


def _log_ratio(first: float, second: float) -> float:
    if first == 0 or second == 0:
        return math.inf
    return abs(math.log(first / second))


def _least_beta(problem: Problem, limit: float) -> Baseline:
    require(limit >= 0, "distortion", limit, "at least 0")
    found = exponential_channel(problem, 0.0)
    if found.distortion <= limit:
        return found
    low, high = 0.0, 1 / found.distortion
    while (found := exponential_channel(problem, high)).distortion > limit:
        low, high = high, 4 * high
        require(high < 1e300, "distortion", limit, "within reach: some profiles are too near")
    for _ in range(_STEPS):
        middle = exponential_channel(problem, 0.5 * (low + high))
        if middle.distortion > limit:
            low = middle.parameter
        else:
            found, high = middle, middle.parameter
        if high - low <= 1e-12 * high:
            break
    return found


def _largest_beta(problem: Problem, limit: float) -> Baseline:
    require(limit >= 0, "leak", limit, "at least 0")
    found = exponential_channel(problem, 0.0)
    uniform = found.distortion
    low, high = 0.0, 1 / uniform if uniform > 0 else 1.0
    while (above := exponential_channel(problem, high)).leak <= limit:
        found, low = above, high
        if above.distortion <= 1e-12 * uniform:  # as good as untouched, duplicates merged
            return found
        high *= 4
    for _ in range(_STEPS):
        middle = exponential_channel(problem, 0.5 * (low + high))
        if middle.leak <= limit:
            found, low = middle, middle.parameter
        else:
            high = middle.parameter
        if high - low <= 1e-12 * high:
            break
    return found
