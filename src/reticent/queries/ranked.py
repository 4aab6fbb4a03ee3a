"""Ranked lists, one for each person: how they are kept and shown.

Not here  what is listed (neighbours.py, recommendations.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


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


def rows(value: dict[str, list[dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """A line for each entry."""
    return [(person, *entry.values()) for person, entries in value.items() for entry in entries]
