"""One run of gossip, round by round: the corrected protocol, and the authors' own.

Theory    docs/theory/clustering.md, Theorem 1 (a run), Theorem 2 (cap); [AlagganEtAl2016],
          [VoulgarisEtAl2005], [VoulgarisSteen2005]
Not here  what a run promises and what came of it (clustering.py), the loops (gossip_kernels.py,
          paper_gossip_kernels.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.noise import Source, discrete_laplace
from reticent.tasks import gossip_kernels, paper_gossip_kernels
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.tasks.clustering import Gossip

Progress: TypeAlias = Callable[[int, int], None]
_POOL = 1 << 16  # draws of noise made ready at a time


def run_gossip(
    gossip: Gossip, profiles: Profiles, source: Source, progress: Progress | None, *, noisy: bool
) -> Run:
    """Run the protocol; without noise for comparison only."""
    run = (PaperRun if gossip.paper else Run)(gossip, profiles, source, noisy)
    for done in range(gossip.rounds):
        run.round(done)
        if progress is not None:
            progress(done + 1, gossip.rounds)
    return run


class Run:
    """The corrected protocol: state of one run."""

    def __init__(self, gossip: Gossip, profiles: Profiles, source: Source, noisy: bool) -> None:
        n = len(profiles)
        k, view = (min(size, max(n - 1, 1)) for size in (gossip.k, gossip.view))
        self.gossip, self.profiles, self.source, self.noisy = gossip, profiles, source, noisy
        self.comparison = gossip.comparison
        self.norms = (
            self.comparison.release_norms(profiles, source)
            if noisy
            else _exact_norms(profiles, self.comparison)
        )
        self.random = source.long_words(1)
        self.views = np.full((n, view), -1, dtype=np.int32)
        self.ages = np.zeros((n, view), dtype=np.int32)
        self.best = np.full((n, k), -1, dtype=np.int32)
        self.best_ages = np.zeros((n, k), dtype=np.int32)
        self.best_scores = np.full((n, k), -np.inf)
        self.contacts = np.zeros(n, dtype=np.int32)
        self.met, self.known = np.full(64, -1, dtype=np.int64), 0
        self.met_scores = np.empty(64)
        self.start()

    def start(self) -> None:
        """First random views, and the noise of all comparisons."""
        self.noise: Any = (
            self.comparison.pair_noise(self.source)
            if self.noisy
            else (_Silence(self.comparison.scale))
        )
        gossip_kernels.random_peers(self.views, self.random)

    def make_room(self, pairs: int) -> None:
        """Let the record hold so many more pairs and stay half empty."""
        size = self.met.size
        while size < 2 * (self.known + pairs):
            size *= 2
        if size > self.met.size:
            self.met, self.met_scores = gossip_kernels.moved(self.met, self.met_scores, size)

    def round(self, done: int) -> None:
        """Shuffle random views, exchange messages, compare whom one does not know yet."""
        n, exchange = len(self.profiles), self.gossip.exchange
        gossip_kernels.shuffle_round(self.views, self.ages, exchange, self.random)
        partners, callers = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        gossip_kernels.choose_partners(
            self.best, self.best_ages, self.views, partners, callers, self.random
        )
        most = min(n * (self.views.shape[1] + 2 * exchange), n * (n - 1) // 2 - self.known)
        first, second = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        self.make_room(most)
        count = gossip_kernels.new_pairs(
            self.best,
            self.views,
            partners,
            callers,
            exchange,
            self.met,
            self.contacts,
            self.allowance(done),
            done % 2 == 1,  # turn about: without strangers one never leaves a clique
            first,
            second,
            self.random,
        )
        self.known += count
        first, second = first[:count], second[:count]
        scores = self.comparison.pairs(
            self.profiles, first, second, norms=self.norms, noise=self.noise
        )
        gossip_kernels.offer(first, second, scores, self.best, self.best_scores, self.best_ages)

    def allowance(self, done: int) -> int:
        """Contacts one may have by the end of this round: the cap is spread over all rounds."""
        if self.gossip.max_contacts is None:
            return len(self.profiles)
        return -(-self.gossip.max_contacts * (done + 1) // self.gossip.rounds)


class PaperRun(Run):
    """The authors' protocol: one after another in file order, in place."""

    def start(self) -> None:
        """Join in file order."""
        self.pool = np.empty(0, dtype=np.int64)
        paper_gossip_kernels.bootstrap(self.views, self.ages, self.random)

    def round(self, done: int) -> None:
        """One turn of everybody. A pair's noise is drawn when it first meets, and kept."""
        n, profiles, at = len(self.profiles), self.profiles, 0
        while at < n:
            self.refill()
            at, used = paper_gossip_kernels.paper_round(
                at,
                self.gossip.exchange,
                self.views,
                self.ages,
                self.best,
                self.best_ages,
                self.best_scores,
                self.met,
                self.met_scores,
                profiles.indptr,
                profiles.indices,
                profiles.weights,
                self.comparison.weighting == "product",
                self.norms,
                self.pool,
                self.contacts,
                self.random,
            )
            self.known += used
            self.pool = self.pool[used:]

    def refill(self) -> None:
        """Noise for at least one more turn, and room to record whom it is used on."""
        most = paper_gossip_kernels.most_new_pairs(
            self.best.shape[1], self.views.shape[1], self.gossip.exchange
        )
        if self.pool.size < most:
            size = max(_POOL, most)
            scale = FULL_WEIGHT / self.comparison.epsilon_overlap
            self.pool = (
                discrete_laplace(scale=scale, size=size, source=self.source)
                if self.noisy
                else np.zeros(size, dtype=np.int64)
            )
        self.make_room(self.pool.size)


@dataclass(frozen=True, slots=True)
class _Silence:
    """No noise at all, where noise of this scale is expected."""

    scale: Fraction

    def draw(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.zeros(first.size, dtype=np.int64)

    def bind(self, *_: object) -> bool:
        return True  # nothing that could cancel


def _exact_norms(profiles: Profiles, comparison: Similarity) -> NDArray[np.float64]:
    if comparison.norms == "none":
        return np.ones(len(profiles))
    if comparison.norms == "public":
        return np.maximum(profiles.sizes, 1).astype(np.float64)
    return np.maximum(profiles.weighted_sizes() / FULL_WEIGHT, 1.0)
