"""A mapping under a joint law of secrets and profiles: what it leaks and how much it changes.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows), Theorem 6 (several releases),
          Theorem 7 (guess rate and maximal leakage)
Notation  P(a, j) = p(secret a, profile j); q_i(a) = sum_j P(a, j) x_ij
Not here  drawing (mapping.py), what is said of a law that was learnt (mapping_statement.py).

Drawing needs none of this. A law learnt from people is their data: it stays with who learnt it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import require
from reticent.mechanisms.mapping_rows import WHOLE, check_table, integer_rows
from reticent.optim.mapping import Channel, information

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False, repr=False)  # no slots: cached properties need a dictionary
class MappingLaw:
    """The integer chances of a mapping, the distance of each entry, and P(a, j).

    >>> from reticent.optim.distances import hamming
    >>> half = Channel(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.full(4, 0.5))
    >>> law = MappingLaw.of(half, [[0.4, 0.1], [0.1, 0.4]], hamming([[0], [1]]))
    >>> law.bits < 1e-12, law.distortion
    (True, 0.5)
    """

    starts: NDArray[np.int64]
    outs: NDArray[np.int64]
    parts: NDArray[np.int64]  # chances times 2**62
    far: NDArray[np.float64]  # distance of each entry
    joint: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"MappingLaw({len(self.starts) - 1} profiles, {len(self.joint)} secrets)"

    def __post_init__(self) -> None:
        check_table(self.starts, self.outs, self.parts)
        count = len(self.starts) - 1
        shape = self.joint.ndim == 2 and self.joint.shape[1] == count
        require(shape, "joint", f"shape {self.joint.shape}", f"rows of {count} probabilities")
        law = bool(np.isfinite(self.joint).all() and (self.joint >= 0).all())
        law = law and abs(float(self.joint.sum()) - 1) <= 1e-9
        require(law, "joint", "other", "probabilities that sum to 1")
        require(len(self.far) == len(self.outs), "far", len(self.far), "one for each entry")
        near = bool(np.isfinite(self.far).all() and (self.far >= 0).all())
        require(near, "far", "other", "finite distances, not negative")

    @classmethod
    def of(cls, channel: Channel, joint: ArrayLike, distance: Any) -> MappingLaw:
        """Round a channel down to parts of 2**62 and give the rest to each largest chance."""
        starts, outs, parts = integer_rows(channel)
        table = np.asarray(joint, dtype=np.float64)
        far = Channel(starts, outs, parts / WHOLE).distances(distance)
        return cls(starts, outs, parts, far, table / table.sum())

    @cached_property
    def channel(self) -> Channel:
        """The table as floats."""
        return Channel(self.starts, self.outs, self.parts / WHOLE)

    @cached_property
    def moments(self) -> NDArray[np.float64]:
        """q_i(a), one row per output."""
        return self.channel.moments(self.joint)

    @cached_property
    def bits(self) -> float:
        """I(A; released) in bits, of the rounded table, rounded up. Theorem 5."""
        prior, used = self.joint.sum(axis=1), self.moments.any(axis=1)
        if (prior > 0).sum() == 1 or used.sum() == 1:
            return 0.0  # one secret, or one release
        slack = self.moments.size * 2.0**-52  # each term is at most 1 and errs by less
        return (information(self.moments, prior) + slack) / math.log(2) * (1 + 1e-12)

    @cached_property
    def distortion(self) -> float:
        """E[d] of the rounded table."""
        mass = self.joint.sum(axis=0)[self.channel.inputs]
        return float(np.sum(mass * self.channel.chances * self.far))

    @cached_property
    def unchanged(self) -> float:
        """The share of people whose profile is released as it is."""
        inputs = self.channel.inputs
        return float(
            self.joint.sum(axis=0)[inputs] @ (self.channel.chances * (self.outs == inputs))
        )

    @property
    def released(self) -> NDArray[np.float64]:
        """How often each profile is released: p(b_hat)."""
        return np.asarray(self.moments.sum(axis=1))

    def guess_rates(self) -> tuple[float, float]:
        """How often the best guesser is right about the secret, before and after. Theorem 7."""
        return float(self.joint.sum(axis=1).max()), float(self.moments.max(axis=1).sum())

    def maximal_leakage(self) -> float:
        """log2 sum_i max_a p(i | a): the most a guess of any function of the secret can gain.

        Theorem 7. Of the secret alone: a guess of the secret and something else can gain more.
        """
        prior = self.joint.sum(axis=1)
        given = self.moments[:, prior > 0] / prior[prior > 0]
        return math.log2(float(given.max(axis=1).sum()))


def joint_leak(law: MappingLaw, releases: int) -> float:
    """Bits that ``releases`` independent draws for one person tell together. Theorem 6."""
    require(releases >= 1, "releases", releases, "at least 1")
    size, secrets = len(law.starts) - 1, law.joint.shape[0]
    channel = law.channel
    seen: dict[tuple[int, ...], NDArray[np.float64]] = {}
    for j in range(size):
        row = slice(channel.starts[j], channel.starts[j + 1])
        draws = list(zip(channel.outs[row].tolist(), channel.chances[row].tolist(), strict=True))
        for outcome, chance in _multisets(draws, releases):
            seen.setdefault(outcome, np.zeros(secrets))
            seen[outcome] += chance * law.joint[:, j]
    moments = np.array(list(seen.values()))
    return information(moments, np.asarray(law.joint.sum(axis=1))) / math.log(2)


def _multisets(
    draws: list[tuple[int, float]], count: int, first: int = 0
) -> list[tuple[tuple[int, ...], float]]:
    """Outcomes of independent draws without their order, and their chances."""
    if count == 0:
        return [((), 1.0)]
    if first == len(draws):
        return []
    out, chance = draws[first]
    found = []
    for times in range(count + 1):
        ways = math.comb(count, times) * chance**times
        for rest, other in _multisets(draws, count - times, first + 1):
            found.append((tuple(sorted((out,) * times + rest)), ways * other))
    return found
