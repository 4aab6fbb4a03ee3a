"""Whom each release protects, against whom, and against whom not: every card's sentences.

Notation  a function for each kind of release; it returns the scope of a card from public facts
Not here  the odds that follow from a loss (guarantees/card.py), on average (average_words.py),
          what a mechanism assumes (mechanisms/).

Sentences stand in this package only, so that cards of the same kind say the same on every surface.
"""

from reticent.guarantees.promises.caveats import public_lists
from reticent.guarantees.promises.demo import (
    demo_census,
    demo_profile,
    demo_similarity,
    demo_top_nodes,
)
from reticent.guarantees.promises.profiles import (
    UNPROTECTED_ITEMS,
    behind_recommendations,
    histogram,
    items,
    neighbours_direct,
    neighbours_gossip,
    neighbours_sketches,
    profile,
    read_off_sketches,
    similarity,
)
from reticent.guarantees.promises.stated import about, restated
from reticent.guarantees.promises.tables import (
    counts,
    mapping,
    percentile,
    predictions,
    quantile,
    top_nodes,
    tree,
)

__all__ = [
    "UNPROTECTED_ITEMS",
    "about",
    "behind_recommendations",
    "counts",
    "demo_census",
    "demo_profile",
    "demo_similarity",
    "demo_top_nodes",
    "histogram",
    "items",
    "mapping",
    "neighbours_direct",
    "neighbours_gossip",
    "neighbours_sketches",
    "percentile",
    "predictions",
    "profile",
    "public_lists",
    "quantile",
    "read_off_sketches",
    "restated",
    "similarity",
    "top_nodes",
    "tree",
]
