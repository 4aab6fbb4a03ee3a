"""A mechanism as an OpenDP measurement: its exact sampler as function, its guarantee as map.

Theory    docs/theory/guarantees.md, Theorem 1 (composition), and each mechanism's own page
Notation  d_in = how far two inputs are apart, in the metric stated; d_out = what the release loses
Not here  the mechanisms (mechanisms/), cards (exports/registry.py).

The function draws from the operating system, however OpenDP is set up. The map rounds up to whole
nano-epsilon and then to the next float, so that it is never below the loss, and at one unit it is
the guarantee. OpenDP asks for its features "contrib" and "honest-but-curious" to be enabled first:
it cannot check what a user-defined measurement says of itself. Our tests do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent.amounts import NANO, nano_up
from reticent.errors import MissingExtra, ParameterError, require
from reticent.guarantees import Event
from reticent.mechanisms import (
    DiscreteLaplace,
    Mechanism,
    MultiLevel,
    SnappedLaplace,
    Stretching,
    WeightedProfile,
    rebuild,
)
from reticent.mechanisms.selection import Selection
from reticent.noise import Source

SUPPORTED = (
    "discrete-laplace",
    "snapped-laplace",
    "exponential",
    "permute-and-flip",
    "stretching",
    "multi-level",
)


def as_measurement(mechanism: Mechanism[Any], *, overall: bool = False) -> Any:
    """The OpenDP measurement of a mechanism.

    Counts, reals and scores come as vectors, with OpenDP's own metrics and max-divergence, so the
    measurement chains and composes with OpenDP's. Stretching and multi-level histograms take
    profiles, and their map gives a vector: a loss for each item that differs, or for all
    attributes together and for each alone. OpenDP cannot add such vectors; with ``overall`` the
    map gives the loss of everything as one number, in max-divergence, which it can.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> measurement = as_measurement(DiscreteLaplace(epsilon=0.5, size=3))
    >>> measurement.map(1), measurement.map(2), len(measurement([12, 40, 7]))
    (0.5, 1.0, 3)
    """
    _require_form(mechanism)
    dp = _opendp()
    made = _relation(dp, mechanism, overall)

    def function(data: Any) -> Any:
        value = mechanism.release(data, Source.system()).value
        return value.tolist() if isinstance(value, np.ndarray) else value

    return dp.m.make_user_measurement(
        input_domain=made.domain,
        input_metric=made.metric,
        output_measure=made.measure,
        function=made.read(function),
        privacy_map=made.map,
    )


def measurement_script(event: Event) -> str:
    """A Python program that makes the measurement of the mechanism an event names."""
    mechanism = rebuild(event)
    _require_form(mechanism)
    return f'''"""The OpenDP measurement of a release: {mechanism.name}."""

import opendp.prelude as dp

from reticent.exports.opendp import as_measurement
from reticent.guarantees import Event
from reticent.mechanisms import rebuild

EVENT = {event.to_json()!a}

dp.enable_features("contrib", "honest-but-curious")
measurement = as_measurement(rebuild(Event.from_json(EVENT)))

if __name__ == "__main__":
    print(measurement)
'''


@dataclass(frozen=True, slots=True, eq=False)
class _Relation:
    """What OpenDP calls a privacy relation: between which inputs, and how much is lost."""

    domain: Any
    metric: Any
    measure: Any
    map: Callable[[Any], Any]
    as_array: type | None = None

    def read(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A vector of OpenDP as an array, of a type that no value decides."""
        if self.as_array is None:
            return function
        return lambda data: function(np.array(data, dtype=self.as_array))


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra("exporting to OpenDP", "opendp") from None
    return dp


def _require_form(mechanism: Mechanism[Any]) -> None:
    name = getattr(mechanism, "name", type(mechanism).__name__)
    if name in SUPPORTED:
        return
    rule = f"one that has an OpenDP form: {', '.join(SUPPORTED)}"
    if name == "profile-mapping":
        rule += "; a mapping promises bits on average, which is no divergence that adds"
    raise ParameterError("mechanism", rule, name)


def _relation(dp: Any, mechanism: Mechanism[Any], overall: bool) -> _Relation:
    if isinstance(mechanism, DiscreteLaplace):
        return _counts(dp, mechanism)
    if isinstance(mechanism, SnappedLaplace):
        return _reals(dp, mechanism)
    if isinstance(mechanism, Selection):
        return _scores(dp, mechanism)
    if isinstance(mechanism, Stretching):
        return _stretched(dp, mechanism, overall)
    assert isinstance(mechanism, MultiLevel)  # noqa: S101, the last of those supported
    return _histogram(dp, mechanism, overall)


def _counts(dp: Any, mechanism: DiscreteLaplace) -> _Relation:
    """Counts apart by d_in in total lose d_in / t. docs/theory/discrete-laplace.md, Theorem 1."""
    domain = dp.vector_domain(dp.atom_domain(T="i64"))  # unsized, as OpenDP's counts are
    scale = mechanism.scale
    return _Relation(
        domain,
        dp.l1_distance(T="i64"),
        dp.max_divergence(),
        lambda d_in: _up(_distance(d_in) / scale),
        np.int64,
    )


def _reals(dp: Any, mechanism: SnappedLaplace) -> _Relation:
    """Reals apart by d_in in total, rounded. docs/theory/snapped-laplace.md, Theorem 1.

    An L1 distance may be spread over all values, so all of them are rounded apart.
    """
    grid, scale, size = mechanism.grid, mechanism.scale, mechanism.size

    def loss(d_in: float) -> float:
        distance = _distance(d_in)
        return _up(grid.widen(distance, size) / scale) if distance else 0.0

    domain = dp.vector_domain(dp.atom_domain(T="f64", nan=False), size=size)
    return _Relation(domain, dp.l1_distance(T="f64"), dp.max_divergence(), loss, np.float64)


def _scores(dp: Any, mechanism: Selection) -> _Relation:
    """Scores apart by d_in each. docs/theory/selection.md, Lemma 1, Theorems 1 and 2."""
    grid, rate = mechanism.grid, mechanism.rate
    sides = 1 if mechanism.monotone else 2

    def loss(d_in: float) -> float:
        distance = _distance(d_in)
        return _up(rate * sides * grid.widen(distance, 1) / grid.step) if distance else 0.0

    domain = dp.vector_domain(dp.atom_domain(T="f64", nan=False), size=mechanism.candidates)
    metric = dp.linf_distance(T="f64", monotonic=mechanism.monotone)
    return _Relation(domain, metric, dp.max_divergence(), loss, np.float64)


def _stretched(dp: Any, mechanism: Stretching, overall: bool) -> _Relation:
    """An item of weight v that differs loses eps v. docs/theory/stretching.md, Theorems 1 and 2."""
    people, nano = mechanism.function.people, mechanism.guarantee().overall

    def member(data: Any) -> bool:
        listed = isinstance(data, (list, tuple)) and len(data) == people
        return listed and all(isinstance(profile, WeightedProfile) for profile in data)

    domain = dp.user_domain(f"weighted profiles of {people}", member)
    what = "weights of the items that differ, the larger where a weight differs too"
    if overall:
        metric = dp.user_distance(f"sum of the {what}")
        return _Relation(domain, metric, dp.max_divergence(), lambda d: _part(nano, d))
    measure = dp.user_divergence("max-divergence by item: their sum is the loss of the whole")

    def losses(d_in: Sequence[float]) -> list[float]:
        require(isinstance(d_in, (list, tuple)), "d_in", type(d_in).__name__, "a list of weights")
        return [_part(nano, weight) for weight in d_in]

    return _Relation(domain, dp.user_distance(what), measure, losses)


def _histogram(dp: Any, mechanism: MultiLevel, overall: bool) -> _Relation:
    """All attributes, and each alone. docs/theory/multilevel.md, Theorems 1 and 2."""
    promised, exposure = mechanism.guarantee(), mechanism.exposure
    domain = dp.user_domain("profile over the catalogue", lambda data: data is not None)
    changed = "replaced" if exposure.unit.relation == "substitute" else "added or removed"
    what = "sum of the weights of the items" if exposure.weighted else "number of items"
    metric = dp.user_distance(f"{what} {changed}")
    if overall:
        most = promised.overall
        return _Relation(domain, metric, dp.max_divergence(), lambda d: _part(most, d))
    amounts = [promised.overall, *(promised.attributes[name] for name in exposure.attributes)]
    measure = dp.user_divergence("max-divergence of all attributes, then of each alone")
    return _Relation(domain, metric, measure, lambda d: [_part(nano, d) for nano in amounts])


def _distance(d_in: Any) -> Fraction:
    real = isinstance(d_in, (int, float)) and not isinstance(d_in, bool)
    good = real and math.isfinite(d_in) and d_in >= 0
    require(good, "d_in", d_in, "a number, finite and not negative")
    return Fraction(d_in)


def _part(nano: int, d_in: Any) -> float:
    """The loss of ``d_in`` units that lose ``nano`` each."""
    return _up(_distance(d_in) * Fraction(nano, NANO))


def _up(loss: Fraction) -> float:
    return float_up(nano_up(loss))


def float_up(nano: int) -> float:
    """Nano-epsilon in epsilon, as a float that is not below it.

    >>> float_up(500_000_000), float_up(300_000_000)
    (0.5, 0.30000000000000004)
    """
    exact = Fraction(nano, NANO)
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
