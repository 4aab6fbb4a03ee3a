"""Values of people collected by label: means and medians with 95 % bootstrap intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.harness import stream
from reticent.data.synthetic import below

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOW, HIGH = 2.5, 97.5


@dataclass(frozen=True, slots=True)
class Row:
    """One point of a figure, over ``count`` people; the ends are those of 95 % intervals."""

    figure: str
    data: str
    series: str
    x: str
    mean: float
    mean_low: float
    mean_high: float
    median: float
    median_low: float
    median_high: float
    count: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the row is about."""
        return self.figure, self.data, self.series, self.x

    def plain(self) -> dict[str, Any]:
        """As data for JSON."""
        return asdict(self)


class Pool:
    """Rows in the order in which they were added; people are drawn anew ``draws`` times."""

    def __init__(self, draws: int) -> None:
        self.rows: list[Row] = []
        self._draws = draws
        self._chosen: dict[int, NDArray[np.int64]] = {}

    def add(
        self, figure: str, data: str, series: str, x: object, values: NDArray[np.float64]
    ) -> None:
        """Note one value per person; NaN for people to whom it does not apply."""
        known = values[~np.isnan(values)]
        drawn = known[self._people(len(known))]
        means, medians = drawn.mean(axis=1), np.median(drawn, axis=1)
        key = figure, data, series, str(x)
        self._note(key, len(known), known.mean(), means, float(np.median(known)), medians)

    def ratio(
        self,
        label: tuple[str, str, str, object],
        top: NDArray[np.float64],
        bottom: NDArray[np.float64],
    ) -> None:
        """Note the ratio of two means, and the median of people's own ratios.

        Both are of the same people, drawn together, so the intervals are paired.
        """
        people = self._people(len(top))
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.nan_to_num(top / bottom, nan=1.0, posinf=1e9)
        means = top[people].mean(axis=1) / bottom[people].mean(axis=1)
        medians = np.median(own[people], axis=1)
        figure, data, series, x = label
        key = figure, data, series, str(x)
        both = float(top.mean() / bottom.mean()), float(np.median(own))
        self._note(key, len(own), both[0], means, both[1], medians)

    def _people(self, count: int) -> NDArray[np.int64]:
        if count not in self._chosen:
            source = stream("bootstrap", count)
            self._chosen[count] = below(count, (self._draws, count), source)
        return self._chosen[count]

    def _note(
        self,
        key: tuple[str, str, str, str],
        count: int,
        mean: float,
        means: NDArray[np.float64],
        median: float,
        medians: NDArray[np.float64],
    ) -> None:
        ends = [float(end) for part in (means, medians) for end in np.percentile(part, [LOW, HIGH])]
        self.rows.append(
            Row(*key, float(mean), ends[0], ends[1], float(median), ends[2], ends[3], count)
        )
