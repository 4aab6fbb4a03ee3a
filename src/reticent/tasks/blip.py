"""BLIP: one noisy Bloom filter per person, published once, compared as often as anybody likes.

Theory    docs/theory/blip.md, Theorem 1 (flipping), Theorem 2 (weights by sampling), Theorem 3
          (overlap of two filters), Theorem 4 (how many bits), Theorem 5 (noise of a cosine and
          ranking); [AlagganEtAl2012], [JorgensenEtAl2015]
Notation  m = bits, h = hashes, p = 1 / (1 + e^(eps/h)), v_i = weight, n_x = ones of a filter,
          f = share of bits set before flipping, q = p (1 - p) / (1 - 2 p)^2,
          mu, tau2 = mean and variance of true cosines
Not here  comparisons that each cost something (similarity.py, clustering.py), coins (noise/).

An item of weight v enters its owner's filter with probability (e^(eps v) - 1) / (e^eps - 1), so
that whether it is there loses eps v. Everything after publication reads published bits only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.amounts import nano_up, show_up
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import require
from reticent.guarantees import Event, PerItemDP, Spread, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.noise import Source
from reticent.noise.coins import bernoulli_thinned, logistic_words
from reticent.rational import Number, positive, whole
from reticent.tasks import blip_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BITS, MOST_HASHES = 1 << 20, 64
_LIGHTEST = 1e-3  # fewer items per bit than this only cost memory
_FULLEST = 0.95  # a filter fuller than this is read as this full: beyond it sizes are guesses
_SAMPLE = 1 << 18  # pairs from which moments of the cosine are estimated
_NO_SIGNAL = 1e-6  # variance of true cosines over that of noise, at least, so that ranks remain
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Blip:
    """Publish a flipped Bloom filter of every profile; item i loses epsilon times its weight.

    >>> from reticent.data.profiles import Profiles
    >>> from reticent.noise import Source
    >>> club = Profiles.of(["ann", "ann", "bob", "bob"], ["Heat", "Alien", "Heat", "Up"])
    >>> blip = Blip.fitted(epsilon=2, profile_size=10)
    >>> blip.bits
    128
    >>> blip.publish(club, Source.system()).nearest(k=1).peers.tolist()
    [[1], [0]]
    """

    name: ClassVar[str] = "blip"
    epsilon: Number
    bits: int
    hashes: int = 1
    salt: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        bits = whole(self.bits, "bits", least=64)
        require(bits % 64 == 0 and bits <= MOST_BITS, "bits", bits, "a multiple of 64 up to 2**20")
        object.__setattr__(self, "bits", bits)
        object.__setattr__(self, "hashes", whole(self.hashes, "hashes", least=1))
        require(self.hashes <= MOST_HASHES, "hashes", self.hashes, f"at most {MOST_HASHES}")
        require(self.exponent * (1 << 20) >= 1, "epsilon", self.epsilon, "at least hashes / 2**20")
        require(isinstance(self.salt, str), "salt", self.salt, "text")

    @classmethod
    def fitted(
        cls, *, epsilon: Number, profile_size: int, catalogue: int | None = None, salt: str = ""
    ) -> Blip:
        """The filter that tells overlaps best, from public facts only. Theorem 4.

        ``profile_size`` is how many items a typical profile is expected to have, ``catalogue`` how
        many there are in all: both declared, never counted in private data.
        """
        whole(profile_size, "profile_size", least=1)
        if catalogue is not None:
            whole(catalogue, "catalogue", least=1)
        exact = positive(epsilon, "epsilon")
        wanted = profile_size / _best_load(_variance(exact))
        most = MOST_BITS if catalogue is None else min(8 * catalogue, MOST_BITS)
        bits = 64 * math.ceil(min(wanted, most) / 64)
        return cls(epsilon=exact, bits=bits, salt=salt)

    @property
    def exponent(self) -> Fraction:
        """eps/h, exact: each bit is flipped with probability 1 / (1 + e^exponent)."""
        return Fraction(self.epsilon) / self.hashes

    @property
    def flip(self) -> float:
        """p, for estimates; what is drawn is exact."""
        return _logistic(self.exponent)

    def guarantee(self) -> PerItemDP:
        """Theorems 1 and 2 for an item of weight 1; others lose in proportion to their weight."""
        return PerItemDP(Spread(nano_up(self.exponent * self.hashes)))

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        return {
            "epsilon": plain(Fraction(self.epsilon)),
            "bits": self.bits,
            "hashes": self.hashes,
            "salt": self.salt,
        }

    def overlap_error(self, size: float = 0) -> float:
        """Standard deviation of the overlap of two filters of so many items each. Theorem 5."""
        fill = -math.expm1(self.hashes * size * math.log1p(-1 / self.bits))
        return float(self._spread(np.array(fill)))

    def _spread(self, fill: NDArray[np.float64]) -> NDArray[np.float64]:
        """sqrt(m) (q + f (1 - f)) / (1 - f)^2 / h; squared, the variance at equal fills."""
        spread = (_variance(self.exponent) + fill * (1 - fill)) / (1 - fill) ** 2
        return spread * (math.sqrt(self.bits) / self.hashes)

    def utility(self) -> Utility:
        """What flipping does to two filters with little in them. Theorem 5."""
        half = 1 / (1 + math.exp(float(min(Fraction(self.epsilon), Fraction(1400))) / 2))
        return Utility(
            sentence=f"flipping alone moves the estimated overlap of two people by about "
            f"{show_up(self.overlap_error(), 3)} items, more for fuller profiles",
            bias="items below weight 1 are left out at random: of a common item with weight 1/2 "
            f"in both profiles, {half**2:.2g} counts on average",
        )

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        return How(
            sensitivity=f"an item sets at most {self.hashes} of {self.bits} bits, and enters at "
            "all with a probability set by its weight",
            bounds="weights are clamped to [0, 1] and rounded down to multiples of 2**-20; "
            "an item whose weight is no number counts as 0",
            floating_point="exact coins; estimates are computed from published bits only",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        return Evidence(
            theorem="docs/theory/blip.md, Theorem 2",
            assumptions=("a profile is published once", "AES-256 is not broken"),
        )

    def positions(self, items: Iterable[Any]) -> NDArray[np.int32]:
        """The bits of each item, by its name: anybody can compute them, for any item."""
        key = f"reticent blip {len(self.salt)}:{self.salt}:".encode()
        digests = b"".join(
            hashlib.shake_256(key + str(item).encode("utf-8", "surrogatepass")).digest(
                8 * self.hashes
            )
            for item in items
        )
        words = np.frombuffer(digests, dtype="<u8").reshape(-1, self.hashes)
        return (words % np.uint64(self.bits)).astype(np.int32)

    def publish(self, profiles: Profiles, source: Source) -> Sketches:
        """Every person's filter, flipped: the one release. Theorems 1 and 2."""
        kept = bernoulli_thinned(
            profiles.weights / FULL_WEIGHT, exponent=Fraction(self.epsilon), source=source
        )
        where = self.positions(profiles.items)[profiles.indices[kept]]
        words = logistic_words(self.exponent, (len(profiles), self.bits // 64), source=source)
        filters = np.zeros_like(words)
        kernels.set_bits(filters, profiles.rows()[kept], where)
        words ^= filters
        event = self.event(len(profiles), private=source.private and profiles.private)
        return Sketches(words, event, self)

    def event(self, people: int, *, private: bool) -> Event:
        """The record of publishing so many filters, known before they are made."""
        told = self.parameters() | {"people": people}
        return Event(self.name, told, self.guarantee(), private)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nearest:
    """For each person the most similar others, best first; -1 where there are too few.

    Scores are the estimated cosines by which they were ranked.
    """

    peers: NDArray[np.int32]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sketches:
    """Published filters, one row of ``words`` per person. Whatever is computed here is free."""

    words: NDArray[np.uint64]
    event: Event
    blip: Blip

    def __len__(self) -> int:
        return len(self.words)

    def ones(self) -> NDArray[np.int64]:
        """How many bits of each filter are set."""
        ones: NDArray[np.int64] = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
        return ones

    def shared_bits(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Unbiased estimate of how many bits both filters had set before flipping. Theorem 3.

        The sum over bits of (x - p)(y - p) / (1 - 2 p)^2.
        """
        m, p, ones = self.blip.bits, self.blip.flip, self.ones()
        both = np.bitwise_count(self.words[first] & self.words[second]).sum(axis=1, dtype=np.int64)
        shared: NDArray[np.float64] = both - p * (ones[first] + ones[second]) + m * p * p
        return shared / (1 - 2 * p) ** 2

    def sizes(self) -> NDArray[np.float64]:
        """Estimated items in each filter, drawn towards the mean as far as noise explains them.

        Items that sampling left out do not count: of an item of weight v a share s(v) does.
        """
        fill = self._fill()
        return np.log1p(-fill) / (self.blip.hashes * math.log1p(-1 / self.blip.bits))

    def overlap(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """Estimated common items of given pairs, chance collisions taken off; may be negative."""
        return self._read(first, second, np.ones(len(self)))

    def similarity(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Estimated cosine of given pairs; noise may carry it outside [-1, 1]."""
        return self._read(first, second, self._norms())

    def nearest(self, k: int, *, shrink: bool = True) -> Nearest:
        """For each person the k others of highest estimated cosine, over all pairs.

        Each cosine is drawn to the mean of all as far as noise explains it, Theorem 5; otherwise
        the small profiles, whose cosines are the noisiest, would come first.
        """
        whole(k, "k", least=1)
        n = len(self)
        peers, scores = np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf)
        noise, mu, tau2 = self._shrinkage() if shrink else (np.zeros(n), 0.0, 1.0)
        kernels.nearest(self.words, *self._reading(self._norms()), noise, mu, tau2, peers, scores)
        return Nearest(peers, scores)

    def nearest_to(self, person: int, k: int) -> Nearest:
        """``nearest`` of one person alone: a row."""
        whole(k, "k", least=1)
        others = np.delete(np.arange(len(self)), person)
        noise, mu, tau2 = self._shrinkage()
        trust = tau2 / (tau2 + noise[person] * noise[others])
        cosines = self.similarity(np.full_like(others, person), others)
        scores = mu + (cosines - mu) * trust
        best = np.argsort(-scores, kind="stable")[:k]
        return Nearest(others[best].astype(np.int32)[None], scores[best][None])

    def _shrinkage(self) -> tuple[NDArray[np.float64], float, float]:
        """Per person a factor of the noise variance of a cosine; mean and variance of the true.

        By moments over a fixed sample of pairs, each weighted by one over its noise. Theorem 5.
        """
        m, h, n = self.blip.bits, self.blip.hashes, len(self)
        fill = np.maximum(self._fill(), h / m)  # one item, as for sizes
        noise = self.blip._spread(fill) / self._norms() ** 2
        if n < 2:
            return noise, 0.0, 1.0
        j = np.arange(min(n * (n - 1), _SAMPLE))
        first = j * n // j.size
        second = (first + 1 + (j * _GOLDEN % 1 * (n - 1)).astype(np.int64)) % n
        cosines, weights = self.similarity(first, second), 1 / (noise[first] * noise[second])
        mu = np.average(cosines, weights=weights)
        excess = np.mean((cosines - mu) ** 2 * weights) - 1
        return noise, float(mu), max(float(excess), _NO_SIGNAL) / float(weights.mean())

    def _norms(self) -> NDArray[np.float64]:
        return np.sqrt(np.maximum(self.sizes(), 1.0))

    def _read(
        self, first: NDArray[np.int64], second: NDArray[np.int64], norms: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        scores = np.empty(first.size)
        kernels.cosines(self.words, first, second, *self._reading(norms), scores)
        return scores

    def _reading(
        self, norms: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Per person a mean and a factor: (both - m x y) c d is the relative covariance."""
        m, p = self.blip.bits, self.blip.flip
        centres = self.ones() / m  # of the flipped bits; the covariance is (1 - 2 p)^2 as large
        empty = (1 - self._fill()) * (1 - 2 * p)
        return centres, np.stack([1 / empty, 1 / norms], axis=1), float(self.blip.hashes)

    def _fill(self) -> NDArray[np.float64]:
        """Estimated share of bits set before flipping, shrunk to the mean. Theorem 3."""
        if not len(self):
            return np.empty(0)
        m, p = self.blip.bits, self.blip.flip
        fill = (self.ones() / m - p) / (1 - 2 * p)
        spread = fill.var()
        noise = p * (1 - p) / (1 - 2 * p) ** 2 / m
        signal = max(1 - noise / spread, 0.0) if spread > 0 else 1.0
        mean = fill.mean()
        shrunk: NDArray[np.float64] = (mean + signal * (fill - mean)).clip(0.0, _FULLEST)
        return shrunk


def _logistic(exponent: Fraction) -> float:
    x = float(min(exponent, Fraction(700)))
    return math.exp(-x) / (1 + math.exp(-x))


def _variance(epsilon: Fraction) -> float:
    """The variance q = p (1 - p) / (1 - 2 p)^2 for one hash, which is 1 / (4 sinh(eps/2)^2)."""
    return 1 / (2 * math.sinh(float(min(epsilon, Fraction(200))) / 2)) ** 2


def _best_load(q: float) -> float:
    """The load t = size / m that tells one common item best: Theorem 4, by golden section."""

    def loss(log_load: float) -> float:
        t = math.exp(log_load)
        return 2 * math.log(math.exp(-t) * -math.expm1(-t) + q) + 4 * t - log_load

    low, high = math.log(_LIGHTEST), math.log(0.25)  # at 1/4 the noise rules, Theorem 4
    while high - low > 1e-6:
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if loss(left) < loss(right) else (left, high)
    return math.exp((low + high) / 2)
