"""Totals by category: how many records, or the sum of their values, so many of each person.

Theory    docs/theory/discrete-laplace.md, Theorem 3 (a bound on records)
Notation  k = records of a person that count at most; a value is a whole number of steps
Not here  the noise (mechanisms/discrete_laplace.py).
"""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Whole = NDArray[np.int64]


def totals(places: Whole, steps: Whole, size: int) -> Whole:
    """The sum of ``steps`` at each place; those below 0 are of no category."""
    found = np.zeros(size, dtype=np.int64)
    known = places >= 0
    np.add.at(found, places[known], steps[known])
    return found


def places_in(cells: NDArray[Any], names: Sequence[str]) -> Whole:
    """Where each name stands in a public list, or -1."""
    at = {name: place for place, name in enumerate(names)}
    return np.array([at.get(cell, -1) for cell in cells.tolist()], dtype=np.int64)


def in_steps(values: Reals, lower: Fraction, upper: Fraction, step: Fraction) -> Whole:
    """Values clamped to the range, as whole numbers of steps; what is no number counts as lower."""
    low, high, wide = float(lower), float(upper), float(step)
    clamped = np.clip(np.nan_to_num(values, nan=low, posinf=high, neginf=low), low, high)
    ends = math.floor(lower / step), math.ceil(upper / step)
    return np.clip(np.rint(clamped / wide), *ends).astype(np.int64)


def counting(people: NDArray[Any], places: Whole, steps: Whole, most: int) -> NDArray[np.bool_]:
    """Which records count: ``most`` of each person, by a public rule.

    Which of their records count depends on that person's own records alone, so nobody moves
    anybody else's. The rule is a hash, so that no category is favoured. A record without a person
    or of no category counts for nobody.
    """
    rows: dict[str, list[int]] = {}
    for row, (person, place) in enumerate(zip(people.tolist(), places.tolist(), strict=True)):
        if person is not None and place >= 0:
            rows.setdefault(person, []).append(row)
    kept = np.zeros(len(places), dtype=bool)
    for person, own in rows.items():
        if len(own) > most:
            own = sorted(own, key=lambda row: (places[row], steps[row]))
            told = [(int(places[row]), int(steps[row])) for row in own]
            order = sorted(range(len(own)), key=lambda i: _priority(person, i, told[i]))
            own = [own[i] for i in order[:most]]
        kept[own] = True
    return kept


def _priority(person: str, place: int, record: tuple[int, int]) -> bytes:
    text = f"{person}\0{place}\0{record}".encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16, person=b"reticent totals").digest()
