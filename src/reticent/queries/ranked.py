"""Ranked lists, one for each person: how they are kept and shown.

Not here  what is listed (neighbours.py, recommendations.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

PEOPLE = 1 << 16
"""Whose lists are written at a time."""


PEERS = ("person", "rank", "peer", "score")
"""Columns of lists of people."""


def shown(
    names: Sequence[str], found: Any, scores: Any, what: Sequence[str], called: str
) -> dict[str, list[dict[str, Any]]]:
    """By person, best first; -1 is nobody, and scores are kept to 6 significant digits."""
    return {
        person: [
            {"rank": rank, called: str(what[place]), "score": float(f"{score:.6g}")}
            for rank, (place, score) in enumerate(zip(places, values, strict=True), start=1)
            if place >= 0
        ]
        for person, places, values in zip(names, found.tolist(), scores.tolist(), strict=True)
    }


def schema(called: str) -> dict[str, Any]:
    """The JSON Schema of one person's list."""
    entry = {"rank": {"type": "integer"}, called: {"type": "string"}, "score": {"type": "number"}}
    return {"type": "array", "items": {"type": "object", "properties": entry}}


def tables(
    names: Sequence[str], found: Any, scores: Any, what: Sequence[str], columns: Sequence[str]
) -> Iterator[Any]:
    """The same as long Arrow tables, some people at a time."""
    import numpy as np

    from reticent.tasks.batched import arrow

    pa = arrow()
    people, things = (pa.array(list(map(str, held)), pa.string()) for held in (names, what))
    for first in range(0, len(names), PEOPLE):
        places = np.asarray(found[first : first + PEOPLE])
        who, at = np.nonzero(places >= 0)
        kept = [float(f"{score:.6g}") for score in np.asarray(scores)[first + who, at].tolist()]
        held = [
            people.take(pa.array(who + first)),
            pa.array(at + 1),
            things.take(pa.array(places[who, at])),
            pa.array(kept, pa.float64()),
        ]
        yield pa.table(held, names=list(columns))


def rows(value: dict[str, list[dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """A line for each entry."""
    return [(person, *entry.values()) for person, entries in value.items() for entry in entries]
