"""Made-up communities with a known answer, made-up catalogues, and the draws of simulations.

Notation  person p belongs to community c(p); a share ``focus`` of p's items comes from c's own part
          of the catalogue, where items of low rank are popular; the rest from anywhere
Not here  real data (sources/), weights by privacy attitude (tasks/groups.py).

Who belongs together is known, so a clustering can be judged without held-out items. ``DENSE`` and
``SPARSE`` have about the size and density of the Digg and Delicious profiles of [AlagganEtAl2016],
which are not distributable; they do not claim to look like them otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.data.profiles import Profiles
from reticent.errors import require
from reticent.noise import Source
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


def uniform(shape: int | tuple[int, ...], source: Source) -> NDArray[np.float64]:
    """Uniform floats in [0, 1) on the grid 2**-53. For simulations: no guarantee rests on them."""
    return (source.long_words(shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(bound: int, shape: int | tuple[int, ...], source: Source) -> NDArray[np.int64]:
    """Whole numbers from 0 to bound - 1, uniform to within bound / 2**53."""
    whole(bound, "bound", least=1)
    return (uniform(shape, source) * bound).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Communities:
    """People in equally large communities, each with its own part of the catalogue.

    >>> from reticent.noise import Source
    >>> profiles, community = Communities(people=40, items=200, communities=4, size=20).draw(
    ...     Source.seeded(1)
    ... )
    >>> len(profiles), profiles.n_items, sorted(set(community.tolist()))
    (40, 200, [0, 1, 2, 3])
    """

    people: int
    items: int
    communities: int
    size: int
    focus: float = 0.6
    skew: float = 2.0

    def __post_init__(self) -> None:
        for name in ("people", "items", "communities", "size"):
            whole(getattr(self, name), name, least=1)
        fits = self.communities <= min(self.people, self.items)
        require(fits, "communities", self.communities, "at most the number of people and of items")
        require(0 <= self.focus <= 1, "focus", self.focus, "from 0 to 1")
        require(1 <= self.skew <= 8, "skew", self.skew, "from 1 (all equally popular) to 8")

    def draw(self, source: Source) -> tuple[Profiles, NDArray[np.int64]]:
        """Profiles over the whole catalogue, and the community of each person."""
        community = np.arange(self.people) % self.communities
        # Sizes from size / 4 to about 2.3 * size, log-uniform, with mean near ``size``.
        draws = np.ceil(self.size * 0.25 * 9.2 ** uniform(self.people, source)).astype(np.int64)
        who = np.repeat(np.arange(self.people), draws)
        rank = uniform(who.size, source) ** self.skew
        inside = uniform(who.size, source) < self.focus
        starts = np.arange(self.communities + 1) * self.items // self.communities
        own = community[who]
        within = starts[own] + (rank * np.diff(starts)[own]).astype(np.int64)
        # Anywhere: a random community's part, at the same popularity.
        other = below(self.communities, who.size, source)
        anywhere = starts[other] + (rank * np.diff(starts)[other]).astype(np.int64)
        table = Profiles.of(who, np.where(inside, within, anywhere))
        return table.in_catalogue(range(self.people), range(self.items)), community


DENSE = Communities(people=480, items=1_200, communities=8, size=400, focus=0.5, skew=1.5)
"""About 480 people who each have a fifth of the catalogue: methods are hard to tell apart."""

SPARSE = Communities(people=500, items=40_000, communities=25, size=150, focus=0.6, skew=3.0)
"""About 500 people who each have a few of very many items: most pairs share next to nothing."""


def multi_hot_catalogue(
    items: int,
    attributes: int,
    source: Source,
    *,
    mean: float = 1.65,
    most: int = 6,
    skew: float = 1.0,
) -> Catalogue:
    """Items with 1 to ``most`` attributes each, ``mean`` on average, the first ones most often.

    How often attribute j is drawn first falls as (j + 1) ** -skew; the first items have one
    attribute each for certain, so that no column is empty. ``mean=1`` gives a single one to all.

    >>> from reticent.noise import Source
    >>> shops = multi_hot_catalogue(500, 21, Source.seeded(1))
    >>> shops.dense().shape, int(shops.dense().sum(axis=1).max()) <= 6
    ((500, 21), True)
    """
    whole(attributes, "attributes", least=1)
    whole(items, "items", least=attributes)
    whole(most, "most", least=1)
    require(most <= attributes, "most", most, "at most the number of attributes")
    require(1 <= mean <= most, "mean", mean, "from 1 to the most that an item may have")
    chance = (mean - 1) / max(most - 1, 1)
    extra = (uniform((items, most - 1), source) < chance).sum(axis=1)
    with np.errstate(divide="ignore"):
        luck = -np.log(-np.log(uniform((items, attributes), source)))  # Gumbel: without replacement
    luck -= skew * np.log(np.arange(attributes) + 1)
    luck[np.arange(attributes), np.arange(attributes)] = np.inf
    rank = np.argsort(np.argsort(-luck, axis=1), axis=1)
    return Catalogue.of((rank <= extra[:, None]).astype(np.int64))
