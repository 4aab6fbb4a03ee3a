"""Private similarity of profiles: overlap, cosine or Jaccard, for one pair or for many.

Theory    docs/theory/similarity.md, Theorem 1 (a pair), Theorem 2 (weight 0 is invisible),
          Theorem 3 (many pairs), Theorem 4 (exact sizes); [AlagganEtAl2016]
Notation  eps = epsilon of one comparison, split into eps_o for the overlap and eps_n for a norm;
          v_i = weight, N = released norm, units of 2**-20
Not here  nearest neighbours (neighbours.py), gossip (clustering.py).

The numerator is a weighted overlap plus noise and keeps its sign. A norm is a weighted size plus
noise ("private", the default) or the exact unweighted size ("public", as the paper has it: then
sizes are not protected, a weight of 0 does not hide that an item is there, and the promise is about
exchanging one item for another, by the larger of their weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, get_args

import numpy as np

from reticent.amounts import nano_up, show_up
from reticent.data.profiles import WEIGHT_BITS, Profiles
from reticent.errors import ParameterError, require
from reticent.guarantees import ITEM, ITEM_SUBSTITUTE, Event, PerItemDP, Spread, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.noise import LARGEST_SCALE, PairNoise, Source, discrete_laplace
from reticent.rational import Number, budget, rational, whole
from reticent.tasks import kernels
from reticent.tasks.neighbours import BLOCK_ROWS, merge_nearest, nearest_between
from reticent.tasks.scattering import Scatter

if TYPE_CHECKING:
    from numpy.typing import NDArray

Measure: TypeAlias = Literal["overlap", "cosine", "jaccard"]
Norms: TypeAlias = Literal["private", "public", "none"]
Weighting: TypeAlias = Literal["min", "product"]
SCATTERED_ROWS = 4 * BLOCK_ROWS
"""People of a part where several machines make lists: whole blocks, each with its own stream."""
_MEASURES = {"overlap": kernels.OVERLAP, "cosine": kernels.COSINE, "jaccard": kernels.JACCARD}


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """How two profiles are compared: item i of either loses at most epsilon times its weight.

    With ``norms="public"`` that is so for exchanges of items only.

    >>> from reticent.data.profiles import Profiles
    >>> from reticent.noise import Source
    >>> club = Profiles.of(["ann", "ann", "bob", "bob"], ["Heat", "Alien", "Heat", "Up"])
    >>> similarity = Similarity(epsilon=1)
    >>> similarity.neighbours(club, k=1, source=Source.system()).peers.tolist()
    [[1], [0]]
    """

    name: ClassVar[str] = "similarity"
    epsilon: Number
    measure: Measure = "cosine"
    norms: Norms = "private"
    weighting: Weighting = "min"
    norm_share: Number = Fraction(1, 4)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon, "epsilon"))
        object.__setattr__(self, "norm_share", rational(self.norm_share, "norm_share"))
        for name, kind in (("measure", Measure), ("norms", Norms), ("weighting", Weighting)):
            value = getattr(self, name)
            known = isinstance(value, str) and value in get_args(kind)
            require(known, name, value, f"one of {', '.join(get_args(kind))}")
        if (self.measure == "overlap") is not (self.norms == "none"):
            raise ParameterError("norms", "'none' for overlap, and for overlap only", self.norms)
        share = Fraction(self.norm_share)
        require(0 < share < 1, "norm_share", self.norm_share, "between 0 and 1")
        parts = [self.epsilon_overlap, self.epsilon_norm or self.epsilon_overlap]
        fits = min(parts) * LARGEST_SCALE >= 1 << WEIGHT_BITS
        rule = "large enough that norm and overlap get 2**-30 each"
        require(fits, "epsilon", self.epsilon, rule)

    @property
    def epsilon_norm(self) -> Fraction:
        """What one person's norm costs: once, however often it is used."""
        private = self.norms == "private"
        return Fraction(self.epsilon) * Fraction(self.norm_share) if private else Fraction(0)

    @property
    def epsilon_overlap(self) -> Fraction:
        """What the overlap with one peer costs."""
        return Fraction(self.epsilon) - self.epsilon_norm

    def guarantee(self, comparisons: int = 1) -> PerItemDP:
        """Theorems 1 and 3: what an item of weight 1 loses over so many distinct peers.

        With exact sizes: what its exchange for another item loses. Theorem 4.
        """
        whole(comparisons, "comparisons", least=0)
        nano = nano_up(self.epsilon_norm + comparisons * self.epsilon_overlap)
        return PerItemDP(Spread(nano), ITEM_SUBSTITUTE if self.norms == "public" else ITEM)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "measure": self.measure,
            "norms": self.norms,
            "weighting": self.weighting,
            "norm_share": plain(Fraction(self.norm_share)),
        }

    def utility(self) -> Utility:
        """The error of one score, as far as public parameters tell it: that of its parts."""
        overlap = math.log(20) / float(self.epsilon_overlap)  # P[|Z| > z] <= exp(-z eps)
        within = f"within {show_up(overlap)} of the weighted one, 95 times in 100"
        bias = "items below weight 1 count for less"
        if self.measure == "overlap":
            mean = 1 / float(self.epsilon_overlap)
            return Utility(sentence=within, mean_absolute_error=mean, within_95=overlap, bias=bias)
        divisor = "geometric mean" if self.measure == "cosine" else "union, so by the sum less it,"
        sentence = f"the overlap is {within}; a {self.measure} divides it by the {divisor} of "
        if self.norms == "public":
            return Utility(sentence=sentence + "the exact sizes", bias=bias)
        size = show_up(math.log(20) / float(self.epsilon_norm))
        return Utility(sentence=sentence + f"two sizes, each within {size} as often", bias=bias)

    def overlap_noise(self) -> Utility:
        """The error of the overlap that a score is made of."""
        alone = replace(self, epsilon=self.epsilon_overlap, measure="overlap", norms="none")
        return alone.utility()

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        moves = "an item of weight v moves an overlap by at most v"
        sensitivity = {
            "private": moves + " and its owner's size by at most v",
            "public": "exchanging one item for another moves an overlap by at most the larger of "
            "their weights; the size of a profile is exact and not protected",
            "none": moves,
        }
        return How(
            sensitivity=sensitivity[self.norms],
            bounds="weights are clamped to [0, 1] and rounded down to multiples of 2**-20; "
            "an item whose weight is no number counts as 0",
            floating_point="integers times 2**-20; the noise law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        assumptions = (
            "whoever compares sees the raw profiles and is trusted",
            "AES-256 is not broken",
        )
        sizes = ("sizes of profiles are public",) if self.norms == "public" else ()
        number = 4 if self.norms == "public" else 1
        return Evidence(
            theorem=f"docs/theory/similarity.md, Theorem {number}", assumptions=assumptions + sizes
        )

    def event(self, source: Source) -> Event:
        """The record of comparing one pair, known before it is made."""
        return Event(self.name, self.parameters(), self.guarantee(), source.private)

    def release(self, data: Profiles, source: Source) -> Release[float]:
        """The noisy similarity of the two people in ``data``. Theorem 1."""
        require(len(data) == 2, "data", f"{len(data)} people", "profiles of two people")
        norms = self.release_norms(data, source)
        first, second = np.array([0]), np.array([1])
        noise = self.pair_noise(source)
        scores = self.pairs(data, first, second, norms=norms, noise=noise)
        return Release.by(cast("Mechanism[float]", self), float(scores[0]), source)

    def release_norms(self, profiles: Profiles, source: Source) -> NDArray[np.float64]:
        """Each person's norm, drawn once: weighted size plus noise, at least 1. "Sizes"."""
        if self.norms == "none":
            return np.ones(len(profiles))
        if self.norms == "public":
            return np.maximum(profiles.sizes, 1).astype(np.float64)
        scale = (1 << WEIGHT_BITS) / self.epsilon_norm
        noise = discrete_laplace(scale=scale, size=len(profiles), source=source)
        return np.maximum((profiles.weighted_sizes() + noise) / (1 << WEIGHT_BITS), 1.0)

    def pairs(
        self,
        profiles: Profiles,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        *,
        norms: NDArray[np.float64],
        noise: PairNoise,
    ) -> NDArray[np.float64]:
        """Noisy similarity of given pairs; the same pair always gets the same draw. Theorem 3.

        The caller accounts for the distinct peers of each person. ``noise`` is for one state of the
        profiles and one weighting, the first it is used for: others are refused.
        """
        right = noise.scale == self.scale
        require(right, "noise", noise.scale, f"of scale {self.scale}: made by pair_noise")
        same = noise.bind(profiles, self.weighting, lambda: _state(profiles))
        rule = "used with the profiles and the weighting it was first used for; make new noise, and"
        require(same, "noise", "of another release", f"{rule} charge a new release")
        units = np.empty(first.size, dtype=np.int64)
        kernels.overlaps_with(
            first,
            second,
            profiles.indptr,
            profiles.indices,
            profiles.weights,
            self.weighting == "product",
            units,
        )
        noisy = (units + noise.draw(first, second)) / (1 << WEIGHT_BITS)
        scores: NDArray[np.float64] = kernels.score_pairs(
            _MEASURES[self.measure], noisy, norms[first], norms[second]
        )
        return scores

    @property
    def scale(self) -> Fraction:
        """Scale of the noise of an overlap, in units of 2**-20."""
        return (1 << WEIGHT_BITS) / self.epsilon_overlap

    def pair_noise(self, source: Source) -> PairNoise:
        """The noise of all comparisons of one release."""
        return PairNoise(self.scale, source)

    def neighbours(
        self,
        profiles: Profiles,
        k: int,
        *,
        source: Source,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        scatter: Scatter | None = None,
    ) -> Neighbours:
        """For each person the k most similar others by noisy scores; everybody is compared.

        On as many threads as there are processors unless ``threads`` says so, or elsewhere by
        ``scatter``; a seeded source gives the same lists, unless peers come some at a time.
        """
        whole(k, "k", least=1)
        everybody = range(len(profiles))
        places = min(k, max(len(profiles) - 1, 1))
        norms = self.release_norms(profiles, source)
        own = source.child(f"neighbours {source.bits(128)}")
        if scatter is None:
            peers, scores = self.neighbours_between(
                profiles,
                places,
                rows=everybody,
                peers=everybody,
                norms=norms,
                source=own,
                threads=threads,
                progress=progress,
            )
        else:
            work = _Lists(self, places, norms, own, SCATTERED_ROWS, scatter.peers_at_once)
            peers, scores = work.scattered(profiles, scatter)
        event = self.neighbours_event(len(profiles), k, private=source.private and profiles.private)
        return Neighbours(peers, scores, event, self)

    def neighbours_between(
        self,
        profiles: Profiles,
        k: int,
        *,
        rows: range,
        peers: range,
        norms: NDArray[np.float64],
        source: Source,
        threads: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The k best among ``peers`` of each person in ``rows``: a part for ``merge_nearest``.

        Norms are everybody's, released once. All parts of a release, one for each pair of rows and
        peers, together cost what ``neighbours_event`` says.
        """
        whole(k, "k", least=1)
        best, scores = nearest_between(
            profiles,
            k,
            rows=rows,
            peers=peers,
            measure=_MEASURES[self.measure],
            product=self.weighting == "product",
            norms=norms * (1 << WEIGHT_BITS),  # in the units of overlaps
            scale=self.scale,
            source=source,
            threads=threads,
            progress=progress,
        )
        return best, scores / (1 << WEIGHT_BITS) if self.measure == "overlap" else scores

    def pairs_event(self, comparisons: int, *, private: bool) -> Event:
        """The record of pairs in which nobody has more than so many peers. Theorem 3."""
        loss = self.guarantee(comparisons)
        if comparisons == 1:
            return Event(self.name, self.parameters(), loss, private)
        told = self.parameters() | {"comparisons": comparisons}
        return Event(f"{self.name}-pairs", told, loss, private)

    def neighbours_event(self, people: int, k: int, *, private: bool) -> Event:
        """The record of lists for so many people, known before they are made."""
        return Event(
            "similarity-neighbours",
            self.parameters() | {"people": people, "k": k},
            self.guarantee(comparisons=2 * max(people - 1, 0)),
            private,
        )


def _state(profiles: Profiles) -> Iterator[bytes]:
    """Everything an overlap depends on; items of weight 0 have no part in it. Theorem 2."""
    counts = profiles.weights > 0
    starts = np.concatenate([[0], np.cumsum(counts)])[profiles.indptr]
    for part in (starts, profiles.indices[counts], profiles.weights[counts]):
        yield np.ascontiguousarray(part, dtype="<i8").tobytes()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Lists:
    """The lists of some people, made where their part of the work is."""

    similarity: Similarity
    k: int
    norms: NDArray[np.float64]
    source: Source
    rows: int
    at_once: int | None

    def scattered(self, profiles: Profiles, scatter: Scatter) -> tuple[Any, Any]:
        """Everybody's lists: whole blocks of people in each part."""
        parts = max(-(-len(profiles) // self.rows), 1)
        peers, scores = zip(*scatter(self.part, profiles, parts), strict=True)
        return np.concatenate(peers), np.concatenate(scores)

    def part(self, profiles: Profiles, part: int) -> tuple[Any, Any]:
        """Those of one part, in its own process."""
        count, step = len(profiles), self.at_once or max(len(profiles), 1)
        rows = range(part * self.rows, min((part + 1) * self.rows, count))
        lists = [
            self.similarity.neighbours_between(
                profiles,
                self.k,
                rows=rows,
                peers=range(at, min(at + step, count)),
                norms=self.norms,
                source=self.source,
                threads=1,
            )
            for at in range(0, count, step)
        ]
        return lists[0] if len(lists) == 1 else merge_nearest(lists, self.k)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Neighbours:
    """Lists of neighbours, best first, each for its owner's eyes; -1 where there are too few.

    The event's loss is against whoever reads all lists, in which every pair stands twice with
    noise of its own. All other people together, each with the own list, learn half of it about an
    item; one of them alone at most epsilon times its weight, for it moves one score of a list.
    """

    peers: NDArray[np.int32]
    scores: NDArray[np.float64]
    event: Event
    similarity: Similarity
