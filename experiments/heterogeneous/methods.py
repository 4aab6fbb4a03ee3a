"""The ways to find ten neighbours, from the authors' gossip to one published sketch."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.data.synthetic import below
from reticent.noise import Source
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Clustering, Gossip
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Peers = NDArray[np.int32]

K = 10
NO_NOISE = 10**5  # epsilon at which noise never changes a list here
ENOUGH = 8  # epsilon beyond which a sketch gains nothing; what is not needed is not spent


def paper(train: Profiles, epsilon: float | Fraction, source: Source) -> Clustering:
    """The authors' protocol: epsilon for every comparison, exact sizes, squared scores."""
    similarity = Similarity(epsilon=epsilon, norms="public", weighting="product")
    return Gossip(similarity=similarity, k=K, paper=True).cluster(train, source=source)


def sketch(train: Profiles, total: float, size: int, source: Source, usual: float = 1.0) -> Peers:
    """BLIP so that an item of weight v loses at most total * v, once and for all.

    ``usual`` is a declared weight that most items reach. The filter is flipped at epsilon' =
    usual * total, at most ``ENOUGH``, and items are sampled at weight min(1, v total / epsilon'):
    they lose epsilon' times that, which is no more than total * v.
    """
    epsilon = min(usual * total, float(ENOUGH))
    scaled = np.minimum(train.weights / FULL_WEIGHT * total / epsilon, 1.0)
    blip = Blip.fitted(epsilon=epsilon, profile_size=size, catalogue=train.n_items)
    return blip.publish(train.with_weights(scaled), source).nearest(K).peers


def capped(train: Profiles, total: float, contacts: int, source: Source) -> Peers:
    """Our gossip with at most so many distinct contacts, and private norms."""
    similarity = Similarity(epsilon=total, norm_share=Fraction(1, 10))
    gossip = Gossip(similarity=similarity, k=K, max_contacts=contacts, total_epsilon=total)
    return gossip.cluster(train, source=source).peers


def direct(train: Profiles, total: float, source: Source) -> Peers:
    """All pairs compared, the total shared among all of them (everybody else colludes)."""
    similarity = Similarity(epsilon=Fraction(total) / max(len(train) - 1, 1), norms="public")
    own = source.child("all pairs")  # how many bits it draws is its own affair
    return similarity.neighbours(train, K, source=own).peers


def exact(train: Profiles, source: Source) -> Peers:
    """No privacy: the ten of highest cosine among all."""
    return (
        Similarity(epsilon=NO_NOISE, norms="public")
        .neighbours(_unweighted(train), K, source=source.child("exact"))
        .peers
    )


def exact_gossip(train: Profiles, source: Source) -> Peers:
    """No privacy: the authors' protocol without noise, their "baseline"."""
    return paper(_unweighted(train), NO_NOISE, source).peers


def at_random(train: Profiles, source: Source) -> Peers:
    """Ten others at random."""
    n = len(train)
    drawn = below(n - 1, (n, K), source)
    return (drawn + (drawn >= np.arange(n)[:, None])).astype(np.int32)


def largest(train: Profiles, source: Source) -> Peers:
    """The same ten people for everybody: those with the most items. Nothing personal in it."""
    order = np.argsort(-train.sizes, kind="stable")[: K + 1].astype(np.int32)
    lists = np.tile(order, (len(train), 1))
    return np.stack([row[row != person][:K] for person, row in enumerate(lists)])


def _unweighted(train: Profiles) -> Profiles:
    return train.with_weights(np.ones(train.indices.shape))
