"""Profiles on a line: a few outputs stand for all, and a coarse problem shows where to start.

Theory    docs/theory/mapping.md, Theorem 2 (certificate), "Profiles on a line"
Notation  as in mapping_newton.py; h = distance between two outputs that are kept
Not here  the solver (mapping_newton.py).

With squared distances, rounding an output to a grid of step h costs about h^2 / 12 of distortion,
while the number of outputs within reach of a profile grows with the profiles. The bound is
computed against all outputs, those between the grid's with parameters between theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reticent.optim.distances import POINTS, squared_euclidean
from reticent.optim.mapping import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals: TypeAlias = NDArray[np.float64]

_STEP = 0.05  # of the length that is worth I(A; B): rounding then costs 0.0002 I(A; B)
_MANY = 1024  # profiles from which a grid is worth its while
_FIRST = 512  # cells of the first grid


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grid:
    """Outputs that are kept, by place in the order of the line."""

    points: Reals  # of all profiles, ascending
    kept: NDArray[np.int64]

    def between(self, z: Reals) -> Reals:
        """Parameters of all outputs from those that are kept, one row each."""
        columns = [np.interp(self.points, self.points[self.kept], column) for column in z.T]
        return np.column_stack(columns)

    def coarse(self, problem: Problem) -> Problem:
        """People moved to the nearest output that is kept; ``problem`` is in order of the line."""
        places = self.points[self.kept]
        nearest = np.searchsorted((places[1:] + places[:-1]) / 2, self.points)
        joint = np.zeros((len(problem.joint), len(self.kept)))
        for a, law in enumerate(problem.joint):
            joint[a] = np.bincount(nearest, weights=law, minlength=len(self.kept))
        return Problem(joint, squared_euclidean(places[:, None]), problem.delta)


def on_a_line(problem: Problem) -> bool:
    """Whether profiles are numbers, and enough of them; if so they must come in order."""
    distance = problem.distance
    return distance.kind == POINTS and distance.points.shape[1] == 1 and distance.size >= _MANY


def first_grid(problem: Problem) -> Grid:
    """Few outputs at equal distances: enough to learn the price of distortion."""
    points = problem.distance.points[:, 0]
    return _grid(points, float(points[-1] - points[0]) / _FIRST)


def grid_at(problem: Problem, price: float) -> Grid | None:
    """A grid for a price of distortion in nats, unless it would keep over half of the outputs.

    Nobody gains more than about I(A; B) by moving, so who moves further than (I / price)^(1/2) is
    rare, and that length is the measure of a step.
    """
    points, scale = problem.distance.points[:, 0], problem.distance.scale
    step = _STEP * float(np.sqrt(problem.untouched / (price * scale)))
    grid = _grid(points, step)
    return grid if 2 <= len(grid.kept) <= len(points) / 2 else None


def _grid(points: Reals, step: float) -> Grid:
    """The middle profile of every cell of this width that has one."""
    cells = np.floor((points - points[0]) / max(step, 1e-300))
    firsts = np.flatnonzero(np.diff(cells, prepend=-1.0) > 0)
    lasts = np.append(firsts[1:], len(points)) - 1
    return Grid(np.ascontiguousarray(points), (firsts + lasts) // 2)
