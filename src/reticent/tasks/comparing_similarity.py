"""The error of the overlap behind a noisy similarity, or of two sketches, before any data.

Theory    docs/theory/similarity.md, Theorem 1; docs/theory/multilevel.md, Theorem 5 (E|Z|);
          docs/theory/blip.md, Theorem 5 (two sketches)
Notation  eps_o = what the overlap costs, units of 2**-20 of an item, E|Z| = 1 / sinh(eps_o) units
Not here  the comparison of two profiles (similarity.py), the filters (blip.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reticent.data.profiles import FULL_WEIGHT
from reticent.errors import require
from reticent.tasks.blip import Blip
from reticent.tasks.comparing import Curves, Point
from reticent.tasks.similarity import Similarity

_EXACT = "sizes-public: sizes are exact and not protected, so the promise is less"
_LARGEST = 500.0  # of a loss per unit: beyond it the error is 0 in floating point


def similarity_curves(tried: Sequence[Similarity]) -> Curves:
    """The mean absolute error of the overlap, in items; similarities differ by epsilon and sizes.

    >>> curves = similarity_curves([Similarity(epsilon=1), Similarity(epsilon=4)])
    >>> [round(row.value, 4) for row in curves.rows]
    [1.3333, 0.3333]
    """
    require(len(tried) > 0, "tried", "none", "one or more")
    first = tried[0]
    alike = {one.measure for one in tried}
    require(len(alike) == 1, "tried", "others", "of one measure")
    rows = [
        Point(
            way="no-sizes" if one.norms == "none" else f"sizes-{one.norms}",
            x=float(one.epsilon),
            value=overlap_error(one),
            more={"size_error": size_error(one)},
        )
        for one in tried
    ]
    return Curves(
        what=f"the overlap behind a noisy {first.measure} of two people",
        x="epsilon",
        y="mean absolute error, in items of weight 1",
        better="lower",
        rows=rows,
        more={"measure": first.measure},
        notes=(_EXACT,) if any(one.norms == "public" for one in tried) else (),
    )


def sketched_curves(tried: Mapping[str, Sequence[Blip]], profile_size: int) -> Curves:
    """The error of the overlap that two published sketches tell, in items, by budget.

    ``tried`` are filters by the name of what they are made for; profiles have so many items.
    """
    rows = [
        Point(
            way=way,
            x=float(one.epsilon),
            value=one.overlap_error(profile_size),
            more={"bits": one.bits},
        )
        for way, made in tried.items()
        for one in made
    ]
    return Curves(
        what=f"the overlap of two sketches of {profile_size:,} items each",
        x="epsilon",
        y="standard deviation, in items of weight 1",
        better="lower",
        rows=rows,
        more={"profile_size": profile_size},
    )


def overlap_error(one: Similarity) -> float:
    """E|Z| of the overlap, in items."""
    return _mean_absolute(float(one.epsilon_overlap))


def size_error(one: Similarity) -> float | None:
    """E|Z| of a size, in items; None where sizes get no noise."""
    return _mean_absolute(float(one.epsilon_norm)) if one.norms == "private" else None


def _mean_absolute(epsilon: float) -> float:
    return 1 / math.sinh(min(epsilon / FULL_WEIGHT, _LARGEST)) / FULL_WEIGHT
