"""Which kinds of query a gateway offers to providers, and why not the others.

Not here  the words for them (offering.py), what is drawn (public_terms.py).
"""

from __future__ import annotations

from reticent.queries.base import Pays, Query, Shape
from reticent.queries.inputs import Artefact
from reticent.queries.offering import Lasts
from reticent.queries.registry import queries

NO_ITEMS = "it is no map over people's items that each of them pays for"


def why_not_offered(query: type[Query]) -> str:
    """Why a gateway does not offer a kind of query; nothing if it does."""
    if "HTTP" in query.absent:
        return query.absent["HTTP"]
    own = query.on_terms is not Query.on_terms or derived_from(query) is not None
    usual = query.shape is Shape.PER_PERSON and query.pays is Pays.PERSON
    return "" if own or (usual and "profiles" in query.inputs) else NO_ITEMS


def derived_from(query: type[Query]) -> str | None:
    """The kind whose draws, which a gateway keeps, a query of one person is read off."""
    lasting = {kind for kind, one in queries().items() if one.offering.lasts is Lasts.TERMS}
    kinds = (one.kind for one in query.inputs.values() if isinstance(one, Artefact))
    found = next((kind for kind in kinds if kind in lasting), None)
    return found if query.shape is Shape.PER_PERSON else None


def offered() -> dict[str, type[Query]]:
    """The kinds that a gateway offers, by name."""
    return {kind: query for kind, query in queries().items() if not why_not_offered(query)}
