"""Recalls collected by label, and the rows made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.tasks.metrics import Mean

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Row:
    """One point of a figure: a mean with its 99 % half-width over ``count`` values."""

    figure: str
    data: str
    series: str
    x: str
    value: float
    half_width: float
    count: int
    seeds: int

    def plain(self) -> dict[str, Any]:
        """As data for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.half_width:.3f}"


class Pool:
    """Values by (figure, data, series, x); equal labels are pooled, as the authors pool runs."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str, str], list[NDArray[np.float64]]] = {}
        self._seeds: dict[tuple[str, str, str, str], set[int]] = {}

    def add(
        self,
        figure: str,
        data: str,
        series: str,
        x: object,
        values: NDArray[np.float64],
        seed: int,
    ) -> None:
        """Note the values of one run."""
        key = (figure, data, series, str(x))
        self._values.setdefault(key, []).append(values)
        self._seeds.setdefault(key, set()).add(seed)

    def rows(self) -> Iterator[Row]:
        """A row for each label, in the order of first mention."""
        for key, parts in self._values.items():
            mean = Mean.of(np.concatenate(parts))
            yield Row(*key, mean.value, mean.half_width, mean.count, len(self._seeds[key]))

    def differences(self, first: tuple[str, str, str, str], second: str) -> Mean:
        """Mean over people of (first - second series), each person's runs averaged first."""
        figure, data, _, x = first
        own = np.array(self._values[first])
        other = np.array(self._values[figure, data, second, x])
        with np.errstate(invalid="ignore"):
            seen = ~np.isnan(own - other)
            runs = seen.sum(axis=0)
            sums = np.where(seen, own - other, 0.0).sum(axis=0)
            return Mean.of(np.where(runs > 0, sums / runs, np.nan))
