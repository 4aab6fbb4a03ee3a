"""The laws of choices by local sensitivity, as fractions: one candidate, or the best k.

Theory    docs/theory/dampening.md, Theorems 1 to 3 (scores), 5 (rounds), 6 (three ways), 7 (sets)
Notation  u = utility, delta(t) = sensitivity after t steps, b(i) = delta(0) + ... + delta(i - 1),
          G = limit, T = steps, all in whole steps of the mechanism's grid
Not here  the comparison with a claim (exact.py), sensitivities by enumeration (neighbourhoods.py).

Scores are computed here once more, in Python's own whole numbers and from the definition; only
rates and thresholds, which the law is to expose if they are wrong, are the mechanism's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import TypeAlias

from reticent.errors import require
from reticent.mechanisms.dampening import SCORE_BITS, Dampened
from reticent.mechanisms.local_sensitivity import WIDENED
from reticent.mechanisms.top_dampened import TopDampened
from reticent.testing.closed_forms import (
    discrete_laplace_law,
    exponential_law,
    permute_and_flip_law,
)

_ONE = 1 << SCORE_BITS
Chances: TypeAlias = dict[tuple[int, ...], Fraction]


@dataclass(frozen=True, slots=True)
class Utilities:
    """What a choice is made from: u(r), and delta(t, r) as rows over t; beyond them it is G."""

    utilities: tuple[float, ...]
    sensitivity: tuple[tuple[float, ...], ...] = ()

    def __str__(self) -> str:
        return f"utilities {', '.join(f'{u:g}' for u in self.utilities)}"


def dampened_scores(mechanism: Dampened, data: Utilities) -> list[int]:
    """Scores in steps of 2**-20, from the definition."""
    count = mechanism.candidates
    rows = (data.utilities, *data.sensitivity)
    require(all(len(row) == count for row in rows), "data", len(rows[0]), f"{count} candidates")
    return [
        _score(mechanism, u, [row[r] for row in data.sensitivity])
        for r, u in enumerate(data.utilities)
    ]


def _score(mechanism: Dampened, utility: float, deltas: Sequence[float]) -> int:
    assert mechanism.grid is not None  # noqa: S101, set when the mechanism was made
    step = mechanism.grid.step
    most = ceil(Fraction(mechanism.limit) / step) + WIDENED
    known = [min(ceil(Fraction(delta) / step) + WIDENED, most) for delta in deltas]
    widths = [*known, *[most] * mechanism.steps][: mechanism.steps]
    u = round(Fraction(utility) / step)
    if mechanism.shift != "none":
        moved = u + sum(widths) if mechanism.shift == "left" else u - sum(widths)
        return floor(Fraction(moved * _ONE, most))
    rest, whole = abs(u), 0
    for width in widths:
        if rest <= width:
            break
        rest, whole = rest - width, whole + 1
    width = widths[whole] if whole < mechanism.steps else most
    score = whole * _ONE + floor(Fraction(rest * _ONE, width))
    return score if u >= 0 else -score


def dampened_law(mechanism: Dampened, data: Utilities) -> dict[str, Fraction]:
    """The chance of each candidate."""
    chances = _once(mechanism.law, dampened_scores(mechanism, data), mechanism.rate)
    return {f"candidate {i}": chance for i, chance in enumerate(chances)}


def top_dampened_law(mechanism: TopDampened, data: Utilities) -> dict[str, Fraction]:
    """The chance of each list of k candidates, over the three ways to choose them."""
    assert mechanism.plain is not None  # noqa: S101, set when the mechanism was made
    plain = dampened_scores(mechanism.plain, data)
    shifted = dampened_scores(mechanism.whole, data)
    chosen: Chances = {}
    ways, rounds = _ways(mechanism, plain), mechanism.plain_round
    laws: tuple[Callable[[], Chances], ...] = (
        lambda: _rounds(mechanism.whole.law, shifted, mechanism.round.rate, mechanism.k),
        lambda: _rounds(rounds.law, plain, rounds.rate, mechanism.k),
        lambda: _sets(plain, mechanism.set_rate, mechanism.k),
    )
    for chance, law in zip(ways, laws, strict=True):
        for these, own in law().items() if chance else ():
            chosen[these] = chosen.get(these, Fraction(0)) + chance * own
    return {
        f"candidates {', '.join(map(str, these))}": chance
        for these, chance in sorted(chosen.items())
    }


def _ways(mechanism: TopDampened, plain: Sequence[int]) -> tuple[Fraction, Fraction, Fraction]:
    """Chances of shifted scores, of rounds by plain ones, and of a set at once. Theorem 6."""
    if not mechanism.asked:
        return Fraction(1), Fraction(0), Fraction(0)
    k, room = mechanism.k, mechanism.room
    best = sorted(plain, reverse=True)[:k]
    for_rounds, for_set = mechanism.needed
    margin = best[-1] - max(for_rounds, room)
    if k > 1:
        least = min(score // (k - b) for b, score in enumerate(best))
        margin = min(margin, room + max(least - max(for_set - room, 0), 0))
    scale = Fraction(_ONE + 2) / mechanism.asked
    law = discrete_laplace_law(scale, around=margin, cuts=[0, 2 * room])
    shifted, rounds, at_once = law.values()
    return (shifted, rounds, at_once) if k > 1 else (shifted, rounds + at_once, Fraction(0))


def _once(law: str, scores: Sequence[int], rate: Fraction) -> list[Fraction]:
    return (exponential_law if law == "exponential" else permute_and_flip_law)(scores, rate=rate)


def _rounds(law: str, scores: Sequence[int], rate: Fraction, k: int) -> Chances:
    """Lists of k different candidates, each chosen among those that are left."""
    lists: Chances = {(): Fraction(1)}
    for _ in range(k):
        longer: Chances = {}
        for these, chance in lists.items():
            left = [i for i in range(len(scores)) if i not in these]
            for i, own in zip(left, _once(law, [scores[i] for i in left], rate), strict=True):
                longer[(*these, i)] = chance * own
        lists = longer
    return lists


def _sets(scores: Sequence[int], rate: Fraction, k: int) -> Chances:
    """Sets of k, by the gap between the least inside and the largest outside."""
    sets = list(combinations(range(len(scores)), k))
    if k == len(scores):
        return {sets[0]: Fraction(1)}
    gaps = [
        min(scores[i] for i in these)
        - max(score for i, score in enumerate(scores) if i not in these)
        for these in sets
    ]
    return dict(zip(sets, exponential_law(gaps, rate=rate), strict=True))
