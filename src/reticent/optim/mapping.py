"""Mappings of profiles: the leak they leave, and what every solver of them gives back.

Theory    docs/theory/mapping.md, Definition 1 (leak), Theorem 1 (gradient), Theorem 2 (certificate)
Notation  P(a, j) = p(secret a, profile j), x_ij = chance that profile j is released as i,
          q_i(a) = sum_j P(a, j) x_ij, I = sum_i sum_a q_i(a) ln(q_i(a) / (p(a) |q_i|)) in nats
Not here  the solvers (mapping_newton.py, mapping_frank_wolfe.py, mapping_paper.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.optim.distances import Distance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem:
    """Least leak at a given distortion: joint law [secret, profile], distances, and Delta.

    Profiles and secrets of probability 0 are allowed; the former are released as they are.
    """

    joint: Reals
    distance: Distance
    delta: float

    @classmethod
    def of(cls, joint: ArrayLike, distance: Distance, delta: float) -> Problem:
        """Check and normalise."""
        table = np.ascontiguousarray(joint, dtype=np.float64)
        shape = table.ndim == 2 and table.shape[1] == distance.size
        require(shape, "joint", f"shape {table.shape}", f"rows of {distance.size} probabilities")
        good = bool(np.isfinite(table).all() and (table >= 0).all() and table.sum() > 0)
        require(good, "joint", "other", "finite, not negative and not all 0")
        positive = isinstance(delta, (int, float)) and 0 <= delta < np.inf
        require(positive, "delta", delta, "at least 0 and finite")
        return cls(table / table.sum(), distance, min(float(delta), distance.largest))

    @property
    def prior(self) -> Reals:
        """P(a)."""
        return np.asarray(self.joint.sum(axis=1))

    @property
    def profiles(self) -> Reals:
        """p(b_j)."""
        return np.asarray(self.joint.sum(axis=0))

    @property
    def posteriors(self) -> Reals:
        """pi_j(a) = p(a | b_j), one row per profile; the prior where p(b_j) = 0."""
        mass = self.profiles
        safe = np.where(mass > 0, mass, 1.0)
        rows = np.where(mass > 0, self.joint / safe, self.prior[:, None]).T
        return np.ascontiguousarray(rows)

    @property
    def untouched(self) -> float:
        """I(A; B): the leak of profiles released as they are, in nats."""
        return information(self.joint.T, self.prior)


def information(moments: Reals, prior: Reals) -> float:
    """sum_i sum_a q_i(a) ln(q_i(a) / (p(a) |q_i|)) in nats. Definition 1."""
    mass = moments.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = moments * np.log(moments / (prior * mass))
    total = float(np.where(moments == 0, 0.0, terms).sum())
    require(math.isfinite(total), "moments", "other", "finite and not negative")
    return max(0.0, total)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Channel:
    """A column-stochastic X, stored by input: profile j becomes ``outs[e]`` with ``chances[e]``."""

    starts: NDArray[np.int64]
    outs: NDArray[np.int64]
    chances: Reals

    @classmethod
    def identity(cls, size: int) -> Channel:
        """Every profile as it is."""
        return cls(np.arange(size + 1), np.arange(size), np.ones(size))

    @property
    def inputs(self) -> NDArray[np.int64]:
        """The profile that each entry belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def support(self) -> NDArray[np.int64]:
        """How many outputs each profile has."""
        return np.diff(self.starts)

    def moments(self, joint: Reals) -> Reals:
        """q_i(a), one row per output."""
        found = np.zeros((joint.shape[1], joint.shape[0]))
        inputs = self.inputs
        for a in range(joint.shape[0]):
            parts = joint[a, inputs] * self.chances
            found[:, a] = np.bincount(self.outs, weights=parts, minlength=joint.shape[1])
        return found

    def dense(self) -> Reals:
        """X as a matrix [output, input]; for small alphabets."""
        size = len(self.starts) - 1
        table = np.zeros((size, size))
        np.add.at(table, (self.outs, self.inputs), self.chances)
        return table

    def distances(self, distance: Distance) -> Reals:
        """d(j, i) of each entry."""
        return distance.pairs(self.inputs, self.outs)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One line of a solver's history."""

    seconds: float
    leak: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A feasible mapping, its leak in nats, and a proved lower bound of the least leak.

    ``gap`` is leak - bound; ``multiplier`` is the price of distortion, nats per unit.
    """

    channel: Channel
    leak: float
    bound: float
    distortion: float
    multiplier: float
    untouched: float
    history: tuple[Step, ...] = ()
    interrupted: bool = False
    state: Any = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """How far above the least leak this one is at most, in nats."""
        return max(self.leak - self.bound, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the leak of untouched profiles."""
        return self.gap / self.untouched if self.untouched > 0 else 0.0


Progress: TypeAlias = Callable[[Step], None]
