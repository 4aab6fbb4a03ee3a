"""Privacy attitudes: who weighs items how, and the baselines that ignore or round the weights.

Theory    docs/theory/recommendation.md, Theorem 2 (baselines); [AlagganEtAl2016] section 4.3,
          [JorgensenEtAl2015]
Notation  v = weight, eps = epsilon of the *whole* release, t = threshold, p = chance to be kept
Not here  the releases that use the weights (similarity.py, clustering.py).

Groups and slices simulate people; a real weight comes from a person's preferences. The baselines
are transformations of weighted profiles: release what they give with epsilon, and an item of weight
v loses at most ``loss_share(v)`` of epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.data.synthetic import below
from reticent.errors import require
from reticent.noise import Source, bernoulli
from reticent.noise.coins import bernoulli_thinned
from reticent.rational import Number, positive, rational, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNCONCERNED, PRAGMATIST, FUNDAMENTALIST = 0, 1, 2
LEVELS: dict[int, tuple[float, ...]] = {
    UNCONCERNED: (1.0,),
    PRAGMATIST: (0.5, 0.75, 1.0),
    FUNDAMENTALIST: (0.0, 0.5, 1.0),
}
"""The weights each of Westin's groups chooses from, each equally often."""

NAIVE_WEIGHT = 0.5
"""The strictest weight of a Pragmatist, which the Naive baseline gives to everybody."""


def assign_groups(
    people: int,
    *,
    fundamentalists: Number,
    pragmatists: Number,
    source: Source,
    sizes: Literal["exact", "as-coded"] = "exact",
) -> NDArray[np.int8]:
    """The group of each person, at random; the rest is Unconcerned.

    ``exact`` sizes are the shares of ``people``, rounded. ``as-coded`` draws each person as the
    authors' program does: Fundamentalist with probability c, then Pragmatist with probability p
    *among the rest*, so that only a share (1 - c) p becomes Pragmatist.
    """
    whole(people, "people", least=0)
    c, p = rational(fundamentalists, "fundamentalists"), rational(pragmatists, "pragmatists")
    require(0 <= c <= 1, "fundamentalists", fundamentalists, "a share from 0 to 1")
    require(0 <= p <= 1, "pragmatists", pragmatists, "a share from 0 to 1")
    require(sizes in ("exact", "as-coded"), "sizes", sizes, "'exact' or 'as-coded'")
    if sizes == "as-coded":
        first = bernoulli(np.full(people, float(c)), source=source)
        second = bernoulli(np.full(people, float(p)), source=source)
        drawn = np.where(first, FUNDAMENTALIST, np.where(second, PRAGMATIST, UNCONCERNED))
        return drawn.astype(np.int8)
    require(c + p <= 1, "pragmatists", pragmatists, "at most 1 minus the Fundamentalists' share")
    ends = round(c * people), round((c + p) * people)
    groups = np.full(people, UNCONCERNED, dtype=np.int8)
    order = _shuffled(people, source)
    groups[order[: ends[0]]] = FUNDAMENTALIST
    groups[order[ends[0] : ends[1]]] = PRAGMATIST
    return groups


def group_weights(
    profiles: Profiles,
    groups: NDArray[np.int8],
    *,
    source: Source,
    per: Literal["item", "person"] = "item",
) -> Profiles:
    """Weights by group, drawn for each item (the paper's text) or each person (the code)."""
    _one_each(profiles, groups)
    require(per in ("item", "person"), "per", per, "'item' or 'person'")
    own = groups[profiles.rows()]
    weights = np.zeros(profiles.indices.shape)
    for group, levels in LEVELS.items():
        if per == "item":
            chosen = np.array(levels)[below(len(levels), own.size, source)]
        else:
            chosen = np.array(levels)[below(len(levels), len(profiles), source)][profiles.rows()]
        weights = np.where(own == group, chosen, weights)
    return profiles.with_weights(weights)


def slice_levels(lowest: float, slices: int) -> NDArray[np.float64]:
    """The s + 1 weights u, u + (1 - u) / s, ..., 1, which the paper's axis calls s slices."""
    require(0 <= lowest <= 1, "lowest", lowest, "from 0 to 1")
    return lowest + (1 - lowest) * np.arange(whole(slices, "slices", least=1) + 1) / slices


def slice_weights(profiles: Profiles, *, lowest: float, slices: int, source: Source) -> Profiles:
    """An independent weight for each item, uniform among ``slice_levels``."""
    levels = slice_levels(lowest, slices)
    return profiles.with_weights(levels[below(len(levels), profiles.indices.size, source)])


def naive_members(groups: NDArray[np.int8], *, alpha: Number, source: Source) -> NDArray[np.bool_]:
    """Who stays in the Naive baseline: all but a share ``alpha`` of the Fundamentalists, rounded.

    With ``naive_weights`` an item of those who stay loses at most epsilon / 2, also where its owner
    asked for less: the baseline overrides Fundamentalists. Membership must be public.
    """
    share = rational(alpha, "alpha")
    require(0 <= share <= 1, "alpha", alpha, "from 0 to 1")
    strict = np.flatnonzero(groups == FUNDAMENTALIST)
    stays = np.ones(groups.size, dtype=bool)
    stays[strict[_shuffled(strict.size, source)[: round(share * strict.size)]]] = False
    return stays


def naive_weights(profiles: Profiles) -> Profiles:
    """The same weight, one half, for everything."""
    return profiles.with_weights(np.full(profiles.indices.shape, NAIVE_WEIGHT))


def people_where(profiles: Profiles, stays: NDArray[np.bool_]) -> Profiles:
    """Only the people marked, in the same order; the catalogue stays."""
    _one_each(profiles, stays)
    return profiles.only(np.flatnonzero(stays))


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """Everybody at the strictest declared weight: one uniform guarantee, the least useful."""

    least: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "least", _weight(self.least, "least"))

    def apply(self, profiles: Profiles, source: Source) -> Profiles:
        """Every weight lowered to ``least``; one that is below it already stays."""
        return profiles.with_weights(np.minimum(_weights(profiles), float(self.least)))

    def loss_share(self, weight: float) -> float:
        """Theorem 2: min(v, least)."""
        return min(weight, float(self.least))


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Items below the threshold are dropped, all others count as if they weighed just that."""

    threshold: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", _weight(self.threshold, "threshold"))

    def apply(self, profiles: Profiles, source: Source) -> Profiles:
        """Entries of at least the threshold, with the threshold as their weight."""
        kept = profiles.where(_weights(profiles) >= float(self.threshold))
        sampled = kept.with_weights(np.full(kept.indices.shape, float(self.threshold)))
        return replace(sampled, private=profiles.private and source.private)

    def loss_share(self, weight: float) -> float:
        """Theorem 2: t if v >= t, else 0."""
        return float(self.threshold) if weight >= float(self.threshold) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Items below the threshold are kept by chance, so that chance supplies what is missing.

    ``epsilon`` is that of everything released from the one sample together: the same sample
    compared m times at epsilon each loses about m epsilon t, not m epsilon v.
    """

    threshold: Number
    epsilon: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", _weight(self.threshold, "threshold"))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        require(self.threshold != 0, "threshold", self.threshold, "positive")

    def chance(self, weight: float) -> float:
        """(e^(eps v) - 1) / (e^(eps t) - 1), or 1 from the threshold on, to float precision."""
        x, share = float(self.epsilon) * float(self.threshold), self._shares(np.array([weight]))[0]
        return math.exp(-x * (1 - share)) * (math.expm1(-x * share) / math.expm1(-x))

    def apply(self, profiles: Profiles, source: Source) -> Profiles:
        """The entries that chance keeps, with the threshold as their weight."""
        inner = Fraction(self.epsilon) * Fraction(self.threshold)
        shares = self._shares(_weights(profiles))
        kept = profiles.where(bernoulli_thinned(shares, exponent=inner, source=source))
        sampled = kept.with_weights(np.full(kept.indices.shape, float(self.threshold)))
        return replace(sampled, private=profiles.private and source.private)

    def _shares(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights over the threshold, rounded down, at most 1."""
        t = float(self.threshold)
        return np.where(weights >= t, 1.0, weights / t * (1 - 2.0**-50))

    def loss_share(self, weight: float) -> float:
        """Theorem 2: min(v, t)."""
        return min(weight, float(self.threshold))


def _weights(profiles: Profiles) -> NDArray[np.float64]:
    return profiles.weights / FULL_WEIGHT


def _weight(value: Number, name: str) -> Fraction:
    exact = rational(value, name)
    require(0 <= exact <= 1, name, value, "from 0 to 1")
    return exact


def _shuffled(count: int, source: Source) -> NDArray[np.intp]:
    return np.argsort(source.long_words(count), kind="stable")


def _one_each(profiles: Profiles, values: NDArray[np.int8] | NDArray[np.bool_]) -> None:
    require(values.shape == (len(profiles),), "groups", values.shape, "one value per person")
