"""Which kinds of query there are: ours, and those that other packages add.

A package adds its own with an entry point of the group ``reticent.queries`` that names a subclass
of ``Query``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from reticent.errors import ParameterError, require
from reticent.queries.base import Query

OWN = {
    "counts": "counts:Counts",
    "quantile": "quantile:Quantile",
    "percentile": "percentile:Percentile",
    "top-nodes": "top_nodes:TopNodes",
    "histogram": "histogram:Histogram",
    "similarity": "similarity:Similarity",
    "sketches": "sketches:Sketches",
    "neighbours": "neighbours:Neighbours",
    "recommendations": "recommendations:Recommendations",
    "mapping": "mapping:Mapping",
    "profile": "profile:Profile",
    "tree": "tree:Tree",
    "predict": "predict:Predict",
}
GROUP = "reticent.queries"


@cache
def queries() -> dict[str, type[Query]]:
    """Every kind by name, ours first."""
    found: dict[str, type[Query]] = {}
    for kind, where in OWN.items():
        module, _, name = where.partition(":")
        found[kind] = getattr(import_module(f"reticent.queries.{module}"), name)
    for point in entry_points(group=GROUP):
        made = point.load()
        good = isinstance(made, type) and issubclass(made, Query) and made.kind not in found
        require(good, "entry point", point.name, "a subclass of Query, of a new kind")
        found[made.kind] = made
    return found


def query_of(kind: str) -> type[Query]:
    """The class of a kind."""
    known = queries()
    if kind not in known:
        raise ParameterError("kind", f"one of {', '.join(known)}", kind)
    return known[kind]
