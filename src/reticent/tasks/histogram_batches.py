"""Histograms of many people who share a catalogue, from arrays and from frames.

Theory    docs/theory/multilevel.md, Theorems 1 and 2
Notation  person p has items items[offsets[p]:offsets[p + 1]], as places in the catalogue
Not here  one person's histogram under their preferences (histogram.py), the loop over items
          (histogram_kernels.py), Arrow batches (histogram_arrow.py).

Everybody has a plan of their own; nobody's noise depends on what others have or choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.data.frame_tables import Interactions
from reticent.data.interactions import Columns
from reticent.errors import require
from reticent.guarantees import ITEM, Unit
from reticent.mechanisms.base import Release
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.modular import WEIGHT_BITS, grid_units
from reticent.mechanisms.multilevel_plan import Goal, HistogramPlan, plan_many
from reticent.noise import Source, laplace_rows
from reticent.tasks.framed import FramedRelease

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FULL = 1 << WEIGHT_BITS
Named: TypeAlias = Callable[[], Sequence[str]]
"""Who the people are, in order: of a seeded source each has a stream of their own."""


@dataclass(frozen=True, eq=False)  # no slots: cached properties need a dictionary
class Histograms:
    """Histograms of many people who share a catalogue, each with budgets of their own.

    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))
    >>> task = Histograms(films)
    >>> budgets, epsilon = np.array([[0.1, 1.0]] * 2), np.array([0.4, 0.2])
    >>> people = [0, 2, 3], [0, 1, 1]  # items of the first are 0 and 1, of the second 1
    >>> released = task.release(*people, budgets=budgets, epsilon=epsilon, source=Source.system())
    >>> released.values.shape, bool((released.gap < 1e-9).all())
    ((2, 2), True)
    """

    catalogue: Catalogue
    goal: Goal = "mse"
    unit: Unit = ITEM
    weighted: bool = False
    threads: int = 1

    @cached_property
    def exposure(self) -> Exposure:
        """What one item can move."""
        return Exposure.of(self.catalogue, unit=self.unit, weighted=self.weighted)

    @cached_property
    def _by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The catalogue in the steps of the exposure, sorted by item."""
        catalogue = self.catalogue
        order = np.argsort(catalogue.rows, kind="stable")
        counts = np.bincount(catalogue.rows, minlength=len(catalogue))
        starts = np.concatenate([[0], np.cumsum(counts)])
        return starts, catalogue.columns[order], self.exposure.entries(catalogue)[order]

    def release(
        self,
        offsets: Sequence[int] | NDArray[np.int64],
        items: Sequence[int] | NDArray[np.int64],
        *,
        budgets: NDArray[np.float64],
        epsilon: NDArray[np.float64],
        weights: Any = None,
        source: Source,
        people: Named | None = None,
    ) -> ManyHistograms:
        """Histograms of people whose items are ``items[offsets[p]:offsets[p + 1]]``.

        Items are places in the catalogue; an item named twice counts once, with the least of its
        weights, and what is no place in the catalogue does nothing.
        """
        held = self._people(offsets, items, weights)
        shape = (len(held.offsets) - 1, len(self.exposure.attributes))
        require(budgets.shape == shape, "budgets", f"shape {budgets.shape}", f"shape {shape}")
        require(epsilon.shape == shape[:1], "epsilon", f"shape {epsilon.shape}", f"{shape[0]}")
        if not shape[0]:
            return self._released(held, np.empty(shape), np.empty(shape), epsilon, epsilon, source)
        plans = plan_many(
            self.exposure, budgets=budgets, epsilon=epsilon, goal=self.goal, threads=self.threads
        )
        return self._released(held, plans.scales, plans.scales, epsilon, plans.gap, source, people)

    def release_alike(
        self,
        offsets: Sequence[int] | NDArray[np.int64],
        items: Sequence[int] | NDArray[np.int64],
        *,
        plan: HistogramPlan,
        weights: Any = None,
        source: Source,
        people: Named | None = None,
    ) -> ManyHistograms:
        """As ``release``, with one plan for everybody and exactly its noise."""
        same = plan.mechanism.exposure == self.exposure
        require(same, "plan", "another", "made for this catalogue and unit")
        held = self._people(offsets, items, weights)
        count = len(held.offsets) - 1
        exact = tuple(1 / Fraction(rate) for rate in plan.mechanism.rates)
        scales = np.tile([float(scale) for scale in exact], (count, 1))
        epsilon, gap = np.full(count, float(plan.epsilon)), np.full(count, plan.gap)
        return self._released(held, exact, scales, epsilon, gap, source, people)

    def release_frame(
        self,
        frame: Any,
        columns: Columns | None = None,
        *,
        plan: HistogramPlan,
        source: Source,
        people: Iterable[Any] | None = None,
    ) -> FramedRelease:
        """Histograms of everybody in a long table, as a frame of its kind: person, attributes.

        Attributes that the plan leaves out are not released. People stand in canonical order
        (data/labels.py): those of ``people`` if you declare them, whether or not they have lines,
        or else whoever has one, and to use that is to say that it is public. Weights in the frame
        need a weighted task; a weighted task without them counts every item in full.
        """
        if plan.attributes != self.catalogue.attributes:
            only = replace(self, catalogue=self.catalogue.only(plan.attributes))
            return only.release_frame(frame, columns, plan=plan, source=source, people=people)
        lines = Interactions.of(frame, columns, people=people)
        plain = self.weighted or not lines.weighted
        require(plain, "weighted", False, "true for a frame with a column of weights")
        profiles, places = lines.profiles, self.catalogue.places
        where = np.array([places.get(name, -1) for name in profiles.items], dtype=np.int64)
        weights = profiles.weights / _FULL if self.weighted else None
        items = where[profiles.indices]
        released = self.release_alike(
            profiles.indptr, items, plan=plan, weights=weights, source=source
        )
        made = lines.by_person(released.values, released.attributes)
        return FramedRelease(made, Release.by(plan.mechanism, released.values, source))

    def _people(self, offsets: Any, items: Any, weights: Any) -> _People:
        starts, held = np.asarray(offsets, np.int64), np.asarray(items, np.int64)
        proper = starts.size > 0 and starts[0] == 0 and starts[-1] == held.size
        require(bool(proper and (np.diff(starts) >= 0).all()), "offsets", "other", "rising")
        units = np.full(held.size, _FULL, dtype=np.int64)
        if weights is not None:
            require(self.weighted, "weights", "given", "given to a weighted task only")
            units = grid_units(weights, held.size, WEIGHT_BITS)
        return _People(starts, held, units)

    def _released(
        self,
        held: _People,
        exact: Any,
        scales: NDArray[np.float64],
        epsilon: NDArray[np.float64],
        gap: NDArray[np.float64],
        source: Source,
        people: Named | None = None,
    ) -> ManyHistograms:
        """Sums plus noise of the ``exact`` scales, of which ``scales`` are the nearest floats."""
        sums = self._sums(held, 1 / scales)
        drawn = laplace_rows(exact, len(sums), source, people)
        steps = np.array([float(step) for step in self.exposure.steps])
        return ManyHistograms(
            self.exposure.attributes,
            (sums + drawn) * steps,
            scales * steps,
            epsilon,
            gap,
            source.private,
        )

    def _sums(self, people: _People, rates: NDArray[np.float64]) -> NDArray[np.int64]:
        from reticent.tasks.histogram_kernels import add_up  # loads Numba

        exposure, (starts, columns, entries) = self.exposure, self._by_item
        overall = np.zeros(len(rates))
        if self.weighted:  # only weights ask how much room an item has
            overall = (rates @ exposure.rows.T.astype(np.float64)).max(axis=1)
        sums = np.zeros(rates.shape, dtype=np.int64)
        add_up(
            people.offsets,
            people.items,
            people.weights,
            self.weighted,
            starts,
            columns,
            entries,
            exposure.largest,
            rates,
            overall,
            np.empty(len(self.catalogue), dtype=np.int64),
            np.full(len(self.catalogue), -1, dtype=np.int64),
            sums,
        )
        return sums


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _People:
    """Whose items are which, in places of the catalogue and units of weight."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    weights: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyHistograms:
    """Released histograms, one row per person, with the noise scale of each number."""

    attributes: tuple[str, ...]
    values: NDArray[np.float64]
    scales: NDArray[np.float64]
    epsilon: NDArray[np.float64]
    gap: NDArray[np.float64]
    private: bool
