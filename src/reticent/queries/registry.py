"""Which kinds of query there are: ours, and those that other packages add.

A package adds its own with an entry point of the group ``reticent.queries`` that names a subclass
of ``Query``; ``register`` adds one for as long as this process runs.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

from reticent.errors import ParameterError
from reticent.queries.base import Query

Made = TypeVar("Made", bound=type[Query])

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
_KIND = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")  # a command, and a part of an address
_added: dict[str, type[Query]] = {}


@cache
def queries() -> dict[str, type[Query]]:
    """Every kind by name, ours first."""
    found: dict[str, type[Query]] = {}
    for kind, where in OWN.items():
        module, _, name = where.partition(":")
        found[kind] = getattr(import_module(f"reticent.queries.{module}"), name)
    for point in entry_points(group=GROUP):
        _add(found, point.load(), "entry point", point.name)
    return found | _added


def _add(found: dict[str, type[Query]], made: object, what: str, name: str) -> None:
    if not (isinstance(made, type) and issubclass(made, Query) and made.kind not in found):
        raise ParameterError(what, "a subclass of Query, of a new kind", name)
    if not _KIND.fullmatch(made.kind):
        raise ParameterError(what, "of a kind of small letters, digits and hyphens", name)
    found[made.kind] = made


def register(query: Made) -> Made:
    """Add a kind of your own, in Python and for this process; commands need an entry point."""
    _add({**queries(), **_added}, query, "query", getattr(query, "__name__", "another"))
    _added[query.kind] = query
    queries.cache_clear()
    return query


def query_of(kind: str) -> type[Query]:
    """The class of a kind."""
    known = queries()
    if kind not in known:
        raise ParameterError("kind", f"one of {', '.join(known)}", kind)
    return known[kind]
