"""Ways to find neighbours at one loss to all others together, by how good the neighbours are.

Theory    docs/theory/blip.md, Theorem 2 (sketches); docs/theory/similarity.md, Theorem 3 (pairs);
          docs/theory/recommendation.md, Theorem 2 (the strictest weight), "Measures";
          docs/theory/clustering.md, Theorem 2 (a cap on meetings)
Notation  eps = what an item of weight 1 loses to all others together, v = weight
Not here  the mechanisms (blip.py, similarity.py), the measure (metrics.py).

Held-out items are looked for among those of a person's neighbours. Figures are computed from raw
profiles and are private if the profiles are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import require
from reticent.noise import Source
from reticent.rational import Number, budget, whole
from reticent.tasks.blip import Blip
from reticent.tasks.clustering import Gossip
from reticent.tasks.comparing import SHARE, Curves, Point, Progress, chosen_ways, paired, seeds
from reticent.tasks.metrics import Mean, hold_out, recall
from reticent.tasks.similarity import Similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]
    Peers: TypeAlias = NDArray[Any]

SKETCHES, STRICT_SKETCHES = "sketches", "sketches-strictest"
PAIRS, STRICT_PAIRS = "direct", "direct-strictest"
GOSSIP = "gossip"
WAYS = (SKETCHES, STRICT_SKETCHES, PAIRS, STRICT_PAIRS, GOSSIP)
EVERYBODY = "everybody"
FULL, LESS, WITHHELD = "all at full weight", "some at less", "some withheld"
_NOTES = (
    "all methods lose the same to all others together",
    "strictest: weights are put aside, and everybody gets what the strictest item allows",
)
_NO_NOISE = 10**6  # an epsilon at which no noise is left


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: ``k`` neighbours, with sketches for profiles of about ``profile_size``.

    ``held_out`` is the share of entries that neighbours have to supply, ``max_contacts`` how many
    others one may meet in gossip: 2 k, unless it is given.
    """

    k: int = 10
    profile_size: int = 100
    held_out: Number = Fraction(1, 10)
    max_contacts: int | None = None

    def __post_init__(self) -> None:
        whole(self.k, "k", least=1)
        whole(self.profile_size, "profile_size", least=1)

    def peers(self, train: Profiles, way: str, epsilon: Fraction, source: Source) -> Peers:
        """The neighbours of everybody, found in this way."""
        if way in (STRICT_SKETCHES, STRICT_PAIRS):
            least = strictest(train)
            train, epsilon = without_weights(train), epsilon * least
        if way in (SKETCHES, STRICT_SKETCHES):
            return self._sketched(train, epsilon, source)
        if way == GOSSIP:
            return self._met(train, epsilon, source)
        similarity = pairs_at(epsilon, len(train))
        return similarity.neighbours(train, self._most(train), source=source).peers

    def exact(self, train: Profiles) -> Peers:
        """The most similar others by all items, weights and privacy put aside."""
        similarity = Similarity(epsilon=_NO_NOISE, norms="public")
        every = train.with_weights(np.ones(train.indices.shape))
        return similarity.neighbours(every, self._most(train), source=Source.seeded(0)).peers

    def _most(self, train: Profiles) -> int:
        return min(self.k, len(train) - 1)

    def _sketched(self, train: Profiles, epsilon: Fraction, source: Source) -> Peers:
        blip = Blip.fitted(epsilon=epsilon, profile_size=self.profile_size)
        return blip.publish(train, source).nearest(self._most(train)).peers

    def _met(self, train: Profiles, epsilon: Fraction, source: Source) -> Peers:
        """The best of those whom one meets: a size and each of them share the budget."""
        k = self._most(train)
        gossip = Gossip(
            similarity=Similarity(epsilon=epsilon),
            k=k,
            total_epsilon=epsilon,
            max_contacts=self.max_contacts or 2 * self.k,
        )
        return gossip.cluster(train, source=source).peers


def neighbour_curves(
    profiles: Profiles,
    search: Search,
    *,
    epsilons: Sequence[Number],
    runs: int,
    source: Source,
    ways: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Curves:
    """The share of held-out items that neighbours have, by way and budget; also by group.

    In each run every way sees the same held-out items and draws from the same stream.
    """
    require(len(profiles) > 1, "profiles", f"{len(profiles)} person", "of two people or more")
    asked = chosen_ways(WAYS, ways)
    sizes = sorted({budget(epsilon, "epsilon") for epsilon in epsilons})
    groups = privacy_groups(profiles)
    found: dict[tuple[Fraction, str], list[Reals]] = {}
    exact: list[Reals] = []
    splits, draws = seeds(source, runs), seeds(source, runs)
    for run, (split, draw) in enumerate(zip(splits, draws, strict=True)):
        train, held = hold_out(profiles, source=Source.seeded(split), share=search.held_out)
        exact.append(_by_group(recall(held, profiles, search.exact(train)), groups))
        for epsilon in sizes:
            for way in asked:
                if progress is not None:
                    progress(f"run {run + 1}: {way} at epsilon {float(epsilon):g}")
                peers = search.peers(train, way, epsilon, Source.seeded(draw))
                judged = _by_group(recall(held, profiles, peers), groups)
                found.setdefault((epsilon, way), []).append(judged)
    return _curves(profiles, search, groups, asked, sizes, found, exact, runs)


def _curves(
    profiles: Profiles,
    search: Search,
    groups: Mapping[str, NDArray[np.bool_]],
    ways: Sequence[str],
    sizes: Sequence[Fraction],
    found: Mapping[tuple[Fraction, str], list[Reals]],
    exact: list[Reals],
    runs: int,
) -> Curves:
    def points(place: int) -> list[Point]:
        rows = []
        for size in sizes:
            of_way = {way: np.array(found[size, way])[:, place] for way in ways}
            rows += paired(float(size), of_way, ends=SHARE)
        return rows

    judged = [bool(np.isfinite(of_run).any()) for of_run in np.array(exact).T]  # by group
    require(judged[0], "profiles", "others", "of items that two people have, some held out")
    by_group = [
        {"group": group, "people": int(groups[group].sum()), **row.fields()}
        for place, group in enumerate(groups)
        if place and judged[place]
        for row in points(place)
    ]
    known = Mean.of(np.array(exact)[:, 0])
    return Curves(
        what=f"the {search.k} nearest of each of {len(profiles):,} people",
        x="epsilon",
        y=f"share of held-out items that one of {search.k} neighbours has",
        better="higher",
        rows=points(0),
        runs=runs,
        reference=known.value,
        reference_name="without privacy",
        more={"people": len(profiles), "k": search.k, "groups": by_group},
        share=True,
        notes=_NOTES,
    )


def privacy_groups(profiles: Profiles) -> dict[str, NDArray[np.bool_]]:
    """Everybody, then people by the least weight of their items; only groups that differ."""
    least = np.full(len(profiles), FULL_WEIGHT, dtype=np.int64)
    np.minimum.at(least, profiles.rows(), profiles.weights)
    kinds = {
        FULL: least == FULL_WEIGHT,
        LESS: (least > 0) & (least < FULL_WEIGHT),
        WITHHELD: least == 0,
    }
    held = {name: marked for name, marked in kinds.items() if marked.any()}
    everybody = {EVERYBODY: np.ones(len(profiles), dtype=bool)}
    return everybody if len(held) < 2 else {**everybody, **held}


def strictest(profiles: Profiles) -> Fraction:
    """The least weight of an item that is not withheld altogether; 1 if there is none."""
    known = profiles.weights[profiles.weights > 0]
    return Fraction(int(known.min()), FULL_WEIGHT) if known.size else Fraction(1)


def without_weights(profiles: Profiles) -> Profiles:
    """Every item that is not withheld, at full weight: for a budget that suits all of them."""
    kept = profiles.where(profiles.weights > 0)
    return kept.with_weights(np.ones(kept.indices.shape))


def pairs_at(total: Fraction, people: int) -> Similarity:
    """The comparison of all pairs that loses so much to all others: a size and each of them."""
    share = Fraction(1, 4)
    parts = share + (people - 1) * (1 - share)  # Theorem 3
    return Similarity(epsilon=total / parts, norm_share=share)


def _by_group(values: Reals, groups: Mapping[str, NDArray[np.bool_]]) -> Reals:
    """The mean of each group, over people who have something held out."""
    return np.array([Mean.of(values[marked]).value for marked in groups.values()])
