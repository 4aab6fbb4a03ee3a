"""Is a sensitivity function admissible? All neighbours of a small domain, and a counterexample.

Theory    docs/theory/dampening.md, Definition 1 (admissible), Theorem 1 (one unit, one step)
Notation  u(x, r) = utility, delta(x, t, r) = sensitivity, G = limit
Not here  the loss of a mechanism itself (exact.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.testing.exact import Pair

View: TypeAlias = Callable[[Any], Scored]
"""From data to utilities and sensitivities."""


@dataclass(frozen=True, slots=True)
class Admissibility:
    """What was found; ``problems`` is empty if nothing is wrong, else one sentence per kind."""

    pairs: int
    largest_move: float  # of a score, in units
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether no pair of neighbours contradicts it."""
        return not self.problems


def check_admissible(view: View, pairs: Iterable[Pair[Any]], mechanism: Dampened) -> Admissibility:
    """Compare utilities, sensitivities and scores of all pairs, both ways.

    Sensitivities are those that ``mechanism`` uses: in whole steps, up to its limit and steps.
    """
    problems: dict[str, str] = {}
    count, largest = 0, 0
    for pair in pairs:
        for one, other in ((pair.a, pair.b), (pair.b, pair.a)):
            count += 1
            found = _compared(view(one), view(other), mechanism)
            for kind, sentence in found.items():
                problems.setdefault(kind, f"{sentence}; neighbours {one!r} and {other!r}")
        moves = np.abs(mechanism.scores(view(pair.a)) - mechanism.scores(view(pair.b)))
        largest = max(largest, int(moves.max()))
        if moves.max() > (1 << SCORE_BITS) + 1:
            far = float(moves.max()) / (1 << SCORE_BITS)
            sentence = f"a score moves by {far:.6g}, more than 1"
            problems.setdefault("score", f"{sentence}; neighbours {pair.a!r} and {pair.b!r}")
    require(count > 0, "pairs", "none", "at least one pair of neighbours")
    return Admissibility(count // 2, largest / (1 << SCORE_BITS), tuple(problems.values()))


def _compared(x: Scored, y: Scored, mechanism: Dampened) -> dict[str, str]:
    grid, most = mechanism.grid, mechanism.most
    assert grid is not None  # noqa: S101, set when the mechanism was made
    n = mechanism.candidates
    moved = np.abs(np.asarray(x.utilities, float) - np.asarray(y.utilities, float))
    found: dict[str, str] = {}
    limit = float(mechanism.limit)
    if (moved > limit * (1 + 1e-12)).any():
        worst = int(moved.argmax())
        found["limit"] = f"candidate {worst} moves by {moved[worst]:.6g}, the limit is {limit:.6g}"
    sums = [
        [each.sensitivity.sums(np.full(n, t), grid, most) for t in range(mechanism.steps + 1)]
        for each in (x, y)
    ]
    on_x, on_y = (np.diff(np.array(some), axis=0) for some in sums)
    step = float(grid.step)
    if mechanism.steps and (moved > on_x[0] * step).any():
        worst = int((moved - on_x[0] * step).argmax())
        found["first"] = (
            f"delta(0) of candidate {worst} is {on_x[0][worst] * step:.6g}, but its utility moves "
            f"by {moved[worst]:.6g}"
        )
    for t in range(mechanism.steps - 1):
        if (on_x[t + 1] < on_y[t]).any():
            worst = int((on_y[t] - on_x[t + 1]).argmax())
            found["later"] = (
                f"delta({t + 1}) of candidate {worst} is {on_x[t + 1][worst] * step:.6g}, but "
                f"delta({t}) of a neighbour is {on_y[t][worst] * step:.6g}"
            )
            break
    return found
