"""How good neighbours and recommendations are: held-out items, recall, precision, NDCG.

Theory    docs/theory/recommendation.md, "Measures"; [AlagganEtAl2016] section 4.2
Notation  T = a person's held-out items, R = the items recommended, best first
Not here  anything private: measures read raw profiles and are for experiments only.

Measures give one value per person and NaN for those without held-out items, whom ``Mean`` leaves
out. The paper counts them as 0 (``numpy.nan_to_num``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from scipy.special import stdtrit

from reticent.data.profiles import Profiles
from reticent.errors import ParameterError, require
from reticent.noise import Source, bernoulli
from reticent.rational import Number, rational

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with the half-width of its Student-t interval."""

    value: float
    half_width: float
    count: int

    @classmethod
    def of(cls, values: ArrayLike, *, confidence: float = 0.99) -> Mean:
        """Mean of the values that are not NaN.

        >>> Mean.of([1.0, 2.0, 3.0], confidence=0.95)
        Mean(value=2.0, half_width=2.484137..., count=3)
        """
        require(0 < confidence < 1, "confidence", confidence, "between 0 and 1")
        known = np.asarray(values, dtype=np.float64).ravel()
        known = known[~np.isnan(known)]
        if known.size == 0:
            return cls(float("nan"), float("nan"), 0)
        if known.size == 1:
            return cls(float(known[0]), float("inf"), 1)
        quantile = float(stdtrit(known.size - 1, (1 + confidence) / 2))  # Student's t
        deviation = float(known.std(ddof=1))
        return cls(float(known.mean()), quantile * deviation / known.size**0.5, known.size)

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.half_width:.3f}"


def hold_out(
    profiles: Profiles,
    *,
    source: Source,
    share: Number = Fraction(1, 10),
    streaming: bool = False,
) -> tuple[Profiles, Profiles]:
    """Training and held-out entries: each entry is held out with probability ``share``.

    Only items that at least two people have are held out, so that somebody else can supply them.
    ``streaming`` is the authors' test for that: somebody *earlier in the file* has it, so the first
    owner of an item never looks for it.
    """
    part = rational(share, "share")
    require(0 <= part <= 1, "share", share, "from 0 to 1")
    chosen = bernoulli(np.full(profiles.indices.shape, float(part)), source=source)
    if streaming:
        _, first = np.unique(profiles.indices, return_index=True)  # rows are in file order
        shared = np.ones(chosen.size, dtype=bool)
        shared[first] = False
    else:
        owners = np.bincount(profiles.indices, minlength=profiles.n_items)
        shared = owners[profiles.indices] >= 2
    return profiles.where(~(chosen & shared)), profiles.where(chosen & shared)


def recall(held_out: Profiles, full: Profiles, neighbours: NDArray[Any]) -> NDArray[np.float64]:
    """Share of each person's held-out items that some neighbour has, as the paper measures it.

    ``full`` holds the neighbours' whole profiles, their held-out items included.
    """
    _same_people(held_out, len(full), "full")
    _same_people(held_out, len(neighbours), "neighbours")
    found = np.zeros(len(held_out), dtype=np.int64)
    _count_found(
        held_out.indptr,
        held_out.indices,
        full.indptr,
        full.indices,
        np.ascontiguousarray(neighbours, dtype=np.int64),
        np.full(full.n_items, -1, dtype=np.int64),
        found,
    )
    return _divide(found, held_out.sizes)


def recall_at(held_out: Profiles, recommended: NDArray[Any]) -> NDArray[np.float64]:
    """|R and T| / |T| for lists of recommended items, padded with -1."""
    return _divide(_hits(held_out, recommended).sum(axis=1), held_out.sizes)


def precision_at(held_out: Profiles, recommended: NDArray[Any]) -> NDArray[np.float64]:
    """|R and T| / n for lists of length n; a list that is too short counts as wrong there."""
    hits = _hits(held_out, recommended).sum(axis=1)
    return np.where(held_out.sizes > 0, hits / recommended.shape[1], np.nan)


def ndcg_at(held_out: Profiles, recommended: NDArray[Any]) -> NDArray[np.float64]:
    """Discounted gain 1 / log2(rank + 1) of the hits, over that of a perfect list."""
    discount = 1 / np.log2(np.arange(recommended.shape[1]) + 2)
    ideal = np.concatenate([[0.0], np.cumsum(discount)])
    best = ideal[np.minimum(held_out.sizes, recommended.shape[1])]
    return _divide(_hits(held_out, recommended) @ discount, best)


def _hits(held_out: Profiles, recommended: NDArray[Any]) -> NDArray[np.bool_]:
    if recommended.ndim != 2 or recommended.shape[1] == 0:
        raise ParameterError("recommended", "one list per person", f"shape {recommended.shape}")
    _same_people(held_out, len(recommended), "recommended")
    wide = np.int64(held_out.n_items)
    wanted = held_out.rows() * wide + held_out.indices  # sorted, as rows are
    asked = np.arange(len(held_out))[:, None] * wide + recommended
    at = np.searchsorted(wanted, asked)
    there = at < wanted.size
    there[there] = wanted[at[there]] == asked[there]
    hits: NDArray[np.bool_] = there & (recommended >= 0)
    return hits


def _same_people(held_out: Profiles, count: int, name: str) -> None:
    require(count == len(held_out), name, f"{count} people", f"{len(held_out)} people, as held_out")


def _divide(part: NDArray[Any], of: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where(of > 0, part / of, np.nan)


@njit(cache=True, nogil=True)
def _count_found(
    wanted_starts: Any,
    wanted: Any,
    starts: Any,
    items: Any,
    neighbours: Any,
    stamps: Any,
    found: Any,
) -> None:
    for u in range(neighbours.shape[0]):
        for j in range(neighbours.shape[1]):
            p = neighbours[u, j]
            if p >= 0:
                for e in range(starts[p], starts[p + 1]):
                    stamps[items[e]] = u
        for e in range(wanted_starts[u], wanted_starts[u + 1]):
            if stamps[wanted[e]] == u:
                found[u] += 1
