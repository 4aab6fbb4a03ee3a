"""Is a sensitivity function admissible? All neighbours of a small domain, and a counterexample.

Theory    docs/theory/dampening.md, Definition 1 (admissible), Theorem 1 (one unit, one step)
Notation  u(x, r) = utility, delta(x, t, r) = sensitivity, G = limit
Not here  the loss of a mechanism itself (exact.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.errors import require
from reticent.mechanisms.dampening import SCORE_BITS, Dampened, Scored
from reticent.testing.exact import Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        count += 1
        a, b = (_Seen.of(view(data), mechanism) for data in (pair.a, pair.b))
        for one, other, x, y in ((pair.a, pair.b, a, b), (pair.b, pair.a, b, a)):
            for kind, sentence in _compared(x, y, mechanism).items():
                problems.setdefault(kind, f"{sentence}; neighbours {one!r} and {other!r}")
        moves = np.abs(a.scores - b.scores)
        largest = max(largest, int(moves.max()))
        if moves.max() > (1 << SCORE_BITS) + 1:
            far = float(moves.max()) / (1 << SCORE_BITS)
            sentence = f"a score moves by {far:.6g}, more than 1"
            problems.setdefault("score", f"{sentence}; neighbours {pair.a!r} and {pair.b!r}")
    require(count > 0, "pairs", "none", "at least one pair of neighbours")
    return Admissibility(count, largest / (1 << SCORE_BITS), tuple(problems.values()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Seen:
    """Utilities, sensitivities in whole steps of the grid [t, candidate], and scores."""

    utilities: NDArray[np.float64]
    deltas: NDArray[np.int64]
    scores: NDArray[np.int64]

    @classmethod
    def of(cls, data: Scored, mechanism: Dampened) -> _Seen:
        grid, most, n = mechanism.grid, mechanism.most, mechanism.candidates
        assert grid is not None  # noqa: S101, set when the mechanism was made
        steps = range(mechanism.steps + 1)
        sums = np.array([data.sensitivity.sums(np.full(n, t), grid, most) for t in steps])
        utilities = np.asarray(data.utilities, float)
        return cls(utilities, np.diff(sums, axis=0), mechanism.scores(data))


def _compared(x: _Seen, y: _Seen, mechanism: Dampened) -> dict[str, str]:
    assert mechanism.grid is not None  # noqa: S101, set when the mechanism was made
    moved = np.abs(x.utilities - y.utilities)
    found: dict[str, str] = {}
    limit = float(mechanism.limit)
    if (moved > limit * (1 + 1e-12)).any():
        worst = int(moved.argmax())
        found["limit"] = f"candidate {worst} moves by {moved[worst]:.6g}, the limit is {limit:.6g}"
    on_x, on_y = x.deltas, y.deltas
    step = float(mechanism.grid.step)
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
