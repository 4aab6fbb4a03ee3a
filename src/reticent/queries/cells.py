"""What can be done with each kind of query, and on which surface; or why not.

Not here  the list of kinds (registry.py), the surfaces themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reticent.queries.base import Query

LATER = "not from this declaration yet"
VERBS = ("plan", "release", "compare", "sweep", "verify", "audit")
SURFACES = ("Python", "shell", "HTTP", "Spark")
_DONE = frozenset({"plan", "release", "Python", "shell"})


def cells(query: type[Query]) -> dict[str, Any]:
    """True where it is offered, else why not."""

    def cell(name: str) -> bool | str:
        return query.absent.get(name, True if name in _DONE else LATER)

    return {
        "query": query.kind,
        "about": query.about(),
        "verbs": {name: cell(name) for name in VERBS},
        "surfaces": {name: cell(name) for name in SURFACES},
    }
