"""The multi-level mechanism: a histogram of a profile's attributes, each with noise of its own.

Theory    docs/theory/multilevel.md, Theorem 1 (losses), Theorem 2 (weights), Theorem 5 (errors);
          [ShenEtAl2016] with its lower bounds corrected, [AlagganEtAl2016] for the weights
Notation  h_j = sum_i a_ij d_i in steps, y_j = rate: what one step of attribute j loses,
          1 / y_j = noise scale in steps; v_i = weight, 2**-20 f_i = part of item i that counts
Not here  how the rates are chosen (multilevel_plan.py), what an item can move (exposure.py).

Everything is in whole numbers: values of the catalogue in steps, parts of items in 2**-20, noise
in steps. With zero-one profiles and a catalogue of whole numbers nothing is ever rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from reticent.amounts import nano_up, show_up
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError, require
from reticent.guarantees import ITEM_SUBSTITUTE, MultiLevelDP, PerItemDP, Spread, plain
from reticent.guarantees.card import Evidence, How, Utility
from reticent.mechanisms.base import Mechanism, Release
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.modular import VALUE_BITS, WEIGHT_BITS, WeightedProfile
from reticent.mechanisms.reading import read_reals
from reticent.noise import LARGEST_SCALE, Source, discrete_laplace
from reticent.rational import Number, budget

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FULL = 1 << WEIGHT_BITS
_REPLACED = (
    "both items of a replacement are in the catalogue: how many of its items a profile has is "
    "public and not protected"
)


@dataclass(frozen=True, eq=True)  # no slots: cached properties need a dictionary
class MultiLevel(Mechanism["NDArray[np.float64]"]):
    """Release a histogram; usually made by ``plan_histogram``, which chooses the rates.

    ``together`` is for numbers that are worked on together before anyone sees one of them alone:
    then each may tell as much as all of them.

    >>> from reticent.data.catalogue import Catalogue
    >>> from reticent.mechanisms import Exposure, MultiLevel
    >>> from reticent.noise import Source
    >>> films = Catalogue.of([[1, 1], [0, 1]], attributes=("Crime", "Drama"))
    >>> mechanism = MultiLevel(exposure=Exposure.of(films), rates=(0.1, 0.3), catalogue=films)
    >>> mechanism.guarantee().overall, mechanism.guarantee().attributes["Crime"]
    (400000000, 100000000)
    >>> len(mechanism.release([1, 0], Source.system()).value)
    2
    """

    name: ClassVar[str] = "multi-level"
    exposure: Exposure
    rates: Sequence[Number]
    together: bool = field(default=False, kw_only=True)
    catalogue: Catalogue | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        exact = tuple(budget(rate, "rates") for rate in self.rates)
        object.__setattr__(self, "rates", exact)
        count = len(self.exposure.attributes)
        require(len(exact) == count, "rates", f"{len(exact)} rates", f"{count} rates")
        require(isinstance(self.together, bool), "together", self.together, "true or false")
        small = min(exact) < 1 / Fraction(LARGEST_SCALE)
        require(not small, "rates", str(min(exact)), "at least 2**-50 for each step")
        if self.catalogue is not None:
            fits = self.exposure.fits(self.catalogue)
            require(fits, "catalogue", "another one", "the one that the exposure was made of")

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """Scale of the noise on each attribute, in its own unit, exact."""
        pairs = zip(self.exposure.steps, self._rates, strict=True)
        return tuple(step / rate for step, rate in pairs)

    @property
    def _rates(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(rate) for rate in self.rates)

    def guarantee(self) -> MultiLevelDP:
        """Theorem 1: for a unit of weight 1, and for who sees one attribute alone."""
        overall, names = self.exposure.overall(self._rates), self.exposure.attributes
        alone = (overall,) * len(names) if self.together else self.exposure.alone(self._rates)
        named = dict(zip(names, map(nano_up, alone), strict=True))
        items = Spread(nano_up(overall))
        return MultiLevelDP(items, Spread(0, named), self.exposure.unit)

    def guarantee_for(self, weights: Mapping[str, Number], *, default: Number) -> MultiLevelDP:
        """Theorem 2: item i loses v_i times as much. For the owner of the weights only."""
        require(self.exposure.weighted, "weights", "given", "given to a weighted mechanism")
        items = PerItemDP.of(self.exposure.overall(self._rates), weights, default=default).items
        return MultiLevelDP(items, self.guarantee().attributes, self.exposure.unit)

    def parameters(self) -> dict[str, Any]:
        """Public parameters as plain data: the rows that matter, not the catalogue."""
        rates = [plain(rate) for rate in self._rates]
        return {**self.exposure.parameters(), "rates": rates, "together": self.together}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism with these ``parameters()``; it can promise but, uncatalogued, not release.

        ``catalogue`` can be given with ``dataclasses.replace``.
        """
        exposure, together = Exposure.from_parameters(parameters), parameters["together"]
        return cls(exposure, parameters["rates"], together=together)

    def mean_absolute_errors(self) -> NDArray[np.float64]:
        """E|Z_j| = step / sinh(y_j). Theorem 5."""
        rates = np.array([float(rate) for rate in self._rates])
        return np.asarray(self._steps / np.sinh(np.minimum(rates, 500.0)))

    def mean_squared_errors(self) -> NDArray[np.float64]:
        """E[Z_j^2] = step^2 / (2 sinh^2(y_j / 2)). Theorem 5."""
        rates = np.array([float(rate) for rate in self._rates])
        return np.asarray(self._steps**2 / (2 * np.sinh(np.minimum(rates, 500.0) / 2) ** 2))

    def within_95(self) -> NDArray[np.float64]:
        """The least k_j that |Z_j| exceeds at most 5 times in 100. Theorem 5."""
        rates = np.array([float(rate) for rate in self._rates])
        steps = np.ceil(np.log(40 / (1 + np.exp(-rates))) / rates - 1 - 1e-9)
        return np.asarray(np.maximum(steps, 0) * self._steps)

    @property
    def _steps(self) -> NDArray[np.float64]:
        return np.array([float(step) for step in self.exposure.steps])

    def utility(self) -> Utility:
        """Theorem 5, for all attributes in one sentence."""
        within, names = self.within_95(), self.exposure.attributes
        least, most = int(np.argmin(within)), int(np.argmax(within))
        sentence = f"within {show_up(float(within[most]))} of the true number, 95 times in 100"
        if within[least] < within[most]:
            sentence = (
                f"each number within its own error, from {show_up(float(within[least]))} "
                f"({names[least]}) to {show_up(float(within[most]))} ({names[most]}), "
                "95 times in 100"
            )
        return Utility(
            sentence=sentence,
            mean_absolute_error=float(self.mean_absolute_errors().mean()),
            within_95=float(within.max()),
            bias=self._bias(),
        )

    def _bias(self) -> str:
        light = ["items below weight 1 count for less"] if self.exposure.weighted else []
        moved = ["numbers were moved together afterwards, the errors are those before"]
        return "; ".join([*light, *(moved if self.together else [])]) or "none"

    def how(self) -> How:
        """Sensitivity, bounds and floating-point measure."""
        weight = ", times its weight" if self.exposure.weighted else ""
        return How(
            sensitivity=(
                f"{self.exposure.unit}, moves an attribute by at most its largest value in the "
                f"catalogue{weight}, and all together as one of {len(self.exposure.rows)} "
                "rows says"
            ),
            bounds="profiles are read as 0 or 1, or with weights as numbers from 0 to 1",
            floating_point="whole numbers of steps; the noise law is exact",
        )

    def evidence(self) -> Evidence:
        """Theorem and assumptions."""
        theorem = "Theorem 2" if self.exposure.weighted else "Theorem 1"
        replaced = self.exposure.unit == ITEM_SUBSTITUTE
        return Evidence(
            theorem=f"docs/theory/multilevel.md, {theorem}",
            assumptions=(
                *((_REPLACED,) if replaced else ()),
                "the catalogue is public and does not depend on the profile",
                "the budgets that shaped the noise are public",
                "AES-256 is not broken",
            ),
        )

    def release(
        self, data: ArrayLike | WeightedProfile, source: Source
    ) -> Release[NDArray[np.float64]]:
        """The histogram of a profile, one number per item of the catalogue, plus noise."""
        units = self.histogram(data)
        units = units + discrete_laplace(scale=[1 / rate for rate in self._rates], source=source)
        return Release.by(self, units * self._steps, source)

    def histogram(self, data: ArrayLike | WeightedProfile) -> NDArray[np.int64]:
        """The histogram in steps without noise, not for release; the work depends on no profile."""
        catalogue = self._catalogue
        parts = self.parts(data)[catalogue.rows] * np.abs(self._entries)
        parts = np.sign(self._entries) * (parts >> WEIGHT_BITS)
        sums = np.concatenate([[0], np.cumsum(parts)])
        return np.asarray(np.diff(sums[catalogue.starts]))

    def parts(self, data: ArrayLike | WeightedProfile) -> NDArray[np.int64]:
        """2**20 times the part of each item that counts: 0 or all, or by weight. Theorem 2."""
        size = len(self._catalogue)
        if not self.exposure.weighted:
            require(not isinstance(data, WeightedProfile), "data", "weighted", "without weights")
            known = np.nan_to_num(read_reals(data, size), nan=0.0).clip(0.0, 1.0)  # type: ignore[arg-type]
            return np.asarray(np.rint(known).astype(np.int64) << WEIGHT_BITS)
        profile = (
            data if isinstance(data, WeightedProfile) else WeightedProfile.of(data, np.ones(size))
        )
        if profile.size != size:
            raise ParameterError("data", f"{size} items", f"{profile.size} items")
        factors = np.minimum((profile.weights * self.room) >> WEIGHT_BITS, _FULL)
        return np.asarray((factors * profile.values) >> VALUE_BITS)

    @cached_property
    def room(self) -> NDArray[np.int64]:
        """2**20 times how much more an item may count than its weight says, at least 1. Lemma 4."""
        catalogue, rates = self._catalogue, np.array([float(rate) for rate in self._rates])
        entries = np.abs(self._entries) * rates[catalogue.columns]
        losses = np.bincount(catalogue.rows, weights=entries, minlength=len(catalogue))
        overall = float(self.exposure.overall(self._rates))
        with np.errstate(divide="ignore"):
            room = overall / losses
            single = self.exposure.largest[catalogue.columns] / np.abs(self._entries)
        np.minimum.at(room, catalogue.rows, single)
        # Rounding errors are below 2**-31: what is nearly 1 is 1, everything else is rounded down.
        whole = np.floor(np.minimum(room * (1 - 2.0**-31), 2.0**WEIGHT_BITS) * _FULL)
        return np.asarray(np.maximum(whole.astype(np.int64), _FULL))

    @cached_property
    def _entries(self) -> NDArray[np.int64]:
        """Values of the catalogue in the steps of the exposure."""
        return self.exposure.entries(self._catalogue)

    @property
    def _catalogue(self) -> Catalogue:
        if self.catalogue is None:
            raise ParameterError("catalogue", "given before anything is released", None)
        return self.catalogue
