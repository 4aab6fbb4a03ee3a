"""Recommendations from private neighbours: what they have and the person lacks.

Theory    docs/theory/recommendation.md, "What the recommender reads", Theorem 1 (weight 0);
          docs/theory/blip.md, Theorem 3 (what a bit tells)
Notation  s_p = score of neighbour p (1 if none is given), v_i = weight of p's item i
Not here  who the neighbours are (similarity.py, clustering.py, blip.py), measures (metrics.py).

That a neighbour list is private does not make recommendations private: ``recommend`` **reads the
neighbours' raw profiles**. It belongs inside a trusted gateway, or on a profile that was itself
released; its output promises nothing more than that items of weight 0 change nothing.
``from_sketches`` reads published filters only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from reticent.data.profiles import FULL_WEIGHT, Profiles
from reticent.errors import ParameterError, require
from reticent.rational import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.tasks.blip import Nearest, Sketches


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recommendations:
    """Columns of recommended items, best first, and their scores; -1 where there are too few."""

    items: NDArray[np.int32]
    scores: NDArray[np.float64]


def recommend(
    profiles: Profiles,
    neighbours: NDArray[Any],
    *,
    n_items: int = 10,
    scores: NDArray[np.float64] | None = None,
) -> Recommendations:
    """For each person the items with the largest sum of s_p v_i over neighbours p who have them.

    ``neighbours`` is one row of people per person, padded with -1. Negative scores count as 0, and
    an item whose sum is 0 is not recommended. Of equal sums the earlier item of the catalogue wins.

    >>> club = Profiles.of(["ann", "bob", "bob", "cid"], ["Heat", "Heat", "Up", "Up"])
    >>> recommend(club, np.array([[1], [2], [1]]), n_items=1).items.tolist()
    [[1], [-1], [0]]
    """
    whole(n_items, "n_items", least=1)
    _check(neighbours, len(profiles))
    profiles = profiles.where(profiles.weights > 0)  # Theorem 1: not even left out of own lists
    if scores is not None:
        same = np.shape(scores) == neighbours.shape
        require(same, "scores", np.shape(scores), f"{neighbours.shape}, as neighbours")
    trust = np.ones(neighbours.shape) if scores is None else np.nan_to_num(scores).clip(min=0.0)
    items = np.full((len(profiles), n_items), -1, dtype=np.int32)
    sums = np.zeros((len(profiles), n_items))
    _rank(
        profiles.indptr,
        profiles.indices,
        profiles.weights,
        np.ascontiguousarray(neighbours, dtype=np.int64),
        np.ascontiguousarray(trust, dtype=np.float64),
        np.zeros(profiles.n_items),
        np.full(profiles.n_items, -1, dtype=np.int64),
        np.empty(profiles.n_items, dtype=np.int64),
        items,
        sums,
    )
    return Recommendations(items, sums / FULL_WEIGHT)


def from_sketches(
    sketches: Sketches,
    near: Nearest,
    items: Sequence[str],
    *,
    n_items: int = 10,
    people: Sequence[int] | None = None,
    progress: Callable[[float], object] = lambda share: None,
) -> Recommendations:
    """For each person the items that neighbours seem to have, and the person seems to lack.

    ``people`` are those of the rows of ``near``, if it has not a row for everybody.

    A function of published filters and public names, so it costs nothing. The bit of an item is an
    unbiased estimate of whether a neighbour has it, up to collisions (blip.md, Theorem 3); the sum
    over neighbours is by their estimated cosine. An item whose bits are all set in a person's own
    filter is left out of that person's list; of equal sums the earlier item wins.
    """
    whole(n_items, "n_items", least=1)
    at, p = sketches.blip.positions(items), sketches.blip.flip
    word, shift = at // 64, (at % 64).astype(np.uint64)
    whose = range(len(sketches)) if people is None else people
    best = np.full((len(whose), n_items), -1, dtype=np.int32)
    sums = np.zeros((len(whose), n_items))
    trust = np.nan_to_num(near.scores, neginf=0.0).clip(min=0.0)
    for u, person in enumerate(whose):
        peers = near.peers[u][near.peers[u] >= 0]
        rows = sketches.words[np.append(peers, person)]
        bits = ((rows[:, word] >> shift) & np.uint64(1)).astype(np.float64).mean(axis=2)
        told = (bits[:-1] - p) / (1 - 2 * p)
        scores = trust[u, : len(peers)] @ told
        scores[bits[-1] == 1] = -np.inf
        order = np.argsort(-scores, kind="stable")[:n_items]
        kept = order[scores[order] > 0]
        best[u, : len(kept)], sums[u, : len(kept)] = kept, scores[kept]
        progress((u + 1) / len(whose))
    return Recommendations(best, sums)


def _check(neighbours: NDArray[Any], people: int) -> None:
    if neighbours.ndim != 2 or not np.issubdtype(neighbours.dtype, np.integer):
        raise ParameterError("neighbours", "rows of whole numbers", f"shape {neighbours.shape}")
    require(len(neighbours) == people, "neighbours", len(neighbours), f"{people} rows, as profiles")
    fits = neighbours.size == 0 or (neighbours.min() >= -1 and neighbours.max() < people)
    require(bool(fits), "neighbours", "a number outside", f"people from 0 to {people - 1}, or -1")


@njit(cache=True, nogil=True)
def _rank(
    starts: Any,
    columns: Any,
    weights: Any,
    neighbours: Any,
    trust: Any,
    sums: Any,
    stamps: Any,
    seen: Any,
    best: Any,
    best_sums: Any,
) -> None:
    n = best.shape[1]
    for u in range(neighbours.shape[0]):
        for e in range(starts[u], starts[u + 1]):
            stamps[columns[e]] = -2 - u  # the person's own: never recommended
        count = 0
        for j in range(neighbours.shape[1]):
            p = neighbours[u, j]
            if p < 0:
                continue
            for e in range(starts[p], starts[p + 1]):
                i = columns[e]
                if stamps[i] == -2 - u:
                    continue
                if stamps[i] != u:
                    stamps[i] = u
                    sums[i] = 0.0
                    seen[count] = i
                    count += 1
                sums[i] += trust[u, j] * weights[e]
        for c in range(count):
            i = seen[c]
            value, at = sums[i], n
            while at > 0 and (
                best[u, at - 1] < 0
                or best_sums[u, at - 1] < value
                or (best_sums[u, at - 1] == value and best[u, at - 1] > i)
            ):
                at -= 1
            if value <= 0 or at == n:
                continue
            for move in range(n - 1, at, -1):
                best[u, move] = best[u, move - 1]
                best_sums[u, move] = best_sums[u, move - 1]
            best[u, at] = i
            best_sums[u, at] = value
