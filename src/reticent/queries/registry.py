"""Which kinds of query there are: ours, and those that other packages add.

A package adds its own with an entry point of the group ``reticent.queries`` that names a subclass
of ``Query``; ``register`` adds one for as long as this process runs.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from reticent.errors import ParameterError, require
from reticent.queries.base import Query
from reticent.queries.options import TAKEN

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
        _load(point, found)
    return found | _added


def _load(point: EntryPoint, found: dict[str, type[Query]]) -> None:
    """Add what a package offers; a fault of that package stops nobody else."""
    try:
        made = point.load()
        _check(made, found)
        found[made.kind] = made
    except Exception as error:
        package = "a package" if point.dist is None else point.dist.name
        told = f"{package} adds no query {point.name!r}: {type(error).__name__}: {error}"
        warnings.warn(told, RuntimeWarning, stacklevel=3)


def _check(made: Any, found: Mapping[str, type[Query]]) -> None:
    """Refuse a class that no surface could be made from, and say what it lacks."""
    name = getattr(made, "__name__", "another")
    known = isinstance(made, type) and issubclass(made, Query)
    require(known, "query", name, "a subclass of Query")
    kind = getattr(made, "kind", None)
    good = isinstance(kind, str) and _KIND.fullmatch(kind) is not None
    require(good, "kind", kind, "a text of small letters, digits and hyphens")
    require(kind not in found, "kind", kind, "a new one: there is a query of this kind")
    whole = not any(isinstance(one, dataclasses.Field) for one in vars(made).values())
    require(whole, "query", name, "made by @dataclass(frozen=True, kw_only=True)")
    for one in dataclasses.fields(made):
        declared = {"help", "kind"} <= one.metadata.keys()
        require(declared, "query", f"{name}.{one.name}", "with fields that option() makes")
        free = one.name not in TAKEN
        require(free, "query", f"{name}.{one.name}", "with names that no surface has taken")


def register(query: Made) -> Made:
    """Add a kind of your own, in Python and for this process; commands need an entry point.

    The class that was added last holds: a cell of a notebook may be run again.
    """
    _check(query, {kind: one for kind, one in queries().items() if kind not in _added})
    _added[query.kind] = query
    queries.cache_clear()
    return query


def query_of(kind: str) -> type[Query]:
    """The class of a kind."""
    known = queries()
    if kind not in known:
        raise ParameterError("kind", f"one of {', '.join(known)}", kind)
    return known[kind]
