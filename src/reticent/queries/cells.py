"""What can be done with each kind of query, and on which surface; or why not.

Not here  the list of kinds (registry.py), the surfaces themselves.
"""

from __future__ import annotations

from typing import Any

from reticent.queries.base import Query
from reticent.queries.offered import why_not_offered

NO_SCORE = "it does not say how good an answer is (score)"
VERBS = ("plan", "release", "compare", "sweep", "verify", "audit")
SURFACES = ("Python", "shell", "HTTP", "Spark")
NO_WORLDS = "it brings no small inputs that differ in one unit (worlds)"
RELEASES_ONLY = {
    "HTTP": "providers get releases, and `GET /v1/terms` has the card of each offer",
    "Spark": "other verbs read no private table and need no cluster (Python, shell)",
}
"""Surfaces that have no other verb than release, and why."""


def cells(query: type[Query]) -> dict[str, Any]:
    """True where it is offered, else why not."""
    absent = dict(query.absent)
    if query.worlds is Query.worlds:
        absent.setdefault("verify", NO_WORLDS)
        if query.audit is Query.audit:
            absent.setdefault("audit", NO_WORLDS)
    if query.score is Query.score and query.curves is Query.curves:
        absent.setdefault("compare", NO_SCORE)
        absent.setdefault("sweep", NO_SCORE)
    if why_not_offered(query):
        absent["HTTP"] = why_not_offered(query)

    return {
        "query": query.kind,
        "about": query.about(),
        "verbs": {name: absent.get(name, True) for name in VERBS},
        "surfaces": {name: absent.get(name, True) for name in SURFACES},
    }
