"""Gossip clustering: everybody finds similar peers by meeting a few, and every meeting costs.

Theory    docs/theory/clustering.md, Theorem 1 (a run), Theorem 2 (cap), Theorem 3 (realised loss);
          [AlagganEtAl2016], [VoulgarisEtAl2005], [VoulgarisSteen2005]
Notation  eps_n = epsilon of a norm, eps_o = epsilon of one overlap, m = max_contacts,
          w(v, v') = joint weight of a common item: min or product
Not here  comparing one pair (similarity.py), all pairs at once (neighbours.py), one publication
          instead of many comparisons (blip.py), the rounds of a run (gossip_run.py).

This simulates what peers would do. The promise holds if each comparison is made by a trusted party
or a cryptographic protocol that shows the two ends nothing but the noisy score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reticent.amounts import NANO
from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import require
from reticent.guarantees import Event, PerItemDP, plain
from reticent.noise import Source
from reticent.rational import Number, positive, whole
from reticent.tasks import gossip_kernels, kernels
from reticent.tasks.gossip_run import Progress, run_gossip
from reticent.tasks.overlaps import overlap_blocks
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Gossip:
    """Random peer sampling and a semantic view of the k best peers met, over some rounds.

    ``max_contacts`` caps the distinct peers anybody is ever compared with; ``total_epsilon`` then
    is what an item of weight 1 loses in all. ``paper`` repeats the authors' protocol, flaws
    included.

    >>> from reticent.data.profiles import Profiles
    >>> from reticent.noise import Source
    >>> club = Profiles.of(["ann", "ann", "bob", "bob"], ["Heat", "Alien", "Heat", "Up"])
    >>> gossip = Gossip(similarity=Similarity(epsilon=1), k=1, max_contacts=5, total_epsilon=2)
    >>> gossip.comparison.epsilon_overlap  # (2 - 1/4) / 5
    Fraction(7, 20)
    >>> gossip.cluster(club, source=Source.system()).peers.tolist()
    [[1], [0]]
    """

    name: ClassVar[str] = "gossip"
    similarity: Similarity
    k: int = 10
    rounds: int = 20
    view: int = 10
    exchange: int = 5
    paper: bool = False
    max_contacts: int | None = None
    total_epsilon: Number | None = None

    def __post_init__(self) -> None:
        require(
            isinstance(self.similarity, Similarity), "similarity", self.similarity, "a Similarity"
        )
        for name, least in (("k", 1), ("rounds", 0), ("view", 1), ("exchange", 1)):
            object.__setattr__(self, name, whole(getattr(self, name), name, least=least))
        require(isinstance(self.paper, bool), "paper", self.paper, "true or false")
        if self.max_contacts is not None:
            cap = whole(self.max_contacts, "max_contacts", least=1)
            object.__setattr__(self, "max_contacts", cap)
            require(not self.paper, "max_contacts", cap, "None: the authors' protocol has no cap")
        if self.paper:
            measure = self.similarity.measure
            require(measure == "cosine", "similarity", measure, "a cosine in the authors' protocol")
        if self.total_epsilon is not None:
            total = positive(self.total_epsilon, "total_epsilon")
            object.__setattr__(self, "total_epsilon", total)
            require(self.max_contacts is not None, "max_contacts", None, "given to split a total")
            norm = self.similarity.epsilon_norm
            require(total > norm, "total_epsilon", total, f"above what a norm costs, {norm}")
            self.comparison  # noqa: B018  # must be a valid similarity

    @property
    def comparison(self) -> Similarity:
        """The similarity really used. Theorem 2: eps_o = (total - eps_n) / m."""
        if self.total_epsilon is None or self.max_contacts is None:
            return self.similarity
        norm = self.similarity.epsilon_norm
        epsilon = norm + (Fraction(self.total_epsilon) - norm) / self.max_contacts
        return Similarity(
            epsilon=epsilon,
            measure=self.similarity.measure,
            norms=self.similarity.norms,
            weighting=self.similarity.weighting,
            norm_share=norm / epsilon if norm else self.similarity.norm_share,
        )

    def guarantee(self, people: int) -> PerItemDP:
        """Theorems 1 and 2: what an item of weight 1 loses, known before any data is seen."""
        others = max(whole(people, "people", least=0) - 1, 0)
        most = others if self.max_contacts is None else min(self.max_contacts, others)
        return self.comparison.guarantee(comparisons=most)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data."""
        total = None if self.total_epsilon is None else plain(Fraction(self.total_epsilon))
        return {f"similarity_{name}": v for name, v in self.similarity.parameters().items()} | {
            "k": self.k,
            "rounds": self.rounds,
            "view": self.view,
            "exchange": self.exchange,
            "paper": self.paper,
            "max_contacts": self.max_contacts,
            "total_epsilon": total,
        }

    def cluster(
        self, profiles: Profiles, *, source: Source, progress: Progress | None = None
    ) -> Clustering:
        """Run the protocol; ``progress`` is told how many rounds are done, and of how many."""
        run = run_gossip(self, profiles, source, progress, noisy=True)
        n = max(len(profiles), 1)
        keys = np.sort(run.met[run.met >= 0])
        event = Event(
            self.name,
            self.parameters() | {"people": len(profiles)},
            self.guarantee(len(profiles)),
            source.private and profiles.private,
        )
        return Clustering(
            _padded(run.best, self.k, -1),
            _padded(run.best_scores, self.k, -np.inf),
            event,
            run.contacts,
            ((keys // n).astype(np.int32), (keys % n).astype(np.int32)),
            self,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clustering:
    """Each person's best peers of those met, best first; -1 where there are too few.

    ``pairs`` are the distinct unordered pairs that were compared, ``contacts`` how many each person
    took part in. The event's loss is what was promised before; ``spent`` is what it came to.
    """

    peers: NDArray[np.int32]
    scores: NDArray[np.float64]
    event: Event
    contacts: NDArray[np.int32]
    pairs: tuple[NDArray[np.int32], NDArray[np.int32]]
    gossip: Gossip

    def spent(self, profiles: Profiles) -> NDArray[np.float64]:
        """Realised loss of each entry of ``profiles`` against everybody met. Theorem 3.

        eps_n v_i + eps_o (sum over peers met who have item i of w(v_i, v_i of the peer)), rounded
        up. It is computed from private data: for the owner or an auditor, not for publication.
        """
        people = len(profiles)
        require(people == len(self.contacts), "profiles", f"{people} people", "those clustered")
        comparison = self.gossip.comparison
        sums = np.zeros(profiles.indices.size, dtype=np.int64)
        gossip_kernels.add_spent(
            *self.pairs,
            profiles.indptr,
            profiles.indices,
            profiles.weights,
            comparison.weighting == "product",
            sums,
        )
        # Python's integers: exact whatever the denominators, and rounded up to nano-epsilon
        norm, overlap = comparison.epsilon_norm, comparison.epsilon_overlap
        common = math.lcm(norm.denominator, overlap.denominator)
        parts = int(norm * common) * profiles.weights.astype(object)
        parts += int(overlap * common) * sums.astype(object)
        nano: NDArray[np.int64] = -(-parts * NANO // (common * FULL_WEIGHT))
        return nano.astype(np.float64) / NANO

    def largest_loss(self, profiles: Profiles) -> float:
        """The realised loss of the most exposed entry; 0 when there are none."""
        return float(self.spent(profiles).max(initial=0.0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unprotected:
    """Lists of peers made without privacy, to compare with; no event, for nothing is promised."""

    peers: NDArray[np.int32]
    scores: NDArray[np.float64]


def exact_clusters(profiles: Profiles, k: int = 10, *, weighted: bool = False) -> Unprotected:
    """NOT PRIVATE. Everybody's k peers of highest exact cosine; weights count only if asked to."""
    whole(k, "k", least=1)
    if not weighted:
        profiles = profiles.with_weights(np.ones(profiles.indices.size))
    n = len(profiles)
    best, scores = np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf)
    norms = np.maximum(profiles.weighted_sizes(), FULL_WEIGHT).astype(np.float64)
    for block in overlap_blocks(profiles, product=False):
        rows = slice(block.people[0], block.people[-1] + 1)
        common = block.units > 0
        offsets = np.concatenate([[0], np.cumsum(common)])[block.offsets]
        kernels.keep_best(
            kernels.COSINE,
            block.people,
            norms,
            offsets,
            block.peers[common],
            block.units[common],
            best[rows],
            scores[rows],
        )
    return Unprotected(best, scores)


def exact_gossip(
    gossip: Gossip, profiles: Profiles, *, source: Source, progress: Progress | None = None
) -> Unprotected:
    """NOT PRIVATE. The same protocol with no noise on scores and norms."""
    run = run_gossip(gossip, profiles, source, progress, noisy=False)
    return Unprotected(_padded(run.best, gossip.k, -1), _padded(run.best_scores, gossip.k, -np.inf))


def random_clusters(profiles: Profiles, k: int = 10, *, source: Source) -> Unprotected:
    """Everybody's k peers chosen blindly: says nothing about anybody, and is as useful."""
    whole(k, "k", least=1)
    peers = np.full((len(profiles), k), -1, dtype=np.int32)
    gossip_kernels.random_peers(peers, source.long_words(1))
    return Unprotected(peers, np.where(peers >= 0, 0.0, -np.inf))


def _padded(lists: NDArray[Any], k: int, empty: float) -> NDArray[Any]:
    return np.pad(lists, ((0, 0), (0, k - lists.shape[1])), constant_values=empty)
