"""Audits of a world: a search for the neighbours that tell the most, then an audit of those.

Theory    docs/theory/auditing.md, Theorem 1 (audit bound), "Search"
Not here  one audit (audit.py), enumeration (cases.py).

The search only decides which pair and which view of the output is audited, on draws of its own, so
it costs no confidence. What it overlooks is not audited: the result is a lower bound, no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.testing.audit import Audit, audit_epsilon
from reticent.testing.exact import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.testing.neighbourhoods import World

    Outputs: TypeAlias = NDArray[Any]

Draw: TypeAlias = "Callable[[Any, int], Outputs]"
"""Draws n independent outputs on given data: a vector of n, or n rows of numbers."""

MOST_PAIRS = 48
_FINALISTS = 4
_SURE = 0.9  # confidence of a glance; it ranks, and nothing is concluded from it
_ALL = "everything together"
_TOWARDS = "nearer to one than to the other by"


@dataclass(frozen=True, slots=True)
class Searched:
    """The audit of one unit, on the pair of neighbours and the view that looked worst."""

    pair: Pair[Any]
    view: str
    audit: Audit

    @property
    def event(self) -> str:
        """The event that was counted, with what it is about."""
        return self.audit.event.replace("output", self.view, 1)


def audit_world(
    draw: Draw,
    world: World,
    claims: Mapping[Hashable, Fraction],
    *,
    samples: int,
    confidence: float = 0.9999,
    most_pairs: int = MOST_PAIRS,
    tick: Callable[[str], None] = lambda step: None,
) -> dict[Hashable, Searched]:
    """Search a world and audit the worst pair of each unit; the confidence holds for all together.

    Pairs are glanced at with few draws, the best of them with more, and one is audited. Every unit
    of ``claims`` is, or nothing.
    """
    found: dict[Hashable, list[Pair[Any]]] = {}
    for pair in world.some_pairs(max(most_pairs, len(claims))):
        found.setdefault(pair.unit, []).append(pair)
    require(bool(found), "world", "none", "at least one pair of neighbours")
    whole = found.keys() == set(claims)
    require(whole, "world", len(found), f"pairs of neighbours for all {len(claims)} units claimed")
    each = 1 - (1 - confidence) / len(found)
    audits = {}
    for unit, pairs in found.items():
        tick(f"searching {len(pairs)} pairs")
        pair, view = _search(draw, pairs, claims[unit], samples)
        tick(f"auditing {samples:,} draws on each side")
        audit = audit_epsilon(
            lambda n, pair=pair, view=view: _views(draw(pair.a, n), pair)[view](),  # type: ignore[misc]
            lambda n, pair=pair, view=view: _views(draw(pair.b, n), pair)[view](),  # type: ignore[misc]
            samples=samples,
            claim=claims[unit],
            confidence=each,
        )
        audits[unit] = Searched(pair, view, audit)
    return audits


def _search(
    draw: Draw, pairs: list[Pair[Any]], claim: Fraction, samples: int
) -> tuple[Pair[Any], str]:
    few = max(samples // 100, 100)
    ranked = sorted(
        ((_glance(draw, pair, claim, few), place) for place, pair in enumerate(pairs)),
        key=lambda seen: (-seen[0][0], seen[1]),
    )
    if len(ranked) == 1:
        return pairs[0], ranked[0][0][1]
    best = [pairs[place] for _, place in ranked[:_FINALISTS]]
    seen = [_glance(draw, pair, claim, max(samples // 20, few)) for pair in best]
    first = max(range(len(best)), key=lambda place: seen[place][0])
    return best[first], seen[first][1]


def _glance(draw: Draw, pair: Pair[Any], claim: Fraction, few: int) -> tuple[float, str]:
    """The largest bound that some view gives, and which view."""
    on_a, on_b = (_views(draw(data, few), pair) for data in (pair.a, pair.b))
    return max(
        (
            audit_epsilon(
                _fed(on_a[view]()), _fed(on_b[view]()), samples=few, claim=claim, confidence=_SURE
            ).bound,
            view,
        )
        for view in on_a
    )


def _fed(outputs: Outputs) -> Callable[[int], Outputs]:
    """Outputs that were drawn already, each used once."""
    at = 0

    def more(count: int) -> Outputs:
        nonlocal at
        at += count
        return outputs[at - count : at]

    return more


def _views(outputs: Outputs, pair: Pair[Any]) -> dict[str, Callable[[], Outputs]]:
    """Ways to look at outputs: as they are, number by number, and as labels of all of it."""
    if outputs.ndim == 1:
        return {"output": lambda: outputs}
    require(outputs.ndim == 2, "outputs", outputs.ndim, "a vector, or rows of numbers")
    width = outputs.shape[1]
    views: dict[str, Callable[[], Outputs]] = {
        f"number {j + 1}": lambda j=j: outputs[:, j]  # type: ignore[misc]
        for j in range(width)
    }
    if width == 1:
        return views
    views[_ALL] = lambda: np.array([" ".join(map(str, row)) for row in outputs.tolist()])
    one, other = _numbers(pair.a, width), _numbers(pair.b, width)
    if one is not None and other is not None and outputs.dtype.kind in "if":
        views[_TOWARDS] = lambda: (
            np.abs(outputs - other).sum(axis=1) - np.abs(outputs - one).sum(axis=1)
        )
    return views


def _numbers(data: Any, width: int) -> NDArray[np.float64] | None:
    numeric = isinstance(data, tuple) and all(isinstance(x, (int, float, Fraction)) for x in data)
    return np.array([float(x) for x in data]) if numeric and len(data) == width else None
