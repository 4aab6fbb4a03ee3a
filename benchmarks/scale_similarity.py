"""Nearest neighbours among a crowd that grows.

Not here  who measures (scale.py), peers of the same task (similarity.py).

Everybody has 30 items, popular ones more often (the r-th with a chance of 1/r). Where the catalogue
``grows`` there are a thousand items for each fifty people, so about as many others have something
in common with a person however many people there are. Else there is one catalogue, and nearly
everybody has something in common with everybody.
"""

from __future__ import annotations

import numpy as np

from reticent.data.profiles import Profiles
from reticent.noise import Source
from reticent.tasks.similarity import Neighbours, Similarity

ITEMS, K, PAIRS = 30, 10, 10
CELL_PEOPLE, CELL_ITEMS = 50, 1_000
SIMILARITY = Similarity(epsilon=1)


def make(people: int, *, grows: bool) -> Profiles:
    """A crowd."""
    generator = np.random.default_rng(1)
    chances = np.cumsum(1 / np.arange(1, CELL_ITEMS + 1))
    size = people * ITEMS
    ranks = np.searchsorted(chances / chances[-1], generator.random(size))
    cells = generator.integers(0, max(people // CELL_PEOPLE, 1), size) if grows else 0
    return Profiles.of_lists(
        range(people), np.arange(people + 1) * ITEMS, cells * CELL_ITEMS + ranks
    )


def search(profiles: Profiles) -> Neighbours:
    """The ten nearest of everybody, by noisy cosine."""
    return SIMILARITY.neighbours(profiles, K, source=Source.system())


def compare(profiles: Profiles) -> object:
    """Everybody with ten given others: what a gossip round, or a list of candidates, asks for."""
    people, source = len(profiles), Source.system()
    first = np.repeat(np.arange(people), PAIRS)
    second = (first + np.tile(np.arange(1, PAIRS + 1), people)) % people
    norms, noise = SIMILARITY.release_norms(profiles, source), SIMILARITY.pair_noise(source)
    return SIMILARITY.pairs(profiles, first, second, norms=norms, noise=noise)
